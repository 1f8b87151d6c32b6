//! `forbear doctor`: whether a Prometheus has what boards, rules and `forbear diagnose` need, and which setting mends what is
//! amiss.

mod builds;
mod finding;
mod names;
mod numbers;
mod rules;
mod scrapes;
mod sources;
mod visit;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Args;
use forbear::core::moment::WallTime;
use forbear::wall_now;

use crate::diagnose::Failure;
use crate::diagnose::access::Access;
use crate::diagnose::ask::Source;
use crate::progress::Progress;
use crate::simulate::start;
use crate::text::printable;
use finding::{Finding, Severity};
use visit::Visit;

/// Look whether a Prometheus has what boards, rules and `forbear diagnose` need, and say which setting mends what is amiss.
///
/// Asks for the hour before a time: whether metrics arrive under the names they were given, whole, from every process
/// apart, often enough, once; whether the rules are loaded and work; whether limits and estimates are known. Nothing is
/// changed there. Any server with the HTTP API of a Prometheus will do.
#[derive(Args)]
#[command(after_help = "\
Examples:
  forbear doctor --prometheus http://localhost:9090
  forbear doctor --prometheus https://mimir.example/prometheus --selector 'job=\"api\"'

Access is given as for `forbear diagnose`, by FORBEAR_PROMETHEUS_TOKEN and the others of its help.

Exit status: 0 when nothing is amiss (notes do not count), 1 with findings, 2 when the arguments are refused or the \
Prometheus could not be asked.")]
pub(crate) struct Doctor {
    /// The root of its HTTP API; a path before /api/v1 is kept.
    #[arg(long, value_name = "URL")]
    prometheus: String,
    /// The end of the hour: seconds since 1970, or as in 2026-01-01T00:00:00Z. [default: now]
    #[arg(long, value_name = "TIME", value_parser = start)]
    at: Option<WallTime>,
    /// More matchers for every query, as in job="api".
    #[arg(long, value_name = "MATCHERS", default_value = "")]
    selector: String,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// Carries the verb out.
pub(crate) fn run(options: &Doctor) -> ExitCode {
    match options.examine() {
        Ok(findings) => {
            let text = if options.json { finding::object(&findings) } else { finding::report(&findings) };
            // Whoever reads our output may stop reading it.
            let _ = io::stdout().lock().write_all(printable(&text).as_bytes());
            ExitCode::from(u8::from(findings.iter().any(|finding| finding.severity != Severity::Note)))
        }
        Err(failure) => {
            eprintln!("forbear doctor: {}", printable(&failure.to_string()));
            ExitCode::from(2)
        }
    }
}

impl Doctor {
    fn examine(&self) -> Result<Vec<Finding>, Failure> {
        let source = Source::new(&self.prometheus, &Access::from_environment()?)?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(self.look(&source))
    }

    /// Every check, one after another. Where there are no metrics at all, nothing else is looked for.
    async fn look(&self, source: &Source) -> Result<Vec<Finding>, Failure> {
        let visit = Visit::new(source, self.at.unwrap_or_else(wall_now), &self.selector);
        let mut progress = Progress::new();
        let mut step = |what: &'static str| progress.show(|| format!("looking at {what}"));
        step("names");
        let mut findings = names::look(&visit).await?;
        if findings.iter().any(|finding| finding.fault == names::NO_METRICS) {
            return Ok(findings);
        }
        step("where metrics come from");
        findings.extend(sources::look(&visit).await?);
        step("versions");
        findings.extend(builds::look(&visit).await?);
        step("scrapes");
        findings.extend(scrapes::look(&visit).await?);
        step("rules");
        findings.extend(rules::look(&visit).await?);
        step("limits and estimates");
        findings.extend(numbers::look(&visit).await?);
        findings.sort_by_key(|finding| finding.severity);
        Ok(findings)
    }
}
