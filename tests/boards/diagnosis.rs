//! Is the quota too small, or are the retries bad: demand against the limit, and what the retries do.

use serde_json::json;

use crate::board::{Board, Row, traces};
use crate::panel::Panel;
use crate::shared::{NO_CALLS, NO_LIMIT, NO_RULES};
use crate::verdict::verdict;

use forbear::event::catalogue::Metric;

const HOW_TO_READ: &str = "\
**1. Load.** More than 5 % of the calls above a load of 100 %: the *quota* is too small, whatever the retries do. \
Raise it, or send less. In the orange band (90 to 125 %) either side may be right.

**2. Backoff.** Load below 90 %, and more than half of the *retries* are throttled or calls use up all their attempts: \
they come back too soon. Wait longer. More than 30 % of the failures out of time while retries are served: wait less.

**3. Pacing.** Load below 90 %, and more than 27 % of the *first* attempts are throttled: calls come in clumps. Turn a gate \
on, or its next rung.

Throttled retries, attempts a call and *remaining* near zero look alike in all three cases: do not judge by them.";

pub(crate) fn board() -> Board {
    Board {
        name: "diagnosis",
        title: "Diagnosis",
        description: "Quota, backoff or pacing: which of them is wrong, and which number to change.",
        rows: vec![
            Row { title: None, panels: vec![verdict().tall(5)] },
            Row { title: Some("Demand"), panels: load() },
            Row { title: Some("Quota, backoff, pacing"), panels: columns() },
            Row { title: Some("Since the change: the last 15 minutes against the 15 before"), panels: since() },
            Row { title: Some("Numbers"), panels: numbers() },
            Row { title: Some("Migration"), panels: vec![providers()] },
        ],
    }
}

fn load() -> Vec<Panel> {
    vec![
        Panel::lines("Horizon load", 9)
            .tall(9)
            .says("What is asked for over what the limit can serve within the callers' patience, by the load that only 5 % of the calls exceed. Above the band: the quota is too small. Below it: the quota would do, and backoff or pacing is wrong. 1000 % stands for more.")
            .unit("percentunit")
            .up_to(1.5)
            .empty(NO_LIMIT)
            .steps("transparent", &[(0.9, "orange"), (1.25, "red")])
            .with_bands()
            .query("max by (<by>) (pool:forbear_horizon_load:1h{<pool>})", "{{provider}} {{pool}}"),
        Panel::lines("Demand against limit", 9)
            .tall(9)
            .says("What is asked for and what is served a minute, as shares of the limit. Demand above the dashed line for longer than callers wait: somebody goes without. Served far below the line while demand is above it: the fight over the quota wastes it, and a gate would not.")
            .unit("percentunit")
            .up_to(1.2)
            .empty(NO_LIMIT)
            .query(r#"max by (<by>, dimension) (pool:forbear_asked:increase{<pool>, horizon="5m"}) / 5 * on (<by>, dimension) max by (<by>, dimension) (pool:forbear_need:ratio1h{<pool>}) / on (<by>, dimension) max by (<by>, dimension) (pool:forbear_granted:minute{<pool>})"#, "{{pool}} {{dimension}} asked for")
            .query("max by (<by>, dimension) (pool:forbear_served:minute{<pool>}) / on (<by>, dimension) max by (<by>, dimension) (pool:forbear_granted:minute{<pool>})", "{{pool}} {{dimension}} served")
            .query("vector(1)", "limit")
            .coloured(&["limit"])
            .dashed("limit"),
        Panel::text("How to read it", 6, 9, HOW_TO_READ),
    ]
}

fn columns() -> Vec<Panel> {
    vec![
        Panel::lines("Quota", 8)
            .says("Which share of the calls came while more was asked for than this many times what the limit can serve in time. Above 5 %, the dashed line, at 1: the quota is too small. Nothing at 0.9: it is not the quota.")
            .unit("percentunit")
            .up_to(1.0)
            .above(0.05)
            .empty(NO_LIMIT)
            .query(r#"max by (<by>, load) (pool:forbear_calls_above:ratio1h{<pool>, load=~"0.9|1"})"#, "{{pool}} above {{load}}")
            .query(r#"max by (<by>) (pool:forbear_calls_above_learned:ratio1h{<pool>}) unless max by (<by>) (pool:forbear_limit:minute{<pool>})"#, "{{pool}} above what was served"),
        Panel::lines("Backoff", 8)
            .says("Throttled retries above 50 %, the dashed line, or exhausted attempts above 50 % of the failures: retries come back too soon. Out of time above 30 % while retries are served: they wait too long. Only where the load lies below its band; above it the quota explains all of this.")
            .unit("percentunit")
            .up_to(1.0)
            .above(0.5)
            .empty(NO_RULES)
            .query("max(pool:forbear_retries_throttled:ratio1h{<pool>})", "retries throttled")
            .query("max(pool:forbear_exhausted:ratio1h{<pool>})", "attempts exhausted")
            .query("max(pool:forbear_out_of_time:ratio1h{<pool>})", "out of time")
            .coloured(&["retries throttled", "attempts exhausted", "out of time"]),
        Panel::lines("Pacing", 8)
            .says("First attempts that a limit of a minute refused: above 27 %, the dashed line, calls come in clumps, and a gate would spread them. Also how much of the limit was in use when something was refused: far below 100 % means that bursts were refused, or that the limit is another one than was set.")
            .unit("percentunit")
            .up_to(1.0)
            .above(0.27)
            .empty(NO_RULES)
            .query("max(pool:forbear_firsts_throttled:ratio1h{<pool>})", "first attempts throttled")
            .query("max by (<by>, dimension) (pool:forbear_used_when_refused:ratio1h{<pool>})", "{{pool}} {{dimension}} used when refused")
            .coloured(&["first attempts throttled"]),
        Panel::lines("What stood in the way", 8)
            .says("What ended calls, or attempts where calls only need too many, as shares. One colour above 50 %, the dashed line, is the cause: orange a limit of a minute, brown the day, pink money, teal the provider's capacity, red failures. Grey lines: answers that did not say, or could not be read.")
            .unit("percentunit")
            .up_to(1.0)
            .above(0.5)
            .empty("Nothing stood in the way within the hour, or the rules are not loaded (rule_files: dashboards/rules).")
            .leads_to("Traces of calls that did not succeed", &traces())
            .query("avg by (reason) (pool:forbear_blame:ratio1h{<pool>}) > 0", "{{reason}}")
            .coloured(&["minute", "day", "spend", "overload", "concurrency", "failure"])
            .query("max(pool:forbear_unnamed:ratio1h{<pool>}) > 0", "refusals that named no limit")
            .field("refusals that named no limit", vec![json!({"id": "color", "value": {"mode": "fixed", "fixedColor": "#8e8e8e"}})]),
        Panel::lines("Waits by source", 8)
            .says("What 95 % of the waits stayed under, by where they came from: blue was stated by the provider, purple is the curve, yellow the gate. Purple far below blue: the curve comes back before the quota does.")
            .unit("s")
            .empty("No call had to wait in the time shown: nothing to do.")
            .words_of(Metric::Delay, "delay_source")
            .query("histogram_quantile(0.95, sum by (le, delay_source) (rate(forbear_delay_seconds_bucket{<raw>}[$__rate_interval]))) >= 0", "{{delay_source}}"),
        Panel::heatmap("Waits, all of them", 8)
            .says("How long waits are, over time. A narrow band is one number that everybody waits: they come back together. Full jitter is a broad one.")
            .unit("s")
            .empty("No call had to wait in the time shown: nothing to do.")
            .spread("sum by (le) (increase(forbear_delay_seconds_bucket{<raw>}[$__rate_interval])) and on () sum(increase(forbear_delay_seconds_count{<raw>}[$__rate_interval])) > 0"),
        Panel::lines("Signals lost", 8)
            .says("A minute: answers whose delay or class could not be read (the provider changed its spelling), answers whose headers the SDK hides (hand them to the attempt), stated delays that were cut to their cap (raise header_cap, or give such calls more time), calls that ended with a quarter of their deadline unused (the wait did not fit: give them more time, or another provider), and calls that no pacing could have served.")
            .unit("cpm")
            .decimals(1)
            .up_to(1.0)
            .empty(NO_CALLS)
            .query("60 * sum by (part) (rate(forbear_unreadable_signals_total{<raw>}[$__rate_interval]))", "unreadable {{part}}")
            .query("60 * sum(rate(forbear_clamped_delays_total{<raw>}[$__rate_interval]))", "delays cut")
            .query("60 * sum(rate(forbear_hidden_headers_total{<raw>}[$__rate_interval]))", "headers hidden")
            .query(r#"60 * sum(rate(forbear_giveups_total{<raw>, early="yes"}[$__rate_interval]))"#, "given up early")
            .query("60 * sum(rate(forbear_infeasible_calls_total{<raw>}[$__rate_interval]))", "infeasible"),
        Panel::lines("Patience", 8)
            .says("How long calls may take on average, by policy, and how long the least patient may wait. Below the window of the quota, usually a minute, no retry can succeed that has to wait for a new window.")
            .unit("s")
            .empty(NO_CALLS)
            .query("sum by (policy) (rate(forbear_call_deadline_seconds_sum{<raw>}[$__rate_interval])) / (sum by (policy) (rate(forbear_call_deadline_seconds_count{<raw>}[$__rate_interval])) > 0)", "{{policy}}")
            .query("min(pool:forbear_patience:seconds1h{<pool>})", "least patient"),
        Panel::lines("Retries below or above", 8)
            .says("Calls a minute at which a second retry layer was noticed, by how. Anything here multiplies attempts: turn the other layer off.")
            .unit("cpm")
            .decimals(1)
            .up_to(1.0)
            .empty(NO_CALLS)
            .query("60 * sum by (detector) (rate(forbear_stacked_retries_total{<raw>}[$__rate_interval]))", "{{detector}}"),
    ]
}

/// The last quarter of an hour against the one before it.
fn since() -> Vec<Panel> {
    let of = |title, says, before: &str, steps: &[(f64, &str)], first: &str, unit: &str| {
        let query = |offset: &str| before.replace("<offset>", offset);
        Panel::stat(title, 6)
            .says(says)
            .unit(unit)
            .decimals(1)
            .empty(NO_CALLS)
            .steps(first, steps)
            .option("textMode", json!("value_and_name"))
            .now(&query(" offset 15m"), "15 minutes before")
            .now(&query(""), "last 15 minutes")
    };
    vec![
        of(
            "Success since",
            "Calls that succeeded, before and after. The right number is the one after the change: not better within 15 minutes means that the change was not what was needed, or that it is not out everywhere (Versions, Policies).",
            r#"(sum(increase(forbear_call_duration_seconds_count{<raw>, outcome=~"ok|ok_by_fallback"}[15m]<offset>)) or vector(0)) / (sum(increase(forbear_call_duration_seconds_count{<raw>, outcome!~"cancelled|not_retryable"}[15m]<offset>)) > 0)"#,
            &[(0.95, "orange"), (0.99, "green")],
            "red",
            "percentunit",
        ),
        of(
            "Throttled since",
            "Attempts that a limit refused, before and after. It should fall after any of the changes; if it rises after waiting less, go back.",
            r#"(sum(increase(forbear_attempts_total{<raw>, outcome="throttled"}[15m]<offset>)) or vector(0)) / (sum(increase(forbear_attempts_total{<raw>}[15m]<offset>)) > 0)"#,
            &[(0.1, "orange"), (0.33, "red")],
            "green",
            "percentunit",
        ),
        of(
            "Attempts a call since",
            "Attempts for each call, before and after. Above 1.5 the objective is missed; it falls with longer waits, a gate, or more quota.",
            "sum(increase(forbear_attempts_total{<raw>}[15m]<offset>)) / (sum(increase(forbear_calls_total{<raw>}[15m]<offset>)) > 0)",
            &[(1.2, "orange"), (1.5, "red")],
            "green",
            "short",
        ),
        of(
            "Slowest calls since",
            "What 95 % of the calls stayed under, before and after. Longer waits cost time here: worth it while calls stay below their deadline.",
            "histogram_quantile(0.95, sum by (le) (increase(forbear_call_duration_seconds_bucket{<raw>}[15m]<offset>))) >= 0",
            &[],
            "#8e8e8e",
            "s",
        ),
    ]
}

fn numbers() -> Vec<Panel> {
    let named = |series: &str, name: &str, label: &str| {
        format!(r#"max by (<by>, number) (label_replace({series}, "number", "{name}", "{label}", "(.+)"))"#)
    };
    let verdict = |causes: &str| {
        format!(r#"on (<by>) group_left () max by (<by>) (pool:forbear_verdict:1h{{<pool>, cause=~"{causes}"}})"#)
    };
    let base = r#"forbear_policy_parameter{<raw>, parameter="base_seconds"}"#;
    let bases = format!("max by (<by>, policy) ({base})");
    let current = [
        named("pool:forbear_limit:minute{<pool>}", "$1 a minute", "dimension"),
        named(&bases, "base of policy $1, in seconds", "policy"),
    ];
    let advised = [
        named(
            &format!(
                "pool:forbear_granted:minute{{<pool>}} * on (<by>) group_left () (max by (<by>) (pool:forbear_horizon_load:1h{{<pool>}}) * 1.25) * {}",
                verdict("quota_too_small")
            ),
            "$1 a minute",
            "dimension",
        ),
        named(
            &format!("clamp_min({bases} * 2, 6) * {}", verdict("backoff_too_fast")),
            "base of policy $1, in seconds",
            "policy",
        ),
        named(&format!("{bases} / 2 * {}", verdict("backoff_too_slow")), "base of policy $1, in seconds", "policy"),
    ];
    vec![
        Panel::table("Current against advised", 12)
            .says("The numbers that a verdict would change: as they are, and as the evidence of the hour advises. Empty where nothing is to be changed. A limit is advised by the load and a quarter more; forbear diagnose says which of several limits, the cap and the attempts as well.")
            .unit("short")
            .empty("No limit is known and no policy is scraped: see Versions on the overview.")
            .now(&current.join("\nor "), "")
            .now(&format!("{}\nor ({}) * NaN", advised.join("\nor "), current.join("\nor ")), "")
            .columns(&[
                ("provider", "Provider"), ("pool", "Pool"), ("number", "Number"), ("Value #A", "Current"), ("Value #B", "Advised"),
            ])
            .field("Advised", vec![
                // The column is there, whether something is advised or not.
                json!({"id": "mappings", "value": [
                    {"type": "special", "options": {"match": "null+nan", "result": {"text": "–", "color": "text"}}},
                ]}),
                json!({"id": "custom.cellOptions", "value": {"type": "color-text"}}),
                json!({"id": "color", "value": {"mode": "fixed", "fixedColor": "orange"}}),
            ])
            .widths(&[("Provider", 100), ("Pool", 90), ("Current", 90), ("Advised", 90)])
            .sorted_by("Advised", true),
        Panel::table("Limits", 12)
            .says("Each limit as the provider's headers say it and as it is configured, when its window resets and when it was last read. Two origins far apart: the configured one is wrong, and the alert ForbearConfiguredLimitDiffers says so. Read long ago: the headers stopped.")
            .unit("short")
            .empty(NO_LIMIT)
            .now(r#"max by (<by>, dimension, window) (forbear_quota_limit{<raw>, origin="header"})"#, "")
            .now(r#"max by (<by>, dimension, window) (forbear_quota_limit{<raw>, origin="config"})"#, "")
            .now("max by (<by>, dimension, window) (forbear_quota_reset_timestamp_seconds{<raw>}) * 1000", "")
            .now("time() - max by (<by>, dimension, window) (forbear_quota_observed_timestamp_seconds{<raw>})", "")
            .columns(&[
                ("provider", "Provider"), ("pool", "Pool"), ("dimension", "Limit of"), ("window", "Window"),
                ("Value #A", "By headers"), ("Value #B", "Configured"), ("Value #C", "Resets at"), ("Value #D", "Read ago"),
            ])
            .widths(&[
                ("Provider", 90), ("Pool", 80), ("Limit of", 85), ("Window", 75), ("By headers", 90), ("Configured", 95),
                ("Resets at", 85),
            ])
            .field("Resets at", vec![json!({"id": "unit", "value": "time:HH:mm:ss"})])
            .field("Read ago", vec![json!({"id": "unit", "value": "s"}), json!({"id": "decimals", "value": 0})]),
    ]
}

fn providers() -> Panel {
    let percent = || vec![json!({"id": "unit", "value": "percentunit"}), json!({"id": "decimals", "value": 1})];
    let in_seconds = || vec![json!({"id": "unit", "value": "s"}), json!({"id": "decimals", "value": 2})];
    Panel::table("Provider against provider", 24)
        .tall(6)
        .says("The same numbers of every provider side by side, over the time shown: for a migration, or to choose where calls may go. A provider that answers fast and throttles much is the slower one for those who call.")
        .unit("short")
        .empty(NO_CALLS)
        .now("60 * sum by (provider) (rate(forbear_calls_total{<raw>}[$__range]))", "")
        .now(r#"(sum by (provider) (increase(forbear_call_duration_seconds_count{<raw>, outcome=~"ok|ok_by_fallback"}[$__range])) or sum by (provider) (increase(forbear_calls_total{<raw>}[$__range])) * 0) / (sum by (provider) (increase(forbear_call_duration_seconds_count{<raw>, outcome!~"cancelled|not_retryable"}[$__range])) > 0)"#, "")
        .now(r#"(sum by (provider) (increase(forbear_attempts_total{<raw>, outcome="throttled"}[$__range])) or sum by (provider) (increase(forbear_calls_total{<raw>}[$__range])) * 0) / (sum by (provider) (increase(forbear_attempts_total{<raw>}[$__range])) > 0)"#, "")
        .now("histogram_quantile(0.95, sum by (le, provider) (rate(forbear_attempt_duration_seconds_bucket{<raw>}[$__range]))) >= 0", "")
        .now("histogram_quantile(0.95, sum by (le, provider) (rate(forbear_call_duration_seconds_bucket{<raw>}[$__range]))) >= 0", "")
        .columns(&[
            ("provider", "Provider"), ("Value #A", "Calls a minute"), ("Value #B", "Success"), ("Value #C", "Throttled"),
            ("Value #D", "Attempt, 95 %"), ("Value #E", "Call, 95 %"),
        ])
        .field("Success", percent())
        .field("Throttled", percent())
        .field("Attempt, 95 %", in_seconds())
        .field("Call, 95 %", in_seconds())
}
