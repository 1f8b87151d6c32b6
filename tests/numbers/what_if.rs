//! `forbear what-if`.

use crate::{forbear, text};

const BURSTS: &str = r#"{
    "provider": {"requests_per_minute": 60, "algorithm": "fixed_window", "retry_after": "none"},
    "callers": {"arrivals": {"batch": {"size": 100, "every_s": 300}}, "deadline_s": 120},
    "policy": {"base_s": 1, "attempts": 6}, "gate": "none", "measured_s": 1200}"#;

#[test]
fn one_table_one_picture_one_sentence() {
    let plot = std::env::temp_dir().join(format!("forbear-what-if-{}.svg", std::process::id()));
    let output = forbear(&["what-if", "--plot", plot.to_str().expect("a plain path")], BURSTS);
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), String::new()));
    let printed = text(&output.stdout);
    let lines: Vec<_> = printed.lines().collect();
    let firsts: Vec<_> = lines[1..5].iter().map(|line| line.split("  ").next().unwrap_or_default()).collect();
    assert_eq!(firsts, ["today", "suggested numbers", "shared gate", "twice the quota"]);
    assert!(lines[9..].join(" ").starts_with("The numbers are the trouble: "), "{printed}");
    let svg = std::fs::read_to_string(&plot).expect("written");
    assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"));
    std::fs::remove_file(plot).expect("removed");
}

#[test]
fn all_that_was_found_out_is_there_as_json() {
    let output = forbear(&["what-if", "--json"], BURSTS);
    let object: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let runs = object["runs"].as_array().expect("runs");
    let calls: Vec<_> = runs.iter().map(|run| run["outcome"]["calls"].clone()).collect();
    assert_eq!((runs.len(), runs[1]["change"].as_str()), (4, Some("suggested_numbers")));
    assert!(calls.iter().all(|calls| *calls == 400), "the same traffic each time: {calls:?}");
}

#[test]
fn what_is_refused_is_named() {
    let refusal = |arguments: &[&str], input: &str| {
        let output = forbear(arguments, input);
        assert_eq!(output.status.code(), Some(2));
        text(&output.stderr)
    };
    assert!(refusal(&["what-if"], "{\"gate\": \"ajar\"}").contains("unknown variant `ajar`"));
    assert!(
        refusal(&["what-if"], "{\"measured_s\": -1}")
            .contains("measured_s is -1.0; allowed: 0.001 to 2678400 (31 days)")
    );
    assert!(refusal(&["what-if"], "{\"engine\": \"pacer\"}").contains("the pacer has no policy to change"));
    assert!(refusal(&["what-if", "no/such/file"], "").contains("no/such/file cannot be read"));
    assert!(refusal(&["what-if", "--plot", "no/such/folder/x.svg"], BURSTS).contains("cannot be written"));
}
