//! Why a suggestion's numbers are what they are.

use crate::core::tune::human::HumanDuration;
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

    /// Whether most retries are known to fail, and are made all the same.
    fn is_best_effort(&self) -> bool {
        !self.states_delay && self.deadline * 4 <= self.window
    }

    /// Why the base is what it is: a tenth of the window, or bounded by the deadline.
    fn why_base(&self) -> &'static str {
        if self.is_best_effort() {
            return "a third of the deadline: few retries, far apart, since most are refused";
        }
        let (of_window, of_deadline) = if self.states_delay { (1, 8) } else { (10, 15) };
        match (self.window / of_window <= self.deadline / of_deadline, self.states_delay) {
            (true, false) => "a tenth of the window",
            (true, true) => "the window: the jitter on top of a stated wait",
            (false, false) => "a fifteenth of the deadline: a tenth of the window would be too long for it",
            (false, true) => "an eighth of the deadline: the jitter on top of a stated wait",
        }
    }

    /// Why the cap is what it is.
    fn why_cap(&self) -> &'static str {
        let (share, most) =
            if self.states_delay { (self.deadline / 4, self.window * 2) } else { (self.deadline / 8, self.window) };
        match (self.cap == self.base, share < most, self.states_delay) {
            (true, _, _) => "the base: there is no room for longer waits",
            (false, true, false) => "an eighth of the deadline",
            (false, true, true) => "a quarter of the deadline",
            (false, false, _) if self.deadline / 40 > most => {
                "more than a window, so that the attempts last for the deadline"
            }
            (false, false, false) => "the window",
            (false, false, true) => "two windows",
        }
    }

    /// Why there are so many attempts, with the sum of their waits.
    fn why_attempts(&self) -> String {
        let (window, deadline) = (HumanDuration(self.window), HumanDuration(self.deadline));
        let percent = self.best_coverage() * 100.0;
        if !self.retries() {
            return format!(
                "do not retry: a window of {window} resets within {deadline} for at most {percent:.0} % of the throttled \
                 calls, and every retry of the others would be refused. Allow a longer deadline, hand the work to a queue, or \
                 retry only where the provider states a wait that fits. If these {percent:.0} % are worth their requests, ask for \
                 best effort"
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
