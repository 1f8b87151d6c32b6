//! The example of routes and inhibitions, by Alertmanager's own tool and in a running Alertmanager.
#![allow(clippy::disallowed_methods, reason = "nobody's runtime waits for these servers")]

use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};

use crate::kept::kept;
use crate::server::{Server, empty_folder, free_addr, tool};

fn example() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("dashboards/alertmanager.yml")
}

#[test]
fn every_severity_has_its_receiver() {
    for (severity, receiver) in [("critical", "page"), ("warning", "tickets"), ("info", "nobody")] {
        let mut amtool = tool("amtool");
        let route = amtool.args(["config", "routes", "test", "--config.file"]).arg(example());
        let output =
            route.args(["alertname=ForbearAny", &format!("severity={severity}")]).output().expect("amtool runs");
        assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), receiver, "{severity}");
    }
}

/// An Alertmanager with the example's configuration that keeps its data in `folder`.
fn running_alertmanager(folder: &Path) -> Server {
    let addr = free_addr();
    let mut command = tool("alertmanager");
    command.arg(format!("--config.file={}", example().display()));
    command.arg(format!("--storage.path={}", folder.display())).arg(format!("--web.listen-address={addr}"));
    command.arg("--cluster.listen-address=").stdout(Stdio::null()).stderr(Stdio::null());
    Server::listening(command, addr)
}

/// An alert as it is posted.
fn alert(name: &str, severity: &str, pool: &str, more: Value) -> Value {
    let mut labels =
        json!({"alertname": format!("Forbear{name}"), "severity": severity, "provider": "openai", "pool": pool});
    labels.as_object_mut().expect("labels").extend(more.as_object().cloned().unwrap_or_default());
    json!({"labels": labels})
}

fn post(addr: SocketAddr, body: &str) {
    let mut stream = TcpStream::connect(addr).expect("it listens");
    let head = format!(
        "POST /api/v2/alerts HTTP/1.0\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all((head + body).as_bytes()).expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it answers");
    assert!(answer.contains(" 200 "), "{answer}");
}

#[test]
fn no_page_is_silenced_by_what_does_not_page_and_infos_wait() {
    let folder = empty_folder(env!("CARGO_TARGET_TMPDIR"), "alertmanager");
    let running = running_alertmanager(&folder);

    let none = || json!({});
    let alerts = json!([
        alert("CallsFailing", "critical", "a", json!({"speed": "fast"})),
        alert("CallsFailing", "critical", "a", json!({"speed": "slow"})),
        alert("QuotaTooSmall", "warning", "a", none()),
        alert("StackedRetries", "info", "a", none()),
        alert("CallsFailing", "critical", "b", json!({"speed": "slow"})),
        alert("SpendLimitReached", "critical", "c", none()),
        alert("CallsFailing", "critical", "c", json!({"speed": "fast"})),
        alert("DailySpent", "warning", "c", none()),
        alert("UnreadableSignals", "info", "d", none()),
    ]);
    post(running.addr(), &alerts.to_string());
    // An inhibition is looked up when its target is about to be sent, and when it is asked for.
    let told: Value = serde_json::from_str(&running.get("/api/v2/alerts")).expect("JSON");
    let mut states: Vec<_> = told
        .as_array()
        .expect("alerts")
        .iter()
        .map(|alert| {
            let label = |key: &str| alert["labels"][key].as_str().unwrap_or_default().replace("Forbear", "");
            let silenced = !alert["status"]["inhibitedBy"].as_array().expect("a list").is_empty();
            format!("{} {} {} {silenced}", label("pool"), label("alertname"), label("speed"))
        })
        .collect();
    states.sort_unstable();
    assert_eq!(
        states,
        [
            "a CallsFailing fast false",
            "a CallsFailing slow true",
            "a QuotaTooSmall  false",
            "a StackedRetries  true",
            "b CallsFailing slow false",
            "c CallsFailing fast true",
            "c DailySpent  true",
            "c SpendLimitReached  false",
            "d UnreadableSignals  false",
        ]
    );
    drop(running);
    fs::remove_dir_all(&folder).expect("removed");
}

/// The alerts that the rules name as pages are the only ones that silence pages.
#[test]
fn every_rule_that_silences_a_page_is_a_page() {
    let text = fs::read_to_string(example()).expect("kept");
    let (_, rules) = text.split_once("inhibit_rules:").expect("there are some");
    for rule in rules.split("- source_matchers:").skip(1) {
        let (source, rest) = rule.split_once("target_matchers:").expect("a target");
        let silences_pages = !rest.lines().next().expect("a line").contains("severity=\"info\"");
        let pages = ["ForbearSpendLimitReached", "ForbearCallsFailing"].iter().any(|page| source.contains(page));
        assert!(!silences_pages || pages, "{rule}");
    }
}

/// Serves these metrics to whoever asks, for as long as the test lasts.
fn serving(metrics: &'static str) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let addr = listener.local_addr().expect("bound");
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let _ = stream.read(&mut [0; 4_096]);
            let _ = write!(stream, "HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\n{metrics}");
        }
    });
    addr
}

/// What the recorded series of a pool say whose day is spent.
const SPENT: &str = "\
pool:forbear_failed:ratio1h{provider=\"openai\",pool=\"prod/gpt\"} 0.4
pool:forbear_failed:ratio5m{provider=\"openai\",pool=\"prod/gpt\"} 0.8
pool:forbear_calls_failed:increase1h{provider=\"openai\",pool=\"prod/gpt\"} 900
pool:forbear_missed:bool5m{provider=\"openai\",pool=\"prod/gpt\"} 1
pool:forbear_verdict:1h{provider=\"openai\",pool=\"prod/gpt\",cause=\"daily_spent\",certainty=\"firm\"} 1
";

/// Prometheus scrapes what the rules would have recorded, evaluates the alerts without waiting, and tells Alertmanager.
#[test]
fn the_page_that_arrives_carries_the_verdict_and_the_ticket_beside_it_the_change() {
    let folder = empty_folder(env!("CARGO_TARGET_TMPDIR"), "page");
    let alertmanager = running_alertmanager(&folder.join("alertmanager"));
    let mut alerts = fs::read_to_string(kept("alerts.yml")).expect("kept").replace("interval: 1m", "interval: 1s");
    for pending in ["1m", "2m", "5m", "15m", "30m"] {
        alerts = alerts.replace(&format!("        for: {pending}\n"), "        for: 0s\n");
    }
    fs::write(folder.join("alerts.yml"), alerts).expect("written");
    let configuration = format!(
        "[{{job_name: rules, scrape_interval: 1s, honor_labels: true, static_configs: [{{targets: [\"{}\"]}}]}}]\n\
         rule_files: [\"{}\"]\nalerting: {{alertmanagers: [{{static_configs: [{{targets: [\"{}\"]}}]}}]}}",
        serving(SPENT),
        folder.join("alerts.yml").display(),
        alertmanager.addr()
    );
    let prometheus = Server::prometheus(&folder, &configuration);
    let description = |alerts: &Value, name: &str| {
        let is_it = |alert: &&Value| alert["labels"]["alertname"] == name;
        let found = alerts.as_array().expect("alerts").iter().find(is_it)?;
        Some(found["annotations"]["description"].as_str().expect("a text").to_owned())
    };
    let (page, ticket) = loop {
        let alerts: Value = serde_json::from_str(&alertmanager.get("/api/v2/alerts")).expect("JSON");
        if let (Some(page), Some(ticket)) =
            (description(&alerts, "ForbearCallsFailing"), description(&alerts, "ForbearDailySpent"))
        {
            break (page, ticket);
        }
        std::thread::sleep(Duration::from_millis(200));
    };
    let change = "stop sending until the day ends, or ask for more a day";
    assert_eq!(page, format!("40% of the calls to prod/gpt (openai) fail. Verdict: daily_spent (firm): {change}."));
    assert_eq!(ticket, format!("prod/gpt (openai): Stop{} (firm).", &change[4..]));
    drop((prometheus, alertmanager));
    fs::remove_dir_all(&folder).expect("removed");
}
