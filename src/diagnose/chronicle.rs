//! A sink that remembers enough of every pool to judge it when asked.
//!
//! Events are added up without a lock; every 7.5 s the event that comes next looks at the sums, which takes a lock that
//! nobody waits for. Nothing is spawned and nothing ticks: a pool that nobody calls costs nothing.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::core::moment::Moment;
use crate::diagnose::history::{History, Keeping};
use crate::diagnose::settings::Settings;
use crate::diagnose::tally::Tally;
use crate::diagnose::verdict::{Diagnosis, Verdict};
use crate::event::catalogue::Metric;
use crate::event::sink::{Listener, Sample, Sink};
use crate::event::{Event, PoolLabels};

/// The minute of quotas.
const MINUTE: Duration = Duration::from_secs(60);

/// What is remembered of every pool of an engine: some 60 kB each, whatever the time and the number of calls. Clones
/// remember the same.
#[derive(Clone, Debug, Default)]
pub(crate) struct Chronicle(Arc<Mutex<Vec<Arc<Page>>>>);

/// What is remembered of one pool.
#[derive(Debug)]
struct Page {
    labels: PoolLabels,
    tally: Tally,
    /// When it is looked at next, in nanoseconds from the clock's start.
    next_look: AtomicU64,
    history: Mutex<History>,
}

impl Chronicle {
    /// The verdict on each pool that was ever called, as of `now`, in the order in which they were made. `gauges` hands its
    /// visitor what the engine shows.
    pub(crate) fn judge(&self, now: Moment, gauges: impl Fn(&mut dyn FnMut(Sample<'_>))) -> Vec<Diagnosis> {
        let pages = locked(&self.0).clone();
        let called = pages.iter().filter(|page| page.tally.calls() > 0);
        called.map(|page| Diagnosis::new(page.labels.provider, &page.labels.pool, page.judge(now, &gauges))).collect()
    }
}

impl Page {
    /// A pool nobody has called yet.
    fn new(labels: PoolLabels) -> Self {
        let history = Mutex::new(History::new(Keeping::of_minutes(MINUTE)));
        Self { labels, tally: Tally::default(), next_look: AtomicU64::new(0), history }
    }

    /// Looks at the sums, unless somebody else does.
    #[cold]
    fn look(&self, now: Moment) {
        let Ok(mut history) = self.history.try_lock() else { return };
        history.look(now, &self.tally.counts());
        self.next_look.store(nanos(now.after(history.every())), Relaxed);
    }

    fn judge(&self, now: Moment, gauges: impl Fn(&mut dyn FnMut(Sample<'_>))) -> Verdict {
        let mut settings = Settings::default();
        gauges(&mut |sample| {
            if sample.pool.is_none_or(|pool| *pool == self.labels) && sample.metric != Metric::BuildInfo {
                let label = |key: &str| sample.labels.iter().find(|(known, _)| *known == key).map(|(_, word)| *word);
                settings.note(sample.metric, label, sample.value);
            }
        });
        let share = settings.replicas.map(|replicas| 1.0 / f64::from(replicas));
        let mut window = locked(&self.history).window(now, &self.tally.counts(), settings);
        window.share_of_fleet = share;
        Verdict::on(&window)
    }
}

impl Sink for Chronicle {
    fn listen(&self, pool: &PoolLabels) -> Box<dyn Listener> {
        let mut pages = locked(&self.0);
        // Pools that came when there were no labels left share theirs.
        let known = pages.iter().find(|page| page.labels == *pool).map(Arc::clone);
        let page = known.unwrap_or_else(|| {
            pages.push(Arc::new(Page::new(pool.clone())));
            Arc::clone(&pages[pages.len() - 1])
        });
        Box::new(Reader(page))
    }
}

/// Hears the events of one pool.
struct Reader(Arc<Page>);

impl Listener for Reader {
    fn hear(&self, at: Moment, event: &Event<'_>) {
        if nanos(at) >= self.0.next_look.load(Relaxed) {
            self.0.look(at);
        }
        self.0.tally.hear(at, event);
    }
}

/// Nanoseconds from the clock's start; five hundred years fit.
fn nanos(moment: Moment) -> u64 {
    u64::try_from(moment.elapsed_since_start().as_nanos()).unwrap_or(u64::MAX)
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Whole between any two calls, so a panic elsewhere does not matter.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(listener: &dyn Listener, seconds: u64) {
        let at = Moment::since_start(Duration::from_secs(seconds));
        listener.hear(at, &Event::CallStarted { policy: "chat", deadline: MINUTE, estimate: None });
    }

    fn judged(chronicle: &Chronicle, seconds: u64) -> Vec<Diagnosis> {
        chronicle.judge(Moment::since_start(Duration::from_secs(seconds)), |_| {})
    }

    #[test]
    fn every_pool_that_was_called_has_its_verdict_and_levels_above_have_none() {
        let chronicle = Chronicle::default();
        let pools = ["account", "account/a", "account/b"].map(|name| PoolLabels::new("openai", name));
        let listeners = pools.each_ref().map(|pool| chronicle.listen(pool));
        call(&*listeners[1], 1);
        call(&*listeners[2], 1);
        call(&*listeners[2], 2);
        let verdicts = judged(&chronicle, 3);
        let calls: Vec<_> = verdicts.iter().map(|found| (found.pool.as_str(), found.verdict.evidence.calls)).collect();
        assert_eq!(calls, [("account/a", 1.0), ("account/b", 2.0)]);
    }

    #[test]
    fn pools_without_labels_of_their_own_are_judged_together() {
        let chronicle = Chronicle::default();
        let other = PoolLabels::new("openai", "_OTHER");
        let listeners = [chronicle.listen(&other), chronicle.listen(&other)];
        listeners.iter().for_each(|listener| call(&**listener, 1));
        assert_eq!(judged(&chronicle, 2)[0].verdict.evidence.calls, 2.0);
        assert_eq!(judged(&chronicle, 2).len(), 1);
    }

    #[test]
    fn an_hour_is_remembered_and_no_more() {
        let chronicle = Chronicle::default();
        let listener = chronicle.listen(&PoolLabels::new("openai", "chat"));
        (0..7_200).step_by(10).for_each(|second| call(&*listener, second));
        let hour = judged(&chronicle, 7_200)[0].verdict.evidence.calls;
        assert!((360.0..=392.0).contains(&hour), "{hour}: an hour, and up to a twelfth of it more");
        let history = locked(&locked(&chronicle.0)[0].history).size();
        assert!(history < 700, "{history} looks");
    }
}
