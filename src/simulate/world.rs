//! The world: a provider, those who call it, and the engine between them, one thing after another.
//!
//! The steps of a call, and their order, are those of the engine's own shell (`run` and `gate`): gate, attempt, classify,
//! report, decide, wait, and back to the gate at the old place. Only what the shell does with tasks, wakers and timers is
//! done here with a calendar.

mod going;
mod pool;
mod queue;
mod sample;
mod step;

use std::time::Duration;

use crate::core::dice::{Dice, SeededDice};
use crate::core::estimate::Estimate;
use crate::core::gate::Pass;
use crate::core::moment::Moment;
use crate::core::setting::InvalidSetting;
use crate::core::signal::Signal;
use crate::diagnose::Tally as Numbers;
use crate::emulator::limits::Cost;
use crate::event::Event;
use crate::event::sink::Listener;
use crate::simulate::arrivals::Arrivals;
use crate::simulate::calendar::Calendar;
use crate::simulate::chance::Purpose;
use crate::simulate::plan::{Plan, room_for_calls};
use crate::simulate::provider::{Provider, tenant_dice};
use crate::simulate::scenario::GateMode;
use crate::simulate::sizes::Sizes;
use crate::simulate::tally::{Outcome, Tally};
use crate::simulate::timeline::Timeline;

use going::{Calls, Going};
use pool::Pool;
use queue::Place;

/// How long news travels from one replica to the others.
const NEWS_TRAVELS: Duration = Duration::from_millis(1);

/// What happens.
#[derive(Clone, Debug)]
pub(super) enum Happening {
    /// Calls arrive.
    Arrivals,
    /// Another tenant's request comes.
    Tenant(usize),
    /// A request of another tenant is served.
    TenantServed,
    /// A request is answered.
    Answer { slot: usize },
    /// An attempt's time is up.
    Cut { slot: usize },
    /// The client below repeats a request.
    Resend { slot: usize },
    /// A call's wait between attempts is over.
    Awake { slot: usize },
    /// A waiter is to ask for its turn again.
    Turn { slot: usize, place: Place },
    /// A queue's timer is due.
    Timer { pool: usize, timer: u64 },
    /// A throttle that another replica met becomes known.
    News(Box<News>),
}

/// A throttle that another replica met.
#[derive(Clone, Debug)]
pub(super) struct News {
    /// Whose gate heard of it first.
    from: usize,
    /// The leave its request was sent with.
    pass: Pass,
    /// What it said.
    signal: Signal,
}

/// Another tenant under way.
#[derive(Debug)]
struct Tenant {
    /// When it calls.
    arrivals: Arrivals,
    /// How large its requests are.
    sizes: Sizes,
    /// What their sizes are drawn with.
    dice: SeededDice,
}

/// One run of a scenario.
pub(super) struct World<'a> {
    /// What is simulated.
    plan: &'a Plan,
    /// What is still to happen.
    calendar: Calendar<Happening>,
    /// Who is asked.
    provider: Provider,
    /// Who else asks.
    tenants: Vec<Tenant>,
    /// The calls still to come, after the next.
    arrivals: Arrivals,
    /// How large they are.
    sizes: Sizes,
    /// What sizes, kinds and replicas are drawn with.
    calls_dice: SeededDice,
    /// What the clients below the engine draw.
    client_dice: SeededDice,
    /// One for each process, or one for all with a shared gate.
    pools: Vec<Pool>,
    /// Who hears each replica's events, if anybody does.
    ears: Vec<Box<dyn Listener>>,
    /// Who adds up the events of all replicas, if anybody does.
    adds_up: Option<Numbers>,
    /// The calls under way.
    calls: Calls,
    /// What is found out.
    tally: Tally,
    /// When the provider could first serve again what it had refused.
    fits_from: Moment,
    /// When the next call arrives, unless none does.
    next_arrival: Option<Moment>,
    /// What is kept for a picture, if one is wanted.
    timeline: Option<&'a mut Timeline>,
}

impl<'a> World<'a> {
    /// A world before its first arrival. With `ears`, one for each replica, events are told. Moments are rounded up to
    /// whole `tick`s.
    ///
    /// # Errors
    /// A limit is outside its range.
    pub(super) fn new(
        plan: &'a Plan,
        tick: Duration,
        ears: Vec<Box<dyn Listener>>,
        timeline: Option<&'a mut Timeline>,
    ) -> Result<Self, InvalidSetting> {
        let shared = plan.gate == GateMode::Shared;
        let processes = if shared { 1 } else { plan.callers.replicas };
        let known = if plan.fleet_known { processes } else { 1 };
        let pool = |number: u32| {
            let dice = plan.chance.dice(Purpose::Engine, number.into());
            let mut pool = Pool::new(number as usize, plan.gate != GateMode::None, &plan.configured, known, dice);
            if plan.cold_start && pool.gated {
                pool.start_cold(Moment::START);
            }
            pool
        };
        let arrivals_dice = plan.chance.dice(Purpose::Arrivals, 0);
        let arrivals =
            Arrivals::of_callers(plan.callers.pattern, plan.measured_from, plan.measured_until, arrivals_dice);
        let tenants = plan.others.iter().enumerate().map(|(place, tenant)| {
            let (arrivals, dice) = tenant_dice(plan.chance, place);
            Tenant { arrivals: Arrivals::of_tenant(*tenant, arrivals), sizes: Sizes::of(plan.callers.sizes), dice }
        });
        let mut world = Self {
            calendar: Calendar::new(tick),
            provider: Provider::new(plan, plan.provider.limits.clone())?,
            tenants: tenants.collect(),
            arrivals,
            sizes: Sizes::of(plan.callers.sizes),
            calls_dice: plan.chance.dice(Purpose::Calls, 0),
            client_dice: plan.chance.dice(Purpose::Client, 0),
            pools: (0..processes).map(pool).collect(),
            ears,
            adds_up: None,
            calls: Calls::default(),
            tally: Tally::default(),
            fits_from: Moment::NEVER,
            next_arrival: None,
            timeline,
            plan,
        };
        world.next_arrival = world.arrivals.next();
        world.calendar.note_first(Moment::START, Happening::Arrivals);
        (0..world.tenants.len()).for_each(|place| world.expect_tenant(place));
        Ok(world)
    }

    /// Adds up the events of all replicas from now on.
    pub(super) fn add_up(&mut self, numbers: Numbers) {
        self.adds_up = Some(numbers);
    }

    /// Lets everything happen that happens up to `until`. Returns whether there is more to come.
    ///
    /// # Errors
    /// More calls are under way than there is room for.
    pub(super) fn advance(&mut self, until: Moment) -> Result<bool, InvalidSetting> {
        while self.goes_on() {
            match self.calendar.next_at() {
                Some(at) if at <= until => {}
                next => return Ok(next.is_some()),
            }
            if let Some(what) = self.calendar.next() {
                self.happen(what);
            }
            room_for_calls(self.calls.len(), self.calendar.now().elapsed_since_start())?;
        }
        Ok(false)
    }

    /// How far it has come.
    pub(super) const fn now(&self) -> Moment {
        self.calendar.now()
    }

    /// What it comes to.
    pub(super) fn outcome(self) -> Outcome {
        let used = self.provider.used_ratio(self.plan.measured());
        self.tally.outcome(used)
    }

    /// Calls are under way or to come, or the measured time is still to be shared with others.
    fn goes_on(&self) -> bool {
        let shared = !self.tenants.is_empty() && self.calendar.now() < self.plan.measured_until;
        self.next_arrival.is_some() || self.calls.len() > 0 || shared
    }

    /// Lets one thing happen.
    fn happen(&mut self, what: Happening) {
        match what {
            Happening::Arrivals => self.arrive(),
            Happening::Tenant(place) => self.tenant_asks(place),
            Happening::TenantServed => self.provider.finished(),
            Happening::Answer { slot } => self.with_call(slot, Self::answered),
            Happening::Cut { slot } => self.with_call(slot, Self::cut),
            Happening::Resend { slot } => self.with_call(slot, Self::send),
            Happening::Awake { slot } => self.with_call(slot, Self::awake),
            Happening::Turn { slot, place } => self.turn(slot, place),
            Happening::Timer { pool, timer } => {
                for (place, slot) in self.pools[pool].timer_due(timer, &mut self.calendar) {
                    self.turn(slot, place);
                }
            }
            Happening::News(news) => self.hear_news(&news),
        }
    }

    /// A waiter that was woken asks for its turn; it may have gone since.
    fn turn(&mut self, slot: usize, place: Place) {
        if self.calls.place(slot) == Some(place) {
            self.with_call(slot, Self::take_turn);
        }
    }

    /// Lets all calls arrive that arrive now, and notes the next.
    fn arrive(&mut self) {
        while let Some(at) = self.next_arrival {
            if self.calendar.rounded(at) > self.calendar.now() {
                return self.calendar.note_first(at, Happening::Arrivals);
            }
            self.next_arrival = self.arrivals.next();
            self.call_arrives();
        }
    }

    /// Notes when the tenant asks next.
    fn expect_tenant(&mut self, place: usize) {
        if let Some(at) = self.tenants[place].arrivals.next() {
            self.calendar.note(at, Happening::Tenant(place));
        }
    }

    /// The tenant asks, and takes what it gets.
    fn tenant_asks(&mut self, place: usize) {
        let now = self.calendar.now();
        let tenant = &mut self.tenants[place];
        let cost = tenant.sizes.draw(&mut tenant.dice);
        if let Some(takes) = self.provider.ask_for_other(now, cost) {
            self.calendar.note(now.after(takes), Happening::TenantServed);
        }
        self.expect_tenant(place);
    }

    /// One call arrives.
    fn call_arrives(&mut self) {
        let now = self.calendar.now();
        let cost = self.sizes.draw(&mut self.calls_dice);
        let class = self.plan.callers.class(&mut self.calls_dice);
        let replica = (self.calls_dice.unit() * f64::from(self.plan.callers.replicas)).ceil() as usize - 1;
        let mut going = Going::arrives(now, class, replica, cost, self.plan.measures(now));
        going.estimate = self.plan.callers.sizes.bias.map(|bias| estimate(cost, bias));
        if going.measured {
            self.tally.arrived(now);
        }
        if let Some(timeline) = &mut self.timeline {
            timeline.arrived(now);
        }
        let policy = &self.plan.callers.classes[class].policy;
        let (name, deadline, estimate) = (policy.name(), policy.deadline, going.estimate);
        self.tell(replica, || Event::CallStarted { policy: name, deadline, estimate });
        let slot = self.calls.add(going);
        self.with_call(slot, Self::ask_gate);
    }

    /// Lets the call in `slot` make a step; it is put back unless that was its last.
    fn with_call(&mut self, slot: usize, step: impl FnOnce(&mut Self, &mut Going, usize) -> bool) {
        let Some(mut going) = self.calls.take(slot) else { return };
        if step(self, &mut going, slot) {
            self.calls.put_back(slot, going);
        } else {
            self.calls.free(slot);
        }
    }

    /// The process a replica's calls belong to: with a shared gate all replicas are as one.
    fn process(&self, replica: usize) -> usize {
        if self.pools.len() == 1 { 0 } else { replica }
    }

    /// All other processes hear of a throttle.
    fn hear_news(&mut self, news: &News) {
        let now = self.calendar.now();
        for process in (0..self.pools.len()).filter(|process| *process != news.from) {
            self.pools[process].heard_throttle.get_or_insert(now);
            self.report(process, process, news.pass, &news.signal);
        }
    }

    /// Builds an event only if somebody listens.
    fn tell<'e>(&self, replica: usize, event: impl FnOnce() -> Event<'e>) {
        let ear = self.ears.get(replica);
        if ear.is_none() && self.adds_up.is_none() {
            return;
        }
        let (now, event) = (self.calendar.now(), event());
        if let Some(ear) = ear {
            ear.hear(now, &event);
        }
        if let Some(numbers) = &self.adds_up {
            numbers.hear(now, &event);
        }
    }
}

/// What the engine expects a call to use.
pub(super) fn estimate(cost: Cost, bias: f64) -> Estimate {
    let expected = |tokens: u64| (tokens as f64 * bias).round() as u32;
    Estimate::input(expected(cost.input_tokens)).output(expected(cost.output_tokens))
}
