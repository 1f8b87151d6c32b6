//! Secrets in requests, answers and errors, and everything that is told of them searched: nothing of request or answer
//! leaves the process by way of telemetry, logs, errors or debug output.
#![cfg(feature = "telemetry")]

#[path = "support/secrets.rs"]
mod secrets;
#[path = "support/spoiled.rs"]
mod spoiled;
#[path = "support/traced.rs"]
mod traced;

use std::time::Duration;

use forbear::event::recorder::Recorder;
use forbear::event::totals::Totals;
use forbear::{Forbear, ForbearBuilder, Gate, IncomingRetry, Observation, Policy, provider, telemetry};
use metrics_util::debugging::DebuggingRecorder;
use secrets::{MARK, Said, answer, live, secret};
use traced::Traced;

/// Everything that was told, each part with its name.
async fn told() -> Vec<(String, String)> {
    let (traced, _guard) = Traced::here();
    let (recorder, totals, said) = (Recorder::new(), Totals::new(), Said::default());
    let metrics = DebuggingRecorder::new();
    let snapshotter = metrics.snapshotter();
    let _metrics = metrics::set_default_local_recorder(&metrics);
    let meters = telemetry::meters();
    let built = |engine: ForbearBuilder| {
        let sinks = (recorder.clone(), totals.clone(), meters.clone());
        engine.seed(7).no_budget().shadow_pacer().sink(sinks).build().expect("valid settings")
    };
    let mut pools = Vec::new();
    let engines = [Gate::local(), Gate::off()].map(|gate| built(Forbear::builder().gate(gate)));
    for engine in &engines {
        pools.extend(live(engine, Duration::from_secs(60), &said).await);
    }
    meters.sample();

    let mut told = said.all();
    told.push(("spans".into(), traced.tree()));
    told.push(("log events".into(), traced.log()));
    told.push(("events as text".into(), recorder.to_string()));
    told.push(("events as Debug".into(), format!("{:?} {recorder:?} {totals:?} {meters:?}", recorder.events())));
    told.push(("gauges".into(), recorder.gauges().join("\n")));
    told.push(("metrics as text".into(), totals.to_prometheus()));
    for (key, unit, help, value) in snapshotter.snapshot().into_vec() {
        told.push(("a metric of the facade".into(), format!("{key:?} {unit:?} {help:?} {value:?}")));
    }
    told
}

#[tokio::test(start_paused = true)]
async fn nothing_of_request_or_answer_is_told() {
    let told = told().await;
    for (what, text) in &told {
        assert!(!text.contains(MARK), "{what} tells a secret:\n{text}");
    }
    // That the search would find them: the parts are there, and each holds what it should.
    let part =
        |name: &str| told.iter().filter(|(what, _)| what == name).map(|(_, text)| text.as_str()).collect::<String>();
    for (name, holds) in [
        ("spans", "forbear.attempt.outcome=throttled"),
        ("spans", "otel.name=chat gpt-0"),
        ("log events", "forbear.throttled"),
        ("log events", "forbear.gave_up"),
        ("log events", "forbear.stacked_retry"),
        ("log events", "forbear.quota.updated"),
        ("events as text", "attempt_ended"),
        ("events as text", "signal_unreadable part="),
        ("gauges", "forbear_quota_limit"),
        ("metrics as text", "forbear_wire_requests_total"),
        ("a metric of the facade", "forbear_attempts_total"),
        ("Error as Display", "not_retryable"),
        ("Error as Display", "daily"),
        ("Error as Debug", "last_signal"),
        ("Attempt as Debug", "number: 2"),
        ("Call as Debug", "chat"),
    ] {
        assert!(part(name).contains(holds), "{name} should hold {holds:?}");
    }
}

/// Every recorded answer of every provider, secrets in every place of it, as what an attempt meets.
#[tokio::test(start_paused = true)]
async fn nothing_of_any_providers_answers_is_told() {
    let (traced, _guard) = Traced::here();
    let (recorder, totals) = (Recorder::new(), Totals::new());
    let metrics = DebuggingRecorder::new();
    let snapshotter = metrics.snapshotter();
    let _metrics = metrics::set_default_local_recorder(&metrics);
    let meters = telemetry::meters();
    let sinks = (recorder.clone(), totals.clone(), meters.clone());
    let engine = Forbear::builder().gate(Gate::off()).no_budget().sink(sinks).build().expect("valid settings");
    let policy = Policy::interactive(Duration::from_secs(60)).attempts(1).build().expect("a valid policy");
    let (mut said, mut providers) = (String::new(), std::collections::BTreeSet::new());
    for answer in spoiled::answers() {
        let table = provider::by_id(&answer.provider).expect("a table");
        providers.insert(table.id);
        let pool = engine.pool(table, ["a team"]).build().expect("a valid pool");
        let mut response = http::Response::new(answer.body.unwrap_or_default());
        *response.status_mut() = http::StatusCode::from_u16(answer.status).expect("a status");
        *response.headers_mut() = answer.headers;
        let mut response = Some(response);
        let ended = pool.call(&policy).run(|_| {
            let response = response.take().expect("one attempt");
            async { Ok::<_, std::io::Error>(response) }
        });
        if let Err(error) = ended.await {
            said += &format!("{error} {error:?} {error:#?}\n");
        }
        said += &format!("{pool:?}\n");
        assert!(!said.contains(MARK), "{}: {said}", answer.id);
        said.clear();
    }
    meters.sample();
    assert_eq!(providers.len(), provider::all().len());
    let mut told = vec![traced.tree(), traced.log(), recorder.to_string(), recorder.gauges().join("\n")];
    told.push(format!("{:?} {totals:?} {}", recorder.events(), totals.to_prometheus()));
    told.extend(snapshotter.snapshot().into_vec().iter().map(|metric| format!("{metric:?}")));
    for text in &told {
        let around = text.find(MARK).map(|at| &text[at.saturating_sub(300)..at + 30]);
        assert_eq!(around, None);
    }
    // That the search would find them.
    for told_of_all in ["forbear.attempt.outcome=throttled", "openrouter", "vertex"] {
        assert!(told[0].contains(told_of_all), "{told_of_all}");
    }
}

/// Types that hold what they were given, and are printed by those who debug.
#[test]
fn public_types_that_hold_secrets_do_not_print_them() {
    let answer = answer(429, "Rate limit reached");
    let observation = Observation::status(429).headers(answer.headers()).body(answer.body().as_bytes());
    let mut headers = http::HeaderMap::new();
    headers.insert("x-stainless-retry-count", "3".parse().expect("a header value"));
    headers.insert("amz-sdk-request", secret("aws").parse().expect("a header value"));
    let reading = provider::openai().read(&observation, forbear::wall_now());
    let forbear = Forbear::builder().build().expect("valid settings");
    let url = format!("https://user:{}@api.example/?key={}", secret("user"), secret("key"));
    let refused = forbear.pool(provider::openai(), ["gpt"]).server(&url, 443).build().expect_err("refused");
    let policy = Policy::interactive(Duration::from_secs(1)).build().expect("valid");
    let printed = format!(
        "{observation:?} {observation:#?} {reading:?} {:?} {refused} {refused:?} {policy:?} {:?}",
        IncomingRetry::read(&headers),
        provider::openai(),
    );
    assert!(!printed.contains(MARK), "{printed}");
    assert!(printed.contains("body_bytes"), "{printed}");
}

/// A peeked body holds what was read ahead of it.
#[tokio::test]
async fn a_peeked_answer_prints_only_how_much_it_holds() {
    let answer = answer(429, "Rate limit reached").map(|_| Full(Some(secret("body").into())));
    let peeked = forbear::peek(answer).await;
    let printed = format!("{:?}", peeked.body());
    assert!(!printed.contains(MARK), "{printed}");
    assert!(printed.contains("read_ahead"), "{printed}");
}

/// A body of one frame.
struct Full(Option<bytes::Bytes>);

impl http_body::Body for Full {
    type Data = bytes::Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<http_body::Frame<bytes::Bytes>, Self::Error>>> {
        std::task::Poll::Ready(self.0.take().map(|data| Ok(http_body::Frame::data(data))))
    }
}
