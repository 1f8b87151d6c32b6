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

use std::ffi::OsString;
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
    let Forbear { verb } = Forbear::parse_from(without_second_dashes(std::env::args_os().collect()));
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

/// What was typed, without dashes of its own before the options of the demo: the alias `demo` of cargo ends in `--` already, who
/// knows cargo types another, and the verb takes nothing but options.
fn without_second_dashes(mut arguments: Vec<OsString>) -> Vec<OsString> {
    if arguments.get(1).is_some_and(|verb| verb == "demo") && arguments.get(2).is_some_and(|next| next == "--") {
        arguments.remove(2);
    }
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dashes_between_cargos_alias_and_the_options_are_no_argument() {
        let of = |line: &str| without_second_dashes(line.split(' ').map(OsString::from).collect()).join(" ".as_ref());
        assert_eq!(of("forbear demo -- --serve --port 0"), "forbear demo --serve --port 0");
        for other in ["forbear demo --serve", "forbear demo", "forbear classify -- -file", "forbear demo --serve --"] {
            assert_eq!(of(other), other);
        }
        assert!(
            Forbear::try_parse_from(without_second_dashes(vec!["forbear".into(), "demo".into(), "--".into()])).is_ok()
        );
    }
}
