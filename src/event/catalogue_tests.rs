//! The table against the rules of both roads.

use std::collections::HashSet;

use super::*;
use crate::event::metric::Kind;

/// The Prometheus name of an OpenTelemetry instrument, by the specification's rules
/// (OpenTelemetry specification, "Prometheus and OpenMetrics Compatibility", metric metadata).
fn translate(row: &Row) -> String {
    let mut name: String =
        row.otel.chars().map(|c| if c.is_ascii_alphanumeric() || c == ':' { c } else { '_' }).collect();
    while name.contains("__") {
        name = name.replace("__", "_");
    }
    let unit = match row.unit {
        "" => "",
        "s" => "seconds",
        braced if braced.starts_with('{') && braced.ends_with('}') => "",
        "1" if row.kind == Kind::Gauge => "ratio",
        other => panic!("{}: no rule for the unit {other}", row.otel),
    };
    if !unit.is_empty() && !name.ends_with(&format!("_{unit}")) {
        name = format!("{name}_{unit}");
    }
    if row.kind == Kind::Counter && !name.ends_with("_total") {
        name.push_str("_total");
    }
    name
}

fn rows() -> impl Iterator<Item = &'static Row> {
    Metric::ALL.iter().map(|metric| metric.row())
}

#[test]
fn every_otel_name_translates_into_its_prometheus_name() {
    for row in rows() {
        assert_eq!(translate(row), row.prometheus);
    }
}

#[test]
fn names_are_unique_and_follow_the_naming_rules() {
    let mut seen = HashSet::new();
    for row in rows() {
        assert!(seen.insert(row.prometheus) && seen.insert(row.otel), "{} twice", row.prometheus);
        assert!(row.prometheus.starts_with("forbear_") && row.otel.starts_with("forbear."), "{}", row.prometheus);
        assert!(row.prometheus.chars().all(|c| c.is_ascii_lowercase() || c == '_'), "{}", row.prometheus);
        assert_eq!(row.prometheus.ends_with("_total"), row.kind == Kind::Counter, "{}", row.prometheus);
        assert_eq!(row.prometheus.ends_with("_seconds"), row.unit == "s", "{}", row.prometheus);
        assert!(row.help.ends_with('.') && row.help.len() <= 120, "{}: {}", row.prometheus, row.help);
    }
}

#[test]
fn a_histogram_has_rising_buckets_in_seconds_and_nothing_else_has_any() {
    for row in rows() {
        assert_eq!(row.buckets.is_empty(), row.kind != Kind::Histogram, "{}", row.prometheus);
        assert!(row.buckets.is_sorted_by(|a, b| a < b), "{}", row.prometheus);
        assert!(row.buckets.first().is_none_or(|first| *first > 0.0), "{}", row.prometheus);
        if row.kind == Kind::Histogram {
            assert_eq!(row.unit, "s", "{}", row.prometheus);
        }
    }
    for latency in [Metric::CallDuration, Metric::AttemptDuration, Metric::Delay, Metric::GateWait] {
        assert_eq!(latency.row().buckets.last(), Some(&900.0));
    }
}

#[test]
fn label_words_are_closed_short_and_snake_case() {
    for label in rows().flat_map(|row| row.labels) {
        assert!(label.key.chars().all(|c| c.is_ascii_lowercase() || c == '_'), "{}", label.key);
        match label.words {
            Words::Closed(words) => {
                assert_eq!(words.iter().collect::<HashSet<_>>().len(), words.len(), "{}", label.key);
                let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
                assert!(
                    words.iter().all(|word| word.chars().all(plain) && (1..=24).contains(&word.len())),
                    "{words:?}"
                );
            }
            Words::Policies => assert_eq!(label.key, "policy"),
            Words::OfBuild => assert!(["version", "schema"].contains(&label.key)),
        }
    }
}

#[test]
fn no_label_key_stands_twice_in_a_row_and_none_is_in_the_name() {
    for row in rows() {
        let mut keys: HashSet<_> = row.labels.iter().map(|label| label.key).collect();
        assert_eq!(keys.len(), row.labels.len(), "{}", row.prometheus);
        assert!(keys.insert("provider") && keys.insert("pool") && !keys.contains("le"), "{}", row.prometheus);
    }
}

#[test]
fn what_exists_from_zero_has_few_series() {
    for row in rows().filter(|row| row.from_zero) {
        assert!(row.kind == Kind::Counter && row.per_pool && row.series_per_pool() <= 3, "{}", row.prometheus);
    }
}

#[test]
fn a_name_finds_its_metric() {
    for metric in Metric::ALL {
        assert_eq!(Metric::find(metric.row().prometheus), Some(*metric));
    }
    assert_eq!(Metric::find("forbear_nothing"), None);
}
