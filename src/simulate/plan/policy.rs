//! The policies of a plan.
//!
//! They are the engine's own [`Policy`]: built by its builder from the deadline, then given what the scenario sets. The
//! scenario's ranges are checked here, by the names of its JSON, because some are wider than a service may have them.

use std::sync::Arc;
use std::time::Duration;

use crate::core::policy::{self, Manners, OnOverCap, Policy};
use crate::core::setting::InvalidSetting;
use crate::simulate::plan::{Number, seconds};
use crate::simulate::scenario::{HeaderJitter, Jitter, OverCap, PolicySettings};

/// The longest a policy lets a call take.
const LONGEST_CALL: f64 = 7.0 * 86_400.0;

/// One kind of call.
#[derive(Clone, Debug)]
pub(crate) struct ClassPlan {
    /// Its weight among all kinds.
    pub(crate) share: f64,
    /// How the engine retries it.
    pub(crate) policy: Policy,
    /// How often the client below the engine repeats a request.
    pub(crate) sdk_retries: u32,
}

impl ClassPlan {
    /// Checks the settings of one kind of call. The ranges are the policy's own, and wider where a comparison needs it.
    pub(super) fn of(
        share: f64,
        name: &str,
        deadline: Option<f64>,
        given: &PolicySettings,
    ) -> Result<Self, InvalidSetting> {
        const HOUR: f64 = 3_600.0;
        let deadline =
            seconds("deadline_s", deadline, LONGEST_CALL, 0.001..=LONGEST_CALL, "0.001 to 604800 (7 days), or none")?;
        let base = seconds("policy.base_s", given.base_s, 6.0, 0.001..=HOUR, "0.001 to 3600")?;
        let least = base.as_secs_f64();
        let cap = seconds("policy.cap_s", given.cap_s, least.max(120.0), least..=24.0 * HOUR, "base_s to 86400")?;
        let header_cap = seconds("policy.header_cap_s", given.header_cap_s, 300.0, 1.0..=26.0 * HOUR, "1 to 93600")?;
        let attempts = Number("policy.attempts", given.attempts).whole(1e6, "a whole number from 1 to 10^6")?;
        let timeout = given.attempt_timeout_s.map(|timeout| {
            let most = deadline.as_secs_f64();
            seconds("policy.attempt_timeout_s", Some(timeout), timeout, 0.001..=most, "0.001 to the deadline")
        });
        let sdk_retries = Number("policy.sdk_retries", given.sdk_retries.filter(|retries| *retries != 0.0));
        let sdk_retries = sdk_retries.whole(10.0, "a whole number from 0 to 10")?.unwrap_or(0);
        let policy = Policy {
            name: Arc::from(name),
            factor: Number("policy.factor", given.factor).within(2.0, 1.0..=10.0, "1 to 10")?,
            on_over_cap: match given.on_over_cap.unwrap_or_default() {
                OverCap::GiveUp => OnOverCap::GiveUp,
                OverCap::Clamp => OnOverCap::Clamp,
            },
            // Beyond the engine's own range too: some comparisons need callers who never tire.
            attempts: attempts.map_or(10, |attempts| attempts as u32),
            attempt_timeout: timeout.transpose()?,
            manners: manners(given),
            base,
            cap,
            header_cap,
            ..Policy::background(deadline).build()?
        };
        Ok(Self { share, policy, sdk_retries: sdk_retries as u32 })
    }

    /// When an attempt ends that nothing else cuts: clients do not wait for ever.
    pub(crate) const CLIENT_TIMEOUT: Duration = Duration::from_secs(600);
}

/// What the call does as other engines do.
fn manners(given: &PolicySettings) -> Manners {
    Manners {
        honour_header: given.honour_header.unwrap_or(true),
        jitter_on_header: match given.jitter_on_header.unwrap_or_default() {
            HeaderJitter::None => policy::HeaderJitter::None,
            HeaderJitter::Second => policy::HeaderJitter::Second,
            HeaderJitter::Curve => policy::HeaderJitter::Curve,
        },
        jitter: match given.jitter.unwrap_or_default() {
            Jitter::Full => policy::Jitter::Full,
            Jitter::Equal => policy::Jitter::Equal,
            Jitter::None => policy::Jitter::None,
        },
    }
}
