//! What the added-up events look like as text.

use std::time::Duration;

use super::*;
use crate::core::decide::{AttemptOutcome, DelaySource};
use crate::core::signal::LimitClass;

fn attempt(millis: u64) -> Event<'static> {
    Event::AttemptEnded {
        number: 1,
        delay_source: DelaySource::None,
        outcome: AttemptOutcome::Ok,
        class: LimitClass::None,
        token_kind: None,
        status: Some(200),
        duration: Duration::from_millis(millis),
    }
}

struct OneGauge(PoolLabels);

impl GaugeSource for OneGauge {
    fn sample(&self, visit: &mut dyn FnMut(crate::event::sink::Sample<'_>)) {
        let labels = [("mode", "local")];
        visit(crate::event::sink::Sample::new(Metric::GateInfo, Some(&self.0), &labels, 1.0));
    }
}

#[test]
fn a_histogram_is_cumulative_and_a_rare_counter_is_there_from_the_start() {
    let totals = Totals::new();
    let listener = totals.listen(&PoolLabels::new("generic", "a"));
    for millis in [250, 251, 20_000, 1_000_000] {
        listener.hear(Moment::START, &attempt(millis));
    }
    let text = totals.to_prometheus();
    let lines: Vec<_> = text.lines().filter(|line| line.starts_with("forbear_attempt_duration")).collect();
    let pool = r#"provider="generic",pool="a""#;
    assert_eq!(
        lines,
        [
            format!("forbear_attempt_duration_seconds_bucket{{{pool},le=\"0.25\"}} 1"),
            format!("forbear_attempt_duration_seconds_bucket{{{pool},le=\"1\"}} 2"),
            format!("forbear_attempt_duration_seconds_bucket{{{pool},le=\"5\"}} 2"),
            format!("forbear_attempt_duration_seconds_bucket{{{pool},le=\"30\"}} 3"),
            format!("forbear_attempt_duration_seconds_bucket{{{pool},le=\"120\"}} 3"),
            format!("forbear_attempt_duration_seconds_bucket{{{pool},le=\"900\"}} 3"),
            format!("forbear_attempt_duration_seconds_bucket{{{pool},le=\"+Inf\"}} 4"),
            format!("forbear_attempt_duration_seconds_sum{{{pool}}} 1020.501"),
            format!("forbear_attempt_duration_seconds_count{{{pool}}} 4"),
        ]
    );
    assert!(text.contains(&format!("forbear_clamped_delays_total{{{pool}}} 0\n")), "{text}");
    assert_eq!(totals.count(Metric::Attempts, "a", &[("attempt", "1"), ("outcome", "ok")]), 4);
    assert_eq!(totals.count(Metric::Attempts, "b", &[]), 0);
}

#[test]
fn openmetrics_names_a_counters_family_without_its_suffix_and_takes_seconds() {
    let totals = Totals::new();
    totals.listen(&PoolLabels::new("generic", "a")).hear(Moment::START, &Event::RequestSent);
    let mut text = String::new();
    totals.write(&mut text, Format::OpenMetrics, Some(1_700_000_000.5)).expect("a string takes everything");
    assert!(text.contains("# TYPE forbear_wire_requests counter\n"), "{text}");
    let line = "forbear_wire_requests_total{provider=\"generic\",pool=\"a\"} 1 1700000000.5\n";
    assert!(text.contains(line), "{text}");
}

#[test]
fn gauges_are_asked_for_their_value_when_everything_is_written() {
    let totals = Totals::new();
    let source: Arc<dyn GaugeSource> = Arc::new(OneGauge(PoolLabels::new("generic", "a")));
    totals.watch(Arc::downgrade(&source));
    let line = "forbear_gate_info{provider=\"generic\",pool=\"a\",mode=\"local\"} 1\n";
    assert!(totals.to_prometheus().contains(line), "{}", totals.to_prometheus());
    drop(source);
    assert_eq!(totals.to_prometheus(), "");
}
