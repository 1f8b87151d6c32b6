//! The command line: one verb each, one file per verb.

mod classify;
mod demo;
mod simulate;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Retries and a shared gate for rate-limited providers, and what they show.
#[derive(Parser)]
#[command(name = "forbear", version, arg_required_else_help = true, max_term_width = 100)]
struct Forbear {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    Classify(classify::Classify),
    Demo(demo::Demo),
    Simulate(simulate::Simulate),
}

fn main() -> ExitCode {
    let Forbear { verb } = Forbear::parse();
    match verb {
        Verb::Classify(classify) => classify::run(&classify),
        Verb::Demo(demo) => demo::run(&demo),
        Verb::Simulate(simulate) => simulate::run(&simulate),
    }
}
