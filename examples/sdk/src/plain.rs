//! Plain reqwest, with a closure: the shortest way where the call site is one's own.

use forbear::{Error, InFlight};
use reqwest::{Client, Response};
use serde_json::Value;

use crate::Through;

/// One call. `http` is to be made with `.retry(reqwest::retry::never())`: that turns its own retries off.
///
/// # Errors
/// No success; the last answer is in [`Error::into_last`].
pub async fn ask(
    through: &Through,
    http: &Client,
    url: &str,
    question: &Value,
) -> Result<Response, Error<reqwest::Result<Response>>> {
    let estimate = through.pool.estimate(question.to_string().as_bytes());
    let call = through.pool.call(&through.policy).tokens(estimate);
    call.run(|attempt| http.post(url).timeout(attempt.time_left()).json(question).send()).await
}

/// The same for a stream: with the guard that keeps the request counted until the stream has been read. No timeout of its
/// own: the deadline holds for the stream's beginning.
///
/// # Errors
/// As of [`ask`].
pub async fn stream(
    through: &Through,
    http: &Client,
    url: &str,
    question: &Value,
) -> Result<(Response, Option<InFlight>), Error<reqwest::Result<Response>>> {
    let mut in_flight = None;
    let call = through.pool.call(&through.policy).run(|attempt| {
        in_flight = Some(attempt.permit());
        http.post(url).json(question).send()
    });
    Ok((call.await?, in_flight))
}
