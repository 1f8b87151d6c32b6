//! forbear on the same operation, with its targets.

use std::future::Future;
use std::time::Duration;

use forbear::event::sink::Sink;
use forbear::{Forbear, Gate, InvalidSetting, Observation, Policy, Pool, provider};

use crate::operation::Answer;
use crate::peers::{BASE, CAP};

/// A deadline no row reaches.
const DEADLINE: Duration = Duration::from_secs(60);

/// A pool and the policy of its one call site.
#[derive(Debug)]
#[non_exhaustive]
pub struct Ours {
    pool: Pool,
    policy: Policy,
}

impl Ours {
    /// A deadline and nothing else: no gate, no budget, no sink.
    ///
    /// # Errors
    /// A setting out of its range.
    pub fn deadline_only() -> Result<Self, InvalidSetting> {
        Self::at(Forbear::builder().gate(Gate::off()).no_budget().build()?)
    }

    /// What a service gets that sets nothing: deadline, retry budget, and a gate, which is flowing.
    ///
    /// # Errors
    /// A setting out of its range.
    pub fn gate_and_budget() -> Result<Self, InvalidSetting> {
        Self::at(Forbear::builder().gate(Gate::local()).build()?)
    }

    /// The same with a gate shared over this store; to be built inside a runtime.
    ///
    /// # Errors
    /// A setting out of its range.
    #[cfg(feature = "fleet")]
    pub fn shared(options: forbear::RedisOptions) -> Result<Self, InvalidSetting> {
        Self::at(Forbear::builder().gate(Gate::redis(options)).build()?)
    }

    /// A deadline and a flowing gate, for calls that all fail three times: a retry budget would rightly stop them.
    ///
    /// # Errors
    /// A setting out of its range.
    pub fn gate_without_budget() -> Result<Self, InvalidSetting> {
        Self::at(Forbear::builder().gate(Gate::local()).no_budget().build()?)
    }

    /// What a service gets that sets nothing but this sink.
    ///
    /// # Errors
    /// A setting out of its range.
    pub fn told(sink: impl Sink) -> Result<Self, InvalidSetting> {
        Self::at(Forbear::builder().gate(Gate::local()).sink(sink).build()?)
    }

    /// The same without a gate and without a retry budget, for calls that all fail three times.
    ///
    /// # Errors
    /// A setting out of its range.
    pub fn told_deadline_only(sink: impl Sink) -> Result<Self, InvalidSetting> {
        Self::at(Forbear::builder().gate(Gate::off()).no_budget().sink(sink).build()?)
    }

    fn at(forbear: Forbear) -> Result<Self, InvalidSetting> {
        let policy = Policy::interactive(DEADLINE).base(BASE).cap(CAP).attempts(4).build()?;
        Ok(Self { pool: forbear.pool(provider::generic(), ["bench"]).build()?, policy })
    }

    /// One call.
    pub fn call<'a, Fut: Future<Output = Answer> + 'a>(
        &'a self,
        mut operation: impl FnMut() -> Fut + 'a,
    ) -> impl Future<Output = Result<u64, forbear::Error<Answer>>> {
        self.pool.call(&self.policy).classify(observe).run(move |_| operation())
    }
}

/// The failure as a service would show it that is overloaded for a moment.
fn observe(answer: &Answer) -> Observation<'_> {
    match answer {
        Ok(_) => Observation::ok(),
        Err(_) => Observation::status(500),
    }
}
