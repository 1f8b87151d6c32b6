//! A policy from a window and a deadline.

use std::time::Duration;

use crate::core::policy::{Policy, PolicyBuilder};
use crate::core::setting::{InvalidSetting, within};
use crate::core::tune::layer::RetryLayer;
use crate::core::tune::reach::Reach;

/// The shortest window a suggestion is made for: a tenth of it is the shortest base.
pub(super) const SHORTEST_WINDOW: Duration = Duration::from_millis(10);
/// The longest: what resets later is not waited for.
pub(super) const LONGEST_WINDOW: Duration = Duration::from_secs(86_400);
/// The most attempts a policy may have.
const MOST_ATTEMPTS: u32 = 100;

/// A policy in the making that knows the window its limit counts in. Made by [`Policy::for_window`].
///
/// ```
/// use std::time::Duration;
/// use forbear::Policy;
///
/// // A job that may take 90 s, against a quota per minute.
/// let nightly = Policy::for_window(Duration::from_secs(60)).deadline(Duration::from_secs(90)).named("nightly").build()?;
/// assert_eq!((nightly.base(), nightly.cap()), (Duration::from_secs(6), Duration::from_secs(11)));
///
/// // A person who waits 15 s, against the same quota, and a provider that does not say how long to wait: no retry.
/// let chat = Policy::for_window(Duration::from_secs(60)).deadline(Duration::from_secs(15)).build()?;
/// assert_eq!(chat.attempts(), 1);
/// # Ok::<(), forbear::InvalidSetting>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use = "a policy is made of it by `deadline`"]
pub struct ForWindow {
    window: Duration,
    states_delay: bool,
    best_effort: bool,
}

impl ForWindow {
    /// For a window of this length.
    pub(super) const fn of(window: Duration) -> Self {
        Self { window, states_delay: false, best_effort: false }
    }

    /// Whether the provider normally states how long to wait, as [`Table::states_delay`](crate::core::rule::Table) knows;
    /// false unless set. Then a retry is made only where its wait fits the deadline, so that even a short deadline is
    /// worth one.
    pub const fn states_delay(mut self, states_delay: bool) -> Self {
        self.states_delay = states_delay;
        self
    }

    /// Whether calls are worth a retry of which most must fail: false unless set. Then a few retries, far apart, are suggested
    /// where the answer is otherwise not to retry.
    ///
    /// ```
    /// use std::time::Duration;
    /// use forbear::Policy;
    /// let (minute, deadline) = (Duration::from_secs(60), Duration::from_secs(15));
    /// let all_the_same = Policy::for_window(minute).best_effort(true).suggest(deadline)?;
    /// assert!(all_the_same.retries() && all_the_same.reach.requests < 7.0);
    /// assert!(all_the_same.reach.coverage < 0.25, "of the throttled calls");
    /// # Ok::<(), forbear::InvalidSetting>(())
    /// ```
    pub const fn best_effort(mut self, best_effort: bool) -> Self {
        self.best_effort = best_effort;
        self
    }

    /// The policy for calls that may take `deadline`: the numbers of [`ForWindow::suggest`], to be changed, named and
    /// built. A window or deadline outside its range is refused by [`PolicyBuilder::build`].
    pub fn deadline(self, deadline: Duration) -> PolicyBuilder {
        match self.suggest(deadline) {
            Ok(suggestion) => suggestion.policy(),
            Err(refused) => Policy::background(deadline).refused(refused),
        }
    }

    /// The numbers for calls that may take `deadline`, and what they reach.
    ///
    /// # Errors
    /// The window is not from 10 ms to 24 h, or the deadline not from 1 ms to 7 days.
    pub fn suggest(self, deadline: Duration) -> Result<Suggestion, InvalidSetting> {
        const WEEK: Duration = Duration::from_secs(604_800);
        within("window", self.window, SHORTEST_WINDOW..=LONGEST_WINDOW, "10ms to 24h")?;
        within("deadline", deadline, Duration::from_millis(1)..=WEEK, "1ms to 7 days")?;
        Ok(Suggestion::of(self.window, deadline, self.states_delay, self.best_effort))
    }
}

/// Numbers for a call site, each derived from the window and the deadline, and what they reach.
///
/// | number | how |
/// |---|---|
/// | base | a tenth of the window, but a fifteenth of the deadline at most; where waits are stated an eighth of the deadline, but the window at most |
/// | factor | 2 |
/// | cap | an eighth of the deadline, a quarter where waits are stated, between base and window, or two windows where waits are stated; with very long deadlines a fortieth of them, up to ten windows |
/// | attempts | as many as it takes for the waits of full jitter (without a cap base·(2ⁿ−1)/2 after n of them) to add up to one and a half deadlines on average, so that the deadline ends a call and not the count, even where the dice fall short; at most 100 |
/// | retry at all | not where the deadline is a quarter of the window or less and no wait is stated: three calls in four could not be saved, and all their requests were wasted. With [`ForWindow::best_effort`] a few, base and cap a third of the deadline |
/// | header cap | 5 min, or the window if that is longer |
///
/// Where waits are stated the curve is the jitter on top of them. It decides how many of those who were told the same moment
/// come at it, find too little, and come again; and it costs no success, since it takes half of what the deadline leaves
/// at most. So it is longer than a curve that has to find the reset by itself.
///
/// The constants were chosen by simulation on one set of random cases and measured on another; `cargo run --release -p
/// forbear-bench --bin numbers` repeats that.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Suggestion {
    /// The window the limit counts in.
    pub window: Duration,
    /// How long a call may take.
    pub deadline: Duration,
    /// Whether the provider states how long to wait.
    pub states_delay: bool,
    /// The bound of the first wait.
    pub base: Duration,
    /// By how much the bound grows.
    pub factor: f64,
    /// The bound of every wait.
    pub cap: Duration,
    /// The most attempts; 1 is the answer "do not retry".
    pub attempts: u32,
    /// The longest stated wait to be waited for.
    pub header_cap: Duration,
    /// What these numbers reach where no wait is stated.
    pub reach: Reach,
}

impl Suggestion {
    /// The numbers themselves; window and deadline are in range.
    pub(super) fn of(window: Duration, deadline: Duration, states_delay: bool, best_effort: bool) -> Self {
        const HOUR: Duration = Duration::from_secs(3_600);
        let hopeless = !states_delay && deadline * 4 <= window;
        let (base, cap) = match (hopeless, states_delay) {
            (true, _) => (deadline / 3, deadline / 3),
            (false, false) => ((window / 10).min(deadline / 15), (deadline / 8).min(window)),
            (false, true) => (window.min(deadline / 8), (deadline / 4).min(window * 2)),
        };
        let base = rounded(base).clamp(Duration::from_millis(1), HOUR);
        let cap = rounded(cap.max((deadline / 40).min(window * 10))).clamp(base, LONGEST_WINDOW);
        let attempts = attempts_to_fill(deadline + deadline / 2, base, cap);
        let attempts = if hopeless && !best_effort { 1 } else { attempts };
        let header_cap = Duration::from_secs(300).max(window);
        let mut layer = RetryLayer::new(base, attempts);
        layer.cap = cap;
        let reach = Reach::of(&layer, window, deadline);
        Self { window, deadline, states_delay, base, factor: 2.0, cap, attempts, header_cap, reach }
    }

    /// Whether a retry is suggested at all.
    #[must_use]
    pub const fn retries(&self) -> bool {
        self.attempts > 1
    }

    /// The policy of these numbers, to be named and built.
    pub fn policy(&self) -> PolicyBuilder {
        Policy::background(self.deadline)
            .base(self.base)
            .factor(self.factor)
            .cap(self.cap)
            .attempts(self.attempts)
            .header_cap(self.header_cap)
    }

    /// The most that numbers of any kind could reach where no wait is stated: the chance that the window resets before the
    /// deadline, 0 to 1.
    #[must_use]
    pub fn best_coverage(&self) -> f64 {
        (self.deadline.as_secs_f64() / self.window.as_secs_f64()).min(1.0)
    }
}

/// The fewest attempts whose waits, with full jitter, add up to `time` on average.
fn attempts_to_fill(time: Duration, base: Duration, cap: Duration) -> u32 {
    let (mut attempts, mut mean_total, mut bound) = (1, Duration::ZERO, base.min(cap));
    while mean_total < time && attempts < MOST_ATTEMPTS {
        mean_total += bound / 2;
        bound = (bound * 2).min(cap);
        attempts += 1;
    }
    attempts
}

/// The duration with two digits: `11s` is easier to read than `11.25s`, and no worse.
fn rounded(duration: Duration) -> Duration {
    let nanos = duration.as_nanos().max(1);
    let unit = 10u128.pow(nanos.ilog10().saturating_sub(1));
    let rounded = (nanos + unit / 2) / unit * unit;
    Duration::from_nanos(u64::try_from(rounded).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);
    const MINUTE: Duration = Duration::from_secs(60);

    fn suggested(window: Duration, deadline: Duration, states_delay: bool) -> Suggestion {
        Policy::for_window(window).states_delay(states_delay).suggest(deadline).expect("in range")
    }

    #[test]
    fn a_job_against_a_minute_starts_at_a_tenth_of_it_and_reaches_past_it() {
        let job = suggested(MINUTE, 120 * SECOND, false);
        assert_eq!((job.base, job.cap), (6 * SECOND, 15 * SECOND));
        // 3 and 6 s, then 7.5 s each: 25 waits last for 181.5 s on average.
        assert_eq!(job.attempts, 26);
        assert!(job.reach.coverage > 0.99 && job.reach.coverage_at_start > 0.99, "{job:?}");
    }

    #[test]
    fn a_person_is_not_made_to_wait_for_what_cannot_come() {
        assert!(!suggested(MINUTE, 15 * SECOND, false).retries());
        assert!(suggested(MINUTE, 16 * SECOND, false).retries());
        let told = suggested(MINUTE, 15 * SECOND, true);
        assert!(
            told.retries() && (told.base, told.cap) == (1_900 * SECOND / 1_000, 3_800 * SECOND / 1_000),
            "{told:?}"
        );
        assert_eq!(told.best_coverage(), 0.25);
    }

    #[test]
    fn every_window_and_deadline_gives_a_policy_that_builds() {
        let lengths = [0.01, 0.3, 1.0, 47.0, 3_600.0, 86_400.0].map(Duration::from_secs_f64);
        for window in lengths {
            for deadline in lengths.into_iter().chain([Duration::from_millis(1), 604_800 * SECOND]) {
                for states_delay in [false, true] {
                    let suggestion = suggested(window, deadline, states_delay);
                    suggestion.policy().build().unwrap_or_else(|refused| panic!("{suggestion:?}: {refused}"));
                }
            }
        }
    }

    #[test]
    fn durations_are_rounded_to_two_digits() {
        let rounded = |millis| rounded(Duration::from_millis(millis)).as_millis();
        assert_eq!([11_250, 6_000, 5_949, 5_950, 7].map(rounded), [11_000, 6_000, 5_900, 6_000, 7]);
    }

    #[test]
    fn stated_waits_of_a_long_window_are_waited_for() {
        assert_eq!(suggested(600 * SECOND, 3_600 * SECOND, true).header_cap, 600 * SECOND);
        assert_eq!(suggested(MINUTE, 3_600 * SECOND, true).header_cap, 300 * SECOND);
    }
}
