//! For every alert a pool for which it fires, and on the other side of each of its lines one for which it does not.

use crate::cases::{Pool, Tests};

const ENDED: &str = "forbear_call_duration_seconds_count";

/// When it is looked which alerts fire, in minutes.
const AT: u32 = 150;

fn hour(pool: Pool, name: &str, value: f64) -> Pool {
    pool.at(&format!("pool:forbear_{name}:increase1h"), "", value)
}

/// The pools, each with the alerts that fire for it, words parted by blanks.
fn cases() -> Vec<(String, Pool, &'static str)> {
    let mut cases: Vec<(String, Pool, &'static str)> = Vec::new();
    let mut case = |name: &str, pool: Pool, fires| cases.push((name.to_owned(), pool, fires));
    burning(&mut case);
    few_and_stuck(&mut case);
    spending(&mut case);
    by_verdict(&mut case);
    limits(&mut case);
    notes(&mut case);
    cases
}

type Case<'c> = &'c mut dyn FnMut(&str, Pool, &'static str);

fn burning(case: Case<'_>) {
    let burns = |long: &str, short: &str, over: f64, now: f64, failed: f64| {
        let pool = Pool::new("").at(&format!("pool:forbear_failed:ratio{long}"), "", over);
        hour(pool.at(&format!("pool:forbear_failed:ratio{short}"), "", now), "calls_failed", failed)
    };
    case("fast", burns("1h", "5m", 0.148, 0.148, 20.5), "CallsFailing");
    case("fast-not-long", burns("1h", "5m", 0.14, 0.148, 20.5), "");
    case("fast-not-now", burns("1h", "5m", 0.148, 0.14, 20.5), "");
    case("fast-few", burns("1h", "5m", 0.148, 0.148, 19.5), "");
    case("slow", burns("6h", "30m", 0.062, 0.062, 20.5), "CallsFailing");
    case("slow-not-long", burns("6h", "30m", 0.058, 0.062, 20.5), "");
    case("slow-not-now", burns("6h", "30m", 0.062, 0.058, 20.5), "");
    case("slow-few", burns("6h", "30m", 0.062, 0.062, 19.5), "");
}

fn few_and_stuck(case: Case<'_>) {
    let all = |share: f64, ended: f64, failed: f64| {
        let pool = Pool::new("").rising(ENDED, "outcome=\"gate_refused\"", ended * 2.0);
        hour(pool.at("pool:forbear_failed:ratio30m", "", share), "calls_failed", failed)
    };
    case("all-fail", all(1.0, 4.2, 19.5), "AllCallsFailing");
    case("one-succeeds", all(0.99, 4.2, 19.5), "");
    case("all-of-three", all(1.0, 3.8, 19.5), "");
    case("all-of-many", all(1.0, 4.2, 20.5), "");
    let stuck = |an_hour: f64, patience: f64, ends: &str| {
        let pool = Pool::new("").rising("forbear_calls_total", "policy=\"chat\"", an_hour);
        pool.at("pool:forbear_deadline:mean6h", "", patience).values(ENDED, "outcome=\"ok\"", ends)
    };
    case("stuck", stuck(21.0, 580.0, "0+1x120 121x40"), "CallsStuck");
    case("stuck-few", stuck(19.0, 580.0, "0+1x120 121x40"), "");
    case("stuck-patient", stuck(21.0, 620.0, "0+1x120 121x40"), "");
    case("stuck-for-hours", stuck(2.6, 5_300.0, "0x160"), "CallsStuck");
    case("stuck-for-hours-few", stuck(2.4, 5_300.0, "0x160"), "");
    case("stuck-for-hours-patient", stuck(2.6, 5_500.0, "0x160"), "");
    case("not-stuck", stuck(60.0, 60.0, "0+1x160"), "");
}

fn spending(case: Case<'_>) {
    let shut =
        |until: f64| Pool::new("").at("forbear_gate_shut_until_timestamp_seconds", "limit_class=\"spend\"", until);
    let spend = "limit_class=\"spend\",outcome=\"throttled\"";
    case("spend-answers", Pool::new("").rising("forbear_attempts_total", spend, 30.0), "SpendLimitReached");
    case("spend-refusals", Pool::new("").rising("forbear_giveups_total", spend, 30.0), "SpendLimitReached");
    case("spend-shut", shut(20_000.0), "SpendLimitReached");
    case("spend-open", shut(8_000.0), "");
    case("spend-over", Pool::new("").values("forbear_attempts_total", spend, "0+1x100 100x60"), "");
}

fn by_verdict(case: Case<'_>) {
    let verdict = |cause: &str, certainty: &str, missed: &str| {
        let pool =
            Pool::new("").at("pool:forbear_verdict:1h", &format!("cause=\"{cause}\",certainty=\"{certainty}\""), 1.0);
        let pool = pool.at("pool:forbear_horizon_load:1h", "", 1.6);
        let pool = pool.values("pool:forbear_missed:bool5m", "", missed);
        if cause == "caller_errors" {
            pool.values(ENDED, "outcome=\"not_retryable\"", &missed.replace("1x160", "0+1x160"))
        } else {
            pool
        }
    };
    for (cause, alert) in [
        ("quota_too_small", "QuotaTooSmall"),
        ("backoff_too_fast", "BackoffTooFast"),
        ("backoff_too_slow", "BackoffTooSlow"),
        ("unpaced", "Unpaced"),
        ("daily_spent", "DailySpent"),
        ("overloaded", "Overloaded"),
        ("concurrency", "Concurrency"),
        ("provider_errors", "ProviderErrors"),
        ("caller_errors", "CallerErrors"),
    ] {
        case(&format!("{cause}-firm"), verdict(cause, "firm", "1x160"), alert);
        case(&format!("{cause}-provisional"), verdict(cause, "provisional", "1x160"), "");
        // Ended half an hour ago: the hour still shows it.
        case(&format!("{cause}-over"), verdict(cause, "firm", "1x100 0x60"), "");
    }
    case("verdict-unclear", verdict("unclear", "likely", "1x160"), "");
}

fn limits(case: Case<'_>) {
    let day = |resets_at_minute: f64| {
        let pool = Pool::new("").values(
            "forbear_quota_remaining",
            "dimension=\"requests\",window=\"day\",origin=\"header\"",
            "5000-20x160",
        );
        pool.at(
            "forbear_quota_reset_timestamp_seconds",
            "dimension=\"requests\",window=\"day\"",
            resets_at_minute * 60.0,
        )
    };
    // 5000 - 20 a minute last until minute 250.
    case("day-too-short", day(270.0), "DailyRunsOutEarly");
    case("day-long-enough", day(240.0), "");
    let spent = day(270.0).at("pool:forbear_verdict:1h", "cause=\"daily_spent\",certainty=\"firm\"", 1.0);
    case("day-with-a-cause", spent.at("pool:forbear_missed:bool5m", "", 1.0), "DailySpent");
    let limit = |origin: &str| format!("dimension=\"requests\",window=\"minute\",origin=\"{origin}\"");
    let set = |config: f64| {
        Pool::new("").at("forbear_quota_limit", &limit("config"), config).at(
            "forbear_quota_limit",
            &limit("header"),
            100.0,
        )
    };
    case("set-too-high", set(112.0), "ConfiguredLimitDiffers");
    case("set-too-low", set(88.0), "ConfiguredLimitDiffers");
    case("set-nearly", set(108.0), "");
    let served = |a_minute: f64| {
        let pool = Pool::new("").at("pool:forbear_limit:minute", "dimension=\"requests\",origin=\"config\"", 100.0);
        pool.at("pool:forbear_served_for_long:max1h", "dimension=\"requests\"", a_minute)
    };
    case("served-more", served(112.0), "ConfiguredLimitDiffers");
    case("served-as-set", served(108.0), "");
    case("unknown", hour(Pool::new(""), "throttled", 10.3), "LimitUnknown");
    case("unknown-few", hour(Pool::new(""), "throttled", 9.7), "");
    case("known", hour(served(50.0), "throttled", 10.3), "");
}

fn notes(case: Case<'_>) {
    let stacked = Pool::new("").rising("forbear_stacked_retries_total", "detector=\"nested\"", 6.0);
    case("stacked", stacked, "StackedRetries");
    case("not-stacked", Pool::new("").at("forbear_stacked_retries_total", "detector=\"nested\"", 3.0), "");
    let wire =
        |an_hour: f64| hour(Pool::new("").rising("forbear_wire_requests_total", "", an_hour), "attempts", 1_000.0);
    case("more-on-the-wire", wire(1_030.0), "StackedRetries");
    case("as-many-on-the-wire", wire(1_015.0), "");
    let unreadable =
        |an_hour: f64| Pool::new("").rising("forbear_unreadable_signals_total", "part=\"header\"", an_hour);
    case("unreadable", unreadable(5.3), "UnreadableSignals");
    case("unreadable-few", unreadable(4.7), "");
    let told = |an_hour: f64, failed: f64| {
        let labels = "outcome=\"stated_delay_too_long\",delay_source=\"header\",limit_class=\"daily\",early=\"no\",policy=\"chat\"";
        hour(Pool::new("").rising("forbear_giveups_total", labels, an_hour), "calls_failed", failed)
    };
    case("told-too-long", told(5.3, 20.0), "DeadlinesBelowStatedDelay");
    case("told-too-long-few", told(4.7, 20.0), "");
    case("told-too-long-seldom", told(5.3, 111.0), "");
    case("told-too-long-often", told(5.3, 102.0), "DeadlinesBelowStatedDelay");
}

/// Series of processes instead of pools, as promtool takes them.
const PROCESSES: &str = r#"      - series: 'forbear_store_up{job="store-down"}'
        values: '0x160'
      - series: 'forbear_store_up{job="store-up"}'
        values: '1x160'
      - series: 'forbear_gate_degraded{job="gate-degraded",provider="openai",pool="a"}'
        values: '1x160'
      - series: 'forbear_label_overflows_total{job="many-names",label="pool"}'
        values: '0+1x160'
      - series: 'forbear_label_overflows_total{job="few-names",label="pool"}'
        values: '0x160'
      - series: 'forbear_build_info{job="gone",version="1",schema="1"}'
        values: '1x100'
      - series: 'forbear_build_info{job="there",version="1",schema="1"}'
        values: '1x160'
"#;

/// What the page of a pool says, whose verdict is known, and of one whose verdict is not.
const TEXTS: &str = r#"    alert_rule_test:
      - alertname: ForbearMetricsGone
        eval_time: 150m
        exp_alerts:
          - exp_labels: {severity: info, job: gone}
            exp_annotations:
              summary: 'Metrics that were there within the last day are gone.'
              description: 'gone showed metrics of forbear within the last day, and shows none now.'
              runbook_url: 'https://docs.rs/forbear/latest/forbear/guide/runbooks/index.html#forbearmetricsgone'
              dashboard_url: '/d/forbear-overview?from=now-3h&to=now&var-job=gone'
"#;

/// The tests of the alerts, as a file.
pub(crate) fn file() -> String {
    let cases = cases();
    let pools: Vec<_> = cases.iter().map(|(name, pool, _)| pool.named(name)).collect();
    let of_pool = |(name, _, fires): &(String, Pool, &'static str)| {
        let name = name.clone();
        fires
            .split_whitespace()
            .map(move |alert| format!("alertname=\"Forbear{alert}\", pool=\"{name}\""))
            .collect::<Vec<_>>()
    };
    let mut expected: Vec<_> = cases.iter().flat_map(of_pool).collect();
    for (alert, job) in [
        ("StoreDegraded", "store-down"),
        ("StoreDegraded", "gate-degraded"),
        ("LabelOverflow", "many-names"),
        ("MetricsGone", "gone"),
    ] {
        expected.push(format!("alertname=\"Forbear{alert}\", job=\"{job}\""));
    }
    let tests = Tests {
        rules: "alerts.yml",
        asked: "count by (alertname, pool, job) (ALERTS{alertstate=\"firing\"})",
        sampled: 1,
        evaluated: 5,
        at_minute: AT,
        blocks: &[(pools, expected)],
        more: PROCESSES,
    };
    tests.text() + TEXTS + &page_texts()
}

/// A pool that fails under each verdict, and what its page says; a pool of this name elsewhere has another. Its name is one
/// that an address has to escape.
fn page_texts() -> String {
    const POOL: &str = r#"provider="openai",pool="prod/a&b""#;
    let page = |verdict: Option<(&str, &str)>| {
        let says = verdict.map_or("There is no verdict yet.".to_owned(), |(verdict, change)| {
            format!("Verdict: {verdict} (firm): {change}.")
        });
        let series = verdict.map_or_else(String::new, |(verdict, _)| {
            format!(
                "      - series: 'pool:forbear_verdict:1h{{{POOL},cause=\"{verdict}\",certainty=\"firm\"}}'\n        values: '1x60'\n"
            )
        });
        format!(
            "  - interval: 1m
    input_series:
      - series: 'pool:forbear_failed:ratio1h{{{POOL}}}'
        values: '0.25x60'
      - series: 'pool:forbear_failed:ratio5m{{{POOL}}}'
        values: '0.25x60'
      - series: 'pool:forbear_calls_failed:increase1h{{{POOL}}}'
        values: '250x60'
      - series: 'pool:forbear_verdict:1h{{cluster=\"another\",{POOL},cause=\"healthy\",certainty=\"firm\"}}'
        values: '1x60'
{series}    alert_rule_test:
      - alertname: ForbearCallsFailing
        eval_time: 30m
        exp_alerts:
          - exp_labels: {{severity: critical, speed: fast, provider: openai, pool: 'prod/a&b'}}
            exp_annotations:
              summary: 'Calls to a provider fail fast.'
              description: '25% of the calls to prod/a&b (openai) fail. {}'
              runbook_url: 'https://docs.rs/forbear/latest/forbear/guide/runbooks/index.html#forbearcallsfailing'
              dashboard_url: '/d/forbear-overview?from=now-3h&to=now&var-provider=openai&var-pool=prod%2Fa%26b'
",
            says.replace('\'', "''")
        )
    };
    [
        None,
        Some(("quota_too_small", "raise the quota")),
        Some(("backoff_too_fast", "wait longer between attempts")),
        Some(("backoff_too_slow", "wait less between attempts")),
        Some(("unpaced", "let a gate pace the callers, or the next rung of it")),
        Some(("daily_spent", "stop sending until the day ends, or ask for more a day")),
        Some(("spend_limit", "pay, or raise the account's limit")),
        Some(("overloaded", "wait it out, or use another provider")),
    ]
    .map(page)
    .concat()
}
