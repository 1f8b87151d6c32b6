//! The numbers that other libraries retry by unless told otherwise, each with the public source it was read in.

use std::time::Duration;

use forbear::core::tune::{Jitter, RetryLayer, StatedWaits};

/// A library, and what it does by default.
pub(super) struct Library {
    /// What is typed for it.
    pub(super) id: &'static str,
    /// The version that was read.
    pub(super) version: &'static str,
    /// Where its numbers stand.
    pub(super) source: &'static str,
    /// What its numbers do not tell.
    pub(super) note: &'static str,
    /// Its numbers.
    pub(super) layer: fn() -> RetryLayer,
}

/// All of them, in the order in which they are listed.
pub(super) const LIBRARIES: &[Library] = &[
    Library {
        id: "openai-python",
        version: "main of August 2026",
        source: "https://github.com/openai/openai-python/blob/main/src/openai/_constants.py",
        note: "waits as stated up to 120 s and gives up on longer waits (openai-python#3555)",
        layer: || vendors_client(Duration::from_secs(120)),
    },
    Library {
        id: "openai-node",
        version: "main of August 2026",
        source: "https://github.com/openai/openai-node/blob/main/src/client.ts",
        note: "waits as stated up to 60 s; longer waits are replaced by its own, which come too early",
        layer: || vendors_client(Duration::from_secs(60)),
    },
    Library {
        id: "anthropic",
        version: "main of August 2026",
        source: "https://github.com/anthropics/anthropic-sdk-python/blob/main/src/anthropic/_base_client.py",
        note: "waits as stated up to 60 s; longer waits are replaced by its own, which come too early",
        layer: || vendors_client(Duration::from_secs(60)),
    },
    Library {
        id: "async-openai",
        version: "0.43",
        source: "https://github.com/64bit/async-openai/blob/main/async-openai/src/middleware/retry/openai.rs",
        note: "the retry layer's default; waits as stated where that is a whole number of seconds",
        layer: || {
            RetryLayer::new(Duration::from_millis(100), 4)
                .cap(Duration::from_secs(8))
                .jitter(Jitter::NONE)
                .stated_waits(StatedWaits::UpTo(Duration::from_secs(86_400)))
        },
    },
    Library {
        id: "backon",
        version: "1.6.0",
        source: "https://docs.rs/backon/1.6.0/backon/struct.ExponentialBuilder.html",
        note: "stated waits are read only where the application writes an `adjust`",
        layer: || {
            RetryLayer::new(Duration::from_secs(1), 4)
                .cap(Duration::from_secs(60))
                .jitter(Jitter::NONE)
                .stated_waits(StatedWaits::Ignored)
        },
    },
    Library {
        id: "tokio-retry",
        version: "0.3.2",
        source: "https://docs.rs/tokio-retry/0.3.2/tokio_retry/",
        note: "it has no defaults: these are the numbers of its documentation's example, where 10 ms is also the factor",
        layer: || RetryLayer::new(Duration::from_millis(10), 4).factor(10.0).stated_waits(StatedWaits::Ignored),
    },
    Library {
        id: "litellm",
        version: "1.110.2, the router",
        source: "https://github.com/BerriAI/litellm/blob/main/litellm/constants.py",
        note: "waits as stated up to 60 s; longer waits are replaced by its own, which come too early. Requests time out after \
               6000 s",
        layer: || {
            RetryLayer::new(Duration::from_millis(500), 3)
                .cap(Duration::from_secs(8))
                .jitter(Jitter::NONE.plus(Duration::from_millis(750)))
                .timeout(Duration::from_secs(6_000))
                .stated_waits(StatedWaits::UpTo(Duration::from_secs(60)))
        },
    },
    Library {
        id: "aws-standard",
        version: "aws-smithy-runtime 1.16.2, mode `standard`",
        source: "https://docs.rs/aws-smithy-types/latest/aws_smithy_types/retry/struct.RetryConfig.html",
        note: "reads `x-amz-retry-after` only; its retry quota may end a call earlier",
        layer: || {
            RetryLayer::new(Duration::from_secs(1), 3).cap(Duration::from_secs(20)).stated_waits(StatedWaits::Ignored)
        },
    },
];

/// The defaults that the generated clients of OpenAI and Anthropic share.
fn vendors_client(longest_stated_wait: Duration) -> RetryLayer {
    RetryLayer::sdk(2).timeout(Duration::from_secs(600)).stated_waits(StatedWaits::UpTo(longest_stated_wait))
}

/// The library of this name, or the names there are.
pub(super) fn library(id: &str) -> Result<&'static Library, String> {
    let known = || LIBRARIES.iter().map(|library| library.id).collect::<Vec<_>>().join(", ");
    LIBRARIES.iter().find(|library| library.id == id).ok_or_else(|| format!("one of {}", known()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_are_those_of_the_sources() {
        let of = |id: &str| (library(id).expect("known").layer)();
        let numbers = |id| {
            let layer = of(id);
            (layer.base.as_millis(), layer.factor, layer.cap.as_secs(), layer.attempts)
        };
        assert_eq!(numbers("openai-python"), (500, 2.0, 8, 3));
        assert_eq!(numbers("openai-node"), numbers("anthropic"));
        assert_eq!(numbers("async-openai"), (100, 2.0, 8, 4));
        assert_eq!(numbers("backon"), (1_000, 2.0, 60, 4));
        assert_eq!(numbers("tokio-retry"), (10, 10.0, 86_400, 4));
        assert_eq!(numbers("litellm"), (500, 2.0, 8, 3));
        assert_eq!(numbers("aws-standard"), (1_000, 2.0, 20, 3));
        assert!(library("tower").is_err_and(|known| known.contains("backon")));
    }

    #[test]
    fn every_default_can_be_checked_and_none_outlives_a_minute_for_sure() {
        let minute = Duration::from_secs(60);
        for library in LIBRARIES {
            let check = (library.layer)()
                .check(minute, 2 * minute)
                .unwrap_or_else(|refused| panic!("{}: {refused}", library.id));
            assert!(check.gives_up() > 0.5, "{}: {check:?}", library.id);
            assert!(library.source.starts_with("https://") && !library.note.is_empty());
        }
    }
}
