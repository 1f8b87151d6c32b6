//! `forbear doctor` against real servers: each fault by itself is found, and nothing where nothing is amiss.
#![cfg(all(feature = "cli", feature = "simulate"))]

mod healthy;
mod lived;
#[path = "../support/server.rs"]
mod server;
mod spoilt;

use std::net::SocketAddr;
use std::process::Command;

use serde_json::Value;

/// What the doctor finds: its exit status, and the faults.
fn examined(addr: SocketAddr, more: &[&str]) -> (i32, Vec<String>) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_forbear"));
    let output = command.args(["doctor", "--prometheus", &format!("http://{addr}"), "--json"]).args(more).output();
    let output = output.expect("the command ends");
    let told = String::from_utf8_lossy(&output.stderr);
    let found: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {told}"));
    let findings = found["findings"].as_array().expect("findings");
    for finding in findings {
        for part in ["what", "why", "mend"] {
            assert!(finding[part].as_str().is_some_and(|text| text.len() > 20), "{finding}");
        }
    }
    let word = |finding: &Value, key: &str| finding[key].as_str().expect("a word").to_owned();
    let faults = findings.iter().map(|finding| format!("{} {}", word(finding, "severity"), word(finding, "fault")));
    (output.status.code().expect("it ended by itself"), faults.collect())
}
