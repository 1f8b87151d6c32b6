//! Which verdicts lie so near a line that extrapolated increases may carry them over it.

use forbear::core::signal::Dimension;
use forbear::diagnose::Verdict;

/// As near as this, to both sides.
const NEAR: f64 = 0.03;

/// Whether a number that a rule compares is within three in a hundred of what it is compared with.
pub(super) fn is_near(verdict: &Verdict) -> bool {
    let seen = &verdict.evidence;
    let failing = 1.0 - seen.objective.success();
    let blame = seen.blame;
    let mut lines = vec![
        (seen.calls, vec![200.0]),
        (failing, vec![0.01, 0.03]),
        (1.0 - failing, vec![0.95, 0.6, 0.55, 0.5]),
        (seen.objective.attempts_per_call, vec![1.5]),
        (seen.wrong / seen.ended.max(1.0), vec![0.01]),
        (seen.wrong / seen.objective.failed.max(1e-9), vec![1.0]),
        (seen.firsts_throttled, vec![0.27, 0.35]),
        (seen.retries_throttled, vec![0.5, 0.3, 0.9]),
        (seen.exhausted, vec![0.5]),
        (seen.out_of_time, vec![0.3]),
        (seen.unnamed, vec![0.5]),
        (seen.errors, vec![0.01]),
        (seen.learned_load, vec![0.85, 2.0]),
        (seen.used_when_throttled.unwrap_or_default(), vec![0.3, 0.15]),
    ];
    lines.extend(
        [blame.minute, blame.day, blame.spend, blame.overload, blame.concurrency, blame.failure]
            .map(|part| (part, vec![0.5])),
    );
    lines.push((blame.failure, vec![0.1]));
    let of_requests = seen.loads.iter().filter(|load| load.limit.dimension == Dimension::Requests);
    lines.extend(of_requests.map(|load| (load.mean * seen.objective.attempts_per_call, vec![2.0])));
    lines.extend(seen.loads.iter().map(|load| (load.horizon, vec![1.0, 0.9, 0.5])));
    lines.extend(seen.loads.iter().map(|load| (load.sustained, vec![1.1])));
    lines.iter().any(|(number, lines)| lines.iter().any(|line| (number / line - 1.0).abs() < NEAR))
}
