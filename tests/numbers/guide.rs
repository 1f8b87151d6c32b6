//! The guide's page on moving providers says what the commands print, and shows what they draw.

use std::fs;
use std::path::Path;

use crate::{forbear, text};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");
const PAGE: &str = "src/guide/moving_providers.rs";

/// The blocks of the page that begin with a command: the command, and what it is said to print.
fn blocks() -> Vec<(String, String)> {
    let page = fs::read_to_string(Path::new(ROOT).join(PAGE)).expect("the page is there");
    let lines: Vec<_> =
        page.lines().filter_map(|line| line.strip_prefix("//!")).map(|line| line.trim_start_matches(' ')).collect();
    let raw: Vec<_> = page.lines().filter_map(|line| line.strip_prefix("//!")).collect();
    let starts = (0..lines.len()).filter(|at| lines[*at].starts_with("$ forbear "));
    let block = |at: usize| {
        let until = (at..lines.len()).find(|end| lines[*end] == "```").expect("the block ends");
        let printed = raw[at + 1..until].iter().map(|line| line.strip_prefix(' ').unwrap_or(line));
        (lines[at]["$ forbear ".len()..].to_owned(), printed.map(|line| format!("{line}\n")).collect())
    };
    starts.map(block).collect()
}

#[test]
fn each_block_is_what_its_command_prints() {
    let blocks = blocks();
    assert!(blocks.len() >= 6, "{blocks:?}");
    let drawn = std::env::temp_dir().join(format!("forbear-guide-{}.svg", std::process::id()));
    for (command, printed) in blocks {
        let mut words: Vec<_> = command.split_whitespace().collect();
        // The picture goes elsewhere, to be compared with the one that is kept.
        let picture = words
            .iter()
            .position(|word| *word == "--plot")
            .map(|at| std::mem::replace(&mut words[at + 1], drawn.to_str().expect("a plain path")));
        // The test runs in the package's folder, as its reader does.
        let output = forbear(&words, "");
        assert_eq!(text(&output.stdout), printed, "in {PAGE}, of: forbear {command}");
        if let Some(picture) = picture {
            let [kept, drawn] =
                [&Path::new(ROOT).join(picture), &drawn].map(|path| fs::read_to_string(path).expect("a picture"));
            assert_eq!(kept, drawn, "{picture} is not what forbear {command} draws");
        }
    }
    fs::remove_file(drawn).expect("removed");
}
