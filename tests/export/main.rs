//! `forbear export` as whoever types it meets it, and what comes of its files in the tools that read them.
#![cfg(all(feature = "cli", feature = "simulate"))]

mod boards;
mod defaults;
mod evaluated;
mod recipes;
mod refusals;
#[path = "../support/server.rs"]
mod server;
mod stack;
mod stacks;
#[path = "../support/command.rs"]
mod typed;
mod variants;
mod verdicts;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use server::empty_folder;
use typed::{forbear, text};

/// Exports into an empty folder of this name.
fn exported(name: &str, options: &[&str]) -> PathBuf {
    let folder = empty_folder(env!("CARGO_TARGET_TMPDIR"), &format!("export-{name}"));
    let out = folder.to_str().expect("a plain path");
    let output = forbear(&[&["export", "--out", out], options].concat(), "");
    assert!(output.status.success(), "{options:?}: {}", text(&output.stderr));
    folder
}

/// The files below a folder, by their paths from it.
fn files(folder: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut left = vec![folder.to_owned()];
    while let Some(next) = left.pop() {
        for entry in fs::read_dir(&next).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                left.push(path);
            } else if let Ok(text) = fs::read_to_string(&path) {
                found.insert(path.strip_prefix(folder).expect("below it").to_string_lossy().into_owned(), text);
            }
        }
    }
    found
}

/// `dashboards/` of the project.
fn kept() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("dashboards")
}

fn yaml(text: &str) -> Value {
    serde_yaml_ng::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// The groups of the rule files.
fn groups(folder: &Path) -> Vec<Value> {
    let of = |name: &str| yaml(&fs::read_to_string(folder.join("rules").join(name)).expect(name))["groups"].clone();
    let files = ["evidence.yml", "verdict.yml", "alerts.yml"].map(of);
    files.iter().flat_map(|groups| groups.as_array().expect("groups").clone()).collect()
}

/// Whether an expression reads this series.
fn reads(expr: &str, series: &str) -> bool {
    let goes_on = |rest: &str| rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_' || c == ':');
    expr.match_indices(series).any(|(place, _)| !goes_on(&expr[place + series.len()..]))
}
