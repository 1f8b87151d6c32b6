//! What no scenario brings about: a shared store, and what a service does beside its calls. The events are told to the same
//! sink that a simulated engine tells its own.

use std::time::Duration;

use forbear::core::decide::{AttemptOutcome, CallOutcome, DelaySource};
use forbear::core::moment::Moment;
use forbear::core::signal::{LimitClass, Part, TokenKind};
use forbear::event::backfill::Backfill;
use forbear::event::catalogue::Metric;
use forbear::event::sink::{Listener, Sample, Sink};
use forbear::event::totals::Totals;
use forbear::event::words::{BoundedLabel, DegradedReason, StoreOperation, StoreOutcome};
use forbear::event::{Event, GateResult, PoolLabels, StackedBy};

use crate::states::{FROM, TO};

const SCRAPED_EVERY: usize = 15;
const REPLICAS: [&str; 3] = ["replica-1", "replica-2", "replica-3"];

/// The store of three replicas whose gates share: it goes down an hour before the end, and stays down.
pub(crate) fn store(provider: &'static str, pool: &str) -> String {
    let pool = PoolLabels::new(provider, pool);
    let down_from = TO - 3_600;
    let totals = REPLICAS.map(|_| Totals::new());
    let mut backfill = Backfill::new("forbear");
    for at in (FROM..=TO).step_by(SCRAPED_EVERY) {
        let down = at >= down_from;
        for (place, (replica, totals)) in REPLICAS.iter().zip(&totals).enumerate() {
            let process = totals.listen_to_process();
            let hear = |event: Event<'_>| process.hear(Moment::START, &event);
            let asked = |operation, outcome, millis| {
                hear(Event::StoreAsked { operation, outcome, took: Duration::from_millis(millis) });
            };
            if down {
                if at - down_from < SCRAPED_EVERY as u64 {
                    hear(Event::StoreDegraded { reason: DegradedReason::Down });
                }
                asked(StoreOperation::Reconcile, StoreOutcome::Down, 250);
            } else {
                for number in 0..8 {
                    asked(StoreOperation::Permit, StoreOutcome::Ok, 1 + (at / 60 + number) % 4);
                }
                asked(StoreOperation::Settle, StoreOutcome::Ok, 1);
                asked(StoreOperation::Reconcile, StoreOutcome::Ok, 2);
                // Each hears of the others now and then.
                if (at / 15 + place as u64).is_multiple_of(7) {
                    hear(Event::NewsCame { age: Duration::from_millis(3), clamped: false });
                }
                // A moment's want of memory, half way.
                if at == FROM + 6_000 {
                    hear(Event::ShutReasserted);
                    hear(Event::NewsCame { age: Duration::from_secs(2), clamped: true });
                }
            }
            let up = f64::from(u8::from(!down));
            backfill.scrape(at as f64, replica, totals, &mut |visit| {
                visit(Sample::new(Metric::StoreUp, None, &[], up));
                visit(Sample::new(Metric::Replicas, None, &[], REPLICAS.len() as f64));
                visit(Sample::new(Metric::GateDegraded, Some(&pool), &[], 1.0 - up));
            });
        }
    }
    written(&backfill)
}

/// A service with a tap on the wire and a second retry layer, that drains, overflows and is deployed anew half way.
pub(crate) fn service(job: &str) -> String {
    let pool = PoolLabels::new("azure-openai", "by-hand");
    let totals = [Totals::new(), Totals::new()];
    let mut backfill = Backfill::new(job);
    for at in (FROM..=TO).step_by(SCRAPED_EVERY) {
        let deployed = usize::from(at >= FROM + 6_300);
        let totals = &totals[deployed];
        let process = totals.listen_to_process();
        something_of_everything(&*totals.listen(&pool), &*process);
        let version = [("version", ["0.1.0", "0.1.1"][deployed]), ("schema", "1")];
        let base = [("policy", "chat"), ("parameter", "base_seconds")];
        let quota = [("dimension", "requests"), ("window", "day"), ("origin", "header")];
        let passed = (at - FROM) as f64;
        backfill.scrape(at as f64, ["pod-a", "pod-b"][deployed], totals, &mut |visit| {
            visit(Sample::new(Metric::BuildInfo, None, &version, 1.0));
            visit(Sample::new(Metric::PolicyParameter, Some(&pool), &base, [1.0, 6.0][deployed]));
            visit(Sample::new(Metric::QuotaLimit, Some(&pool), &quota, 50_000.0));
            visit(Sample::new(Metric::QuotaRemaining, Some(&pool), &quota, 50_000.0 - passed * 3.0));
            visit(Sample::new(Metric::QuotaObserved, Some(&pool), &quota[..2], at as f64 - 5.0));
            visit(Sample::new(Metric::QuotaReset, Some(&pool), &quota[..2], (FROM + 86_400) as f64));
        });
    }
    written(&backfill)
}

/// One of each event that no scenario has.
fn something_of_everything(pool: &dyn Listener, process: &dyn Listener) {
    let hear = |event: Event<'_>| pool.hear(Moment::START, &event);
    let second = Duration::from_secs(1);
    hear(Event::CallStarted { policy: "chat", deadline: 30 * second, estimate: None });
    hear(Event::RequestSent);
    hear(Event::RequestSent);
    hear(Event::RetriesStacked { detector: StackedBy::Wire });
    hear(Event::SignalUnreadable { part: Part::Header });
    hear(Event::CallInfeasible);
    hear(Event::HeadersHidden);
    hear(Event::DelayScheduled { source: DelaySource::Body, delay: second, stated: Some(9 * second), clamped: true });
    hear(Event::GateWaited { waited: second, result: GateResult::QueueFull, class: LimitClass::RequestRate });
    hear(Event::AttemptEnded {
        number: 1,
        delay_source: DelaySource::None,
        outcome: AttemptOutcome::Ok,
        class: LimitClass::None,
        token_kind: None,
        status: Some(200),
        duration: second,
    });
    for kind in [TokenKind::Input, TokenKind::Output] {
        hear(Event::TokensUsed { kind, tokens: 500 });
    }
    hear(Event::CallEnded {
        policy: "chat",
        outcome: CallOutcome::DeadlineExceeded,
        class: LimitClass::RequestRate,
        delay_source: DelaySource::Header,
        early: true,
        attempts: 1,
        duration: 2 * second,
    });
    hear(Event::LabelOverflowed { label: BoundedLabel::Pool });
    process.hear(
        Moment::START,
        &Event::StoreAsked { operation: StoreOperation::Permit, outcome: StoreOutcome::Slow, took: second / 4 },
    );
}

fn written(backfill: &Backfill) -> String {
    let mut text = Vec::new();
    backfill.write(&mut text).expect("memory takes it");
    String::from_utf8(text).expect("text")
}
