//! What the numbers of a retry layer do in a window.

use std::time::Duration;

use crate::core::setting::{InvalidSetting, within};
use crate::core::tune::finding::{Finding, FindingKind, Severity};
use crate::core::tune::human::{HumanDuration, HumanPercent};
use crate::core::tune::layer::{RetryLayer, StatedWaits};
use crate::core::tune::reach::Reach;
use crate::core::tune::suggest::{LONGEST_WINDOW, SHORTEST_WINDOW, Suggestion};

/// Who comes back within this time of each other comes back together.
const TOGETHER: Duration = Duration::from_millis(100);
/// How much more often than it must a layer may give up, before that is a finding.
const TOLERATED: f64 = 0.1;
/// How many requests may be refused before anybody calls it waste: what a base of a tenth of the window costs.
const FEW: f64 = 5.0;

/// What a retry layer does in a window, and what is wrong with it.
///
/// See [`Reach`] for the model behind the predictions: the layer's own curve against a window that resets at an unknown
/// instant, no waits stated.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Check {
    /// The window the limit counts in.
    pub window: Duration,
    /// How long the caller waits.
    pub deadline: Duration,
    /// How far it reaches.
    pub reach: Reach,
    /// The most requests of one call.
    pub most_requests: u32,
    /// The longest a call can take; `None` where nothing cuts its requests.
    pub longest_call: Option<Duration>,
    /// The share of those throttled in one moment that come back within 100 ms of each other: 0 to 1.
    pub together: f64,
    /// Numbers that fit, for comparison.
    pub suggestion: Suggestion,
    /// What is wrong, the worst first.
    pub findings: Vec<Finding>,
}

impl Check {
    /// The chance that a throttled call gives up before the window resets: 0 to 1.
    #[must_use]
    pub fn gives_up(&self) -> f64 {
        1.0 - self.reach.coverage
    }

    /// Whether an attempt can come after a whole window at all, however the waits fall.
    #[must_use]
    pub fn can_outlive_window(&self) -> bool {
        self.reach.latest_request >= self.window && self.deadline > self.window
    }
}

impl RetryLayer {
    /// What these numbers do in a window of `window`, for callers who wait `deadline`.
    ///
    /// ```
    /// use std::time::Duration;
    /// use forbear::core::tune::{FindingKind, RetryLayer};
    ///
    /// // Base 1 s, factor 2, five retries, against a quota per minute.
    /// let layer = RetryLayer::new(Duration::from_secs(1), 6);
    /// let check = layer.check(Duration::from_secs(60), Duration::from_secs(120))?;
    /// assert!((0.73..0.75).contains(&check.gives_up()), "three calls in four");
    /// assert!(!check.can_outlive_window());
    /// assert_eq!(check.findings[0].kind, FindingKind::CannotOutliveWindow);
    /// # Ok::<(), forbear::InvalidSetting>(())
    /// ```
    ///
    /// # Errors
    /// A field of the layer is outside its range, the window is not from 10 ms to 24 h, or the deadline not from 1 ms to 7
    /// days.
    pub fn check(&self, window: Duration, deadline: Duration) -> Result<Check, InvalidSetting> {
        self.validate()?;
        within("window", window, SHORTEST_WINDOW..=LONGEST_WINDOW, "10ms to 24h")?;
        within("deadline", deadline, Duration::from_millis(1)..=7 * LONGEST_WINDOW, "1ms to 7 days")?;
        let mut check = Check {
            window,
            deadline,
            reach: Reach::of(self, window, deadline),
            most_requests: self.requests(),
            longest_call: self.longest_call(),
            together: together(self),
            suggestion: Suggestion::of(window, deadline, false, self.interactive),
            findings: Vec::new(),
        };
        check.findings = findings(self, &check);
        check.findings.sort_by_key(|finding| finding.severity);
        Ok(check)
    }
}

/// The share of callers that come back in the fullest 100 ms after their first wait.
fn together(layer: &RetryLayer) -> f64 {
    let first = layer.below.as_deref().filter(|below| below.attempts > 1).unwrap_or(layer);
    let bound = first.base.min(first.cap).as_secs_f64();
    let spread = (first.jitter.most - first.jitter.least) * bound + first.jitter.plus.as_secs_f64();
    (TOGETHER.as_secs_f64() / spread).min(1.0)
}

/// Everything that is wrong, in the order of [`FindingKind`].
fn findings(layer: &RetryLayer, check: &Check) -> Vec<Finding> {
    let retries = check.most_requests > 1;
    let found = [
        outlives(check).filter(|_| retries),
        // Where next to nobody can be saved, not to retry is as good an answer.
        gives_up(check).filter(|_| retries || !check.suggestion.saves_few()),
        doomed(check).filter(|_| retries),
        wastes(check).filter(|_| retries),
        multiplies(layer, check),
        outlasts(check),
        synchronised(check).filter(|_| retries),
        stated_waits(layer, check).filter(|_| retries),
    ];
    found.into_iter().flatten().collect()
}

/// No attempt can come after a whole window: a call throttled when it has just begun cannot succeed.
fn outlives(check: &Check) -> Option<Finding> {
    let (latest, window) = (check.reach.latest_request, check.window);
    (latest < window && check.deadline > window).then(|| Finding {
        kind: FindingKind::CannotOutliveWindow,
        severity: Severity::Error,
        number: latest.as_secs_f64(),
        what: format!(
            "the last request begins {} after the first at the latest, and the window lasts {}: a call that is throttled when \
             it has just begun cannot succeed",
            HumanDuration(latest),
            HumanDuration(window)
        ),
        fix: instead(&check.suggestion),
    })
}

/// More calls give up before the window resets than suggested numbers would lose.
fn gives_up(check: &Check) -> Option<Finding> {
    let (chance, suggestion) = (check.gives_up(), &check.suggestion);
    let needlessly = chance - (1.0 - suggestion.reach.coverage);
    (needlessly > TOLERATED && suggestion.retries()).then(|| Finding {
        kind: FindingKind::GivesUpBeforeReset,
        severity: if chance > 0.5 { Severity::Error } else { Severity::Warning },
        number: chance,
        what: format!("{} of the throttled calls give up before the window resets", HumanPercent(chance)),
        fix: format!("{}: then {} do", instead(suggestion), HumanPercent(1.0 - suggestion.reach.coverage)),
    })
}

/// The deadline ends most of the throttled calls before the window resets: no numbers help, only more time.
fn doomed(check: &Check) -> Option<Finding> {
    (!check.suggestion.retries()).then(|| Finding {
        kind: FindingKind::DeadlineBeforeReset,
        severity: Severity::Warning,
        number: check.suggestion.best_coverage(),
        what: format!(
            "the deadline holds {} of the window: no numbers save more of the throttled calls than that",
            HumanPercent(check.suggestion.best_coverage())
        ),
        fix: "set attempts to 1, allow a longer deadline, or retry only where the provider states a wait that fits"
            .to_owned(),
    })
}

/// Far more requests of a throttled call are refused than a base of a tenth of the window costs.
fn wastes(check: &Check) -> Option<Finding> {
    let wasted = check.reach.wasted;
    let enough = (1.5 * check.suggestion.reach.wasted).max(FEW);
    (wasted > enough).then(|| Finding {
        kind: FindingKind::WastedRequests,
        severity: Severity::Warning,
        number: wasted,
        what: format!("{wasted:.1} requests of a throttled call are refused before one can succeed, or none can"),
        fix: format!("{}: then {:.1} are", instead(&check.suggestion), check.suggestion.reach.wasted),
    })
}

/// A layer below retries as well: the requests of one call multiply.
fn multiplies(layer: &RetryLayer, check: &Check) -> Option<Finding> {
    let below = layer.below.as_ref().map_or(1, |below| below.requests());
    (below > 1).then(|| Finding {
        kind: FindingKind::MultipliedRequests,
        severity: Severity::Error,
        number: check.most_requests.into(),
        what: format!(
            "one call makes up to {} requests: the layer below makes {below} of each of {} attempts",
            check.most_requests, layer.attempts
        ),
        fix: "turn the retries of the layer below off: one layer retries".to_owned(),
    })
}

/// A call can take longer than its caller waits.
fn outlasts(check: &Check) -> Option<Finding> {
    let longest = check.longest_call.filter(|longest| *longest > check.deadline)?;
    Some(Finding {
        kind: FindingKind::OutlastsDeadline,
        severity: Severity::Error,
        number: longest.as_secs_f64(),
        what: format!(
            "a call can take {}, and its caller waits {}",
            HumanDuration(longest),
            HumanDuration(check.deadline)
        ),
        fix: format!(
            "end the call after {}, and each request with the time that is left",
            HumanDuration(check.deadline)
        ),
    })
}

/// Callers that were throttled together come back together.
fn synchronised(check: &Check) -> Option<Finding> {
    (check.together > 0.5).then(|| Finding {
        kind: FindingKind::Synchronised,
        severity: Severity::Warning,
        number: check.together,
        what: format!(
            "{} of the callers that are throttled in one moment come back within 100 ms of each other",
            HumanPercent(check.together)
        ),
        fix: format!("draw full jitter over a base of {}", HumanDuration(check.suggestion.base)),
    })
}

/// What the layer does with a wait that is stated: it should be heeded, and never be cut short.
fn stated_waits(layer: &RetryLayer, check: &Check) -> Option<Finding> {
    let (kind, cap) = match layer.stated_waits {
        StatedWaits::Unknown => return None,
        StatedWaits::Ignored => (FindingKind::IgnoresStatedWaits, Duration::ZERO),
        StatedWaits::UpTo(cap) if cap >= check.window.min(check.deadline) => return None,
        StatedWaits::UpTo(cap) => (FindingKind::HeaderCapBelowWindow, cap),
    };
    let what = match kind {
        FindingKind::IgnoresStatedWaits => {
            "the wait that a provider states is not read: retries come before it and are refused".to_owned()
        }
        _ => {
            format!(
                "stated waits above {} are not waited for, and the window lasts {}",
                HumanDuration(cap),
                HumanDuration(check.window)
            )
        }
    };
    let fix = format!("wait as long as stated, up to {}, if the deadline allows it", HumanDuration(check.window));
    Some(Finding { kind, severity: Severity::Warning, number: cap.as_secs_f64(), what, fix })
}

/// The numbers to set in place of those checked.
fn instead(suggestion: &Suggestion) -> String {
    let Suggestion { base, cap, attempts, .. } = suggestion;
    if suggestion.retries() {
        format!("set base {}, factor 2, cap {}, attempts {attempts}", HumanDuration(*base), HumanDuration(*cap))
    } else {
        "set attempts to 1".to_owned()
    }
}

#[cfg(test)]
#[path = "check_tests.rs"]
mod tests;
