//! The spans of whole calls, as a subscriber sees them.
#![cfg(feature = "telemetry")]

#[path = "support/traced.rs"]
mod traced;

use std::future::{Future, poll_fn};
use std::task::Poll;
use std::time::Duration;

use forbear::{Forbear, Gate, Policy, Pool, provider};
use traced::Traced;
use tracing::{Instrument, info_span};

fn answer(status: u16, retry_after: Option<&str>) -> http::Response<String> {
    let mut answer = http::Response::builder().status(status);
    if let Some(seconds) = retry_after {
        answer = answer.header("retry-after", seconds);
    }
    answer.body(String::new()).expect("a well-formed answer")
}

fn pool(gate: Gate) -> Pool {
    let forbear = Forbear::builder().gate(gate).seed(7).build().expect("valid settings");
    forbear.pool(provider::generic(), ["files"]).build().expect("a valid pool")
}

fn policy() -> Policy {
    Policy::interactive(Duration::from_secs(30)).named("chat").build().expect("a valid policy")
}

/// A throttle that states two seconds, then a success.
async fn throttled_once(pool: &Pool) {
    let policy = policy();
    let call = pool.call(&policy).run(|attempt| {
        let number = attempt.number();
        let request = async move {
            tokio::task::yield_now().await;
            if number == 1 { answer(429, Some("2")) } else { answer(200, None) }
        };
        request.instrument(info_span!("http"))
    });
    call.instrument(info_span!("request")).await.expect("the second attempt succeeds");
}

#[tokio::test(start_paused = true)]
async fn what_the_operation_opens_nests_in_its_attempt_and_the_call_in_the_callers_span() {
    let (traced, _guard) = Traced::here();
    throttled_once(&pool(Gate::off())).await;
    insta::assert_snapshot!(traced.outline(), @r"
    request
      forbear.call forbear.call.outcome=ok
        forbear.attempt forbear.attempt.number=1 forbear.delay.source=none forbear.attempt.outcome=throttled
          http
        forbear.delay forbear.delay.source=header
        forbear.attempt forbear.attempt.number=2 forbear.delay.source=header forbear.attempt.outcome=ok
          http
    ");
}

#[tokio::test(start_paused = true)]
async fn a_pool_that_shut_shows_as_a_wait_at_the_gate() {
    let (traced, _guard) = Traced::here();
    throttled_once(&pool(Gate::local())).await;
    insta::assert_snapshot!(traced.outline(), @r"
    request
      forbear.call forbear.call.outcome=ok
        forbear.attempt forbear.attempt.number=1 forbear.delay.source=none forbear.attempt.outcome=throttled
          http
        forbear.delay forbear.delay.source=header
        forbear.gate.wait forbear.gate.result=admitted
        forbear.attempt forbear.attempt.number=2 forbear.delay.source=header forbear.attempt.outcome=ok
          http
    ");
}

#[tokio::test(start_paused = true)]
async fn a_call_dropped_in_an_attempt_closes_its_spans() {
    let (traced, _guard) = Traced::here();
    let (pool, policy) = (pool(Gate::off()), policy());
    let call = pool.call(&policy).run(|_| std::future::pending::<http::Response<String>>());
    let mut call = Box::pin(call);
    assert!(poll_fn(|cx| Poll::Ready(call.as_mut().poll(cx).is_pending())).await);
    drop(call);
    assert!(!traced.tree().contains("(open)"), "{}", traced.tree());
    insta::assert_snapshot!(traced.outline(), @r"
    forbear.call forbear.call.outcome=cancelled
      forbear.attempt forbear.attempt.number=1 forbear.delay.source=none forbear.attempt.outcome=cancelled
    ");
}

#[tokio::test(start_paused = true)]
async fn a_call_in_another_task_nests_below_the_span_it_was_given() {
    let (traced, _guard) = Traced::here();
    let pool = pool(Gate::off());
    let request = info_span!("request");
    let call = async move {
        let policy = policy();
        pool.call(&policy).run(|_| async { answer(200, None) }).await.map(|_| ())
    };
    let task = tokio::spawn(call.instrument(request));
    task.await.expect("no panic").expect("a success");
    insta::assert_snapshot!(traced.outline(), @r"
    request
      forbear.call forbear.call.outcome=ok
        forbear.attempt forbear.attempt.number=1 forbear.delay.source=none forbear.attempt.outcome=ok
    ");
}

#[tokio::test(start_paused = true)]
async fn what_an_attempt_spawns_nests_in_it_when_it_is_given_the_current_span() {
    let (traced, _guard) = Traced::here();
    let (pool, policy) = (pool(Gate::off()), policy());
    let call = pool.call(&policy).run(|_| async {
        let request = async { info_span!("http").in_scope(|| answer(200, None)) };
        tokio::spawn(request.in_current_span()).await.expect("no panic")
    });
    call.await.expect("a success");
    insta::assert_snapshot!(traced.outline(), @r"
    forbear.call forbear.call.outcome=ok
      forbear.attempt forbear.attempt.number=1 forbear.delay.source=none forbear.attempt.outcome=ok
        http
    ");
}

#[tokio::test(start_paused = true)]
async fn a_call_of_a_model_is_named_by_operation_and_model_and_shows_where_it_goes() {
    let (traced, _guard) = Traced::here();
    let forbear = Forbear::builder().gate(Gate::off()).build().expect("valid settings");
    let pool = forbear.pool(provider::anthropic(), ["prod", "claude-sonnet"]).server("api.anthropic.com", 443).build();
    let policy = Policy::interactive(Duration::from_secs(30)).named("chat").gen_ai_operation("chat").build();
    let (pool, policy) = (pool.expect("a valid pool"), policy.expect("a valid policy"));
    pool.call(&policy).run(|_| async { answer(200, None) }).await.expect("a success");
    let tree = traced.tree();
    let call = tree.lines().next().expect("a span");
    let expected = "forbear.call otel.name=chat claude-sonnet otel.kind=client gen_ai.operation.name=chat \
                    gen_ai.provider.name=anthropic gen_ai.request.model=claude-sonnet \
                    server.address=api.anthropic.com server.port=443 ";
    assert!(call.starts_with(expected), "{call}");
}

/// What is promised of severities, over calls that end in every way.
#[tokio::test(start_paused = true)]
async fn failures_that_were_retried_stay_at_info_and_below_and_nothing_is_an_error() {
    let (traced, _guard) = Traced::here();
    let (pool, policy) = (pool(Gate::local()), policy());
    let answers = |script: &'static [(u16, Option<&'static str>)]| {
        let call = pool.call(&policy).run(move |attempt| {
            let place = (attempt.number() as usize - 1).min(script.len() - 1);
            async move { answer(script[place].0, script[place].1) }
        });
        async { call.await.is_ok() }
    };
    assert!(answers(&[(500, None), (429, Some("2")), (200, None)]).await);
    assert!(!answers(&[(404, None)]).await);
    assert!(!answers(&[(429, Some("200"))]).await);
    assert!(!answers(&[(200, None)]).await, "the pool is shut");
    let levels: Vec<_> = traced.levels().iter().map(|(name, level)| format!("{level} {name}")).collect();
    let expected = [
        "DEBUG forbear.retried",
        "INFO forbear.throttled",
        "INFO forbear.gate.shut",
        "INFO forbear.gate.reopened",
        "DEBUG forbear.gave_up", // a 404
        "INFO forbear.throttled",
        "INFO forbear.gate.shut",
        "WARN forbear.gave_up",  // the stated delay is longer than the deadline
        "DEBUG forbear.gave_up", // the gate refused it
    ];
    assert_eq!(levels, expected);
}

/// A pool's events come when it changes, however many calls see it.
#[tokio::test(start_paused = true)]
async fn a_pool_that_changes_is_logged_once_however_many_calls_there_are() {
    let (traced, _guard) = Traced::here();
    let forbear = Forbear::builder().seed(7).build().expect("valid settings");
    let pool = forbear.pool(provider::openai(), ["prod", "gpt"]).build().expect("a valid pool");
    let policy = Policy::background(Duration::from_secs(600)).build().expect("a valid policy");
    let told = |limit: &'static str| {
        let head = http::Response::builder().status(200).header("x-ratelimit-limit-requests", limit);
        head.header("x-ratelimit-remaining-requests", "1").body(String::new()).expect("a well-formed answer")
    };
    let calls: Vec<_> = (0..40)
        .map(|n| {
            let (pool, policy) = (pool.clone(), policy.clone());
            tokio::spawn(async move {
                let call = pool.call(&policy).run(|attempt| {
                    let throttled = attempt.number() == 1 && n < 20;
                    async move {
                        if throttled {
                            answer(429, Some("2"))
                        } else {
                            told(if (20..30).contains(&n) { "60" } else { "90" })
                        }
                    }
                });
                call.await.is_ok()
            })
        })
        .collect();
    for call in calls {
        assert!(call.await.expect("no panic"));
    }
    let of = |wanted: &str| traced.levels().iter().filter(|(name, _)| name == wanted).count();
    assert_eq!(of("forbear.throttled"), 20);
    assert!((1..=20).contains(&of("forbear.gate.shut")));
    let reopened = traced.log().lines().filter(|line| line.contains("state=paced")).count();
    assert_eq!(reopened, of("forbear.gate.shut"), "each shut ends once:\n{}", traced.log());
    let limits: Vec<_> =
        traced.log().lines().filter(|line| line.contains("quota.updated")).map(str::to_owned).collect();
    assert_eq!(limits.len(), 2, "{limits:?}");
    assert!(limits[1].contains("limit=90 known_limit=60"), "{limits:?}");
}

/// The rows of the guide's first table, as span and field.
fn documented() -> Vec<(String, String)> {
    let mut rows = Vec::new();
    let mut span = String::new();
    let guide = include_str!("../src/guide/spans.rs");
    let table = guide.lines().skip_while(|line| !line.contains("| span | field |")).skip(2);
    for row in table.take_while(|line| line.starts_with("//! |")) {
        let cells: Vec<_> = row.split('|').map(str::trim).collect();
        if let Some(name) = cells[1].strip_prefix('`').and_then(|name| name.strip_suffix('`')) {
            span = name.to_owned();
        }
        let fields = cells[2].split('`').skip(1).step_by(2);
        rows.extend(fields.map(|field| (span.clone(), field.to_owned())));
    }
    rows.sort();
    rows
}

#[tokio::test(start_paused = true)]
async fn the_guide_names_every_field_of_every_span_and_every_event_with_its_level() {
    let (traced, _guard) = Traced::here();
    throttled_once(&pool(Gate::local())).await;
    let ours = traced.declared().into_iter().filter(|(span, _)| span.starts_with("forbear."));
    let mut declared: Vec<_> = ours
        .flat_map(|(span, fields)| fields.into_iter().map(move |field| (span.to_owned(), field.to_owned())))
        .collect();
    declared.sort();
    assert_eq!(documented(), declared);
    let guide = include_str!("../src/guide/spans.rs");
    for (name, level) in traced.levels() {
        assert!(guide.contains(&format!("| `{name}` | {level} |")), "{name} at {level}");
    }
}
