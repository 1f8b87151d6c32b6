//! The servers that commands are pointed at, in place of those that pages name: a Prometheus that holds a simulated hour, and
//! a Redis that replicas share.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use forbear::simulate::{Scenario, Scrape, Simulation};
use forbear::{Forbear, Gate, RedisOptions, provider};
use tokio::runtime::Runtime;

use crate::pages::blocks;
use crate::server::{Server, empty_folder, run, tool};
use crate::typed::{run_in, text};

/// An hour of a pool whose quota is too small.
const HOUR: &str = r#"{"warmup_s": 300, "measured_s": 3600, "gate": "none",
    "provider": {"requests_per_minute": 40, "algorithm": "fixed_window"},
    "callers": {"arrivals": {"poisson": {"per_minute": 90}}, "deadline_s": 30, "replicas": 2}}"#;
/// When it is over, from the start of the world.
const OVER: Duration = Duration::from_secs(3_900);

/// The pool of the replicas, as pages name it, and their namespace.
const POOL: [&str; 2] = ["prod", "gpt-4o"];
const NAMESPACE: &str = "prod";
const PASSWORD: &str = "s3cret";
/// The name that pages have it say.
const OPERATOR: &str = "alice";

pub(crate) struct World {
    folder: PathBuf,
    prometheus: Server,
    redis: Server,
    _replicas: (Runtime, [Forbear; 2]),
}

impl World {
    pub(crate) fn new() -> Self {
        let folder = empty_folder(env!("CARGO_TARGET_TMPDIR"), "documents-world");
        record(&folder);
        fs::write(folder.join("password"), PASSWORD).expect("written");
        let prometheus = Server::prometheus(&folder, "[]");
        let redis = Server::redis(&[]);
        grant(&redis);
        let replicas = replicas(&redis);
        let world = Self { folder, prometheus, redis, _replicas: replicas };
        world.wait_for_the_pool();
        world
    }

    fn redis(&self) -> String {
        format!("redis://forbear@{}", self.redis.addr())
    }

    /// Words with the servers that are there.
    pub(crate) fn instead(&self, words: &[String]) -> Vec<String> {
        let mut words = words.to_vec();
        let mut put = |option: &str, value: &str| {
            let at = words.iter().position(|word| word == option);
            at.map(|at| words[at + 1] = value.to_owned()).is_some()
        };
        put("--redis", &self.redis());
        let at = (Scrape::default().start.elapsed_since_epoch() + OVER).as_secs().to_string();
        if put("--prometheus", &format!("http://{}", self.prometheus.addr())) && !put("--at", &at) {
            words.extend(["--at".to_owned(), at]);
        }
        words
    }

    /// Variables with the servers that are there, and with secrets and a name.
    pub(crate) fn instead_of(&self, mut variables: BTreeMap<String, String>) -> BTreeMap<String, String> {
        let password = self.folder.join("password").to_string_lossy().into_owned();
        variables.entry("FORBEAR_REDIS_URL".to_owned()).and_modify(|url| *url = self.redis());
        variables.insert("FORBEAR_REDIS_PASSWORD_FILE".to_owned(), password);
        variables.insert("USER".to_owned(), OPERATOR.to_owned());
        variables
    }

    /// What stands in for options of `forbear gate`.
    pub(crate) fn stands_in(&self) -> BTreeMap<String, String> {
        let set = [("FORBEAR_REDIS_URL", self.redis()), ("FORBEAR_REDIS_NAMESPACE", NAMESPACE.to_owned())];
        set.map(|(name, value)| (name.to_owned(), value)).into()
    }

    #[allow(clippy::disallowed_methods, reason = "replicas live in real time")]
    fn wait_for_the_pool(&self) {
        let began = std::time::Instant::now();
        let listed = || {
            text(
                &run_in(&self.folder, &["gate".to_owned(), "list".to_owned()], &self.instead_of(self.stands_in()), "")
                    .stdout,
            )
        };
        while !listed().contains(&POOL.join("/")) {
            assert!(began.elapsed() < Duration::from_secs(10), "the store does not know the pool: {}", listed());
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for World {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Puts the hour where a Prometheus finds it.
fn record(folder: &Path) {
    let scenario: Scenario = HOUR.parse().expect("a scenario");
    let hour = Simulation::of(&scenario).scraped(Scrape::default()).run().expect("in range").scraped;
    let mut text = Vec::new();
    hour.expect("asked for").write(&mut text).expect("written");
    // Helps ask for one job.
    let text = String::from_utf8(text).expect("text").replace("job=\"forbear\"", "job=\"api\"");
    assert!(text.contains("job=\"api\""), "the job has another name");
    let metrics = folder.join("hour.om");
    fs::write(&metrics, text).expect("written");
    run(tool("promtool").args(["tsdb", "create-blocks-from", "openmetrics"]).arg(&metrics).arg(folder.join("tsdb")));
}

/// Gives the replicas' user the rights that the guide names, and the one an operator needs besides.
fn grant(redis: &Server) {
    let blocks = blocks();
    let rights =
        blocks.iter().find(|block| block.text.starts_with("ACL SETUSER forbear ")).expect("the guide's rights");
    let words: Vec<_> = rights.text.split_whitespace().map(|word| word.replace("PASSWORD", PASSWORD)).collect();
    let client = redis::Client::open(format!("redis://{}", redis.addr())).expect("a client");
    let mut connection = client.get_connection().expect("a connection");
    let mut takes = |words: &[String]| redis::cmd("ACL").arg(&words[1..]).arg("+zrange").exec(&mut connection);
    // The page says which Redis does not know the last of them.
    let taken = takes(&words).or_else(|_| takes(&words[..words.len() - 1]));
    taken.expect("Redis takes the rights");
}

/// Two replicas with the pool.
fn replicas(redis: &Server) -> (Runtime, [Forbear; 2]) {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime");
    let inside = runtime.enter();
    let url = format!("redis://forbear:{PASSWORD}@{}", redis.addr());
    let replicas = [(); 2].map(|()| {
        let gate = Gate::redis(RedisOptions::new(url.as_str(), NAMESPACE));
        let engine = Forbear::builder().gate(gate).build().expect("an engine");
        engine.pool(provider::openai(), POOL).build().expect("a pool");
        engine
    });
    drop(inside);
    (runtime, replicas)
}
