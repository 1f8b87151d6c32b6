//! A service that lives with secrets: keys in headers, URLs and bodies, and a provider that repeats them in its answers.
#![allow(dead_code, reason = "each of its users needs a part of it")]

use std::error::Error;
use std::fmt;
use std::sync::Mutex;
use std::time::Duration;

use forbear::{Attempt, Estimate, Failure, Forbear, Limit, Policy, Pool, TokenKind, TransportFailure, layer, provider};

/// Every secret begins with it, so that a part of one is found as well.
pub(crate) const MARK: &str = "Kx7Qz";

/// A secret for one place.
pub(crate) fn secret(place: &str) -> String {
    format!("{MARK}-{place}-{MARK}")
}

pub(crate) type Answer = http::Response<String>;

/// An error of a client as clients write them: its text holds the URL, and its sources more.
#[derive(Debug)]
pub(crate) struct ClientError {
    text: String,
    source: Option<Box<dyn Error + Send + Sync>>,
}

impl ClientError {
    pub(crate) fn new() -> Self {
        let innermost = std::io::Error::other(secret("io-error"));
        let inner = Self { text: secret("source"), source: Some(Box::new(innermost)) };
        let text = format!("error sending request for url (https://api.example/v1?key={})", secret("error-url"));
        Self { text, source: Some(Box::new(inner)) }
    }
}

impl fmt::Display for ClientError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Error for ClientError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_ref().map(|source| &**source as _)
    }
}

impl Failure for ClientError {
    fn failure(&self) -> TransportFailure {
        TransportFailure::Broken
    }
}

pub(crate) type Tried = Result<Answer, ClientError>;

/// An answer that repeats secrets wherever an answer has room for text.
pub(crate) fn answer(status: u16, message: &str) -> Answer {
    let kind = if status == 429 { "rate_limit_exceeded" } else { "invalid_request_error" };
    let body = format!(
        r#"{{"error":{{"message":"{message} (model {}, key {}, organization {})","type":"{kind}","param":"{}","code":"{}"}},"request_id":"{}"}}"#,
        secret("model"),
        secret("body-key"),
        secret("body-org"),
        secret("param"),
        secret("code"),
        secret("request"),
    );
    let head = http::Response::builder()
        .status(status)
        .header("authorization", secret("authorization"))
        .header("set-cookie", secret("cookie"))
        .header("x-request-id", secret("request-id"))
        .header("openai-organization", secret("organization"))
        .header("location", format!("https://user:{}@api.example/?key={}", secret("userinfo"), secret("location")))
        .header("x-ratelimit-limit-requests", "60")
        .header("x-ratelimit-remaining-requests", secret("remaining"))
        .header("x-ratelimit-reset-tokens", secret("reset"));
    head.body(body).expect("a well-formed answer")
}

fn with(mut answer: Answer, name: &'static str, value: &str) -> Answer {
    answer.headers_mut().insert(name, value.parse().expect("a header value"));
    answer
}

/// Ways in which an attempt ends; after the last of them it succeeds.
pub(crate) fn script() -> Vec<fn() -> Tried> {
    vec![
        || Ok(with(answer(429, "Rate limit reached on requests per min (RPM): Limit 60"), "retry-after", "2")),
        || Ok(with(answer(429, "Rate limit reached"), "retry-after", &secret("retry-after"))),
        || Ok(answer(500, "The server had an error")),
        || Err(ClientError::new()),
        || Ok(answer(401, "Incorrect API key provided")),
        || Ok(answer(404, "The model does not exist")),
        || Ok(answer(429, "You exceeded your current quota, please check your plan and billing details.")),
        || Ok(with(answer(429, "Rate limit reached on requests per day (RPD): Limit 200"), "retry-after", "7200")),
        || Ok(answer(200, "fine")),
    ]
}

/// What was said of values that the service itself can print.
#[derive(Default)]
pub(crate) struct Said(Mutex<Vec<(String, String)>>);

impl Said {
    /// Notes what a value prints; `what` names it should it tell a secret.
    pub(crate) fn note(&self, what: &str, text: impl Into<String>) {
        self.0.lock().expect("no test panics here").push((what.to_owned(), text.into()));
    }

    pub(crate) fn all(&self) -> Vec<(String, String)> {
        self.0.lock().expect("no test panics here").clone()
    }
}

/// An operation as a service writes it: the request holds secrets, the answer repeats them.
async fn operate(attempt: Attempt<'_>, said: &Said, ends: fn() -> Tried) -> Tried {
    said.note("Attempt as Debug", format!("{attempt:?} {:?}", attempt.previous()));
    let mut request = http::Request::new(secret("request-body"));
    *request.uri_mut() =
        format!("https://api.example/v1/{}?key={}", secret("path"), secret("query")).parse().expect("a URI");
    request.headers_mut().insert("authorization", secret("bearer").parse().expect("a header value"));
    layer::request_sent();
    layer::request_sent();
    let answer = ends();
    if let Ok(answer) = &answer {
        attempt.saw(answer);
    }
    attempt.used_tokens(TokenKind::Input, 1_180);
    answer
}

/// A pool that knows what the conventions ask for, and the policy of its one call site.
fn pool_and_policy(forbear: &Forbear, deadline: Duration, model: &str) -> (Pool, Policy) {
    let pool = forbear.pool(provider::openai(), ["prod", model]).server("api.example", 443);
    let pool = pool.limit(Limit::requests_per_minute(60)).build().expect("a valid pool");
    let policy = Policy::interactive(deadline).named("chat").gen_ai_operation("chat").build();
    (pool, policy.expect("a valid policy"))
}

/// Calls that end in every way. What can be printed of them goes to `said`. A pool for each beginning, as some shut it for
/// the day; they are given back, since gauges are shown of pools that are there.
pub(crate) async fn live(forbear: &Forbear, deadline: Duration, said: &Said) -> Vec<Pool> {
    let mut pools = Vec::new();
    for (n, first) in script().into_iter().enumerate() {
        let (pool, policy) = pool_and_policy(forbear, deadline, &format!("gpt-{n}"));
        said.note("Forbear, Pool and Policy as Debug", format!("{forbear:?} {pool:?} {policy:?}"));
        for second in script() {
            let mut incoming = http::HeaderMap::new();
            incoming.insert("x-stainless-retry-count", "1".parse().expect("a header value"));
            incoming.insert("x-envoy-attempt-count", secret("attempt-count").parse().expect("a header value"));
            let call = pool.call(&policy).tokens(Estimate::input(1_200)).incoming(&incoming);
            said.note("Call as Debug", format!("{call:?}"));
            let ended = call.run(|attempt| {
                let ends = if attempt.number() == 1 { first } else { second };
                operate(attempt, said, ends)
            });
            let Err(error) = ended.await else { continue };
            said.note("Error as Display", error.to_string());
            said.note("Error as Debug", format!("{error:?} {error:#?} {:?}", error.signal()));
            let mut source = Error::source(&error);
            while let Some(inner) = source {
                said.note("a source of Error", format!("{inner} {inner:?}"));
                source = inner.source();
            }
        }
        pools.push(pool);
    }
    pools
}
