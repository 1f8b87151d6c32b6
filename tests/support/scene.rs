//! A provider that answers from a script, and what its answers look like.
#![allow(dead_code, reason = "each test file uses what it needs of it")]

use std::collections::VecDeque;
use std::io::{Error, ErrorKind};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use forbear::{Forbear, ForbearBuilder, Gate, Policy, Pool};
use tokio::time::Instant;

pub(crate) const S: Duration = Duration::from_secs(1);

pub(crate) type Answer = http::Response<String>;

/// What an operation over HTTP returns.
pub(crate) type Tried = Result<Answer, Error>;

pub(crate) fn answer(status: u16) -> Answer {
    http::Response::builder().status(status).body(String::new()).expect("a well-formed answer")
}

pub(crate) fn with_header(mut answer: Answer, name: &'static str, value: &str) -> Answer {
    answer.headers_mut().insert(name, value.parse().expect("a header value"));
    answer
}

pub(crate) fn with_body(answer: Answer, body: &str) -> Answer {
    answer.map(|_| body.to_owned())
}

/// A 429 that states its wait in `retry-after`.
pub(crate) fn throttle(seconds: u64) -> Answer {
    with_header(answer(429), "retry-after", &seconds.to_string())
}

/// A 429 that states its wait in the body.
pub(crate) fn throttle_in_body(seconds: u64) -> Answer {
    with_body(answer(429), &format!(r#"{{"detail":"throttled","retry_after":{seconds}}}"#))
}

/// An engine whose gates know what this process saw.
pub(crate) fn engine() -> ForbearBuilder {
    Forbear::builder().gate(Gate::local()).seed(7)
}

pub(crate) fn built(engine: ForbearBuilder) -> Forbear {
    engine.build().expect("valid settings")
}

/// Whether a call would have to wait here.
pub(crate) async fn is_held(pool: &Pool) -> bool {
    let policy = policy(60 * S);
    match pool.call(&policy).no_wait().run(|_| async { answer(200) }).await {
        Ok(_) => false,
        Err(refused) => {
            assert!(refused.is_refused_by_gate() && refused.attempts() == 0);
            true
        }
    }
}

/// The policy of a caller who is waited for.
pub(crate) fn policy(deadline: Duration) -> Policy {
    Policy::interactive(deadline).named("chat").build().expect("a valid policy")
}

/// Shuts whatever a throttle like this shuts, by a call that makes one attempt.
pub(crate) async fn throttled(pool: &Pool, answer: Answer) {
    let once = Policy::interactive(60 * S).attempts(1).build().expect("a valid policy");
    let call = pool.call(&once).run(|_| {
        let answer = answer.clone();
        async { answer }
    });
    call.await.expect_err("throttled");
}

fn openai_error(message: &str, kind: &str, code: &str) -> String {
    format!(r#"{{"error":{{"message":"{message}","type":"{kind}","param":null,"code":"{code}"}}}}"#)
}

/// OpenAI: requests per minute; `whose` as the message says it: `in organization org-AAAA`, or nothing.
pub(crate) fn rate_limited(seconds: u64, whose: &str) -> Answer {
    let message = format!("Rate limit reached {whose} on requests per min (RPM): Limit 3, Used 3, Requested 1.");
    with_body(throttle(seconds), &openai_error(&message, "requests", "rate_limit_exceeded"))
}

/// OpenAI: requests per day.
pub(crate) fn daily(seconds: u64) -> Answer {
    let message = "Rate limit reached for gpt-4o on requests per day (RPD): Limit 200, Used 200, Requested 1.";
    with_body(throttle(seconds), &openai_error(message, "requests", "rate_limit_exceeded"))
}

/// OpenAI: the credit is used up.
pub(crate) fn spent() -> Answer {
    let message = "You exceeded your current quota, please check your plan and billing details.";
    with_body(answer(429), &openai_error(message, "insufficient_quota", "insufficient_quota"))
}

/// OpenAI: the request alone is larger than the limit.
pub(crate) fn too_large() -> Answer {
    let message = "Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 61337.";
    with_body(answer(429), &openai_error(message, "tokens", "rate_limit_exceeded"))
}

/// OpenAI: a token limit, found out after a 200 was sent.
pub(crate) fn throttle_inside_a_success() -> Answer {
    let message = "Rate limit reached for gpt-4o on tokens per min (TPM): Limit 30000, Used 29000, Requested 2000.";
    with_body(answer(200), &openai_error(message, "tokens", "rate_limit_exceeded"))
}

/// One line of a script.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Says(Answer),
    Fails(ErrorKind),
    Hangs,
}

impl From<Answer> for Step {
    fn from(answer: Answer) -> Self {
        Self::Says(answer)
    }
}

impl From<ErrorKind> for Step {
    fn from(kind: ErrorKind) -> Self {
        Self::Fails(kind)
    }
}

/// A provider that answers from a script, then always with a 200. Notes when requests came.
#[derive(Clone)]
pub(crate) struct Provider(Arc<Mutex<Scripted>>);

struct Scripted {
    steps: VecDeque<Step>,
    start: Instant,
    requests: Vec<Duration>,
}

impl Provider {
    pub(crate) fn new<T: Into<Step>>(steps: impl IntoIterator<Item = T>) -> Self {
        let steps = steps.into_iter().map(Into::into).collect();
        Self(Arc::new(Mutex::new(Scripted { steps, start: Instant::now(), requests: Vec::new() })))
    }

    /// One request.
    pub(crate) fn ask(&self) -> impl Future<Output = Tried> + use<> {
        let provider = self.clone();
        async move {
            let step = {
                let mut scripted = provider.0.lock().expect("no test panics here");
                let at = scripted.start.elapsed();
                scripted.requests.push(at);
                scripted.steps.pop_front().unwrap_or(Step::Says(answer(200)))
            };
            match step {
                Step::Says(answer) => Ok(answer),
                Step::Fails(kind) => Err(kind.into()),
                Step::Hangs => std::future::pending().await,
            }
        }
    }

    /// When requests came, from the start of the script.
    pub(crate) fn requests(&self) -> Vec<Duration> {
        self.0.lock().expect("no test panics here").requests.clone()
    }

    pub(crate) fn count(&self) -> usize {
        self.requests().len()
    }

    /// Goes on with other steps.
    pub(crate) fn now_says<T: Into<Step>>(&self, steps: impl IntoIterator<Item = T>) {
        self.0.lock().expect("no test panics here").steps = steps.into_iter().map(Into::into).collect();
    }
}

/// The value of a gauge without the labels that name the pool; `None` where it is not shown.
pub(crate) fn gauge(lines: &[String], name_and_labels: &str) -> Option<f64> {
    let wanted: Vec<&str> = name_and_labels.split(['{', '}', ',']).filter(|part| !part.is_empty()).collect();
    let line = lines.iter().find(|line| {
        let name = line.split(['{', ' ']).next();
        name == wanted.first().copied() && wanted[1..].iter().all(|label| line.contains(label))
    })?;
    line.rsplit(' ').next()?.parse().ok()
}
