//! The retry layer in a chain of `reqwest-middleware`, over real HTTP: each request at the emulator is an attempt.
#![cfg(all(feature = "reqwest-middleware", feature = "emulator"))]
#![allow(clippy::disallowed_methods, reason = "a test waits as its callers do")]

#[path = "support/layered.rs"]
mod layered;
#[path = "support/polled.rs"]
mod polled;
#[path = "support/still.rs"]
mod still;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use async_trait::async_trait;
use forbear::emulator::Emulator;
use forbear::emulator::limits::{FailureKind, Period};
use forbear::event::catalogue::Metric;
use forbear::layer::{GaveUp, Once, ReqwestRetry, ReqwestTap};
use forbear::{Forbear, Gate, GateState, OnAmbiguous, Policy, provider};
use layered::{S, World, policy};
use polled::polled;
use reqwest::{Body, Request, Response};
use reqwest_middleware::{ClientBuilder, ClientWithMiddleware, Error, Middleware, Next, Result};
use still::standing_still;

/// Stands last in the chain: an exchange takes none of the paused clock's time.
struct Still;

#[async_trait]
impl Middleware for Still {
    async fn handle(&self, request: Request, extensions: &mut http::Extensions, next: Next<'_>) -> Result<Response> {
        standing_still(async {
            let answer = next.run(request, extensions).await?;
            let mut head = http::Response::new(());
            (*head.status_mut(), *head.headers_mut()) = (answer.status(), answer.headers().clone());
            let body = answer.bytes().await?;
            Ok(head.map(|()| Body::from(body)).into())
        })
        .await
    }
}

impl World {
    fn client(&self, policy: Policy) -> ClientWithMiddleware {
        self.chain(policy).with(Still).build()
    }

    fn chain(&self, policy: Policy) -> ClientBuilder {
        let client = reqwest::Client::builder().no_proxy().retry(reqwest::retry::never()).build().expect("a client");
        let retry = ReqwestRetry::new(self.pool.clone(), policy);
        ClientBuilder::new(client).with(retry).with(ReqwestTap::new())
    }
}

fn gave_up(ended: &Result<Response>) -> &GaveUp {
    match ended {
        Ok(answer) => answer.extensions().get().expect("an answer that was given up on says so"),
        Err(Error::Middleware(error)) => error.downcast_ref().expect("the layer's own error"),
        Err(Error::Reqwest(error)) => panic!("{error}"),
    }
}

#[tokio::test(start_paused = true)]
async fn requests_at_the_provider_are_attempts_and_each_carries_the_whole_body() {
    let world = World::new(Gate::local()).await;
    world.emulator.shut_for(2 * S);
    let answer = world.client(policy(4)).post(world.emulator.url()).body("twenty bytes of text").send().await;
    assert_eq!(answer.expect("an answer").status(), 200);
    let costs: Vec<_> = world.emulator.arrivals().iter().map(|arrival| arrival.cost).collect();
    assert_eq!(costs.len(), 2);
    assert_eq!(costs[0], costs[1]);
    assert_eq!(world.count(Metric::Attempts, &[]), 2);
    assert_eq!(world.count(Metric::WireRequests, &[]), 2);
    assert_eq!(world.count(Metric::StackedRetries, &[]), 0);
    assert_eq!(world.count(Metric::OfferedTokens, &[("token_kind", "input")]), 5, "estimated from the body");
}

#[tokio::test(start_paused = true)]
async fn a_streaming_body_means_one_attempt_and_the_answer_says_so() {
    let world = World::new(Gate::off()).await;
    world.emulator.shut_for(2 * S);
    let (mut pieces, stream) = http_body_util::Channel::<bytes::Bytes>::new(1);
    pieces.send_data(bytes::Bytes::from_static(b"a stream")).await.expect("there is room");
    drop(pieces);
    let ended = world.client(policy(4)).post(world.emulator.url()).body(Body::wrap(stream)).send().await;
    let gave_up = gave_up(&ended);
    assert_eq!(gave_up.sent_once(), Some(Once::Stream));
    assert!(gave_up.to_string().contains("its body is a stream"), "{gave_up}");
    assert_eq!(world.emulator.counts().requests, 1);
    assert_eq!(ended.expect("the answer").status(), 429);

    let spent = world.client(policy(1)).post(world.emulator.url()).body("{}").send().await;
    assert_eq!(self::gave_up(&spent).sent_once(), None, "one attempt was all its policy allows");
}

#[tokio::test(start_paused = true)]
async fn an_ambiguous_failure_is_the_policys_to_decide() {
    for (on_ambiguous, attempts) in [(OnAmbiguous::Retry, 3), (OnAmbiguous::Stop, 1)] {
        let breaks = Emulator::builder().failure(FailureKind::Broken, Period::ALWAYS, 1.0).start().await;
        let world = World::at(breaks.expect("started"), Gate::off());
        let policy = Policy::interactive(60 * S).attempts(3).on_ambiguous(on_ambiguous).build().expect("valid");
        let ended = world.client(policy).post(world.emulator.url()).body("{}").send().await;
        let gave_up = gave_up(&ended);
        assert_eq!((world.emulator.counts().requests, gave_up.attempts()), (attempts.into(), attempts));
        assert!(gave_up.transport_error().is_some() && !gave_up.to_string().contains("127.0.0.1"), "{gave_up}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_last_answer_comes_back_whole_and_a_shut_gate_refuses_without_a_request() {
    let world = World::new(Gate::local()).await;
    world.emulator.spend(true);
    let client = world.client(policy(4));
    let ended = client.post(world.emulator.url()).body("{}").send().await;
    assert!(gave_up(&ended).is_spend_limit());
    let text = ended.expect("the answer").text().await.expect("whole");
    assert!(text.contains("insufficient_quota"), "{text}");
    let refused = client.post(world.emulator.url()).body("{}").send().await;
    assert!(refused.is_err() && gave_up(&refused).is_refused_by_gate());
    assert_eq!(world.emulator.counts().requests, 1);
}

/// Writes how often it was asked, and fails where it is told to.
struct Writes(Arc<AtomicU32>, bool);

#[async_trait]
impl Middleware for Writes {
    async fn handle(&self, request: Request, extensions: &mut http::Extensions, next: Next<'_>) -> Result<Response> {
        extensions.insert(self.0.fetch_add(1, Ordering::Relaxed) + 1);
        if self.1 {
            return Err(Error::middleware(std::fmt::Error));
        }
        next.run(request, extensions).await
    }
}

/// Stands above the layer and reads what stands below wrote.
struct Reads(Arc<AtomicU32>);

#[async_trait]
impl Middleware for Reads {
    async fn handle(&self, request: Request, extensions: &mut http::Extensions, next: Next<'_>) -> Result<Response> {
        let answer = next.run(request, extensions).await;
        self.0.store(*extensions.get::<u32>().expect("written below"), Ordering::Relaxed);
        answer
    }
}

#[tokio::test(start_paused = true)]
async fn other_middlewares_run_once_per_attempt_and_what_they_write_is_seen_above() {
    let world = World::new(Gate::local()).await;
    world.emulator.shut_for(2 * S);
    let (written, read) = (Arc::<AtomicU32>::default(), Arc::<AtomicU32>::default());
    let client = ClientBuilder::new(reqwest::Client::builder().no_proxy().build().expect("a client"))
        .with(Reads(Arc::clone(&read)))
        .with(ReqwestRetry::new(world.pool.clone(), policy(4)))
        .with(Writes(Arc::clone(&written), false))
        .with(Still)
        .build();
    client.post(world.emulator.url()).body("{}").send().await.expect("an answer");
    assert_eq!((written.load(Ordering::Relaxed), read.load(Ordering::Relaxed)), (2, 2));
}

#[tokio::test(start_paused = true)]
async fn an_error_another_middleware_made_is_not_retried() {
    let world = World::new(Gate::local()).await;
    let asked = Arc::<AtomicU32>::default();
    let client = world.chain(policy(4)).with(Writes(Arc::clone(&asked), true)).build();
    let ended = client.post(world.emulator.url()).body("{}").send().await;
    assert!(gave_up(&ended).is_not_retryable(), "{ended:?}");
    assert_eq!((asked.load(Ordering::Relaxed), world.emulator.counts().requests), (1, 0));
}

#[tokio::test(start_paused = true)]
async fn a_request_chooses_its_pool_and_policy() {
    let world = World::new(Gate::off()).await;
    world.emulator.overload(1.0).expect("a share");
    let other = Forbear::builder().sink(world.totals.clone()).gate(Gate::off()).build().expect("valid");
    let other = other.pool(provider::openai(), ["other"]).build().expect("a valid pool");
    let request = world.client(policy(4)).post(world.emulator.url()).body("{}");
    let ended = request.with_extension(other).with_extension(policy(2)).send().await;
    assert_eq!(gave_up(&ended).attempts(), 2);
    assert_eq!(world.totals.count(Metric::Attempts, "other", &[]), 2);
}

#[tokio::test(start_paused = true)]
async fn dropped_after_any_number_of_polls_it_leaves_nothing_behind() {
    let (mut whole, mut polls) = (false, 0);
    while !whole {
        let world = World::new(Gate::local()).await;
        world.emulator.shut_for(2 * S);
        let call = world.client(policy(4)).post(world.emulator.url()).body("{}").send();
        whole = polled(call, polls).await.is_some_and(|ended| ended.is_ok());
        let snapshot = world.pool.snapshot();
        assert_eq!((snapshot.in_flight, snapshot.waiting), (0, 0), "after {polls} polls");
        let told = world.count(Metric::Delay, &[]).min(1);
        assert_eq!(world.count(Metric::GateShuts, &[]), told, "what one was told all know, after {polls} polls");
        polls += 1;
    }
    assert!(polls > 4, "{polls} polls: too few to have seen an attempt and a sleep");
}

#[tokio::test]
async fn a_stream_counts_until_its_end_and_a_throttle_in_it_is_news() {
    let begins =
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\nevent: ping\ndata: {}\n\n";
    let error = "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\"}}\n\n";
    let server = still::server(format!("{begins}{error}").as_bytes()).await;
    let mut world = World::new(Gate::local()).await;
    let forbear = Forbear::builder().build().expect("valid settings");
    world.pool = forbear.pool(provider::anthropic(), ["ours", "sonnet"]).build().expect("a valid pool");
    let mut answer = world.chain(policy(4)).build().post(&server.url).body("{}").send().await.expect("it begins");
    assert_eq!(answer.status(), 200);
    assert_eq!(answer.url().as_str(), server.url, "the answer is its own in every other way");
    assert_eq!(world.pool.snapshot().in_flight, 1);
    let mut read = Vec::new();
    while !read.ends_with(error.as_bytes()) {
        read.extend(answer.chunk().await.expect("no failure").expect("more"));
    }
    assert_eq!(world.pool.snapshot().state, GateState::Shut);
    assert_eq!(world.pool.snapshot().in_flight, 1, "it may go on");
    drop(answer);
    assert_eq!(world.pool.snapshot().in_flight, 0);
    assert_eq!(server.answered(), 1, "what has begun is not begun again");
}

#[tokio::test]
async fn a_stream_read_to_its_end_counts_no_longer_though_its_answer_is_kept() {
    let breaks = Emulator::builder().failure(FailureKind::ErrorInStream, Period::ALWAYS, 1.0).start().await;
    let world = World::at(breaks.expect("started"), Gate::local());
    let mut answer =
        world.chain(policy(4)).build().post(world.emulator.url()).body("{}").send().await.expect("it begins");
    while answer.chunk().await.expect("no failure").is_some() {}
    let snapshot = world.pool.snapshot();
    assert_eq!(
        (snapshot.in_flight, snapshot.state),
        (0, GateState::Flowing),
        "a failure that is no throttle is no news"
    );
}
