//! Many callers within moments, against a small quota, in virtual time: requests, drain and crowds of this crate's gate,
//! its peers' rules and the ideal.
//!
//! `--ours` leaves the peers out, `--quick` the largest storms and half of the seeds as well.

use std::io::IsTerminal;
use std::process::ExitCode;

use forbear_bench::storm::cell::Cell;
use forbear_bench::storm::runs::{self, Who};
use forbear_bench::storm::table::Table;

fn main() -> ExitCode {
    let mut who = Who::all();
    let (mut sizes, mut seeds) = (vec![100, 1_000, 10_000], runs::SEEDS);
    for argument in std::env::args().skip(1) {
        match argument.as_str() {
            "--ours" => who.retain(|who| !matches!(who, Who::Peer(_))),
            "--quick" => {
                who.retain(|who| !matches!(who, Who::Peer(_)));
                (sizes, seeds) = (vec![100, 1_000], runs::SEEDS / 2);
            }
            other => {
                eprintln!("storm: unknown argument {other:?}; there are --ours and --quick");
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
    print!("{}", Table { rows: &rows, who: &who });
    ExitCode::SUCCESS
}
