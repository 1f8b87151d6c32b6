//! What replicas share: the store, the news, and what is done without them.

use forbear::event::catalogue::Metric;
use serde_json::json;

use crate::board::{Board, Row};
use crate::panel::Panel;
use crate::shared::{NO_CALLS, NO_STORE, risen, store_relied_on};

pub(crate) fn board() -> Board {
    Board {
        name: "replicas",
        title: "Replicas",
        description: "What replicas share: the store, the news, and what is done without them.",
        rows: vec![
            Row { title: None, panels: top() },
            Row { title: Some("The shared store"), panels: store() },
            Row { title: Some("Replicas"), panels: replicas() },
        ],
    }
}

fn top() -> Vec<Panel> {
    vec![
        store_relied_on("Store relied on", 6)
            .says("Replicas that rely on the shared store now. Below 100 % some pace alone, by their own share of the limit: calls go on, a little less evenly. Look at Store and Degraded for why.")
            .empty(NO_STORE),
        Panel::stat("Gates on their own", 6)
            .says("Gates that should share and do not, over all replicas. Above 0: throttles that one replica hears of are no news to the others.")
            .unit("short")
            .decimals(0)
            .empty(NO_STORE)
            .steps("green", &[(0.5, "orange")])
            .now("sum(forbear_gate_degraded{<raw>})", "alone"),
        Panel::stat("Replicas known", 6)
            .says("How many replicas the processes believe share the pools. Less than there are: each takes too large a share when it paces alone. More: too small a one.")
            .unit("short")
            .decimals(0)
            .empty("The number of replicas is not known: no shared store, and none is set (ForbearBuilder::replicas).")
            .steps("#8e8e8e", &[])
            .now("max(forbear_replicas{<process>})", "known"),
        Panel::stat("Replicas scraped", 6)
            .says("How many processes are scraped. Another number than Replicas known: some are not scraped, or what is set is not what runs.")
            .unit("short")
            .decimals(0)
            .empty(NO_CALLS)
            .steps("#8e8e8e", &[])
            .now("count(forbear_build_info{<process>})", "scraped"),
    ]
}

fn store() -> Vec<Panel> {
    vec![
        Panel::states("Store", 12)
            .says("Whether each replica relies on the shared store. Orange on one replica: its network. On all at once: the store itself; look at its memory, its evictions and its slow log.")
            .unit("none")
            .empty(NO_STORE)
            .mapped(json!([
                {"type": "value", "options": {"0": {"text": "on its own", "color": "orange", "index": 0}}},
                {"type": "value", "options": {"1": {"text": "relied on", "color": "green", "index": 1}}},
            ]))
            .query("min by (job, instance) (forbear_store_up{<process>})", "{{instance}}"),
        Panel::lines("Why it is not relied on", 6)
            .says("How often the store stopped being relied on within 5 minutes, by why. slow: it answers, too late to be of use; down: no answer; silent: its news stopped; rejected: it refuses (credentials, or a full memory).")
            .unit("short")
            .empty("The store was relied on all the time, or there is none: nothing to do.")
            .stacked()
            .words_of(Metric::StoreDegraded, "reason")
            .query(&risen("reason", "forbear_store_degraded_total{<process>}", "5m"), "{{reason}}"),
        Panel::lines("Gates that pace alone", 6)
            .says("Gates that should share and do not, by pool. It follows the store: longer than that means that the news did not come back.")
            .unit("short")
            .empty(NO_STORE)
            .query("sum by (<by>) (forbear_gate_degraded{<raw>})", "{{provider}} {{pool}}"),
        Panel::lines("How fast the store answers", 8)
            .says("What 95 % of the answers stayed under, by what was asked. A call waits for permit alone, and a quarter of a second at most; above 25 ms the store is too far away or too busy.")
            .unit("s")
            .empty(NO_STORE)
            .query("histogram_quantile(0.95, sum by (le, operation) (rate(forbear_store_op_seconds_bucket{<process>}[$__rate_interval]))) >= 0", "{{operation}}"),
        Panel::lines("What the store answers", 8)
            .says("Questions to the store a minute, by how they ended. Anything but ok is a question that the replica answered for itself.")
            .unit("opm")
            .empty(NO_STORE)
            .stacked()
            .words_of(Metric::StoreOp, "outcome")
            .query("60 * sum by (outcome) (rate(forbear_store_op_seconds_count{<process>}[$__rate_interval]))", "{{outcome}}"),
        Panel::lines("News", 8)
            .says("How old news of other replicas is when it comes: what half and 95 % stayed under. At once is right; near 15 s it came with the next look instead of the subscription, and a storm has begun by then.")
            .unit("s")
            .empty("No news came: no shared store, or no pool was throttled in the time shown.")
            .query("histogram_quantile(0.95, sum by (le) (rate(forbear_store_news_seconds_bucket{<process>}[$__rate_interval]))) >= 0", "95 %")
            .query("histogram_quantile(0.5, sum by (le) (rate(forbear_store_news_seconds_bucket{<process>}[$__rate_interval]))) >= 0", "50 %"),
    ]
}

fn replicas() -> Vec<Panel> {
    vec![
        Panel::lines("Attempts by replica", 8)
            .says("Attempts a minute of each replica. One far above the others takes their share: look at the balancer before them.")
            .unit("cpm")
            .empty(NO_CALLS)
            .stacked()
            .query("60 * sum by (job, instance) (rate(forbear_attempts_total{<raw>}[$__rate_interval]))", "{{instance}}"),
        Panel::lines("Throttled by replica", 8)
            .says("The share of each replica's attempts that a limit refused. All alike: the pool. One alone: its own key, its own settings, or no news reaches it.")
            .unit("percentunit")
            .up_to(1.0)
            .empty("No attempt was throttled in the time shown: nothing to do.")
            .query(r#"sum by (job, instance) (rate(forbear_attempts_total{<raw>, outcome="throttled"}[$__rate_interval])) / (sum by (job, instance) (rate(forbear_attempts_total{<raw>}[$__rate_interval])) > 0)"#, "{{instance}}"),
        Panel::lines("What the store had lost", 8)
            .says("Own shuts that the store had lost and was told again, and news whose end was too far away to be believed. The first after a restart or an eviction: give the store memory that is not evicted. The second: a replica's clock is wrong, or somebody else writes to these keys.")
            .unit("short")
            .empty(NO_STORE)
            .query(&risen("", "forbear_store_reasserted_total{<process>}", "5m"), "told again")
            .query(&risen("", "forbear_store_clamped_total{<process>}", "5m"), "not believed"),
    ]
}
