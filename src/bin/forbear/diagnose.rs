//! `forbear diagnose`: what is wrong with a fleet's pools, asked of the Prometheus that scrapes it.

pub(crate) mod access;
pub(crate) mod ask;
mod report;

use std::io::{self, Write};
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use forbear::core::moment::WallTime;
use forbear::diagnose::{Diagnosis, Enquiry};
use forbear::wall_now;

use crate::duration;
use crate::progress::Progress;
use crate::simulate::start;
use crate::slo;
use crate::text::printable;
use ask::Source;

pub(crate) type Failure = Box<dyn std::error::Error>;

/// A window shorter than the longest stretches of demand says too little, one longer than a day mixes days.
const LONGEST_WINDOW: Duration = Duration::from_secs(24 * 3_600);
const SHORTEST_WINDOW: Duration = Duration::from_secs(600);

/// Say what is wrong with each pool and what to change, from the metrics in a Prometheus.
///
/// Looks at the hour before a time, adds up all replicas, and names one cause for each pool: raise the quota, change the
/// backoff, pace the calls, or wait, pay, repair. What is asked of the Prometheus are plain queries to its HTTP API;
/// nothing is changed there.
#[derive(Args)]
#[command(after_help = "\
Examples:
  forbear diagnose --prometheus http://localhost:9090
  forbear diagnose --prometheus https://prometheus.example/ --selector 'job=\"api\"' --json
  forbear diagnose --prometheus http://localhost:9090 --at 2026-01-01T14:30:00Z
  forbear diagnose --prometheus http://localhost:9090 --slo 99.9

Access, never from arguments; a name that ends in _FILE names a file that holds it:
  FORBEAR_PROMETHEUS_TOKEN, FORBEAR_PROMETHEUS_TOKEN_FILE      sent as `Authorization: Bearer …`
  FORBEAR_PROMETHEUS_TENANT, FORBEAR_PROMETHEUS_TENANT_FILE    sent as `X-Scope-OrgID`
  FORBEAR_PROMETHEUS_CERT_FILE, FORBEAR_PROMETHEUS_KEY_FILE    the client's certificate and key, PEM
  FORBEAR_PROMETHEUS_CA_FILE                                   whom to trust, PEM, in place of the system's

Exit status: 0 when every pool could be judged, 2 when the arguments are refused or the Prometheus could not be asked.")]
pub(crate) struct Diagnose {
    /// The root of its HTTP API; a path before /api/v1 is kept.
    #[arg(long, value_name = "URL")]
    prometheus: String,
    /// The end of the window: seconds since 1970, or as in 2026-01-01T00:00:00Z. [default: now]
    #[arg(long, value_name = "TIME", value_parser = start)]
    at: Option<WallTime>,
    /// How long the window is, 10m to 24h.
    #[arg(long, value_name = "TIME", default_value = "1h", value_parser = window)]
    window: Duration,
    /// How often the metrics are scraped. [default: as counted]
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    scrape: Option<Duration>,
    /// More matchers for every query, as in job="api".
    #[arg(long, value_name = "MATCHERS", default_value = "")]
    selector: String,
    /// The share of calls that has to succeed: 94 to 99.99 percent, as in 99.9, or 0.94 to 0.9999, as in 0.999. What
    /// `forbear export` was told, so that rules and verdicts agree.
    #[arg(long, value_name = "PERCENT", default_value = "99", allow_negative_numbers = true)]
    slo: String,
    /// Print one JSON object a pool, a line each.
    #[arg(long)]
    json: bool,
}

fn window(text: &str) -> Result<Duration, String> {
    let window = duration::parse(text)?;
    let allowed = SHORTEST_WINDOW..=LONGEST_WINDOW;
    if allowed.contains(&window) { Ok(window) } else { Err("10m to 24h".to_owned()) }
}

/// Carries the verb out.
pub(crate) fn run(options: &Diagnose) -> ExitCode {
    match options.diagnose() {
        Ok(found) => {
            let text = if options.json { lines(&found) } else { report::report(&found, options.window) };
            // Whoever reads our output may stop reading it.
            let _ = io::stdout().lock().write_all(printable(&text).as_bytes());
            ExitCode::SUCCESS
        }
        Err(failure) => {
            eprintln!("forbear diagnose: {}", printable(&failure.to_string()));
            ExitCode::from(2)
        }
    }
}

impl Diagnose {
    fn diagnose(&self) -> Result<Vec<Diagnosis>, Failure> {
        let objective = slo::parse(&self.slo)?;
        let source = Source::new(&self.prometheus, &access::Access::from_environment()?)?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(self.ask(&source, objective))
    }

    async fn ask(&self, source: &Source, objective: f64) -> Result<Vec<Diagnosis>, Failure> {
        let at = self.at.unwrap_or_else(wall_now);
        let first = Enquiry::first_question(at, &self.selector);
        let counted = Enquiry::scrape_interval(&source.ask(&first).await?)?;
        let scrape = self.scrape.or(counted).ok_or(
            "there are no metrics of forbear in the hour before that time: give another with --at, or look \
             whether forbear_build_info is scraped",
        )?;
        let mut enquiry = Enquiry::new(at, self.window, scrape, &self.selector).objective(objective)?;
        let questions = enquiry.questions();
        let mut progress = Progress::new();
        for (number, question) in questions.iter().enumerate() {
            progress.show(|| format!("{} of {} queries", number + 1, questions.len()));
            enquiry.hear(question, &source.ask(question).await?)?;
        }
        Ok(enquiry.diagnose())
    }
}

/// One object a line.
fn lines(found: &[Diagnosis]) -> String {
    let line = |diagnosis| serde_json::to_string(diagnosis).unwrap_or_default() + "\n";
    found.iter().map(line).collect()
}
