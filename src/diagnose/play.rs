//! Pools for tests: calls told as events, at times of one's choosing.

use std::time::Duration;

use crate::core::decide::{AttemptOutcome, CallOutcome, DelaySource};
use crate::core::estimate::Estimate;
use crate::core::moment::Moment;
use crate::core::signal::{LimitClass, TokenKind};
use crate::diagnose::history::{History, Keeping};
use crate::diagnose::settings::Settings;
use crate::diagnose::tally::Tally;
use crate::diagnose::verdict::Verdict;
use crate::diagnose::window::Window;
use crate::event::Event;
use crate::event::catalogue::Metric;
use crate::event::sink::Listener;

/// A pool at work. Time moves on with [`Play::until`].
pub(super) struct Play {
    tally: Tally,
    history: History,
    every: Duration,
    next_look: Moment,
    now: Moment,
    pub(super) settings: Settings,
}

/// How a call goes.
#[derive(Clone, Copy)]
pub(super) struct Going {
    pub(super) policy: &'static str,
    pub(super) deadline: Duration,
    pub(super) estimate: Option<Estimate>,
    /// Refused this often by this limit, first.
    pub(super) refused: (u32, LimitClass),
    /// What its retries waited for.
    pub(super) waits: DelaySource,
    pub(super) ends: CallOutcome,
    /// Tokens sent that a success used.
    pub(super) used: u64,
}

/// A call of a minute's patience that succeeds at once.
pub(super) const FINE: Going = Going {
    policy: "chat",
    deadline: Duration::from_secs(60),
    estimate: None,
    refused: (0, LimitClass::None),
    waits: DelaySource::Curve,
    ends: CallOutcome::Ok,
    used: 0,
};

/// A call that a limit of a minute refuses five times, and that gives up.
pub(super) const THROTTLED: Going =
    Going { refused: (5, LimitClass::RequestRate), ends: CallOutcome::AttemptsExhausted, ..FINE };

impl Play {
    /// A pool of which nothing is known.
    pub(super) fn new() -> Self {
        let keeping = Keeping::of_minutes(Duration::from_secs(60));
        Self {
            tally: Tally::default(),
            history: History::new(keeping),
            every: keeping.every,
            next_look: Moment::START,
            now: Moment::START,
            settings: Settings::default(),
        }
    }

    /// A pool whose limit on requests a minute is configured.
    pub(super) fn limited(requests_per_minute: f64) -> Self {
        let mut play = Self::new();
        play.limit("requests", "config", requests_per_minute);
        play
    }

    /// Tells a limit of a minute.
    pub(super) fn limit(&mut self, dimension: &'static str, origin: &'static str, amount: f64) {
        let labels = [("dimension", dimension), ("window", "minute"), ("origin", origin)];
        self.gauge(Metric::QuotaLimit, &labels, amount);
    }

    /// Tells a gauge.
    pub(super) fn gauge(&mut self, metric: Metric, labels: &[(&str, &'static str)], value: f64) {
        let label = |key: &str| labels.iter().find(|(known, _)| *known == key).map(|(_, word)| *word);
        self.settings.note(metric, label, value);
    }

    /// Lets time pass until so many seconds from the start.
    pub(super) fn until(&mut self, seconds: f64) {
        self.now = Moment::since_start(Duration::from_secs_f64(seconds));
        while self.next_look <= self.now {
            self.history.look(self.next_look, &self.tally.counts());
            self.next_look = self.next_look.after(self.every);
        }
    }

    /// A call that begins and ends now.
    pub(super) fn call(&mut self, going: Going) {
        let Going { policy, deadline, estimate, refused: (refused, class), waits, ends, used } = going;
        self.tell(&Event::CallStarted { policy, deadline, estimate });
        let served = u32::from(ends == CallOutcome::Ok);
        for number in 1..=refused + served {
            let ok = number > refused;
            let outcome = if ok { AttemptOutcome::Ok } else { AttemptOutcome::Throttled };
            self.tell(&Event::AttemptEnded {
                number,
                delay_source: if number == 1 { DelaySource::None } else { waits },
                outcome,
                class: if ok { LimitClass::None } else { class },
                token_kind: None,
                status: None,
                duration: Duration::ZERO,
            });
        }
        if served == 1 && used > 0 {
            self.tell(&Event::TokensUsed { kind: TokenKind::Input, tokens: used });
        }
        let attempts = refused + served;
        self.tell(&Event::CallEnded {
            policy,
            outcome: ends,
            class: if served == 1 { LimitClass::None } else { class },
            delay_source: DelaySource::None,
            early: false,
            attempts,
            duration: Duration::ZERO,
        });
    }

    /// So many calls, spread evenly over each of these minutes.
    pub(super) fn minutes(&mut self, minutes: std::ops::Range<u32>, calls_a_minute: u32, going: impl Fn(u32) -> Going) {
        for minute in minutes {
            for call in 0..calls_a_minute {
                let seconds = 60.0 * (f64::from(minute) + f64::from(call) / f64::from(calls_a_minute));
                self.until(seconds);
                self.call(going(call));
            }
        }
    }

    /// Tells one event.
    pub(super) fn tell(&self, event: &Event<'_>) {
        self.tally.hear(self.now, event);
    }

    /// What is known of it now.
    pub(super) fn window(&self) -> Window {
        self.history.window(self.now, &self.tally.counts(), self.settings.clone())
    }

    /// The verdict on it now.
    pub(super) fn verdict(&self) -> Verdict {
        Verdict::on(&self.window())
    }
}
