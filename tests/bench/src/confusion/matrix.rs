//! Truth and verdict, counted.

use std::fmt::{self, Write};

use forbear::diagnose::Cause;

use super::Case;
use super::truth::Fault;

/// What a figure should be, and is aimed at.
#[derive(Clone, Copy, Debug)]
pub struct Figure {
    /// What it measures.
    pub name: &'static str,
    /// Of how many …
    pub of: usize,
    /// … how many.
    pub count: usize,
    /// The least that it should be, or the most.
    pub target: Bound,
}

/// On which side of a share a figure should lie.
#[derive(Clone, Copy, Debug)]
pub enum Bound {
    /// At least.
    AtLeast(f64),
    /// At most.
    AtMost(f64),
    /// Nothing is promised.
    None,
}

impl Figure {
    /// The share.
    #[must_use]
    pub fn share(&self) -> f64 {
        if self.of == 0 { f64::NAN } else { self.count as f64 / self.of as f64 }
    }

    /// Whether it is where it should be; of nothing it is.
    #[must_use]
    pub fn is_met(&self) -> bool {
        match self.target {
            _ if self.of == 0 => true,
            Bound::AtLeast(least) => self.share() >= least,
            Bound::AtMost(most) => self.share() <= most,
            Bound::None => true,
        }
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let target = match self.target {
            Bound::AtLeast(least) => format!("at least {least:.2}"),
            Bound::AtMost(most) => format!("at most {most:.2}"),
            Bound::None => String::new(),
        };
        let met = if self.is_met() { "" } else { "  MISSED" };
        // Two standard errors of a share.
        let error = 2.0 * (self.share() * (1.0 - self.share()) / self.of as f64).sqrt();
        write!(f, "{:44} {:.3} +-{error:.3}  {:>5}/{:<5} {target}{met}", self.name, self.share(), self.count, self.of)
    }
}

/// The table of truths by verdicts, as text.
#[must_use]
pub fn table(cases: &[&Case]) -> String {
    let short = |cause: Cause| cause.as_str().chars().take(9).collect::<String>();
    let mut text = format!("{:18}", "truth \\ verdict");
    Cause::ALL.iter().for_each(|cause| write!(text, " {:>9}", short(*cause)).expect("a string takes everything"));
    text.push('\n');
    for truth in Fault::ALL {
        let of: Vec<_> = cases.iter().filter(|case| case.truth.fault == *truth).collect();
        if of.is_empty() {
            continue;
        }
        write!(text, "{:18}", truth.as_str()).expect("a string takes everything");
        for said in Cause::ALL {
            let count = of.iter().filter(|case| case.verdict.cause == *said).count();
            write!(text, " {count:>9}").expect("a string takes everything");
        }
        text.push('\n');
    }
    text
}

/// The figures for cases whose limit is known.
#[must_use]
pub fn known(cases: &[&Case]) -> Vec<Figure> {
    let told = |cause: Cause| recall(cases, cause.as_str(), &[cause], Bound::AtLeast(0.98));
    vec![
        precision(cases, Bound::AtLeast(0.97)),
        recall(cases, "quota_too_small recognised", &[Cause::QuotaTooSmall], Bound::AtLeast(0.86)),
        client(cases, Bound::AtLeast(0.93)),
        recall(cases, "daily_spent", &[Cause::DailySpent], Bound::AtLeast(0.99)),
        recall(cases, "overloaded", &[Cause::Overloaded], Bound::AtLeast(0.85)),
        told(Cause::ProviderErrors),
        told(Cause::CallerErrors),
        recall(cases, "backoff_too_fast", &[Cause::BackoffTooFast], Bound::None),
        recall(cases, "backoff_too_slow", &[Cause::BackoffTooSlow], Bound::None),
        recall(cases, "unpaced", &[Cause::Unpaced], Bound::None),
        recall(cases, "spend_limit", &[Cause::SpendLimit], Bound::None),
        recall(cases, "concurrency", &[Cause::Concurrency], Bound::None),
        alarms(cases, Bound::AtMost(0.01)),
    ]
}

/// The figures for cases whose limit is not known.
#[must_use]
pub fn unknown(cases: &[&Case]) -> Vec<Figure> {
    vec![
        precision(cases, Bound::AtLeast(0.88)),
        recall(cases, "quota_too_small recognised", &[Cause::QuotaTooSmall], Bound::AtLeast(0.80)),
        client(cases, Bound::None),
        alarms(cases, Bound::AtMost(0.01)),
    ]
}

/// Of those with one fault that are said to need quota, those that do.
fn precision(cases: &[&Case], target: Bound) -> Figure {
    let said = cases.iter().filter(|case| {
        let fault = case.truth.fault;
        let counts = !case.further && fault != Fault::Two && fault != Fault::Healthy;
        counts && case.verdict.cause == Cause::QuotaTooSmall
    });
    let (of, count) =
        said.fold((0, 0), |(of, right), case| (of + 1, right + usize::from(case.truth.is(Cause::QuotaTooSmall))));
    Figure { name: "quota_too_small right", of, count, target }
}

/// Of those with this fault, those of whom it is said.
fn recall(cases: &[&Case], name: &'static str, causes: &[Cause], target: Bound) -> Figure {
    let of: Vec<_> = cases.iter().filter(|case| causes.iter().any(|cause| case.truth.is(*cause))).collect();
    let count = of.iter().filter(|case| case.is_right()).count();
    Figure { name, of: of.len(), count, target }
}

/// Of those whose quota would do, those who are not told to buy more: the curve or the pace is blamed, or another change
/// named that is enough.
fn client(cases: &[&Case], target: Bound) -> Figure {
    let of: Vec<_> = cases.iter().filter(|case| !case.further && case.truth.fault.is_clients()).collect();
    let blamed = |cause| matches!(cause, Cause::Unpaced | Cause::BackoffTooFast | Cause::BackoffTooSlow);
    let count = of.iter().filter(|case| blamed(case.verdict.cause) || case.is_right()).count();
    Figure { name: "curve or pace recognised as the caller's", of: of.len(), count, target }
}

/// Of those that meet the objective, those that are alarmed.
fn alarms(cases: &[&Case], target: Bound) -> Figure {
    let of: Vec<_> = cases.iter().filter(|case| case.truth.fault == Fault::Healthy).collect();
    let count = of.iter().filter(|case| !case.truth.is(case.verdict.cause)).count();
    Figure { name: "healthy, and alarmed", of: of.len(), count, target }
}

/// Of each cause that is said, how often following the advice was enough.
#[must_use]
pub fn helped(cases: &[&Case]) -> Vec<Figure> {
    let said = |cause: &&Cause| cases.iter().any(|case| case.verdict.cause == **cause && case.helped.is_some());
    let figure = |cause: &Cause| {
        let counts = |case: &&&Case| !case.further && case.verdict.cause == *cause && case.truth.is_single();
        let of = cases.iter().filter(counts);
        let of: Vec<_> = of.filter_map(|case| case.helped).collect();
        Figure {
            name: cause.as_str(),
            count: of.iter().filter(|helped| **helped).count(),
            of: of.len(),
            target: Bound::None,
        }
    };
    Cause::ALL.iter().filter(said).map(figure).collect()
}

/// By how much the quota asked for differs from the smallest that is enough, in the median: 0.25 is a quarter too much or
/// a fifth too little.
#[must_use]
pub fn quota_error(cases: &[&Case]) -> Option<f64> {
    let mut errors: Vec<_> = cases.iter().filter_map(|case| quota_error_of(case)).map(f64::abs).collect();
    errors.sort_unstable_by(f64::total_cmp);
    errors.get(errors.len() / 2).map(|error| error.exp() - 1.0)
}

/// The logarithm of what is asked for over what is enough, for the limit of which most is asked.
fn quota_error_of(case: &Case) -> Option<f64> {
    let enough = case.truth.multiple.filter(|_| case.verdict.cause == Cause::QuotaTooSmall)?;
    let load = case.verdict.evidence.loads.first()?;
    let ask = serde_json::to_value(&case.verdict.recommend).ok()?;
    let ask = ask[format!("{}_per_minute", load.limit.dimension)].as_f64()?;
    Some((ask / load.limit.amount / enough).ln())
}
