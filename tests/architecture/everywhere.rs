//! What holds for every file of the project, tests and scripts too: how long it may be, and words that are left over.

use std::fs;
use std::path::Path;

use crate::{MOST_LINES, assert_none};

/// Every text of the project that people write, with its name.
fn texts() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut left: Vec<_> =
        [".cargo", ".ci", ".github", "dashboards", "examples", "src", "tests"].map(|name| root.join(name)).into();
    left.extend(
        ["Cargo.toml", "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"].map(|name| root.join(name)),
    );
    let mut found = Vec::new();
    while let Some(path) = left.pop() {
        if path.is_dir() {
            left.extend(fs::read_dir(&path).expect("a folder").map(|entry| entry.expect("an entry").path()));
            continue;
        }
        let name = path.strip_prefix(root).expect("below the root").to_string_lossy().replace('\\', "/");
        let is_data = name.starts_with("tests/data/")
            || [".json", ".svg", ".snap", ".jsonl"].iter().any(|end| name.ends_with(end));
        if let Some(text) = fs::read_to_string(&path).ok().filter(|_| !is_data) {
            found.push((name, text));
        }
    }
    found
}

/// Words that nobody leaves behind, taken apart so that this file has none of them.
const LEFT_OVER: [[&str; 2]; 9] = [
    ["TO", "DO"],
    ["FIX", "ME"],
    ["XX", "X"],
    ["HA", "CK"],
    ["todo", "!("],
    ["unimplemented", "!("],
    ["db", "g!("],
    ["#[ign", "ore"],
    [".only", "("],
];

fn left_over(name: &str, text: &str) -> Vec<String> {
    let words = LEFT_OVER.map(|[begin, end]| format!("{begin}{end}"));
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let stands_in = |line: &str, word: &String| {
        line.match_indices(word.as_str()).any(|(at, _)| {
            let (before, after) = (line[..at].chars().last(), line[at + word.len()..].chars().next());
            let apart = |side: Option<char>, edge: char| !is_word(edge) || !side.is_some_and(is_word);
            apart(before, word.chars().next().unwrap_or(' ')) && apart(after, word.chars().last().unwrap_or(' '))
        })
    };
    let lines = text.lines().enumerate();
    let found = lines.filter_map(|(number, line)| {
        let word = words.iter().find(|word| stands_in(line, word))?;
        Some(format!("{name}:{}: {word}", number + 1))
    });
    found.collect()
}

#[test]
fn nothing_is_left_over() {
    let texts = texts();
    assert!(texts.len() > 400, "{} files", texts.len());
    assert_none(texts.iter().flat_map(|(name, text)| left_over(name, text)), "words left over");
}

#[test]
fn no_source_is_long() {
    let sources = texts().into_iter().filter(|(name, _)| name.ends_with(".rs"));
    // How much of a file in `src/` are tests is told apart elsewhere.
    let long = sources.filter(|(name, text)| !name.starts_with("src/") && text.lines().count() > MOST_LINES);
    assert_none(
        long.map(|(name, text)| format!("{name}: {} lines, at most {MOST_LINES}", text.lines().count())),
        "sizes",
    );
}

#[test]
fn a_word_left_over_is_named_with_its_line() {
    let marker = LEFT_OVER[1].concat();
    assert_eq!(left_over("a.rs", &format!("fine\n// {marker}: later")), [format!("a.rs:2: {marker}")]);
    assert!(left_over("a.rs", &format!("let {marker}S = 1; // a{marker}")).is_empty());
}
