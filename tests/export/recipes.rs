//! The recipes of the guide: their tables are those of the commands.

use std::collections::BTreeSet;
use std::fs;

use crate::typed::{forbear, text};

const GUIDE: &str = include_str!("../../src/guide/importing.rs");

/// The lines of the guide without their marks.
fn guide() -> String {
    GUIDE
        .lines()
        .map(|line| line.strip_prefix("//!").unwrap_or("").strip_prefix(' ').unwrap_or("").to_owned() + "\n")
        .collect()
}

/// What stands in backticks at the start of a table's rows.
fn rows(heading: &str) -> BTreeSet<String> {
    let guide = guide();
    let table =
        guide.lines().skip_while(|line| !line.starts_with(heading)).skip(2).take_while(|line| line.starts_with('|'));
    table.filter_map(|row| Some(row.strip_prefix("| `")?.split_once('`')?.0.to_owned())).collect()
}

#[test]
fn every_option_has_its_row() {
    let help = text(&forbear(&["export", "--help"], "").stdout);
    let options =
        help.lines().filter_map(|line| Some(line.trim().strip_prefix("--")?.split([' ', ',']).next()?.to_owned()));
    let options: BTreeSet<_> = options.map(|option| format!("--{option}")).filter(|option| option != "--out").collect();
    assert_eq!(rows("| option |"), options);
}

#[test]
fn every_fault_of_the_doctor_has_its_row() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/bin/forbear/doctor");
    let mut faults = BTreeSet::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let source = fs::read_to_string(entry.expect("an entry").path()).expect("source");
        for call in source.split("Finding::new(").skip(1) {
            let fault = call.split(',').nth(1).and_then(|word| word.trim().strip_prefix('"')?.strip_suffix('"'));
            faults.extend(fault.map(str::to_owned));
        }
    }
    faults.insert("no_metrics".to_owned());
    let tried = include_str!("../doctor/spoilt.rs").to_owned() + include_str!("../doctor/lived.rs");
    for fault in &faults {
        assert!(tried.contains(&format!(" {fault}\"")), "{fault} is tried by no test");
    }
    assert_eq!(rows("| fault |"), faults);
}
