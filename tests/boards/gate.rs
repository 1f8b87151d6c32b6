//! Who is held back, for how long, and how calls come back.

use forbear::event::catalogue::Metric;
use serde_json::json;

use crate::board::{Board, Row};
use crate::panel::Panel;
use crate::shared::{NO_CALLS, NO_GATE, NO_LIMIT, NO_WAITS, pools, risen, shut_until};
use crate::words::colour;

pub(crate) fn board() -> Board {
    Board {
        name: "gate",
        title: "Gate",
        description: "Who is held back, for how long, and how calls come back.",
        rows: vec![
            Row { title: None, panels: states() },
            Row { title: Some("Calls at the gate"), panels: held() },
            Row { title: Some("Why it shuts"), panels: shuts() },
        ],
    }
}

fn states() -> Vec<Panel> {
    let state = |value: &str, word: &str| json!({"type": "value", "options": {value: {"text": word, "color": colour(word), "index": 0}}});
    vec![
        Panel::states("State", 16)
            .says("What each gate does over time: green lets everybody through, yellow one call after another at the pace of the limit, dark orange nobody until the quota is back. Yellow is a gate at work. Orange for long: the day's quota, the account, or a provider that is down.")
            .unit("none")
            .tall(7)
            .empty(NO_GATE)
            .mapped(json!([state("0", "flowing"), state("1", "paced"), state("2", "shut")]))
            .query(
                r#"max by (<by>) (forbear_gate_state{<raw>, state="paced"})
                   + 2 * max by (<by>) (forbear_gate_state{<raw>, state="shut"})
                   - on (<by>) (max by (<by>) (forbear_gate_state{<raw>, state="paced"}) * max by (<by>) (forbear_gate_state{<raw>, state="shut"}))"#,
                "{{provider}} {{pool}}",
            ),
        shut_until(8).tall(7),
    ]
}

fn held() -> Vec<Panel> {
    vec![
        Panel::lines("In flight", 8)
            .says("Calls that have not ended: green work at the provider, purple sleep between attempts, yellow wait at the gate. Green that stays at one height while yellow grows: a limit of requests at the same time.")
            .unit("short")
            .empty(NO_CALLS)
            .stacked()
            .words_of(Metric::CallsInFlight, "state")
            .query("sum by (state) (forbear_calls_in_flight{<raw>})", "{{state}}"),
        Panel::lines("Pace", 8)
            .says("First attempts let through a minute, against the limit of requests. At the line: the gate uses the whole quota. Far below it while calls wait: pacing is too slow, a token limit holds it back, or the limit is set too low. Above it: replicas pace apart and do not know of each other.")
            .unit("cpm")
            .empty(NO_CALLS)
            .query(r#"60 * sum by (<by>) (rate(forbear_attempts_total{<raw>}[$__rate_interval]))"#, "{{provider}} {{pool}}")
            .query(r#"max by (<by>) (pool:forbear_granted:minute{<pool>, dimension="requests"})"#, "{{provider}} {{pool}} limit")
            .dashed("/limit$/"),
        Panel::lines("Waiters", 8)
            .says("Calls that wait at each gate. A queue that empties again is a burst well spread; one that only grows is more demand than quota: see the diagnosis board.")
            .unit("short")
            .empty(NO_GATE)
            .query(r#"sum by (<by>) (forbear_calls_in_flight{<raw>, state="at_gate"})"#, "{{provider}} {{pool}}"),
        Panel::lines("Waits", 8)
            .says("What 95 % of the waits at the gate stayed under, by how they ended. Waits of those refused are time lost: they should be near 0, for the gate knows before it lets anybody wait.")
            .unit("s")
            .empty(NO_WAITS)
            .words_of(Metric::GateWait, "result")
            .query("histogram_quantile(0.95, sum by (le, result) (rate(forbear_gate_wait_seconds_bucket{<raw>}[$__rate_interval]))) >= 0", "{{result}}"),
        Panel::heatmap("Waits, all of them", 8)
            .says("How long calls are held, over time. A band that climbs is a queue that grows: more comes than the quota serves, see the diagnosis board.")
            .unit("s")
            .empty(NO_WAITS)
            .spread("sum by (le) (increase(forbear_gate_wait_seconds_bucket{<raw>}[$__rate_interval])) and on () sum(increase(forbear_gate_wait_seconds_count{<raw>}[$__rate_interval])) > 0"),
        Panel::lines("How waits end", 8)
            .says("Calls a minute that left the gate, by how. refused: the opening lies past their deadline, or the day is spent; queue_full: as many waited already as may (raise it only if callers have the patience); draining: the process ends.")
            .unit("cpm")
            .empty(NO_WAITS)
            .stacked()
            .words_of(Metric::GateWait, "result")
            .query("60 * sum by (result) (rate(forbear_gate_wait_seconds_count{<raw>}[$__rate_interval])) > 0", "{{result}}"),
    ]
}

fn shuts() -> Vec<Panel> {
    vec![
        Panel::lines("Shuts by limit", 8)
            .says("How often gates shut within 5 minutes, by the limit that was hit. Many short ones: the pace is above the limit. unknown: answers do not say which limit it was.")
            .unit("short")
            .empty("No gate shut in the time shown: nothing to do.")
            .stacked()
            .words_of(Metric::GateShuts, "limit_class")
            .query(&risen("limit_class", "forbear_gate_shuts_total{<raw>}", "5m"), "{{limit_class}}"),
        Panel::lines("Shuts whose end was told", 8)
            .says("The share of shuts of which the provider said how long they last. Near 0: gates guess, and reopen by probing. Ask the provider for retry-after, or set the window.")
            .unit("percentunit")
            .up_to(1.0)
            .empty("No gate shut in the time shown: nothing to do.")
            .query(r#"(sum by (<by>) (increase(forbear_gate_shuts_total{<raw>, told="yes"}[15m])) or 0 * sum by (<by>) (increase(forbear_gate_shuts_total{<raw>}[15m]))) / (sum by (<by>) (increase(forbear_gate_shuts_total{<raw>}[15m])) > 0)"#, "{{provider}} {{pool}}"),
        pools(),
        Panel::lines("Headroom behind the gate", 24)
            .says("What is left of each quota by the answers' headers. A gate that paces well keeps it above 0 and uses it all; a saw that touches 0 is a window used up at its start.")
            .unit("percentunit")
            .up_to(1.0)
            .empty(NO_LIMIT)
            .query(&crate::shared::headroom(), "{{pool}} {{dimension}} a {{window}}"),
    ]
}
