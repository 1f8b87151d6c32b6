//! A process's own gates, held by hand over HTTP.
#![cfg(feature = "axum")]

use axum::Router;
use axum::body::Body;
use axum::http::{Method, Request, StatusCode};
use forbear::event::recorder::Recorder;
use forbear::{Forbear, GateState, Pool, layer::gate_routes, provider};
use tower::ServiceExt;

struct Service {
    routes: Router,
    pool: Pool,
    heard: Recorder,
}

impl Service {
    fn new() -> Self {
        let heard = Recorder::new();
        let forbear = Forbear::builder().sink(heard.clone()).build().expect("valid settings");
        let pool = forbear.pool(provider::openai(), ["prod", "gpt 4/o"]).build().expect("a valid pool");
        Self { routes: Router::new().nest("/gate", gate_routes(forbear)), pool, heard }
    }

    async fn ask(&self, method: Method, path: &str, operator: Option<&str>) -> (StatusCode, String) {
        let mut request = Request::builder().method(method).uri(format!("/gate{path}"));
        if let Some(operator) = operator {
            request = request.header("x-forbear-operator", operator);
        }
        let answer =
            self.routes.clone().oneshot(request.body(Body::empty()).expect("a request")).await.expect("an answer");
        let status = answer.status();
        let body = axum::body::to_bytes(answer.into_body(), 1 << 20).await.expect("a body");
        (status, String::from_utf8(body.to_vec()).expect("text"))
    }
}

const POOL: &str = "provider=openai&name=prod&name=gpt+4%2Fo";

#[tokio::test(start_paused = true)]
async fn a_pool_is_shut_paced_and_reopened_by_its_names_and_each_hand_is_told() {
    let service = Service::new();
    let alice = |path: String| service.ask_as_alice(path);
    let (status, shut) = alice(format!("/shut?{POOL}&for_s=600&reason=the+export")).await;
    assert_eq!(status, StatusCode::OK, "{shut}");
    assert!(shut.contains(r#""by_hand":"the export (alice)""#) && shut.contains(r#""left_s":600.0"#), "{shut}");
    let (_, list) = service.ask(Method::GET, "", None).await;
    assert_eq!(list, format!("[{}]\n", shut.trim_end()));
    let (status, paced) = alice(format!("/pace?{POOL}&every_s=0.5&for_s=600&reason=half")).await;
    assert_eq!((status, service.pool.snapshot().state), (StatusCode::OK, GateState::Paced), "{paced}");
    assert_eq!(alice(format!("/reopen?{POOL}&reason=done")).await.0, StatusCode::OK);
    // A level above holds what is below.
    assert_eq!(alice("/shut?provider=openai&name=prod&for_s=60&reason=all".to_owned()).await.0, StatusCode::OK);
    assert_eq!(service.pool.snapshot().state, GateState::Shut);
    assert_eq!(alice("/off?reason=in+the+way".to_owned()).await.1, "{\"changed\":true}\n");
    assert_eq!(alice("/on?reason=again".to_owned()).await.1, "{\"changed\":true}\n");
    let told = service.heard.to_string();
    let hands: Vec<_> =
        told.lines().filter_map(|line| line.split_once("gate_operated ")).map(|(_, hand)| hand).collect();
    assert_eq!(
        hands,
        [
            "action=shut reason=\"the export (alice)\"",
            "action=paced reason=\"half (alice)\"",
            "action=reopened reason=\"done (alice)\"",
            "action=shut reason=\"all (alice)\"",
            "action=switched_off reason=\"in the way (alice)\"",
            "action=switched_on reason=\"again (alice)\"",
        ]
    );
}

impl Service {
    async fn ask_as_alice(&self, path: String) -> (StatusCode, String) {
        self.ask(Method::POST, &path, Some("alice")).await
    }
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_done_is_refused_and_changes_nothing() {
    let service = Service::new();
    let shut = format!("/shut?{POOL}&for_s=600&reason=x");
    assert_eq!(service.ask(Method::POST, &shut, None).await.0, StatusCode::BAD_REQUEST, "anonymous");
    assert_eq!(service.ask(Method::GET, &shut, Some("alice")).await.0, StatusCode::METHOD_NOT_ALLOWED, "a link");
    for (path, status, why) in [
        (format!("/shut?{POOL}&reason=x"), StatusCode::BAD_REQUEST, "for_s is missing"),
        (format!("/shut?{POOL}&for_s=1"), StatusCode::BAD_REQUEST, "reason is missing"),
        (format!("/shut?{POOL}&for_s=-1&reason=x"), StatusCode::BAD_REQUEST, "for_s is no number of seconds"),
        (
            format!("/shut?{POOL}&for_s=0&reason=x"),
            StatusCode::BAD_REQUEST,
            "pool.shut (time) is 0ns; allowed: 1ms to 365 days",
        ),
        ("/reopen?provider=openai&name=other&reason=x".to_owned(), StatusCode::NOT_FOUND, "no pool openai/other here"),
        ("/reopen?provider=cohere&name=prod&reason=x".to_owned(), StatusCode::NOT_FOUND, "no pool cohere/prod here"),
    ] {
        assert_eq!(service.ask_as_alice(path.clone()).await, (status, format!("{why}\n")), "{path}");
    }
    assert_eq!(service.pool.snapshot().state, GateState::Flowing);
}
