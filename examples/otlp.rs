//! Traces and metrics pushed to a collector.
//!
//! ```sh
//! cargo run --example otlp --features otlp,reqwest,emulator
//! ```
//!
//! It pushes to `http://localhost:4318`, or where the environment says: `OTEL_EXPORTER_OTLP_ENDPOINT` names another
//! collector, `OTEL_EXPORTER_OTLP_PROTOCOL=grpc` another way. The provider is emulated and throttles. `otlp 100` asks for a
//! hundred documents in place of eight.

use std::time::Duration;

use forbear::emulator::Emulator;
use forbear::otlp::{self, Config};
use forbear::{Forbear, Policy, provider};
use tracing::{Instrument, info_span};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let documents: u32 = std::env::args().nth(1).as_deref().unwrap_or("8").parse()?;
    let otlp = otlp::install(Config::new("otlp-example").attribute("deployment.environment.name", "example"))?;
    let forbear = Forbear::builder().sink(otlp.instruments()).build()?;

    let provider = Emulator::builder()
        .speaks(provider::anthropic())
        .requests_per_minute(120)
        .burst(Duration::from_secs(1))
        .service_time(Duration::from_millis(20))
        .start()
        .await?;
    let pool = forbear.pool(provider::anthropic(), ["example", "claude-sonnet"]).build()?;
    let summaries = Policy::background(Duration::from_secs(30)).named("summaries").build()?;
    let (client, url) = (reqwest::Client::new(), provider.url());

    for number in 1..=documents {
        let ask = |attempt: forbear::Attempt<'_>| client.post(&url).timeout(attempt.time_left()).body("{}").send();
        // The application's own span: the call's span is its child, and the attempts are the call's.
        let answered = pool.call(&summaries).run(ask).instrument(info_span!("summarise", document = number)).await;
        match answered {
            Ok(response) => println!("document {number}: {}", response.status()),
            Err(error) => println!("document {number}: {error}"),
        }
    }

    // An error where nobody took what was left.
    let lost = otlp.shutdown().await.map_err(|error| error.to_string())?;
    println!("pushed; lost {} spans and {} pushes of metrics", lost.spans, lost.metric_pushes);
    Ok(())
}
