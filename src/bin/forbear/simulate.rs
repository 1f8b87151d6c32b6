//! `forbear simulate`: a scenario in, what became of its calls out.

use std::fs::File;
use std::io::{self, BufRead, BufReader, IsTerminal, Read, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use forbear::simulate::{Scenario, simulate, simulate_lines};

type Failure = Box<dyn std::error::Error>;

/// Simulate a provider, its callers and the engine between them, in virtual time
#[derive(Args)]
#[command(after_help = EXAMPLE)]
pub(crate) struct Simulate {
    /// The scenario, as JSON; standard input without it
    file: Option<PathBuf>,
    /// One scenario a line in, one result a line out, in order, on all cores
    #[arg(long)]
    jsonl: bool,
}

const EXAMPLE: &str = r#"Example: a thousand calls within two seconds, at a provider that grants 200 a minute

  echo '{"provider": {"requests_per_minute": 200, "algorithm": "fixed_window"},
         "callers": {"arrivals": {"burst": {"size": 1000, "within_s": 2}}}}' | forbear simulate

Every field may be left out. The fields and their defaults are those of forbear::simulate::Scenario."#;

/// Carries the verb out.
pub(crate) fn run(simulate: &Simulate) -> ExitCode {
    match simulate.simulate() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("forbear simulate: {failure}");
            ExitCode::FAILURE
        }
    }
}

impl Simulate {
    fn simulate(&self) -> Result<(), Failure> {
        let mut input = self.input()?;
        let mut output = io::BufWriter::new(io::stdout().lock());
        if self.jsonl {
            let workers = std::thread::available_parallelism().map_or(1, usize::from);
            simulate_lines(input, &mut output, workers, &mut progress())?;
            return Ok(());
        }
        let mut json = String::new();
        input.read_to_string(&mut json)?;
        let scenario: Scenario = json.parse()?;
        let outcome = simulate(&scenario)?;
        serde_json::to_writer_pretty(&mut output, &outcome)?;
        writeln!(output)?;
        output.flush()?;
        Ok(())
    }

    fn input(&self) -> Result<Box<dyn BufRead + Send>, Failure> {
        Ok(match &self.file {
            None => Box::new(BufReader::new(io::stdin())),
            Some(file) => {
                let opened = File::open(file).map_err(|error| format!("{} cannot be read: {error}", file.display()))?;
                Box::new(BufReader::new(opened))
            }
        })
    }
}

/// Says how far it has come, on a terminal.
fn progress() -> impl FnMut(u64) {
    let shown = io::stderr().is_terminal();
    move |done| {
        if shown && done % 100 == 0 {
            eprint!("\r{done} scenarios");
        }
    }
}
