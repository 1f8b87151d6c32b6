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
/// assert_eq!((nightly.base(), nightly.cap()), (Duration::from_secs(6), Duration::from_secs(9)));
///
/// // A person who waits 15 s, against the same quota, and a provider that does not say how long to wait: no retry.
/// let minute = Policy::for_window(Duration::from_secs(60));
/// let chat = minute.interactive(true).deadline(Duration::from_secs(15)).build()?;
/// assert_eq!(chat.attempts(), 1);
/// # Ok::<(), forbear::InvalidSetting>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use = "a policy is made of it by `deadline`"]
pub struct ForWindow {
    window: Duration,
    states_delay: bool,
    interactive: bool,
}

impl ForWindow {
    /// For a window of this length.
    pub(super) const fn of(window: Duration) -> Self {
        Self { window, states_delay: false, interactive: false }
    }

    /// Whether the provider normally states how long to wait, as [`Table::states_delay`](crate::core::rule::Table) knows;
    /// false unless set. Then a retry is made only where its wait fits the deadline, so that even a short deadline is
    /// worth one.
    pub const fn states_delay(mut self, states_delay: bool) -> Self {
        self.states_delay = states_delay;
        self
    }

    /// Whether a person waits for the answer: false unless set. Then no retry is suggested where the deadline is a quarter of
    /// the window or less and no wait is stated. Three of four who were throttled would be told "busy" all the same, after
    /// they had waited for the whole deadline; they are better told at once. Work that nobody waits for loses nothing by a
    /// few retries far apart.
    ///
    /// ```
    /// use std::time::Duration;
    /// use forbear::Policy;
    /// let (minute, deadline) = (Policy::for_window(Duration::from_secs(60)), Duration::from_secs(15));
    /// assert!(!minute.interactive(true).suggest(deadline)?.retries());
    ///
    /// let unattended = minute.suggest(deadline)?;
    /// assert!(unattended.retries() && unattended.reach.requests < 8.0);
    /// assert!(unattended.reach.coverage < 0.25, "of the throttled calls");
    /// # Ok::<(), forbear::InvalidSetting>(())
    /// ```
    pub const fn interactive(mut self, interactive: bool) -> Self {
        self.interactive = interactive;
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
        Ok(Suggestion::of(self.window, deadline, self.states_delay, self.interactive))
    }
}

/// Numbers for a call site, each derived from the window and the deadline, and what they reach.
///
/// | number | how |
/// |---|---|
/// | base | a tenth of the window, but the cap at most; where waits are stated an eighth of the deadline, but the window at most |
/// | factor | 2 |
/// | cap | a twentieth of window and deadline together, but a tenth of the deadline where that is longer than the window; the window or the deadline at most. Of a deadline that outlasts the window by less than that, what it outlasts it by, but half of it at least. Where waits are stated a quarter of the deadline, from the base to two windows. With very long deadlines a fortieth of them, up to ten windows |
/// | attempts | as many as it takes for the waits of full jitter (without a cap base·(2ⁿ−1)/2 after n of them) to add up to one and a half deadlines on average, so that the deadline ends a call and not the count, even where the dice fall short; at most 100 |
/// | retry at all | not where no wait is stated and the deadline is a sixtieth of the window or less, or a quarter where a person waits ([`ForWindow::interactive`]) |
/// | header cap | 5 min, or the window if that is longer |
///
/// # Where no wait is stated
///
/// The window resets at an instant that no call knows, so what counts is how long before the deadline the last request
/// begins: a reset after that comes in vain. Waits of full jitter with the bound c leave a gap of c/3 on average (the age of
/// a renewal process, E\[wait²\] / 2·E\[wait\]), and a reset falls into it with the chance c/3·window. Let half of all calls
/// be throttled, which is a limit far exceeded. The other half succeed at once, and of the throttled ones
/// deadline/window could be saved; then the gap costs c / 3·(window + deadline) of all successes. **The cap is the longest
/// for which that is one success in sixty**: (window + deadline) / 20. It is the fewest requests that lose next to nothing. Of
/// a deadline longer than the window the deadline takes the window's place, since at a crowded limit a call may have to
/// wait for several windows.
///
/// A crowd that comes at once is throttled when its window has just begun, and what the deadline has left after a whole
/// window is all it gets. No wait jumps over that rest if the cap is no longer than it; below half of the cap the requests
/// would cost more than the few who have so little left are worth.
///
/// By the same account a deadline of a sixtieth of the window makes all retries together worth one success in sixty: no
/// retry is suggested there.
///
/// # Where waits are stated
///
/// There the curve is the jitter on top of them. It decides how many of those who were told the same moment
/// come at it, find too little, and come again; and it costs no success, since it takes half of what the deadline leaves
/// at most. So it is longer than a curve that has to find the reset by itself. A retry is made only where its wait fits
/// the deadline, so that a short deadline is no reason against it.
///
/// `cargo run --release -p forbear-bench --bin numbers` holds the suggestions against the best of a sweep, on random cases
/// other than those on which their constants were chosen.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Suggestion {
    /// The window the limit counts in.
    pub window: Duration,
    /// How long a call may take.
    pub deadline: Duration,
    /// Whether the provider states how long to wait.
    pub states_delay: bool,
    /// Whether a person waits for the answer.
    pub interactive: bool,
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
    pub(super) fn of(window: Duration, deadline: Duration, states_delay: bool, interactive: bool) -> Self {
        const HOUR: Duration = Duration::from_secs(3_600);
        let (base, cap) = if states_delay {
            (window.min(deadline / 8), (deadline / 4).min(window * 2))
        } else {
            let cap = ((deadline + deadline.max(window)) / 20).min(window).min(deadline);
            let cap = match deadline.saturating_sub(window) {
                Duration::ZERO => cap,
                // A longer wait could begin before the end of a whole window and end after the deadline.
                rest => cap.min(rest.max(cap / 2)),
            };
            (cap.min(window / 10), cap)
        };
        let base = rounded(base).clamp(Duration::from_millis(1), HOUR);
        let cap = rounded(cap.max((deadline / 40).min(window * 10))).clamp(base, LONGEST_WINDOW);
        let worth_it = states_delay || deadline * 60 > window && !(interactive && saves_few(window, deadline));
        let attempts = if worth_it { attempts_to_fill(deadline + deadline / 2, base, cap) } else { 1 };
        let header_cap = Duration::from_secs(300).max(window);
        let mut layer = RetryLayer::new(base, attempts);
        layer.cap = cap;
        let reach = Reach::of(&layer, window, deadline);
        Self { window, deadline, states_delay, interactive, base, factor: 2.0, cap, attempts, header_cap, reach }
    }

    /// Whether a retry is suggested at all.
    #[must_use]
    pub const fn retries(&self) -> bool {
        self.attempts > 1
    }

    /// The policy of these numbers, to be named and built.
    pub fn policy(&self) -> PolicyBuilder {
        let policy = if self.interactive { Policy::interactive } else { Policy::background };
        policy(self.deadline)
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

    /// Whether no numbers could save more than one of four throttled calls, since no wait is stated.
    #[must_use]
    pub fn saves_few(&self) -> bool {
        !self.states_delay && saves_few(self.window, self.deadline)
    }
}

/// Whether no retries without a stated wait could save more than one of four throttled calls.
pub(super) fn saves_few(window: Duration, deadline: Duration) -> bool {
    deadline * 4 <= window
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
        assert_eq!((job.base, job.cap), (6 * SECOND, 12 * SECOND));
        // 3 s, then 6 s each: 31 waits last for 183 s on average.
        assert_eq!(job.attempts, 32);
        assert!(job.reach.coverage > 0.99 && job.reach.coverage_at_start > 0.99, "{job:?}");
    }

    #[test]
    fn a_person_is_not_made_to_wait_for_what_cannot_come() {
        let person = |deadline| Policy::for_window(MINUTE).interactive(true).suggest(deadline).expect("in range");
        assert!(!person(15 * SECOND).retries() && person(16 * SECOND).retries());
        assert_eq!(person(16 * SECOND).attempts, suggested(MINUTE, 16 * SECOND, false).attempts);
        let told =
            Policy::for_window(MINUTE).interactive(true).states_delay(true).suggest(15 * SECOND).expect("in range");
        assert!(
            told.retries() && (told.base, told.cap) == (1_900 * SECOND / 1_000, 3_800 * SECOND / 1_000),
            "{told:?}"
        );
        assert_eq!(told.best_coverage(), 0.25);
    }

    #[test]
    fn retries_are_as_far_apart_as_costs_one_success_in_sixty() {
        let cap = |deadline| suggested(MINUTE, deadline * SECOND, false).cap;
        // A twentieth of window and deadline together, a tenth of longer deadlines, within window and deadline.
        assert_eq!([2, 20, 60, 120, 900].map(cap), [2, 4, 6, 12, 60].map(|seconds| seconds * SECOND));
        assert_eq!(suggested(MINUTE, 20 * SECOND, false).base, 4 * SECOND, "no longer than the cap");
        // 65 and 62 s leave 5 and 2 s after a whole window.
        assert_eq!([67, 65, 62].map(cap), [6_700, 5_000, 3_100].map(Duration::from_millis));
        assert!(suggested(MINUTE, 65 * SECOND, false).reach.coverage_at_start > 0.98);
        let why = |deadline| suggested(MINUTE, deadline * SECOND, false).reasons()[2].why.clone();
        assert!(why(67).starts_with("a tenth") && why(65).starts_with("what") && why(62).starts_with("a twentieth"));
        let loses = |suggestion: &Suggestion| {
            let (saved, best) = (suggestion.reach.coverage, suggestion.best_coverage());
            // Half of the calls are throttled.
            (best - saved) / (1.0 + best)
        };
        for deadline in 2..=60 {
            let suggestion = suggested(MINUTE, deadline * SECOND, false);
            assert!(suggestion.retries() && loses(&suggestion) < 0.02, "{suggestion:?}");
        }
        assert!(!suggested(MINUTE, SECOND, false).retries(), "all of them would be worth one in sixty");
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
