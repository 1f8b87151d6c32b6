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
use forbear::provider;

use crate::known::table;

/// Say how forbear reads an answer: which limit was hit, what it would do and when, and what told it so.
///
/// Reads a raw HTTP response as `curl -i` prints it, from FILE or from standard input. Of several, as behind a proxy or
/// after a redirect, the last counts.
#[derive(Args)]
#[command(after_help = "\
Examples:
  curl -si https://api.openai.com/v1/models | forbear classify --provider openai
  echo '{\"id\":1,\"provider\":\"groq\",\"status\":429}' | forbear classify --jsonl
  forbear classify --provider list

A line of --jsonl that cannot be read is answered by {\"id\",\"line\",\"error\"}, and the others go on.

Exit status: 0 when every answer was read, whatever it says; 1 when one could not be; 2 when the arguments are refused.")]
pub(crate) struct Classify {
    /// The provider that answered; `list` prints those that are known.
    #[arg(long, value_name = "ID", required_unless_present = "jsonl")]
    provider: Option<String>,

    /// When the answer came, as 2026-11-30T12:00:00Z: for dates in an answer without a `Date` of its own. [default: now]
    #[arg(long, value_name = "RFC3339", value_parser = case::instant)]
    now: Option<WallTime>,

    /// Print one JSON object.
    #[arg(long, conflicts_with = "jsonl")]
    json: bool,

    /// Read one case a line, {"id","provider","status","headers","body","now"}, and print one line each, in order. A header's
    /// value is a string or an array of strings.
    #[arg(long)]
    jsonl: bool,

    /// The file to read, up to 16 MiB an answer; standard input, unless given.
    file: Option<PathBuf>,
}

/// A longer answer is none: what tells of a limit stands in the first few KiB.
const LONGEST_ANSWER: u64 = 16 * 1024 * 1024;

/// Why there is no reading, and the exit code.
struct Failure(u8, String);

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        // Whoever reads our output may stop reading it: no fault of ours, and nobody is left to tell.
        let why = if error.kind() == io::ErrorKind::BrokenPipe { String::new() } else { error.to_string() };
        Self(1, why)
    }
}

/// Reads the answers asked about and prints what they mean.
pub(crate) fn run(options: &Classify) -> ExitCode {
    let outcome = match options.provider.as_deref() {
        Some("list" | "?") => list(),
        _ if options.jsonl => lines_of(options),
        provider => one(options, provider.unwrap_or_default()),
    };
    match outcome {
        Ok(code) => code,
        Err(Failure(code, why)) => {
            if !why.is_empty() {
                eprintln!("forbear classify: {why}");
            }
            ExitCode::from(code)
        }
    }
}

/// The providers that are known, a line each.
fn list() -> Result<ExitCode, Failure> {
    let mut known: Vec<&str> = provider::all().iter().map(|table| table.id).collect();
    known.sort_unstable();
    io::stdout().lock().write_all((known.join("\n") + "\n").as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// One answer: a report for people, or one JSON object.
fn one(options: &Classify, provider: &str) -> Result<ExitCode, Failure> {
    let table = table(provider).map_err(|why| Failure(2, why))?;
    let mut bytes = Vec::new();
    input(options)?.take(LONGEST_ANSWER + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LONGEST_ANSWER {
        return Err(Failure(
            1,
            "the input is longer than 16 MiB, as no answer is that tells of a limit: give one response".to_owned(),
        ));
    }
    let (answer, doubts) = raw::parse(&bytes).map_err(|why| Failure(1, why))?;
    let now = options.now.unwrap_or_else(forbear::wall_now);
    let reading = answer.read(&table, now);
    let text =
        if options.json { object::of_reading(&table, &reading) + "\n" } else { report::of_reading(&table, &reading) };
    io::stdout().lock().write_all(text.as_bytes())?;
    for doubt in doubts {
        eprintln!("forbear classify: note: {doubt}");
    }
    Ok(ExitCode::SUCCESS)
}

/// Many answers, a line each, in their order. One that cannot be read becomes a line that says so, and the exit code tells;
/// the rest go on.
fn lines_of(options: &Classify) -> Result<ExitCode, Failure> {
    let now = options.now.unwrap_or_else(forbear::wall_now);
    let mut output = io::BufWriter::new(io::stdout().lock());
    let mut code = ExitCode::SUCCESS;
    let mut input = input(options)?;
    for number in 1_u64.. {
        let Some(line) = lines::next(&mut input, LONGEST_ANSWER)? else { break };
        if line.trim_ascii().is_empty() {
            continue;
        }
        let answer = lines::answer(&line, number, now);
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
            let named =
                |error: io::Error| io::Error::new(error.kind(), format!("{} cannot be read: {error}", path.display()));
            let file = fs::File::open(path).map_err(named)?;
            if file.metadata().map_err(named)?.is_dir() {
                return Err(named(io::ErrorKind::IsADirectory.into()));
            }
            Box::new(io::BufReader::new(file))
        }
        None => Box::new(io::stdin().lock()),
    })
}
