//! The provider in a world: it judges requests, and its answers are read as a provider's table would read them.

use std::time::Duration;

use crate::core::dice::SeededDice;
use crate::core::moment::Moment;
use crate::core::setting::InvalidSetting;
use crate::core::signal::{Dimension, LimitClass, Part, QuotaWindow, Quotas, Signal, StatedDelay};
use crate::emulator::limits::{Cost, FailureKind, Limits, Meter, Throttle, Verdict};
use crate::simulate::chance::{Chance, Purpose};
use crate::simulate::plan::{KnownQuota, Plan, ProviderPlan};

/// Limits, their use, and what is told of it.
#[derive(Debug)]
pub(super) struct Provider {
    /// The emulator's limits and their use.
    meter: Meter,
    /// What its answers tell and how long they take.
    plan: ProviderPlan,
    /// What overload and failures are drawn with.
    failures: SeededDice,
    /// What the times of answers are drawn with.
    answers: SeededDice,
    /// From when on what is served is counted.
    measured_from: Moment,
    /// Until when.
    measured_until: Moment,
    /// Requests served in the measured time, and their tokens.
    served: (u64, Cost),
}

/// What becomes of a request.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    /// What the answer says; `None` if none ever comes.
    pub(super) signal: Option<Signal>,
    /// The quotas a refusal tells; a success tells them when it is sent.
    pub(super) quotas: Option<Box<Quotas>>,
    /// How long until it comes.
    pub(super) takes: Duration,
    /// Whether the request is in flight at the provider until then.
    pub(super) in_flight: bool,
    /// How long until a refused request would fit.
    pub(super) fits_in: Option<Duration>,
}

impl Provider {
    /// Unused limits: the plan's, or `limits` in their place.
    ///
    /// # Errors
    /// The limits are outside their range.
    pub(super) fn new(plan: &Plan, limits: Limits) -> Result<Self, InvalidSetting> {
        Ok(Self {
            meter: Meter::new(limits)?,
            plan: plan.provider.clone(),
            failures: plan.chance.dice(Purpose::Failures, 0),
            answers: plan.chance.dice(Purpose::Answers, 0),
            measured_from: plan.measured_from,
            measured_until: plan.measured_until,
            served: (0, Cost::request()),
        })
    }

    /// A request comes.
    pub(super) fn ask(&mut self, now: Moment, cost: Cost) -> Answer {
        let verdict = self.meter.admit(now, cost, &mut self.failures);
        let in_flight = verdict.is_in_flight();
        if in_flight && self.measured_from <= now && now < self.measured_until {
            self.served.0 += 1;
            self.served.1.input_tokens += cost.input_tokens;
            self.served.1.output_tokens += cost.output_tokens;
        }
        let takes = if in_flight { self.plan.service } else { self.plan.refusal }.draw(&mut self.answers);
        let throttle = match verdict {
            Verdict::Throttled(throttle) => Some(throttle),
            _ => None,
        };
        Answer {
            signal: self.read(&verdict),
            quotas: throttle.and_then(|_| self.quotas(now)),
            takes,
            in_flight,
            fits_in: throttle.and_then(|throttle| throttle.wait),
        }
    }

    /// Another tenant's request comes; how long it is in flight, where anybody counts that.
    pub(super) fn ask_for_other(&mut self, now: Moment, cost: Cost) -> Option<Duration> {
        let answer = self.ask(now, cost);
        if answer.in_flight && self.plan.concurrency.is_none() {
            self.meter.finished();
        }
        (answer.in_flight && self.plan.concurrency.is_some()).then_some(answer.takes)
    }

    /// A request that was in flight has ended.
    pub(super) fn finished(&mut self) {
        self.meter.finished();
    }

    /// What the quota headers of an answer sent now say, if there are any.
    pub(super) fn quotas(&mut self, now: Moment) -> Option<Box<Quotas>> {
        self.plan.quota_headers.then(|| Box::new(self.meter.quotas(now)))
    }

    /// How long until `cost` fits; `None` if it never does.
    pub(super) fn fits_in(&mut self, now: Moment, cost: Cost) -> Option<Duration> {
        self.meter.fits_in(now, cost)
    }

    /// Whether one more request may be in flight.
    pub(super) fn has_room(&self) -> bool {
        self.plan.concurrency.is_none_or(|most| self.meter.in_flight() < most)
    }

    /// What is left of the per-minute quota of which least is left, as a share of it.
    pub(super) fn share_left(&mut self, now: Moment) -> Option<f64> {
        let quotas = self.meter.quotas(now);
        let of_minute = quotas.iter().filter(|reading| reading.window == QuotaWindow::Minute);
        of_minute.filter_map(|reading| Some(reading.remaining? as f64 / reading.limit? as f64)).reduce(f64::min)
    }

    /// What was served in the measured time of the per-minute quota of which most was, as a share of what it grants.
    pub(super) fn used_ratio(&self, measured: Duration) -> Option<f64> {
        let (requests, tokens) = self.served;
        let ratio = |quota: &KnownQuota| {
            let used = match quota.dimension {
                Dimension::Requests => requests,
                Dimension::Tokens => tokens.input_tokens + tokens.output_tokens,
                Dimension::InputTokens => tokens.input_tokens,
                Dimension::OutputTokens => tokens.output_tokens,
            };
            used as f64 / (quota.amount as f64 * measured.as_secs_f64() / quota.window.as_secs_f64())
        };
        self.plan.quotas.iter().filter(|quota| !quota.of_day).map(ratio).reduce(f64::max)
    }

    /// What a verdict means, read as the tables read it.
    fn read(&self, verdict: &Verdict) -> Option<Signal> {
        let with_status = |signal: Signal, status| Signal { status: Some(status), ..signal };
        Some(match verdict {
            Verdict::Admitted => with_status(Signal::success(), 200),
            Verdict::Throttled(throttle) => self.refusal(throttle),
            Verdict::Failed(FailureKind::Auth) => with_status(Signal::failure(false), 401),
            Verdict::Failed(FailureKind::Timeout) => return None,
            Verdict::Failed(_) => with_status(Signal { ambiguous: true, ..Signal::failure(true) }, 500),
        })
    }

    /// What a refusal says.
    fn refusal(&self, throttle: &Throttle) -> Signal {
        let told = self.plan.told.tell(throttle, self.plan.class_readable);
        let stated = told.wait.map(|wait| (wait, "retry-after")).or(told.reset.map(|reset| (reset, "ratelimit-reset")));
        Signal {
            token_kind: told.token_kind,
            larger_than_limit: throttle.larger_than_limit.is_some() && self.plan.class_readable,
            stated: stated.map(|(wait, place)| StatedDelay::new(wait, Part::Header, place)),
            status: Some(if told.class == LimitClass::Overload { 503 } else { 429 }),
            ..Signal::throttle(told.class)
        }
    }
}

/// What an attempt means that was cut: no answer came in its time.
pub(super) const fn no_answer() -> Signal {
    Signal { ambiguous: true, timed_out: true, ..Signal::failure(true) }
}

/// A tenant's dice: one for each.
pub(super) fn tenant_dice(chance: Chance, place: usize) -> (SeededDice, SeededDice) {
    (chance.dice(Purpose::Others, 2 * place as u64), chance.dice(Purpose::Others, 2 * place as u64 + 1))
}
