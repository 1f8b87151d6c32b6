//! The command line: one verb each, one file per verb.

mod check;
mod classify;
mod demo;
mod diagnose;
mod doctor;
mod duration;
mod export;
mod gate;
mod known;
mod progress;
mod simulate;
mod slo;
mod suggest;
mod text;
mod what_if;

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
    Check(check::Check),
    Classify(classify::Classify),
    Demo(demo::Demo),
    Diagnose(diagnose::Diagnose),
    Doctor(doctor::Doctor),
    Export(export::Export),
    Gate(gate::Gate),
    Simulate(simulate::Simulate),
    Suggest(suggest::Suggest),
    WhatIf(what_if::WhatIf),
}

/// Runs the verb. Exit codes are the verbs' own; a usage error is 2, as everywhere.
fn main() -> ExitCode {
    let Forbear { verb } = Forbear::parse();
    match verb {
        Verb::Check(check) => check::run(&check),
        Verb::Classify(classify) => classify::run(&classify),
        Verb::Demo(demo) => demo::run(&demo),
        Verb::Diagnose(diagnose) => diagnose::run(&diagnose),
        Verb::Doctor(doctor) => doctor::run(&doctor),
        Verb::Export(export) => export::run(&export),
        Verb::Gate(gate) => gate::run(&gate),
        Verb::Simulate(simulate) => simulate::run(&simulate),
        Verb::Suggest(suggest) => suggest::run(&suggest),
        Verb::WhatIf(what_if) => what_if::run(&what_if),
    }
}
