//! Each rule at its line.

use super::*;
use crate::diagnose::evidence::{Blame, Load};
use crate::diagnose::play::Play;

/// A pool of 1,000 calls that fails one in ten although its quota would do; each test changes what it is about.
fn failing() -> Evidence {
    let mut seen = Evidence::of(&Play::limited(60.0).window());
    seen.objective.succeeded = 900.0;
    seen.objective.failed = 100.0;
    seen.objective.attempts_per_call = 1.35;
    seen.calls = 1_000.0;
    seen.ended = 1_000.0;
    seen.failed_attempts = 450.0;
    seen.blame = Blame { minute: 1.0, ..Blame::default() };
    seen.firsts_throttled = 0.12;
    seen.retries_throttled = 0.9;
    seen.exhausted = 1.0;
    loaded(seen, 0.5)
}

fn loaded(mut seen: Evidence, horizon: f64) -> Evidence {
    seen.loads = vec![Load { horizon, ..seen.loads[0] }];
    seen
}

fn with(change: impl FnOnce(&mut Evidence)) -> Cause {
    let mut seen = failing();
    change(&mut seen);
    cause(&seen)
}

#[test]
fn few_calls_say_nothing_but_what_their_answers_name() {
    let few = |seen: &mut Evidence| seen.calls = 199.0;
    assert_eq!(with(few), Cause::NotEnoughData);
    let spend = Blame { spend: 0.8, minute: 0.2, ..Blame::default() };
    let named = |failed: f64| {
        with(|seen| {
            few(seen);
            seen.blame = spend;
            (seen.objective.failed, seen.failed_attempts) = (failed, failed);
        })
    };
    assert_eq!([named(19.0), named(20.0)], [Cause::NotEnoughData, Cause::SpendLimit]);
}

#[test]
fn the_objective_is_met_before_anything_is_wrong() {
    let met = |failed: f64, attempts: f64| {
        with(|seen| {
            (seen.objective.succeeded, seen.objective.failed) = (1_000.0 - failed, failed);
            seen.objective.attempts_per_call = attempts;
        })
    };
    assert_eq!(met(10.0, 1.5), Cause::Healthy);
    assert_eq!([met(10.1, 1.5), met(10.0, 1.51)], [Cause::BackoffTooFast; 2]);
    let promised = |least_success: f64| with(|seen| seen.objective.least_success = least_success);
    assert_eq!([promised(0.9), promised(0.901)], [Cause::Healthy, Cause::BackoffTooFast]);
}

#[test]
fn wrong_requests_are_named_though_the_objective_is_met() {
    let wrong = |wrong: f64, failed: f64| {
        with(|seen| {
            (seen.wrong, seen.objective.failed) = (wrong, failed);
            seen.objective.succeeded = 1_000.0 - wrong - failed;
        })
    };
    assert_eq!([wrong(10.0, 5.0), wrong(10.1, 5.0)], [Cause::Healthy, Cause::CallerErrors]);
    assert_eq!(wrong(50.0, 100.0), Cause::BackoffTooFast, "what fails more often comes first");
}

#[test]
fn requests_larger_than_a_limit_need_a_larger_limit() {
    let too_large = with(|seen| {
        seen.too_large = 20.0;
        seen.objective.failed = 0.0;
    });
    assert_eq!(too_large, Cause::QuotaTooSmall);
}

#[test]
fn what_the_answers_name_comes_before_demand() {
    let named = |blame: Blame| {
        with(|seen| {
            *seen = loaded(seen.clone(), 3.0);
            seen.blame = blame;
        })
    };
    let most = |part: f64| (part, 1.0 - part);
    let (much, rest) = most(0.51);
    assert_eq!(named(Blame { day: much, minute: rest, ..Blame::default() }), Cause::DailySpent);
    assert_eq!(named(Blame { spend: much, minute: rest, ..Blame::default() }), Cause::SpendLimit);
    assert_eq!(named(Blame { failure: much, minute: rest, ..Blame::default() }), Cause::ProviderErrors);
    assert_eq!(named(Blame { concurrency: much, minute: rest, ..Blame::default() }), Cause::Concurrency);
    assert_eq!(named(Blame { day: rest, minute: much, ..Blame::default() }), Cause::QuotaTooSmall);
}

#[test]
fn overload_is_ridden_out_only_where_it_is_mild_and_nothing_holds_calls_back() {
    let overloaded = |failed: f64, attempts: f64, gated: bool| {
        with(|seen| {
            seen.blame = Blame { overload: 0.9, minute: 0.1, ..Blame::default() };
            (seen.objective.succeeded, seen.objective.failed) = (1_000.0 - failed, failed);
            (seen.objective.attempts_per_call, seen.gated) = (attempts, gated);
        })
    };
    assert_eq!(overloaded(51.0, 1.5, false), Cause::Overloaded);
    assert_eq!(overloaded(49.0, 1.5, false), Cause::BackoffTooFast);
    assert_eq!(overloaded(49.0, 1.51, false), Cause::Overloaded);
    assert_eq!(overloaded(49.0, 1.5, true), Cause::Overloaded);
}

#[test]
fn the_quota_is_blamed_above_the_line_and_never_for_throttling_alone() {
    let at = |load| with(|seen| *seen = loaded(seen.clone(), load));
    assert_eq!([at(1.0), at(1.01)], [Cause::BackoffTooFast, Cause::QuotaTooSmall]);
    let storm = with(|seen| {
        seen.objective.attempts_per_call = 12.0;
        seen.retries_throttled = 1.0;
    });
    assert_eq!(storm, Cause::BackoffTooFast);
}

#[test]
fn a_limit_that_was_only_learned_needs_more_to_be_called_short() {
    let learned = |load: f64, failed: f64| {
        with(|seen| {
            seen.loads.clear();
            seen.learned_load = load;
            (seen.objective.succeeded, seen.objective.failed) = (1_000.0 - failed, failed);
        })
    };
    assert_eq!([learned(0.85, 100.0), learned(0.86, 100.0)], [Cause::BackoffTooFast, Cause::QuotaTooSmall]);
    assert_eq!(learned(1.5, 29.0), Cause::BackoffTooFast, "hardly anything fails");
    assert_eq!(learned(1.5, 900.0), Cause::QuotaTooSmall);
}

#[test]
fn what_was_served_in_a_storm_or_behind_a_dam_says_little_of_a_limit_nobody_knows() {
    let unknown = |load: f64, failed: f64, change: fn(&mut Evidence)| {
        with(|seen| {
            seen.loads.clear();
            (seen.learned_load, seen.retries_throttled) = (load, 0.91);
            (seen.objective.succeeded, seen.objective.failed) = (1_000.0 - failed, failed);
            change(seen);
        })
    };
    assert_eq!(unknown(2.0, 410.0, |_| {}), Cause::BackoffTooFast, "a storm");
    assert_eq!(unknown(2.01, 410.0, |_| {}), Cause::QuotaTooSmall, "even twice that is short");
    assert_eq!(unknown(2.0, 390.0, |_| {}), Cause::QuotaTooSmall, "most is served");
    assert_eq!(unknown(2.0, 410.0, |seen| seen.retries_throttled = 0.9), Cause::QuotaTooSmall, "retries help");
    let dammed = |seen: &mut Evidence| (seen.gated, seen.unnamed) = (true, 0.6);
    assert_eq!(unknown(3.0, 460.0, dammed), Cause::Unpaced, "a limit that may be one in flight");
    assert_eq!(unknown(3.0, 440.0, dammed), Cause::QuotaTooSmall, "most is served");
    assert_eq!(unknown(3.0, 460.0, |seen| seen.gated = true), Cause::QuotaTooSmall, "the limit is named");
}

#[test]
fn refusals_that_name_no_limit_and_meet_none_in_use_are_the_providers_own() {
    let refused = |used: f64| {
        with(|seen| {
            (seen.unnamed, seen.used_when_throttled) = (1.0, Some(used));
        })
    };
    assert_eq!([refused(0.29), refused(0.31)], [Cause::Overloaded, Cause::BackoffTooFast]);
    let at_first = |used: f64, load: f64| {
        with(|seen| {
            (seen.unnamed, seen.used_when_throttled, seen.firsts_throttled) = (1.0, Some(used), 0.4);
            *seen = loaded(seen.clone(), load);
        })
    };
    assert_eq!([at_first(0.14, 0.4), at_first(0.16, 0.4)], [Cause::Overloaded, Cause::Unpaced]);
    assert_eq!(at_first(0.14, 0.6), Cause::Unpaced, "a storm leaves a limit unused as well");
}

#[test]
fn a_limit_full_of_refused_attempts_is_neither_a_spent_day_nor_the_providers_want_of_capacity() {
    let told = |attempts: f64, change: fn(&mut Evidence)| {
        with(|seen| {
            (seen.unnamed, seen.used_when_throttled, seen.firsts_throttled) = (1.0, Some(0.1), 0.9);
            (seen.loads[0].mean, seen.objective.attempts_per_call) = (0.5, attempts);
            change(seen);
        })
    };
    let unused = |_: &mut Evidence| {};
    assert_eq!([told(3.9, unused), told(4.1, unused)], [Cause::Overloaded, Cause::Unpaced]);
    let lately = |seen: &mut Evidence| (seen.locked_out_lately, seen.used_when_throttled) = (true, Some(0.0));
    assert_eq!([told(3.9, lately), told(4.1, lately)], [Cause::DailySpent, Cause::Unpaced]);
    assert_eq!(told(4.1, |seen| seen.locked_out = true), Cause::DailySpent, "no storm is as long");
    let of_tokens = |seen: &mut Evidence| seen.loads[0].limit.dimension = crate::core::signal::Dimension::Tokens;
    assert_eq!(told(9.0, of_tokens), Cause::Overloaded, "attempts that are refused use no tokens");
}

#[test]
fn a_day_that_no_answer_names_is_told_from_what_was_learned_but_not_from_a_limit() {
    let locked_out = |known: bool| {
        with(|seen| {
            (seen.locked_out, seen.unnamed, seen.learned_load) = (true, 1.0, 1.4);
            *seen = loaded(seen.clone(), 1.4);
            if !known {
                seen.loads.clear();
            }
        })
    };
    assert_eq!([locked_out(false), locked_out(true)], [Cause::DailySpent, Cause::QuotaTooSmall]);
    let lately = |used: Option<f64>| {
        with(|seen| {
            (seen.locked_out_lately, seen.unnamed, seen.used_when_throttled) = (true, 1.0, used);
            seen.firsts_throttled = 0.4;
        })
    };
    assert_eq!(lately(Some(0.29)), Cause::DailySpent, "nothing comes through, and nobody uses the limit");
    assert_eq!([lately(Some(0.3)), lately(None)], [Cause::Unpaced; 2]);
}

#[test]
fn errors_of_attempts_that_met_no_limit_are_the_providers() {
    assert_eq!(with(|seen| seen.errors = 0.011), Cause::ProviderErrors);
    assert_eq!(with(|seen| seen.errors = 0.01), Cause::BackoffTooFast);
    let gated = |failure: f64| {
        with(|seen| {
            (seen.gated, seen.errors) = (true, 0.05);
            seen.blame = Blame { failure, minute: 1.0 - failure, ..Blame::default() };
        })
    };
    assert_eq!([gated(0.1), gated(0.11)], [Cause::Unpaced, Cause::ProviderErrors], "who waits for the gate");
}

#[test]
fn first_attempts_tell_pace_from_curve_and_retries_tell_fast_from_slow() {
    assert_eq!(with(|seen| seen.firsts_throttled = 0.271), Cause::Unpaced);
    assert_eq!(with(|seen| seen.gated = true), Cause::Unpaced, "behind a gate the curve is not what paces");
    let patient = |exhausted: f64, out_of_time: f64| {
        with(|seen| {
            (seen.retries_throttled, seen.exhausted, seen.out_of_time) = (0.2, exhausted, out_of_time);
        })
    };
    assert_eq!(patient(0.1, 0.9), Cause::BackoffTooSlow);
    assert_eq!(patient(0.6, 0.4), Cause::BackoffTooFast);
    assert_eq!(patient(0.1, 0.2), Cause::Unclear, "nothing shows in which direction");
}

#[test]
fn nobody_is_blamed_without_evidence() {
    let mixed = with(|seen| seen.blame = Blame { minute: 0.4, concurrency: 0.3, failure: 0.3, ..Blame::default() });
    assert_eq!(mixed, Cause::Unclear);
}

#[test]
fn a_cause_by_load_says_why_it_is_not_its_neighbour() {
    let seen = failing();
    let reasons = why_not(Cause::BackoffTooFast, &seen);
    assert_eq!(reasons[0].cause, Cause::QuotaTooSmall);
    assert_eq!(reasons[0].why, "the horizon load is 0.50; the quota is short above 1");
    assert!(reasons.iter().any(|reason| reason.cause == Cause::Unpaced));
    let short = loaded(seen, 1.4);
    assert!(
        why_not(Cause::QuotaTooSmall, &short).iter().all(|reason| reason.why.starts_with("the horizon load is 1.40"))
    );
}
