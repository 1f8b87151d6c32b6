//! `cargo demo`: `forbear demo` without the verbs beside it. What those need (TLS, a client of Redis, a reader of regular
//! expressions) takes longer to build than all of this.

#[path = "../../../src/bin/forbear"]
mod command {
    pub(crate) mod demo;
    pub(crate) mod duration;
    #[allow(dead_code, reason = "the other verbs use the rest")]
    pub(crate) mod text;
}

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{Args, Command, FromArgMatches};
// Where the demo looks for them.
use command::{demo, duration, text};

fn main() -> ExitCode {
    let command = demo::Demo::augment_args(Command::new("cargo demo")).max_term_width(100);
    let mut matches = command.get_matches_from(without_second_dashes(std::env::args_os().collect()));
    match demo::Demo::from_arg_matches_mut(&mut matches) {
        Ok(demo) => demo::run(&demo),
        Err(error) => error.exit(),
    }
}

/// What was typed, without dashes of its own before the options: cargo's alias ends in `--` already, who knows cargo types
/// another, and there is nothing but options to take.
fn without_second_dashes(mut arguments: Vec<OsString>) -> Vec<OsString> {
    if arguments.get(1).is_some_and(|first| first == "--") {
        arguments.remove(1);
    }
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dashes_between_the_alias_and_the_options_are_no_argument() {
        let of = |line: &str| without_second_dashes(line.split(' ').map(OsString::from).collect()).join(" ".as_ref());
        assert_eq!(of("demo -- --serve --port 0"), "demo --serve --port 0");
        for other in ["demo --serve", "demo", "demo --serve --"] {
            assert_eq!(of(other), other);
        }
        let command = demo::Demo::augment_args(Command::new("cargo demo"));
        let typed = without_second_dashes(["demo", "--", "--serve"].map(OsString::from).to_vec());
        assert!(command.try_get_matches_from(typed).is_ok());
    }
}
