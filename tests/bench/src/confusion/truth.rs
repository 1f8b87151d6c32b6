//! What is wrong with a scenario, found out by changing it: a fault is what has to be changed for the objective to be met.
//!
//! The same calls come at the same instants whatever is changed. The order, in which the first that applies is the fault and
//! the rest is not tried:
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
    /// The changes tried that alone were enough: a cause's word where a limit or an error was lifted, else what was set.
    /// Those that stand behind the fault in the order above were not tried.
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
    truth_among(scenario, Fault::ALL).expect("it is one of all")
}

/// What has to be changed, if it is one of these faults: the search ends where none of them can follow.
#[must_use]
pub fn truth_among(scenario: &Value, faults: &[Fault]) -> Option<Truth> {
    let outcome = run(scenario);
    let mut truth = Truth { fault: Fault::Healthy, fixes: Vec::new(), ideal: 1.0, multiple: None, outcome };
    if !is_healthy(&truth.outcome) {
        truth.fault = truth.try_changes(scenario, faults)?;
    }
    faults.contains(&truth.fault).then_some(truth)
}

impl Truth {
    /// Tries changes until the fault is found, or can be none of these.
    fn try_changes(&mut self, scenario: &Value, faults: &[Fault]) -> Option<Fault> {
        let among = |some: &[Fault]| some.iter().any(|fault| faults.contains(fault)).then_some(());
        let lifts = lifts(scenario);
        for (cause, lifted) in &lifts {
            self.try_one(cause.as_str().to_owned(), lifted);
        }
        // The ideal engine knows neither overload nor errors, and more quota hides them.
        let alone = lifts.iter().all(|(cause, _)| *cause == Cause::Concurrency);
        if let Some(fault) = self.lifted(&[Fault::Spend, Fault::CallerErrors, Fault::ProviderErrors, Fault::Daily]) {
            return Some(fault);
        }
        let lifted = self.lifted(&[Fault::Overload, Fault::Concurrency]);
        let curves = [Fault::TooFast, Fault::TooSlow, Fault::Curve];
        let costly = [Fault::Unpaced, Fault::Quota, Fault::Two];
        among(&curves).or_else(|| lifted.and_then(|fault| among(&[fault]))).or_else(|| among(&costly))?;
        if let Some(fault) = self.try_curves(scenario).or(lifted) {
            return Some(fault);
        }
        among(&costly)?;
        if let Some(fault) = self.try_pacing(scenario, alone) {
            return Some(fault);
        }
        among(&[Fault::Quota, Fault::Two])?;
        let short = if alone { self.try_quotas(scenario) } else { None };
        Some(short.unwrap_or(Fault::Two))
    }

    /// The first of these faults whose limit or error, lifted, was enough.
    fn lifted(&self, faults: &[Fault]) -> Option<Fault> {
        faults.iter().copied().find(|fault| self.fixes.iter().any(|fix| fix == fault.as_str()))
    }

    /// Runs a change; whether it is enough.
    fn try_one(&mut self, name: String, changed: &Value) -> bool {
        let enough = is_healthy(&run(changed));
        if enough {
            self.fixes.push(name);
        }
        enough
    }

    /// Curves that heed no header, then ways of heeding it: too fast if all that are enough are slower than the present one,
    /// too slow if all are faster.
    fn try_curves(&mut self, scenario: &Value) -> Option<Fault> {
        let present = scenario["policy"]["base_s"].as_f64().unwrap_or(6.0);
        let mut enough = Vec::new();
        for base in BASES {
            for cap in [base, CAP] {
                if self.try_one(format!("curve {base} to {cap}"), &curve(scenario, base, cap)) {
                    enough.push(base);
                }
            }
        }
        if !enough.is_empty() {
            return Some(match enough {
                _ if enough.iter().all(|base| *base > present) => Fault::TooFast,
                _ if enough.iter().all(|base| *base < present) => Fault::TooSlow,
                _ => Fault::Curve,
            });
        }
        let told = scenario["provider"]["retry_after"] != "none";
        let mut ways = [1.0, 6.0].into_iter().flat_map(|base| ["none", "1s", "curve"].map(|jitter| (base, jitter)));
        let heeding = told
            && ways
                .any(|(base, jitter)| self.try_one(format!("header {base} {jitter}"), &heeds(scenario, base, jitter)));
        heeding.then_some(Fault::Curve)
    }

    /// Gates from the present one upwards, with the present curve and with a good one; then the ideal engine, where it says
    /// something.
    fn try_pacing(&mut self, scenario: &Value, alone: bool) -> Option<Fault> {
        const RUNGS: [&str; 4] = ["none", "local", "news", "shared"];
        let present = RUNGS.iter().position(|rung| scenario["gate"] == **rung).unwrap_or(0);
        let mut enough = false;
        for rung in &RUNGS[present..] {
            let gated = |s: &Value| with(s, |s| s["gate"] = json!(rung));
            if *rung != RUNGS[present] {
                enough = enough || self.try_one(format!("gate {rung}"), &gated(scenario));
            }
            enough = enough || self.try_one(format!("gate {rung} and curve"), &gated(&heeds(scenario, 6.0, "curve")));
        }
        if !enough && alone {
            let ideal = run(&with(scenario, |s| s["engine"] = json!("pacer")));
            self.ideal = ideal.success_ratio.unwrap_or(0.0);
            enough = self.ideal >= LEAST_SUCCESS;
        }
        enough.then_some(Fault::Unpaced)
    }

    /// More quota, with the present curve or else with a good one.
    fn try_quotas(&mut self, scenario: &Value) -> Option<Fault> {
        for factor in MULTIPLES {
            if self.try_one(format!("quota x{factor}"), &times(scenario, factor)) {
                self.multiple = smallest(scenario, true);
                return Some(Fault::Quota);
            }
        }
        for factor in MULTIPLES {
            let more = times(scenario, factor);
            let good =
                [curve(&more, 6.0, CAP), curve(&more, 12.0, 12.0), curve(&more, 2.0, CAP), heeds(&more, 6.0, "curve")];
            for changed in good {
                if self.try_one(format!("quota x{factor} and curve"), &changed) {
                    self.multiple = smallest(scenario, false);
                    return Some(Fault::Quota);
                }
            }
        }
        None
    }
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
