//! Suggested and checked numbers, as their users meet them and as simulation finds them.
#![cfg(feature = "cli")]

mod check;
#[path = "../support/command.rs"]
mod command;
#[allow(dead_code, unreachable_pub, reason = "what the test does not look at the command prints")]
#[path = "../bench/src/fit/mod.rs"]
mod fit;
mod fitting;
mod suggest;
mod what_if;

use command::{forbear, text};

/// What it prints, given a line as it is typed, and with which status it ends.
fn printed(line: &str) -> (String, Option<i32>) {
    let output = forbear(&line.split_whitespace().collect::<Vec<_>>(), "");
    (text(&output.stdout), output.status.code())
}

/// What it says when it refuses: one line, and nothing on standard output.
fn refusal(line: &str) -> String {
    let output = forbear(&line.split_whitespace().collect::<Vec<_>>(), "");
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(2), String::new()), "{line}");
    text(&output.stderr)
}

/// One JSON object, as it is printed.
fn object(line: &str) -> serde_json::Value {
    serde_json::from_str(&printed(line).0).unwrap_or_else(|error| panic!("{line}: {error}"))
}
