//! The numbers a diagnosis rests on, and the series each is made of.
//!
//! One table: the tally of a process, the queries to a Prometheus and the text of a `/metrics` all read it, so that the
//! same hour gives the same numbers whichever way it is looked at. Everything in it rises only; a window is a difference.

use std::sync::LazyLock;

use crate::event::catalogue::Metric;
use crate::event::series::SeriesId;

/// What of a series counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// A counter's value, or how many values a histogram took.
    Count,
    /// The seconds a histogram took in all.
    Seconds,
}

/// The series of one number: those of a metric whose labels have one of these words.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Selector {
    /// The metric.
    pub(crate) metric: Metric,
    /// What of it counts.
    pub(crate) part: Part,
    /// Keys, each with the words that are meant; a key that is not named may have any.
    pub(crate) labels: &'static [(&'static str, &'static [&'static str])],
}

impl Selector {
    /// Whether a series with these labels is meant.
    pub(crate) fn takes<'l>(&self, label: impl Fn(&str) -> Option<&'l str>) -> bool {
        self.labels.iter().all(|(key, words)| label(key).is_some_and(|word| words.contains(&word)))
    }
}

/// The rows: what the number is, its name, the metric and the part of it, the labels.
macro_rules! numbers {
    ($(#[doc = $doc:literal] $number:ident: $metric:ident $part:ident { $($key:ident: $($word:literal)|+),* },)*) => {
        /// One number of a pool.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Number { $(#[doc = $doc] $number,)* }

        impl Number {
            /// Every number.
            pub(crate) const ALL: &'static [Self] = &[$(Self::$number,)*];

            /// What it is, as its documentation says it.
            pub(crate) const fn about(self) -> &'static str {
                match self { $(Self::$number => $doc.trim_ascii(),)* }
            }

            /// The series it is made of.
            pub(crate) const fn selector(self) -> Selector {
                match self {
                    $(Self::$number => Selector {
                        metric: Metric::$metric,
                        part: Part::$part,
                        labels: &[$((stringify!($key), &[$($word),+])),*],
                    },)*
                }
            }
        }
    };
}

numbers! {
    /// Calls offered.
    Calls: Calls Count {},
    /// Tokens sent that the calls offered were expected to need.
    OfferedInput: OfferedTokens Count { token_kind: "input" },
    /// Tokens received that they were expected to need.
    OfferedOutput: OfferedTokens Count { token_kind: "output" },
    /// Tokens that they were expected to need of which the side is not known.
    OfferedUnsided: OfferedTokens Count { token_kind: "total" },
    /// The deadlines of the calls offered, in seconds.
    DeadlineSeconds: CallDeadline Seconds {},
    /// Calls that ended.
    Ended: CallDuration Count {},
    /// Those that succeeded.
    Succeeded: CallDuration Count { outcome: "ok" | "ok_by_fallback" },
    /// Those whose caller went away.
    Cancelled: CallDuration Count { outcome: "cancelled" },
    /// Those whose request was wrong.
    NotRetryable: CallDuration Count { outcome: "not_retryable" },

    /// Calls whose deadline came, or whose next wait would have passed it.
    OutOfTime: Giveups Count { outcome: "deadline_exceeded" },
    /// Those of them that left a quarter or more of their deadline unused.
    OutOfTimeEarly: Giveups Count { outcome: "deadline_exceeded", early: "yes" },
    /// Calls that used all their attempts.
    Exhausted: Giveups Count { outcome: "attempts_exhausted" },
    /// Calls that were told to wait longer than their policy lets them.
    ToldTooLong: Giveups Count { outcome: "stated_delay_too_long" },
    /// Calls the gate turned away.
    Refused: Giveups Count { outcome: "gate_refused" },
    /// Calls whose request alone is larger than a limit.
    TooLarge: Giveups Count { outcome: "not_retryable", limit_class: "request_rate" | "token_throughput" | "unknown" },
    /// Calls given up because of a limit of a minute, refused ones among them.
    EndedByMinute: Giveups Count {
        limit_class: "request_rate" | "token_throughput" | "unknown",
        outcome: "deadline_exceeded" | "attempts_exhausted" | "stated_delay_too_long" | "gate_refused"
    },
    /// Calls given up because of the day's limit, refused ones among them.
    EndedByDay: Giveups Count { limit_class: "daily" },
    /// Calls given up because the account may spend no more, refused ones among them.
    EndedBySpend: Giveups Count { limit_class: "spend" },
    /// Calls given up for the provider's want of capacity, refused ones among them.
    EndedByOverload: Giveups Count { limit_class: "overload" },
    /// Calls given up because too many were in flight, refused ones among them.
    EndedByConcurrency: Giveups Count { limit_class: "concurrency" },
    /// Calls given up although no limit stood in the way and the request was not wrong.
    EndedByFailure: Giveups Count {
        limit_class: "none", outcome: "deadline_exceeded" | "attempts_exhausted" | "retry_budget"
    },

    /// Attempts.
    Attempts: Attempts Count {},
    /// First attempts.
    Firsts: Attempts Count { attempt: "1" },
    /// Attempts that succeeded.
    Served: Attempts Count { outcome: "ok" },
    /// First attempts that succeeded.
    FirstsServed: Attempts Count { attempt: "1", outcome: "ok" },
    /// Attempts that a limit of a minute refused.
    Throttled: Attempts Count { limit_class: "request_rate" | "token_throughput" | "unknown" },
    /// First attempts that a limit of a minute refused.
    FirstsThrottled: Attempts Count { attempt: "1", limit_class: "request_rate" | "token_throughput" | "unknown" },
    /// Attempts that a limit on tokens refused.
    ThrottledByTokens: Attempts Count { limit_class: "token_throughput" },
    /// Attempts that a limit on requests refused.
    ThrottledByRequests: Attempts Count { limit_class: "request_rate" },
    /// Attempts refused by a limit that the answer did not name.
    ThrottledByUnknown: Attempts Count { limit_class: "unknown" },
    /// Attempts that the day's limit refused.
    ThrottledByDay: Attempts Count { limit_class: "daily" },
    /// Attempts refused because the account may spend no more.
    ThrottledBySpend: Attempts Count { limit_class: "spend" },
    /// Attempts refused for the provider's own want of capacity.
    ThrottledByOverload: Attempts Count { limit_class: "overload" },
    /// Attempts refused because too many were in flight.
    ThrottledByConcurrency: Attempts Count { limit_class: "concurrency" },
    /// Attempts that failed in a way that waiting may cure, or were not answered.
    Failed: Attempts Count { outcome: "transient" | "timeout", limit_class: "none" },
    /// Attempts that did not wait and that no limit refused.
    Prompt: Attempts Count { delay_source: "none", limit_class: "none" },
    /// Those of them that failed in a way that waiting may cure, or were not answered.
    PromptFailed: Attempts Count { delay_source: "none", limit_class: "none", outcome: "transient" | "timeout" },
    /// Attempts that failed in a way that waiting does not cure.
    Rejected: Attempts Count { outcome: "not_retryable" },
    /// Attempts after a wait of the curve.
    AfterCurve: Attempts Count { delay_source: "curve" },
    /// Those of them that a limit of a minute refused.
    AfterCurveThrottled: Attempts Count {
        delay_source: "curve", limit_class: "request_rate" | "token_throughput" | "unknown"
    },
    /// Attempts after a stated wait.
    AfterTold: Attempts Count { delay_source: "header" | "body" },
    /// Those of them that a limit of a minute refused.
    AfterToldThrottled: Attempts Count {
        delay_source: "header" | "body", limit_class: "request_rate" | "token_throughput" | "unknown"
    },
    /// How long attempts took, in seconds.
    AttemptSeconds: AttemptDuration Seconds {},

    /// Waits of the curve.
    CurveWaits: Delay Count { delay_source: "curve" },
    /// How long they were, in seconds.
    CurveWaitSeconds: Delay Seconds { delay_source: "curve" },
    /// Waits that were stated.
    ToldWaits: Delay Count { delay_source: "header" | "body" },
    /// How long they were, in seconds.
    ToldWaitSeconds: Delay Seconds { delay_source: "header" | "body" },
    /// How long the gate held calls, in seconds.
    GateWaitSeconds: GateWait Seconds {},
    /// How often the gate shut.
    Shuts: GateShuts Count {},

    /// Tokens sent.
    UsedInput: UsedTokens Count { token_kind: "input" },
    /// Tokens received.
    UsedOutput: UsedTokens Count { token_kind: "output" },
    /// Tokens used of which the side is not known.
    UsedUnsided: UsedTokens Count { token_kind: "total" },
}

/// A set of numbers, as bits.
type Set = u64;

const _: () = assert!(Number::ALL.len() <= Set::BITS as usize, "a number must have its bit");

/// The numbers of these series' counts, and of their seconds, by metric and by the place of the series among those of its
/// metric; the policy's name makes no difference. It never changes: what stands in the table above, sorted to be found.
static MEMBERS: LazyLock<Vec<Box<[[Set; 2]]>>> = LazyLock::new(|| {
    let nobody = crate::event::names::Policies::new();
    let members = |metric: &Metric| {
        let takes = |series: SeriesId, part| {
            let labels = series.labels(&nobody);
            let label = |key: &str| labels.iter().find(|(known, _)| *known == key).map(|(_, word)| *word);
            let meant = |number: &&Number| {
                let selector = number.selector();
                selector.metric == *metric && selector.part == part && selector.takes(label)
            };
            Number::ALL.iter().filter(meant).fold(0, |set: Set, number| set | 1 << *number as u32)
        };
        let all = SeriesId::all(*metric).take_while(|series| series.policy().is_none_or(|policy| policy == 0));
        all.map(|series| [takes(series, Part::Count), takes(series, Part::Seconds)]).collect()
    };
    let moved = |metric: &Metric| Number::ALL.iter().any(|number| number.selector().metric == *metric);
    Metric::ALL.iter().map(|metric| if moved(metric) { members(metric) } else { Box::default() }).collect()
});

/// Hands `visit` each number that a series is part of, and what of the series counts there.
pub(crate) fn members(series: SeriesId, mut visit: impl FnMut(Number, Part)) {
    let Some(&[counts, seconds]) = MEMBERS[series.metric() as usize].get(series.place_without_policy()) else { return };
    for (mut set, part) in [(counts, Part::Count), (seconds, Part::Seconds)] {
        while set != 0 {
            visit(Number::ALL[set.trailing_zeros() as usize], part);
            set &= set - 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::names::Policies;

    #[test]
    fn every_number_names_labels_and_words_of_its_metric() {
        for number in Number::ALL {
            let Selector { metric, labels, .. } = number.selector();
            for (key, words) in labels {
                let label = metric.row().labels.iter().find(|label| label.key == *key);
                let label = label.unwrap_or_else(|| panic!("{number:?}: no label {key}"));
                let crate::event::metric::Words::Closed(known) = label.words else {
                    panic!("{number:?}: {key} is open")
                };
                assert!(words.iter().all(|word| known.contains(word)), "{number:?}: {words:?} of {key}");
            }
        }
    }

    #[test]
    fn a_series_belongs_to_the_numbers_whose_labels_it_has() {
        let policies = Policies::new();
        for metric in [Metric::Attempts, Metric::Giveups, Metric::CallDuration, Metric::OfferedTokens] {
            for series in SeriesId::all(metric) {
                let labels = series.labels(&policies);
                let label = |key: &str| labels.iter().find(|(known, _)| *known == key).map(|(_, word)| *word);
                let expected: Vec<_> = Number::ALL
                    .iter()
                    .filter(|number| number.selector().metric == metric && number.selector().takes(label))
                    .copied()
                    .collect();
                let mut found = Vec::new();
                members(series, |number, _| found.push(number));
                assert_eq!(found, expected, "{labels:?}");
            }
        }
    }
}
