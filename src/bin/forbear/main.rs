//! The command line: one verb each, one file per verb.

mod demo;

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
    Demo(demo::Demo),
}

fn main() -> ExitCode {
    let Forbear { verb } = Forbear::parse();
    match verb {
        Verb::Demo(demo) => demo::run(&demo),
    }
}
