//! What promtool says of the rules. The `rules` step of `tests/run` asks a promtool of another major release as well: ranges
//! are open to the left there.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crate::kept::kept;
use crate::server::{empty_folder, tool};
use crate::{alarms, numbers, verdicts};

/// Runs the tests of a rule file in a folder.
fn tested(folder: &Path, test: &str) -> Output {
    let mut command: Command = tool("promtool");
    command.args(["test", "rules"]).arg(folder.join(test)).output().expect("promtool runs")
}

#[test]
fn promtool_finds_nothing_in_the_rules_and_their_tests_pass() {
    for file in ["evidence.yml", "verdict.yml", "alerts.yml"] {
        let mut check = tool("promtool");
        let output =
            check.args(["check", "rules", "--lint=all", "--lint-fatal"]).arg(kept(file)).output().expect("runs");
        assert!(output.status.success(), "{file}: {}", String::from_utf8_lossy(&output.stderr));
    }
    for test in ["evidence.test.yml", "verdict.test.yml", "alerts.test.yml"] {
        let output = tested(&kept(""), test);
        let says = [output.stdout, output.stderr].concat();
        assert!(output.status.success(), "{test}: {}", String::from_utf8_lossy(&says));
    }
}

/// VictoriaMetrics' own ruler: expressions, and the templates of alerts.
#[test]
fn vmalert_takes_the_rules() {
    for file in ["evidence.yml", "verdict.yml", "alerts.yml"] {
        let output = tool("vmalert").arg("-dryRun").arg(format!("-rule={}", kept(file).display())).output();
        let output = output.expect("it runs");
        let says = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success() && says.contains("finished reading 1 files"), "{file}: {says}");
    }
}

/// Every number that an expression compares with, as its place in the text. What stands for nothing, all, and yes or no is
/// no line.
fn lines(text: &str) -> Vec<(usize, usize)> {
    let mut lines = Vec::new();
    for (place, _) in text.match_indices(['<', '>']) {
        let behind = text[place + 1..].trim_start_matches('=').trim_start();
        let behind = behind.strip_prefix("bool").unwrap_or(behind).trim_start();
        let from = text.len() - behind.len();
        let digits = behind.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(behind.len());
        // How often is scraped is what other tests vary.
        let left = &text[text[..place].rfind('\n').unwrap_or(0)..place];
        let is_line =
            !left.trim_end().ends_with("count10m") && behind[..digits].parse::<f64>().is_ok_and(|line| line > 0.0);
        if is_line {
            lines.push((from, from + digits));
        }
    }
    lines
}

/// Moves each line of a rule file, up or down by half and in turn, and lets a test notice. `FORBEAR_MOVE_BOTH_WAYS=1` moves
/// each up and down. `tests` gives the rules and the files of tests to be used for a line of the rule at a place of the text:
/// each has to pass as long as nothing is moved, and one of them to notice. The one that noticed the line before is asked
/// first, as neighbours often share a test.
fn moved_lines_are_noticed(rules: &str, tests: impl Fn(&str, usize) -> (String, Vec<String>)) {
    let folder = empty_folder(env!("CARGO_TARGET_TMPDIR"), &format!("moved-{rules}"));
    let passes = |rules_text: &str, test: &str| {
        fs::write(folder.join(rules), rules_text).expect("written");
        fs::write(folder.join("moved.test.yml"), test).expect("written");
        tested(&folder, "moved.test.yml").status.success()
    };
    let text = fs::read_to_string(kept(rules)).expect("kept");
    let lines = lines(&text);
    assert!(lines.len() > 8, "{rules} compares with {} numbers", lines.len());
    let both_ways = std::env::var_os("FORBEAR_MOVE_BOTH_WAYS").is_some();
    let mut known_to_pass = BTreeSet::new();
    let mut noticed_last = 0;
    let mut unnoticed = String::new();
    for (place, (from, to)) in lines.into_iter().enumerate() {
        let (unmoved, files) = tests(&text, from);
        for file in &files {
            if known_to_pass.insert(file.clone()) {
                assert!(passes(&unmoved, file), "{rules}: fails before anything is moved:\n{file}");
            }
        }
        let line: f64 = text[from..to].parse().expect("a number");
        for (way, moved) in [line * 1.5, line / 1.5].into_iter().enumerate() {
            if !both_ways && way != place % 2 {
                continue;
            }
            let (moved_rules, _) = tests(&format!("{}{moved}{}", &text[..from], &text[to..]), from);
            let mut order: Vec<usize> = (0..files.len()).collect();
            order.sort_by_key(|file| file.abs_diff(noticed_last));
            match order.into_iter().find(|file| !passes(&moved_rules, &files[*file])) {
                Some(file) => noticed_last = file,
                None => {
                    let context = &text[text[..from].rfind('\n').unwrap_or(0)..to];
                    unnoticed.push_str(&format!("\n{moved} in the place of{context}"));
                }
            }
        }
    }
    assert!(unnoticed.is_empty(), "{rules}: nothing notices {unnoticed}");
    fs::remove_dir_all(&folder).expect("removed");
}

#[test]
fn a_line_of_the_verdict_that_is_moved_is_noticed() {
    let tests = verdicts::files();
    moved_lines_are_noticed("verdict.yml", |rules, _| (rules.to_owned(), tests.clone()));
}

#[test]
fn a_line_of_an_alert_that_is_moved_is_noticed() {
    let tests = vec![alarms::file()];
    moved_lines_are_noticed("alerts.yml", |rules, _| (rules.to_owned(), tests.clone()));
}

#[test]
fn a_line_of_the_evidence_that_is_moved_is_noticed() {
    // Counting loads is what takes long: they are left out where the line is none of theirs, and else only theirs are asked.
    let mut others = numbers::names();
    others.retain(|name| !name.starts_with("load-") && !name.starts_with("learned-"));
    let others: Vec<String> =
        others.chunks(3).map(|together| numbers::file_of(|name| together.iter().any(|one| one == name))).collect();
    moved_lines_are_noticed("evidence.yml", |rules, place| {
        let demand = rules.find("  - name: forbear-demand").expect("a group");
        let after = rules[demand + 1..].find("  - name: ").map_or(rules.len(), |next| demand + 1 + next);
        if !(demand..after).contains(&place) {
            return (format!("{}{}", &rules[..demand], &rules[after..]), others.clone());
        }
        let load = rules[place..].split_once("load: '").and_then(|(_, rest)| rest.split_once('\'')).expect("a label").0;
        let ends = [
            format!("load-below-{load}"),
            format!("load-above-{load}"),
            format!("learned-below-{load}"),
            format!("learned-above-{load}"),
        ];
        (rules.to_owned(), vec![numbers::file_of(|name| ends.iter().any(|end| end == name))])
    });
}
