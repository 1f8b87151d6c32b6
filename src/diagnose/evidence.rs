//! The numbers that tell causes apart, made of a window.

use std::time::Duration;

use serde::Serialize;

use crate::core::signal::Dimension;
use crate::diagnose::amounts::Amounts;
use crate::diagnose::counts::{Counts, Demand as Offered};
use crate::diagnose::number::Number;
use crate::diagnose::objective::{Objective, share};
use crate::diagnose::settings::KnownLimit;
use crate::diagnose::verdict::seconds;
use crate::diagnose::window::Window;
use crate::event::words::{GateMode, QuotaOrigin};

/// The share of the calls that must have met a load for it to count: one busy minute in an hour is no shortage.
pub(crate) const LOAD_MET_BY: f64 = 0.05;
/// Policies with a smaller share of the calls cannot break the objective, however short their patience.
pub(crate) const NOTABLE_POLICY: f64 = 0.01;
/// Fewer errors than this are no reason for calls to fail.
pub(crate) const NOTABLE_ERRORS: f64 = 0.01;
/// Above this share of refusals that do not name their limit it has to be guessed.
pub(crate) const MOSTLY_UNNAMED: f64 = 0.5;
/// Below this share of a limit in use it is not that limit which refuses.
pub(crate) const HARDLY_USED: f64 = 0.3;
/// Below this horizon load nobody waits for the quota.
pub(crate) const FAR_FROM_SHORT: f64 = 0.5;
/// Below this horizon load the quota is surely enough.
pub(crate) const SURELY_ENOUGH: f64 = 0.9;
/// Below this share of a limit in use it refuses nobody, however close together calls come.
pub(crate) const NOT_USED: f64 = 0.15;
/// Up to this share of first attempts refused, calls do not come too close together …
pub(crate) const OFTEN_AT_FIRST: f64 = 0.35;
/// … and above this share of retries refused again, waiting did not help.
pub(crate) const OFTEN_AGAIN: f64 = 0.3;
/// Above this share of calls that succeeded before or after, it was no storm that served nothing for long, whatever the
/// provider says of when to come back.
pub(crate) const SERVED_BEFORE: f64 = 0.5;
/// Above so many times what a limit on requests grants in attempts, over the whole window, refused ones alone may fill it.
pub(crate) const FILLED_BY_ATTEMPTS: f64 = 2.0;
/// Above so many times a configured limit served for good, that limit is not the provider's.
pub(crate) const MORE_THAN_SET: f64 = 1.1;
/// Fewer successes say too little of how large requests are.
pub(crate) const ENOUGH_SUCCESSES: f64 = 30.0;

/// How much is asked for against what a limit can serve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Load {
    /// The limit, a minute.
    pub limit: KnownLimit,
    /// What was asked for over what can be served within the callers' patience, in the worst stretches: above 1 somebody
    /// goes without, however calls are paced.
    pub horizon: f64,
    /// What was asked for over what the limit grants, over the whole window.
    pub mean: f64,
    /// What was served over what the limit grants, over the whole window.
    pub used: f64,
    /// The same of the minute in which most was served.
    pub used_at_most: f64,
    /// The same of the minutes in which something was refused.
    pub when_throttled: f64,
    /// What was served a minute for a quarter of an hour, over what the limit grants. A configured limit of which clearly more
    /// was served is not the provider's: then what was served stands for it above.
    pub sustained: f64,
}

/// What stood in the way of the calls that failed, as shares of them; where calls only need too many attempts, of the
/// attempts that failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Blame {
    /// A limit of a minute, or one that was not named.
    pub minute: f64,
    /// The day's limit.
    pub day: f64,
    /// The account's.
    pub spend: f64,
    /// The provider's want of capacity.
    pub overload: f64,
    /// Too many in flight.
    pub concurrency: f64,
    /// No limit.
    pub failure: f64,
}

/// The numbers that a verdict rests on. Shares are 0 to 1, and 0 where there is nothing to be a share of.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Evidence {
    /// How long the window is.
    #[serde(rename = "window_s", serialize_with = "seconds")]
    pub window: Duration,
    /// For how much of it the objective was missed, by twelfths.
    #[serde(rename = "failing_for_s", serialize_with = "seconds")]
    pub failing_for: Duration,
    /// How the calls went.
    pub objective: Objective,
    /// Calls offered.
    pub calls: f64,
    /// Calls that ended, those left out whose caller went away.
    pub ended: f64,
    /// Calls whose request was refused as wrong.
    pub wrong: f64,
    /// Calls whose request alone was larger than a limit.
    pub too_large: f64,
    /// What stood in the way.
    pub blame: Blame,
    /// Attempts that failed, whatever the way.
    pub failed_attempts: f64,
    /// The share of attempts that the provider's want of capacity refused.
    pub overload_share: f64,
    /// The share of first attempts that a limit of a minute refused.
    pub firsts_throttled: f64,
    /// The share of later attempts that a limit of a minute refused.
    pub retries_throttled: f64,
    /// Of the calls that failed, the share that used all their attempts.
    pub exhausted: f64,
    /// Of the calls that failed, the share that ran out of time or was told to wait longer than it may.
    pub out_of_time: f64,
    /// What is asked of each known limit, the one of which most is asked first.
    pub loads: Vec<Load>,
    /// The horizon load against the most that was served while something was refused: what stands for a limit that nobody
    /// knows.
    pub learned_load: f64,
    /// How much was in use when something was refused, of the limit of which most was.
    pub used_when_throttled: Option<f64>,
    /// Whether nothing was served for ten minutes although twenty attempts and more were made, or turned away.
    pub locked_out: bool,
    /// Whether nothing was served in the last five minutes of the window although twenty attempts and more were made, or turned
    /// away.
    pub locked_out_lately: bool,
    /// Of the attempts that a limit of a minute refused, the share whose answer did not name the limit.
    pub unnamed: f64,
    /// Of the attempts that neither waited nor met a limit, the share that failed.
    pub errors: f64,
    /// Whether calls hold each other back.
    pub gated: bool,
    /// Whether this is one process of nobody knows how many.
    pub part_of_fleet: bool,
    /// How long the least patient calls may wait before their last attempt begins.
    #[serde(rename = "patience_s", serialize_with = "seconds")]
    pub patience: Duration,
}

impl Evidence {
    /// The numbers of a window.
    pub(crate) fn of(window: &Window) -> Self {
        let counts = &window.counts;
        let number = |number| counts.get(number);
        let objective = Objective::of(counts, window.least_success);
        let patience = patience(counts);
        let retries = number(Number::Attempts) - number(Number::Firsts);
        let loads = Dimension::ALL.iter().filter_map(|dimension| {
            let limit = window.settings.minute_limit(*dimension)?;
            Some(load(window, limit, patience))
        });
        let mut loads: Vec<Load> = loads.collect();
        loads.sort_unstable_by(|a, b| b.horizon.total_cmp(&a.horizon));
        Self {
            window: window.length,
            failing_for: window.failing_for,
            objective,
            calls: number(Number::Calls),
            ended: number(Number::Ended) - number(Number::Cancelled),
            wrong: number(Number::NotRetryable) - number(Number::TooLarge),
            too_large: number(Number::TooLarge),
            blame: Blame::of(counts, &objective),
            failed_attempts: number(Number::Attempts) - number(Number::Served),
            overload_share: share(number(Number::ThrottledByOverload), number(Number::Attempts)),
            firsts_throttled: share(number(Number::FirstsThrottled), number(Number::Firsts)),
            retries_throttled: share(number(Number::Throttled) - number(Number::FirstsThrottled), retries),
            exhausted: share(number(Number::Exhausted), objective.failed),
            out_of_time: share(number(Number::OutOfTime) + number(Number::ToldTooLong), objective.failed),
            used_when_throttled: loads.iter().map(|load| load.when_throttled).reduce(f64::max),
            loads,
            learned_load: learned_load(window, patience),
            locked_out: window.peaks.locked_out_for_long
                || (window.peaks.locked_out && objective.success() > SERVED_BEFORE),
            locked_out_lately: window.peaks.locked_out_lately,
            errors: error_share(counts),
            gated: window.settings.gate.is_some_and(|gate| gate != GateMode::Off),
            part_of_fleet: window.share_of_fleet.is_none(),
            unnamed: share(number(Number::ThrottledByUnknown), number(Number::Throttled)),
            patience,
        }
    }
}

impl Load {
    /// Whether the limit is configured, and the provider clearly serves more.
    pub(crate) fn is_exceeded(&self) -> bool {
        self.limit.origin == QuotaOrigin::Config && self.sustained > MORE_THAN_SET
    }
}

impl Evidence {
    /// The load of the limit of which most is asked.
    pub(crate) fn horizon_load(&self) -> Option<f64> {
        self.loads.first().map(|load| load.horizon)
    }

    /// Whether a limit refuses that was hardly in use, and does not say which it is: then it is none of the caller's.
    pub(crate) fn refuses_without_use(&self) -> bool {
        let (Some(used), Some(load)) = (self.used_when_throttled, self.horizon_load()) else { return false };
        let again = self.firsts_throttled < OFTEN_AT_FIRST && self.retries_throttled > OFTEN_AGAIN;
        let hardly = used < HARDLY_USED && load <= SURELY_ENOUGH && again;
        let unused = hardly || (used < NOT_USED && load <= FAR_FROM_SHORT);
        self.unnamed > MOSTLY_UNNAMED && unused && !self.may_fill_a_limit()
    }

    /// Whether so many attempts were made that a limit on requests which counts refused ones is full of them, and serves
    /// nobody although nobody uses it.
    pub(crate) fn may_fill_a_limit(&self) -> bool {
        let of_requests = self.loads.iter().find(|load| load.limit.dimension == Dimension::Requests);
        of_requests.is_some_and(|load| load.mean * self.objective.attempts_per_call > FILLED_BY_ATTEMPTS)
    }

    /// Whether the class of what was refused had to be guessed.
    pub(crate) fn inferred(&self) -> bool {
        self.unnamed > MOSTLY_UNNAMED
    }
}

impl Blame {
    /// By what ended calls, where calls fail; where they only need too many attempts, by what failed attempts.
    fn of(counts: &Counts, objective: &Objective) -> Self {
        let number = |number| counts.get(number);
        let Objective { failed, succeeded, least_success, .. } = *objective;
        // A call that waited until too late is cut in its attempt: the wait is to blame, unless attempts fail as well that
        // did not wait.
        let late = error_share(counts) < NOTABLE_ERRORS;
        let failure = |failure: f64| if late { (failure, 0.0) } else { (0.0, failure) };
        let fails = failed > (1.0 - least_success) * (failed + succeeded);
        let [minute, day, spend, overload, concurrency, failure] = if fails {
            let (late, failure) = failure(number(Number::EndedByFailure));
            [
                number(Number::EndedByMinute) + late,
                number(Number::EndedByDay),
                number(Number::EndedBySpend),
                number(Number::EndedByOverload),
                number(Number::EndedByConcurrency),
                failure,
            ]
        } else {
            let (late, failure) = failure(number(Number::Failed));
            [
                number(Number::Throttled) + late,
                number(Number::ThrottledByDay),
                number(Number::ThrottledBySpend),
                number(Number::ThrottledByOverload),
                number(Number::ThrottledByConcurrency),
                failure,
            ]
        };
        let all = minute + day + spend + overload + concurrency + failure;
        let part = |part| share(part, all);
        Self {
            minute: part(minute),
            day: part(day),
            spend: part(spend),
            overload: part(overload),
            concurrency: part(concurrency),
            failure: part(failure),
        }
    }
}

/// The share of attempts that failed and no limit is to blame, of those that did not wait before.
fn error_share(counts: &Counts) -> f64 {
    share(counts.get(Number::PromptFailed), counts.get(Number::Prompt))
}

/// How long the least patient calls may wait: the time an attempt takes is not theirs to wait.
fn patience(counts: &Counts) -> Duration {
    let calls = counts.get(Number::Calls);
    let notable = counts.policies().iter().filter(|policy| policy.calls > calls * NOTABLE_POLICY);
    let deadlines = notable.map(|Offered { calls, deadline_seconds, .. }| deadline_seconds / calls);
    let least = deadlines.fold(f64::INFINITY, f64::min);
    let attempt = share(counts.get(Number::AttemptSeconds), counts.get(Number::Attempts));
    let waits = least - attempt.min(least / 2.0);
    Duration::try_from_secs_f64(waits).unwrap_or(Duration::MAX)
}

/// Calls, and the tokens they were expected to need.
fn offered(counts: &Counts) -> Amounts {
    Amounts::new(
        counts.get(Number::Calls),
        counts.get(Number::OfferedInput),
        counts.get(Number::OfferedOutput),
        counts.get(Number::OfferedUnsided),
    )
}

/// Attempts that succeeded, and the tokens they used.
fn served(counts: &Counts) -> Amounts {
    Amounts::new(
        counts.get(Number::Served),
        counts.get(Number::UsedInput),
        counts.get(Number::UsedOutput),
        counts.get(Number::UsedUnsided),
    )
}

/// What counts of what was asked for: requests as they are; tokens as they are estimated, corrected by what was really
/// used; where nobody estimates, what is usually used.
fn needs(window: &Window, dimension: Dimension) -> impl Fn(&Amounts) -> f64 {
    let counts = &window.counts;
    let offered = offered(counts);
    let used = served(counts);
    let (calls, served) = (offered.of(Dimension::Requests), used.of(Dimension::Requests));
    let usual = share(used.of(dimension), served);
    let estimated = share(offered.of(dimension), calls);
    let known = served >= ENOUGH_SUCCESSES && usual > 0.0;
    let bias = if dimension != Dimension::Requests && known { share(usual, estimated) } else { 1.0 };
    move |asked| {
        if estimated > 0.0 { asked.of(dimension) * bias } else { asked.of(Dimension::Requests) * usual }
    }
}

/// How much is asked for against what `limit` can serve.
fn load(window: &Window, limit: KnownLimit, patience: Duration) -> Load {
    let needs = needs(window, limit.dimension);
    let sustained = window.peaks.sustained.of(limit.dimension);
    // What this part of the fleet may take of it.
    let granted = limit.amount * window.share_of_fleet.unwrap_or(1.0);
    let is_larger = limit.origin == QuotaOrigin::Config && sustained > granted * MORE_THAN_SET;
    let amount = if is_larger { sustained } else { granted };
    let minutes = |time: Duration| time.as_secs_f64() / window.minute.as_secs_f64();
    // A full bucket, or a window that has just begun, serves more than a minute's worth at first. How much is not told,
    // and was seen at best; half of it is counted.
    let head_start = (window.peaks.minute.of(limit.dimension) / amount - 1.0).clamp(0.0, 1.0) / 2.0;
    let supply = |horizon: Duration| amount * (minutes(horizon.saturating_add(patience)) + head_start);
    let counts = &window.counts;
    let all = offered(counts);
    Load {
        limit,
        horizon: window.demand.load(LOAD_MET_BY, supply, &needs),
        mean: share(needs(&all), amount * minutes(window.length)),
        used: share(served(counts).of(limit.dimension), amount * minutes(window.length)),
        used_at_most: share(window.peaks.minute.of(limit.dimension), amount),
        sustained: share(sustained, granted),
        when_throttled: share(window.peaks.when_throttled.of(limit.dimension), amount),
    }
}

/// The same against the most that was served while a limit refused. Of requests and tokens the one counts that is less:
/// only one of them is what was refused.
fn learned_load(window: &Window, patience: Duration) -> f64 {
    let minutes = |time: Duration| time.as_secs_f64() / window.minute.as_secs_f64();
    let loads = [Dimension::Requests, Dimension::Tokens].into_iter().filter_map(|dimension| {
        let limit = window.peaks.at_limit.of(dimension);
        let supply = |horizon: Duration| limit * minutes(horizon.saturating_add(patience));
        (limit > 0.0).then(|| window.demand.load(LOAD_MET_BY, supply, needs(window, dimension)))
    });
    loads.reduce(f64::min).unwrap_or(0.0)
}

#[cfg(test)]
#[path = "evidence_tests.rs"]
mod tests;
