//! An engine that can say what is wrong with its pools.

use crate::core::setting::InvalidSetting;
use crate::diagnose::{Chronicle, Diagnosis};
use crate::event::sink::GaugeSource;
use crate::run::builder::ForbearBuilder;
use crate::run::engine::Forbear;

impl ForbearBuilder {
    /// Remembers an hour of every pool, so that [`Forbear::diagnose`] can say what is wrong with it: some 60 kB a pool,
    /// whatever is called. Events are then built and added up, without a lock, also where there is no sink.
    pub fn diagnosable(mut self) -> Self {
        self.chronicle = Some(Chronicle::default());
        self
    }
}

impl Forbear {
    /// What is wrong with each pool that was called, and what to change: as far as this process knows.
    ///
    /// Every process sees its own calls alone. Where [`ForbearBuilder::replicas`] tells how many there are, each is taken
    /// to ask for the same, and its calls are held against its share of the limits; where nobody does, the verdict is
    /// [likely](crate::diagnose::Certainty::Likely) at most and says that the size of the fleet is unknown. A Prometheus
    /// that scrapes the whole fleet knows more: `forbear diagnose --prometheus`.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use forbear::{Forbear, Limit, Policy, provider};
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let forbear = Forbear::builder().diagnosable().replicas(4).build()?;
    /// let pool = forbear.pool(provider::openai(), ["gpt"]).limit(Limit::requests_per_minute(120)).build()?;
    /// let policy = Policy::interactive(Duration::from_secs(15)).named("chat").build()?;
    /// pool.call(&policy).run(|_| async { Ok::<_, std::io::Error>(http::Response::new(())) }).await?;
    ///
    /// for diagnosis in forbear.diagnose()? {
    ///     println!("{}: {}", diagnosis.pool, diagnosis.verdict.sentence);
    /// #   assert_eq!(diagnosis.verdict.cause, forbear::diagnose::Cause::NotEnoughData);
    /// }
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// The engine was not built to be [diagnosable](ForbearBuilder::diagnosable).
    pub fn diagnose(&self) -> Result<Vec<Diagnosis>, InvalidSetting> {
        let engine = &self.pools.engine;
        let Some(chronicle) = &engine.chronicle else {
            return Err(InvalidSetting::new("forbear.diagnosable", false, "true, set when the engine is built"));
        };
        Ok(chronicle.judge(engine.trunk.clock.now(), |visit| self.pools.sample(visit)))
    }
}
