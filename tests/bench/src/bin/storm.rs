//! Many callers within moments, against a small quota, in virtual time: requests, drain and crowds of this crate's gate,
//! its peers' rules and the ideal.
//!
//! | argument | |
//! |---|---|
//! | `--ours` | leaves the peers out |
//! | `--quick` | leaves out the peers, the largest storms and half of the seeds |
//! | `--section N` | runs one of the four tables only, 1 to 4; each takes some minutes |
//! | `--plot FILE` | draws what comes after a reopening, as SVG, and runs nothing else |

use std::io::IsTerminal;
use std::process::ExitCode;

use forbear_bench::storm::cell::Cell;
use forbear_bench::storm::runs::{self, Who};
use forbear_bench::storm::table::{Section, Table};
use forbear_bench::storm::{PACKAGES, picture};
use forbear_bench::versions;

fn main() -> ExitCode {
    let mut who = Who::all();
    let (mut sizes, mut seeds) = (vec![100, 1_000, 10_000], runs::SEEDS);
    let mut sections: Vec<Section> = Section::ALL.to_vec();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--ours" => who.retain(|who| !matches!(who, Who::Peer(_))),
            "--quick" => {
                who.retain(|who| !matches!(who, Who::Peer(_)));
                (sizes, seeds) = (vec![100, 1_000], runs::SEEDS / 2);
            }
            "--section" => match arguments.next().and_then(|number| number.parse::<usize>().ok()?.checked_sub(1)) {
                Some(number) if number < sections.len() => sections = vec![sections[number]],
                _ => return refused("--section takes a number from 1 to 4"),
            },
            "--plot" if arguments.len() == 1 => return plot(&arguments.next().unwrap_or_default()),
            other => return refused(&format!("{other:?} is not understood")),
        }
    }
    println!("Versions: {}.\n", versions::of(PACKAGES));
    for (number, section) in sections.iter().enumerate() {
        let cells: Vec<Cell> = Cell::all(&sizes).into_iter().filter(|cell| section.holds(cell)).collect();
        let progress = Progress::new(number + 1, sections.len());
        let rows = runs::run(&cells, &who, seeds, |done, all| progress.show(done, all));
        progress.end();
        print!("{}", Table { section: *section, rows: &rows, who: &who });
    }
    ExitCode::SUCCESS
}

fn refused(why: &str) -> ExitCode {
    eprintln!("storm: {why}; storm [--ours] [--quick] [--section N] [--plot FILE]");
    ExitCode::from(2)
}

/// How far the runs are: on a terminal a line that is written over.
struct Progress {
    table: usize,
    tables: usize,
    terminal: bool,
}

impl Progress {
    fn new(table: usize, tables: usize) -> Self {
        Self { table, tables, terminal: std::io::stderr().is_terminal() }
    }

    fn show(&self, done: usize, all: usize) {
        if self.terminal {
            eprint!("\rtable {} of {}: {done} of {all} storms", self.table, self.tables);
        }
    }

    fn end(&self) {
        if self.terminal {
            eprintln!();
        }
    }
}

fn plot(file: &str) -> ExitCode {
    match std::fs::write(file, picture::svg()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("storm: {file}: {error}");
            ExitCode::FAILURE
        }
    }
}
