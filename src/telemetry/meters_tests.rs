//! The meters read back through a recorder.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use metrics_util::debugging::{DebugValue, DebuggingRecorder, Snapshotter};

use super::*;
use crate::core::decide::{AttemptOutcome, CallOutcome, DelaySource};
use crate::core::estimate::Estimate;
use crate::core::signal::LimitClass;

/// What a recorder holds, as `name{label=value,…}` and value.
fn read(snapshotter: &Snapshotter) -> BTreeMap<String, String> {
    let snapshot = snapshotter.snapshot().into_vec().into_iter();
    let line = |(key, _, _, value): (metrics_util::CompositeKey, _, _, DebugValue)| {
        let key = key.key();
        let labels: Vec<_> = key.labels().map(|label| format!("{}={}", label.key(), label.value())).collect();
        let value = match value {
            DebugValue::Counter(n) => n.to_string(),
            DebugValue::Gauge(value) => format!("{}", value.into_inner()),
            DebugValue::Histogram(values) => format!("{:?}", values.iter().map(|v| v.into_inner()).collect::<Vec<_>>()),
        };
        (format!("{}{{{}}}", key.name(), labels.join(",")), value)
    };
    snapshot.map(line).collect()
}

fn call(policy: &str) -> Event<'_> {
    let estimate = Some(Estimate::input(1_200).output(400));
    Event::CallStarted { policy, deadline: Duration::from_secs(15), estimate }
}

fn attempt(number: u32) -> Event<'static> {
    Event::AttemptEnded {
        number,
        delay_source: DelaySource::Header,
        outcome: AttemptOutcome::Throttled,
        class: LimitClass::RequestRate,
        token_kind: None,
        status: Some(429),
        duration: Duration::from_millis(250),
    }
}

fn pool() -> PoolLabels {
    PoolLabels::new("openai", "prod/gpt")
}

#[test]
fn events_become_series_under_their_final_names() {
    let recorder = DebuggingRecorder::new();
    let snapshotter = recorder.snapshotter();
    let listener = meters().listen(&pool());
    metrics::with_local_recorder(&recorder, || {
        for event in [call("chat"), attempt(1), attempt(1), attempt(2)] {
            listener.hear(Moment::START, &event);
        }
        listener.hear(
            Moment::START,
            &Event::CallEnded {
                policy: "chat",
                outcome: CallOutcome::DeadlineExceeded,
                class: LimitClass::RequestRate,
                delay_source: DelaySource::Header,
                early: true,
                attempts: 3,
                duration: Duration::from_secs(11),
            },
        );
    });
    let lines: Vec<_> = read(&snapshotter).into_iter().map(|(key, value)| format!("{key} {value}")).collect();
    let expected = "
forbear_attempt_duration_seconds{POOL} [0.25, 0.25, 0.25]
forbear_attempts_total{POOL,attempt=1,delay_source=header,outcome=throttled,limit_class=request_rate} 2
forbear_attempts_total{POOL,attempt=2,delay_source=header,outcome=throttled,limit_class=request_rate} 1
forbear_call_deadline_seconds{POOL,policy=chat} [15.0]
forbear_call_duration_seconds{POOL,outcome=deadline_exceeded} [11.0]
forbear_calls_total{POOL,policy=chat} 1
forbear_clamped_delays_total{POOL} 0
forbear_giveups_total{POOL,policy=chat,outcome=deadline_exceeded,limit_class=request_rate,delay_source=header,early=yes} 1
forbear_offered_tokens_total{POOL,policy=chat,token_kind=input} 1200
forbear_offered_tokens_total{POOL,policy=chat,token_kind=output} 400
forbear_stacked_retries_total{POOL,detector=incoming_header} 0
forbear_stacked_retries_total{POOL,detector=nested} 0
forbear_stacked_retries_total{POOL,detector=wire} 0
forbear_unreadable_signals_total{POOL,part=body} 0
forbear_unreadable_signals_total{POOL,part=header} 0";
    let expected = expected.replace("POOL", "provider=openai,pool=prod/gpt");
    assert_eq!(lines, expected.trim().lines().collect::<Vec<_>>());
}

#[test]
fn a_recorder_installed_after_the_first_event_hears_the_next_one() {
    let recorder = DebuggingRecorder::new();
    let snapshotter = recorder.snapshotter();
    let listener = meters().listen(&pool());
    listener.hear(Moment::START, &attempt(1));
    metrics::with_local_recorder(&recorder, || listener.hear(Moment::START, &attempt(1)));
    let series = "forbear_attempts_total{provider=openai,pool=prod/gpt,\
                  attempt=1,delay_source=header,outcome=throttled,limit_class=request_rate}";
    assert_eq!(read(&snapshotter)[series], "1");
}

/// Counts how often it is asked for a handle.
struct Asked(AtomicUsize);

impl Recorder for Asked {
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: metrics::SharedString) {}
    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: metrics::SharedString) {}
    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: metrics::SharedString) {}
    fn register_counter(&self, _: &Key, _: &Metadata<'_>) -> Counter {
        self.0.fetch_add(1, Relaxed);
        Counter::noop()
    }
    fn register_gauge(&self, _: &Key, _: &Metadata<'_>) -> metrics::Gauge {
        self.0.fetch_add(1, Relaxed);
        metrics::Gauge::noop()
    }
    fn register_histogram(&self, _: &Key, _: &Metadata<'_>) -> Histogram {
        self.0.fetch_add(1, Relaxed);
        Histogram::noop()
    }
}

#[test]
fn a_series_is_looked_up_once() {
    let recorder = Asked(AtomicUsize::new(0));
    let listener = meters().listen(&pool());
    metrics::with_local_recorder(&recorder, || {
        listener.hear(Moment::START, &attempt(1));
        let asked = recorder.0.load(Relaxed);
        for _ in 0..100 {
            listener.hear(Moment::START, &attempt(1));
        }
        assert_eq!(recorder.0.load(Relaxed), asked);
    });
}

#[test]
fn every_metric_is_described_with_its_unit_and_help() {
    let recorder = DebuggingRecorder::new();
    let snapshotter = recorder.snapshotter();
    let listener = meters().listen(&pool());
    metrics::with_local_recorder(&recorder, || listener.hear(Moment::START, &attempt(1)));
    for (key, unit, help, _) in snapshotter.snapshot().into_vec() {
        let row = Metric::find(key.key().name()).expect("a name of the catalogue").row();
        assert_eq!(help.as_deref(), Some(row.help), "{}", row.prometheus);
        assert_eq!(unit == Some(Unit::Seconds), row.unit == "s", "{}", row.prometheus);
    }
}

#[test]
fn hostile_policies_cannot_make_more_series_than_there_are_places() {
    let recorder = DebuggingRecorder::new();
    let snapshotter = recorder.snapshotter();
    let listener = meters().listen(&pool());
    metrics::with_local_recorder(&recorder, || {
        for n in 0..100_000 {
            listener.hear(Moment::START, &call(&format!("policy-{n}")));
        }
    });
    let series = read(&snapshotter);
    assert_eq!(series.keys().filter(|key| key.starts_with("forbear_calls_total")).count(), Policies::CAPACITY + 1);
    assert_eq!(series["forbear_calls_total{provider=openai,pool=prod/gpt,policy=_OTHER}"], "99984");
    assert_eq!(series["forbear_label_overflows_total{provider=openai,pool=prod/gpt,label=policy}"], "99984");
}

struct Shut(PoolLabels);

impl GaugeSource for Shut {
    fn sample(&self, visit: &mut dyn FnMut(Sample<'_>)) {
        visit(Sample::new(Metric::GateState, Some(&self.0), &[("state", "shut")], 1.0));
    }
}

#[test]
fn gauges_are_set_when_sampled_and_a_dropped_engine_is_forgotten() {
    let recorder = DebuggingRecorder::new();
    let snapshotter = recorder.snapshotter();
    let meters = meters();
    let source: Arc<dyn GaugeSource> = Arc::new(Shut(pool()));
    meters.watch(Arc::downgrade(&source));
    metrics::with_local_recorder(&recorder, || meters.sample());
    let series = read(&snapshotter);
    assert_eq!(series["forbear_gate_state{provider=openai,pool=prod/gpt,state=shut}"], "1");
    assert_eq!(series[&format!("forbear_build_info{{version={VERSION},schema={SCHEMA}}}")], "1");
    drop(source);
    metrics::with_local_recorder(&recorder, || meters.sample());
    assert_eq!(meters.0.sources.lock().expect("nobody panicked").len(), 0);
}

#[test]
fn a_missing_recorder_is_warned_about_once() {
    let warned = Arc::new(AtomicUsize::new(0));
    let subscriber = tracing_subscriber::registry::Registry::default();
    let subscriber = tracing_subscriber::layer::SubscriberExt::with(subscriber, CountWarnings(Arc::clone(&warned)));
    tracing::subscriber::with_default(subscriber, || {
        let meters = meters();
        for pool in ["a", "b"] {
            let listener = meters.listen(&PoolLabels::new("openai", pool));
            listener.hear(Moment::START, &attempt(1));
            listener.hear(Moment::START, &attempt(1));
        }
    });
    assert_eq!(warned.load(Relaxed), 1);
}

struct CountWarnings(Arc<AtomicUsize>);

impl<S: tracing::Subscriber> tracing_subscriber::Layer<S> for CountWarnings {
    fn on_event(&self, event: &tracing::Event<'_>, _: tracing_subscriber::layer::Context<'_, S>) {
        if event.metadata().name() == "forbear.no_recorder" && *event.metadata().level() == tracing::Level::WARN {
            self.0.fetch_add(1, Relaxed);
        }
    }
}
