//! Evidence on both sides of every line of the verdict.

use crate::cases::{Pool, Tests};

/// A pool of 1,000 calls that fails one in ten although its quota would do; each case changes what it is about.
fn failing() -> Pool {
    let hour = |pool: Pool, name: &str, value: f64| pool.at(&format!("pool:forbear_{name}:increase1h"), "", value);
    let ratio = |pool: Pool, name: &str, value: f64| pool.at(&format!("pool:forbear_{name}:ratio1h"), "", value);
    let mut pool =
        Pool::new("failing").at("pool:forbear_missed:bool1h", "", 1.0).at("pool:forbear_missed:bool5m", "", 1.0);
    for (name, value) in [
        ("calls", 1_000.0),
        ("ended", 1_000.0),
        ("cancelled", 0.0),
        ("not_retryable", 0.0),
        ("too_large", 0.0),
        ("attempts", 1_350.0),
        ("served", 900.0),
        ("calls_failed", 100.0),
    ] {
        pool = hour(pool, name, value);
    }
    for (name, value) in [
        ("success", 0.9),
        ("attempts_per_call", 1.35),
        ("unnamed", 0.0),
        ("overload", 0.0),
        ("firsts_throttled", 0.12),
        ("retries_throttled", 0.9),
        ("exhausted", 1.0),
        ("out_of_time", 0.0),
        ("errors", 0.0),
    ] {
        pool = ratio(pool, name, value);
    }
    for load in ["0.25", "0.5", "0.9", "1", "1.25"] {
        pool = above(pool, load, 0.0);
    }
    blamed(pool, &[("minute", 1.0)])
        .at("pool:forbear_locked_out:bool1h", "", 0.0)
        .at("pool:forbear_calls_above_learned:ratio1h", "load=\"0.85\",dimension=\"requests\"", 0.0)
        .at("pool:forbear_limit:minute", "dimension=\"requests\",origin=\"config\"", 60.0)
        .at("pool:forbear_used_when_refused:ratio1h", "dimension=\"requests\"", 0.9)
        .at("forbear_gate_info", "mode=\"off\"", 1.0)
}

fn blamed(mut pool: Pool, parts: &[(&str, f64)]) -> Pool {
    for reason in ["minute", "day", "spend", "overload", "concurrency", "failure"] {
        let part = parts.iter().find(|(known, _)| *known == reason).map_or(0.0, |(_, part)| *part);
        pool = pool.at("pool:forbear_blame:ratio1h", &format!("reason=\"{reason}\""), part);
    }
    pool
}

fn above(pool: Pool, load: &str, share: f64) -> Pool {
    pool.at("pool:forbear_calls_above:ratio1h", &format!("load=\"{load}\",dimension=\"requests\""), share)
}

fn unknown(pool: Pool) -> Pool {
    pool.without("pool:forbear_limit:minute")
        .without("pool:forbear_calls_above:ratio1h")
        .without("pool:forbear_used_when_refused:ratio1h")
}

/// The share of calls above a load of a limit that was only learned.
const LEARNED: &str = "pool:forbear_calls_above_learned:ratio1h";

fn ratio(pool: Pool, name: &str, value: f64) -> Pool {
    pool.at(&format!("pool:forbear_{name}:ratio1h"), "", value)
}

fn hour(pool: Pool, name: &str, value: f64) -> Pool {
    pool.at(&format!("pool:forbear_{name}:increase1h"), "", value)
}

fn gated(pool: Pool) -> Pool {
    pool.at("forbear_gate_info", "mode=\"local\"", 1.0)
}

/// The cases: a name, the pool, and the verdict as `cause certainty`, or nothing where there is none.
fn cases() -> Vec<(String, Pool, &'static str)> {
    let base = failing();
    let mut cases: Vec<(String, Pool, &'static str)> = Vec::new();
    let mut case = |name: &str, pool: Pool, verdict| cases.push((name.to_owned(), pool, verdict));
    case("failing", base.clone(), "backoff_too_fast firm");
    case("199-calls", hour(base.clone(), "calls", 197.0), "not_enough_data provisional");
    case("201-calls", hour(base.clone(), "calls", 203.0), "backoff_too_fast firm");
    let spent = |calls: f64, failed: f64, attempts: f64| {
        let pool = hour(hour(base.clone(), "calls", calls), "calls_failed", failed);
        let pool = hour(hour(pool, "served", 100.0), "attempts", attempts);
        blamed(pool, &[("spend", 0.8), ("minute", 0.2)])
    };
    case("19-told", spent(150.0, 19.0, 110.0), "not_enough_data provisional");
    case("21-told", spent(150.0, 21.0, 110.0), "spend_limit firm");
    case("19-attempts-told", spent(150.0, 5.0, 119.0), "not_enough_data provisional");
    case("21-attempts-told", spent(150.0, 5.0, 121.0), "spend_limit firm");
    case("203-calls-told", spent(203.0, 5.0, 110.0), "spend_limit firm");
    case("197-calls-told", spent(197.0, 5.0, 110.0), "not_enough_data provisional");
    for (what, right) in [("not_retryable", "caller_errors firm"), ("too_large", "quota_too_small firm")] {
        let wrong = |calls: f64, wrong: f64, failed: f64, missed: f64| {
            let pool = hour(hour(base.clone(), "calls", calls), "calls_failed", failed);
            let pool =
                hour(hour(pool, "not_retryable", wrong), "ended", calls).at("pool:forbear_missed:bool1h", "", missed);
            if what == "too_large" { above(hour(pool, "too_large", wrong), "1.25", 1.0) } else { pool }
        };
        case(&format!("{what}-below"), wrong(1_000.0, 9.7, 5.0, 0.0), "healthy firm");
        case(&format!("{what}-above"), wrong(1_000.0, 10.3, 5.0, 0.0), right);
        case(&format!("{what}-fewer"), wrong(1_000.0, 50.0, 52.0, 1.0), "backoff_too_fast firm");
        case(&format!("{what}-more"), wrong(1_000.0, 50.0, 48.0, 1.0), right);
        case(&format!("{what}-few"), wrong(150.0, 19.0, 0.0, 0.0), "not_enough_data provisional");
        case(&format!("{what}-enough"), wrong(150.0, 21.0, 0.0, 0.0), right);
        case(&format!("{what}-197-calls"), wrong(197.0, 15.0, 0.0, 0.0), "not_enough_data provisional");
        case(&format!("{what}-203-calls"), wrong(203.0, 15.0, 0.0, 0.0), right);
    }
    for (reason, told) in [
        ("spend", "spend_limit firm"),
        ("day", "daily_spent firm"),
        ("failure", "provider_errors firm"),
        ("concurrency", "concurrency firm"),
        ("overload", "overloaded firm"),
    ] {
        let part = |part: f64| blamed(base.clone(), &[(reason, part), ("minute", 1.0 - part)]);
        case(&format!("{reason}-below"), part(0.48), "backoff_too_fast firm");
        case(&format!("{reason}-above"), part(0.52), told);
    }
    let overloaded = || blamed(base.clone(), &[("overload", 0.9), ("minute", 0.1)]);
    let mild =
        |success: f64, attempts: f64| ratio(ratio(overloaded(), "success", success), "attempts_per_call", attempts);
    case("overload-mild", mild(0.955, 1.48), "backoff_too_fast firm");
    case("overload-much", mild(0.945, 1.48), "overloaded firm");
    case("overload-many-attempts", mild(0.955, 1.52), "overloaded firm");
    case("overload-gated", gated(mild(0.955, 1.48)), "overloaded firm");
    case("met", base.clone().at("pool:forbear_missed:bool1h", "", 0.0), "healthy firm");
    let unnamed = |pool: Pool, unnamed: f64, minute: f64| {
        let overload = f64::min(1.0 - minute, 0.49);
        let parts = [("minute", minute), ("overload", overload), ("failure", 1.0 - minute - overload)];
        let pool = ratio(blamed(pool, &parts), "unnamed", unnamed);
        pool.at("pool:forbear_locked_out:bool1h", "", 1.0)
    };
    case("locked-out", unnamed(base.clone(), 0.52, 0.52), "daily_spent likely");
    case("locked-out-named", unnamed(base.clone(), 0.48, 0.52), "backoff_too_fast firm");
    case("locked-out-otherwise", unnamed(base.clone(), 0.52, 0.48), "unclear likely");
    case(
        "locked-out-and-short",
        above(above(unnamed(base.clone(), 0.52, 0.52), "1", 0.1), "1.25", 0.1),
        "quota_too_small firm",
    );
    let lately = |used: f64| {
        let pool = unnamed(base.clone(), 0.52, 0.52).at("pool:forbear_locked_out:bool1h", "", 0.0);
        let pool = ratio(pool, "firsts_throttled", 0.4);
        pool.at("pool:forbear_locked_out:bool5m", "", 1.0).at(
            "pool:forbear_used_when_refused:ratio1h",
            "dimension=\"requests\"",
            used,
        )
    };
    case("locked-out-lately", lately(0.29), "daily_spent likely");
    case("locked-out-lately-and-used", lately(0.31), "unpaced firm");
    let tried = |pool: Pool, attempts: f64| ratio(pool, "attempts_of_limit", attempts);
    case("locked-out-hardly-tried", tried(lately(0.29), 1.94), "daily_spent likely");
    case("locked-out-and-filled", tried(lately(0.29), 2.06), "unpaced firm");
    case("locked-out-for-long", tried(unnamed(base.clone(), 0.52, 0.52), 2.06), "daily_spent likely");
    let learned = |pool: Pool, share: f64, success: f64| {
        let of =
            |pool: Pool, dimension: &str| pool.at(LEARNED, &format!("load=\"0.85\",dimension=\"{dimension}\""), share);
        ratio(of(of(unknown(pool), "requests"), "tokens"), "success", success)
    };
    case("unknown-locked-out", learned(unnamed(base.clone(), 0.52, 0.52), 0.2, 0.5), "daily_spent likely");
    case("unknown-locked-out-named", learned(unnamed(base.clone(), 0.48, 0.52), 0.2, 0.5), "quota_too_small likely");
    case(
        "unknown-locked-out-otherwise",
        learned(unnamed(base.clone(), 0.52, 0.48), 0.2, 0.5),
        "quota_too_small likely",
    );
    case("short-above", above(above(base.clone(), "1", 0.052), "1.25", 0.2), "quota_too_small firm");
    case("short-below", above(above(base.clone(), "1", 0.048), "1.25", 0.2), "backoff_too_fast firm");
    case("unknown-short", learned(base.clone(), 0.052, 0.9), "quota_too_small likely");
    case("unknown-enough", learned(base.clone(), 0.048, 0.9), "backoff_too_fast likely");
    case("unknown-few-fail", learned(base.clone(), 0.2, 0.971), "backoff_too_fast likely");
    case("unknown-more-fail", learned(base.clone(), 0.2, 0.969), "quota_too_small likely");
    // So many retries refused again, and at least twice of what was served asked for by so many calls.
    let storm = |success: f64, again: f64, twice: f64| {
        let pool = ratio(learned(base.clone(), 0.2, success), "retries_throttled", again);
        ["requests", "tokens"]
            .into_iter()
            .fold(pool, |pool, dimension| pool.at(LEARNED, &format!("load=\"2\",dimension=\"{dimension}\""), twice))
    };
    case("storm", storm(0.59, 0.91, 0.048), "backoff_too_fast likely");
    case("storm-served", storm(0.61, 0.91, 0.048), "quota_too_small likely");
    case("storm-not-again", storm(0.59, 0.89, 0.048), "quota_too_small likely");
    case("storm-far-above", storm(0.59, 0.91, 0.052), "quota_too_small likely");
    case("storm-gated", gated(storm(0.59, 0.91, 0.048)), "quota_too_small likely");
    let dammed = |success: f64, unnamed: f64| ratio(gated(learned(base.clone(), 0.2, success)), "unnamed", unnamed);
    case("dammed", dammed(0.54, 0.52), "unpaced likely");
    case("dammed-served", dammed(0.56, 0.52), "quota_too_small likely");
    case("dammed-named", dammed(0.54, 0.48), "quota_too_small likely");
    case("errors-below", ratio(base.clone(), "errors", 0.0097), "backoff_too_fast firm");
    case("errors-above", ratio(base.clone(), "errors", 0.0103), "provider_errors firm");
    let waiting = |failure: f64| {
        let pool = gated(ratio(base.clone(), "errors", 0.05));
        blamed(pool, &[("failure", failure), ("minute", 1.0 - failure)])
    };
    case("errors-behind-a-gate", waiting(0.097), "unpaced firm");
    case("errors-end-calls-behind-a-gate", waiting(0.103), "provider_errors firm");
    let unused = |unnamed: f64, used: f64, firsts: f64, retries: f64, busy: f64| {
        let pool = ratio(
            ratio(ratio(base.clone(), "unnamed", unnamed), "firsts_throttled", firsts),
            "retries_throttled",
            retries,
        );
        let pool = above(above(pool, "0.9", busy), "0.5", 0.3);
        pool.at("pool:forbear_used_when_refused:ratio1h", "dimension=\"requests\"", used)
    };
    case("unused", unused(0.52, 0.29, 0.34, 0.31, 0.048), "overloaded likely");
    case("unused-named", unused(0.48, 0.29, 0.2, 0.31, 0.048), "backoff_too_fast firm");
    case("used", unused(0.52, 0.31, 0.2, 0.31, 0.048), "backoff_too_fast firm");
    case("unused-at-first", unused(0.52, 0.29, 0.36, 0.31, 0.048), "unpaced firm");
    case("unused-not-again", unused(0.52, 0.29, 0.2, 0.29, 0.048), "backoff_too_fast firm");
    // So near the line that the quota might be short after all.
    case("unused-busy", unused(0.52, 0.29, 0.2, 0.31, 0.052), "backoff_too_fast likely");
    let hardly = |used: f64, busy: f64| above(unused(0.6, used, 0.4, 0.2, 0.0), "0.5", busy);
    case("hardly-used", hardly(0.145, 0.048), "overloaded likely");
    case("hardly-used-busy", hardly(0.145, 0.052), "unpaced firm");
    case("used-a-little", hardly(0.155, 0.048), "unpaced firm");
    let filled = |attempts: f64| ratio(hardly(0.1, 0.0), "attempts_of_limit", attempts);
    case("unused-hardly-tried", filled(1.94), "overloaded likely");
    case("unused-and-filled", filled(2.06), "unpaced firm");
    let mixed = |minute: f64, overload: f64| {
        blamed(
            ratio(base.clone(), "success", 0.96),
            &[("minute", minute), ("overload", overload), ("day", 1.0 - minute - overload)],
        )
    };
    case("nobody-to-blame", mixed(0.48, 0.3), "unclear likely");
    case("minute-to-blame", mixed(0.52, 0.3), "backoff_too_fast firm");
    case("overload-hardly-to-blame", mixed(0.3, 0.48), "unclear likely");
    case("overload-to-blame", mixed(0.3, 0.52), "backoff_too_fast firm");
    case("firsts-below", ratio(base.clone(), "firsts_throttled", 0.262), "backoff_too_fast firm");
    case("firsts-above", ratio(base.clone(), "firsts_throttled", 0.278), "unpaced firm");
    case("behind-a-gate", gated(base.clone()), "unpaced firm");
    case("behind-a-gate-before-anything-is-counted", gated(Pool::new("")), "");
    let patient = |retries: f64, exhausted: f64, out_of_time: f64| {
        ratio(
            ratio(ratio(base.clone(), "retries_throttled", retries), "exhausted", exhausted),
            "out_of_time",
            out_of_time,
        )
    };
    case("retries-below", patient(0.485, 0.1, 0.4), "backoff_too_slow firm");
    case("retries-above", patient(0.515, 0.1, 0.4), "backoff_too_fast firm");
    case("exhausted-below", patient(0.2, 0.485, 0.4), "backoff_too_slow firm");
    case("exhausted-above", patient(0.2, 0.515, 0.4), "backoff_too_fast firm");
    case("late-below", patient(0.2, 0.1, 0.29), "unclear likely");
    case("late-above", patient(0.2, 0.1, 0.31), "backoff_too_slow firm");
    // Every five minutes, and the last is the hour's end.
    let missed =
        |times: u32| base.clone().values("pool:forbear_missed:bool5m", "", &format!("0x{} 1x{times}", 12 - times));
    case("young", missed(2), "backoff_too_fast provisional");
    case("old-enough", missed(3), "backoff_too_fast firm");
    let near = |low: f64, high: f64| above(above(base.clone(), "0.9", low), "1.25", high);
    case("not-near", near(0.048, 0.0), "backoff_too_fast firm");
    case("near", near(0.052, 0.048), "backoff_too_fast likely");
    case("far-above", near(0.052, 0.052), "backoff_too_fast firm");
    let named = |unnamed: f64| ratio(blamed(base.clone(), &[("day", 0.9), ("minute", 0.1)]), "unnamed", unnamed);
    case("day-named", named(0.48), "daily_spent firm");
    case("day-hardly-named", named(0.52), "daily_spent likely");
    cases
}

/// The tests of the verdict, as a file.
pub(crate) fn file() -> String {
    file_of(&cases())
}

/// The same in several files, neighbours together.
pub(crate) fn files() -> Vec<String> {
    cases().chunks(40).map(file_of).collect()
}

fn file_of(cases: &[(String, Pool, &'static str)]) -> String {
    let pools: Vec<_> = cases.iter().map(|(name, pool, _)| pool.named(name)).collect();
    let expected = |(name, _, verdict): &(String, Pool, &str)| {
        let (cause, certainty) = verdict.split_once(' ').expect("two words");
        format!("cause=\"{cause}\", certainty=\"{certainty}\", pool=\"{name}\"")
    };
    let expected: Vec<_> = cases.iter().filter(|(_, _, verdict)| !verdict.is_empty()).map(expected).collect();
    Tests {
        rules: "verdict.yml",
        asked: "sum by (pool, cause, certainty) (pool:forbear_verdict:1h)",
        sampled: 5,
        evaluated: 5,
        at_minute: 60,
        blocks: &[(pools, expected)],
        more: "",
    }
    .text()
}
