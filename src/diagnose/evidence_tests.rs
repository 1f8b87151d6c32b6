//! Pools played, and what the evidence makes of them.

use std::time::Duration;

use crate::core::decide::CallOutcome;
use crate::core::estimate::Estimate;
use crate::core::signal::LimitClass;
use crate::diagnose::cause::{Cause, Certainty};
use crate::diagnose::evidence::Evidence;
use crate::diagnose::play::{FINE, Going, Play, THROTTLED};
use crate::event::catalogue::Metric;

fn horizon_load(play: &Play) -> f64 {
    Evidence::of(&play.window()).horizon_load().expect("a limit is known")
}

fn assert_near(found: f64, expected: f64) {
    assert!((found / expected - 1.0).abs() < 0.04, "{found}, not {expected}");
}

#[test]
fn a_steady_load_counts_more_the_longer_it_lasts() {
    let load = |minutes| {
        let mut play = Play::limited(60.0);
        play.minutes(0..minutes, 120, |_| FINE);
        horizon_load(&play)
    };
    // Served at twice the limit for a while: half of that head start is counted.
    assert_near(load(2), 240.0 / (60.0 * (2.0 + 1.0 + 0.5)));
    assert!(load(5) < load(10));
}

#[test]
fn what_one_minute_in_an_hour_meets_is_no_shortage() {
    let mut play = Play::limited(60.0);
    play.minutes(0..60, 30, |_| FINE);
    play.minutes(60..61, 60, |_| FINE);
    assert!(horizon_load(&play) < 0.6, "{}", horizon_load(&play));
    play.minutes(61..66, 200, |_| THROTTLED);
    assert!(horizon_load(&play) > 2.0, "{}", horizon_load(&play));
}

#[test]
fn the_least_patient_of_two_policies_says_how_long_the_quota_may_take() {
    let load = |patience: u64, hurried: u32| {
        let mut play = Play::limited(80.0);
        let hasty = Going { policy: "hasty", deadline: Duration::from_secs(patience), ..FINE };
        let batch = Going { policy: "batch", deadline: Duration::from_secs(600), ..FINE };
        play.minutes(0..20, 120, |call| if call < hurried { hasty } else { batch });
        horizon_load(&play)
    };
    assert!(load(6, 40) > 1.1 * load(300, 40), "a third of the calls are in a hurry");
    assert_near(load(6, 1), load(600, 1));
}

#[test]
fn tokens_are_counted_as_they_were_used_whatever_was_expected() {
    let load = |estimate: Option<Estimate>| {
        let mut play = Play::new();
        play.limit("input_tokens", "config", 60_000.0);
        play.minutes(0..20, 60, |_| Going { used: 1_000, estimate, ..FINE });
        horizon_load(&play)
    };
    let right = load(Some(Estimate::input(1_000)));
    assert_near(load(Some(Estimate::input(2_000))), right);
    assert_near(load(None), right);
    assert_near(right, 15.0 / 16.0);
}

#[test]
fn sides_of_tokens_are_held_against_their_own_limits() {
    let mut play = Play::new();
    play.limit("input_tokens", "config", 600_000.0);
    play.limit("output_tokens", "config", 6_000.0);
    play.minutes(0..20, 60, |_| Going { used: 100, estimate: Some(Estimate::input(100).output(1_000)), ..FINE });
    let seen = Evidence::of(&play.window());
    assert_eq!(seen.loads.len(), 2);
    assert_eq!(seen.loads[0].limit.dimension, crate::core::signal::Dimension::OutputTokens);
    assert!(seen.loads[0].horizon > 5.0 && seen.loads[1].horizon < 0.1, "{:?}", seen.loads);
}

#[test]
fn the_provider_is_believed_before_the_configuration_and_the_difference_is_told() {
    let mut play = Play::limited(60.0);
    play.minutes(0..20, 60, |_| FINE);
    let as_configured = horizon_load(&play);
    play.limit("requests", "header", 30.0);
    assert!(horizon_load(&play) > 1.5 * as_configured);
    let verdict = play.verdict();
    let note = "60 requests are configured, and the provider says 30: the provider counts";
    assert!(verdict.notes.iter().any(|found| found == note), "{:?}", verdict.notes);
}

#[test]
fn a_configured_limit_that_is_exceeded_for_long_is_not_the_providers() {
    let mut play = Play::limited(30.0);
    play.minutes(0..30, 60, |call| if call % 20 == 0 { THROTTLED } else { FINE });
    assert!(horizon_load(&play) < 1.0, "{}", horizon_load(&play));
    assert!(play.verdict().notes.iter().any(|note| note.starts_with("30 requests a minute are configured, and 1.9")));
}

#[test]
fn a_daily_limit_reached_at_two_is_still_named_at_six_when_nobody_sends_any_more() {
    let mut play = Play::limited(60.0);
    play.minutes(0..30, 20, |_| FINE);
    let spent = Going { refused: (1, LimitClass::Daily), ends: CallOutcome::DailyLimit, ..FINE };
    play.minutes(30..31, 20, |_| spent);
    let refused = Going { refused: (0, LimitClass::Daily), ends: CallOutcome::GateRefused, ..FINE };
    play.minutes(31..270, 20, |_| refused);
    let verdict = play.verdict();
    assert_eq!((verdict.cause, verdict.certainty), (Cause::DailySpent, Certainty::Firm));
    assert_eq!(verdict.evidence.objective.attempts_per_call, 0.0, "not one attempt in the last hour");
}

#[test]
fn a_limit_that_is_not_named_and_lets_nothing_through_is_one_of_the_day() {
    let locked = Going { refused: (2, LimitClass::Unknown), ..THROTTLED };
    let mut play = Play::limited(600.0);
    play.minutes(0..30, 20, |_| FINE);
    play.minutes(30..60, 20, |_| locked);
    let verdict = play.verdict();
    assert_eq!((verdict.cause, verdict.certainty), (Cause::DailySpent, Certainty::Likely));
    // Seconds are stated each time: the provider says that it is no matter of the day, and is believed unless most calls
    // succeed at other times, or a limit is known that is hardly used.
    let told = |fine: u32, limit: Option<f64>| {
        let mut play = limit.map_or_else(Play::new, Play::limited);
        play.minutes(0..fine, 20, |_| FINE);
        for minute in fine..60 {
            play.minutes(minute..minute + 1, 20, |_| locked);
            (0..20).for_each(|_| play.tell(&SECONDS_STATED));
        }
        play.verdict().cause
    };
    assert_ne!(told(28, None), Cause::DailySpent);
    assert_eq!([told(32, None), told(28, Some(600.0))], [Cause::DailySpent; 2]);
}

/// A wait of two seconds, as the provider stated it.
const SECONDS_STATED: crate::event::Event<'static> = crate::event::Event::DelayScheduled {
    source: crate::core::decide::DelaySource::Header,
    delay: Duration::from_secs(2),
    stated: Some(Duration::from_secs(2)),
    clamped: false,
};

#[test]
fn a_limit_that_refuses_before_it_is_used_here_may_be_used_by_others() {
    let notes = |limit: f64| {
        let mut play = Play::limited(limit);
        let refused = Going { refused: (1, LimitClass::RequestRate), ..THROTTLED };
        play.minutes(0..60, 20, |call| if call % 4 == 0 { refused } else { FINE });
        play.verdict().notes
    };
    // Fifteen of each twenty were served when five were refused.
    let note = "a limit refused while 25% of it was used here: calls come in bursts, or others use the same quota";
    assert!(notes(60.0).iter().any(|found| found == note), "{:?}", notes(60.0));
    assert!(!notes(20.0).iter().any(|found| found.contains("others use")), "{:?}", notes(20.0));
}

#[test]
fn of_a_limit_that_refuses_before_it_is_used_more_is_asked_for() {
    let asked = |refused_every: u32| {
        let mut play = Play::limited(40.0);
        let refused = Going { refused: (1, LimitClass::RequestRate), ..THROTTLED };
        play.minutes(0..60, 60, |call| if call % refused_every == 0 { refused } else { FINE });
        let verdict = play.verdict();
        assert_eq!(verdict.cause, Cause::QuotaTooSmall);
        verdict.recommend.requests_per_minute.expect("requests are short") as f64
    };
    // Two of three are served of sixty a minute: all of the limit; one of two: three quarters of it.
    let [fully, partly] = [asked(3), asked(2)];
    assert_near(partly / fully, (40.0f64 / 30.0).sqrt());
}

#[test]
fn one_process_of_many_says_that_it_does_not_know_the_fleet() {
    let mut play = Play::limited(60.0);
    play.minutes(0..30, 60, |call| if call % 3 == 0 { THROTTLED } else { FINE });
    let mut window = play.window();
    window.share_of_fleet = None;
    let verdict = crate::diagnose::verdict::Verdict::on(&window);
    assert_eq!(verdict.certainty, Certainty::Likely);
    assert!(verdict.notes.iter().any(|note| note.starts_with("fleet size unknown")), "{:?}", verdict.notes);
}

#[test]
fn one_process_of_a_known_fleet_has_its_share_of_the_limit() {
    let mut play = Play::limited(240.0);
    play.minutes(0..30, 60, |_| FINE);
    let mut window = play.window();
    let alone = Evidence::of(&window).horizon_load().expect("a limit");
    window.share_of_fleet = Some(0.25);
    let of_four = Evidence::of(&window);
    assert!(of_four.horizon_load().expect("a limit") > 3.5 * alone && !of_four.part_of_fleet, "{of_four:?}");
    assert_eq!(of_four.loads[0].limit.amount, 240.0, "told as it is");
}

#[test]
fn trouble_of_a_few_minutes_blames_nobody_for_good() {
    let mut play = Play::limited(600.0);
    let patient = Going { deadline: Duration::from_secs(120), ..THROTTLED };
    play.minutes(0..55, 20, |_| FINE);
    play.minutes(55..60, 40, |call| if call % 5 == 0 { patient } else { FINE });
    let verdict = play.verdict();
    assert_eq!((verdict.cause, verdict.certainty), (Cause::BackoffTooFast, Certainty::Provisional));
    play.minutes(60..90, 40, |call| if call % 5 == 0 { patient } else { FINE });
    assert_eq!(play.verdict().certainty, Certainty::Firm);
}

#[test]
fn the_settings_of_the_policy_most_calls_use_are_what_is_to_be_changed() {
    let mut play = Play::limited(600.0);
    for (parameter, value) in
        [("base_seconds", 0.2), ("cap_seconds", 5.0), ("attempts", 5.0), ("deadline_seconds", 60.0)]
    {
        play.gauge(Metric::PolicyParameter, &[("policy", "chat"), ("parameter", parameter)], value);
    }
    play.minutes(0..40, 40, |call| if call % 5 == 0 { THROTTLED } else { FINE });
    let verdict = play.verdict();
    assert_eq!(verdict.cause, Cause::BackoffTooFast);
    let policy = verdict.recommend.policy.expect("a curve");
    assert!(policy.base >= Duration::from_secs(4) && policy.attempts >= 5, "{policy:?}");
    assert!(verdict.sentence.contains("base 200ms -> "), "{}", verdict.sentence);
}
