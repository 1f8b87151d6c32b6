//! Pools read from the text of a `/metrics`, scrape after scrape.

use std::time::Duration;

use crate::core::moment::Moment;
use crate::diagnose::counts::Counts;
use crate::diagnose::history::{History, Keeping};
use crate::diagnose::settings::Settings;
use crate::diagnose::verdict::{Diagnosis, Verdict};
use crate::event::catalogue::Metric;

/// A memory of the pools of one endpoint, or of several whose texts are put together: what a scrape now and then says of
/// them, and so what is wrong with them.
///
/// ```
/// use std::time::Duration;
/// use forbear::diagnose::{Cause, Scrapes};
/// let mut scrapes = Scrapes::new(Duration::from_secs(15));
/// let text = r#"forbear_calls_total{provider="openai",pool="chat",policy="chat"} 7"#;
/// scrapes.note(Duration::ZERO, text);
/// scrapes.note(Duration::from_secs(15), text);
/// assert_eq!(scrapes.diagnose()[0].verdict.cause, Cause::NotEnoughData);
/// ```
#[derive(Debug)]
pub struct Scrapes {
    keeping: Keeping,
    pools: Vec<Scraped>,
    /// The time of the last.
    now: Moment,
}

/// What was scraped of one pool.
#[derive(Debug)]
struct Scraped {
    provider: String,
    pool: String,
    counts: Counts,
    settings: Settings,
    history: History,
}

impl Scrapes {
    /// Nothing scraped yet; scrapes come `every` so long. An hour of them counts.
    #[must_use]
    pub fn new(every: Duration) -> Self {
        Self::in_minutes_of(Duration::from_secs(60), every)
    }

    /// The same where quotas come back every `minute`, and all that is said in minutes is meant in these: for emulated
    /// providers whose time is compressed.
    #[must_use]
    pub fn in_minutes_of(minute: Duration, every: Duration) -> Self {
        let keeping = Keeping { every, ..Keeping::of_minutes(minute) };
        Self { keeping, pools: Vec::new(), now: Moment::START }
    }

    /// Notes what was scraped at `at`, counted from any moment; later than what was noted before. Lines that are no series of
    /// the catalogue are passed over.
    pub fn note(&mut self, at: Duration, text: &str) {
        self.now = Moment::since_start(at);
        for scraped in &mut self.pools {
            (scraped.counts, scraped.settings) = (Counts::default(), Settings::default());
        }
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            if let Some(series) = Series::read(line) {
                self.note_series(&series);
            }
        }
        for scraped in &mut self.pools {
            scraped.history.look(self.now, &scraped.counts);
        }
    }

    /// The verdict on each pool as of the last scrape, in the order in which they first appeared.
    #[must_use]
    pub fn diagnose(&self) -> Vec<Diagnosis> {
        let judge = |scraped: &Scraped| {
            let window = scraped.history.window(self.now, &scraped.counts, scraped.settings.clone());
            Diagnosis::new(&scraped.provider, &scraped.pool, Verdict::on(&window))
        };
        self.pools.iter().map(judge).collect()
    }

    fn note_series(&mut self, series: &Series<'_>) {
        let (Some(provider), Some(pool)) = (series.label("provider"), series.label("pool")) else {
            return self.pools.iter_mut().for_each(|scraped| series.note_gauge(&mut scraped.settings));
        };
        let known = self.pools.iter().position(|scraped| scraped.provider == provider && scraped.pool == pool);
        let place = known.unwrap_or_else(|| {
            self.pools.push(Scraped {
                provider: provider.to_owned(),
                pool: pool.to_owned(),
                counts: Counts::default(),
                settings: Settings::default(),
                history: History::new(self.keeping),
            });
            self.pools.len() - 1
        });
        let Scraped { counts, settings, .. } = &mut self.pools[place];
        counts.note(series.name, |key| series.label(key), series.value);
        series.note_gauge(settings);
    }
}

/// One line: a name, its labels, a value.
struct Series<'t> {
    name: &'t str,
    labels: &'t str,
    value: f64,
}

impl<'t> Series<'t> {
    /// `name{key="value",…} 1.5`; label values are our own words and hold nothing that is escaped.
    fn read(line: &'t str) -> Option<Self> {
        let (series, value) = line.rsplit_once(' ')?;
        let (name, labels) = match series.split_once('{') {
            Some((name, labels)) => (name, labels.strip_suffix('}')?),
            None => (series, ""),
        };
        Some(Self { name, labels, value: value.parse().ok()? })
    }

    /// The value of a label.
    fn label(&self, key: &str) -> Option<&'t str> {
        let pairs = self.labels.split("\",").filter_map(|pair| pair.split_once("=\""));
        pairs.into_iter().find(|(known, _)| *known == key).map(|(_, value)| value.trim_end_matches('"'))
    }

    fn note_gauge(&self, settings: &mut Settings) {
        if let Some(metric) = Metric::find(self.name) {
            settings.note(metric, |key| self.label(key), self.value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(calls: u32) -> String {
        format!(
            r#"# HELP forbear_calls_total Calls offered.
forbear_calls_total{{provider="openai",pool="chat",policy="chat"}} {calls}
forbear_call_deadline_seconds_sum{{provider="openai",pool="chat",policy="chat"}} {}
forbear_call_duration_seconds_count{{provider="openai",pool="chat",outcome="ok"}} {calls}
forbear_attempts_total{{provider="openai",pool="chat",attempt="1",delay_source="none",outcome="ok",limit_class="none"}} {calls}
forbear_quota_limit{{provider="openai",pool="chat",dimension="requests",window="minute",origin="config"}} 60
forbear_attempts_total{{provider="openai",pool="other",attempt="1"}} nonsense
forbear_future_total{{provider="openai",pool="chat"}} 3
"#,
            calls * 30
        )
    }

    #[test]
    fn what_was_scraped_twice_and_more_is_a_window() {
        let mut scrapes = Scrapes::new(Duration::from_secs(15));
        for quarter in 0..=80 {
            scrapes.note(Duration::from_secs(15) * quarter, &text(quarter * 10));
        }
        let found = scrapes.diagnose();
        assert_eq!(found.len(), 1, "a line that is no series makes no pool");
        let verdict = &found[0].verdict;
        assert_eq!((found[0].pool.as_str(), verdict.cause), ("chat", crate::diagnose::Cause::Healthy));
        assert_eq!((verdict.evidence.calls, verdict.evidence.patience), (800.0, Duration::from_secs(30)));
        let load = verdict.horizon_load.expect("a limit is there");
        // Forty a minute, of sixty and the half minute that callers wait.
        assert!((0.60..=0.68).contains(&load), "{load}");
    }

    #[test]
    fn a_line_is_taken_apart_or_passed_over() {
        let series = Series::read(r#"forbear_store_up{job="a"} 1"#).expect("a series");
        assert_eq!((series.name, series.label("job"), series.value), ("forbear_store_up", Some("a"), 1.0));
        for broken in ["", "forbear_store_up", "forbear_store_up{job=\"a\" 1", "forbear_store_up x"] {
            assert!(Series::read(broken).is_none(), "{broken}");
        }
    }
}
