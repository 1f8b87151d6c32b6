//! A service that calls a provider on behalf of its own callers: `/metrics` on, spans to standard output.
//!
//! ```sh
//! cargo run --example axum_service --features prometheus,reqwest,emulator
//! curl -i http://127.0.0.1:3000/answer
//! curl http://127.0.0.1:9464/metrics
//! ```
//!
//! The provider is emulated and allows 120 requests a minute, two at once: asked more often, the service waits, and after
//! five seconds says when to come back. `axum_service ADDR METRICS_PORT` listens
//! elsewhere; port 0 is any free one.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use forbear::emulator::Emulator;
use forbear::{Forbear, Policy, Pool, provider};
use tokio::net::TcpListener;
use tracing_subscriber::fmt::format::FmtSpan;

/// What every request of this service needs.
struct App {
    client: reqwest::Client,
    url: String,
    pool: Pool,
    chat: Policy,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let addr: SocketAddr = arguments.next().as_deref().unwrap_or("127.0.0.1:3000").parse()?;
    let metrics_port: u16 = arguments.next().as_deref().unwrap_or("9464").parse()?;

    // One line a span, when it closes, with its fields and how long it took.
    tracing_subscriber::fmt().with_span_events(FmtSpan::CLOSE).init();
    let metrics = forbear::prometheus::install(metrics_port)?; // on loopback; ([0, 0, 0, 0], 9464) in a pod
    let forbear = Forbear::builder().sink(metrics.meters()).build()?;

    let provider = Emulator::builder()
        .speaks(provider::openai())
        .requests_per_minute(120)
        .burst(Duration::from_secs(1))
        .service_time(Duration::from_millis(50))
        .start()
        .await?;
    let app = App {
        client: reqwest::Client::new(),
        url: provider.url(),
        pool: forbear.pool(provider::openai(), ["demo", "gpt"]).build()?,
        chat: Policy::interactive(Duration::from_secs(5)).named("chat").build()?,
    };
    let routes = Router::new().route("/answer", get(answer)).with_state(Arc::new(app));
    let listener = TcpListener::bind(addr).await?;
    println!("answers at http://{}/answer, metrics at http://{}/metrics", listener.local_addr()?, metrics.addr());
    let stop = async { drop(tokio::signal::ctrl_c().await) };
    axum::serve(listener, routes).with_graceful_shutdown(stop).await?;
    Ok(())
}

/// Answers with what the provider said; with 503 and a time to come back where it would not say anything soon enough.
async fn answer(State(app): State<Arc<App>>) -> Response {
    let ask = |attempt: forbear::Attempt<'_>| app.client.post(&app.url).timeout(attempt.time_left()).body("{}").send();
    match app.pool.call(&app.chat).run(ask).await {
        Ok(response) => (response.status(), response.text().await.unwrap_or_default()).into_response(),
        Err(error) => {
            let seconds = error.retry_after().map_or(1, |after| after.as_secs_f64().ceil() as u64);
            let headers = [(header::RETRY_AFTER, seconds.to_string())];
            (StatusCode::SERVICE_UNAVAILABLE, headers, format!("{error}\n")).into_response()
        }
    }
}
