//! The retry layer among tower's own layers, above hyper's client, over real HTTP: each request at the emulator is an
//! attempt, and each attempt a request.
#![cfg(all(feature = "tower", feature = "emulator"))]
#![allow(clippy::disallowed_methods, reason = "a test waits as its callers do")]

#[path = "support/layered.rs"]
mod layered;
#[path = "support/polled.rs"]
mod polled;
#[path = "support/still.rs"]
mod still;

use std::future::poll_fn;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use forbear::emulator::Emulator;
use forbear::event::catalogue::Metric;
use forbear::layer::{GaveUp, KeptBody, Once, Retry, RetryLayer, WireTapLayer};
use forbear::{Estimate, Forbear, Gate, LimitClass, Policy, provider};
use http::{Request, StatusCode};
use http_body::Body;
use http_body_util::{BodyExt, Channel, Full};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use layered::{S, World, policy};
use polled::polled;
use still::{Still, standing_still};
use tower::{BoxError, Service, ServiceBuilder, ServiceExt};

type Hyper<B> = Client<HttpConnector, KeptBody<B>>;

/// hyper's own client.
fn hyper<B: Body<Error: Into<BoxError>> + Send + 'static>() -> Hyper<B> {
    Client::builder(TokioExecutor::new()).retry_canceled_requests(false).build_http()
}

/// The same, whose exchanges take none of the paused clock's time.
fn still<B: Body<Error: Into<BoxError>> + Send + 'static>() -> Still<Hyper<B>> {
    Still(hyper())
}

impl World {
    fn layer(&self, attempts: u32) -> RetryLayer {
        RetryLayer::new(self.pool.clone(), policy(attempts))
    }

    fn request<B>(&self, body: B) -> Request<B> {
        Request::post(self.emulator.url()).body(body).expect("a request")
    }

    fn requests(&self) -> u64 {
        self.emulator.counts().requests
    }
}

fn text(body: &'static str) -> Full<Bytes> {
    Full::new(Bytes::from_static(body.as_bytes()))
}

/// What a call gave up for, however it is told.
fn gave_up<B>(ended: &Result<http::Response<B>, BoxError>) -> &GaveUp {
    match ended {
        Ok(answer) => answer.extensions().get().expect("an answer that was given up on says so"),
        Err(error) => error.downcast_ref().expect("the layer's own error"),
    }
}

#[tokio::test(start_paused = true)]
async fn requests_at_the_provider_are_attempts_and_each_carries_the_whole_body() {
    let world = World::new(Gate::local()).await;
    world.emulator.shut_for(2 * S);
    let client = ServiceBuilder::new().layer(world.layer(4)).layer(WireTapLayer::new()).service(still::<Full<Bytes>>());
    let request = world.request(text("twenty bytes of text"));
    let answer = client.oneshot(request).await.expect("an answer");
    assert_eq!(answer.status(), 200);
    assert!(answer.extensions().get::<GaveUp>().is_none());
    let costs: Vec<_> = world.emulator.arrivals().iter().map(|arrival| arrival.cost).collect();
    assert_eq!(costs.len(), 2);
    assert_eq!(costs[0], costs[1], "the body came twice, whole");
    assert_eq!(world.count(Metric::Attempts, &[]), 2);
    assert_eq!(world.count(Metric::WireRequests, &[]), 2);
    assert_eq!(world.count(Metric::StackedRetries, &[("detector", "wire")]), 0);
    assert_eq!(world.count(Metric::Calls, &[]), 1);
}

#[tokio::test(start_paused = true)]
async fn the_last_answer_comes_back_whole_and_says_what_was_tried() {
    let world = World::new(Gate::off()).await;
    world.emulator.spend(true);
    let client = ServiceBuilder::new().layer(world.layer(4)).service(still::<Full<Bytes>>());
    let ended = client.oneshot(world.request(text("{}"))).await;
    let gave_up = gave_up(&ended).clone();
    assert!(gave_up.is_spend_limit(), "{gave_up}");
    assert_eq!((gave_up.attempts(), gave_up.sent_once()), (1, None));
    let answer = ended.expect("the answer");
    assert_eq!(answer.status(), StatusCode::TOO_MANY_REQUESTS);
    let body = answer.into_body().collect().await.expect("whole").to_bytes();
    assert!(std::str::from_utf8(&body).expect("text").contains("insufficient_quota"), "{body:?}");
    assert_eq!(world.requests(), 1);
}

#[tokio::test(start_paused = true)]
async fn where_no_answer_came_the_error_is_the_layers_and_names_no_address() {
    let world = World::new(Gate::off()).await;
    let client = ServiceBuilder::new().layer(world.layer(3)).service(still::<Full<Bytes>>());
    let request = Request::get("http://127.0.0.1:1/?key=secret").body(text("")).expect("a request");
    let ended = client.oneshot(request).await;
    let gave_up = gave_up(&ended);
    assert!(gave_up.is_exhausted() && gave_up.attempts() == 3, "{gave_up}");
    assert!(gave_up.transport_error().is_some());
    assert!(!format!("{gave_up} {gave_up:?}").contains("secret"));

    let stop = Policy::interactive(60 * S).on_ambiguous(forbear::OnAmbiguous::Stop).build().expect("valid");
    let client = RetryLayer::new(world.pool.clone(), stop);
    let client = ServiceBuilder::new().layer(client).service(still::<Full<Bytes>>());
    let mut request = Request::get("http://127.0.0.1:1/").body(text("")).expect("a request");
    request.extensions_mut().insert(policy(2));
    let ended = client.clone().oneshot(request).await;
    assert_eq!(self::gave_up(&ended).attempts(), 2, "a connection that was never made is not ambiguous");
}

#[tokio::test(start_paused = true)]
async fn an_ambiguous_failure_is_the_policys_to_decide() {
    use forbear::emulator::limits::{FailureKind, Period};
    for (on_ambiguous, requests) in [(forbear::OnAmbiguous::Retry, 3), (forbear::OnAmbiguous::Stop, 1)] {
        let world = World::new(Gate::off()).await;
        let always = Emulator::builder().failure(FailureKind::Broken, Period::ALWAYS, 1.0);
        let emulator = always.start().await.expect("started");
        let policy = Policy::interactive(60 * S).attempts(3).on_ambiguous(on_ambiguous).build().expect("valid");
        let client =
            ServiceBuilder::new().layer(RetryLayer::new(world.pool.clone(), policy)).service(still::<Full<Bytes>>());
        let request = Request::post(emulator.url()).body(text("{}")).expect("a request");
        let ended = client.oneshot(request).await;
        assert!(ended.is_err());
        assert_eq!((emulator.counts().requests, gave_up(&ended).attempts()), (requests, requests as u32));
    }
}

#[tokio::test(start_paused = true)]
async fn a_body_that_comes_in_pieces_is_kept_as_it_passes() {
    let world = World::new(Gate::local()).await;
    world.emulator.shut_for(2 * S);
    let client = ServiceBuilder::new().layer(world.layer(4)).service(still());
    let (mut pieces, body) = Channel::<Bytes>::new(1);
    let sender = tokio::spawn(async move {
        for _ in 0..8 {
            tokio::task::yield_now().await;
            pieces.send_data(Bytes::from(vec![b'x'; 1_000])).await.expect("somebody reads");
        }
    });
    let answer = client.oneshot(world.request(body)).await.expect("an answer");
    assert_eq!(answer.status(), 200);
    sender.await.expect("all of it was read");
    let costs: Vec<_> = world.emulator.arrivals().iter().map(|arrival| arrival.cost).collect();
    assert_eq!(costs.len(), 2);
    assert_eq!(costs[0], costs[1]);
}

#[tokio::test(start_paused = true)]
async fn a_body_over_the_bound_is_sent_once_and_the_answer_says_so() {
    let world = World::new(Gate::off()).await;
    world.emulator.shut_for(2 * S);
    let layer = world.layer(4).max_body_bytes(1_000);
    for (body, requests) in [(vec![b'x'; 1_001], 1), (vec![b'x'; 1_000], 2)] {
        let before = world.requests();
        let client = ServiceBuilder::new().layer(layer.clone()).service(still::<Full<Bytes>>());
        let ended = client.oneshot(world.request(Full::new(Bytes::from(body)))).await;
        assert_eq!(world.requests() - before, requests);
        if requests == 1 {
            let gave_up = gave_up(&ended);
            assert_eq!(gave_up.sent_once(), Some(Once::TooLong { most_bytes: 1_000 }));
            assert!(gave_up.to_string().contains("max_body_bytes"), "{gave_up}");
            assert_eq!(ended.expect("the answer").status(), 429);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_gate_that_is_shut_refuses_without_a_request() {
    let world = World::new(Gate::local()).await;
    world.emulator.shut_for(600 * S);
    let client = ServiceBuilder::new().layer(world.layer(4)).service(still::<Full<Bytes>>());
    for requests in [1, 1] {
        let ended = client.clone().oneshot(world.request(text("{}"))).await;
        let gave_up = gave_up(&ended);
        assert!(gave_up.retry_after().expect("it was stated") > 590 * S);
        assert_eq!(world.requests(), requests);
    }
    assert_eq!(world.count(Metric::Calls, &[]), 2);
}

#[tokio::test(start_paused = true)]
async fn a_request_chooses_its_pool_policy_and_estimate_by_its_extensions() {
    let world = World::new(Gate::off()).await;
    let other = Forbear::builder().gate(Gate::local()).sink(world.totals.clone()).build().expect("valid");
    let other = other.pool(provider::openai(), ["other"]).build().expect("a valid pool");
    let client = ServiceBuilder::new().layer(world.layer(4)).service(still::<Full<Bytes>>());
    let mut request = world.request(text(r#"{"max_tokens":300}"#));
    request.extensions_mut().insert(other);
    request.extensions_mut().insert(policy(1));
    request.extensions_mut().insert(Estimate::input(5).output(7));
    client.clone().oneshot(request).await.expect("an answer");
    assert_eq!(world.totals.count(Metric::Calls, "other", &[]), 1);
    assert_eq!(world.count(Metric::Calls, &[]), 0);
    assert_eq!(world.totals.count(Metric::OfferedTokens, "other", &[("token_kind", "output")]), 7);
    client.oneshot(world.request(text(r#"{"max_tokens":300}"#))).await.expect("an answer");
    assert_eq!(world.count(Metric::OfferedTokens, &[("token_kind", "output")]), 300, "read from the body");
}

#[tokio::test(start_paused = true)]
async fn a_call_through_the_layer_inside_an_attempt_at_the_same_pool_runs_once() {
    let world = World::new(Gate::off()).await;
    world.emulator.overload(1.0).expect("a share");
    let client = ServiceBuilder::new().layer(world.layer(4)).service(still::<Full<Bytes>>());
    let outer = policy(3);
    let ended = world
        .pool
        .call(&outer)
        .classify(|ended: &Result<http::Response<_>, BoxError>| {
            forbear::Observation::status(ended.as_ref().map_or(500, |answer| answer.status().as_u16()))
        })
        .run(|_| client.clone().oneshot(world.request(text("{}"))));
    assert!(ended.await.is_err());
    assert_eq!(world.requests(), 3);
    assert_eq!(world.count(Metric::StackedRetries, &[("detector", "nested")]), 3);
}

// ------------------------------------------------------------------------------------------------------ back-pressure

/// A service that is ready when it is let, and fails the test where it is called without having been asked first.
struct Strict<S> {
    service: S,
    open: Arc<Mutex<bool>>,
    ready: bool,
    called: Arc<AtomicUsize>,
}

impl<S> Strict<S> {
    fn new(service: S, open: bool) -> Self {
        Self { service, open: Arc::new(Mutex::new(open)), ready: false, called: Arc::default() }
    }
}

/// A clone is another service: it has to be asked anew.
impl<S: Clone> Clone for Strict<S> {
    fn clone(&self) -> Self {
        let (open, called) = (Arc::clone(&self.open), Arc::clone(&self.called));
        Self { service: self.service.clone(), open, ready: false, called }
    }
}

impl<R, S: Service<R>> Service<R> for Strict<S> {
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        if !*self.open.lock().expect("no panic") {
            return Poll::Pending;
        }
        self.ready = true;
        self.service.poll_ready(cx)
    }

    fn call(&mut self, request: R) -> S::Future {
        assert!(std::mem::take(&mut self.ready), "called without being ready");
        self.called.fetch_add(1, Ordering::Relaxed);
        self.service.call(request)
    }
}

#[tokio::test(start_paused = true)]
async fn it_is_ready_when_the_service_inside_is_and_never_calls_one_that_was_not_asked() {
    let world = World::new(Gate::local()).await;
    let strict = Strict::new(still::<Full<Bytes>>(), false);
    let (open, called) = (Arc::clone(&strict.open), Arc::clone(&strict.called));
    let mut client: Retry<_> = ServiceBuilder::new().layer(world.layer(4)).service(strict);
    let mut cx = Context::from_waker(Waker::noop());
    assert!(Service::<Request<Full<Bytes>>>::poll_ready(&mut client, &mut cx).is_pending());
    *open.lock().expect("no panic") = true;
    // The first attempt, one after a throttle, and the first of a call that waits at the gate.
    world.emulator.shut_for(2 * S);
    for called_by_now in [2, 3] {
        let client = ServiceExt::<Request<Full<Bytes>>>::ready(&mut client).await.expect("ready");
        client.call(world.request(text("{}"))).await.expect("an answer");
        assert_eq!(called.load(Ordering::Relaxed), called_by_now);
    }
}

#[tokio::test(start_paused = true)]
async fn a_place_in_a_limit_inside_is_held_by_requests_and_not_by_calls_that_wait() {
    let world = World::new(Gate::off()).await;
    world.emulator.shut_for(2 * S);
    let client = ServiceBuilder::new().layer(world.layer(4)).concurrency_limit(1).service(still::<Full<Bytes>>());
    let mut sleeps = pin!(client.clone().oneshot(world.request(text("{}"))));
    let slept = poll_fn(|cx| {
        assert!(sleeps.as_mut().poll(cx).is_pending(), "it was told to wait");
        if world.emulator.counts().throttled == 1 && world.count(Metric::Delay, &[]) == 1 {
            Poll::Ready(())
        } else {
            cx.waker().wake_by_ref();
            Poll::Pending
        }
    });
    standing_still(slept).await;
    // The other one has the only place while it sleeps, and is told the same.
    let other = client.clone().oneshot(world.request(text("{}")));
    let mut other = pin!(other);
    let came = poll_fn(|cx| {
        let _ = other.as_mut().poll(cx);
        if world.requests() == 2 {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    });
    standing_still(came).await;
    let (sleeps, other) = tokio::join!(sleeps, other);
    assert!(sleeps.is_ok() && other.is_ok());
    assert_eq!(world.emulator.counts().peak_in_flight, 1);
}

#[tokio::test(start_paused = true)]
async fn a_call_held_by_the_gate_gives_the_place_it_was_made_ready_for_to_others() {
    let world = World::new(Gate::local()).await;
    world.emulator.shut_for(2 * S);
    let once = ServiceBuilder::new().layer(world.layer(1)).service(still::<Full<Bytes>>());
    assert_eq!(once.oneshot(world.request(text("{}"))).await.expect("an answer").status(), 429);
    let mut client = ServiceBuilder::new().layer(world.layer(4)).concurrency_limit(1).service(still::<Full<Bytes>>());
    let held =
        ServiceExt::<Request<Full<Bytes>>>::ready(&mut client).await.expect("ready").call(world.request(text("{}")));
    let mut cx = Context::from_waker(Waker::noop());
    let mut held = pin!(held);
    assert!(held.as_mut().poll(&mut cx).is_pending());
    assert_eq!(world.pool.snapshot().waiting, 1);
    assert!(Service::<Request<Full<Bytes>>>::poll_ready(&mut client.clone(), &mut cx).is_ready(), "the place is free");
    assert_eq!(held.await.expect("an answer").status(), 200);
}

// ------------------------------------------------------------------------------------------------------- cancellation

#[tokio::test(start_paused = true)]
async fn dropped_after_any_number_of_polls_it_leaves_nothing_behind() {
    let mut whole = false;
    let mut polls = 0;
    while !whole {
        let world = World::new(Gate::local()).await;
        world.emulator.shut_for(2 * S);
        let client = ServiceBuilder::new().layer(world.layer(4)).concurrency_limit(1).service(still::<Full<Bytes>>());
        let call = client.clone().oneshot(world.request(text("{}")));
        whole = polled(call, polls).await.is_some_and(|ended| ended.is_ok());
        let snapshot = world.pool.snapshot();
        assert_eq!((snapshot.in_flight, snapshot.waiting), (0, 0), "after {polls} polls");
        let told = world.count(Metric::Delay, &[]).min(1);
        assert_eq!(world.count(Metric::GateShuts, &[]), told, "what one was told all know, after {polls} polls");
        let mut cx = Context::from_waker(Waker::noop());
        let mut next = client;
        let place = Service::<Request<Full<Bytes>>>::poll_ready(&mut next, &mut cx);
        assert!(place.is_ready(), "its place in the limit inside is free, after {polls} polls");
        polls += 1;
    }
    assert!(polls > 4, "{polls} polls: too few to have seen a queue, an attempt, a sleep");
}

#[tokio::test]
async fn a_throttle_whose_body_never_comes_is_news_all_the_same() {
    let hangs =
        still::server(b"HTTP/1.1 429 Too Many Requests\r\nretry-after: 70\r\ncontent-length: 100\r\n\r\n{").await;
    let world = World::new(Gate::local()).await;
    let client = ServiceBuilder::new().layer(world.layer(4)).service(hyper::<Full<Bytes>>());
    let request = Request::post(&hangs.url).body(text("{}")).expect("a request");
    let patience = tokio::time::timeout(2 * S, client.oneshot(request));
    assert!(patience.await.is_err(), "its body never comes, and the caller goes away");
    let shut = world.pool.snapshot().shut.expect("told when the call was dropped");
    assert!(shut.told && shut.reopens_in > 60 * S, "{shut:?}");
    assert_eq!((hangs.answered(), world.pool.snapshot().in_flight), (1, 0));
}

// ------------------------------------------------------------------------------------------------------------ streams

#[tokio::test]
async fn a_stream_counts_until_its_end_and_what_it_tells_belongs_to_the_pool() {
    let events = [
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n",
        "data: {\"choices\":[{\"delta\":{\"content\":\"Hel\"}}]}\n\n",
        "data: {\"error\":{\"message\":\"Rate limit reached on tokens per min (TPM)\",\"type\":\"tokens\",\"code\":\"rate_limit_exceeded\"}}\n\n",
    ];
    let server = still::server(events.concat().as_bytes()).await;
    let world = World::new(Gate::local()).await;
    let client = ServiceBuilder::new().layer(world.layer(4)).service(hyper::<Full<Bytes>>());
    let request = Request::post(&server.url).body(text("{}")).expect("a request");
    let answer = client.oneshot(request).await.expect("the stream begins");
    assert_eq!(answer.status(), 200);
    assert_eq!(world.count(Metric::CallDuration, &[("outcome", "ok")]), 1, "the call has ended");
    assert_eq!(world.pool.snapshot().in_flight, 1, "the request has not");
    let mut body = answer.into_body();
    let mut read = String::new();
    while !read.contains("rate_limit_exceeded") {
        let frame = body.frame().await.expect("more").expect("no failure");
        read.push_str(std::str::from_utf8(&frame.into_data().expect("data")).expect("text"));
    }
    assert!(events.concat().ends_with(&read), "it comes as it was sent: {read}");
    let shut = world.pool.snapshot().shut.expect("an error in mid-stream is news");
    assert_eq!(shut.class, LimitClass::TokenThroughput);
    assert_eq!(world.pool.snapshot().in_flight, 1);
    drop(body);
    assert_eq!(world.pool.snapshot().in_flight, 0);
    assert_eq!(world.requests() + server.answered() as u64, 1, "what has begun is not begun again");
}

#[tokio::test]
async fn the_tokens_a_whole_answer_says_it_used_are_settled_when_it_was_read() {
    let body = r#"{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":12,"total_tokens":21}}"#;
    let head = format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n", body.len());
    let server = still::server(format!("{head}{body}").as_bytes()).await;
    let world = World::new(Gate::local()).await;
    let client = ServiceBuilder::new().layer(world.layer(4)).service(hyper::<Full<Bytes>>());
    let request = Request::post(&server.url).body(text("{}")).expect("a request");
    let answer = client.oneshot(request).await.expect("an answer");
    assert_eq!(world.count(Metric::UsedTokens, &[]), 0);
    assert_eq!(answer.into_body().collect().await.expect("whole").to_bytes(), body);
    assert_eq!(world.count(Metric::UsedTokens, &[("token_kind", "output")]), 12);
    assert_eq!(world.pool.snapshot().in_flight, 0);
}
