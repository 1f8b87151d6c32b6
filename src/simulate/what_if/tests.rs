use super::*;
use crate::simulate::scenario::LimitKnown;

fn scenario(json: &str) -> Scenario {
    json.parse().expect("a scenario")
}

/// Bursts that half fit into a minute's quota, no wait stated, each call on its own.
const BURSTS: &str = r#"{
    "provider": {"requests_per_minute": 60, "algorithm": "fixed_window", "retry_after": "none"},
    "callers": {"arrivals": {"batch": {"size": 110, "every_s": 180}}, "deadline_s": 120},
    "policy": {"base_s": 1, "cap_s": 30, "attempts": 6}, "gate": "none", "limit_configured": false,
    "measured_s": 1800
}"#;

#[test]
fn one_thing_is_changed_at_a_time() {
    let today = scenario(BURSTS);
    let changed = |change: Change| change.applied_to(&today).expect("in range");
    assert_eq!(changed(Change::Today), today);
    let suggested = changed(Change::SuggestedNumbers);
    assert_eq!((suggested.policy.base_s, suggested.policy.attempts), (Some(6.0), Some(32.0)));
    assert_eq!((&suggested.provider, &suggested.callers), (&today.provider, &today.callers));
    assert_eq!(changed(Change::SharedGate).limit_configured, Some(LimitKnown::No));
    assert_eq!(changed(Change::TwiceTheQuota).provider.requests_per_minute, Some(120.0));
}

#[test]
fn each_kind_of_call_gets_numbers_of_its_own() {
    let json = r#"{"provider": {"retry_after": "none"}, "callers": {"deadline_s": [
        {"deadline_s": 15, "policy": "chat"}, {"deadline_s": 120, "policy": {"attempts": 3}}]}}"#;
    let changed = Change::SuggestedNumbers.applied_to(&scenario(json)).expect("in range");
    let run = Simulation::of(&changed).plotted().observed(&mut |_| {}).expect("in range");
    assert_eq!(change::numbers(&run.1), "base 3.8 s, cap 3.8 s, attempts 13; base 6 s, cap 12 s, attempts 32");
}

#[test]
fn bad_numbers_are_told_from_a_small_quota() {
    let numbers = what_if(&scenario(BURSTS)).expect("in range");
    let success = |change| numbers.row(change).outcome.success_ratio.expect("calls arrived");
    assert!(success(Change::Today) < 0.8 && success(Change::SuggestedNumbers) > 0.97, "{:?}", numbers.rows());
    assert!(numbers.sentence().starts_with("The numbers are the trouble: "), "{}", numbers.sentence());

    let short = BURSTS.replace("\"batch\": {\"size\": 110, \"every_s\": 180}", "\"poisson\": {\"per_minute\": 110}");
    let quota = what_if(&scenario(&short)).expect("in range");
    assert!(quota.sentence().starts_with("The quota is the trouble: "), "{}", quota.sentence());

    let calm = BURSTS.replace("\"size\": 110", "\"size\": 50");
    let calm = what_if(&scenario(&calm)).expect("in range");
    assert_eq!(calm.sentence(), "Nothing has to change: 100 % of the calls succeed today.");
}

#[test]
fn the_picture_has_a_panel_for_each_run_on_one_axis() {
    let what_if = what_if(&scenario(BURSTS)).expect("in range");
    let svg = what_if.plot();
    assert_eq!(svg.matches("font-size=\"14\"").count(), 4);
    assert_eq!(svg.matches("<path fill=").count(), 12, "three kinds of bars each");
    assert_eq!(svg.matches("time since the start").count(), 1);
    assert!(!svg.contains("\n\n"), "no empty line, so that it can stand in a page");
}

#[test]
fn the_ideal_engine_has_nothing_to_change() {
    let refused = what_if(&scenario(r#"{"engine": "pacer"}"#)).expect_err("refused").to_string();
    assert_eq!(refused, "engine is Pacer; allowed: forbear: the pacer has no policy to change");
}
