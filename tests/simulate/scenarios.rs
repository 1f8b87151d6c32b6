//! Scenarios: what is refused, what repeats, what a change leaves alone, and what a world must never do.

use std::collections::BTreeSet;

use proptest::prelude::*;

use forbear::diagnose::Cause;
use forbear::simulate::{Scenario, Scrape, Simulation, simulate};

fn scenario(json: &str) -> Scenario {
    json.parse().unwrap_or_else(|error| panic!("{error}: {json}"))
}

fn refusal(json: &str) -> String {
    match json.parse::<Scenario>() {
        Err(error) => error.to_string(),
        Ok(scenario) => simulate(&scenario).expect_err(json).to_string(),
    }
}

/// One of everything a scenario can hold.
const FULL: &str = r#"{
    "seed": 7, "warmup_s": 60, "measured_s": 600,
    "provider": {
        "requests_per_minute": 60, "tokens_per_minute": 90000, "input_tokens_per_minute": 60000,
        "output_tokens_per_minute": 40000, "requests_per_day": 5000, "tokens_per_day": 9000000, "day_ends_at_s": 400,
        "concurrency": 20, "window_s": 60, "algorithm": "sliding_window", "burst_s": null,
        "throttled_attempts_count": true, "retry_after": {"times": 5, "plus_s": 10}, "quota_headers": true,
        "class_readable": false, "service_s": [0.5, 4], "throttle_answer_s": 0.1,
        "failures": [{"share": 0.05, "kind": "server_error", "from_s": 100, "until_s": 300}, {"kind": "auth", "share": 0.01}],
        "spend": [{"from_s": 500, "until_s": 520}], "overload": [{"from_s": 200, "until_s": 260, "share": 0.5}]
    },
    "others": [{"requests_per_minute": 10, "on_s": 60, "off_s": 30}],
    "callers": {
        "arrivals": {"diurnal": {"per_minute": 50, "low": 0.2, "high": 1.8, "period_s": 300}}, "replicas": 3,
        "tokens": {"median": 900, "sigma": 0.6, "output_share": 0.4, "estimate_bias": 1.2, "estimated": true},
        "deadline_s": [{"share": 2, "deadline_s": 20, "policy": "chat"},
                       {"share": 1, "deadline_s": 300, "policy": {"name": "batch", "attempts": 20}}]
    },
    "policy": {
        "base_s": 2, "factor": 2, "cap_s": 60, "attempts": 8, "honour_header": true, "header_cap_s": 120,
        "on_over_cap": "clamp", "jitter_on_header": "1s", "jitter": "equal", "attempt_timeout_s": 10, "sdk_retries": 1
    },
    "gate": "news", "cold_start": false, "limit_configured": {"times": 1.25}, "fleet_known": true, "engine": "forbear"
}"#;

#[test]
fn a_scenario_with_everything_runs_and_its_result_has_the_promised_fields() {
    let outcome = simulate(&scenario(FULL)).expect("in range");
    let json = serde_json::to_value(&outcome).expect("plain data");
    let fields: BTreeSet<_> = json.as_object().expect("an object").keys().map(String::as_str).collect();
    let promised = [
        "calls",
        "succeeded",
        "success_ratio",
        "attempts",
        "attempts_per_call",
        "throttled",
        "wasted_per_call",
        "gave_up",
        "drained_s",
        "wait_s",
        "quota_used_ratio",
        "largest_100ms",
        "verdict",
        "floor_attempts_per_call",
        "verdict",
    ];
    assert_eq!(fields, promised.into_iter().collect());
    assert!(outcome.calls > 300 && outcome.throttled > 10 && outcome.succeeded > 10, "{outcome:?}");
    let gave_up: u64 = outcome.gave_up.values().sum();
    assert_eq!(outcome.succeeded + gave_up, outcome.calls, "each call ends once");
}

#[test]
fn the_same_seed_gives_the_same_run_watched_or_not() {
    let scenario = scenario(FULL);
    let watched = || {
        let run = Simulation::of(&scenario).scraped(Scrape::default()).plotted().run().expect("in range");
        let mut metrics = Vec::new();
        run.scraped.expect("asked for").write(&mut metrics).expect("a vector takes everything");
        (run.outcome, metrics, run.plot)
    };
    assert_eq!(watched(), watched());
    assert_eq!(simulate(&scenario).expect("in range"), watched().0);
    let mut other = scenario.clone();
    other.seed = Some(8);
    assert_ne!(simulate(&other).expect("in range"), watched().0);
}

/// A Prometheus goes on when nobody calls any more: what it looks back at must not end before the time that is asked about.
#[test]
fn a_fleet_is_scraped_to_the_end_of_the_measured_time_though_the_last_call_ended_long_before() {
    let scenario =
        scenario(r#"{"measured_s": 1200, "callers": {"arrivals": {"batch": {"size": 5, "every_s": 5000}}}}"#);
    let run = Simulation::of(&scenario).scraped(Scrape::default()).run().expect("in range");
    assert_eq!(run.outcome.calls, 5);
    let mut metrics = Vec::new();
    run.scraped.expect("asked for").write(&mut metrics).expect("a vector takes everything");
    let metrics = String::from_utf8(metrics).expect("text");
    let second = |line: &str| line.rsplit(' ').next().and_then(|at| at.parse::<f64>().ok());
    let calls = metrics.lines().filter(|line| line.starts_with("forbear_calls_total{"));
    let last = calls.filter_map(second).fold(0.0, f64::max);
    let start = Scrape::default().start.elapsed_since_epoch().as_secs_f64();
    assert!(last - start >= 1_200.0, "the last scrape was {} s after the start", last - start);
}

#[test]
fn null_is_as_good_as_nothing() {
    let nulls = r#"{"seed": null, "provider": null, "others": null, "callers": {"arrivals": null, "tokens": null,
        "deadline_s": null}, "policy": {"attempts": null, "jitter": null}, "gate": null, "limit_configured": null,
        "measured_s": 60}"#;
    let nothing = scenario(r#"{"measured_s": 60}"#);
    assert_eq!(scenario(nulls), nothing);
    assert_eq!(simulate(&nothing).expect("in range").success_ratio, Some(1.0), "no limit is set by default");
    let none = scenario(r#"{"measured_s": 60, "callers": {"deadline_s": "none"}}"#);
    assert_eq!(simulate(&none).expect("in range"), simulate(&nothing).expect("in range"));
}

/// Each of them would take more memory than there is, were it run.
#[test]
fn what_would_not_fit_into_memory_is_refused_by_name() {
    let list = |item: &str, items: usize| vec![item; items].join(",");
    let others = format!("{{\"others\": [{}]}}", list("{}", 1_001));
    assert_eq!(refusal(&others), "others is a list of 1001; allowed: at most 1000");
    let kinds = format!("{{\"callers\": {{\"deadline_s\": [{}]}}}}", list("{}", 101));
    assert_eq!(refusal(&kinds), "callers.deadline_s is a list of 101; allowed: at most 100 kinds of call");
    let spend = format!("{{\"provider\": {{\"spend\": [{}]}}}}", list("{\"until_s\": 1}", 1_001));
    assert_eq!(refusal(&spend), "provider.spend is a list of 1001; allowed: at most 1000");
    let crowd = r#"{"measured_s": 4000, "provider": {"service_s": 86400},
        "callers": {"arrivals": {"batch": {"size": 1000000, "every_s": 1}}}}"#;
    let refused = refusal(crowd);
    assert!(refused.starts_with("callers.arrivals is so large that 3000000 calls are under way after 2s"), "{refused}");
    let paced = crowd.replace("\"measured_s\"", "\"engine\": \"pacer\", \"measured_s\"");
    assert!(refusal(&paced).starts_with("callers.arrivals is so large that "), "{}", refusal(&paced));

    let month = scenario(r#"{"measured_s": 2678400, "callers": {"arrivals": {"poisson": {"per_minute": 0}}}}"#);
    let mut scrape = Scrape::default();
    scrape.every = std::time::Duration::from_secs(1);
    let refused = Simulation::of(&month).scraped(scrape).run().expect_err("too many").to_string();
    assert!(refused.starts_with("scrape.every is 1s; allowed: so far apart that a run has a million"), "{refused}");
}

/// A month is looked at more coarsely than an hour, and a minute's window more than a second's.
#[test]
fn a_month_of_seconds_is_judged_too() {
    let outcome = simulate(&scenario(
        r#"{"measured_s": 2678400, "provider": {"window_s": 1, "requests_per_minute": 1},
            "callers": {"arrivals": {"poisson": {"per_minute": 0.01}}}}"#,
    ));
    let verdict = outcome.expect("in range").verdict.expect("the engine has one");
    assert_eq!(verdict.cause, Cause::Healthy);
}

#[test]
fn what_cannot_be_is_refused_by_name() {
    let rows = [
        (r#"{"sead": 1}"#, "unknown field `sead`"),
        (r#"{"provider": {"rpm": 1}}"#, "provider: unknown field `rpm`"),
        (r#"{"policy": {"base": 1}}"#, "policy: unknown field `base`"),
        (r#"{"callers": {"deadline_s": [{"deadline": 1}]}}"#, "callers.deadline_s[0]: unknown field `deadline`"),
        (
            r#"{"callers": {"deadline_s": [{"policy": {"base": 1}}]}}"#,
            "callers.deadline_s[0].policy: unknown field `base`",
        ),
        (r#"{"provider": {"retry_after": {"time": 1}}}"#, "provider.retry_after: unknown field `time`"),
        (r#"{"provider": {"retry_after": "soon"}}"#, "provider.retry_after: unknown retry_after `soon`"),
        (r#"{"limit_configured": {"factor": 1}}"#, "limit_configured: unknown field `factor`"),
        (r#"{"gate": "open"}"#, "gate: unknown variant `open`"),
        (r#"{"callers": {"arrivals": {"uniform": {}}}}"#, "callers.arrivals: unknown variant `uniform`"),
        (r#"{"measured_s": "1h"}"#, "measured_s is \"1h\"; allowed: a number"),
        (r#"{"policy": [6, 2]}"#, "policy is [6,2]; allowed: an object"),
        (r#"{"measured_s": 0}"#, "measured_s is 0.0; allowed: 0.001 to 2678400 (31 days)"),
        (r#"{"warmup_s": -1}"#, "warmup_s is -1.0"),
        (r#"{"provider": {"requests_per_minute": 0}}"#, "provider.requests_per_minute is 0.0"),
        (r#"{"provider": {"requests_per_minute": 1.5}}"#, "provider.requests_per_minute is 1.5"),
        (r#"{"provider": {"burst_s": 61}}"#, "provider.burst_s is 61.0; allowed: 0 to the window"),
        (r#"{"provider": {"service_s": [3, 1]}}"#, "provider.service_s is 3.0"),
        (r#"{"provider": {"overload": [{"share": 2}]}}"#, "provider.overload.share is 2.0"),
        (r#"{"provider": {"spend": [{"from_s": 5, "until_s": 5}]}}"#, "provider.spend.until_s is (5.0, 5.0)"),
        (r#"{"provider": {"retry_after": {"fixed_s": 1, "times": 2}}}"#, "provider.retry_after is "),
        (r#"{"others": [{"on_s": 0}]}"#, "others.on_s is 0.0"),
        (r#"{"callers": {"replicas": 1001}}"#, "callers.replicas is 1001.0"),
        (r#"{"callers": {"deadline_s": 0}}"#, "deadline_s is 0.0"),
        (r#"{"callers": {"deadline_s": [{"share": 0}]}}"#, "callers.deadline_s.share is 0.0"),
        (r#"{"callers": {"arrivals": {"burst": {"within_s": 4000}}}}"#, "callers.arrivals.burst.within_s is 4000.0"),
        (r#"{"callers": {"tokens": {"sigma": 9}}}"#, "callers.tokens.sigma is 9.0"),
        (r#"{"policy": {"cap_s": 1, "base_s": 2}}"#, "policy.cap_s is 1.0; allowed: base_s to 86400"),
        (r#"{"policy": {"attempts": 0}}"#, "policy.attempts is 0.0"),
        (r#"{"policy": {"attempt_timeout_s": 9}, "callers": {"deadline_s": 8}}"#, "policy.attempt_timeout_s is 9.0"),
        (r#"{"limit_configured": {"times": 0}}"#, "limit_configured.times is 0.0"),
    ];
    for (json, expected) in rows {
        let refusal = refusal(json);
        assert!(refusal.starts_with(expected), "{json}: {refusal}");
    }
    let mut scraped = Scrape::default();
    scraped.every = std::time::Duration::ZERO;
    let refused = Simulation::of(&Scenario::default()).scraped(scraped).run().expect_err("refused");
    assert_eq!(refused.to_string(), "scrape.every is 0ns; allowed: 1s to 1h");
}

#[test]
fn a_client_that_repeats_below_the_engine_sends_what_the_engine_does_not_see() {
    let run = |retries: u32| {
        let json = format!(
            r#"{{"provider": {{"requests_per_minute": 30}}, "callers": {{"deadline_s": 30}}, "gate": "none",
                "policy": {{"sdk_retries": {retries}}}}}"#
        );
        simulate(&scenario(&json)).expect("in range")
    };
    let (alone, stacked) = (run(0), run(3));
    let seen = |outcome: &forbear::simulate::Outcome| outcome.attempts as f64 / outcome.calls as f64;
    let sent = |outcome: &forbear::simulate::Outcome| {
        outcome.wasted_per_call.expect("calls came") + outcome.success_ratio.expect("calls came")
    };
    assert!((sent(&alone) - seen(&alone)).abs() < 1e-9, "without it all requests are attempts");
    assert!(sent(&stacked) > 1.5 * seen(&stacked), "{} sent, {} seen", sent(&stacked), seen(&stacked));
}

#[test]
fn a_hidden_header_changes_what_the_engine_waits_and_not_what_arrives() {
    let run = |policy: &str| {
        let json = format!(
            r#"{{"provider": {{"requests_per_minute": 40}}, "callers": {{"deadline_s": 60}}, "gate": "none",
                "policy": {policy}}}"#
        );
        simulate(&scenario(&json)).expect("in range")
    };
    let (seen, hidden) = (run("{}"), run(r#"{"honour_header": false}"#));
    let curve_alone = run(r#"{"honour_header": false, "jitter_on_header": "none"}"#);
    assert_eq!(seen.calls, hidden.calls);
    assert_ne!(seen.attempts, hidden.attempts);
    assert_eq!(hidden, curve_alone, "what is added to a wait nobody sees does not matter");
}

/// Small scenarios of many kinds, as JSON.
fn any_scenario() -> impl Strategy<Value = String> {
    let arrivals = prop::sample::select(vec![
        r#"{"poisson": {"per_minute": 90}}"#,
        r#"{"on_off": {"per_minute": 200, "on_s": 10, "off_s": 50}}"#,
        r#"{"batch": {"size": 40, "every_s": 60}}"#,
        r#"{"burst": {"size": 120, "within_s": 2}}"#,
    ]);
    let algorithm = prop::sample::select(vec![
        r#""fixed_window""#,
        r#""sliding_window""#,
        r#""token_bucket""#,
        r#""token_bucket", "burst_s": 1"#,
    ]);
    let wait = prop::sample::select(vec![r#""none""#, r#""exact""#, r#""whole_seconds""#, r#""reset_only""#]);
    let gate = prop::sample::select(vec!["none", "local", "news", "shared"]);
    let deadline = prop::sample::select(vec!["5", "60", "null"]);
    (any::<u64>(), 5..80u32, arrivals, algorithm, wait, gate, deadline, 1..4u32, any::<bool>()).prop_map(
        |(seed, quota, arrivals, algorithm, wait, gate, deadline, replicas, counts)| {
            format!(
                r#"{{"seed": {seed}, "measured_s": 180, "gate": "{gate}",
                "provider": {{"requests_per_minute": {quota}, "algorithm": {algorithm}, "retry_after": {wait},
                    "throttled_attempts_count": {counts}, "quota_headers": {counts}}},
                "callers": {{"arrivals": {arrivals}, "replicas": {replicas}, "deadline_s": {deadline}}}}}"#
            )
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn every_call_ends_once_and_nobody_beats_the_pacer(json in any_scenario()) {
        let mut scenario = scenario(&json);
        let outcome = simulate(&scenario).expect("in range");
        prop_assert_eq!(outcome.succeeded + outcome.gave_up.values().sum::<u64>(), outcome.calls);
        prop_assert!(outcome.attempts >= outcome.succeeded + outcome.throttled);
        prop_assert!(outcome.floor_attempts_per_call.is_none_or(|floor| (1.0..=2.0).contains(&floor)));
        scenario.engine = Some(forbear::simulate::Engine::Pacer);
        let ideal = simulate(&scenario).expect("in range");
        prop_assert_eq!(ideal.calls, outcome.calls, "the same demand");
        prop_assert_eq!((ideal.throttled, ideal.attempts), (0, ideal.succeeded));
        // Requests alone are asked for, so first come, first served is the best order there is.
        prop_assert!(ideal.succeeded >= outcome.succeeded, "{} and {}", ideal.succeeded, outcome.succeeded);
    }
}
