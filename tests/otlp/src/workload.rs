//! Made-up events for every metric that events move, and made-up values for the gauges.

use std::sync::Arc;
use std::time::Duration;

use crate::Collector;
use forbear::core::moment::Moment;
use forbear::core::signal::Part;
use forbear::event::catalogue::Metric;
use forbear::event::metric::{Kind, Words};
use forbear::event::sink::{GaugeSource, Sample, Sink};
use forbear::event::totals::Totals;
use forbear::event::words::{BoundedLabel, DegradedReason, StoreOperation, StoreOutcome};
use forbear::event::{Event, GateResult, PoolLabels, StackedBy};
use forbear::{AttemptOutcome, CallOutcome, DelaySource, Estimate, LimitClass, TokenKind};

/// Every gauge of the catalogue once, with a value of its own.
struct Gauges(PoolLabels);

impl GaugeSource for Gauges {
    fn sample(&self, visit: &mut dyn FnMut(Sample<'_>)) {
        for (value, metric) in Metric::ALL.iter().enumerate().filter(|(_, metric)| metric.row().kind == Kind::Gauge) {
            let row = metric.row();
            let word = |words| match words {
                Words::Closed(words) => words[words.len() - 1],
                Words::Policies | Words::OfBuild => "chat",
            };
            let labels: Vec<_> = row.labels.iter().map(|label| (label.key, word(label.words))).collect();
            visit(Sample::new(*metric, row.per_pool.then_some(&self.0), &labels, value as f64 + 0.5));
        }
    }
}

/// Tells `sink` of a day in the life of two pools and a shared store, so that every metric of the catalogue has series, and
/// adds the same up. The gauges live as long as what is returned.
pub fn workload(sink: impl Sink) -> (Totals, Arc<dyn GaugeSource>) {
    let totals = Totals::new();
    let both = (totals.clone(), sink);
    let gauges: Arc<dyn GaugeSource> = Arc::new(Gauges(PoolLabels::new("openai", "prod/gpt")));
    both.watch(Arc::downgrade(&gauges));
    for pool in ["prod/gpt", "prod/\"odd\""] {
        let listener = both.listen(&PoolLabels::new("openai", pool));
        for number in 1..=40 {
            for event in events(number) {
                listener.hear(Moment::START, &event);
            }
        }
    }
    let store = both.listen_to_process();
    (1..=40).flat_map(store_events).for_each(|event| store.hear(Moment::START, &event));
    (totals, gauges)
}

fn events(number: u32) -> Vec<Event<'static>> {
    let pick = |count: usize| number as usize % count;
    let class = LimitClass::ALL[pick(LimitClass::ALL.len())];
    let source = DelaySource::ALL[pick(DelaySource::ALL.len())];
    let outcome = CallOutcome::ALL[pick(CallOutcome::ALL.len())];
    // Quarters are added up without error in any order.
    let duration = Duration::from_millis(250) * number * number;
    vec![
        Event::CallStarted {
            policy: "chat",
            deadline: duration,
            estimate: Some(Estimate::input(number).output(2 * number)),
        },
        Event::CallStarted { policy: "batch", deadline: duration, estimate: Some(Estimate::total(number)) },
        Event::GateWaited { waited: duration, result: GateResult::ALL[pick(3)], class },
        Event::AttemptEnded {
            number,
            delay_source: source,
            outcome: AttemptOutcome::ALL[pick(AttemptOutcome::ALL.len())],
            class,
            token_kind: None,
            status: Some(429),
            duration,
        },
        Event::DelayScheduled { source, delay: duration, stated: None, clamped: pick(2) == 0 },
        Event::CallEnded {
            policy: "chat",
            outcome,
            class,
            delay_source: source,
            early: pick(2) == 0,
            attempts: number,
            duration,
        },
        Event::TokensUsed { kind: TokenKind::ALL[pick(3)], tokens: 100 },
        Event::GateShut { class, told: pick(2) == 0, shut_for: duration },
        Event::SignalUnreadable { part: Part::ALL[pick(2)] },
        Event::RetriesStacked { detector: StackedBy::ALL[pick(3)] },
        Event::HeadersHidden,
        Event::RequestSent,
        Event::CallInfeasible,
        Event::LabelOverflowed { label: BoundedLabel::Pool },
    ]
}

fn store_events(number: u32) -> Vec<Event<'static>> {
    let pick = |count: usize| number as usize % count;
    // Parts of a second that are added up without error in any order.
    let took = Duration::from_micros(31_250) * number;
    vec![
        Event::StoreAsked {
            operation: StoreOperation::ALL[pick(StoreOperation::ALL.len())],
            outcome: StoreOutcome::ALL[pick(StoreOutcome::ALL.len())],
            took,
        },
        Event::StoreDegraded { reason: DegradedReason::ALL[pick(DegradedReason::ALL.len())] },
        Event::StoreRecovered,
        Event::NewsCame { age: Duration::from_millis(250) * number, clamped: pick(2) == 0 },
        Event::ShutReasserted,
    ]
}

/// Fails unless what was pushed, its names translated, is what a scrape of `totals` would show.
///
/// # Panics
/// If it is not, or if there is too little of it to mean anything.
pub fn assert_pushed_as_scraped(collector: &Collector, totals: &Totals) {
    let (pushed, scraped) = (collector.lines(translate), lines_of(&totals.to_prometheus()));
    assert_same(&pushed, &scraped);
}

/// The Prometheus name of an instrument, as the catalogue has it.
#[must_use]
pub fn translate(otel: &str) -> Option<&'static str> {
    let mut rows = Metric::ALL.iter().map(|metric| metric.row());
    rows.find(|row| row.otel == otel).map(|row| row.prometheus)
}

/// Fails unless both have the same lines.
///
/// # Panics
/// If they have not, or if they are too few to mean anything.
pub fn assert_same(found: &[String], expected: &[String]) {
    let missing: Vec<_> = expected.iter().filter(|line| !found.contains(line)).collect();
    let more: Vec<_> = found.iter().filter(|line| !expected.contains(line)).collect();
    assert!(missing.is_empty() && more.is_empty(), "missing {missing:#?}\nmore {more:#?}");
    assert!(found.len() == expected.len() && found.len() > 400, "{} and {}", found.len(), expected.len());
}

/// Prometheus text as sorted lines with sorted labels, without comments.
///
/// # Panics
/// If it is no Prometheus text.
#[must_use]
pub fn lines_of(text: &str) -> Vec<String> {
    let sorted = |line: &str| {
        let (series, value) = line.rsplit_once(' ').expect("a value");
        let (name, labels) = series.split_once('{').unwrap_or((series, "}"));
        let labels = labels.strip_suffix('}').expect("an end").replace("\\\"", "\"");
        let mut labels: Vec<_> = labels.split_inclusive("\",").map(|label| label.trim_end_matches(',')).collect();
        labels.sort_unstable();
        format!("{name}{{{}}} {value}", labels.join(","))
    };
    let mut lines: Vec<_> =
        text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).map(sorted).collect();
    lines.sort();
    lines
}
