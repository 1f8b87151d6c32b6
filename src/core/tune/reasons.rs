//! Why a suggestion's numbers are what they are.

use crate::core::tune::human::{HumanDuration, HumanPercent};
use crate::core::tune::suggest::Suggestion;

/// One number of a suggestion, and why it is what it is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reason {
    /// The policy's field: `base`.
    pub field: &'static str,
    /// Its value, for people: `6 s`.
    pub value: String,
    /// Why, as the rest of a sentence.
    pub why: String,
}

impl Suggestion {
    /// Each number with its reason; only the attempts where no retry is suggested, for then nothing else counts.
    #[must_use]
    pub fn reasons(&self) -> Vec<Reason> {
        let reason = |field, value: String, why: String| Reason { field, value, why };
        let attempts = reason("attempts", self.attempts.to_string(), self.why_attempts());
        if !self.retries() {
            return vec![attempts];
        }
        let mut reasons = vec![
            reason("base", HumanDuration(self.base).to_string(), self.why_base().to_owned()),
            reason("factor", self.factor.to_string(), "the usual doubling".to_owned()),
            reason("cap", HumanDuration(self.cap).to_string(), self.why_cap().to_owned()),
            attempts,
        ];
        if self.states_delay {
            let why =
                "the longest stated wait that is waited for; one past the deadline ends the call at once".to_owned();
            reasons.push(reason("header_cap", HumanDuration(self.header_cap).to_string(), why));
        }
        reasons
    }

    /// What to know before retries are made that can save one throttled call in four at most; nothing where no retry is
    /// suggested or more can be saved.
    #[must_use]
    pub fn caution(&self) -> Option<String> {
        let reach = &self.reach;
        (self.retries() && self.saves_few()).then(|| {
            format!(
                "where a person waits, do not retry: a window of {} resets within {} for at most {} of the throttled calls, and \
                 the others would hear it after {} instead of at once. {:.0} retries are refused for each call that is saved",
                HumanDuration(self.window),
                HumanDuration(self.deadline),
                HumanPercent(self.best_coverage()),
                HumanDuration(self.deadline),
                (reach.wasted - 1.0) / reach.coverage,
            )
        })
    }

    /// Why the base is what it is: a tenth of the window, or bounded by the deadline.
    fn why_base(&self) -> &'static str {
        match (self.states_delay, self.window <= self.deadline / 8) {
            (false, _) if self.window / 10 > self.cap => "the cap: a tenth of the window is longer than that",
            (false, _) => "a tenth of the window",
            (true, true) => "the window: the jitter on top of a stated wait",
            (true, false) => "an eighth of the deadline: the jitter on top of a stated wait",
        }
    }

    /// Why the cap is what it is.
    fn why_cap(&self) -> &'static str {
        let Self { window, deadline, states_delay, .. } = *self;
        let most = if states_delay { window * 2 } else { window };
        if deadline / 40 > most {
            return "more than a window, so that the attempts last for the deadline";
        }
        match (states_delay, deadline) {
            (true, _) if self.cap == self.base => "the base: there is no room for longer waits",
            (true, _) if deadline / 4 < window * 2 => "a quarter of the deadline",
            (true, _) => "two windows",
            (false, _) if deadline / 10 >= window => "the window",
            (false, _) if deadline > window && deadline - window < deadline / 20 => {
                "a twentieth of the deadline: it hardly outlasts the window, and longer waits would jump over the rest"
            }
            (false, _) if deadline > window && deadline - window < deadline / 10 => {
                "what the deadline outlasts the window by: longer waits would jump over that"
            }
            (false, _) if deadline >= window => {
                "a tenth of the deadline: longer waits would miss more resets, shorter ones waste requests"
            }
            (false, _) if (deadline + window) / 20 >= deadline => {
                "the deadline: more than a retry or two would save too little"
            }
            (false, _) => {
                "a twentieth of window and deadline together: longer waits would miss more resets, shorter ones waste requests"
            }
        }
    }

    /// Why there are so many attempts, with the sum of their waits.
    fn why_attempts(&self) -> String {
        let (window, deadline) = (HumanDuration(self.window), HumanDuration(self.deadline));
        let best = HumanPercent(self.best_coverage());
        if !self.retries() {
            let otherwise = if self.interactive {
                ". Allow a longer deadline, hand the work to a queue, or retry only where the provider states a wait that fits"
            } else {
                ". Allow a longer deadline, or retry only where the provider states a wait that fits"
            };
            return format!(
                "do not retry: a window of {window} resets within {deadline} for at most {best} of the throttled calls, and \
                 every retry of the others would be refused{otherwise}"
            );
        }
        if self.attempts == 100 {
            return format!(
                "the most there may be; they last for {} on average",
                HumanDuration(self.reach.last_request)
            );
        }
        format!(
            "their waits add up to {} on average, half as much again as the deadline: it ends the call, not the count",
            HumanDuration(self.reach.last_request)
        )
    }
}
