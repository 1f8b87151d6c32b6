//! The numbers of one service that a conclusion rests on.

use std::time::Duration;

use forbear::event::catalogue::Metric;

use super::history::{History, Supply};
use super::scrape::Scrape;

/// What the metrics of one pool say of a span of time. Counts are `f64`, as in a scrape.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Evidence {
    /// Calls offered.
    pub(crate) calls: f64,
    /// Calls that succeeded.
    pub(crate) succeeded: f64,
    /// Calls that ended otherwise; those whose caller went away or whose request was wrong are not among them.
    pub(crate) failed: f64,
    /// Attempts.
    pub(crate) attempts: f64,
    /// Attempts that failed, whatever the way.
    pub(crate) failed_attempts: f64,
    /// First attempts.
    pub(crate) firsts: f64,
    /// First attempts that a limit of ours refused.
    pub(crate) firsts_throttled: f64,
    /// Later attempts that a limit of ours refused.
    pub(crate) retries_throttled: f64,
    /// Attempts the provider turned away for want of capacity of its own.
    pub(crate) overloaded: f64,
    /// Attempts that the day's quota refused.
    pub(crate) over_day: f64,
    /// Calls given up after their last attempt.
    pub(crate) exhausted: f64,
    /// [`History::horizon_load`]; `None` where the limit is not known.
    pub(crate) horizon_load: Option<f64>,
    /// How much was offered over the whole span, against what the limit grants in it.
    pub(crate) mean_load: f64,
    /// What the limit grants a minute.
    pub(crate) limit: f64,
    /// How long a minute is.
    pub(crate) minute: Duration,
    /// The mean deadline of the calls offered.
    pub(crate) deadline: Duration,
    /// Whether calls hold each other back.
    pub(crate) gated: bool,
    /// How the calls back off.
    pub(crate) curve: Curve,
}

/// A backoff curve, as its policy sets it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Curve {
    /// The first bound.
    pub(crate) base: Duration,
    /// What the bound grows by.
    pub(crate) factor: f64,
    /// The highest bound.
    pub(crate) cap: Duration,
    /// The most attempts.
    pub(crate) attempts: u32,
}

impl Evidence {
    /// What a scrape, and the memory of those before it, say of a pool that was called for so long.
    pub(crate) fn read(scrape: &Scrape, history: &History, pool: &str, minute: Duration, called_for: Duration) -> Self {
        let pool = ("pool", pool);
        let ended = |outcome| scrape.count(Metric::CallDuration, &[pool, ("outcome", outcome)]);
        let attempts = |more: &[(&str, &str)]| scrape.sum(Metric::Attempts, &[&[pool], more].concat());
        let throttled = |more: &[(&str, &str)]| {
            let throttled = [&[("outcome", "throttled")], more].concat();
            attempts(&throttled) - attempts(&[&throttled[..], &[("limit_class", "overload")]].concat())
        };
        let parameter = |name| scrape.sum(Metric::PolicyParameter, &[pool, ("parameter", name)]);
        let seconds = |name| Duration::from_secs_f64(parameter(name).clamp(0.0, 1e6));

        let first = [("attempt", "1")];
        let calls = scrape.sum(Metric::Calls, &[pool]);
        let succeeded = ended("ok") + ended("ok_by_fallback");
        let all_ended = scrape.count(Metric::CallDuration, &[pool]);
        let Supply { limit, deadline, .. } = supply(scrape, pool.1, minute);
        let minutes = called_for.as_secs_f64() / minute.as_secs_f64();
        Self {
            calls,
            succeeded,
            failed: all_ended - succeeded - ended("cancelled") - ended("not_retryable"),
            attempts: attempts(&[]),
            failed_attempts: attempts(&[]) - attempts(&[("outcome", "ok")]) - attempts(&[("outcome", "cancelled")]),
            firsts: attempts(&first),
            firsts_throttled: throttled(&first),
            retries_throttled: throttled(&[]) - throttled(&first),
            overloaded: attempts(&[("limit_class", "overload")]),
            over_day: attempts(&[("limit_class", "daily")]),
            exhausted: scrape.sum(Metric::Giveups, &[pool, ("outcome", "attempts_exhausted")]),
            horizon_load: (limit > 0.0).then(|| history.horizon_load()),
            mean_load: if limit > 0.0 && minutes > 0.0 { calls / (limit * minutes) } else { 0.0 },
            limit,
            minute,
            deadline,
            gated: scrape.word(Metric::GateInfo, &[pool], "mode").is_some_and(|mode| mode != "off"),
            curve: Curve {
                base: seconds("base_seconds"),
                factor: parameter("factor"),
                cap: seconds("cap_seconds"),
                attempts: parameter("attempts") as u32,
            },
        }
    }

    /// The share of calls that succeeded.
    pub(crate) fn success(&self) -> f64 {
        share(self.succeeded, self.succeeded + self.failed)
    }

    /// Attempts per call.
    pub(crate) fn attempts_per_call(&self) -> f64 {
        share(self.attempts, self.calls)
    }

    /// Attempts a limit of ours refused.
    pub(crate) fn throttled(&self) -> f64 {
        self.firsts_throttled + self.retries_throttled
    }

    /// Attempts that were not the first of their call.
    pub(crate) fn retries(&self) -> f64 {
        self.attempts - self.firsts
    }
}

/// What a scrape says of a pool's limit and its callers' patience.
pub(crate) fn supply(scrape: &Scrape, pool: &str, minute: Duration) -> Supply {
    Supply {
        limit: scrape.sum(Metric::QuotaLimit, &[("pool", pool), ("dimension", "requests"), ("origin", "config")]),
        minute,
        deadline: Duration::from_secs_f64(scrape.mean(Metric::CallDeadline, &[("pool", pool)])),
    }
}

/// `part` of `whole`; 0 where there is no whole.
pub(crate) fn share(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}
