//! `forbear demo`: three services against providers that throttle, judged by their own metrics.

mod arrivals;
mod progress;
mod report;
mod scrape;
mod service;
mod stage;
mod traffic;

use std::error::Error;
use std::net::IpAddr;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, value_parser};

use crate::duration;

/// Run three services against providers that throttle, and conclude from their metrics what to change.
///
/// Nothing else is needed: the providers are emulators on 127.0.0.1, each in the dialect of a real one, and their minute
/// lasts 3 s unless told. Requests, throttles and waits are real; the numbers at the end are read from /metrics, as a dashboard
/// would.
#[derive(Args)]
#[command(after_help = "\
Examples:
  forbear demo                          about a minute, then what to conclude
  forbear demo --serve                  the same, then on until ctrl-c; look with
  curl -s http://127.0.0.1:9464/metrics | grep forbear_attempts_total

Exit status: 0 when the run was completed, 1 when it could not be, 130 when it was broken off.")]
pub(crate) struct Demo {
    /// How long the services are called, in seconds.
    #[arg(long, value_name = "N", default_value_t = 48, value_parser = value_parser!(u64).range(12..=3600))]
    seconds: u64,
    /// Keep everything running after the conclusions, until ctrl-c.
    #[arg(long)]
    serve: bool,
    /// How long a minute of the providers lasts, 3s to 60s: with 60s the numbers mean in a Prometheus what they say.
    #[arg(long, value_name = "TIME", default_value = "3s", value_parser = minute)]
    minute: Duration,
    /// The address of /metrics; 0.0.0.0 is reached from other machines, and from other containers.
    #[arg(long, value_name = "IP", default_value = "127.0.0.1")]
    host: IpAddr,
    /// The port of /metrics there; 0 is any. [default: 9464, or any if that is taken]
    #[arg(long, value_name = "PORT")]
    port: Option<u16>,
    /// Another seed brings calls at other moments.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

/// Long beside the second that a throttle shuts a pool for at least, and no longer than a real one.
fn minute(text: &str) -> Result<Duration, String> {
    let minute = duration::parse(text)?;
    let allowed = Duration::from_secs(3)..=Duration::from_secs(60);
    if allowed.contains(&minute) { Ok(minute) } else { Err("3s to 60s".to_owned()) }
}

/// Runs it to its end.
pub(crate) fn run(demo: &Demo) -> ExitCode {
    let ended = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|cause| format!("the runtime did not start: {cause}").into())
        .and_then(|runtime| runtime.block_on(perform(demo)));
    match ended {
        Ok(Ended::Completed) => ExitCode::SUCCESS,
        Ok(Ended::BrokenOff) => {
            eprintln!("broken off before there was anything to conclude from");
            ExitCode::from(130)
        }
        Err(error) => {
            eprintln!("forbear demo: {error}");
            ExitCode::FAILURE
        }
    }
}

/// How a run ended.
enum Ended {
    /// With its conclusions.
    Completed,
    /// By ctrl-c, before them.
    BrokenOff,
}

/// Builds the stage, plays, concludes, and serves on if asked to.
async fn perform(demo: &Demo) -> Result<Ended, Box<dyn Error>> {
    let mut stage = stage::Stage::build(demo).await?;
    stage.announce();
    if !stage.play(demo.seconds).await {
        return Ok(Ended::BrokenOff);
    }
    if demo.serve {
        print!("{}", stage.report());
        stage.serve().await;
    }
    stage.drain().await;
    print!("{}", stage.report());
    Ok(Ended::Completed)
}
