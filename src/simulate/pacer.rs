//! The ideal engine: first come, first served, each call at the first instant the quotas can serve it.
//!
//! A call whose turn would come at its deadline or later is dropped as soon as it is at the head, so it holds up nobody. A
//! call that needs more tokens than are left holds up those behind it, however small: they came later. Concurrency is
//! kept as well; overload, failures and a spent account do not exist here.
//!
//! It knows the provider's own meter, so it is never throttled, and nobody can serve the same calls with the same quotas
//! sooner in this order. What separates an engine from it is the engine's to gain; what it cannot serve is the quota's.

use std::collections::VecDeque;
use std::time::Duration;

use crate::core::decide::CallOutcome;
use crate::core::dice::{Dice, SeededDice};
use crate::core::moment::Moment;
use crate::core::setting::InvalidSetting;
use crate::emulator::limits::Cost;
use crate::simulate::arrivals::Arrivals;
use crate::simulate::calendar::Calendar;
use crate::simulate::chance::Purpose;
use crate::simulate::plan::{Plan, room_for_calls};
use crate::simulate::provider::{Provider, tenant_dice};
use crate::simulate::sizes::Sizes;
use crate::simulate::tally::{Outcome, Tally};
use crate::simulate::timeline::Timeline;

/// What happens.
#[derive(Clone, Copy, Debug)]
enum Happening {
    /// A call arrives.
    Arrival,
    /// Another tenant's request comes.
    Tenant(usize),
    Served {
        ours: Option<Waiter>,
    },
    /// The head of the queue may fit now.
    Look {
        set: u64,
    },
}

/// A call that waits, or is served.
#[derive(Clone, Copy, Debug)]
struct Waiter {
    /// When it came.
    arrived: Moment,
    /// When it is too late to serve it.
    deadline: Moment,
    /// What it costs.
    cost: Cost,
    /// Whether it came in the measured time.
    measured: bool,
    /// How long it waited for its turn.
    waited: Duration,
}

/// One run of the ideal engine.
struct Pacer<'a> {
    /// What is simulated.
    plan: &'a Plan,
    /// What is still to happen.
    calendar: Calendar<Happening>,
    /// Whose quotas are used.
    provider: Provider,
    /// The calls still to come.
    arrivals: Arrivals,
    /// Whether there are any.
    arriving: bool,
    /// Who else uses the quotas: when, how much, drawn with what.
    tenants: Vec<(Arrivals, Sizes, SeededDice)>,
    /// How large the calls are.
    sizes: Sizes,
    /// What their sizes and kinds are drawn with.
    dice: SeededDice,
    /// Who waits, in the order of arrival.
    queue: VecDeque<Waiter>,
    /// Our requests that are being served.
    in_flight: usize,
    /// Which setting of the timer is the last.
    set: u64,
    /// What is found out.
    tally: Tally,
    /// What is kept for a picture, if one is wanted.
    timeline: Option<&'a mut Timeline>,
}

/// Runs the plan's demand against its quotas.
///
/// # Errors
/// A limit is outside its range.
pub(super) fn pace(
    plan: &Plan,
    timeline: Option<&mut Timeline>,
    progress: &mut dyn FnMut(Duration),
) -> Result<Outcome, InvalidSetting> {
    let (tally, used) = paced(plan, timeline, progress)?;
    Ok(tally.outcome(used))
}

/// The sums of a run, and the share of the quota that was used.
fn paced(
    plan: &Plan,
    timeline: Option<&mut Timeline>,
    progress: &mut dyn FnMut(Duration),
) -> Result<(Tally, Option<f64>), InvalidSetting> {
    let arrivals = plan.chance.dice(Purpose::Arrivals, 0);
    let tenants = plan.others.iter().enumerate().map(|(place, tenant)| {
        let (arrivals, dice) = tenant_dice(plan.chance, place);
        (Arrivals::of_tenant(*tenant, arrivals), Sizes::of(plan.callers.sizes), dice)
    });
    let mut pacer = Pacer {
        calendar: Calendar::new(Duration::ZERO),
        provider: Provider::new(plan, plan.provider.quotas_alone())?,
        arrivals: Arrivals::of_callers(plan.callers.pattern, plan.measured_from, plan.measured_until, arrivals),
        arriving: true,
        tenants: tenants.collect(),
        sizes: Sizes::of(plan.callers.sizes),
        dice: plan.chance.dice(Purpose::Calls, 0),
        queue: VecDeque::new(),
        in_flight: 0,
        set: 0,
        tally: Tally::default(),
        timeline,
        plan,
    };
    pacer.run(progress)?;
    let used = pacer.provider.used_ratio(plan.measured());
    Ok((pacer.tally, used))
}

impl Pacer<'_> {
    /// Lets everything happen until nobody waits and nobody comes. `progress` is told of each minute that something happens
    /// in.
    fn run(&mut self, progress: &mut dyn FnMut(Duration)) -> Result<(), InvalidSetting> {
        self.expect_arrival();
        (0..self.tenants.len()).for_each(|place| self.expect_tenant(place));
        let mut tell_at = Duration::ZERO;
        while self.goes_on() {
            let now = self.calendar.now().elapsed_since_start();
            if now >= tell_at {
                progress(now);
                tell_at = now + Duration::from_secs(60);
            }
            room_for_calls(self.queue.len() + self.in_flight, now)?;
            let Some(what) = self.calendar.next() else { break };
            match what {
                Happening::Arrival => self.arrive(),
                Happening::Tenant(place) => self.tenant_asks(place),
                Happening::Served { ours } => self.served(ours),
                Happening::Look { set } if set == self.set => self.serve(),
                Happening::Look { .. } => {}
            }
        }
        Ok(())
    }

    /// Whether there is anything left to find out.
    fn goes_on(&self) -> bool {
        let shared = !self.tenants.is_empty() && self.calendar.now() < self.plan.measured_until;
        self.arriving || !self.queue.is_empty() || self.in_flight > 0 || shared
    }

    /// Notes when the next call arrives.
    fn expect_arrival(&mut self) {
        match self.arrivals.next() {
            Some(at) => self.calendar.note(at, Happening::Arrival),
            None => self.arriving = false,
        }
    }

    /// Notes when the tenant asks next.
    fn expect_tenant(&mut self, place: usize) {
        if let Some(at) = self.tenants[place].0.next() {
            self.calendar.note(at, Happening::Tenant(place));
        }
    }

    /// A call arrives, and is served at once if it is alone and there is room.
    fn arrive(&mut self) {
        let now = self.calendar.now();
        self.expect_arrival();
        let cost = self.sizes.draw(&mut self.dice);
        let class = self.plan.callers.class(&mut self.dice);
        // The same rolls as in a world with replicas: the same calls come.
        let _ = self.dice.unit();
        let deadline = now.after(self.plan.callers.classes[class].policy.deadline);
        let measured = self.plan.measures(now);
        if measured {
            self.tally.arrived(now);
        }
        if let Some(timeline) = &mut self.timeline {
            timeline.arrived(now);
        }
        self.queue.push_back(Waiter { arrived: now, deadline, cost, measured, waited: Duration::ZERO });
        if self.queue.len() == 1 {
            self.serve();
        }
    }

    /// The tenant asks, and takes what it gets.
    fn tenant_asks(&mut self, place: usize) {
        let now = self.calendar.now();
        let (_, sizes, dice) = &mut self.tenants[place];
        let cost = sizes.draw(dice);
        if let Some(takes) = self.provider.ask_for_other(now, cost) {
            self.calendar.note(now.after(takes), Happening::Served { ours: None });
        }
        self.expect_tenant(place);
    }

    /// A request has been served, ours or another's.
    fn served(&mut self, ours: Option<Waiter>) {
        self.provider.finished();
        if let Some(waiter) = ours {
            self.in_flight -= 1;
            if waiter.measured {
                self.tally.succeeded(waiter.waited, self.calendar.now());
            }
        }
        self.serve();
    }

    /// Serves from the head on, as far as the quotas go now.
    fn serve(&mut self) {
        let now = self.calendar.now();
        while let Some(&head) = self.queue.front() {
            let fits = self.provider.fits_in(now, head.cost);
            let in_time = fits.is_none_or(|wait| now.after(wait) < head.deadline) && now < head.deadline;
            match fits {
                None => self.drop_head(CallOutcome::NotRetryable),
                Some(_) if !in_time => self.drop_head(CallOutcome::DeadlineExceeded),
                Some(wait) if !wait.is_zero() => return self.look_at(now.after(wait)),
                // The next that ends makes room and looks again; at the deadline it is too late.
                Some(_) if !self.provider.has_room() => return self.look_at(head.deadline),
                Some(_) => self.serve_head(),
            }
        }
    }

    /// Looks at the head again at `at`, and not at what was noted before.
    fn look_at(&mut self, at: Moment) {
        self.set += 1;
        self.calendar.note(at, Happening::Look { set: self.set });
    }

    /// The head is not served.
    fn drop_head(&mut self, outcome: CallOutcome) {
        let Some(head) = self.queue.pop_front() else { return };
        let now = self.calendar.now();
        if head.measured {
            self.tally.gave_up(outcome, now);
        }
        if let Some(timeline) = &mut self.timeline {
            timeline.gave_up(now);
        }
    }

    /// The head is served now.
    fn serve_head(&mut self) {
        let Some(mut head) = self.queue.pop_front() else { return };
        let now = self.calendar.now();
        let answer = self.provider.ask(now, head.cost);
        head.waited = head.arrived.until(now);
        self.in_flight += 1;
        self.calendar.note(now.after(answer.takes), Happening::Served { ours: Some(head) });
        let measured = u64::from(head.measured);
        self.tally.attempts += measured;
        self.tally.requests += measured;
        if let Some(timeline) = &mut self.timeline {
            timeline.asked(now, answer.in_flight, !answer.in_flight);
            timeline.quota(now, self.provider.share_left(now));
        }
    }
}

#[cfg(test)]
#[path = "pacer_tests.rs"]
mod tests;
