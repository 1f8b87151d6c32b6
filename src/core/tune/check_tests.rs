use super::*;
use crate::core::policy::Policy;
use crate::core::tune::layer::Jitter;

const SECOND: Duration = Duration::from_secs(1);
const MINUTE: Duration = Duration::from_secs(60);

/// Base 1 s, factor 2, five retries.
fn copied() -> RetryLayer {
    RetryLayer::new(SECOND, 6)
}

fn kinds(layer: &RetryLayer, deadline: Duration) -> Vec<&'static str> {
    let check = layer.check(MINUTE, deadline).expect("in range");
    check.findings.iter().map(|finding| finding.kind.as_str()).collect()
}

#[test]
fn numbers_copied_from_elsewhere_cannot_outlive_a_minute() {
    let check = copied().check(MINUTE, 2 * MINUTE).expect("in range");
    assert_eq!(kinds(&copied(), 2 * MINUTE), ["cannot_outlive_window", "gives_up_before_reset"]);
    assert!(!check.can_outlive_window() && check.most_requests == 6 && check.longest_call.is_none());
    assert!((check.findings[1].number - check.gives_up()).abs() < 1e-9);
    assert_eq!(
        check.findings[1].to_string(),
        "error: gives_up_before_reset: 73 % of the throttled calls give up before the window resets; \
         set base 6 s, factor 2, cap 12 s, attempts 32: then 0.1 % do"
    );
}

#[test]
fn a_deadline_of_a_quarter_of_the_window_dooms_every_retry_a_person_waits_for() {
    let person = || copied().interactive(true);
    assert_eq!(kinds(&person(), 15 * SECOND), ["deadline_before_reset", "wasted_requests"]);
    assert_eq!(kinds(&person(), 16 * SECOND), kinds(&copied(), 16 * SECOND));
    for mut once in [copied(), person()] {
        once.attempts = 1;
        assert!(kinds(&once, 15 * SECOND).is_empty(), "no retry is an honest answer");
        assert_eq!(kinds(&once, 2 * MINUTE), ["gives_up_before_reset"], "and a poor one where there is time");
    }
}

#[test]
fn where_nobody_waits_few_retries_are_no_fault_and_many_are() {
    assert!(kinds(&copied(), 15 * SECOND).is_empty());
    let fast = RetryLayer::new(SECOND / 2, 30).cap(SECOND);
    assert_eq!(kinds(&fast, 15 * SECOND), ["wasted_requests"]);
    assert_eq!(kinds(&copied(), SECOND), ["deadline_before_reset"], "a sixtieth of the window");
}

#[test]
fn a_second_layer_multiplies_and_outlasts() {
    let mut layer = copied();
    layer.below = Some(Box::new(RetryLayer::sdk(2)));
    layer.timeout = Some(10 * MINUTE);
    let check = layer.check(MINUTE, 2 * MINUTE).expect("in range");
    let found = |kind| check.findings.iter().find(|finding| finding.kind == kind).expect("found").clone();
    assert_eq!(found(FindingKind::MultipliedRequests).number, 18.0);
    // Eighteen requests of ten minutes, twelve waits of the layer below, five of this one.
    assert_eq!(found(FindingKind::OutlastsDeadline).number, 18.0 * 600.0 + 6.0 * 1.5 + 31.0);
}

#[test]
fn callers_that_wait_the_same_come_back_together() {
    let mut layer = copied();
    layer.jitter = Jitter::NONE;
    assert!(kinds(&layer, 2 * MINUTE).contains(&"synchronised"));
    let mut short = RetryLayer::new(SECOND / 10, 30);
    short.cap = 8 * SECOND;
    assert!(kinds(&short, 2 * MINUTE).contains(&"synchronised"), "all of them within 100 ms");
}

#[test]
fn many_fast_retries_are_waste() {
    let mut layer = RetryLayer::new(SECOND, 100);
    layer.cap = SECOND;
    let check = layer.check(MINUTE, 2 * MINUTE).expect("in range");
    let waste = check.findings.iter().find(|finding| finding.kind == FindingKind::WastedRequests).expect("found");
    assert!(waste.number > 40.0, "{waste}");
}

#[test]
fn stated_waits_that_are_not_waited_for_are_found() {
    let with = |stated_waits| {
        let mut layer = RetryLayer::from(&Policy::for_window(MINUTE).deadline(2 * MINUTE).build().expect("valid"));
        layer.stated_waits = stated_waits;
        kinds(&layer, 2 * MINUTE)
    };
    assert_eq!(with(StatedWaits::Ignored), ["ignores_stated_waits"]);
    assert_eq!(with(StatedWaits::UpTo(30 * SECOND)), ["header_cap_below_window"]);
    assert!(with(StatedWaits::UpTo(MINUTE)).is_empty() && with(StatedWaits::Unknown).is_empty());
}

#[test]
fn what_is_suggested_passes_for_every_window_and_deadline() {
    let lengths = [0.05, 1.0, 7.0, 60.0, 90.0, 300.0, 3_600.0, 86_400.0].map(Duration::from_secs_f64);
    for window in lengths {
        for deadline in lengths {
            let policy = Policy::for_window(window).deadline(deadline).build().expect("valid");
            let check = policy.check(window, deadline).expect("in range");
            let wrong: Vec<_> = check.findings.iter().filter(|f| f.kind != FindingKind::Synchronised).collect();
            assert!(wrong.is_empty(), "{window:?}, {deadline:?}: {wrong:?}");
        }
    }
}

#[test]
fn a_policy_that_runs_past_its_callers_deadline_is_told() {
    let policy = Policy::for_window(MINUTE).deadline(2 * MINUTE).build().expect("valid");
    let check = policy.check(MINUTE, 90 * SECOND).expect("in range");
    assert_eq!(check.findings[0].kind, FindingKind::OutlastsDeadline);
}

#[test]
fn ratios_never_round_to_all_or_nothing() {
    assert_eq!(
        [0.0, 0.000_1, 0.004, 0.744, 0.999, 1.0].map(|share| HumanPercent(share).to_string()),
        ["0 %", "0.1 %", "0.4 %", "74 %", "99.9 %", "100 %"]
    );
}

#[test]
fn a_refused_window_or_deadline_is_named() {
    let refused = |window, deadline| copied().check(window, deadline).expect_err("refused").to_string();
    assert_eq!(refused(Duration::ZERO, MINUTE), "window is 0ns; allowed: 10ms to 24h");
    assert_eq!(refused(MINUTE, Duration::ZERO), "deadline is 0ns; allowed: 1ms to 7 days");
    let policy = Policy::for_window(Duration::ZERO).deadline(MINUTE).named("x").build();
    assert_eq!(policy.expect_err("refused").to_string(), "window is 0ns; allowed: 10ms to 24h (policy \"x\")");
}
