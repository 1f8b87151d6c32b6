//! What several boards show.

use serde_json::json;

use crate::panel::{Panel, mapping};
use crate::words::COLOURS;

pub(crate) const NO_RULES: &str =
    "No verdict: the rules are not loaded (rule_files: dashboards/rules), or no pool was called within the hour.";
pub(crate) const NO_CALLS: &str =
    "No call in the time shown, or no process that is scraped: see Versions on the overview.";
pub(crate) const NO_GATE: &str = "No gate: these pools hold nobody back (PoolBuilder::gate).";
pub(crate) const NO_WAITS: &str = "Nobody waited at a gate in the time shown: nothing to do.";
pub(crate) const NO_LIMIT: &str =
    "No limit is known: answers tell none and none is set. Set it with PoolBuilder::limit.";
pub(crate) const NO_STORE: &str = "No shared store: the gates of these processes work on their own.";

/// What is left of each quota as a share of it: by headers read within ten minutes, else by what was served.
pub(crate) fn headroom() -> String {
    "min by (<by>, dimension, window) (
       forbear_quota_remaining{<raw>} / (forbear_quota_limit{<raw>} > 0)
       and on (job, instance, <by>, dimension, window) time() - forbear_quota_observed_timestamp_seconds{<raw>} < 600
     ) or label_replace(clamp_min(1 - min by (<by>, dimension) (pool:forbear_served:minute{<pool>})
       / on (<by>, dimension) max by (<by>, dimension) (pool:forbear_granted:minute{<pool>}), 0), \"window\", \"minute\", \"\", \"\")"
        .to_owned()
}

/// By how much counters rose, summed up by these labels, where they did. One that first appears with a value has risen by
/// it, which `increase` does not see.
pub(crate) fn risen(by: &str, selector: &str, within: &str) -> String {
    format!("sum by ({by}) ((increase({selector}[{within}]) > 0) or ({selector} unless {selector} offset {within}))")
}

/// Which pools are shut, until when and why.
pub(crate) fn shut_until(width: u32) -> Panel {
    let shown = |word: &&(&str, &str)| {
        matches!(
            word.0,
            "request_rate" | "token_throughput" | "daily" | "concurrency" | "overload" | "spend" | "unknown"
        )
    };
    let because = |word: &str| match word {
        "request_rate" => "too many requests a minute",
        "token_throughput" => "too many tokens a minute",
        "daily" => "the day's quota is used up",
        "concurrency" => "too many at once",
        "overload" => "the provider is overloaded",
        "spend" => "the account may spend no more",
        _ => "the answer did not say",
    };
    let words = COLOURS.iter().filter(shown);
    let words = words.map(|(word, colour)| ((*word).to_owned(), because(word).to_owned(), Some((*colour).to_owned())));
    Panel::table("Shut until", width)
        .tall(4)
        .says(
            "Pools that let nobody through now, until when and why. Minutes are a provider that asked for them; hours are a
             day's quota; the account's limit needs a person. Pool::reopen opens at once when the reason is gone.",
        )
        .empty("Open: no pool is shut.")
        .now(
            "max by (<by>, limit_class) (forbear_gate_shut_until_timestamp_seconds{<raw>}) * 1000 > time() * 1000",
            "",
        )
        .columns(&[("provider", "Provider"), ("pool", "Pool"), ("Value", "Until"), ("limit_class", "Because")])
        .widths(&[("Provider", 100), ("Pool", 90), ("Until", 70)])
        .field("Until", vec![json!({"id": "unit", "value": "time:HH:mm"})])
        .field(
            "Because",
            vec![
                json!({"id": "mappings", "value": mapping(words)}),
                json!({"id": "custom.cellOptions", "value": {"type": "color-text"}}),
            ],
        )
}

/// Which pools there are and how their gates work.
pub(crate) fn pools() -> Panel {
    let modes = [("off", "off"), ("local", "each process"), ("news", "news"), ("paced", "one pace")];
    let modes = modes.map(|(mode, text)| (mode.to_owned(), text.to_owned(), None));
    Panel::table("Pools", 8)
        .says(
            "Which pools there are, how their gates work and how many calls came within the hour. A pool that misses here
             is not called, not scraped, or hidden under _OTHER.",
        )
        .unit("short")
        .decimals(0)
        .empty("No pool: no process of forbear was scraped in the time shown.")
        .now("max by (<by>, mode) (forbear_gate_info{<raw>})", "")
        .now("sum by (<by>) (increase(forbear_calls_total{<raw>}[1h]))", "")
        .columns(&[("provider", "Provider"), ("pool", "Pool"), ("mode", "Gate"), ("Value #B", "Calls an hour")])
        .field("Gate", vec![json!({"id": "mappings", "value": mapping(modes)})])
}

/// The share of replicas that rely on the shared store.
pub(crate) fn store_relied_on(title: &'static str, width: u32) -> Panel {
    Panel::stat(title, width)
        .unit("percentunit")
        .decimals(0)
        .steps("red", &[(0.5, "orange"), (1.0, "green")])
        .now("avg(forbear_store_up{<process>})", "relied on")
}
