//! The boards over the other road: a day on which everything happens, pushed as OTLP into a real VictoriaMetrics, which keeps
//! neither `job` nor `instance`; the rules evaluated there, which say of every pool what they say in a Prometheus; every query
//! of every panel asked.
#![allow(dead_code, reason = "of the days and the rules a part is needed here")]

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;

use forbear::event::catalogue::Metric;
use forbear::event::metric::{Kind, Row};
use forbear_otlp_tests::server;
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue, any_value};
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::{
    self as otlp, AggregationTemporality, Gauge, Histogram, HistogramDataPoint, NumberDataPoint, ResourceMetrics,
    ScopeMetrics, Sum, number_data_point,
};
use opentelemetry_proto::tonic::resource::v1::Resource;
use prost::Message;
use server::{Server, empty_folder};

#[path = "../../boards/asked.rs"]
mod asked;
#[path = "../../boards/by_hand.rs"]
mod by_hand;
#[path = "../../support/open_metrics.rs"]
mod open_metrics;
#[path = "../../boards/recorded.rs"]
mod recorded;
#[path = "../../support/rule_file.rs"]
mod rule_file;
#[path = "../../boards/states.rs"]
mod states;

use states::{EVERYTHING, FROM, TO};

type Labels = BTreeMap<String, String>;

/// One value of a series: a number, or a histogram's buckets with their bounds, sum and count.
#[derive(Default)]
struct Point {
    value: f64,
    at_or_under: Vec<(f64, u64)>,
    sum: f64,
    count: u64,
}

/// By process and labels, the values by their second since 1970.
type Points = BTreeMap<(Labels, Labels), BTreeMap<u64, Point>>;

/// What a text of OpenMetrics holds, metric by metric.
fn read(text: &str) -> BTreeMap<Metric, Points> {
    let mut found: BTreeMap<Metric, Points> = BTreeMap::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let (series, rest) = line.rsplit_once("} ").expect("labels");
        let (value, at) = rest.split_once(' ').expect("a value and a time");
        let (name, labels) = series.split_once('{').expect("labels");
        let (value, at): (f64, f64) = (value.parse().expect("a number"), at.parse().expect("a time"));
        let mut labels: Labels = labels
            .split("\",")
            .map(|label| label.split_once("=\"").expect("a label"))
            .map(|(key, value)| (key.to_owned(), value.trim_end_matches('"').to_owned()))
            .collect();
        let process = ["job", "instance"].map(|key| (key.to_owned(), labels.remove(key).expect("of a process")));
        let part = ["_bucket", "_sum", "_count"].into_iter().find(|part| name.ends_with(part));
        let metric = Metric::find(name).or_else(|| Metric::find(name.strip_suffix(part?)?)).expect("in the catalogue");
        let bound = labels.remove("le");
        let points = found.entry(metric).or_default().entry((process.into(), labels)).or_default();
        let point = points.entry(at as u64).or_default();
        match part.filter(|_| metric.row().kind == Kind::Histogram) {
            Some("_bucket") => {
                let bound = bound.expect("a bucket's bound").parse().unwrap_or(f64::INFINITY);
                point.at_or_under.push((bound, value as u64));
            }
            Some("_sum") => point.sum = value,
            Some(_) => point.count = value as u64,
            None => point.value = value,
        }
    }
    found
}

fn attributes(labels: &Labels) -> Vec<KeyValue> {
    let value = |word: &String| Some(AnyValue { value: Some(any_value::Value::StringValue(word.clone())) });
    labels.iter().map(|(key, word)| KeyValue { key: key.clone(), value: value(word), ..KeyValue::default() }).collect()
}

/// The values of one process and metric as OTLP.
fn pushed(row: &Row, labels: &Labels, points: &BTreeMap<u64, Point>) -> Data {
    let nanos = |at: u64| at * 1_000_000_000;
    let number = |(at, point): (&u64, &Point)| NumberDataPoint {
        attributes: attributes(labels),
        start_time_unix_nano: nanos(FROM),
        time_unix_nano: nanos(*at),
        value: Some(number_data_point::Value::AsDouble(point.value)),
        ..NumberDataPoint::default()
    };
    let spread = |(at, point): (&u64, &Point)| {
        let mut buckets = point.at_or_under.clone();
        buckets.sort_by(|a, b| a.0.total_cmp(&b.0));
        let before = std::iter::once(0).chain(buckets.iter().map(|(_, count)| *count));
        HistogramDataPoint {
            attributes: attributes(labels),
            start_time_unix_nano: nanos(FROM),
            time_unix_nano: nanos(*at),
            count: point.count,
            sum: Some(point.sum),
            bucket_counts: buckets.iter().zip(before).map(|((_, count), before)| count - before).collect(),
            explicit_bounds: buckets.iter().map(|(bound, _)| *bound).filter(|bound| bound.is_finite()).collect(),
            ..HistogramDataPoint::default()
        }
    };
    let aggregation_temporality = AggregationTemporality::Cumulative.into();
    match row.kind {
        Kind::Counter => Data::Sum(Sum {
            data_points: points.iter().map(number).collect(),
            aggregation_temporality,
            is_monotonic: true,
        }),
        Kind::Gauge => Data::Gauge(Gauge { data_points: points.iter().map(number).collect() }),
        _ => Data::Histogram(Histogram { data_points: points.iter().map(spread).collect(), aggregation_temporality }),
    }
}

fn push(victoria: &Server, text: &str) {
    for (metric, series) in read(text) {
        let row = metric.row();
        let of = |((process, labels), points): (&(Labels, Labels), &BTreeMap<u64, Point>)| {
            let named = [("service.name", "job"), ("service.instance.id", "instance")];
            let resource = named.map(|(key, label)| (key.to_owned(), process[label].clone())).into();
            let metric = otlp::Metric {
                name: row.otel.to_owned(),
                unit: row.unit.to_owned(),
                data: Some(pushed(row, labels, points)),
                ..otlp::Metric::default()
            };
            ResourceMetrics {
                resource: Some(Resource { attributes: attributes(&resource), ..Resource::default() }),
                scope_metrics: vec![ScopeMetrics { metrics: vec![metric], ..ScopeMetrics::default() }],
                ..ResourceMetrics::default()
            }
        };
        let request = ExportMetricsServiceRequest { resource_metrics: series.iter().map(of).collect() };
        post(victoria, "/opentelemetry/v1/metrics", "application/x-protobuf", &request.encode_to_vec());
    }
}

fn post(server: &Server, path: &str, kind: &str, body: &[u8]) {
    let mut stream = TcpStream::connect(server.addr()).expect("the server listens");
    let length = body.len();
    write!(
        stream,
        "POST {path} HTTP/1.0\r\nHost: localhost\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\r\n"
    )
    .and_then(|()| stream.write_all(body))
    .expect("the server reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("the server answers");
    assert!(answer.split(' ').nth(1).is_some_and(|status| status.starts_with('2')), "{path}: {answer}");
}

/// Takes in what rules recorded, as a ruler would write it.
fn take_in(victoria: &Server, recorded: &open_metrics::Recorded) {
    let mut text = String::new();
    for (name, series) in recorded {
        for (labels, samples) in series {
            let labels: Vec<_> = labels.iter().map(|(key, value)| format!("{key}=\"{value}\"")).collect();
            for (at, value) in samples.iter().filter(|(_, value)| value.is_finite()) {
                writeln!(text, "{name}{{{}}} {value} {}", labels.join(","), at * 1_000.0).expect("a string");
            }
        }
    }
    post(victoria, "/api/v1/import/prometheus", "text/plain", text.as_bytes());
    victoria.get("/internal/force_flush");
}

#[test]
fn every_query_has_an_answer_over_otlp() {
    let folder = empty_folder(env!("CARGO_TARGET_TMPDIR"), "boards_over_otlp");
    let victoria = Server::victoria_metrics(&folder);
    EVERYTHING.scraped().chain([by_hand::service("checkout")]).for_each(|text| push(&victoria, &text));
    victoria.get("/internal/force_flush");
    let layers = Cell::new(0);
    let dashboards = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../dashboards");
    recorded::record_by(
        &dashboards.join("rules"),
        FROM + 1_800,
        TO,
        || &victoria,
        |found| {
            layers.set(layers.get() + 1);
            take_in(&victoria, found);
        },
    );
    assert!(layers.get() > 5, "{} layers", layers.get());
    asked::verdicts_are_right(&victoria, &EVERYTHING);
    let (mut asked, mut unanswered) = (0, Vec::new());
    for name in ["overview", "diagnosis", "gate", "replicas"] {
        let text = std::fs::read_to_string(dashboards.join(name).with_extension("json")).expect("a board");
        let (number, without) = asked::unanswered_of(&victoria, &serde_json::from_str(&text).expect("JSON"));
        asked += number;
        unanswered.extend(without.into_iter().map(|query| format!("{name}, {query}")));
    }
    assert!(asked > 100, "{asked} queries");
    assert!(unanswered.is_empty(), "no answer:\n  {}\n", unanswered.join("\n  "));
    drop(victoria);
    std::fs::remove_dir_all(&folder).expect("removed");
}
