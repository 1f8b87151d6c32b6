//! One scenario a line in, one result a line out: in order, on all cores, and never more than a few lines in memory.
//!
//! Lines are dealt to the workers in turn and their results are taken in the same turn, so nothing has to be sorted or
//! numbered. A scenario that takes long holds the others up once the channels are full: then the reader waits, and memory
//! stays where it is.
//!
//! Whoever writes a line and waits for its result before the next gets it: what is ready is handed on before anything is
//! waited for.

use std::io::{self, BufRead, Read, Write};
use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::thread::{self, JoinHandle};

use crate::simulate::{Outcome, Scenario, simulate};

/// How many lines each worker may have waiting for it, and how many results may wait to be written.
const WAITING: usize = 16;
/// The most bytes of a line: thousands of times what a scenario takes.
const LONGEST_LINE: u64 = 16 << 20;

/// What stands in a line and is no scenario, or a scenario that cannot be.
#[derive(Debug)]
#[non_exhaustive]
pub enum LinesError {
    /// Reading or writing failed.
    Io(io::Error),
    /// A line is refused.
    Line {
        /// Its number, from 1.
        number: u64,
        /// Why, and what is allowed.
        why: String,
    },
}

impl std::fmt::Display for LinesError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Io(error) => write!(f, "lines could not be read or written: {error}"),
            Self::Line { number, why } => write!(f, "line {number} was refused: {why}; correct it and run again"),
        }
    }
}

impl std::error::Error for LinesError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io(error) => Some(error),
            Self::Line { .. } => None,
        }
    }
}

impl From<io::Error> for LinesError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// A line and its number; why it cannot be read stands in its place.
type Line = (u64, Result<String, String>);

/// What became of a line.
type Simulated = (u64, Result<Outcome, String>);

/// A thread that simulates, and where its results come from.
struct Worker {
    results: Receiver<Simulated>,
    thread: JoinHandle<()>,
}

/// Runs the scenario of every line of `input`, on `workers` threads, and writes a line of JSON for each to `output`, in the
/// order of the input. Empty lines are passed over. `progress` is told how many are done after each.
///
/// ```
/// use std::io::Cursor;
/// use forbear::simulate::simulate_lines;
/// let (input, mut output) = (Cursor::new("{\"seed\": 1}\n{\"seed\": 2}\n"), Vec::new());
/// assert_eq!(simulate_lines(input, &mut output, 2, &mut |_| {})?, 2);
/// assert_eq!(output.split(|byte| *byte == b'\n').count(), 3, "two lines, and nothing after them");
/// # Ok::<(), forbear::simulate::LinesError>(())
/// ```
///
/// # Errors
/// Reading or writing fails, or a line is refused; what came before it has been written. A line that is still being read
/// then is left to its thread: nobody waits for it.
///
/// # Panics
/// If a thread of it does.
pub fn simulate_lines(
    input: impl BufRead + Send + 'static,
    output: &mut impl Write,
    workers: usize,
    progress: &mut dyn FnMut(u64),
) -> Result<u64, LinesError> {
    let (lines, mut workers): (Vec<_>, Vec<_>) = (0..workers.max(1)).map(|_| Worker::start()).unzip();
    let reader = thread::spawn(move || read(input, &lines));
    let written = write(&workers, output, progress)?;
    // The worker whose turn it was has ended: because there are no more lines, unless it panicked.
    let first = (written % workers.len() as u64) as usize;
    workers.rotate_left(first);
    for worker in workers {
        drop(worker.results);
        joined(worker.thread);
    }
    joined(reader)?;
    Ok(written)
}

/// What the thread came to, or its panic.
fn joined<T>(thread: JoinHandle<T>) -> T {
    thread.join().unwrap_or_else(|panic| resume_unwind(panic))
}

/// Hands the lines out in turn, until there are no more or nobody wants them.
fn read(mut input: impl BufRead, workers: &[SyncSender<Line>]) -> io::Result<()> {
    let (mut number, mut scenarios) = (0, 0);
    loop {
        let mut line = Vec::new();
        if input.by_ref().take(LONGEST_LINE + 1).read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        number += 1;
        let too_long = line.len() as u64 > LONGEST_LINE;
        let text = match String::from_utf8(line) {
            _ if too_long => Err("it is longer than 16 MiB".to_owned()),
            Ok(text) if text.trim().is_empty() => continue,
            Ok(text) => Ok(text),
            Err(error) => Err(format!("it is not UTF-8: {}", error.utf8_error())),
        };
        if workers[scenarios % workers.len()].send((number, text)).is_err() {
            return Ok(());
        }
        scenarios += 1;
    }
}

impl Worker {
    /// Starts one, and gives the lines to be sent to it.
    fn start() -> (SyncSender<Line>, Self) {
        let (send_line, lines) = sync_channel(WAITING);
        let (send_result, results) = sync_channel(WAITING);
        (send_line, Self { results, thread: thread::spawn(move || work(&lines, &send_result)) })
    }
}

/// Simulates one line after another.
fn work(lines: &Receiver<Line>, results: &SyncSender<Simulated>) {
    for (number, line) in lines {
        let scenario = line.and_then(|line| line.parse::<Scenario>().map_err(|error| error.to_string()));
        let simulated = scenario.and_then(|scenario| simulate(&scenario).map_err(|error| error.to_string()));
        if results.send((number, simulated)).is_err() {
            break;
        }
    }
}

/// Takes the results in the turn in which the lines were handed out.
fn write(workers: &[Worker], output: &mut impl Write, progress: &mut dyn FnMut(u64)) -> Result<u64, LinesError> {
    let mut written = 0;
    for worker in workers.iter().cycle() {
        let ready = match worker.results.try_recv() {
            Err(TryRecvError::Empty) => {
                output.flush()?;
                worker.results.recv().ok()
            }
            ready => ready.ok(),
        };
        let Some((number, simulated)) = ready else { break };
        let outcome = match simulated {
            Ok(outcome) => outcome,
            Err(why) => {
                output.flush()?;
                return Err(LinesError::Line { number, why });
            }
        };
        serde_json::to_writer(&mut *output, &outcome).map_err(io::Error::from)?;
        output.write_all(b"\n")?;
        written += 1;
        progress(written);
    }
    output.flush()?;
    Ok(written)
}

#[cfg(test)]
#[path = "lines_tests.rs"]
mod tests;
