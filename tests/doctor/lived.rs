//! Faults that servers make by themselves: a scrape of a collector, a name nobody translates, a rule that fails.
#![allow(clippy::disallowed_methods, reason = "nobody's runtime waits for these servers")]

use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

#[cfg(feature = "otlp")]
use forbear::{Forbear, Policy, otlp::Config};

use crate::examined;
use crate::healthy::{ALL_RULES, WELL, at, prometheus, rule_files, scraped};
use crate::server::{Server, empty_folder, free_addr};

/// What a collector's Prometheus exporter shows of two services.
const COLLECTED: &str = "\
forbear_build_info{job=\"search\",instance=\"a\",version=\"0.1.0\",schema=\"1\"} 1
forbear_build_info{job=\"chat\",instance=\"b\",version=\"0.1.0\",schema=\"1\"} 1
";

/// Serves one page for as long as the test runs.
fn page(text: &'static str) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let addr = listener.local_addr().expect("bound");
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let mut request = [0; 4096];
            let _ = stream.read(&mut request);
            let head = format!(
                "HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4\r\nContent-Length: {}\r\n",
                text.len()
            );
            let _ = stream.write_all(format!("{head}Connection: close\r\n\r\n{text}").as_bytes());
        }
    });
    addr
}

/// Asks again until something has come of it.
fn until<T>(mut ask: impl FnMut() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(found) = ask() {
            return found;
        }
        assert!(started.elapsed().as_secs() < 60, "nothing came of it within a minute");
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn a_scrape_of_a_collector_that_does_not_honour_labels_is_found_and_mended_by_what_it_is_told() {
    for (honor, expected) in [("false", (1, vec!["error exported_job".to_owned()])), ("true", (0, vec![]))] {
        let folder = empty_folder(env!("CARGO_TARGET_TMPDIR"), &format!("doctor-collector-{honor}"));
        let job = format!(
            "[{{job_name: collector, scrape_interval: 1s, honor_labels: {honor}, static_configs: [{{targets: ['{}']}}]}}]\nrule_files: {}",
            page(COLLECTED),
            rule_files(&ALL_RULES)
        );
        let server = Server::prometheus(&folder, &job);
        until(|| (server.query("count(forbear_build_info) == 2", None).len() == 1).then_some(()));
        assert_eq!(examined(server.addr(), &[]), expected);
        drop(server);
        fs::remove_dir_all(&folder).expect("removed");
    }
}

#[cfg(feature = "otlp")]
#[tokio::test]
async fn names_that_nobody_translates_are_found() {
    let folder = empty_folder(env!("CARGO_TARGET_TMPDIR"), "doctor-dotted");
    let server = Server::victoria_metrics_told(&folder, &[]);
    let endpoint = format!("http://{}/opentelemetry", server.addr());
    let otlp = Config::new("search").endpoint(endpoint).own_subscriber();
    let otlp = forbear::otlp::install(otlp).expect("nothing else is installed");
    let forbear = Forbear::builder().sink(otlp.instruments()).build().expect("in range");
    let pool = forbear.pool(forbear::provider::generic(), ["search"]).build().expect("in range");
    let policy = Policy::interactive(Duration::from_secs(5)).build().expect("in range");
    let call = pool.call(&policy).classify(|_: &Result<(), ()>| forbear::Observation::status(200));
    call.run(|_| async { Ok(()) }).await.expect("it succeeds");
    // What is left is pushed, traces to nobody.
    let _ = otlp.shutdown().await;
    let found = until(|| Some(examined(server.addr(), &[])).filter(|(_, found)| found[0] != "error no_metrics"));
    assert_eq!(found, (1, vec!["error dotted_names".to_owned(), "error rules_not_loaded".to_owned()]));
    drop(server);
    fs::remove_dir_all(&folder).expect("removed");
}

#[test]
fn a_rule_that_fails_is_found() {
    let folder = empty_folder(env!("CARGO_TARGET_TMPDIR"), "doctor-rules");
    for file in ALL_RULES {
        let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("dashboards/rules").join(file);
        let rules = fs::read_to_string(kept).expect("kept").replace("interval: 1m", "interval: 1s");
        let broken = "record: pool:forbear_attempts_per_call:ratio1h\n        expr: |-\n          label_replace(vector(1), \"a\", \"b\", \"c\", \"(\")\n          or ";
        let rules =
            rules.replace("record: pool:forbear_attempts_per_call:ratio1h\n        expr: |-\n          ", broken);
        fs::write(folder.join(file), rules).expect("written");
    }
    let (data, server) =
        prometheus("failing", &scraped(WELL, Duration::from_secs(15)), &format!("['{}/*.yml']", folder.display()));
    let found = until(|| Some(examined(server.addr(), &["--at", &at()])).filter(|(status, _)| *status != 0));
    assert_eq!(found, (1, vec!["error rules_failing".to_owned()]));
    drop(server);
    [folder, data].iter().for_each(|folder| fs::remove_dir_all(folder).expect("removed"));
}

#[test]
fn a_server_that_cannot_be_asked_is_told_apart_from_one_with_faults() {
    let nobody = free_addr();
    let mut command = Command::new(env!("CARGO_BIN_EXE_forbear"));
    let output = command.args(["doctor", "--prometheus", &format!("http://{nobody}")]).output().expect("it ends");
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).starts_with("forbear doctor: 127.0.0.1:"), "{output:?}");
    // What answers, but is no Prometheus.
    let output = Command::new(env!("CARGO_BIN_EXE_forbear"))
        .args(["doctor", "--prometheus", &format!("http://{}", page("hello"))])
        .stdin(Stdio::null())
        .output()
        .expect("it ends");
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("is no answer of a Prometheus"), "{output:?}");
}
