//! A retry layer as its numbers describe it: this crate's, or anybody's.

use std::time::Duration;

use crate::core::policy::{self, Policy};
use crate::core::setting::{InvalidSetting, within};

/// How a wait is drawn from the curve's bound: uniform from `least`·bound to `most`·bound + `plus`.
///
/// ```
/// use forbear::core::tune::Jitter;
/// assert_eq!((Jitter::FULL.least, Jitter::FULL.most), (0.0, 1.0));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "three numbers say how anybody's wait is drawn")]
pub struct Jitter {
    /// The least share of the bound, 0 to `most`.
    pub least: f64,
    /// The greatest share of the bound, up to 10.
    pub most: f64,
    /// What may come on top, whatever the bound; up to 1 h.
    pub plus: Duration,
}

impl Jitter {
    /// Anything up to the bound; what this crate does.
    pub const FULL: Self = Self::between(0.0, 1.0);
    /// Half the bound, and anything up to the other half.
    pub const EQUAL: Self = Self::between(0.5, 1.0);
    /// The bound itself.
    pub const NONE: Self = Self::between(1.0, 1.0);

    /// From `least`·bound to `most`·bound.
    #[must_use]
    pub const fn between(least: f64, most: f64) -> Self {
        Self { least, most, plus: Duration::ZERO }
    }

    /// The same with up to `plus` more.
    #[must_use]
    pub const fn plus(mut self, plus: Duration) -> Self {
        self.plus = plus;
        self
    }
}

impl From<policy::Jitter> for Jitter {
    fn from(jitter: policy::Jitter) -> Self {
        match jitter {
            policy::Jitter::Full => Self::FULL,
            policy::Jitter::Equal => Self::EQUAL,
            policy::Jitter::None => Self::NONE,
        }
    }
}

/// What a layer does with a wait that the provider states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "read, not read, or nobody knows")]
pub enum StatedWaits {
    /// Nobody knows.
    Unknown,
    /// It is not read.
    Ignored,
    /// It is waited for up to this long.
    UpTo(Duration),
}

/// The numbers of one retry layer. A [`Policy`] is one; so are the retries of a client or of another library.
///
/// | field | [`RetryLayer::new`] | range |
/// |---|---|---|
/// | `base` | given | 1 ms to 24 h |
/// | `factor` | 2 | 1 to 100 |
/// | `cap` | 24 h | `base` to 24 h |
/// | `attempts` | given | 1 to 1000 |
/// | `jitter` | full | see [`Jitter`] |
/// | `timeout` | none | 1 ms to 24 h |
/// | `deadline` | none | 1 ms to 7 days |
/// | `stated_waits` | unknown | |
/// | `interactive` | no | |
/// | `below` | none | as this table; two layers at most, of 10000 requests together |
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RetryLayer {
    /// The bound of the first wait.
    pub base: Duration,
    /// By how much the bound grows with each attempt.
    pub factor: f64,
    /// The bound of every wait.
    pub cap: Duration,
    /// The most attempts of one call, the first included.
    pub attempts: u32,
    /// How a wait is drawn from its bound.
    pub jitter: Jitter,
    /// How long one request may take, if anything cuts it.
    pub timeout: Option<Duration>,
    /// How long the whole call may take, if the layer itself sees to it.
    pub deadline: Option<Duration>,
    /// What it does with stated waits.
    pub stated_waits: StatedWaits,
    /// Whether a person waits for the answer, who is better told at once where most retries must fail.
    pub interactive: bool,
    /// The layer below, which repeats the requests of each attempt by itself.
    pub below: Option<Box<Self>>,
}

impl RetryLayer {
    /// A layer that doubles its waits without a cap and draws them with full jitter.
    #[must_use]
    pub const fn new(base: Duration, attempts: u32) -> Self {
        const DAY: Duration = Duration::from_secs(86_400);
        Self {
            base,
            factor: 2.0,
            cap: DAY,
            attempts,
            jitter: Jitter::FULL,
            timeout: None,
            deadline: None,
            stated_waits: StatedWaits::Unknown,
            interactive: false,
            below: None,
        }
    }

    /// The retries of a vendor's client: 0.5 s, doubling up to 8 s, up to a quarter of it less at random
    /// (<https://github.com/openai/openai-python>, `_base_client.py`; Anthropic's clients do the same).
    #[must_use]
    pub const fn sdk(retries: u32) -> Self {
        Self::new(Duration::from_millis(500), retries.saturating_add(1))
            .cap(Duration::from_secs(8))
            .jitter(Jitter::between(0.75, 1.0))
    }

    /// The same with this factor.
    #[must_use]
    pub const fn factor(mut self, factor: f64) -> Self {
        self.factor = factor;
        self
    }

    /// The same with this cap.
    #[must_use]
    pub const fn cap(mut self, cap: Duration) -> Self {
        self.cap = cap;
        self
    }

    /// The same with this jitter.
    #[must_use]
    pub const fn jitter(mut self, jitter: Jitter) -> Self {
        self.jitter = jitter;
        self
    }

    /// The same with requests cut after this time.
    #[must_use]
    pub const fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// The same, doing this with stated waits.
    #[must_use]
    pub const fn stated_waits(mut self, stated_waits: StatedWaits) -> Self {
        self.stated_waits = stated_waits;
        self
    }

    /// The same with a person who waits for the answer, or nobody: see
    /// [`ForWindow::interactive`](crate::core::tune::ForWindow::interactive).
    #[must_use]
    pub const fn interactive(mut self, interactive: bool) -> Self {
        self.interactive = interactive;
        self
    }

    /// The same with a layer below it.
    #[must_use]
    pub fn over(mut self, below: Self) -> Self {
        self.below = Some(Box::new(below));
        self
    }

    /// The most requests of one call, those of the layer below multiplied in.
    #[must_use]
    pub fn requests(&self) -> u32 {
        self.attempts.saturating_mul(self.below.as_ref().map_or(1, |below| below.requests()))
    }

    /// The longest a call can take: every request until it is cut, every wait at its longest. `None` where nothing cuts
    /// requests or call.
    #[must_use]
    pub fn longest_call(&self) -> Option<Duration> {
        let waits: f64 = self.waits().iter().map(|(_, most)| most).sum();
        let requests = self.timeout.map(|timeout| timeout.as_secs_f64() * f64::from(self.requests()));
        let alone = requests.map(|requests| Duration::try_from_secs_f64(requests + waits).unwrap_or(Duration::MAX));
        alone.into_iter().chain(self.deadline).min()
    }

    /// The waits between the requests of one call in seconds, each uniform from the first number to the second.
    pub(super) fn waits(&self) -> Vec<(f64, f64)> {
        let below = self.below.as_ref().map(|below| below.waits()).unwrap_or_default();
        let mut waits = Vec::new();
        let mut bound = self.base.as_secs_f64();
        for attempt in 1..=self.attempts {
            waits.extend_from_slice(&below);
            if attempt < self.attempts {
                let capped = bound.min(self.cap.as_secs_f64());
                waits.push((self.jitter.least * capped, self.jitter.most * capped + self.jitter.plus.as_secs_f64()));
                bound = (bound * self.factor).min(self.cap.as_secs_f64());
            }
        }
        waits
    }

    /// Checks every field.
    ///
    /// # Errors
    /// The first field outside its range, with value and range.
    pub(super) fn validate(&self) -> Result<(), InvalidSetting> {
        const HOUR: Duration = Duration::from_secs(3_600);
        const MILLISECOND: Duration = Duration::from_millis(1);
        within("layer.base", self.base, MILLISECOND..=24 * HOUR, "1ms to 24h")?;
        within("layer.factor", self.factor, 1.0..=100.0, "1 to 100")?;
        within("layer.cap", self.cap, self.base..=24 * HOUR, "base to 24h")?;
        within("layer.attempts", self.attempts, 1..=1_000, "1 to 1000")?;
        within("layer.jitter.least", self.jitter.least, 0.0..=self.jitter.most, "0 to most")?;
        within("layer.jitter.most", self.jitter.most, 0.0..=10.0, "0 to 10")?;
        within("layer.jitter.plus", self.jitter.plus, Duration::ZERO..=HOUR, "0 to 1h")?;
        if let Some(timeout) = self.timeout {
            within("layer.timeout", timeout, MILLISECOND..=24 * HOUR, "1ms to 24h")?;
        }
        if let Some(deadline) = self.deadline {
            within("layer.deadline", deadline, MILLISECOND..=168 * HOUR, "1ms to 7 days")?;
        }
        let Some(below) = &self.below else { return Ok(()) };
        within("layer.below.below", below.below.is_some(), ..=false, "none: two layers are the most that is checked")?;
        within("layer.requests", self.requests(), 1..=10_000, "1 to 10000, those of the layer below multiplied in")?;
        below.validate()
    }
}

impl From<&Policy> for RetryLayer {
    /// The layer a policy is: its deadline ends the call, and its attempt timeout the attempt.
    fn from(policy: &Policy) -> Self {
        Self {
            factor: policy.factor,
            cap: policy.cap,
            jitter: policy.manners.jitter.into(),
            timeout: policy.attempt_timeout,
            deadline: Some(policy.deadline),
            stated_waits: if policy.manners.honour_header {
                StatedWaits::UpTo(policy.header_cap)
            } else {
                StatedWaits::Ignored
            },
            ..Self::new(policy.base, policy.attempts)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn waits_grow_to_the_cap_and_are_drawn_as_the_jitter_says() {
        let mut layer = RetryLayer::new(SECOND, 5);
        layer.cap = 3 * SECOND;
        assert_eq!(layer.waits(), [(0.0, 1.0), (0.0, 2.0), (0.0, 3.0), (0.0, 3.0)]);
        layer.jitter = Jitter::EQUAL.plus(SECOND);
        assert_eq!(layer.waits()[1], (1.0, 3.0));
        layer.attempts = 1;
        assert_eq!(layer.waits(), []);
    }

    #[test]
    fn the_layer_below_repeats_each_attempt() {
        let mut layer = RetryLayer::new(10 * SECOND, 2);
        layer.jitter = Jitter::NONE;
        layer.below = Some(Box::new(RetryLayer::sdk(2)));
        assert_eq!(layer.requests(), 6);
        assert_eq!(layer.waits(), [(0.375, 0.5), (0.75, 1.0), (10.0, 10.0), (0.375, 0.5), (0.75, 1.0)]);
        assert_eq!(layer.longest_call(), None, "nothing cuts a request");
        layer.timeout = Some(60 * SECOND);
        assert_eq!(layer.longest_call(), Some(373 * SECOND));
        layer.deadline = Some(90 * SECOND);
        assert_eq!(layer.longest_call(), Some(90 * SECOND));
    }

    #[test]
    fn a_refused_field_is_named_with_its_value_and_range() {
        let refusal = |change: fn(&mut RetryLayer)| {
            let mut layer = RetryLayer::new(SECOND, 3);
            change(&mut layer);
            layer.validate().expect_err("refused").to_string()
        };
        assert_eq!(refusal(|layer| layer.base = Duration::ZERO), "layer.base is 0ns; allowed: 1ms to 24h");
        assert_eq!(refusal(|layer| layer.factor = f64::NAN), "layer.factor is NaN; allowed: 1 to 100");
        assert_eq!(refusal(|layer| layer.attempts = 0), "layer.attempts is 0; allowed: 1 to 1000");
        assert_eq!(refusal(|layer| layer.jitter.least = 2.0), "layer.jitter.least is 2.0; allowed: 0 to most");
        let below = |layer: &mut RetryLayer| layer.below = Some(Box::new(RetryLayer::sdk(1_000)));
        assert_eq!(refusal(below), "layer.attempts is 1001; allowed: 1 to 1000");
        let both =
            |layer: &mut RetryLayer| (layer.attempts, layer.below) = (1_000, Some(Box::new(RetryLayer::sdk(10))));
        let allowed = "1 to 10000, those of the layer below multiplied in";
        assert_eq!(refusal(both), format!("layer.requests is 11000; allowed: {allowed}"));
    }
}
