//! `forbear classify`: how an answer is read, and what would be done about it.

mod case;
mod lines;
mod object;
mod raw;
mod report;

use std::fs;
use std::io::{self, BufRead, Read, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use forbear::core::moment::WallTime;

use crate::known::table;

/// Say how forbear reads an answer: which limit was hit, what it would do and when, and what told it so.
///
/// Reads a raw HTTP response as `curl -i` prints it, from FILE or from standard input:
///
///     curl -si https://api.openai.com/v1/models | forbear classify --provider openai
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Classify {
    /// The provider that answered; `forbear classify --provider ?` lists the known ones.
    #[arg(long, value_name = "ID", required_unless_present = "jsonl")]
    provider: Option<String>,

    /// When the answer came, as 2026-11-30T12:00:00Z; now, unless given. Dates count from the answer's own `Date`.
    #[arg(long, value_name = "RFC3339", value_parser = case::instant)]
    now: Option<WallTime>,

    /// Print one JSON object.
    #[arg(long, conflicts_with = "jsonl")]
    json: bool,

    /// Read one case a line, {"id","provider","status","headers","body","now"}, and print one line each, in order. A header's
    /// value is a string or an array of strings.
    #[arg(long)]
    jsonl: bool,

    /// The file to read; standard input, unless given.
    file: Option<PathBuf>,
}

/// Reads the answers asked about and prints what they mean.
pub(crate) fn run(options: &Classify) -> ExitCode {
    let outcome = if options.jsonl { lines_of(options) } else { one(options) };
    match outcome {
        Ok(code) => code,
        Err(error) => {
            // Whoever reads our output may stop reading it: no fault of ours, and nobody is left to tell.
            if error.kind() != io::ErrorKind::BrokenPipe {
                eprintln!("forbear classify: {error}");
            }
            ExitCode::FAILURE
        }
    }
}

/// One answer: a report for people, or one JSON object.
fn one(options: &Classify) -> io::Result<ExitCode> {
    let table = table(options.provider.as_deref().unwrap_or_default()).map_err(io::Error::other)?;
    let mut bytes = Vec::new();
    input(options)?.read_to_end(&mut bytes)?;
    let answer = raw::parse(&bytes).map_err(io::Error::other)?;
    let now = options.now.unwrap_or_else(forbear::wall_now);
    let reading = answer.read(&table, now);
    let text =
        if options.json { object::of_reading(&table, &reading) + "\n" } else { report::of_reading(&table, &reading) };
    io::stdout().lock().write_all(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// Many answers, a line each, in their order. One that cannot be read becomes a line that says so, and the exit code tells;
/// the rest go on.
fn lines_of(options: &Classify) -> io::Result<ExitCode> {
    let now = options.now.unwrap_or_else(forbear::wall_now);
    let mut output = io::BufWriter::new(io::stdout().lock());
    let mut code = ExitCode::SUCCESS;
    for line in input(options)?.split(b'\n') {
        let line = line?;
        if line.trim_ascii().is_empty() {
            continue;
        }
        let answer = lines::answer(&line, now);
        if answer.is_err() {
            code = ExitCode::FAILURE;
        }
        let (Ok(text) | Err(text)) = answer;
        writeln!(output, "{text}")?;
    }
    output.flush()?;
    Ok(code)
}

/// The file, or standard input.
fn input(options: &Classify) -> io::Result<Box<dyn BufRead>> {
    Ok(match &options.file {
        Some(path) => {
            let named = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
            Box::new(io::BufReader::new(fs::File::open(path).map_err(named)?))
        }
        None => Box::new(io::stdin().lock()),
    })
}
