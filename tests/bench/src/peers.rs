//! The peers, each set up for the same job: exponential from 100 ms, jitter, four attempts.

use std::future::{Future, Ready, ready};
use std::sync::Arc;
use std::time::{Duration, Instant};

use backon::{ExponentialBuilder, Retryable};
use tokio::time::Sleep;
use tokio_retry::strategy::{ExponentialBackoff, jitter};
use tower::retry::backoff::{Backoff, ExponentialBackoff as TowerBackoff, ExponentialBackoffMaker, MakeBackoff};
use tower::retry::budget::{Budget, TpsBudget};
use tower::retry::{Policy, Retry};
use tower::util::rng::HasherRng;
use tower::{Layer, Service, service_fn};
use tower_resilience_retry::RetryLayer;

use crate::operation::{Answer, FAILURES, Failure};

/// The first wait.
pub const BASE: Duration = Duration::from_millis(100);
/// The longest wait.
pub const CAP: Duration = Duration::from_secs(30);

/// The packages measured here.
pub const PACKAGES: &[&str] = &["forbear", "tokio", "backon", "tokio-retry", "tower", "tower-resilience-retry"];

/// The loop one writes by hand: full jitter, no clock.
pub async fn hand<Fut: Future<Output = Answer>>(mut operation: impl FnMut() -> Fut) -> Answer {
    let mut retries = 0;
    loop {
        match operation().await {
            Err(_) if retries < FAILURES => {
                tokio::time::sleep(full_jitter(retries)).await;
                retries += 1;
            }
            answer => return answer,
        }
    }
}

/// The same with a deadline: one look at the clock when the call starts, one before each sleep.
pub async fn hand_with_deadline<Fut: Future<Output = Answer>>(
    deadline: Duration,
    mut operation: impl FnMut() -> Fut,
) -> Answer {
    let started = std::hint::black_box(Instant::now());
    let mut retries = 0;
    loop {
        match operation().await {
            Err(_) if retries < FAILURES && started.elapsed() < deadline => {
                tokio::time::sleep(full_jitter(retries)).await;
                retries += 1;
            }
            answer => return answer,
        }
    }
}

fn full_jitter(retries: u32) -> Duration {
    (BASE * 2_u32.pow(retries)).min(CAP).mul_f64(fastrand::f64())
}

/// backon, as its front page shows it, with jitter.
pub async fn backon<Fut: Future<Output = Answer>>(operation: impl FnMut() -> Fut) -> Answer {
    let curve = ExponentialBuilder::default().with_min_delay(BASE).with_max_delay(CAP).with_jitter();
    operation.retry(curve.with_max_times(FAILURES as usize)).await
}

/// tokio-retry, as its front page shows it.
pub async fn tokio_retry<Fut: Future<Output = Answer>>(operation: impl FnMut() -> Fut) -> Answer {
    let curve = ExponentialBackoff::from_millis(2).factor(50).max_delay(CAP).map(jitter).take(FAILURES as usize);
    tokio_retry::Retry::start(curve, operation).await
}

/// tower's retry service with a policy that counts attempts, and neither waits nor has a budget.
pub fn tower_minimal<Fut: Future<Output = Answer>>(
    operation: impl FnMut() -> Fut + Clone,
) -> impl Service<(), Response = u64, Error = Failure, Future = impl Future<Output = Answer>> {
    Retry::new(AtOnce(FAILURES), service(operation))
}

/// Retries at once, so many times.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct AtOnce(u32);

impl Policy<(), u64, Failure> for AtOnce {
    type Future = Ready<()>;

    fn retry(&mut self, (): &mut (), result: &mut Answer) -> Option<Self::Future> {
        result.as_ref().err()?;
        self.0 = self.0.checked_sub(1)?;
        Some(ready(()))
    }

    fn clone_request(&mut self, (): &()) -> Option<()> {
        Some(())
    }
}

/// tower's retry service with its exponential backoff and its budget.
///
/// # Panics
/// Never: the curve is one tower takes.
pub fn tower_budget<Fut: Future<Output = Answer>>(
    operation: impl FnMut() -> Fut + Clone,
) -> impl Service<(), Response = u64, Error = Failure, Future = impl Future<Output = Answer>> {
    let mut maker = ExponentialBackoffMaker::new(BASE, CAP, 1.0, HasherRng::default())
        .unwrap_or_else(|error| panic!("the curve all rows share: {error}"));
    // Enough that paused time, in which hours pass in a moment, never runs it dry.
    let budget = Arc::new(TpsBudget::new(Duration::from_secs(10), 1_000_000, 1_000.0));
    let policy = Budgeted { left: FAILURES, backoff: maker.make_backoff(), budget };
    Retry::new(policy, service(operation))
}

/// Retries with backoff, so many times, while the budget allows it.
#[derive(Clone, Debug)]
pub struct Budgeted {
    left: u32,
    backoff: TowerBackoff,
    budget: Arc<TpsBudget>,
}

impl Policy<(), u64, Failure> for Budgeted {
    type Future = Sleep;

    fn retry(&mut self, (): &mut (), result: &mut Answer) -> Option<Self::Future> {
        if result.is_ok() {
            self.budget.deposit();
            return None;
        }
        self.left = self.left.checked_sub(1)?;
        self.budget.withdraw().then(|| self.backoff.next_backoff())
    }

    fn clone_request(&mut self, (): &()) -> Option<()> {
        Some(())
    }
}

/// tower-resilience's retry service, without a recorder of events.
pub fn tower_resilience<Fut: Future<Output = Answer> + Send + 'static>(
    operation: impl FnMut() -> Fut + Clone + Send + 'static,
) -> impl Service<(), Response = u64, Error = Failure, Future = impl Future<Output = Answer>> {
    let layer =
        RetryLayer::<(), u64, Failure>::builder().max_attempts(FAILURES as usize + 1).exponential_backoff(BASE).build();
    layer.layer(service(operation))
}

/// The operation as a service, which is always ready.
fn service<Fut: Future<Output = Answer>>(
    mut operation: impl FnMut() -> Fut + Clone,
) -> impl Service<(), Response = u64, Error = Failure, Future = Fut> + Clone {
    service_fn(move |()| operation())
}
