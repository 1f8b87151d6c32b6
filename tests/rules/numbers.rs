//! Counters on both sides of every line of the evidence.

use crate::cases::{Pool, Tests};

const ENDED: &str = "forbear_call_duration_seconds_count";
const ATTEMPTS: &str = "forbear_attempts_total";
const SERVED: &str = "attempt=\"1\",delay_source=\"none\",outcome=\"ok\",limit_class=\"none\"";
const THROTTLED: &str = "attempt=\"1\",delay_source=\"none\",outcome=\"throttled\",limit_class=\"unknown\"";
const FAILED: &str = "attempt=\"1\",delay_source=\"none\",outcome=\"transient\",limit_class=\"none\"";

/// A pool of a thousand calls an hour that all succeed at once.
fn fine() -> Pool {
    Pool::new("fine")
        .rising("forbear_calls_total", "policy=\"chat\"", 1_000.0)
        .rising("forbear_call_deadline_seconds_sum", "policy=\"chat\"", 60_000.0)
        .rising(ENDED, "outcome=\"ok\"", 1_000.0)
        .rising(ATTEMPTS, SERVED, 1_000.0)
        .at("forbear_gate_info", "mode=\"off\"", 1.0)
}

/// The cases: a name, the pool, and what is true of it, words parted by blanks.
fn cases() -> Vec<(String, Pool, &'static str)> {
    let mut cases: Vec<(String, Pool, &'static str)> = Vec::new();
    let mut case = |name: &str, pool: Pool, says| cases.push((name.to_owned(), pool, says));
    let failed = |an_hour: f64| {
        fine().rising(ENDED, "outcome=\"deadline_exceeded\"", an_hour).rising(
            ENDED,
            "outcome=\"ok\"",
            1_000.0 - an_hour,
        )
    };
    case("fine", fine(), "");
    case("few-fail", failed(9.7), "");
    case("some-fail", failed(10.3), "fails missed now");
    let attempts = |an_hour: f64| fine().rising(ATTEMPTS, THROTTLED, an_hour - 1_000.0);
    case("attempts", attempts(1_455.0), "minute");
    case("too-many-attempts", attempts(1_545.0), "minute missed now");
    // What ends a hundred calls is no limit, or only the wait before.
    let late = |errors: f64| {
        let pool = failed(100.0).rising(ATTEMPTS, FAILED, errors).rising(ATTEMPTS, SERVED, 1_000.0 - errors);
        let labels =
            "limit_class=\"none\",outcome=\"deadline_exceeded\",early=\"no\",delay_source=\"curve\",policy=\"chat\"";
        pool.rising("forbear_giveups_total", labels, 100.0)
    };
    case("late", late(9.7), "fails minute missed now");
    case("errors", late(10.3), "failure fails missed now");
    // And where hardly a call fails, what attempts ran into.
    let outlived = |errors: f64| fine().rising(ATTEMPTS, FAILED, errors).rising(ATTEMPTS, SERVED, 1_000.0 - errors);
    case("few-errors-outlived", outlived(9.7), "minute");
    case("errors-outlived", outlived(10.3), "failure");
    // So many served, and tried beside, within ten minutes, and how long waits were stated to be.
    let locked_of = |calls: Pool, served: f64, refused: f64, told: f64, wait: f64| {
        let pool = calls.rising(ATTEMPTS, SERVED, served * 6.0).rising(ATTEMPTS, THROTTLED, refused * 6.0);
        let pool = pool.rising("forbear_delay_seconds_count", "delay_source=\"header\"", refused * 6.0 * told);
        pool.rising("forbear_delay_seconds_sum", "delay_source=\"header\"", refused * 6.0 * told * wait)
    };
    let locked = |served, refused, told, wait| locked_of(fine(), served, refused, told, wait);
    case("locked-out", locked(0.45, 20.5, 0.0, 0.0), "locked minute");
    case("not-quite", locked(0.55, 20.5, 0.0, 0.0), "minute");
    case("hardly-tried", locked(0.45, 19.1, 0.0, 0.0), "minute");
    case("locked-out-lately", locked(0.9, 41.0, 0.0, 0.0), "lately minute");
    case("not-quite-lately", locked(1.1, 41.0, 0.0, 0.0), "minute");
    case("hardly-tried-lately", locked(0.9, 38.2, 0.0, 0.0), "minute");
    // Whoever says that it is a matter of seconds is believed where most calls fail, and not where most succeed else.
    let told = |failing: f64, told: f64, wait: f64| locked_of(failed(failing), 0.45, 20.5, told, wait);
    case("told-soon", told(515.0, 0.21, 29.0), "fails missed now");
    case("told-late", told(515.0, 0.21, 31.0), "locked fails missed now");
    case("told-seldom", told(515.0, 0.19, 29.0), "locked fails missed now");
    case("told-soon-and-served", told(485.0, 0.21, 29.0), "locked fails missed now");
    let hasty = |an_hour: f64| {
        let pool = fine().rising("forbear_calls_total", "policy=\"hasty\"", an_hour);
        pool.rising("forbear_call_deadline_seconds_sum", "policy=\"hasty\"", an_hour * 5.0)
    };
    case("hardly-hasty", hasty(9.7), "");
    case("hasty", hasty(10.5), "hasty");
    // A success uses twice what was expected.
    let used = |side: &str, served: f64| {
        let side = format!("token_kind=\"{side}\"");
        let offered = format!("policy=\"chat\",{side}");
        let pool = fine().rising("forbear_offered_tokens_total", &offered, 1_000_000.0);
        let pool = pool.rising("forbear_used_tokens_total", &side, served * 2_000.0);
        pool.rising(ATTEMPTS, SERVED, served).rising(ATTEMPTS, THROTTLED, 1_000.0 - served)
    };
    case("few-successes-read", used("input", 29.0), "minute");
    case("more-successes-read", used("input", 31.0), "input tokens minute");
    case("few-successes-written", used("output", 29.0), "minute");
    case("more-successes-written", used("output", 31.0), "output tokens minute");
    for (place, load) in [0.25, 0.5, 0.9, 1.0, 1.25, 1.5, 2.0, 3.0, 5.0, 10.0].into_iter().enumerate() {
        // A thousand an hour, all the time: what a quarter of an hour brings, within it and a minute of patience.
        let limit = |load: f64| 1_000.0 / 60.0 * 15.0 / 16.0 / load;
        let labels = "dimension=\"requests\",window=\"minute\",origin=\"config\"";
        let pool = |load: f64| steady().at("forbear_quota_limit", labels, limit(load));
        case(&format!("load-below-{load}"), pool(load * 0.97), LOADS[place]);
        case(&format!("load-above-{load}"), pool(load * 1.03), LOADS[place + 1]);
    }
    // A limit that nobody knows, by what was served while something was refused: a tenth of the calls.
    let learned = |served: f64| {
        // A quarter of an hour of calls, over what so many a minute serve within it and a minute of patience.
        fine().rising(ATTEMPTS, SERVED, served).rising(ATTEMPTS, THROTTLED, 1_000.0)
    };
    let as_many = 1_000.0 * 15.0 / 16.0;
    for (line, below, above) in
        [(0.85, "minute missed now", "learned minute missed now"), (2.0, "learned minute", "learned twice minute")]
    {
        case(&format!("learned-below-{line}"), learned(as_many / (line * 0.97)), below);
        case(&format!("learned-above-{line}"), learned(as_many / (line * 1.03)), above);
    }
    cases
}

/// Calls that are all refused: nothing is served above any limit.
fn steady() -> Pool {
    fine().rising(ATTEMPTS, SERVED, 0.0)
}

/// What is true of a pool whose load lies between two of those that are counted.
const LOADS: [&str; 11] = [
    "",
    "above-0.25",
    "above-0.25 above-0.5",
    "above-0.25 above-0.5 above-0.9",
    "above-0.25 above-0.5 above-0.9 above-1",
    "above-0.25 above-0.5 above-0.9 above-1 above-1.25 between",
    "above-0.25 above-0.5 above-0.9 above-1 above-1.25 above-1.5",
    "above-0.25 above-0.5 above-0.9 above-1 above-1.25 above-1.5 above-2",
    "above-0.25 above-0.5 above-0.9 above-1 above-1.25 above-1.5 above-2 above-3",
    "above-0.25 above-0.5 above-0.9 above-1 above-1.25 above-1.5 above-2 above-3 above-5",
    "above-0.25 above-0.5 above-0.9 above-1 above-1.25 above-1.5 above-2 above-3 above-5 above-10",
];

/// What is asked of every pool, by the word for it.
const ASKED: [(&str, &str); 15] = [
    ("missed", "pool:forbear_missed:bool1h == 1"),
    ("fails", "pool:forbear_fails:bool1h == 1"),
    ("locked", "pool:forbear_locked_out:bool1h == 1"),
    ("lately", "pool:forbear_locked_out:bool5m == 1"),
    ("minute", "pool:forbear_blame:ratio1h{reason=\"minute\"} > 0.5"),
    ("failure", "pool:forbear_blame:ratio1h{reason=\"failure\"} > 0.5"),
    ("hasty", "pool:forbear_patience:seconds1h < 6"),
    ("now", "pool:forbear_missed:bool5m == 1"),
    ("tokens", "pool:forbear_need:ratio1h{dimension=\"tokens\"} > 1.5"),
    ("input", "pool:forbear_need:ratio1h{dimension=\"input_tokens\"} > 1.5"),
    ("output", "pool:forbear_need:ratio1h{dimension=\"output_tokens\"} > 1.5"),
    (
        "learned",
        "max without (load, dimension) (pool:forbear_calls_above_learned:ratio1h{load=\"0.85\",dimension=\"requests\",pool=~\"learned.*\"}) > 0.5",
    ),
    (
        "twice",
        "max without (load, dimension) (pool:forbear_calls_above_learned:ratio1h{load=\"2\",dimension=\"requests\",pool=~\"learned.*\"}) > 0.5",
    ),
    ("above", "pool:forbear_calls_above:ratio1h > 0.5"),
    ("between", "pool:forbear_horizon_load:1h > 1.25 < 1.5"),
];

/// The tests of the evidence, as a file.
pub(crate) fn file() -> String {
    file_of(|_| true)
}

/// The names of the cases, neighbours side by side.
pub(crate) fn names() -> Vec<String> {
    cases().into_iter().map(|(name, ..)| name).collect()
}

/// The tests of the cases with these names.
pub(crate) fn file_of(is_meant: impl Fn(&str) -> bool) -> String {
    let mut cases = cases();
    cases.retain(|(name, ..)| is_meant(name));
    let of_pool = |(name, pool, says): &(String, Pool, &'static str)| {
        let one = |word: &str| match word.strip_prefix("above-") {
            Some(load) => format!("load=\"{load}\", pool=\"{name}\", says=\"above\""),
            None => format!("pool=\"{name}\", says=\"{word}\""),
        };
        (vec![pool.named(name)], says.split_whitespace().map(one).collect())
    };
    // Each for itself: promtool takes no more than ten thousand samples for a query.
    let blocks: Vec<_> = cases.iter().map(of_pool).collect();
    let one = |(word, asked): &(&str, &str)| format!("label_replace({asked}, \"says\", \"{word}\", \"\", \"\")");
    let asked = format!("count by (pool, says, load) ({})", ASKED.iter().map(one).collect::<Vec<_>>().join(" or "));
    Tests { rules: "evidence.yml", asked: &asked, sampled: 1, evaluated: 4, at_minute: 80, blocks: &blocks, more: "" }
        .text()
}
