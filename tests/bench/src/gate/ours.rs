//! forbear's pools in the states that are measured.

use std::future::Future;
use std::time::Duration;

use forbear::{Forbear, Gate, InvalidSetting, Observation, Policy, Pool, provider};
use http::Response;

use crate::operation::{Answer, Failure};

/// A deadline no row reaches.
pub const DEADLINE: Duration = Duration::from_secs(600);

/// A pool and the policy of its one call site.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Ours {
    /// The pool.
    pub pool: Pool,
    policy: Policy,
}

impl Ours {
    /// A pool whose calls pass at once.
    ///
    /// # Errors
    /// A setting out of its range.
    pub fn flowing() -> Result<Self, InvalidSetting> {
        Self::at(Forbear::builder().gate(Gate::local()).no_budget().build()?)
    }

    /// Calls alone.
    ///
    /// # Errors
    /// A setting out of its range.
    pub fn ungated() -> Result<Self, InvalidSetting> {
        Self::at(Forbear::builder().gate(Gate::off()).no_budget().build()?)
    }

    fn at(forbear: Forbear) -> Result<Self, InvalidSetting> {
        let policy = Policy::interactive(DEADLINE).build()?;
        Ok(Self { pool: forbear.pool(provider::openai(), ["bench"]).build()?, policy })
    }

    /// One call.
    pub fn call<'a, Fut: Future<Output = Answer> + 'a>(
        &'a self,
        mut operation: impl FnMut() -> Fut + 'a,
    ) -> impl Future<Output = Result<u64, forbear::Error<Answer>>> {
        self.pool.call(&self.policy).classify(observe).run(move |_| operation())
    }

    /// Shuts the pool for so many seconds. Its answer says that the limit is so many a minute and refills little by little:
    /// that is the pace at which calls come back.
    pub async fn shut(&self, seconds: u32, per_minute: u32) {
        let once = Policy::interactive(DEADLINE).attempts(1).build();
        let Ok(once) = once else { return };
        let call = self.pool.call(&once).run(|_| async {
            Response::builder()
                .status(429)
                .header("retry-after", seconds)
                .header("x-ratelimit-limit-requests", per_minute)
                .header("x-ratelimit-remaining-requests", 0)
                .header("x-ratelimit-reset-requests", "60s")
                .body(())
                .unwrap_or_else(|error| panic!("a well-formed answer: {error}"))
        });
        drop(call.await);
    }
}

/// The failure as a service would show it that is overloaded for a moment.
fn observe(answer: &Answer) -> Observation<'_> {
    match answer {
        Ok(_) => Observation::ok(),
        Err(Failure { .. }) => Observation::status(500),
    }
}
