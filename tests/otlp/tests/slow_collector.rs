//! Collectors that are absent, frozen or slow: they neither hold a call up nor make the service's memory grow, and what
//! they did not take is counted.

use std::collections::HashMap;
use std::net::{SocketAddr, TcpListener};
use std::process::Command;
use std::time::Duration;

use forbear_otlp_tests::Collector;
use forbear_otlp_tests::server::free_addr;

/// How many calls a service makes. Each has two spans: its own and its attempt's.
const CALLS: u64 = 20_000;
/// Kept, the spans of these calls would take more than ten times as much.
const MOST_GROWN_KIB: u64 = 8 * 1_024;

/// What a service under load says of itself at its end.
struct Said(HashMap<String, String>);

impl Said {
    fn number(&self, key: &str) -> u64 {
        self.0[key].parse().unwrap_or_else(|error| panic!("{key}: {error}"))
    }

    /// Fails unless all calls were made and memory stayed where it was.
    fn assert_unharmed(&self, name: &str) {
        assert_eq!(self.number("calls"), CALLS, "{name}");
        let grown = self.number("grown_kib");
        assert!(grown < MOST_GROWN_KIB, "{name}: grew by {grown} KiB");
    }
}

/// Puts a service under load that pushes to `addr`.
fn load(protocol: &str, addr: SocketAddr) -> Said {
    let output = Command::new(env!("CARGO_BIN_EXE_service"))
        .args(["load", &CALLS.to_string()])
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", format!("http://{addr}"))
        .env("OTEL_EXPORTER_OTLP_PROTOCOL", protocol)
        .env("OTEL_METRIC_EXPORT_INTERVAL", "50")
        .output()
        .expect("the service runs");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{}\n{said}{}", output.status, String::from_utf8_lossy(&output.stderr));
    let pairs = said.split_whitespace().filter_map(|pair| pair.split_once('='));
    Said(pairs.map(|(key, value)| (key.to_owned(), value.to_owned())).collect())
}

/// Does the same over each protocol, side by side.
fn over_each(protocol: impl Fn(&str) + Sync) {
    let protocol = &protocol;
    std::thread::scope(|scope| {
        for name in ["http/protobuf", "grpc"] {
            scope.spawn(move || protocol(name));
        }
    });
}

#[test]
fn an_absent_collector_costs_what_was_for_it_and_nothing_else() {
    over_each(|protocol| {
        let said = load(protocol, free_addr());
        said.assert_unharmed(protocol);
        assert_eq!(said.number("lost"), 2 * CALLS, "{protocol}: every span");
        assert!(said.number("lost_before_the_end") > CALLS, "{protocol}: it can be seen while it happens");
        assert!(said.number("lost_pushes") > 0, "{protocol}");
        assert_eq!(said.0["ended"], "badly", "{protocol}");
    });
}

#[test]
fn a_frozen_collector_costs_what_was_for_it_and_nothing_else() {
    over_each(|protocol| {
        // It takes connections and never reads.
        let frozen = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let said = load(protocol, frozen.local_addr().expect("an address"));
        said.assert_unharmed(protocol);
        assert_eq!(said.number("lost"), 2 * CALLS, "{protocol}: every span");
        assert!(said.number("lost_before_the_end") > CALLS, "{protocol}: it can be seen while it happens");
        assert_eq!(said.0["ended"], "badly", "{protocol}");
    });
}

#[test]
fn a_collector_that_answers_after_ten_seconds_takes_what_it_can_and_the_rest_is_counted() {
    over_each(|protocol| {
        let slow = Collector::answering_after(Duration::from_secs(10));
        let said = load(protocol, if protocol == "grpc" { slow.grpc } else { slow.http });
        said.assert_unharmed(protocol);
        // What it answered too late for is counted as lost, though it came.
        let (came, lost) = (slow.spans().len() as u64, said.number("lost"));
        assert!(came > 0 && lost <= 2 * CALLS && came + lost >= 2 * CALLS, "{protocol}: {came} came, {lost} lost");
        assert!(said.number("lost_before_the_end") > CALLS, "{protocol}: it can be seen while it happens");
    });
}

#[test]
fn under_load_each_span_is_delivered_or_counted_as_lost() {
    over_each(|protocol| {
        let quick = Collector::start();
        let said = load(protocol, if protocol == "grpc" { quick.grpc } else { quick.http });
        said.assert_unharmed(protocol);
        let (came, lost) = (quick.spans().len() as u64, said.number("lost"));
        assert_eq!(came + lost, 2 * CALLS, "{protocol}: {came} came, {lost} lost");
        assert!(came > 0, "{protocol}: a quick collector gets something");
        assert_eq!((said.number("lost_pushes"), &*said.0["ended"]), (0, "well"), "{protocol}");
    });
}
