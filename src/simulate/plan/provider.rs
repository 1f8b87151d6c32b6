//! The provider of a plan: the emulator's limits and what its answers tell.
//!
//! The limits check themselves as well; the ranges are checked here first, by the names of the scenario's JSON, so that a
//! refusal names what its reader wrote. A day is 24 h in a scenario, and only its first end can be moved.

use std::time::Duration;

use crate::core::dice::Dice;
use crate::core::limit::Limit;
use crate::core::setting::InvalidSetting;
use crate::core::signal::Dimension;
use crate::emulator::limits::{self, Limits, Period, RetryAfter, Spread};
use crate::simulate::plan::{LONGEST, Number, seconds, short};
use crate::simulate::scenario::{Algorithm, FailureKind, Lie, OtherTenant, Provider, StatedWait, Time};

/// How a quota that is refused is told to be set.
const AMOUNT: &str = "a whole number from 1 to 10^12, or none";
/// Seconds.
const DAY: f64 = 86_400.0;

/// A quota of the scenario, kept for what is told of it and counted against it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KnownQuota {
    /// What it counts.
    pub(crate) dimension: Dimension,
    /// How much a window of it grants.
    pub(crate) amount: u64,
    /// How long its window is.
    pub(crate) window: Duration,
    /// Whether that is the day's.
    pub(crate) of_day: bool,
}

/// The provider.
#[derive(Clone, Debug)]
pub(crate) struct ProviderPlan {
    /// What the emulator's model is made of.
    pub(crate) limits: Limits,
    /// The per-minute quotas, then the daily ones.
    pub(crate) quotas: Vec<KnownQuota>,
    /// Requests in flight at the same time, if that is limited.
    pub(crate) concurrency: Option<u32>,
    /// Which wait a refusal states.
    pub(crate) told: RetryAfter,
    /// Whether answers tell of the quotas.
    pub(crate) quota_headers: bool,
    /// Whether a refusal tells which limit it was.
    pub(crate) class_readable: bool,
    /// How long a served request takes.
    pub(crate) service: Spread,
    /// How long a refusal takes.
    pub(crate) refusal: Spread,
}

/// Another tenant.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TenantPlan {
    /// Requests a second while it is on.
    pub(crate) per_second: f64,
    /// On and off, unless always on.
    pub(crate) cycle: Option<(Duration, Duration)>,
}

impl ProviderPlan {
    /// Checks the provider; `phase` says where the boundaries of its fixed windows lie.
    pub(super) fn of(given: &Provider, phase: &mut impl Dice) -> Result<Self, InvalidSetting> {
        let window = seconds("provider.window_s", given.window_s, 60.0, 1.0..=LONGEST, "1 to 2678400 (31 days)")?;
        let amount = |field, amount| Number(field, amount).whole(1e12, AMOUNT);
        let requests = amount("provider.requests_per_minute", given.requests_per_minute)?;
        let tokens = amount("provider.tokens_per_minute", given.tokens_per_minute)?;
        let input = amount("provider.input_tokens_per_minute", given.input_tokens_per_minute)?;
        let output = amount("provider.output_tokens_per_minute", given.output_tokens_per_minute)?;
        let daily_requests = amount("provider.requests_per_day", given.requests_per_day)?;
        let daily_tokens = amount("provider.tokens_per_day", given.tokens_per_day)?;
        let day_end =
            seconds("provider.day_ends_at_s", given.day_ends_at_s, DAY, 0.001..=LONGEST, "0.001 to 2678400 (31 days)")?;
        let burst = given.burst_s.map_or(Ok(window), |burst| {
            let most = window.as_secs_f64();
            seconds("provider.burst_s", Some(burst), most, 0.0..=most, "0 to the window")
        })?;
        let phase = phase.within(window);
        let phase = given.window_ends_at_s.map_or(Ok(phase), |ends| {
            let most = window.as_secs_f64();
            seconds("provider.window_ends_at_s", Some(ends), most, 0.0..=most, "0 to the window")
        })?;
        let concurrency = Number("provider.concurrency", given.concurrency).whole(1e6, "1 to 10^6, or none")?;
        let concurrency = concurrency.and_then(|most| u32::try_from(most).ok());
        let limits = Limits::new()
            .requests_per_minute(requests)
            .tokens_per_minute(tokens)
            .input_tokens_per_minute(input)
            .output_tokens_per_minute(output)
            .requests_per_day(daily_requests)
            .tokens_per_day(daily_tokens)
            .day_ends_at(day_end)
            .concurrency(concurrency)
            .window(window)
            .algorithm(given.algorithm.unwrap_or_default())
            .burst(burst)
            .first_boundary_after(phase)
            .throttled_attempts_count(given.throttled_attempts_count.unwrap_or(false));
        let day = Duration::from_secs_f64(DAY);
        let quotas = [
            (Dimension::Requests, requests, window, false),
            (Dimension::Tokens, tokens, window, false),
            (Dimension::InputTokens, input, window, false),
            (Dimension::OutputTokens, output, window, false),
            (Dimension::Requests, daily_requests, day, true),
            (Dimension::Tokens, daily_tokens, day, true),
        ];
        let known = |(dimension, amount, window, of_day): (_, Option<u64>, _, _)| {
            amount.map(|amount| KnownQuota { dimension, amount, window, of_day })
        };
        Ok(Self {
            limits: with_episodes(limits, given)?,
            quotas: quotas.into_iter().filter_map(known).collect(),
            concurrency,
            told: told(given.retry_after.unwrap_or_default())?,
            quota_headers: given.quota_headers.unwrap_or(false),
            class_readable: given.class_readable.unwrap_or(true),
            service: spread("provider.service_s", given.service_s.unwrap_or(Time::Between(1.0, 3.0)))?,
            refusal: spread(
                "provider.throttle_answer_s",
                given.throttle_answer_s.unwrap_or(Time::Between(0.05, 0.15)),
            )?,
        })
    }

    /// The quotas as an application would configure them, `times` as large.
    pub(super) fn limits_known(&self, times: f64) -> Vec<Limit> {
        let amount = |amount: u64| ((amount as f64 * times).round() as u64).max(1);
        self.quotas.iter().map(|quota| Limit::per(quota.dimension, amount(quota.amount), quota.window)).collect()
    }

    /// The limits as the ideal engine meets them: nothing goes wrong beside the quotas.
    pub(crate) fn quotas_alone(&self) -> Limits {
        self.limits.clone().without_episodes()
    }
}

impl TenantPlan {
    /// Checks another tenant.
    pub(super) fn of(given: &OtherTenant) -> Result<Self, InvalidSetting> {
        let rate = Number("others.requests_per_minute", given.requests_per_minute);
        let on =
            given.on_s.map(|on| seconds("others.on_s", Some(on), on, 0.001..=LONGEST, "0.001 to 2678400 (31 days)"));
        let off = seconds("others.off_s", given.off_s, 0.0, 0.0..=LONGEST, "0 to 2678400 (31 days)")?;
        Ok(Self {
            per_second: rate.within(60.0, 0.0..=1e6, "0 to 10^6")? / 60.0,
            cycle: on.transpose()?.map(|on| (on, off)),
        })
    }
}

impl From<Algorithm> for limits::Algorithm {
    fn from(algorithm: Algorithm) -> Self {
        match algorithm {
            Algorithm::TokenBucket => Self::TokenBucket,
            Algorithm::FixedWindow => Self::FixedWindow,
            Algorithm::SlidingWindow => Self::SlidingWindow,
        }
    }
}

impl From<FailureKind> for limits::FailureKind {
    fn from(kind: FailureKind) -> Self {
        match kind {
            FailureKind::ServerError => Self::ServerError,
            FailureKind::Timeout => Self::Timeout,
            FailureKind::Auth => Self::Auth,
        }
    }
}

/// The limits with what goes wrong beside them.
fn with_episodes(mut limits: Limits, given: &Provider) -> Result<Limits, InvalidSetting> {
    let share = |field, share| Number(field, share).within(1.0, 0.0..=1.0, "0 to 1");
    for (field, items) in [
        ("provider.failures", given.failures.len()),
        ("provider.spend", given.spend.len()),
        ("provider.overload", given.overload.len()),
    ] {
        short(field, items, 1_000, "at most 1000")?;
    }
    for failure in &given.failures {
        limits = limits.failure(limits::Failure {
            kind: failure.kind.unwrap_or_default().into(),
            period: period("provider.failures.until_s", failure.from_s, failure.until_s)?,
            share: share("provider.failures.share", failure.share)?,
        });
    }
    for spend in &given.spend {
        limits = limits.spend(period("provider.spend.until_s", spend.from_s, spend.until_s)?);
    }
    for overload in &given.overload {
        let period = period("provider.overload.until_s", overload.from_s, overload.until_s)?;
        limits = limits.overload(period, share("provider.overload.share", overload.share)?);
    }
    Ok(limits)
}

/// A span of time, of which the later end is named when it is refused.
fn period(field: &'static str, from: Option<f64>, until: Option<f64>) -> Result<Period, InvalidSetting> {
    const FOR_EVER: f64 = 1e9;
    let until = seconds(field, until, FOR_EVER, 0.0..=FOR_EVER, "0 to 10^9, and later than from_s")?;
    let from = from.unwrap_or(0.0);
    if from.is_nan() || from < 0.0 || from >= until.as_secs_f64() {
        return Err(InvalidSetting::new(field, (from, until.as_secs_f64()), "later than from_s, and from_s from 0 on"));
    }
    Ok(Period::new(Duration::from_secs_f64(from), until))
}

/// Which wait a refusal states.
fn told(given: StatedWait) -> Result<RetryAfter, InvalidSetting> {
    Ok(match given {
        StatedWait::None => RetryAfter::None,
        StatedWait::Exact => RetryAfter::Exact,
        StatedWait::WholeSeconds => RetryAfter::WholeSeconds,
        StatedWait::ResetOnly => RetryAfter::ResetOnly,
        StatedWait::Lie(Lie { times, plus_s, fixed_s: None }) => RetryAfter::Times {
            factor: Number("provider.retry_after.times", times).within(1.0, 0.0..=1_000.0, "0 to 1000")?,
            plus: seconds("provider.retry_after.plus_s", plus_s, 0.0, 0.0..=DAY, "0 to 86400")?,
        },
        StatedWait::Lie(Lie { times: None, plus_s: None, fixed_s: Some(fixed) }) => RetryAfter::Fixed(seconds(
            "provider.retry_after.fixed_s",
            Some(fixed),
            fixed,
            0.0..=LONGEST,
            "0 to 2678400 (31 days)",
        )?),
        StatedWait::Lie(lie) => {
            return Err(InvalidSetting::new("provider.retry_after", lie, "fixed_s alone, or times and plus_s"));
        }
    })
}

/// A time that is drawn.
fn spread(field: &'static str, time: Time) -> Result<Spread, InvalidSetting> {
    const ALLOWED: &str = "0 to 86400, the first no larger than the second";
    let (from, to) = match time {
        Time::Always(always) => (always, always),
        Time::Between(from, to) => (from, to),
    };
    let to = seconds(field, Some(to), to, 0.0..=DAY, ALLOWED)?;
    let from = seconds(field, Some(from), from, 0.0..=to.as_secs_f64(), ALLOWED)?;
    Ok(Spread::between(from, to))
}
