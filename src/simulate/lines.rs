//! One scenario a line in, one result a line out: in order, on all cores, and never more than a few lines in memory.
//!
//! Lines are dealt to the workers in turn and their results are taken in the same turn, so nothing has to be sorted or
//! numbered. A scenario that takes long holds the others up once the channels are full: then the reader waits, and memory
//! stays where it is.

use std::io::{self, BufRead, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use crate::simulate::{Outcome, Scenario, simulate};

/// How many lines each worker may have waiting for it, and how many results may wait to be written.
const WAITING: usize = 16;

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

/// What became of a line.
type Simulated = Result<Outcome, String>;

/// Runs the scenario of every line of `input`, on `workers` threads, and writes a line of JSON for each to `output`, in the
/// order of the input. Empty lines are passed over. `progress` is told how many are done after each.
///
/// # Errors
/// Reading or writing fails, or a line is refused; what came before it has been written.
pub fn simulate_lines(
    mut input: impl BufRead + Send,
    output: &mut impl Write,
    workers: usize,
    progress: &mut dyn FnMut(u64),
) -> Result<u64, LinesError> {
    let workers = workers.max(1);
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        // Line n goes to worker n modulo their number, and the results are taken in that order: no sorting, and a slow
        // line holds back no more than what the channels hold.
        let (numbers, lines): (Vec<_>, Vec<_>) = (0..workers).map(|_| sync_channel::<(u64, String)>(WAITING)).unzip();
        let results: Vec<_> = lines
            .into_iter()
            .map(|lines| {
                let (results, simulated) = sync_channel(WAITING);
                scope.spawn(move || work(&lines, &results));
                simulated
            })
            .collect();
        let stop = &stop;
        let reading = scope.spawn(move || read(&mut input, &numbers, stop));
        let written = write(&results, output, progress);
        stop.store(true, Ordering::Relaxed);
        // Workers and reader end when nobody takes what they have.
        drop(results);
        let read = reading.join().unwrap_or(Ok(()));
        let count = written?;
        read?;
        Ok(count)
    })
}

/// Hands the lines out in turn, until there are no more or nobody wants them.
fn read(input: &mut impl BufRead, workers: &[SyncSender<(u64, String)>], stop: &AtomicBool) -> io::Result<()> {
    let (mut number, mut scenarios) = (0, 0);
    let mut line = String::new();
    while !stop.load(Ordering::Relaxed) && input.read_line(&mut line)? > 0 {
        number += 1;
        let text = std::mem::take(&mut line);
        if text.trim().is_empty() {
            continue;
        }
        if workers[scenarios % workers.len()].send((number, text)).is_err() {
            break;
        }
        scenarios += 1;
    }
    Ok(())
}

/// Simulates one line after another.
fn work(lines: &Receiver<(u64, String)>, results: &SyncSender<(u64, Simulated)>) {
    for (number, line) in lines {
        let scenario = line.parse::<Scenario>().map_err(|error| error.to_string());
        let simulated = scenario.and_then(|scenario| simulate(&scenario).map_err(|error| error.to_string()));
        if results.send((number, simulated)).is_err() {
            break;
        }
    }
}

/// Takes the results in the turn in which the lines were handed out.
fn write(
    workers: &[Receiver<(u64, Simulated)>],
    output: &mut impl Write,
    progress: &mut dyn FnMut(u64),
) -> Result<u64, LinesError> {
    let mut written = 0;
    for worker in workers.iter().cycle() {
        let Ok((number, simulated)) = worker.recv() else { break };
        let outcome = simulated.map_err(|why| LinesError::Line { number, why })?;
        serde_json::to_writer(&mut *output, &outcome).map_err(io::Error::from)?;
        output.write_all(b"\n")?;
        written += 1;
        progress(written);
    }
    output.flush()?;
    Ok(written)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(input: &str, workers: usize) -> (Result<u64, LinesError>, String) {
        let mut output = Vec::new();
        let result = simulate_lines(input.as_bytes(), &mut output, workers, &mut |_| {});
        (result, String::from_utf8(output).expect("JSON is text"))
    }

    #[test]
    fn results_come_in_the_order_of_the_lines_on_any_number_of_threads() {
        let scenario = |seed: u32| format!("{{\"seed\": {seed}, \"measured_s\": 60}}\n\n");
        let input: String = (0..100).map(scenario).collect();
        let (one, expected) = lines(&input, 1);
        assert_eq!((one.expect("all are simulated"), expected.lines().count()), (100, 100));
        assert_eq!(lines(&input, 3).1, expected);
    }

    #[test]
    fn a_refused_line_is_named_and_what_came_before_it_is_written() {
        let (result, output) = lines("{}\n{\"measured_s\": -1}\n{}\n", 2);
        let refused = result.expect_err("refused").to_string();
        let range = "measured_s is -1.0; allowed: 0.001 to 31 days";
        assert_eq!(refused, format!("line 2 was refused: {range}; correct it and run again"));
        assert_eq!(output.lines().count(), 1);
    }
}
