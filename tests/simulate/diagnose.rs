//! `forbear diagnose` against a real Prometheus that took in simulated runs: it has to say what the run's own verdict says.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::process::{Command, Output};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use forbear::diagnose::Verdict;
use forbear::simulate::{Scenario, Scrape, Simulation};
use serde_json::Value;

use crate::server::{Server, empty_folder, free_addr, run, tool};

/// Where most measured times end, in seconds after the start of the world; nothing happens for a minute after it.
const OVER: u64 = 300 + 3_600;

/// One run of each cause that is told by other evidence, and each far from every line.
const RUNS: [(&str, &str); 6] = [
    (
        "healthy",
        r#""provider": {"requests_per_minute": 120, "quota_headers": true}, "gate": "local",
        "callers": {"arrivals": {"poisson": {"per_minute": 40}}, "deadline_s": 60, "replicas": 3}"#,
    ),
    (
        "quota_too_small",
        r#""provider": {"requests_per_minute": 40, "algorithm": "fixed_window"}, "gate": "none",
        "callers": {"arrivals": {"poisson": {"per_minute": 90}}, "deadline_s": 30, "replicas": 2}"#,
    ),
    (
        "backoff_too_fast",
        r#""provider": {"requests_per_minute": 60, "algorithm": "fixed_window", "retry_after": "none"},
        "gate": "none", "policy": {"base_s": 0.1, "cap_s": 0.4, "attempts": 4},
        "callers": {"arrivals": {"batch": {"size": 74, "every_s": 120}}, "deadline_s": 120, "replicas": 4}"#,
    ),
    (
        "daily_spent",
        r#""provider": {"requests_per_minute": 120, "requests_per_day": 900}, "gate": "local",
        "callers": {"arrivals": {"poisson": {"per_minute": 40}}, "deadline_s": 60, "replicas": 2}"#,
    ),
    (
        "caller_errors",
        r#""provider": {"requests_per_minute": 120, "failures": [{"kind": "auth", "share": 0.05}]},
        "callers": {"arrivals": {"poisson": {"per_minute": 40}}, "deadline_s": 60}"#,
    ),
    (
        "overloaded",
        r#""provider": {"requests_per_minute": 120, "overload": [{"from_s": 900, "until_s": 2400, "share": 0.9}]},
        "gate": "none", "policy": {"attempts": 5},
        "callers": {"arrivals": {"poisson": {"per_minute": 40}}, "deadline_s": 60, "replicas": 2}"#,
    ),
];

/// A run's verdict on itself, and its metrics as a Prometheus holds them.
fn recorded(cause: &str, scenario: &str, folder: &Path) -> Verdict {
    let scenario: Scenario =
        format!(r#"{{"warmup_s": 300, "measured_s": 3600, {scenario}}}"#).parse().expect("a scenario");
    let run_of = Simulation::of(&scenario).scraped(Scrape::default()).run().expect("in range");
    let metrics = folder.join(format!("{cause}.om"));
    let scraped = run_of.scraped.expect("asked for");
    scraped.write(&mut fs::File::create(&metrics).expect("created")).expect("written");
    run(tool("promtool").args(["tsdb", "create-blocks-from", "openmetrics"]).arg(&metrics).arg(folder.join("tsdb")));
    run_of.outcome.verdict.expect("the engine has a verdict")
}

fn diagnose(url: &str, more: &[&str], environment: &[(&str, &str)]) -> Output {
    let at = (Scrape::default().start.elapsed_since_epoch().as_secs() + OVER).to_string();
    let mut command = Command::new(env!("CARGO_BIN_EXE_forbear"));
    command.args(["diagnose", "--prometheus", url, "--at", &at, "--json"]).args(more).envs(environment.iter().copied());
    command.output().expect("the command ends")
}

fn only(output: &Output) -> Value {
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(text.lines().count(), 1, "{text}");
    serde_json::from_str(&text).expect("JSON")
}

#[test]
fn a_prometheus_says_what_the_run_says_of_itself() {
    for (cause, scenario) in RUNS {
        let folder = empty_folder(env!("CARGO_TARGET_TMPDIR"), &format!("diagnose-{cause}"));
        let own = recorded(cause, scenario, &folder);
        assert_eq!(own.cause.as_str(), cause, "{}", own.sentence);
        let prometheus = Server::prometheus(&folder, "[]");
        let found = only(&diagnose(&format!("http://{}", prometheus.addr()), &[], &[]));
        assert_eq!((found["cause"].as_str(), found["pool"].as_str()), (Some(cause), Some("pool")), "{found}");
        let load = found["horizon_load"].as_f64().expect("a limit is known");
        let ratio = load / own.horizon_load.expect("a limit is known");
        // The shortest horizon is a minute here, and half a minute there.
        assert!((0.85..1.15).contains(&ratio), "{cause}: {load}, not {:?}", own.horizon_load);
        let calls = found["numbers"]["calls"].as_f64().expect("calls") / own.evidence.calls;
        assert!((0.97..1.03).contains(&calls), "{cause}: {found}");
        drop(prometheus);
        fs::remove_dir_all(&folder).expect("removed");
    }
}

#[test]
fn people_get_a_table_and_a_sentence() {
    let folder = empty_folder(env!("CARGO_TARGET_TMPDIR"), "diagnose-table");
    let (cause, scenario) = RUNS[1];
    let own = recorded(cause, scenario, &folder);
    let prometheus = Server::prometheus(&folder, "[]");
    let at = (Scrape::default().start.elapsed_since_epoch().as_secs() + OVER).to_string();
    let url = format!("http://{}/", prometheus.addr());
    let ask = |at: &str| {
        let output =
            Command::new(env!("CARGO_BIN_EXE_forbear")).args(["diagnose", "--prometheus", &url, "--at", at]).output();
        output.expect("the command ends")
    };
    let output = ask(&at);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.stderr.is_empty(), "no progress in a pipe");
    assert!(text.lines().nth(1).is_some_and(|line| line.starts_with("simulated  pool  quota_too_small")), "{text}");
    let asked = own.recommend.requests_per_minute.expect("a quota");
    assert!((90..=200).contains(&asked) && text.contains("raise the quota: ask for about "), "{text}");
    let nothing = ask("1600000000");
    assert!(!nothing.status.success());
    let refusal = String::from_utf8_lossy(&nothing.stderr).into_owned();
    assert!(refusal.contains("no metrics of forbear in the hour before that time"), "{refusal}");
    drop(prometheus);
    fs::remove_dir_all(&folder).expect("removed");
}

#[test]
fn what_counts_as_missed_is_what_is_promised() {
    // Two of a hundred calls fail: each meets a broken answer twice.
    let scenario = r#""provider": {"requests_per_minute": 240, "failures": [{"kind": "server_error", "share": 0.14}]},
        "gate": "none", "policy": {"base_s": 1, "cap_s": 2, "attempts": 2},
        "callers": {"arrivals": {"poisson": {"per_minute": 60}}, "deadline_s": 60, "replicas": 2}"#;
    let folder = empty_folder(env!("CARGO_TARGET_TMPDIR"), "diagnose-slo");
    let own = recorded("provider_errors", scenario, &folder);
    assert_eq!(own.cause.as_str(), "provider_errors", "{}", own.sentence);
    let prometheus = Server::prometheus(&folder, "[]");
    let url = format!("http://{}", prometheus.addr());
    for (options, cause, promised) in [
        (&[][..], "provider_errors", 0.99),
        (&["--slo", "0.999"], "provider_errors", 0.999),
        (&["--slo", "95"], "healthy", 0.95),
    ] {
        let found = only(&diagnose(&url, options, &[]));
        let objective = &found["numbers"]["objective"];
        assert_eq!((&found["cause"], &objective["least_success"]), (&cause.into(), &promised.into()), "{found}");
    }
    let refused = diagnose(&url, &["--slo", "80"], &[]);
    assert_eq!(refused.status.code(), Some(2));
    let told = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(told.starts_with("forbear diagnose: --slo is 80; allowed: 94 to 99.99 percent"), "{told}");
    drop(prometheus);
    fs::remove_dir_all(&folder).expect("removed");
}

/// A server that answers every request with an empty vector and hands on what it was sent, line by line.
fn empty_prometheus() -> (SocketAddr, Receiver<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let addr = listener.local_addr().expect("bound");
    let (sent, requests) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.expect("a connection");
            let lines = BufReader::new(stream.try_clone().expect("cloned")).lines();
            let head: Vec<_> = lines.map_while(Result::ok).take_while(|line| !line.is_empty()).collect();
            let body = r#"{"status":"success","data":{"resultType":"vector","result":[]}}"#;
            let head_of_answer =
                format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
            let _ = stream.write_all((head_of_answer + body).as_bytes());
            if sent.send(head).is_err() {
                break;
            }
        }
    });
    (addr, requests)
}

#[test]
fn token_and_tenant_come_from_the_environment_and_are_shown_to_the_prometheus_alone() {
    let (addr, requests) = empty_prometheus();
    let url = format!("http://{addr}/mimir/prometheus");
    let environment = [("FORBEAR_PROMETHEUS_TOKEN", "s3cret-token"), ("FORBEAR_PROMETHEUS_TENANT", "team-a")];
    let output = diagnose(&url, &["--selector", r#"job="api""#], &environment);
    let head = requests.recv_timeout(Duration::from_secs(30)).expect("a request");
    assert!(
        head[0].starts_with("GET /mimir/prometheus/api/v1/query?query=max_over_time%28max%28count_over_time"),
        "{}",
        head[0]
    );
    assert!(head.iter().any(|line| line.eq_ignore_ascii_case("authorization: Bearer s3cret-token")), "{head:?}");
    assert!(head.iter().any(|line| line.eq_ignore_ascii_case("x-scope-orgid: team-a")), "{head:?}");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && !said.contains("s3cret"), "{said}");
}

/// Runs openssl in a folder.
fn openssl(folder: &Path, arguments: &str) {
    run(Command::new("openssl").args(arguments.split(' ')).current_dir(folder));
}

#[test]
fn a_prometheus_behind_tls_is_shown_the_clients_certificate() {
    let folder = empty_folder(env!("CARGO_TARGET_TMPDIR"), "diagnose-tls");
    openssl(&folder, "req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.crt -days 2 -subj /CN=test-authority");
    fs::write(folder.join("san"), "subjectAltName=IP:127.0.0.1").expect("written");
    for name in ["server", "client"] {
        openssl(&folder, &format!("req -newkey rsa:2048 -nodes -keyout {name}.key -out {name}.csr -subj /CN={name}"));
        let signed =
            format!("x509 -req -in {name}.csr -CA ca.crt -CAkey ca.key -CAcreateserial -out {name}.crt -days 2");
        openssl(&folder, &format!("{signed} -extfile san"));
    }
    let web = "tls_server_config:\n  cert_file: server.crt\n  key_file: server.key\n  client_ca_file: ca.crt\n  \
               client_auth_type: RequireAndVerifyClientCert\n";
    fs::write(folder.join("web.yml"), web).expect("written");
    fs::write(folder.join("prometheus.yml"), "scrape_configs: []\n").expect("written");
    let addr = free_addr();
    let mut command = tool("prometheus");
    command
        .arg(format!("--config.file={}", folder.join("prometheus.yml").display()))
        .arg(format!("--storage.tsdb.path={}", folder.join("tsdb").display()))
        .arg(format!("--web.config.file={}", folder.join("web.yml").display()))
        .arg(format!("--web.listen-address={addr}"));
    let prometheus = Server::start(command, addr, "Server is ready to receive web requests");

    let url = format!("https://{addr}");
    let path = |name: &str| folder.join(name).to_str().expect("a plain path").to_owned();
    let (authority, certificate, key) = (path("ca.crt"), path("client.crt"), path("client.key"));
    let ask = |more: &[(&str, &str)]| {
        let trust = [("FORBEAR_PROMETHEUS_CA_FILE", authority.as_str())];
        String::from_utf8_lossy(&diagnose(&url, &[], &[&trust, more].concat()).stderr).into_owned()
    };
    // It has no metrics: that it says so is the proof that it answered.
    let identity =
        [("FORBEAR_PROMETHEUS_CERT_FILE", certificate.as_str()), ("FORBEAR_PROMETHEUS_KEY_FILE", key.as_str())];
    assert!(ask(&identity).contains("no metrics of forbear"), "{}", ask(&identity));
    assert!(ask(&[]).contains("could not be asked"), "{}", ask(&[]));
    let untrusted = diagnose(&url, &[], &identity);
    assert!(String::from_utf8_lossy(&untrusted.stderr).contains("could not be asked"), "an unknown authority");
    drop(prometheus);
    fs::remove_dir_all(&folder).expect("removed");
}
