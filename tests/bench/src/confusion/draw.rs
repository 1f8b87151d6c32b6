//! Random scenarios: a provider, its callers, and what may be wrong with either.

use forbear::core::dice::{Dice, SeededDice};
use serde_json::{Value, json};

use super::truth::Fault;

/// One window of the per-minute quotas, in seconds.
const WINDOW: f64 = 60.0;

/// Draws of the kinds that scenarios need.
struct Draw(SeededDice);

impl Draw {
    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.0.unit()
    }

    /// Uniform in the logarithm.
    fn scale(&mut self, low: f64, high: f64) -> f64 {
        self.between(low.ln(), high.ln()).exp()
    }

    fn whole(&mut self, low: u32, high: u32) -> u32 {
        (self.between(f64::from(low), f64::from(high) + 1.0).floor() as u32).clamp(low, high)
    }

    fn chance(&mut self, share: f64) -> bool {
        self.0.unit() <= share
    }

    fn one_of<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.whole(0, items.len() as u32 - 1) as usize]
    }
}

/// What tends to be wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Anything.
    Any,
    /// The curve or the pace, at a load the quota could carry.
    Curve,
    /// Short waits, and nothing else.
    Fast,
    /// Long waits, and nothing else.
    Slow,
    /// The day's quota.
    Daily,
    /// The provider's own capacity.
    Overload,
    /// Requests in flight.
    Concurrency,
    /// The provider's errors.
    ProviderErrors,
    /// The caller's errors.
    CallerErrors,
    /// The account.
    Spend,
}

impl Family {
    /// Every family.
    pub const ALL: &'static [Self] = &[
        Self::Any,
        Self::Curve,
        Self::Fast,
        Self::Slow,
        Self::Daily,
        Self::Overload,
        Self::Concurrency,
        Self::ProviderErrors,
        Self::CallerErrors,
        Self::Spend,
    ];

    /// The faults it is there for: further scenarios of it are drawn until there are enough of them.
    #[must_use]
    pub const fn is_for(self) -> &'static [Fault] {
        match self {
            Self::Any => &[Fault::Quota],
            Self::Curve => &[Fault::Unpaced],
            Self::Fast => &[Fault::TooFast],
            Self::Slow => &[Fault::TooSlow],
            Self::Daily => &[Fault::Daily],
            Self::Overload => &[Fault::Overload],
            Self::Concurrency => &[Fault::Concurrency],
            Self::ProviderErrors => &[Fault::ProviderErrors],
            Self::CallerErrors => &[Fault::CallerErrors],
            Self::Spend => &[Fault::Spend],
        }
    }
}

/// In which turn the families come.
pub const TURN: [Family; 16] = [
    Family::Any,
    Family::Curve,
    Family::Fast,
    Family::Daily,
    Family::Any,
    Family::Curve,
    Family::Slow,
    Family::Overload,
    Family::Any,
    Family::Fast,
    Family::Concurrency,
    Family::Any,
    Family::Slow,
    Family::ProviderErrors,
    Family::CallerErrors,
    Family::Spend,
];

/// The family of this number.
#[must_use]
pub const fn family(number: u64) -> Family {
    TURN[(number % TURN.len() as u64) as usize]
}

/// The scenario of this number: the same for the same seed.
#[must_use]
pub fn scenario(seed: u64, number: u64) -> (Family, Value) {
    let mixed = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ number.wrapping_mul(0xd134_2543_de82_ef95);
    let mut draw = Draw(SeededDice::new(mixed));
    let family = family(number);
    (family, of_family(family, number, &mut draw))
}

/// The scenario of this number, drawn for the fault of its family: where that is the curve alone, calls come evenly, as
/// bursts are a matter of pace and quota.
#[must_use]
pub fn further(seed: u64, number: u64) -> (Family, Value) {
    let (family, mut scenario) = scenario(seed, number);
    let arrivals = &mut scenario["callers"]["arrivals"];
    if matches!(family, Family::Fast | Family::Slow)
        && let Some(per_minute) = arrivals["diurnal"]["per_minute"].as_f64()
    {
        *arrivals = json!({"poisson": {"per_minute": per_minute}});
    }
    (family, scenario)
}

fn of_family(family: Family, number: u64, draw: &mut Draw) -> Value {
    let alone = matches!(family, Family::Fast | Family::Slow);
    let other_cause = !matches!(family, Family::Any | Family::Curve | Family::Fast | Family::Slow);
    let by_tokens = draw.chance(0.6);
    // A single large request must not be more than a minute's tokens.
    let limit = draw.scale(if by_tokens { 25.0 } else { 5.0 }, 300.0).round();
    let load = match family {
        Family::Any => draw.scale(0.15, 2.5),
        Family::Curve => draw.between(0.15, 1.0),
        Family::Fast | Family::Slow => draw.between(0.4, 0.95),
        _ => draw.scale(0.1, 0.5),
    };
    // Enough calls to say something.
    let per_minute = (limit * load).max(4.5);
    let deadline = match family {
        Family::Any => draw.scale(5.0, 300.0),
        _ => draw.scale(20.0, 300.0),
    };
    let service = if draw.chance(0.3) { draw.scale(5.0, 60.0) } else { 3.0 };
    let service = service.min(deadline / 8.0);
    let mut provider = provider(limit, by_tokens, draw);
    provider["service_s"] = json!([service / 3.0, service]);
    let hour = 3_600.0;
    let expected = per_minute * 65.0;
    let daily = family == Family::Daily || (family == Family::Any && draw.chance(0.08));
    if daily {
        provider["requests_per_day"] = json!((expected * draw.between(0.2, 0.9)).round().max(1.0));
    }
    if family == Family::Overload || (family == Family::Any && draw.chance(0.14)) {
        let episodes: Vec<_> = (0..draw.whole(1, 4))
            .map(|_| {
                let from = draw.between(0.0, hour);
                json!({"from_s": from, "until_s": from + draw.between(60.0, 1_200.0), "share": draw.between(0.15, 0.98)})
            })
            .collect();
        provider["overload"] = json!(episodes);
    }
    if family == Family::Concurrency {
        let mean_in_flight = per_minute / 60.0 * service * 2.0 / 3.0;
        provider["concurrency"] = json!((mean_in_flight * draw.between(0.3, 2.0)).round().max(1.0));
    }
    let mut failures = Vec::new();
    if family == Family::ProviderErrors || (family == Family::Any && draw.chance(0.05)) {
        let kind = *draw.one_of(&["server_error", "server_error", "timeout"]);
        failures.push(failure(kind, draw.scale(0.02, 0.9), draw));
    }
    if family == Family::CallerErrors || (family == Family::Any && draw.chance(0.04)) {
        failures.push(failure("auth", draw.scale(0.01, 0.9), draw));
    }
    if !failures.is_empty() {
        provider["failures"] = json!(failures);
    }
    if family == Family::Spend || (family == Family::Any && draw.chance(0.03)) {
        let from = draw.between(0.0, hour);
        let until = if draw.chance(0.7) { 2.0 * hour } else { from + draw.between(120.0, 1_800.0) };
        provider["spend"] = json!([{"from_s": from, "until_s": until}]);
    }
    let mut others = Vec::new();
    if !other_cause && !alone && draw.chance(0.25) {
        let mut other = json!({"requests_per_minute": (limit * draw.between(0.2, 1.5)).round().max(1.0)});
        if draw.chance(0.5) {
            let period = draw.scale(60.0, 900.0);
            let on = period * draw.between(0.1, 0.6);
            other["on_s"] = json!(on);
            other["off_s"] = json!(period - on);
        }
        others.push(other);
    }
    let known = draw.chance(0.75);
    if !known {
        provider["quota_headers"] = json!(false);
    }
    let gate = if alone || draw.chance(0.5) { "none" } else { *draw.one_of(&["local", "local", "news", "shared"]) };
    json!({
        "seed": number + 1,
        "warmup_s": 300,
        "measured_s": hour,
        "provider": provider,
        "others": others,
        "callers": callers(per_minute, deadline, other_cause || alone, draw),
        "policy": policy(family, draw),
        "gate": gate,
        "limit_configured": if known && draw.chance(0.15) { json!({"times": *draw.one_of(&[0.75, 1.33])}) } else { json!(known) },
    })
}

fn provider(limit: f64, tokens: bool, draw: &mut Draw) -> Value {
    let algorithm = *draw.one_of(&["token_bucket", "token_bucket", "fixed_window", "sliding_window"]);
    let mut provider = json!({"algorithm": algorithm});
    if algorithm == "token_bucket" {
        provider["burst_s"] = json!(*draw.one_of(&[60.0, 10.0, 1.0]));
    }
    let requests = !tokens || draw.chance(0.5);
    if requests {
        provider["requests_per_minute"] = json!(limit);
    }
    if tokens {
        // As many as that many calls of the usual size use, give or take.
        let amount = |share: f64, draw: &mut Draw| {
            json!((limit * MEAN_TOKENS * share * if requests { draw.between(0.7, 1.5) } else { 1.0 }).round())
        };
        match draw.whole(1, 4) {
            1 => provider["input_tokens_per_minute"] = amount(0.7, draw),
            2 => {
                provider["input_tokens_per_minute"] = amount(0.7, draw);
                provider["output_tokens_per_minute"] = amount(0.3 * draw.between(0.7, 1.5), draw);
            }
            _ => provider["tokens_per_minute"] = amount(1.0, draw),
        }
    }
    provider["throttled_attempts_count"] = json!(draw.chance(0.4));
    let told = draw.whole(0, 6);
    provider["retry_after"] = match told {
        0 | 1 => json!("none"),
        2 => json!("exact"),
        3 | 4 => json!("whole_seconds"),
        5 => draw.one_of(&[json!({"times": 0.1}), json!({"times": 5, "plus_s": 10}), json!({"fixed_s": 60})]).clone(),
        _ => json!("reset_only"),
    };
    provider["quota_headers"] = json!(draw.chance(if told > 1 { 0.6 } else { 0.2 }));
    provider["class_readable"] = json!(draw.chance(0.75));
    provider
}

/// The mean of the sizes drawn below, about.
const MEAN_TOKENS: f64 = 1_250.0;

fn callers(per_minute: f64, deadline: f64, tame: bool, draw: &mut Draw) -> Value {
    let arrivals = match if tame && draw.chance(0.7) { *draw.one_of(&[0, 3]) } else { draw.whole(0, 3) } {
        0 => json!({"poisson": {"per_minute": per_minute}}),
        1 => {
            let (period, duty) = (draw.scale(60.0, 900.0), draw.between(0.1, 0.5));
            json!({"on_off": {"per_minute": per_minute / duty, "on_s": period * duty, "off_s": period * (1.0 - duty)}})
        }
        2 => {
            let every = draw.scale(60.0, 900.0);
            json!({"batch": {"size": (per_minute * every / WINDOW).round().max(1.0), "every_s": every}})
        }
        _ => json!({"diurnal": {"per_minute": per_minute, "low": 0.2, "high": 1.8, "period_s": 3_600}}),
    };
    let sigma = draw.between(0.3, 1.1);
    let mut tokens = json!({
        "median": (MEAN_TOKENS / (sigma * sigma / 2.0).exp()).round(),
        "sigma": sigma,
        "output_share": 0.3,
        "estimate_bias": draw.scale(0.75, 1.33),
    });
    if draw.chance(0.25) {
        tokens["estimated"] = json!(false);
    }
    let deadlines = if draw.chance(0.25) {
        json!([
            {"share": draw.between(0.2, 0.8), "deadline_s": (deadline / 3.0).max(5.0), "policy": "interactive"},
            {"share": draw.between(0.2, 0.8), "deadline_s": deadline * draw.between(2.0, 6.0), "policy": "batch"},
        ])
    } else {
        json!(deadline)
    };
    json!({"arrivals": arrivals, "replicas": draw.whole(1, 16), "tokens": tokens, "deadline_s": deadlines})
}

fn policy(family: Family, draw: &mut Draw) -> Value {
    let base = match family {
        Family::Fast => draw.scale(WINDOW / 1_000.0, WINDOW / 60.0),
        Family::Slow => draw.scale(WINDOW / 6.0, WINDOW * 2.0),
        Family::Curve if draw.chance(0.5) => draw.scale(WINDOW / 1_000.0, WINDOW / 60.0),
        Family::Curve => draw.scale(WINDOW / 6.0, WINDOW * 2.0),
        Family::Any => draw.scale(WINDOW / 1_000.0, WINDOW * 2.0),
        _ => draw.scale(WINDOW / 60.0, WINDOW / 2.0),
    };
    let mut policy = json!({
        "base_s": base,
        "cap_s": draw.scale(base.max(1.0), 300.0),
        "attempts": if matches!(family, Family::Any | Family::Curve | Family::Fast | Family::Slow) { draw.whole(3, 20) } else { draw.whole(5, 20) },
        "honour_header": draw.chance(0.65),
        "jitter_on_header": *draw.one_of(&["none", "1s", "curve"]),
        "on_over_cap": *draw.one_of(&["clamp", "give_up"]),
    });
    if draw.chance(0.5) {
        policy["header_cap_s"] = json!(draw.scale(10.0, 300.0));
    }
    policy
}

fn failure(kind: &str, share: f64, draw: &mut Draw) -> Value {
    if draw.chance(0.5) {
        return json!({"kind": kind, "share": share});
    }
    let from = draw.between(0.0, 3_000.0);
    json!({"kind": kind, "share": share, "from_s": from, "until_s": from + draw.between(300.0, 2_400.0)})
}
