//! Commands in the middle of a sentence: what they name is there.

use std::collections::BTreeMap;
use std::sync::Mutex;

use crate::pages::{Page, pages};
use crate::shell::script;
use crate::typed::{forbear, text};
use crate::{cargo, root};

/// What stands between backticks outside of blocks; a span may go on in the next line, not in the next paragraph.
fn spans(page: &Page) -> Vec<String> {
    let (mut paragraphs, mut in_block) = (vec![String::new()], false);
    for line in &page.lines {
        if line.trim_start().starts_with("```") {
            in_block = !in_block;
        } else if !in_block && !line.trim().is_empty() {
            let paragraph = paragraphs.last_mut().expect("one");
            paragraph.push_str(line.trim());
            paragraph.push(' ');
            continue;
        }
        paragraphs.push(String::new());
    }
    paragraphs.iter().flat_map(|text| text.split('`').skip(1).step_by(2).map(str::to_owned)).collect()
}

/// Whether the command has this verb, and the verb these options.
pub(crate) fn known_to_forbear(words: &[String]) -> Result<(), String> {
    static HELP: Mutex<BTreeMap<String, Option<String>>> = Mutex::new(BTreeMap::new());
    let mut verbs: Vec<&str> = words[1..].iter().map(String::as_str).take_while(|word| is_verb(word)).collect();
    verbs.truncate(if verbs.first() == Some(&"gate") { 2 } else { 1 });
    let mut helps = HELP.lock().expect("no test fails in it");
    let help = helps.entry(verbs.join(" ")).or_insert_with(|| {
        let output = forbear(&[&verbs[..], &["--help"]].concat(), "");
        output.status.success().then(|| text(&output.stdout))
    });
    let help = help.as_ref().ok_or_else(|| format!("there is no verb {verbs:?}"))?;
    let options = words.iter().filter(|word| word.starts_with("--"));
    let options = options.map(|word| word.split_once('=').map_or(word.as_str(), |(option, _)| option));
    let unknown: Vec<_> =
        options.filter(|option| !help.split([' ', '\n', ',', '[']).any(|word| word == *option)).collect();
    if unknown.is_empty() { Ok(()) } else { Err(format!("forbear {} has no {unknown:?}", verbs.join(" "))) }
}

fn is_verb(word: &str) -> bool {
    word.chars().all(|c| c.is_ascii_lowercase() || c == '-') && !word.starts_with('-')
}

/// Whether `tests/run` has these steps.
pub(crate) fn steps_are_there(words: &[String]) -> Result<(), String> {
    let run = std::fs::read_to_string(root().join("tests/run")).expect("a script");
    let missing: Vec<_> = words[1..].iter().filter(|step| !run.contains(&format!("\nstep_{step}() {{"))).collect();
    if missing.is_empty() { Ok(()) } else { Err(format!("tests/run has no step {missing:?}")) }
}

/// Looks up what a command names, where it can be looked up.
pub(crate) fn look_up(words: &[String]) -> Result<(), String> {
    match words[0].as_str() {
        "forbear" => known_to_forbear(words),
        "cargo" => cargo::look_up(words),
        "tests/run" => steps_are_there(words),
        _ => Ok(()),
    }
}

#[test]
fn commands_within_sentences_name_what_is_there() {
    let (mut wrong, mut seen) = (Vec::new(), 0);
    for page in pages() {
        let is_command =
            |span: &String| ["forbear ", "cargo ", "tests/run "].iter().any(|program| span.starts_with(program));
        for span in spans(&page).into_iter().filter(is_command) {
            for command in script(&span).into_iter().flatten() {
                seen += 1;
                wrong.extend(look_up(&command.words).err().map(|why| format!("{}: `{span}`: {why}", page.name)));
            }
        }
    }
    assert!(seen > 60, "only {seen} were found");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
