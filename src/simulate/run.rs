//! Running a scenario, and watching it.

use std::time::Duration;

use crate::core::moment::Moment;
use crate::core::setting::{InvalidSetting, within};
use crate::diagnose::Verdict;
use crate::simulate::judge::{Judge, Judging};
use crate::simulate::pacer;
use crate::simulate::plan::Plan;
use crate::simulate::plot;
use crate::simulate::scenario::{Engine, Scenario};
use crate::simulate::scrape::{Fleet, Scrape, Scraped};
use crate::simulate::tally::Outcome;
use crate::simulate::timeline::{Request, Timeline};
use crate::simulate::watch::Watch;
use crate::simulate::world::World;

const SHORTEST_SCRAPE: Duration = Duration::from_secs(1);
const LONGEST_SCRAPE: Duration = Duration::from_secs(3_600);
/// How many scrapes of one replica are kept: some kilobytes each.
const MOST_SCRAPES: f64 = 1e6;

/// Runs a scenario to the end of its last call.
///
/// # Errors
/// The first setting outside its range.
pub fn simulate(scenario: &Scenario) -> Result<Outcome, InvalidSetting> {
    Ok(Simulation::of(scenario).run()?.outcome)
}

/// A scenario to be run, and what is to be kept of the run beside its outcome.
///
/// ```
/// use forbear::simulate::{Scenario, Scrape, Simulation};
/// let scenario: Scenario = r#"{"provider": {"requests_per_minute": 60}, "measured_s": 60}"#.parse()?;
/// let run = Simulation::of(&scenario).scraped(Scrape::default()).plotted().run()?;
/// assert!(run.plot.is_some_and(|svg| svg.starts_with("<svg")));
/// let mut text = Vec::new();
/// run.scraped.expect("asked for").write(&mut text)?;
/// assert!(text.ends_with(b"# EOF\n"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "a simulation is run by `run`"]
pub struct Simulation<'a> {
    scenario: &'a Scenario,
    scrape: Option<Scrape>,
    judging: Option<Judging>,
    plots: bool,
    lists_requests: bool,
    judges: bool,
}

/// What a run gave.
#[derive(Debug)]
#[non_exhaustive]
pub struct Run {
    /// What became of the calls.
    pub outcome: Outcome,
    /// The metrics, if they were asked for; the ideal engine has none.
    pub scraped: Option<Scraped>,
    /// The verdicts at the times that were asked for, in their order; the ideal engine has none.
    pub judged: Vec<Verdict>,
    /// The picture, if it was asked for, as SVG.
    pub plot: Option<String>,
    /// Every request of the callers in its order, if that was asked for.
    pub requests: Option<Vec<Request>>,
}

impl<'a> Simulation<'a> {
    /// A run of this scenario.
    pub const fn of(scenario: &'a Scenario) -> Self {
        Self { scenario, scrape: None, judging: None, plots: false, lists_requests: false, judges: true }
    }

    /// Scrapes the metrics of each replica, every 1 s to 1 h.
    pub const fn scraped(mut self, scrape: Scrape) -> Self {
        self.scrape = Some(scrape);
        self
    }

    /// Judges the fleet while it runs, beside the verdict on the whole of the measured time that every outcome has.
    pub fn judged(mut self, judging: Judging) -> Self {
        self.judging = Some(judging);
        self
    }

    /// Draws arrivals, admissions, throttles and what is left of the quota over time.
    pub const fn plotted(mut self) -> Self {
        self.plots = true;
        self
    }

    /// Keeps every request the callers sent: when, and whether it was served.
    pub const fn requests_listed(mut self) -> Self {
        self.lists_requests = true;
        self
    }

    /// Leaves the verdict out: it takes a third of the time, and who compares thousands of runs needs none of each.
    pub const fn unjudged(mut self) -> Self {
        self.judges = false;
        self
    }

    /// Runs it to the end of its last call.
    ///
    /// # Errors
    /// The first setting outside its range.
    pub fn run(self) -> Result<Run, InvalidSetting> {
        self.run_telling(&mut |_| {})
    }

    /// The same; `progress` is told again and again how much time has passed in the world, some seconds to minutes of it
    /// apart.
    ///
    /// ```
    /// use std::time::Duration;
    /// use forbear::simulate::{Scenario, Simulation};
    /// let mut come_to = Duration::ZERO;
    /// let run = Simulation::of(&Scenario::default()).run_telling(&mut |passed| come_to = passed)?;
    /// assert!(come_to > Duration::from_secs(3_500));
    /// # Ok::<(), forbear::InvalidSetting>(())
    /// ```
    ///
    /// # Errors
    /// The first setting outside its range.
    pub fn run_telling(self, progress: &mut dyn FnMut(Duration)) -> Result<Run, InvalidSetting> {
        let plots = self.plots;
        let (run, plan, timeline) = self.observed(progress)?;
        let plot = timeline.filter(|_| plots).map(|timeline| plot::svg(&timeline, &plan));
        Ok(Run { plot, ..run })
    }

    /// Runs it, and gives what a picture is made of instead of the picture.
    pub(super) fn observed(
        self,
        progress: &mut dyn FnMut(Duration),
    ) -> Result<(Run, Plan, Option<Timeline>), InvalidSetting> {
        let plan = Plan::of(self.scenario)?;
        if let Some(scrape) = self.scrape {
            within("scrape.every", scrape.every, SHORTEST_SCRAPE..=LONGEST_SCRAPE, "1s to 1h")?;
            room_for_scrapes(scrape, &plan, plan.measured_until)?;
        }
        let mut timeline = (self.plots || self.lists_requests).then(Timeline::new);
        if let Some(timeline) = timeline.as_mut().filter(|_| self.lists_requests) {
            timeline.requests = Some(Vec::new());
        }
        let (outcome, scraped, judged) = match plan.engine {
            Engine::Pacer => (pacer::pace(&plan, timeline.as_mut(), progress)?, None, Vec::new()),
            Engine::Forbear => self.run_engine(&plan, timeline.as_mut(), progress)?,
        };
        let requests = timeline.as_mut().and_then(|timeline| timeline.requests.take());
        Ok((Run { outcome, scraped, judged, plot: None, requests }, plan, timeline))
    }

    fn run_engine(
        &self,
        plan: &Plan,
        timeline: Option<&mut Timeline>,
        progress: &mut dyn FnMut(Duration),
    ) -> Result<(Outcome, Option<Scraped>, Vec<Verdict>), InvalidSetting> {
        let replicas = plan.callers.replicas;
        let mut fleet = self.scrape.map(|scrape| Fleet::of(replicas, scrape));
        let ears = fleet.as_ref().map(Fleet::ears).unwrap_or_default();
        let mut world = World::new(plan, Duration::ZERO, ears, timeline)?;
        // Who is to judge on the way needs what is watched, whatever becomes of the last verdict.
        let mut watch = (self.judges || self.judging.is_some()).then(|| Watch::over(&mut world, plan));
        let numbers = watch.as_ref().map(Watch::numbers);
        let mut judge = self.judging.as_ref().zip(numbers).map(|(judging, numbers)| Judge::new(judging, numbers, plan));
        loop {
            let judge_at = judge.as_ref().map_or(Moment::NEVER, Judge::next);
            let scrape_at = fleet.as_ref().map_or(Moment::NEVER, Fleet::next);
            let look_at = watch.as_ref().map_or(Moment::NEVER, Watch::next);
            let at = look_at.min(scrape_at).min(judge_at);
            let goes_on = world.advance(at)?;
            progress(world.now().elapsed_since_start());
            if let Some(watch) = watch.as_mut().filter(|_| look_at <= at) {
                watch.look(at);
            }
            if let Some(judge) = &mut judge
                && judge_at <= at
            {
                judge.look(&world, at, replicas);
            }
            if let Some((fleet, scrape)) = fleet.as_mut().zip(self.scrape)
                && (scrape_at <= at || !goes_on)
            {
                room_for_scrapes(scrape, plan, scrape_at)?;
                fleet.scrape(&world, scrape_at);
            }
            if !goes_on {
                break;
            }
        }
        // Nobody calls any more, and whoever scrapes does not know.
        if let Some(fleet) = &mut fleet {
            while fleet.next() <= plan.measured_until {
                fleet.scrape(&world, fleet.next());
            }
        }
        let judged = judge.map(|judge| judge.verdicts(&world, replicas)).unwrap_or_default();
        let verdict = watch.filter(|_| self.judges).map(|watch| watch.verdict(&world, replicas));
        let outcome = Outcome { verdict, ..world.outcome() };
        Ok((outcome, fleet.map(Fleet::scraped), judged))
    }
}

/// Refuses scrapes so close that a run up to `until` would not fit into memory.
fn room_for_scrapes(scrape: Scrape, plan: &Plan, until: Moment) -> Result<(), InvalidSetting> {
    let of_each = until.elapsed_since_start().as_secs_f64() / scrape.every.as_secs_f64();
    if of_each * f64::from(plan.callers.replicas) <= MOST_SCRAPES {
        return Ok(());
    }
    const ALLOWED: &str = "so far apart that a run has a million scrapes at most, those of all replicas added up";
    Err(InvalidSetting::new("scrape.every", scrape.every, ALLOWED))
}
