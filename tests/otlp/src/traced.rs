//! One call whose spans are known.

use std::time::Duration;

use forbear::{Forbear, Observation, Policy, provider};
use tracing::{Instrument, info_span};

use crate::Collector;

/// Makes a call that is throttled once, inside a span of the caller and with a span in each attempt, as a service does
/// whose HTTP client is traced. The call is carried out on a task of its own.
///
/// # Panics
/// If it does not succeed.
pub async fn traced_call() {
    let forbear = Forbear::builder().build().expect("valid settings");
    let pool = forbear.pool(provider::generic(), ["search"]).build().expect("a valid pool");
    let call = async move {
        let policy = Policy::interactive(Duration::from_secs(15)).base(Duration::from_millis(1)).build();
        let policy = policy.expect("a valid policy");
        let attempt = |attempt: forbear::Attempt<'_>| {
            let answer = if attempt.number() == 1 { Err(429) } else { Ok(200) };
            async move { answer }.instrument(info_span!("http"))
        };
        pool.call(&policy).classify(observe).run(attempt).await.expect("the second attempt succeeds");
    };
    tokio::spawn(call.instrument(info_span!("request"))).await.expect("nobody panics");
}

fn observe(status: &Result<u16, u16>) -> Observation<'_> {
    Observation::status(status.unwrap_or_else(|status| status))
}

/// Fails unless the spans of [`traced_call`] arrived below their parents.
///
/// # Panics
/// If they did not.
pub fn assert_traced_call_arrived(collector: &Collector) {
    let tree = collector.tree(&["forbear.attempt.number", "http.response.status_code", "forbear.call.outcome"]);
    let expected = "\
request
  forbear.call forbear.call.outcome=ok
    forbear.attempt forbear.attempt.number=1 http.response.status_code=429
      http
    forbear.delay
    forbear.gate.wait
    forbear.attempt forbear.attempt.number=2 http.response.status_code=200
      http
";
    assert_eq!(tree, expected, "{tree}");
}
