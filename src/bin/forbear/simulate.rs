//! `forbear simulate`: a scenario in, what became of its calls out.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use forbear::core::moment::WallTime;
use forbear::core::tune::HumanDuration;
use forbear::simulate::{Engine, LinesError, Scenario, Scrape, Simulation, simulate_lines};

use crate::duration;
use crate::progress::Progress;

type Failure = Box<dyn std::error::Error>;

/// Simulate a provider, its callers and the engine between them, in virtual time
#[derive(Args)]
#[command(after_help = EXAMPLE)]
pub(crate) struct Simulate {
    /// The scenario, as JSON; standard input without it
    file: Option<PathBuf>,
    /// One scenario a line in, one result a line out, in order, on all cores
    #[arg(long, conflicts_with_all = ["openmetrics", "plot"])]
    jsonl: bool,
    /// Write the metrics of the run here, ready for `promtool tsdb create-blocks-from openmetrics`
    #[arg(long, value_name = "FILE")]
    openmetrics: Option<PathBuf>,
    /// How far apart in virtual time the metrics are scraped: `15s`, `1m`
    #[arg(long, value_name = "TIME", default_value = "15s", value_parser = duration::parse, requires = "openmetrics")]
    scrape: Duration,
    /// What time it is at the start of the run: seconds since 1970, or as in 2026-01-01T00:00:00Z
    #[arg(long, value_name = "TIME", default_value = "2026-01-01T00:00:00Z", value_parser = start, requires = "openmetrics")]
    start: WallTime,
    /// Draw arrivals, admissions, throttles and quota over time into this file, as SVG
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
}

const EXAMPLE: &str = r#"Example: a thousand calls within two seconds, at a provider that grants 200 a minute

  echo '{"provider": {"requests_per_minute": 200, "algorithm": "fixed_window"},
         "callers": {"arrivals": {"burst": {"size": 1000, "within_s": 2}}}}' | forbear simulate

Every field may be left out. The fields and their defaults are those of forbear::simulate::Scenario.

Exit status: 0 with a result, 2 when a scenario is refused or a file cannot be read or written."#;

/// Carries the verb out.
pub(crate) fn run(simulate: &Simulate) -> ExitCode {
    match simulate.simulate() {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever reads our output may stop reading it.
        Err(failure) if is_closed_pipe(&*failure) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("forbear simulate: {failure}");
            ExitCode::from(2)
        }
    }
}

impl Simulate {
    /// Runs the scenario and writes what was asked for.
    fn simulate(&self) -> Result<(), Failure> {
        let mut input = self.input()?;
        let mut output = BufWriter::new(io::stdout().lock());
        if self.jsonl {
            let workers = std::thread::available_parallelism().map_or(1, usize::from);
            let mut progress = Progress::new();
            let mut tell = |done| progress.show(|| format!("{done} scenarios"));
            simulate_lines(input, &mut output, workers, &mut tell)?;
            return Ok(());
        }
        let mut json = String::new();
        input.read_to_string(&mut json).map_err(|error| format!("the scenario cannot be read: {error}"))?;
        let scenario: Scenario = json.parse()?;
        if self.openmetrics.is_some() && scenario.engine == Some(Engine::Pacer) {
            return Err("the pacer has no metrics: leave --openmetrics out".into());
        }
        let mut simulation = Simulation::of(&scenario);
        if self.openmetrics.is_some() {
            let mut scrape = Scrape::default();
            (scrape.start, scrape.every) = (self.start, self.scrape);
            simulation = simulation.scraped(scrape);
        }
        if self.plot.is_some() {
            simulation = simulation.plotted();
        }
        let mut progress = Progress::new();
        let run =
            simulation.run_telling(&mut |passed| progress.show(|| format!("{} simulated", HumanDuration(passed))))?;
        drop(progress);
        if let (Some(path), Some(scraped)) = (&self.openmetrics, &run.scraped) {
            write_to(path, |file| scraped.write(file))?;
        }
        if let (Some(path), Some(plot)) = (&self.plot, &run.plot) {
            write_to(path, |file| file.write_all(plot.as_bytes()))?;
        }
        serde_json::to_writer_pretty(&mut output, &run.outcome)?;
        writeln!(output)?;
        output.flush()?;
        Ok(())
    }

    /// The file, or standard input.
    fn input(&self) -> Result<Box<dyn BufRead + Send + 'static>, Failure> {
        Ok(match &self.file {
            None => Box::new(BufReader::new(io::stdin())),
            Some(file) => {
                let opened = File::open(file).map_err(|error| format!("{} cannot be read: {error}", file.display()))?;
                Box::new(BufReader::new(opened))
            }
        })
    }
}

/// Writes a file whole, or says which could not be written.
fn write_to(path: &Path, write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) -> Result<(), Failure> {
    let written = File::create(path).and_then(|file| {
        let mut file = BufWriter::new(file);
        write(&mut file)?;
        file.flush()
    });
    written.map_err(|error| format!("{} cannot be written: {error}", path.display()).into())
}

/// Seconds since 1970, or RFC 3339.
pub(crate) fn start(text: &str) -> Result<WallTime, String> {
    let seconds = text.parse().ok().or_else(|| {
        let date = OffsetDateTime::parse(text, &Rfc3339).ok()?;
        u64::try_from(date.unix_timestamp()).ok()
    });
    let seconds = seconds.ok_or("seconds since 1970, or as in 2026-01-01T00:00:00Z")?;
    Ok(WallTime::since_epoch(Duration::from_secs(seconds)))
}

/// Whether nobody reads what we write any more.
fn is_closed_pipe(failure: &(dyn std::error::Error + 'static)) -> bool {
    let of_lines = failure.downcast_ref().and_then(|error: &LinesError| match error {
        LinesError::Io(error) => Some(error.kind()),
        _ => None,
    });
    let of_json = failure.downcast_ref().and_then(serde_json::Error::io_error_kind);
    let kind = of_lines.or(of_json).or(failure.downcast_ref().map(io::Error::kind));
    kind == Some(io::ErrorKind::BrokenPipe)
}
