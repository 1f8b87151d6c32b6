//! A second retry layer above, inside or below a call is noticed, and the one inside is kept from retrying.
#![allow(clippy::disallowed_methods, reason = "the script notes when requests came")]

#[path = "support/scene.rs"]
mod scene;
#[cfg(feature = "telemetry")]
#[path = "support/traced.rs"]
mod traced;

use std::cell::Cell;

use forbear::event::catalogue::Metric;
use forbear::event::totals::Totals;
use forbear::{Forbear, Gate, LimitClass, Observation, Policy, PolicyBuilder, Pool, layer, provider};
use scene::{Answer, Provider, S, answer, throttle};

/// An engine with two pools, and what it counts.
struct World {
    totals: Totals,
    pool: Pool,
    other: Pool,
}

impl World {
    fn new(gate: Gate) -> Self {
        let totals = Totals::new();
        let forbear = Forbear::builder().gate(gate).no_budget().seed(7).sink(totals.clone()).build().expect("valid");
        let [pool, other] = ["a", "b"].map(|name| forbear.pool(provider::generic(), [name]).build().expect("valid"));
        Self { totals, pool, other }
    }

    fn count(&self, metric: Metric, labels: &[(&str, &str)]) -> u64 {
        self.totals.count(metric, "a", labels)
    }

    fn stacked(&self, detector: &str) -> u64 {
        self.count(Metric::StackedRetries, &[("detector", detector)])
    }
}

fn chat() -> PolicyBuilder {
    Policy::interactive(600 * S).named("chat")
}

fn built(builder: PolicyBuilder) -> Policy {
    builder.build().expect("a valid policy")
}

/// What a call in an attempt gave back, as the call around it sees it.
fn observed(result: &Result<Answer, u16>) -> Observation<'_> {
    match result {
        Ok(_) => Observation::ok(),
        Err(status) => Observation::status(*status),
    }
}

/// One call at `pool`; its end as a status.
async fn call(pool: &Pool, policy: &Policy, provider: &Provider) -> Result<Answer, u16> {
    let ended = pool.call(policy).run(|_| provider.ask()).await;
    ended.map_err(|error| error.signal().and_then(|signal| signal.status).unwrap_or_default())
}

/// A call of `inner` inside each attempt of a call of `outer`, both at `pool`.
async fn nested(pool: &Pool, outer: &Policy, inner: &Policy, provider: &Provider) -> bool {
    let outer = pool.call(outer).classify(observed);
    outer
        .run(|_| async {
            // The context crosses an await, and comes back after another task ran.
            tokio::task::yield_now().await;
            call(pool, inner, provider).await
        })
        .await
        .is_ok()
}

#[tokio::test(start_paused = true)]
async fn a_call_inside_an_attempt_at_the_same_pool_runs_once_and_counts_as_nested() {
    let world = World::new(Gate::off());
    let provider = Provider::new(vec![answer(500); 100]);
    assert!(!nested(&world.pool, &built(chat()), &built(chat()), &provider).await);
    assert_eq!(provider.count(), 4, "the outer call's attempts, not four times as many");
    assert_eq!(world.stacked("nested"), 4);
    assert_eq!(world.count(Metric::Calls, &[]), 1, "demand is the outer call's");
    assert_eq!(world.count(Metric::Attempts, &[]), 4);
    assert_eq!(world.count(Metric::CallDuration, &[]), 1);
}

#[tokio::test(start_paused = true)]
async fn a_policy_that_allows_it_retries_inside_an_attempt_and_is_not_counted() {
    let world = World::new(Gate::off());
    let provider = Provider::new(vec![answer(500); 100]);
    assert!(!nested(&world.pool, &built(chat()), &built(chat().allow_nested()), &provider).await);
    assert_eq!(provider.count(), 16);
    assert_eq!(world.stacked("nested"), 0);
    assert_eq!(world.count(Metric::Calls, &[]), 5);
}

#[tokio::test(start_paused = true)]
async fn a_call_at_another_pool_is_not_nested_but_one_inside_that_is_again() {
    let world = World::new(Gate::off());
    let (policy, provider) = (built(chat()), Provider::new(vec![answer(500); 1_000]));
    let ended = world.pool.call(&policy).classify(observed).run(|_| {
        world.other.call(&policy).classify(observed).run(|_| call(&world.pool, &policy, &provider)).into_answer()
    });
    assert!(ended.await.is_err());
    assert_eq!(provider.count(), 16, "two layers at two pools, and the third runs once");
    assert_eq!(world.stacked("nested"), 16);
    assert_eq!(world.totals.count(Metric::StackedRetries, "b", &[]), 0);
}

trait IntoAnswer {
    async fn into_answer(self) -> Result<Answer, u16>;
}

impl<F: Future<Output = Result<Answer, forbear::Error<Result<Answer, u16>>>>> IntoAnswer for F {
    async fn into_answer(self) -> Result<Answer, u16> {
        self.await.map_err(|error| error.signal().and_then(|signal| signal.status).unwrap_or_default())
    }
}

#[tokio::test(start_paused = true)]
async fn what_runs_beside_an_attempt_is_not_inside_it_and_a_scoped_task_is() {
    let world = World::new(Gate::off());
    let (policy, provider) = (built(chat()), Provider::new(Vec::<Answer>::new()));
    let spawned = |scoped: bool| {
        let (pool, inner, provider) = (world.pool.clone(), policy.clone(), provider.clone());
        world.pool.call(&policy).classify(observed).run(move |attempt| {
            let (pool, inner, provider) = (pool.clone(), inner.clone(), provider.clone());
            let request = async move { call(&pool, &inner, &provider).await };
            let task = if scoped { tokio::spawn(attempt.scope(request)) } else { tokio::spawn(request) };
            async { task.await.expect("no panic") }
        })
    };
    let beside = call(&world.pool, &policy, &provider);
    let (first, second) = tokio::join!(spawned(false), beside);
    assert!(first.is_ok() && second.is_ok());
    assert_eq!(world.stacked("nested"), 0);
    assert!(spawned(true).await.is_ok());
    assert_eq!(world.stacked("nested"), 1);
}

#[tokio::test(start_paused = true)]
async fn a_throttle_that_a_nested_call_sees_shuts_the_pool() {
    let world = World::new(Gate::local());
    let once = built(chat().attempts(1));
    let provider = Provider::new([throttle(30)]);
    assert!(!nested(&world.pool, &once, &built(chat()), &provider).await);
    let refused = world.pool.call(&once).no_wait().run(|_| provider.ask()).await.expect_err("the pool is shut");
    assert!(refused.is_refused_by_gate());
    let wait = refused.retry_after().expect("the end was stated");
    assert!(wait > 29 * S, "the nested call's news says how long, the outer one's only that: {wait:?}");
}

#[tokio::test(start_paused = true)]
async fn a_nested_call_does_not_wait_at_a_gate_that_shut_after_its_attempt_began() {
    let world = World::new(Gate::local());
    let (policy, provider) = (built(chat()), Provider::new(Vec::<Answer>::new()));
    let shuts = Provider::new([throttle(30)]);
    let ended = world.pool.call(&policy).classify(observed).run(|_| async {
        let neighbour = tokio::spawn({
            let (pool, shuts) = (world.pool.clone(), shuts.clone());
            async move { call(&pool, &built(chat().attempts(1)), &shuts).await }
        });
        assert!(neighbour.await.expect("no panic").is_err());
        call(&world.pool, &policy, &provider).await
    });
    ended.await.expect("a success");
    assert_eq!(provider.requests()[0], std::time::Duration::ZERO);
    assert_eq!(world.count(Metric::GateShuts, &[("limit_class", LimitClass::Unknown.as_str())]), 1);
}

#[tokio::test(start_paused = true)]
async fn requests_beyond_the_attempts_are_counted_and_the_call_once() {
    let world = World::new(Gate::off());
    let policy = built(chat());
    // Each of the first two attempts sends three requests, the third one.
    let attempts = Cell::new(0);
    let ended = world.pool.call(&policy).run(|attempt| {
        attempts.set(attempt.number());
        async move {
            if attempt.number() == 3 {
                layer::request_sent();
                return answer(200);
            }
            for _ in 0..3 {
                layer::request_sent();
                tokio::task::yield_now().await;
            }
            answer(500)
        }
    });
    ended.await.expect("the third attempt succeeds");
    assert_eq!(attempts.get(), 3);
    assert_eq!(world.count(Metric::WireRequests, &[]), 7);
    assert_eq!(world.stacked("wire"), 1);
    layer::request_sent();
    assert_eq!(world.count(Metric::WireRequests, &[]), 7, "outside of an attempt nothing is counted");
}

#[tokio::test(start_paused = true)]
async fn one_request_in_each_attempt_is_no_second_layer() {
    let world = World::new(Gate::off());
    let policy = built(chat());
    let ended = world.pool.call(&policy).run(|attempt| {
        layer::request_sent();
        async move { if attempt.number() < 4 { answer(500) } else { answer(200) } }
    });
    ended.await.expect("the fourth attempt succeeds");
    assert_eq!(world.count(Metric::WireRequests, &[]), 4);
    assert_eq!(world.stacked("wire"), 0);
}

#[tokio::test(start_paused = true)]
async fn what_a_scoped_task_sends_is_counted_at_its_pool() {
    let world = World::new(Gate::off());
    let policy = built(chat());
    let ended = world.pool.call(&policy).run(|attempt| {
        let task = tokio::spawn(attempt.scope(async {
            layer::request_sent();
            tokio::task::yield_now().await;
            layer::request_sent();
        }));
        async move {
            task.await.expect("no panic");
            answer(200)
        }
    });
    ended.await.expect("a success");
    assert_eq!(world.count(Metric::WireRequests, &[]), 2);
    assert_eq!(world.stacked("wire"), 1);
}

#[tokio::test(start_paused = true)]
async fn a_request_that_came_in_as_a_retry_is_counted_for_each_call_made_for_it() {
    let world = World::new(Gate::off());
    let (policy, provider) = (built(chat()), Provider::new(Vec::<Answer>::new()));
    for (name, value) in [
        ("x-stainless-retry-count", "0"),
        ("x-stainless-retry-count", "1"),
        ("x-envoy-attempt-count", "1"),
        ("x-envoy-attempt-count", "2"),
        ("grpc-previous-rpc-attempts", "3"),
    ] {
        let mut headers = http::HeaderMap::new();
        headers.insert(name, value.parse().expect("a header value"));
        world.pool.call(&policy).incoming(&headers).run(|_| provider.ask()).await.expect("a success");
    }
    assert_eq!(world.stacked("incoming_header"), 3);
    assert_eq!(provider.count(), 5, "the calls go on as they would");
}

#[cfg(feature = "tower")]
mod below {
    use std::convert::Infallible;
    use std::future::{Ready, ready};

    use tower::retry::{Policy as RetryPolicy, RetryLayer};
    use tower::{ServiceBuilder, ServiceExt, service_fn};

    use super::*;

    /// Retries twice at once, whatever came.
    #[derive(Clone)]
    struct Twice(u32);

    impl RetryPolicy<http::Request<()>, Answer, Infallible> for Twice {
        type Future = Ready<()>;

        fn retry(&mut self, _: &mut http::Request<()>, answer: &mut Result<Answer, Infallible>) -> Option<Ready<()>> {
            let failed = answer.as_ref().is_ok_and(|answer| !answer.status().is_success());
            self.0 = self.0.checked_sub(u32::from(failed))?;
            failed.then(|| ready(()))
        }

        fn clone_request(&mut self, _: &http::Request<()>) -> Option<http::Request<()>> {
            Some(http::Request::new(()))
        }
    }

    #[tokio::test(start_paused = true)]
    async fn towers_own_retries_show_as_requests_beyond_the_attempts() {
        let world = World::new(Gate::off());
        let policy = built(chat());
        let client = service_fn(|_: http::Request<()>| async { Ok::<_, Infallible>(answer(503)) });
        let client =
            ServiceBuilder::new().layer(RetryLayer::new(Twice(2))).layer(layer::WireTapLayer::new()).service(client);
        let ended = world.pool.call(&policy).run(|_| client.clone().oneshot(http::Request::new(())));
        assert!(ended.await.is_err());
        assert_eq!(world.count(Metric::Attempts, &[]), 4);
        assert_eq!(world.count(Metric::WireRequests, &[]), 12);
        assert_eq!(world.stacked("wire"), 1);
    }
}

#[cfg(feature = "telemetry")]
mod warned {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_call_site_is_warned_once_and_told_the_way_out() {
        let (traced, _guard) = crate::traced::Traced::here();
        let world = World::new(Gate::off());
        let provider = Provider::new(vec![answer(500); 100]);
        for _ in 0..3 {
            nested(&world.pool, &built(chat()), &built(chat()), &provider).await;
        }
        nested(&world.pool, &built(chat()), &built(chat().named("nightly")), &provider).await;
        let warned: Vec<_> =
            traced.log().lines().filter(|line| line.contains("stacked_retry")).map(str::to_owned).collect();
        assert_eq!(warned.len(), 2, "{warned:?}");
        assert!(warned[0].contains("WARN") && warned[0].contains("allow_nested()"), "{warned:?}");
        assert!(traced.tree().contains("forbear.nesting.depth=1"), "{}", traced.tree());
    }
}

#[cfg(feature = "reqwest-middleware")]
mod over_http {
    use async_trait::async_trait;
    use reqwest::{Request, Response};
    use reqwest_middleware::{ClientBuilder, ClientWithMiddleware, Middleware, Next};
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::*;

    /// A server that answers every request with a 503, and its address.
    async fn busy_server() -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let addr = listener.local_addr().expect("it listens");
        tokio::spawn(async move {
            while let Ok((mut socket, _)) = listener.accept().await {
                tokio::spawn(async move {
                    let _ = socket.read(&mut [0; 4_096]).await;
                    let answer = "HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";
                    let _ = socket.write_all(answer.as_bytes()).await;
                });
            }
        });
        format!("http://{addr}/")
    }

    /// A retry layer as others write it: every request once more.
    struct OnceMore;

    #[async_trait]
    impl Middleware for OnceMore {
        async fn handle(
            &self,
            request: Request,
            extensions: &mut http::Extensions,
            next: Next<'_>,
        ) -> reqwest_middleware::Result<Response> {
            let again = request.try_clone().expect("no body");
            let answer = next.clone().run(request, extensions).await?;
            if answer.status().is_success() { Ok(answer) } else { next.run(again, extensions).await }
        }
    }

    async fn get(client: &ClientWithMiddleware, url: &str) -> u16 {
        client.get(url).send().await.expect("the server answers").status().as_u16()
    }

    async fn one_call(world: &World, client: &ClientWithMiddleware) {
        let (url, policy) = (busy_server().await, built(chat().attempts(1)));
        let ended = world
            .pool
            .call(&policy)
            .classify(|result: &Result<u16, u16>| Observation::status(result.unwrap_or_else(|status| status)));
        assert!(ended.run(|_| async { Err(get(client, &url).await) }).await.is_err());
    }

    #[tokio::test]
    async fn a_retry_layer_of_the_client_shows_as_requests_beyond_the_attempts() {
        let world = World::new(Gate::off());
        let client = ClientBuilder::new(reqwest::Client::new()).with(OnceMore).with(layer::ReqwestTap::new()).build();
        one_call(&world, &client).await;
        assert_eq!(world.count(Metric::Attempts, &[]), 1);
        assert_eq!(world.count(Metric::WireRequests, &[]), 2);
        assert_eq!(world.stacked("wire"), 1);
    }

    #[tokio::test]
    async fn a_client_that_sends_each_attempt_once_is_counted_and_not_warned_of() {
        let world = World::new(Gate::off());
        let client = ClientBuilder::new(reqwest::Client::new()).with(layer::ReqwestTap::new()).build();
        one_call(&world, &client).await;
        assert_eq!(world.count(Metric::WireRequests, &[]), 1);
        assert_eq!(world.stacked("wire"), 0);
    }

    /// `reqwest::Client` is a service itself, so the tap of that kind fits it as well.
    #[cfg(feature = "tower")]
    #[tokio::test]
    async fn a_client_that_is_a_service_is_tapped_as_one() {
        use tower::ServiceExt;

        let world = World::new(Gate::off());
        let (url, policy) = (busy_server().await, built(chat().attempts(1)));
        let client = layer::WireTap::new(reqwest::Client::new());
        let ended = world.pool.call(&policy).run(|_| {
            let request = Request::new(reqwest::Method::GET, url.parse().expect("a URL"));
            client.clone().oneshot(request)
        });
        let last = ended.await.expect_err("503").into_last().expect("the answer").expect("no failure");
        assert_eq!(last.status(), 503);
        assert_eq!(world.count(Metric::WireRequests, &[]), 1);
    }
}

/// Operations that hide their provider's headers.
mod hidden {
    use super::*;

    async fn shown(world: &World, policy: &Policy, show: for<'r> fn(&'r Result<(), Answer>) -> Observation<'r>) {
        let busy = scene::throttle(1);
        let call = world.pool.call(policy).classify(show).run(|attempt| {
            let busy = busy.clone();
            async move { if attempt.number() == 1 { Err(busy) } else { Ok(()) } }
        });
        call.await.expect("the second attempt succeeds");
    }

    fn status_only(asked: &Result<(), Answer>) -> Observation<'_> {
        asked.as_ref().map_or_else(|answer| Observation::status(answer.status().as_u16()), |()| Observation::ok())
    }

    fn with_headers<'r>(asked: &'r Result<(), Answer>) -> Observation<'r> {
        asked.as_ref().map_or_else(
            |answer| Observation::status(answer.status().as_u16()).headers(answer.headers()),
            |()| Observation::ok(),
        )
    }

    fn with_the_wait_in_the_body(asked: &Result<(), Answer>) -> Observation<'_> {
        let body = br#"{"detail":"throttled","retry_after":2}"#;
        asked.as_ref().map_or_else(|_| Observation::status(429).body(body), |()| Observation::ok())
    }

    #[tokio::test(start_paused = true)]
    async fn a_throttle_without_headers_counts_each_time_unless_its_wait_is_known_all_the_same() {
        let world = World::new(Gate::off());
        let policy = built(chat());
        shown(&world, &policy, with_headers).await;
        shown(&world, &policy, with_the_wait_in_the_body).await;
        assert_eq!(world.count(Metric::HiddenHeaders, &[]), 0);
        shown(&world, &policy, status_only).await;
        shown(&world, &policy, status_only).await;
        assert_eq!(world.count(Metric::HiddenHeaders, &[]), 2);
    }

    #[cfg(feature = "telemetry")]
    #[tokio::test(start_paused = true)]
    async fn a_call_site_is_warned_once_and_told_the_way_out() {
        let (traced, _guard) = crate::traced::Traced::here();
        let world = World::new(Gate::off());
        for policy in [built(chat()), built(chat()), built(chat().named("nightly"))] {
            shown(&world, &policy, status_only).await;
        }
        let log = traced.log();
        let warned: Vec<_> = log.lines().filter(|line| line.contains("headers are invisible here")).collect();
        assert_eq!(warned.len(), 2, "one for each call site: {log}");
        assert!(warned[0].contains("WARN") && warned[0].contains("guide::integrations"), "{warned:?}");
    }
}
