//! The Prometheus endpoint as a server meets it: one process-wide recorder, so one test.
#![cfg(feature = "prometheus")]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use forbear::core::decide::{AttemptOutcome, CallOutcome, DelaySource};
use forbear::core::moment::Moment;
use forbear::core::signal::LimitClass;
use forbear::event::catalogue::Metric;
use forbear::event::metric::Kind;
use forbear::event::sink::{GaugeSource, Sample, Sink};
use forbear::event::{Event, PoolLabels};
use forbear::prometheus::InstallError;

fn ask(addr: SocketAddr, request: &str) -> String {
    let mut stream = TcpStream::connect(addr).expect("the endpoint listens");
    let head = format!("{request} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).expect("the endpoint reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("the endpoint answers");
    answer
}

struct Gauges(PoolLabels);

impl GaugeSource for Gauges {
    fn sample(&self, visit: &mut dyn FnMut(Sample<'_>)) {
        visit(Sample::new(Metric::GateState, Some(&self.0), &[("state", "shut")], 1.0));
    }
}

fn attempt(outcome: AttemptOutcome, class: LimitClass) -> Event<'static> {
    Event::AttemptEnded {
        number: 2,
        delay_source: DelaySource::Header,
        outcome,
        class,
        token_kind: None,
        status: Some(429),
        duration: Duration::from_millis(750),
    }
}

#[test]
fn an_installed_endpoint_serves_the_catalogue_until_it_is_dropped() {
    let prometheus = forbear::prometheus::install(0).expect("a free port");
    let addr = prometheus.addr();
    assert!(addr.ip().is_loopback(), "a port alone means loopback");
    let second = forbear::prometheus::install(0).expect_err("one recorder per process");
    assert!(matches!(second, InstallError::RecorderTaken), "{second}");
    let third = forbear::prometheus::install(addr).expect_err("the address is in use");
    assert!(matches!(third, InstallError::Bind { .. }), "{third}");

    let pool = PoolLabels::new("openai", "prod/gpt");
    let sink = prometheus.meters();
    let gauges: Arc<dyn GaugeSource> = Arc::new(Gauges(pool.clone()));
    sink.watch(Arc::downgrade(&gauges));
    let listener = sink.listen(&pool);
    let started = Event::CallStarted { policy: "chat", deadline: Duration::from_secs(15), estimate: None };
    let ended = Event::CallEnded {
        policy: "chat",
        outcome: CallOutcome::AttemptsExhausted,
        class: LimitClass::RequestRate,
        delay_source: DelaySource::None,
        early: false,
        attempts: 2,
        duration: Duration::from_secs(7),
    };
    for event in [started, attempt(AttemptOutcome::Throttled, LimitClass::RequestRate), ended] {
        listener.hear(Moment::START, &event);
    }

    let answer = ask(addr, "GET /metrics");
    let (head, text) = answer.split_once("\r\n\r\n").expect("head and body");
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
    assert!(head.contains("content-type: text/plain; version=0.0.4; charset=utf-8"), "{head}");
    let labels = r#"provider="openai",pool="prod/gpt""#;
    for line in [
        format!(
            "forbear_attempts_total{{{labels},attempt=\"2\",delay_source=\"header\",outcome=\"throttled\",limit_class=\"request_rate\"}} 1"
        ),
        format!("forbear_attempt_duration_seconds_bucket{{{labels},le=\"0.25\"}} 0"),
        format!("forbear_attempt_duration_seconds_bucket{{{labels},le=\"1\"}} 1"),
        format!("forbear_calls_total{{{labels},policy=\"chat\"}} 1"),
        format!("forbear_gate_state{{{labels},state=\"shut\"}} 1"),
    ] {
        assert!(text.lines().any(|found| found == line), "{line}\nis not in\n{text}");
    }
    assert!(!text.contains("quantile"), "no summaries:\n{text}");
    for typed in text.lines().filter_map(|line| line.strip_prefix("# TYPE ")) {
        let (name, kind) = typed.split_once(' ').expect("name and kind");
        let row = Metric::find(name).unwrap_or_else(|| panic!("{name} is not in the catalogue")).row();
        let expected = match row.kind {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
            Kind::Histogram => "histogram",
        };
        assert_eq!(kind, expected, "{name}");
        assert!(text.contains(&format!("# HELP {name} {}\n", row.help)), "{name}");
    }

    assert!(ask(addr, "GET /").starts_with("HTTP/1.1 404 Not Found\r\n"));
    let refused = ask(addr, "POST /metrics");
    assert!(refused.starts_with("HTTP/1.1 405 Method Not Allowed\r\n") && refused.contains("allow: GET, HEAD"));
    // `promtool check metrics` reads it from there.
    if let Some(place) = std::env::var_os("FORBEAR_METRICS_TO") {
        std::fs::write(place, text).expect("the file can be written");
    }

    drop(prometheus);
    assert!(TcpStream::connect(addr).is_err(), "the endpoint is closed");
}
