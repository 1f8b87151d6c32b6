//! Many callers within moments, against a small quota, in virtual time: requests, drain and crowds of this crate's gate,
//! its peers' rules and the ideal.
//!
//! | argument | |
//! |---|---|
//! | `--ours` | leaves the peers out |
//! | `--quick` | leaves out the peers, the largest storms and half of the seeds |
//! | `--plot FILE` | draws what comes after a reopening, as SVG, and runs nothing else |

use std::io::IsTerminal;
use std::process::ExitCode;

use forbear_bench::storm::cell::Cell;
use forbear_bench::storm::runs::{self, Who};
use forbear_bench::storm::table::Table;
use forbear_bench::storm::{PACKAGES, picture};
use forbear_bench::versions;

fn main() -> ExitCode {
    let mut who = Who::all();
    let (mut sizes, mut seeds) = (vec![100, 1_000, 10_000], runs::SEEDS);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--ours" => who.retain(|who| !matches!(who, Who::Peer(_))),
            "--quick" => {
                who.retain(|who| !matches!(who, Who::Peer(_)));
                (sizes, seeds) = (vec![100, 1_000], runs::SEEDS / 2);
            }
            "--plot" if arguments.len() == 1 => return plot(&arguments.next().unwrap_or_default()),
            other => {
                eprintln!("storm: {other:?} is not understood; storm [--ours] [--quick] [--plot FILE]");
                return ExitCode::from(2);
            }
        }
    }
    let terminal = std::io::stderr().is_terminal();
    let rows = runs::run(&Cell::all(&sizes), &who, seeds, |done, all| {
        if terminal {
            eprint!("\r{done} of {all} storms");
        }
    });
    if terminal {
        eprintln!();
    }
    println!("Versions: {}.\n", versions::of(PACKAGES));
    print!("{}", Table { rows: &rows, who: &who });
    ExitCode::SUCCESS
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
