//! A pool's window as a Prometheus knows it: what to ask, and what the answers say.
//!
//! Nothing here asks anybody: questions go out as text, answers come in as bytes
//! (<https://prometheus.io/docs/prometheus/latest/querying/api/>). Counters are read as increases, so that restarts and
//! replicas that come and go do no harm, and no stretch is shorter than four scrapes: over fewer an increase is mostly
//! extrapolated.

use std::fmt::Write;
use std::time::Duration;

use crate::core::moment::WallTime;
use crate::core::setting::InvalidSetting;
use crate::core::signal::Dimension;
use crate::diagnose::amounts::Amounts;
use crate::diagnose::answer::{Row, UnreadableAnswer, read};
use crate::diagnose::counts::Counts;
use crate::diagnose::demand::{Asked, Demand, HORIZONS, LEAST_LOOKS};
use crate::diagnose::number::{Number, Part};
use crate::diagnose::objective::{LEAST_SUCCESS, Objective, objective};
use crate::diagnose::settings::Settings;
use crate::diagnose::supply::{LEARNED_OVER, LOCKED_OUT_FOR, LOCKED_OUT_LATELY, Peaks, SUSTAINED_OVER, Stretch, Tries};
use crate::diagnose::verdict::{Diagnosis, Verdict};
use crate::diagnose::window::Window;
use crate::event::catalogue::Metric;
use crate::event::metric::Kind;

/// The minute of quotas.
const MINUTE: Duration = Duration::from_secs(60);
/// How old a gauge's last sample may be.
const GAUGE_AGE: &str = "15m";
/// In how many parts it is looked whether the objective was missed.
const SPANS: u32 = 12;
/// The gauges that are asked for.
const GAUGES: [Metric; 4] = [Metric::QuotaLimit, Metric::PolicyParameter, Metric::GateInfo, Metric::GateShutUntil];
/// The limits of a minute.
const OF_MINUTE: &str = r#"limit_class=~"request_rate|token_throughput|unknown""#;

/// A window of time to ask a Prometheus about, and what it has answered so far.
///
/// ```
/// use std::time::Duration;
/// use forbear::core::moment::WallTime;
/// use forbear::diagnose::Enquiry;
/// let at = WallTime::since_epoch(Duration::from_secs(1_767_225_600));
/// let enquiry = Enquiry::new(at, Duration::from_secs(3_600), Duration::from_secs(15), "");
/// let questions = enquiry.questions();
/// assert!(questions[0].promql.starts_with("sum by (provider,pool"));
/// // Each is asked, its answer goes to `enquiry.hear`, and then `enquiry.diagnose()` says what is wrong.
/// ```
#[derive(Debug)]
pub struct Enquiry {
    at: WallTime,
    window: Duration,
    scrape: Duration,
    /// More matchers for every selector, with a comma behind.
    matchers: String,
    least_success: f64,
    pools: Vec<Answered>,
}

/// One question.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Question {
    /// The query.
    pub promql: String,
    /// When it is asked for, in seconds since 1970; the last time where it is asked for several.
    pub at: f64,
    /// From when on, in seconds since 1970, and in what steps in seconds: for `/api/v1/query_range`. `None` is for
    /// `/api/v1/query`.
    pub range: Option<(f64, f64)>,
    about: About,
}

/// What a question is about.
#[derive(Clone, Copy, Debug, PartialEq)]
enum About {
    /// What a number rose by over the window.
    Total(Metric, Part),
    /// What it rose by in each part of it.
    Span(Metric, Part),
    Gauge(Metric),
    /// What was asked for within the horizon of this place.
    Asked(usize),
    /// What was served, refused, tried or told up to each time.
    Served(Over),
    Refused(Over),
    Tried(Over),
    Told(Part),
}

/// Over which stretch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Over {
    Minute,
    Learned,
    Sustained,
    LockedOut,
    Lately,
}

/// What was answered of one pool.
#[derive(Debug)]
struct Answered {
    provider: String,
    pool: String,
    counts: Counts,
    settings: Settings,
    spans: Vec<Counts>,
    steps: Vec<Step>,
}

/// What was answered for one time.
#[derive(Clone, Debug, Default)]
struct Step {
    asked: Vec<Sides>,
    served: [Sides; 5],
    refused: [f64; 5],
    tried: [f64; 5],
    told: f64,
    told_seconds: f64,
}

/// Requests, and tokens by side.
#[derive(Clone, Copy, Debug, Default)]
struct Sides([f64; 4]);

impl Sides {
    fn add(&mut self, row: &Row, value: f64) {
        let place = match row.label("token_kind") {
            Some("input") => 1,
            Some("output") => 2,
            Some(_) => 3,
            None => 0,
        };
        self.0[place] += value;
    }

    fn amounts(self) -> Amounts {
        let Self([requests, input, output, unsided]) = self;
        Amounts::new(requests, input, output, unsided)
    }
}

impl Enquiry {
    /// About the `window` that ends at `at`, where metrics are scraped every `scrape`. `matchers` are added to every
    /// selector, as in `job="api",env="prod"`.
    #[must_use]
    pub fn new(at: WallTime, window: Duration, scrape: Duration, matchers: &str) -> Self {
        let matchers = matchers.trim().trim_end_matches(',');
        let matchers = if matchers.is_empty() { String::new() } else { format!("{matchers},") };
        Self { at, window, scrape, matchers, least_success: LEAST_SUCCESS, pools: Vec::new() }
    }

    /// The share of calls that has to succeed, 0.94 to 0.9999; 0.99 unless told. It is what decides whether there is anything
    /// to find a cause for: say what the rules say ([`RuleBook::objective`](crate::diagnose::RuleBook::objective)), and both
    /// agree.
    ///
    /// # Errors
    /// It is outside of that range.
    pub fn objective(mut self, least_success: f64) -> Result<Self, InvalidSetting> {
        self.least_success = objective("enquiry.slo", least_success)?;
        Ok(self)
    }

    /// What to ask before anything else: the answer to [`Enquiry::scrape_interval`].
    #[must_use]
    pub fn first_question(at: WallTime, matchers: &str) -> Question {
        let promql = format!("max_over_time(max(count_over_time(forbear_build_info{{{matchers}}}[5m]))[1h:1m])");
        let at = at.elapsed_since_epoch().as_secs_f64();
        Question { promql, at, range: None, about: About::Gauge(Metric::BuildInfo) }
    }

    /// How often metrics are scraped, by the answer to the first question; `None` if there are none at that time.
    ///
    /// # Errors
    /// The answer is no answer of a Prometheus, or an error.
    pub fn scrape_interval(answer: &[u8]) -> Result<Option<Duration>, UnreadableAnswer> {
        let samples = read(answer)?.first().and_then(|row| row.values.first().copied());
        let interval = samples.filter(|(_, samples)| *samples >= 1.0).map(|(_, samples)| 300.0 / samples);
        Ok(interval.map(|seconds| Duration::from_secs(seconds.round().max(1.0) as u64)))
    }

    /// Everything to ask.
    #[must_use]
    pub fn questions(&self) -> Vec<Question> {
        let mut questions = Vec::new();
        for (metric, part, labels) in totals() {
            let query = |over| self.increases(metric, part, &labels, "", over);
            questions.push(self.once(query(self.window), About::Total(metric, part)));
            if matches!(metric, Metric::Calls | Metric::CallDuration | Metric::Attempts) && part == Part::Count {
                let span = self.window / SPANS;
                questions.push(self.ranging(query(span), span, span, About::Span(metric, part)));
            }
        }
        for metric in GAUGES {
            let labels = metric.row().labels.iter().map(|label| label.key).collect::<Vec<_>>();
            let selector = self.selector(metric.row().prometheus, "");
            let query =
                format!("max by (provider,pool,{}) (last_over_time({selector}[{GAUGE_AGE}]))", labels.join(","));
            questions.push(self.once(query, About::Gauge(metric)));
        }
        let mut each_step = |metric, labels: &[&'static str], more: &str, over, about| {
            let part = if let About::Told(part) = about { part } else { Part::Count };
            let query = self.increases(metric, part, labels, more, over);
            questions.push(self.ranging(query, Duration::ZERO, self.scrape, about));
        };
        for (place, horizon) in self.horizons().into_iter().enumerate() {
            each_step(Metric::Calls, &[], "", horizon, About::Asked(place));
            each_step(Metric::OfferedTokens, &["token_kind"], "", horizon, About::Asked(place));
        }
        for over in [Over::Minute, Over::Learned, Over::Sustained, Over::LockedOut] {
            let length = self.length(over);
            each_step(Metric::Attempts, &[], r#"outcome="ok""#, length, About::Served(over));
            each_step(Metric::UsedTokens, &["token_kind"], "", length, About::Served(over));
            if over != Over::Sustained {
                each_step(Metric::Attempts, &[], OF_MINUTE, length, About::Refused(over));
            }
        }
        for over in [Over::LockedOut, Over::Lately] {
            each_step(Metric::Attempts, &[], "", self.length(over), About::Tried(over));
            each_step(Metric::Giveups, &[], r#"outcome="gate_refused""#, self.length(over), About::Tried(over));
        }
        each_step(Metric::Attempts, &[], r#"outcome="ok""#, self.length(Over::Lately), About::Served(Over::Lately));
        let length = self.length(Over::LockedOut);
        for part in [Part::Count, Part::Seconds] {
            each_step(Metric::Delay, &[], r#"delay_source=~"header|body""#, length, About::Told(part));
        }
        questions
    }

    /// Takes in the answer to a question.
    ///
    /// # Errors
    /// The answer is no answer of a Prometheus, or an error.
    pub fn hear(&mut self, question: &Question, answer: &[u8]) -> Result<(), UnreadableAnswer> {
        let (from, step) = question.range.unwrap_or((question.at, 1.0));
        for row in read(answer)? {
            let Some(answered) = self.answered(&row) else { continue };
            for (at, value) in row.values.iter().filter(|(_, value)| value.is_finite()) {
                let place = ((at - from) / step).round().max(0.0) as usize;
                answered.note(question.about, &row, place, *value);
            }
        }
        Ok(())
    }

    /// The verdict on every pool that was called in the window, in the order of their names.
    #[must_use]
    pub fn diagnose(mut self) -> Vec<Diagnosis> {
        self.pools.sort_by(|a, b| (&a.provider, &a.pool).cmp(&(&b.provider, &b.pool)));
        let called = self.pools.iter().filter(|pool| pool.counts.get(Number::Calls) > 0.0);
        called.map(|pool| Diagnosis::new(&pool.provider, &pool.pool, Verdict::on(&self.window_of(pool)))).collect()
    }

    /// The window of one pool, put together.
    fn window_of(&self, pool: &Answered) -> Window {
        let horizons = self.horizons();
        // The first horizon that is a minute long or longer says how much a time counts.
        let weight = horizons.iter().position(|horizon| *horizon >= MINUTE).unwrap_or(0);
        let none = Sides::default();
        let asked = |step: &Step| Asked {
            calls: step.asked.get(weight).unwrap_or(&none).amounts().of(Dimension::Requests),
            within: (0..horizons.len()).map(|place| step.asked.get(place).unwrap_or(&none).amounts()).collect(),
        };
        let times = pool.steps.iter().map(asked).collect();
        let failing = pool.spans.iter().filter(|span| Objective::of(span, self.least_success).is_missed()).count();
        let stretches = pool.steps.iter().enumerate().map(|(place, step)| self.stretch(place, step));
        Window {
            length: self.window,
            counts: pool.counts.clone(),
            peaks: Peaks::of(stretches),
            demand: Demand { horizons, times },
            least_success: self.least_success,
            failing_for: self.window / SPANS * failing as u32,
            minute: MINUTE,
            share_of_fleet: Some(1.0),
            settings: pool.settings.clone(),
        }
    }

    /// What one time says of supply.
    fn stretch(&self, place: usize, step: &Step) -> Stretch {
        let served = |over: Over| {
            let minutes = self.length(over).as_secs_f64() / MINUTE.as_secs_f64();
            step.served[over as usize].amounts().times(1.0 / minutes)
        };
        let inside = |over| self.scrape * u32::try_from(place).unwrap_or(u32::MAX) >= self.length(over);
        let tried = |over: Over| Tries {
            tried: step.tried[over as usize],
            served: step.served[over as usize].amounts().of(Dimension::Requests),
            ..Tries::default()
        };
        let tries = || Tries {
            refused: step.refused[Over::LockedOut as usize],
            told: step.told,
            told_minutes: step.told_seconds / MINUTE.as_secs_f64(),
            ..tried(Over::LockedOut)
        };
        Stretch {
            minute: served(Over::Minute),
            refused: step.refused[Over::Minute as usize],
            at_limit: (step.refused[Over::Learned as usize] > 0.0).then(|| served(Over::Learned)),
            sustained: Some(served(Over::Sustained)),
            tries: inside(Over::LockedOut).then(tries),
            lately: inside(Over::Lately).then(|| tried(Over::Lately)),
        }
    }

    /// How long a stretch is: as long as it should be, and four scrapes at least.
    fn length(&self, over: Over) -> Duration {
        let minutes = match over {
            Over::Minute => 1.0,
            Over::Learned => LEARNED_OVER,
            Over::Sustained => SUSTAINED_OVER,
            Over::LockedOut => LOCKED_OUT_FOR,
            Over::Lately => LOCKED_OUT_LATELY,
        };
        MINUTE.mul_f64(minutes).max(self.scrape * LEAST_LOOKS)
    }

    /// The horizons that are four scrapes long at least.
    fn horizons(&self) -> Vec<Duration> {
        let all = HORIZONS.iter().map(|minutes| MINUTE.mul_f64(*minutes));
        all.filter(|horizon| *horizon >= self.scrape * LEAST_LOOKS).collect()
    }

    /// What a counter, or a part of a histogram, rose by over `over`, by pool and these labels.
    fn increases(&self, metric: Metric, part: Part, labels: &[&'static str], more: &str, over: Duration) -> String {
        let row = metric.row();
        let suffix = match (row.kind, part) {
            (Kind::Histogram, Part::Count) => "_count",
            (Kind::Histogram, Part::Seconds) => "_sum",
            _ => "",
        };
        let by = ["provider", "pool"].iter().chain(labels).copied().collect::<Vec<_>>().join(",");
        let selector = self.selector(&format!("{}{suffix}", row.prometheus), more);
        format!("sum by ({by}) (increase({selector}[{}ms]))", over.as_millis())
    }

    fn selector(&self, name: &str, more: &str) -> String {
        let mut selector = String::new();
        // A string takes everything.
        let _ = write!(selector, "{name}{{{}{more}}}", self.matchers);
        selector
    }

    fn once(&self, promql: String, about: About) -> Question {
        Question { promql, at: self.at.elapsed_since_epoch().as_secs_f64(), range: None, about }
    }

    /// From `after` the start of the window on.
    fn ranging(&self, promql: String, after: Duration, step: Duration, about: About) -> Question {
        let at = self.at.elapsed_since_epoch().as_secs_f64();
        let from = at - self.window.as_secs_f64() + after.as_secs_f64();
        Question { promql, at, range: Some((from, step.as_secs_f64())), about }
    }

    /// The pool that a row is of.
    fn answered(&mut self, row: &Row) -> Option<&mut Answered> {
        let (provider, pool) = (row.label("provider")?, row.label("pool")?);
        let known = self.pools.iter().position(|known| known.provider == provider && known.pool == pool);
        let place = known.unwrap_or_else(|| {
            self.pools.push(Answered {
                provider: provider.to_owned(),
                pool: pool.to_owned(),
                counts: Counts::default(),
                settings: Settings::default(),
                spans: Vec::new(),
                steps: Vec::new(),
            });
            self.pools.len() - 1
        });
        Some(&mut self.pools[place])
    }
}

impl Answered {
    /// Takes in one value of a row; `place` is its step.
    fn note(&mut self, about: About, row: &Row, place: usize, value: f64) {
        /// More steps than anybody asks for: an answer cannot make us allocate without end.
        const MOST_STEPS: usize = 100_000;
        if place >= MOST_STEPS {
            return;
        }
        let label = |key: &str| row.label(key);
        match about {
            About::Total(metric, part) => self.counts.note_part(metric, part, label, value),
            About::Gauge(metric) => self.settings.note(metric, label, value),
            About::Span(metric, part) => at(&mut self.spans, place).note_part(metric, part, label, value),
            About::Asked(horizon) => at(&mut at(&mut self.steps, place).asked, horizon).add(row, value),
            About::Served(over) => at(&mut self.steps, place).served[over as usize].add(row, value),
            About::Refused(over) => at(&mut self.steps, place).refused[over as usize] += value,
            About::Tried(over) => at(&mut self.steps, place).tried[over as usize] += value,
            About::Told(Part::Count) => at(&mut self.steps, place).told += value,
            About::Told(Part::Seconds) => at(&mut self.steps, place).told_seconds += value,
        }
    }
}

/// The place of a row, made if it is not there.
fn at<T: Default + Clone>(places: &mut Vec<T>, place: usize) -> &mut T {
    if places.len() <= place {
        places.resize(place + 1, T::default());
    }
    &mut places[place]
}

/// Every metric and part of it that numbers are made of, and the labels they are told apart by.
fn totals() -> Vec<(Metric, Part, Vec<&'static str>)> {
    let mut totals: Vec<(Metric, Part, Vec<&'static str>)> = Vec::new();
    for selector in Number::ALL.iter().map(|number| number.selector()) {
        let same =
            |(metric, part, _): &&mut (Metric, Part, Vec<_>)| (*metric, *part) == (selector.metric, selector.part);
        let place = totals.iter_mut().position(|total| same(&total)).unwrap_or_else(|| {
            let by_policy = matches!(selector.metric, Metric::Calls | Metric::CallDeadline);
            totals.push((selector.metric, selector.part, if by_policy { vec!["policy"] } else { Vec::new() }));
            totals.len() - 1
        });
        let labels = &mut totals[place].2;
        for (key, _) in selector.labels.iter().filter(|(key, _)| !labels.contains(key)).collect::<Vec<_>>() {
            labels.push(key);
        }
    }
    totals
}

#[cfg(test)]
#[path = "prometheus_tests.rs"]
mod tests;
