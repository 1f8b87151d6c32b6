//! States a fleet can be in, run in virtual time: what boards are tried and drawn on.

use std::fs;
use std::path::Path;

use forbear::simulate::{Scenario, Scrape, Simulation};

use crate::by_hand;
use crate::server::{run, tool};

/// When the world of every run begins, in seconds since 1970.
pub(crate) const FROM: u64 = 1_767_225_600;
/// When calls stop coming.
pub(crate) const TO: u64 = FROM + 12_600;

/// A pool's labels, its verdict at the end, and the scenario it lives through.
pub(crate) struct Pool {
    pub(crate) provider: &'static str,
    pub(crate) pool: &'static str,
    pub(crate) cause: &'static str,
    scenario: &'static str,
}

/// What becomes of the shared store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Store {
    None,
    /// It goes down an hour before the end.
    GoesDown,
}

/// A state, by the name of its pictures.
pub(crate) struct State {
    pub(crate) name: &'static str,
    pub(crate) pools: &'static [Pool],
    pub(crate) store: Store,
}

/// What runs beside the pool that a state is about.
const BESIDE: Pool = Pool {
    provider: "anthropic",
    pool: "batch",
    cause: "healthy",
    scenario: r#""provider": {"requests_per_minute": 120, "quota_headers": true, "retry_after": "exact"}, "gate": "local",
        "callers": {"arrivals": {"on_off": {"per_minute": 80, "on_s": 600, "off_s": 300}}, "deadline_s": 90, "replicas": 3,
        "tokens": {"median": 800}}"#,
};

const HEALTHY: Pool = Pool {
    provider: "openai",
    pool: "chat",
    cause: "healthy",
    scenario: r#""provider": {"requests_per_minute": 120, "quota_headers": true, "tokens_per_minute": 200000},
        "gate": "local",
        "callers": {"arrivals": {"diurnal": {"per_minute": 60, "low": 0.6, "high": 1.3, "period_s": 7200}},
        "deadline_s": 60, "replicas": 3}"#,
};

const QUOTA_TOO_SMALL: Pool = Pool {
    cause: "quota_too_small",
    scenario: r#""provider": {"requests_per_minute": 60, "quota_headers": true}, "gate": "local",
        "callers": {"arrivals": {"diurnal": {"per_minute": 75, "low": 0.4, "high": 1.5, "period_s": 23000}},
        "deadline_s": 60, "replicas": 3}"#,
    ..HEALTHY
};

const BACKOFF_TOO_FAST: Pool = Pool {
    cause: "backoff_too_fast",
    scenario: r#""provider": {"requests_per_minute": 60, "algorithm": "fixed_window", "retry_after": "none",
        "quota_headers": true}, "gate": "none", "policy": {"base_s": 0.1, "cap_s": 0.4, "attempts": 4},
        "callers": {"arrivals": {"batch": {"size": 74, "every_s": 120}}, "deadline_s": 120, "replicas": 3}"#,
    ..HEALTHY
};

const UNPACED: Pool = Pool {
    cause: "unpaced",
    scenario: r#""provider": {"requests_per_minute": 60, "quota_headers": true, "burst_s": 10}, "gate": "none",
        "policy": {"base_s": 6, "cap_s": 60, "attempts": 6},
        "callers": {"arrivals": {"batch": {"size": 100, "every_s": 150}}, "deadline_s": 100, "replicas": 3}"#,
    ..HEALTHY
};

const DAILY_SPENT: Pool = Pool {
    cause: "daily_spent",
    scenario: r#""provider": {"requests_per_minute": 120, "requests_per_day": 9000, "day_ends_at_s": 16200,
        "quota_headers": true}, "gate": "local",
        "callers": {"arrivals": {"poisson": {"per_minute": 60}}, "deadline_s": 60, "replicas": 3}"#,
    ..HEALTHY
};

const SHARED: Pool = Pool {
    scenario: r#""provider": {"requests_per_minute": 60, "quota_headers": true}, "gate": "paced",
        "callers": {"arrivals": {"on_off": {"per_minute": 75, "on_s": 120, "off_s": 90}}, "deadline_s": 90, "replicas": 3}"#,
    ..HEALTHY
};

/// The states that pictures show.
pub(crate) const STATES: [State; 6] = [
    State { name: "healthy", pools: &[HEALTHY, BESIDE], store: Store::None },
    State { name: "quota_too_small", pools: &[QUOTA_TOO_SMALL, BESIDE], store: Store::None },
    State { name: "backoff_too_fast", pools: &[BACKOFF_TOO_FAST, BESIDE], store: Store::None },
    State { name: "unpaced", pools: &[UNPACED, BESIDE], store: Store::None },
    State { name: "daily_spent", pools: &[DAILY_SPENT, BESIDE], store: Store::None },
    State { name: "redis_down", pools: &[SHARED, BESIDE], store: Store::GoesDown },
];

/// A day on which everything happens that a board can show.
pub(crate) const EVERYTHING: State = State {
    name: "everything",
    pools: &[
        Pool { pool: "short", ..QUOTA_TOO_SMALL },
        Pool { pool: "hasty", ..BACKOFF_TOO_FAST },
        Pool { pool: "clumps", ..UNPACED },
        Pool { pool: "spent", ..DAILY_SPENT },
        Pool { pool: "shared", ..SHARED },
        Pool {
            provider: "gemini",
            pool: "slow",
            cause: "backoff_too_slow",
            scenario: r#""provider": {"requests_per_minute": 60, "retry_after": "none", "quota_headers": true}, "gate": "none",
                "policy": {"base_s": 600, "cap_s": 900},
                "callers": {"arrivals": {"batch": {"size": 70, "every_s": 110}}, "deadline_s": 240, "replicas": 2}"#,
        },
        Pool {
            provider: "bedrock",
            pool: "wrong",
            cause: "concurrency",
            scenario: r#""provider": {"requests_per_minute": 120, "quota_headers": true, "concurrency": 3,
                "failures": [{"kind": "auth", "share": 0.01}, {"kind": "server_error", "share": 0.5},
                {"kind": "timeout", "share": 0.1}], "spend": [{"from_s": 3000, "until_s": 4000}],
                "overload": [{"from_s": 5000, "until_s": 6000, "share": 0.5}]}, "gate": "local",
                "policy": {"attempt_timeout_s": 20, "attempts": 3, "header_cap_s": 5},
                "callers": {"arrivals": {"poisson": {"per_minute": 60}}, "deadline_s": 40, "replicas": 2}"#,
        },
        Pool {
            provider: "mistral",
            pool: "untold",
            // That it is short cannot be told from how calls come, while no limit is known.
            cause: "unpaced",
            scenario: r#""provider": {"requests_per_minute": 30, "class_readable": false}, "gate": "none",
                "limit_configured": false,
                "callers": {"arrivals": {"poisson": {"per_minute": 60}}, "deadline_s": 60, "replicas": 2}"#,
        },
    ],
    store: Store::GoesDown,
};

impl State {
    /// The metrics of all pools and of the store, each as a text of OpenMetrics.
    pub(crate) fn scraped(&self) -> impl Iterator<Item = String> {
        let of_store =
            (self.store == Store::GoesDown).then(|| by_hand::store(self.pools[0].provider, self.pools[0].pool));
        self.pools.iter().map(Pool::scraped).chain(of_store)
    }

    /// The same, taken in into the data of a Prometheus in `folder`.
    pub(crate) fn take_in(&self, folder: &Path) {
        self.scraped().for_each(|text| take_in(&text, folder));
    }
}

impl Pool {
    /// What was scraped of it, as OpenMetrics.
    fn scraped(&self) -> String {
        let scenario: Scenario =
            format!(r#"{{"measured_s": {}, {}}}"#, TO - FROM, self.scenario).parse().expect("a scenario");
        let run = Simulation::of(&scenario).scraped(Scrape::default()).unjudged().run().expect("in range");
        let mut text = Vec::new();
        run.scraped.expect("asked for").write(&mut text).expect("memory takes it");
        let named = format!("provider=\"{}\",pool=\"{}\"", self.provider, self.pool);
        String::from_utf8(text).expect("text").replace("provider=\"simulated\",pool=\"pool\"", &named)
    }
}

/// Takes samples in a text of OpenMetrics into the data of a Prometheus in `folder`.
pub(crate) fn take_in(text: &str, folder: &Path) {
    let file = folder.join("samples.om");
    fs::write(&file, text).expect("written");
    run(tool("promtool").args(["tsdb", "create-blocks-from", "openmetrics"]).arg(&file).arg(folder.join("tsdb")));
    fs::remove_file(file).expect("removed");
}
