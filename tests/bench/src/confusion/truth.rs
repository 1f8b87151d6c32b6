//! What is wrong with a scenario, found out by changing it: a cause is what has to be changed for the objective to be met.

use forbear::simulate::{Outcome, Scenario, simulate};
use serde_json::{Value, json};

/// The objective: this share of calls succeeds …
pub const LEAST_SUCCESS: f64 = 0.99;
/// … with so many attempts each.
pub const MOST_ATTEMPTS: f64 = 1.5;

/// Whether a run met the objective.
#[must_use]
pub fn is_healthy(outcome: &Outcome) -> bool {
    outcome.success_ratio.is_some_and(|ratio| ratio >= LEAST_SUCCESS)
        && outcome.attempts_per_call.is_some_and(|attempts| attempts <= MOST_ATTEMPTS)
}

/// Runs a scenario.
#[must_use]
pub fn run(scenario: &Value) -> Outcome {
    let parsed: Scenario = scenario.to_string().parse().unwrap_or_else(|error| panic!("{error}: {scenario}"));
    simulate(&parsed).unwrap_or_else(|error| panic!("{error}: {scenario}"))
}

/// A scenario with its changes tried out.
#[derive(Clone, Debug)]
pub struct Truth {
    /// The cause.
    pub cause: &'static str,
    /// Every change that alone was enough.
    pub fixes: Vec<String>,
    /// What the ideal engine serves.
    pub pacer: f64,
    /// The smallest quota that is enough, as a multiple of the present one, where it is the quota.
    pub multiple: Option<f64>,
    pub outcome: Outcome,
}

fn with(scenario: &Value, change: impl FnOnce(&mut Value)) -> Value {
    let mut changed = scenario.clone();
    change(&mut changed);
    changed
}

/// Sets a curve for all kinds of call.
fn curve(scenario: &Value, base: f64, cap: f64) -> Value {
    with(scenario, |s| {
        let policy = &mut s["policy"];
        policy["base_s"] = json!(base);
        policy["cap_s"] = json!(cap.max(base));
        policy["attempts"] = json!(20);
        policy["honour_header"] = json!(false);
    })
}

fn header(scenario: &Value, base: f64, jitter: &str) -> Value {
    with(scenario, |s| {
        let policy = &mut s["policy"];
        policy["base_s"] = json!(base);
        policy["cap_s"] = json!(120.0f64.max(base));
        policy["attempts"] = json!(20);
        policy["honour_header"] = json!(true);
        policy["jitter_on_header"] = json!(jitter);
        policy["header_cap_s"] = json!(300);
    })
}

const QUOTAS: [&str; 4] =
    ["requests_per_minute", "tokens_per_minute", "input_tokens_per_minute", "output_tokens_per_minute"];

pub fn times(scenario: &Value, factor: f64) -> Value {
    with(scenario, |s| {
        for quota in QUOTAS {
            if let Some(amount) = s["provider"][quota].as_f64() {
                s["provider"][quota] = json!((amount * factor).round().max(1.0));
            }
        }
    })
}

fn lifted(scenario: &Value, fields: &[&str]) -> Option<Value> {
    let there = fields.iter().any(|field| !scenario["provider"][*field].is_null());
    there.then(|| with(scenario, |s| fields.iter().for_each(|field| s["provider"][*field] = Value::Null)))
}

fn without_failures(scenario: &Value, kinds: &[&str]) -> Option<Value> {
    let failures = scenario["provider"]["failures"].as_array()?;
    let is = |failure: &&Value| kinds.contains(&failure["kind"].as_str().unwrap_or_default());
    failures.iter().any(|f| is(&f)).then(|| {
        let left: Vec<_> = failures.iter().filter(|failure| !is(failure)).cloned().collect();
        with(scenario, |s| s["provider"]["failures"] = json!(left))
    })
}

/// What has to be changed.
#[must_use]
pub fn truth(scenario: &Value) -> Truth {
    let outcome = run(scenario);
    let mut truth = Truth { cause: "healthy", fixes: Vec::new(), pacer: 1.0, multiple: None, outcome };
    if is_healthy(&truth.outcome) {
        return truth;
    }
    let ok = |s: &Value| is_healthy(&run(s));
    let mut fixes = Vec::new();
    let lifts = [
        ("spend_limit", lifted(scenario, &["spend"])),
        ("caller_errors", without_failures(scenario, &["auth"])),
        ("provider_errors", without_failures(scenario, &["server_error", "timeout"])),
        ("daily_spent", lifted(scenario, &["requests_per_day", "tokens_per_day"])),
        ("overloaded", lifted(scenario, &["overload"])),
        ("concurrency", lifted(scenario, &["concurrency"])),
    ];
    let there: Vec<_> = lifts.iter().filter_map(|(name, s)| Some((*name, s.as_ref()?))).collect();
    for (name, s) in &there {
        if ok(s) {
            fixes.push((*name).to_owned());
        }
    }
    // Curves.
    let base = scenario["policy"]["base_s"].as_f64().unwrap_or(6.0);
    let mut bases = Vec::new();
    for w in [0.2, 0.6, 2.0, 6.0, 12.0, 30.0, 60.0, 120.0] {
        for cap in [w, 120.0] {
            if ok(&curve(scenario, w, cap)) {
                bases.push(w);
                fixes.push(format!("curve {w} {cap}"));
            }
        }
    }
    let told = scenario["provider"]["retry_after"] != "none";
    let mut by_header = false;
    if told {
        for w in [1.0, 6.0] {
            for jitter in ["none", "1s", "curve"] {
                if ok(&header(scenario, w, jitter)) {
                    by_header = true;
                    fixes.push(format!("header {w} {jitter}"));
                }
            }
        }
    }
    let has_curve = !bases.is_empty() || by_header;
    // Gates from where it is upwards.
    let rungs = ["none", "local", "news", "shared"];
    let now = rungs.iter().position(|rung| scenario["gate"] == **rung).unwrap_or(0);
    let mut gate = false;
    for rung in &rungs[now..] {
        for (what, s) in [("own", scenario.clone()), ("tuned", header(scenario, 6.0, "curve"))] {
            if *rung == rungs[now] && what == "own" {
                continue;
            }
            let s = with(&s, |s| s["gate"] = json!(rung));
            if ok(&s) {
                gate = true;
                fixes.push(format!("gate {rung} {what}"));
            }
        }
    }
    let ideal = run(&with(scenario, |s| s["engine"] = json!("pacer")));
    truth.pacer = ideal.success_ratio.unwrap_or(0.0);
    let others = there.iter().any(|(name, _)| *name != "concurrency");
    let paceable = truth.pacer >= LEAST_SUCCESS;
    if paceable {
        fixes.push("pacer".to_owned());
    }
    let mut quota = false;
    for factor in [2.0, 4.0, 8.0] {
        if ok(&times(scenario, factor)) {
            quota = true;
            fixes.push(format!("x{factor}"));
            break;
        }
    }
    let mut quota_tuned = false;
    if !quota {
        'found: for factor in [2.0, 4.0, 8.0] {
            let more = times(scenario, factor);
            for s in [curve(&more, 6.0, 120.0), curve(&more, 12.0, 12.0), curve(&more, 2.0, 120.0), header(&more, 6.0, "curve")] {
                if ok(&s) {
                    quota_tuned = true;
                    fixes.push(format!("x{factor} tuned"));
                    break 'found;
                }
            }
        }
    }
    let single = |name: &str| fixes.iter().any(|fix| fix == name);
    truth.cause = if let Some(name) =
        ["spend_limit", "caller_errors", "provider_errors", "daily_spent"].iter().find(|name| single(name))
    {
        name
    } else if has_curve {
        let slower = bases.iter().all(|fixing| *fixing > base);
        let faster = bases.iter().all(|fixing| *fixing < base);
        match (bases.is_empty(), slower, faster) {
            (false, true, false) => "backoff_too_fast",
            (false, false, true) => "backoff_too_slow",
            _ => "backoff",
        }
    } else if let Some(name) = ["overloaded", "concurrency"].iter().find(|name| single(name)) {
        name
    } else if gate {
        "unpaced"
    } else if others {
        // The ideal engine knows neither overload nor failures, and more quota hides them: two things are wrong.
        "both"
    } else if paceable {
        "unpaced"
    } else if quota || quota_tuned {
        "quota_too_small"
    } else {
        "both"
    };
    if truth.cause == "quota_too_small" {
        truth.multiple = smallest(scenario, quota);
    }
    truth.fixes = fixes;
    truth
}

/// The smallest multiple of the quotas that is enough, to a fiftieth.
fn smallest(scenario: &Value, own: bool) -> Option<f64> {
    let ok = |factor: f64| {
        let more = times(scenario, factor);
        (own && is_healthy(&run(&more))) || (!own && is_healthy(&run(&header(&more, 6.0, "curve"))))
    };
    let (mut low, mut high) = (1.0f64, 8.0f64);
    if !ok(high) {
        return None;
    }
    while high / low > 1.04 {
        let middle = (low * high).sqrt();
        if ok(middle) { high = middle } else { low = middle }
    }
    Some(high)
}
