//! What is wrong with a scenario, found out by changing it: a fault is what has to be changed for the objective to be met.
//!
//! The same calls come at the same instants whatever is changed. The order, in which the first that applies is the fault:
//!
//! 1. the objective is met: none;
//! 2. the account, the caller's errors, the provider's errors or the day's quota lifted is enough;
//! 3. some curve is enough, or some way of heeding the stated wait, quota untouched;
//! 4. the provider's overload or its limit in flight lifted is enough;
//! 5. a gate is enough, or, where nothing is wrong beside the quotas, the ideal engine serves the same calls: unpaced;
//! 6. more quota is enough, up to eight times, with this curve or a good one: the quota is too small;
//! 7. else two things are wrong.

use forbear::diagnose::Cause;
use forbear::simulate::{Outcome, Scenario, simulate};
use serde_json::{Value, json};

/// The objective: this share of calls succeeds …
const LEAST_SUCCESS: f64 = 0.99;
/// … with so many attempts each.
const MOST_ATTEMPTS: f64 = 1.5;
/// The multiples of the quotas that are tried.
const MULTIPLES: [f64; 3] = [2.0, 4.0, 8.0];
/// The bases of the curves that are tried, in seconds: from a three-hundredth of the window to twice it.
const BASES: [f64; 8] = [0.2, 0.6, 2.0, 6.0, 12.0, 30.0, 60.0, 120.0];
/// The cap of curves that grow, in seconds.
const CAP: f64 = 120.0;
/// The quotas of a provider.
const QUOTAS: [&str; 4] =
    ["requests_per_minute", "tokens_per_minute", "input_tokens_per_minute", "output_tokens_per_minute"];

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Nothing.
    Healthy,
    /// The quota is short.
    Quota,
    /// Calls come too close together.
    Unpaced,
    /// Only longer waits are enough.
    TooFast,
    /// Only shorter waits are enough.
    TooSlow,
    /// Waits on both sides, more attempts or another way of heeding the stated wait are enough.
    Curve,
    /// The day's quota is spent.
    Daily,
    /// The account is.
    Spend,
    /// The provider is short of capacity.
    Overload,
    /// Too many are in flight.
    Concurrency,
    /// The provider fails.
    ProviderErrors,
    /// The caller does.
    CallerErrors,
    /// More than one thing.
    Two,
}

impl Fault {
    /// Every fault, in the order of the table.
    pub const ALL: &'static [Self] = &[
        Self::Quota,
        Self::Unpaced,
        Self::TooFast,
        Self::TooSlow,
        Self::Curve,
        Self::Daily,
        Self::Spend,
        Self::Overload,
        Self::Concurrency,
        Self::ProviderErrors,
        Self::CallerErrors,
        Self::Healthy,
        Self::Two,
    ];

    /// Its word: the cause's, where there is one.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match (self, self.cause()) {
            (_, Some(cause)) => cause.as_str(),
            (Self::Curve, _) => "backoff (either)",
            _ => "two things",
        }
    }

    /// The verdict that names it; `None` where none does.
    #[must_use]
    pub const fn cause(self) -> Option<Cause> {
        Some(match self {
            Self::Healthy => Cause::Healthy,
            Self::Quota => Cause::QuotaTooSmall,
            Self::Unpaced => Cause::Unpaced,
            Self::TooFast => Cause::BackoffTooFast,
            Self::TooSlow => Cause::BackoffTooSlow,
            Self::Daily => Cause::DailySpent,
            Self::Spend => Cause::SpendLimit,
            Self::Overload => Cause::Overloaded,
            Self::Concurrency => Cause::Concurrency,
            Self::ProviderErrors => Cause::ProviderErrors,
            Self::CallerErrors => Cause::CallerErrors,
            Self::Curve | Self::Two => return None,
        })
    }

    /// Whether the caller has to retry or pace otherwise, and the quota would do.
    #[must_use]
    pub const fn is_clients(self) -> bool {
        matches!(self, Self::Unpaced | Self::TooFast | Self::TooSlow | Self::Curve)
    }
}

/// A scenario with its changes tried out.
#[derive(Clone, Debug)]
pub struct Truth {
    /// What is wrong.
    pub fault: Fault,
    /// Every change that alone was enough: a cause's word where a limit or an error was lifted, else what was set.
    pub fixes: Vec<String>,
    /// The share of calls that the ideal engine serves; 1 where that was not asked.
    pub ideal: f64,
    /// The smallest multiple of the quotas that is enough, to a twenty-fifth, where they are too small.
    pub multiple: Option<f64>,
    /// What became of it as it is.
    pub outcome: Outcome,
}

impl Truth {
    /// What a case's line says was wrong, beside what becomes of it now.
    pub(super) fn of_line(line: &Value, outcome: Outcome) -> Option<Self> {
        let fault = Fault::ALL.iter().copied().find(|fault| line["truth"] == *fault.as_str())?;
        let fixes = line["fixes"].as_array()?.iter().filter_map(|fix| fix.as_str().map(str::to_owned)).collect();
        Some(Self { fault, fixes, ideal: line["ideal"].as_f64()?, multiple: line["multiple"].as_f64(), outcome })
    }

    /// Whether this is what is wrong; a fault of the curve on either side is both.
    #[must_use]
    pub fn is(&self, cause: Cause) -> bool {
        let either = self.fault == Fault::Curve && matches!(cause, Cause::BackoffTooFast | Cause::BackoffTooSlow);
        self.fault.cause() == Some(cause) || either
    }

    /// Whether exactly one thing is wrong.
    #[must_use]
    pub fn is_single(&self) -> bool {
        !matches!(self.fault, Fault::Healthy | Fault::Two)
    }
}

/// Whether a run met the objective.
#[must_use]
pub fn is_healthy(outcome: &Outcome) -> bool {
    outcome.success_ratio.is_some_and(|ratio| ratio >= LEAST_SUCCESS)
        && outcome.attempts_per_call.is_some_and(|attempts| attempts <= MOST_ATTEMPTS)
}

/// Runs a scenario.
///
/// # Panics
/// When it is refused: a mistake in the draw.
#[must_use]
pub fn run(scenario: &Value) -> Outcome {
    let parsed: Scenario = scenario.to_string().parse().unwrap_or_else(|error| panic!("{error}: {scenario}"));
    simulate(&parsed).unwrap_or_else(|error| panic!("{error}: {scenario}"))
}

/// What has to be changed.
#[must_use]
pub fn truth(scenario: &Value) -> Truth {
    let outcome = run(scenario);
    let mut truth = Truth { fault: Fault::Healthy, fixes: Vec::new(), ideal: 1.0, multiple: None, outcome };
    if !is_healthy(&truth.outcome) {
        truth.try_changes(scenario);
    }
    truth
}

impl Truth {
    /// Tries every change and names the fault.
    fn try_changes(&mut self, scenario: &Value) {
        let lifts = lifts(scenario);
        for (cause, lifted) in &lifts {
            self.try_one(cause.as_str().to_owned(), lifted);
        }
        let (slower, faster) = self.try_curves(scenario);
        let gate = self.try_gates(scenario);
        let ideal = run(&with(scenario, |s| s["engine"] = json!("pacer")));
        self.ideal = ideal.success_ratio.unwrap_or(0.0);
        let quota = self.try_quotas(scenario);
        let curve = match (slower, faster) {
            (None, None) => None,
            (Some(true), Some(false)) => Some(Fault::TooFast),
            (Some(false), Some(true)) => Some(Fault::TooSlow),
            _ => Some(Fault::Curve),
        };
        let lifted =
            |faults: &[Fault]| faults.iter().copied().find(|fault| self.fixes.iter().any(|fix| fix == fault.as_str()));
        // The ideal engine knows neither overload nor errors, and more quota hides them.
        let alone = lifts.iter().all(|(cause, _)| *cause == Cause::Concurrency);
        self.fault = lifted(&[Fault::Spend, Fault::CallerErrors, Fault::ProviderErrors, Fault::Daily])
            .or(curve)
            .or_else(|| lifted(&[Fault::Overload, Fault::Concurrency]))
            .or_else(|| (gate || (alone && self.ideal >= LEAST_SUCCESS)).then_some(Fault::Unpaced))
            .or_else(|| (alone && quota.is_some()).then_some(Fault::Quota))
            .unwrap_or(Fault::Two);
        if self.fault == Fault::Quota {
            self.multiple = smallest(scenario, quota == Some(Curve::Own));
        }
    }

    /// Runs a change; whether it is enough.
    fn try_one(&mut self, name: String, changed: &Value) -> bool {
        let enough = is_healthy(&run(changed));
        if enough {
            self.fixes.push(name);
        }
        enough
    }

    /// Curves that heed no header, then ways of heeding it. Whether those that are enough are all slower than the present
    /// one, and all faster.
    fn try_curves(&mut self, scenario: &Value) -> (Option<bool>, Option<bool>) {
        let present = scenario["policy"]["base_s"].as_f64().unwrap_or(6.0);
        let mut enough = Vec::new();
        for base in BASES {
            for cap in [base, CAP] {
                if self.try_one(format!("curve {base} to {cap}"), &curve(scenario, base, cap)) {
                    enough.push(base);
                }
            }
        }
        let mut heeding = false;
        if scenario["provider"]["retry_after"] != "none" {
            for base in [1.0, 6.0] {
                for jitter in ["none", "1s", "curve"] {
                    heeding |= self.try_one(format!("header {base} {jitter}"), &heeds(scenario, base, jitter));
                }
            }
        }
        if enough.is_empty() {
            return (heeding.then_some(true), heeding.then_some(true));
        }
        (Some(enough.iter().all(|base| *base > present)), Some(enough.iter().all(|base| *base < present)))
    }

    /// Gates from the present one upwards, with the present curve and with a good one.
    fn try_gates(&mut self, scenario: &Value) -> bool {
        const RUNGS: [&str; 4] = ["none", "local", "news", "shared"];
        let present = RUNGS.iter().position(|rung| scenario["gate"] == **rung).unwrap_or(0);
        let mut enough = false;
        for rung in &RUNGS[present..] {
            let gated = |s: &Value| with(s, |s| s["gate"] = json!(rung));
            if *rung != RUNGS[present] {
                enough |= self.try_one(format!("gate {rung}"), &gated(scenario));
            }
            enough |= self.try_one(format!("gate {rung} and curve"), &gated(&heeds(scenario, 6.0, "curve")));
        }
        enough
    }

    /// More quota, with the present curve or else with a good one.
    fn try_quotas(&mut self, scenario: &Value) -> Option<Curve> {
        for factor in MULTIPLES {
            if self.try_one(format!("quota x{factor}"), &times(scenario, factor)) {
                return Some(Curve::Own);
            }
        }
        for factor in MULTIPLES {
            let more = times(scenario, factor);
            let good =
                [curve(&more, 6.0, CAP), curve(&more, 12.0, 12.0), curve(&more, 2.0, CAP), heeds(&more, 6.0, "curve")];
            for changed in good {
                if self.try_one(format!("quota x{factor} and curve"), &changed) {
                    return Some(Curve::Good);
                }
            }
        }
        None
    }
}

/// With which curve more quota is enough.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Curve {
    /// The present one.
    Own,
    /// A good one.
    Good,
}

fn with(scenario: &Value, change: impl FnOnce(&mut Value)) -> Value {
    let mut changed = scenario.clone();
    change(&mut changed);
    changed
}

/// A curve for all kinds of call, whatever is stated.
fn curve(scenario: &Value, base: f64, cap: f64) -> Value {
    with(scenario, |s| {
        let policy = &mut s["policy"];
        policy["base_s"] = json!(base);
        policy["cap_s"] = json!(cap.max(base));
        policy["attempts"] = json!(20);
        policy["honour_header"] = json!(false);
    })
}

/// The stated wait, and a curve on top of it or in its place.
fn heeds(scenario: &Value, base: f64, jitter: &str) -> Value {
    with(&curve(scenario, base, CAP), |s| {
        let policy = &mut s["policy"];
        policy["honour_header"] = json!(true);
        policy["jitter_on_header"] = json!(jitter);
        policy["header_cap_s"] = json!(300);
    })
}

/// Every per-minute quota so many times as large.
fn times(scenario: &Value, factor: f64) -> Value {
    with(scenario, |s| {
        for quota in QUOTAS {
            if let Some(amount) = s["provider"][quota].as_f64() {
                s["provider"][quota] = json!((amount * factor).round().max(1.0));
            }
        }
    })
}

/// What is wrong beside the per-minute quotas, each lifted.
fn lifts(scenario: &Value) -> Vec<(Cause, Value)> {
    let lifted = |fields: &[&str]| {
        let there = fields.iter().any(|field| !scenario["provider"][*field].is_null());
        there.then(|| with(scenario, |s| fields.iter().for_each(|field| s["provider"][*field] = Value::Null)))
    };
    let without = |kinds: &[&str]| {
        let failures = scenario["provider"]["failures"].as_array()?;
        let is = |failure: &&Value| kinds.contains(&failure["kind"].as_str().unwrap_or_default());
        let left: Vec<_> = failures.iter().filter(|failure| !is(failure)).cloned().collect();
        (left.len() < failures.len()).then(|| with(scenario, |s| s["provider"]["failures"] = json!(left)))
    };
    [
        (Cause::SpendLimit, lifted(&["spend"])),
        (Cause::CallerErrors, without(&["auth"])),
        (Cause::ProviderErrors, without(&["server_error", "timeout"])),
        (Cause::DailySpent, lifted(&["requests_per_day", "tokens_per_day"])),
        (Cause::Overloaded, lifted(&["overload"])),
        (Cause::Concurrency, lifted(&["concurrency"])),
    ]
    .into_iter()
    .filter_map(|(cause, lifted)| Some((cause, lifted?)))
    .collect()
}

/// The smallest multiple of the quotas that is enough.
fn smallest(scenario: &Value, own_curve: bool) -> Option<f64> {
    let enough = |factor: f64| {
        let more = times(scenario, factor);
        let more = if own_curve { more } else { heeds(&more, 6.0, "curve") };
        is_healthy(&run(&more))
    };
    let (mut low, mut high) = (1.0f64, MULTIPLES[MULTIPLES.len() - 1]);
    if !enough(high) {
        return None;
    }
    while high / low > 1.04 {
        let middle = (low * high).sqrt();
        if enough(middle) { high = middle } else { low = middle }
    }
    Some(high)
}
