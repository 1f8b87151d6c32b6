//! A simulated run, taken in by a real Prometheus and asked for there.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use forbear::simulate::{Scenario, Scrape, Simulation};

/// Runs a command to its end and shows what it said if it failed.
fn run(command: &mut Command) {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// The program of this name, brought if it is not there.
fn tool(name: &str) -> Command {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    run(Command::new(root.join("tests/tools/bring")).arg(name).current_dir(root));
    let brought = root.join("target/tools/bin").join(name);
    Command::new(if brought.exists() { brought } else { PathBuf::from(name) })
}

/// A Prometheus that serves what is in its folder and scrapes nothing; it ends with this value.
struct Prometheus {
    child: Child,
    addr: String,
}

impl Prometheus {
    fn serving(folder: &Path) -> Self {
        let config = folder.join("prometheus.yml");
        fs::write(&config, "scrape_configs: []\n").expect("written");
        let free = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let addr = free.local_addr().expect("bound").to_string();
        drop(free);
        let mut child = tool("prometheus")
            .arg(format!("--config.file={}", config.display()))
            .arg(format!("--storage.tsdb.path={}", folder.join("tsdb").display()))
            .arg("--storage.tsdb.retention.time=100y")
            .arg(format!("--web.listen-address={addr}"))
            .stderr(Stdio::piped())
            .spawn()
            .expect("Prometheus starts");
        let mut log = BufReader::new(child.stderr.take().expect("piped")).lines().map_while(Result::ok);
        let ready = log.any(|line| line.contains("Server is ready to receive web requests"));
        assert!(ready, "Prometheus ended before it was ready");
        // It must not stop over a log that nobody reads.
        std::thread::spawn(move || log.for_each(drop));
        Self { child, addr }
    }

    /// The values of an instant query, by the one label that is left.
    fn ask(&self, query: &str, unix_seconds: u64) -> BTreeMap<String, f64> {
        let query: String = query.bytes().map(|byte| format!("%{byte:02X}")).collect();
        let mut stream = TcpStream::connect(&self.addr).expect("Prometheus listens");
        write!(stream, "GET /api/v1/query?time={unix_seconds}&query={query} HTTP/1.0\r\nHost: localhost\r\n\r\n")
            .expect("Prometheus reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("Prometheus answers");
        let (_, body) = answer.split_once("\r\n\r\n").expect("a head and a body");
        let body: Value = serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {answer}"));
        assert_eq!(body["status"], "success", "{body}");
        let results = body["data"]["result"].as_array().expect("a vector");
        let value = |result: &Value| {
            let label = result["metric"].as_object().and_then(|labels| labels.values().next());
            let label = label.and_then(Value::as_str).unwrap_or_default().to_owned();
            (label, result["value"][1].as_str().expect("a value").parse().expect("a number"))
        };
        results.iter().map(value).collect()
    }
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn prometheus_answers_with_the_values_of_the_result() {
    let scenario: Scenario = r#"{
        "measured_s": 9000, "gate": "none", "limit_configured": {"times": 1},
        "provider": {"requests_per_minute": 30, "quota_headers": true, "failures": [{"kind": "auth", "share": 0.02}]},
        "callers": {"arrivals": {"poisson": {"per_minute": 32}}, "replicas": 2, "deadline_s": 20}
    }"#
    .parse()
    .expect("a scenario");
    let run_of = Simulation::of(&scenario).scraped(Scrape::default()).run().expect("in range");
    let (outcome, scraped) = (run_of.outcome, run_of.scraped.expect("asked for"));

    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("backfill");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder");
    let metrics = folder.join("run.om");
    scraped.write(&mut fs::File::create(&metrics).expect("created")).expect("written");
    run(tool("promtool").args(["tsdb", "create-blocks-from", "openmetrics"]).arg(&metrics).arg(folder.join("tsdb")));
    let prometheus = Prometheus::serving(&folder);

    let over = Scrape::default().start.elapsed_since_epoch().as_secs() + 9_000 + 60;
    let one = |query: &str| prometheus.ask(query, over)[""];
    assert!(outcome.throttled > 100 && outcome.gave_up.len() > 1, "{outcome:?}");
    assert_eq!(one("sum(forbear_calls_total)"), outcome.calls as f64);
    assert_eq!(one(r#"sum(forbear_attempts_total{outcome="throttled"})"#), outcome.throttled as f64);
    let per_call = one("sum(forbear_attempts_total) / sum(forbear_calls_total)");
    assert!((per_call - outcome.attempts_per_call.expect("calls came")).abs() < 1e-12, "{per_call}");
    let gave_up: BTreeMap<_, _> = outcome.gave_up.iter().map(|(word, n)| ((*word).to_owned(), *n as f64)).collect();
    assert_eq!(prometheus.ask("sum by (outcome) (forbear_giveups_total)", over), gave_up);

    let middle = over - 4_500;
    let at = |query: &str| prometheus.ask(query, middle);
    assert_eq!(at(r#"max by (origin) (forbear_quota_limit{window="minute"})"#)["header"], 30.0);
    let rate = at("sum(rate(forbear_calls_total[1h]))")[""] * 60.0;
    assert!((30.0..34.0).contains(&rate), "{rate} calls a minute");
    assert_eq!(at("count by (mode) (forbear_gate_info)")["off"], 2.0, "two replicas without a gate");
    drop(prometheus);
    fs::remove_dir_all(&folder).expect("removed");
}
