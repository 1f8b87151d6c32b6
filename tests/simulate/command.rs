//! `forbear simulate` as whoever types it meets it.

use std::process::Output;

use crate::typed::{forbear, text};

fn simulate(arguments: &[&str], input: &str) -> Output {
    forbear(&[&["simulate"], arguments].concat(), input)
}

#[test]
fn a_scenario_on_standard_input_gives_its_result_and_nothing_else() {
    let output = simulate(&[], r#"{"provider": {"requests_per_minute": 30}, "measured_s": 60}"#);
    assert!(output.status.success());
    assert_eq!(text(&output.stderr), "", "no progress in a pipe");
    let result: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert!(result["calls"].as_u64().is_some_and(|calls| calls > 30), "{result}");
}

#[test]
fn lines_come_back_in_their_order() {
    let lines: String = (1..=40).map(|seed| format!("{{\"seed\": {seed}, \"measured_s\": 30}}\n")).collect();
    let output = simulate(&["--jsonl"], &lines);
    assert!(output.status.success() && output.stderr.is_empty());
    let results = text(&output.stdout);
    assert_eq!(results.lines().count(), 40);
    let alone = simulate(&["--jsonl"], lines.lines().nth(16).expect("forty lines"));
    assert_eq!(results.lines().nth(16), text(&alone.stdout).lines().next());
}

#[test]
fn a_refusal_names_the_line_and_the_field() {
    let output = simulate(&["--jsonl"], "{\"measured_s\": 30}\n{\"gate\": \"ajar\"}\n");
    assert!(!output.status.success());
    let refusal = text(&output.stderr);
    assert!(refusal.starts_with("forbear simulate: line 2 was refused: gate: unknown variant `ajar`"), "{refusal}");
    let output = simulate(&["no/such/file"], "");
    assert!(text(&output.stderr).contains("no/such/file cannot be read"), "{}", text(&output.stderr));
}

#[test]
fn help_shows_an_example_that_runs() {
    let help = text(&simulate(&["--help"], "").stdout);
    let example = help.split('\'').nth(1).expect("an example in quotes");
    let output = simulate(&[], example);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let result: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(result["succeeded"], 1_000);
}

#[test]
fn metrics_and_picture_are_written_where_they_are_wanted() {
    let dir = std::env::temp_dir().join(format!("forbear-simulate-{}", std::process::id()));
    std::fs::create_dir_all(&dir).expect("a folder");
    let (metrics, plot) = (dir.join("run.om"), dir.join("run.svg"));
    let arguments = [
        "--openmetrics",
        metrics.to_str().expect("a plain path"),
        "--scrape",
        "1m",
        "--start",
        "1767225600",
        "--plot",
        plot.to_str().expect("a plain path"),
    ];
    let output = simulate(&arguments, r#"{"provider": {"requests_per_minute": 30}, "measured_s": 600}"#);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let metrics = std::fs::read_to_string(metrics).expect("written");
    let calls: Vec<_> = metrics.lines().filter(|line| line.starts_with("forbear_calls_total{")).collect();
    assert!(calls.len() >= 10 && calls[1].ends_with(" 1767225720"), "a minute apart: {calls:?}");
    assert!(metrics.ends_with("# EOF\n"));
    assert!(std::fs::read_to_string(plot).expect("written").starts_with("<svg"));
    std::fs::remove_dir_all(dir).expect("removed");
}
