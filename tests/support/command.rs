//! The command, as whoever types it meets it.
#![allow(dead_code, reason = "each test file uses what it needs of it")]

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Runs the command with this on its standard input.
pub(crate) fn forbear(arguments: &[&str], input: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_forbear"));
    command.args(arguments);
    fed(command, input)
}

fn fed(mut command: Command, input: &str) -> Output {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    let mut stdin = child.stdin.take().expect("piped");
    // It may refuse before it has read everything.
    let _ = stdin.write_all(input.as_bytes());
    drop(stdin);
    child.wait_with_output().expect("the command ends")
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("text")
}

/// The same in a folder, with these variables.
pub(crate) fn run_in(folder: &Path, arguments: &[String], variables: &BTreeMap<String, String>, input: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_forbear"));
    command.args(arguments).envs(variables).current_dir(folder);
    fed(command, input)
}
