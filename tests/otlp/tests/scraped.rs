//! A service that a real Prometheus scrapes: ten times a second under load, and over a restart.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::process::{ChildStdin, ChildStdout, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use forbear_otlp_tests::server::{Killed, Server, empty_folder, free_addr};

/// The service in a process of its own; it is killed with this value.
struct Service {
    _process: Killed,
    orders: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Service {
    fn at(addr: SocketAddr) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_service"));
        command.args(["serve", &addr.port().to_string()]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("the service starts");
        let (orders, answers) = (child.stdin.take().expect("piped"), child.stdout.take().expect("piped"));
        Self { _process: Killed::on_drop(child), orders, answers: BufReader::new(answers) }
    }

    /// Has it make so many calls, and waits until it did.
    fn make(&mut self, calls: u64) {
        writeln!(self.orders, "{calls}").expect("the service reads");
        let mut answer = String::new();
        self.answers.read_line(&mut answer).expect("the service answers");
        assert_eq!(answer, "done\n");
    }
}

/// A Prometheus that scrapes `addr` ten times a second.
fn prometheus(folder: &str, addr: SocketAddr) -> (std::path::PathBuf, Server) {
    let folder = empty_folder(env!("CARGO_TARGET_TMPDIR"), folder);
    let job = format!(
        "{{job_name: checkout, scrape_interval: 100ms, scrape_timeout: 100ms, static_configs: [{{targets: ['{addr}']}}]}}"
    );
    let server = Server::prometheus(&folder, &format!("[{job}]"));
    (folder, server)
}

/// Waits until a query has this one value.
fn wait_for(prometheus: &Server, promql: &str, value: f64) {
    let started = Instant::now();
    loop {
        let found = prometheus.query(promql, None);
        if found.len() == 1 && found[0].1 == value {
            return;
        }
        assert!(started.elapsed() < Duration::from_secs(30), "{promql} is {found:?}, not {value}");
        sleep(Duration::from_millis(50));
    }
}

/// By how much a counter rose over these samples: what it shows less is a restart.
fn risen(samples: &[(f64, f64)]) -> f64 {
    let values = std::iter::once(0.0).chain(samples.iter().map(|(_, value)| *value));
    let values: Vec<_> = values.collect();
    values.windows(2).map(|pair| if pair[1] < pair[0] { pair[1] } else { pair[1] - pair[0] }).sum()
}

#[test]
fn a_scrape_ten_times_a_second_under_load_loses_nothing() {
    const SCRAPES: f64 = 30.0;
    const CALLS: u64 = 500;
    let addr = free_addr();
    let mut service = Service::at(addr);
    let (folder, prometheus) = prometheus("ten_a_second", addr);
    wait_for(&prometheus, "up", 1.0);
    let mut made = 0;
    while prometheus.query("count_over_time(up[5m])", None)[0].1 < SCRAPES {
        service.make(CALLS);
        made += CALLS;
    }
    let all = made as f64;
    wait_for(&prometheus, "forbear_calls_total", all);
    for counted in [
        "forbear_attempts_total{outcome=\"ok\"}",
        "forbear_attempt_duration_seconds_count",
        "forbear_attempt_duration_seconds_bucket{le=\"+Inf\"}",
        "forbear_call_duration_seconds_count{outcome=\"ok\"}",
        "forbear_call_duration_seconds_bucket{le=\"900\"}",
        "forbear_call_deadline_seconds_bucket{le=~\"60|60.0\"}",
    ] {
        wait_for(&prometheus, counted, all);
    }
    assert_eq!(prometheus.query("min_over_time(up[5m])", None)[0].1, 1.0, "no scrape failed");

    let samples = prometheus.samples("forbear_calls_total[5m]").remove(0).1;
    let under_load = samples.iter().filter(|(_, value)| *value < all).count();
    assert!(under_load as f64 >= SCRAPES / 2.0, "{under_load} of {} scrapes came under load", samples.len());
    assert!(samples.is_sorted_by(|a, b| a.1 <= b.1), "a counter never falls: {samples:?}");
    // Whatever a scrape met, it met the whole of it: a histogram's last bucket is its count.
    let of = |selector: &str| prometheus.samples(&format!("{selector}[5m]")).remove(0).1;
    assert_eq!(
        of("forbear_attempt_duration_seconds_bucket{le=\"+Inf\"}"),
        of("forbear_attempt_duration_seconds_count")
    );
    drop((service, prometheus));
    std::fs::remove_dir_all(&folder).expect("removed");
}

#[test]
fn a_restart_is_a_reset_of_the_counters_and_nothing_else() {
    let addr = free_addr();
    let mut service = Service::at(addr);
    let (folder, prometheus) = prometheus("restart", addr);
    service.make(500);
    wait_for(&prometheus, "forbear_calls_total", 500.0);
    let names = || -> BTreeSet<BTreeMap<String, String>> {
        let series = prometheus.query("{__name__=~\"forbear_.+\"}", None);
        series.into_iter().map(|(labels, _)| labels).collect()
    };
    let before = names();
    drop(service);
    wait_for(&prometheus, "up", 0.0);
    let mut service = Service::at(addr);
    service.make(300);
    wait_for(&prometheus, "forbear_calls_total", 300.0);

    assert_eq!(names(), before, "the same series under the same labels");
    let counters = "{__name__=~\"forbear_.+(_total|_bucket|_count)\"}";
    for (labels, samples) in prometheus.samples(&format!("{counters}[5m]")) {
        let (last, resets) = (samples.last().expect("a sample").1, samples.windows(2).filter(|s| s[1].1 < s[0].1));
        assert_eq!(resets.count(), usize::from(last > 0.0), "{labels:?}");
        assert_eq!(risen(&samples), if last > 0.0 { 800.0 } else { 0.0 }, "{labels:?}");
    }
    let resets = prometheus.query("resets(forbear_calls_total[5m])", None);
    assert_eq!(resets[0].1, 1.0, "as Prometheus itself counts them");
    let gauges = "{__name__=~\"forbear_(build_info|gate_info|gate_state|policy_parameter|calls_in_flight)\"}";
    for (labels, changes) in prometheus.query(&format!("changes({gauges}[5m])"), None) {
        assert_eq!(changes, 0.0, "{labels:?}");
    }
    drop((service, prometheus));
    std::fs::remove_dir_all(&folder).expect("removed");
}
