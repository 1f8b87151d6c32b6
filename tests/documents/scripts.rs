//! Commands on pages and in helps, run in a folder of their own against servers of this test.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::pages::{Block, blocks};
use crate::server::empty_folder;
use crate::shell::{Pipe, script};
use crate::typed::{forbear, run_in, text};
use crate::world::World;
use crate::{elsewhere, inline, root, settings};

/// What an answer at hand may look like.
const ANSWER: &str = "HTTP/1.1 429 Too Many Requests\r\nretry-after: 20\r\ncontent-length: 2\r\n\r\n{}";

/// Lines that are typed into a console, and what each prints there.
pub(crate) type Console = (Block, Vec<(String, String)>);

pub(crate) fn consoles() -> Vec<Console> {
    let blocks = blocks().into_iter().filter(|block| block.kind == "text" && block.text.starts_with("$ "));
    let taken_apart = |block: Block| {
        let typed = format!("\n{}", block.text);
        let lines = typed.split("\n$ ").skip(1).map(|part| part.split_once('\n').unwrap_or((part, "")));
        let lines =
            lines.map(|(typed, printed)| (typed.to_owned(), printed.trim_end_matches('\n').to_owned())).collect();
        (block, lines)
    };
    blocks.map(taken_apart).collect()
}

/// Scripts: the place, and the lines.
fn scripts() -> Vec<(String, String)> {
    let blocks = blocks().into_iter().filter(|block| block.kind == "sh");
    blocks.map(|block| (block.place(), block.text)).chain(helps()).collect()
}

/// The examples of the command's own help.
fn helps() -> Vec<(String, String)> {
    let verbs = text(&forbear(&["--help"], "").stdout);
    let verbs = verbs.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let verbs =
        verbs.filter_map(|line| line.strip_prefix("  ")?.split(' ').next().filter(|verb| !["", "help"].contains(verb)));
    let found: Vec<_> = verbs.map(|verb| (format!("{HELP_OF}{verb}"), examples(verb))).collect();
    assert!(found.len() > 8 && found.iter().all(|(_, examples)| !examples.is_empty()), "no example: {found:?}");
    found
}

/// How the place of a help begins.
const HELP_OF: &str = "the help of forbear ";

/// The lines of a verb's help that can be typed, without the remarks beside them.
fn examples(verb: &str) -> String {
    let help = text(&forbear(&[verb, "--help"], "").stdout);
    let begins = |line: &&str| {
        line.starts_with("  ")
            && ["forbear ", "curl ", "echo '"].iter().any(|program| line.trim_start().starts_with(program))
    };
    let lines = help.lines().skip_while(|line| !begins(line)).take_while(|line| line.starts_with("  "));
    let typed = lines.map(|line| line.trim_start()).map(|line| line.split_once("   ").map_or(line, |(typed, _)| typed));
    typed.map(|line| format!("{line}\n")).collect()
}

/// Every command that a page or a help shows.
pub(crate) fn commands() -> Vec<Vec<String>> {
    let scripts = scripts().into_iter().flat_map(|(_, text)| script(&text));
    let consoles = consoles().into_iter().flat_map(|(_, lines)| lines).flat_map(|(typed, _)| script(&typed));
    scripts.chain(consoles).flatten().map(|command| command.words).collect()
}

#[test]
fn every_command_does_what_its_page_says() {
    let world = World::new();
    let ran: usize = scripts().iter().map(|(place, text)| Terminal::new(&world, place).script(text)).sum();
    assert!(ran > 30, "only {ran} were found");
    let consoles = consoles();
    assert!(consoles.len() > 5, "{consoles:?}");
    for (block, lines) in consoles {
        let mut terminal = Terminal::new(&world, &block.place());
        for (typed, expected) in lines {
            for pipe in script(&typed) {
                let Some(printed) = terminal.pipe(&pipe) else { continue };
                let printed = printed.trim_end_matches('\n');
                // What a server has lived through varies.
                let asks_a_server = ["gate ", "--prometheus "].iter().any(|word| typed.contains(word));
                let seen = |text: &str| if asks_a_server { without_numbers(text) } else { text.to_owned() };
                assert_eq!(seen(printed), seen(&expected), "{}: of {typed}\n{printed}", block.place());
            }
        }
    }
}

/// The same with one letter for each number.
fn without_numbers(text: &str) -> String {
    let mut told = String::new();
    for letter in text.chars() {
        match letter {
            '0'..='9' if told.ends_with('N') => {}
            '.' if told.ends_with('N') => {}
            '0'..='9' => told.push('N'),
            letter => told.push(letter),
        }
    }
    told
}

/// Where the commands of a block are typed.
struct Terminal<'w> {
    world: &'w World,
    place: String,
    folder: PathBuf,
    exported: BTreeMap<String, String>,
}

impl<'w> Terminal<'w> {
    fn new(world: &'w World, place: &str) -> Self {
        let folder =
            empty_folder(env!("CARGO_TARGET_TMPDIR"), &format!("documents/{}", place.replace(['/', ' ', ':'], "-")));
        // The help says that these stand in for options.
        let exported = if place.starts_with(HELP_OF) { world.stands_in() } else { BTreeMap::new() };
        Self { world, place: place.to_owned(), folder, exported }
    }

    /// Types all of it, and says how many commands were run.
    fn script(&mut self, text: &str) -> usize {
        script(text).iter().filter(|pipe| self.pipe(pipe).is_some()).count()
    }

    /// What it prints, if it is run here.
    fn pipe(&mut self, pipe: &Pipe) -> Option<String> {
        let command = pipe.last().expect("a command");
        let words = &command.words;
        inline::look_up(words).unwrap_or_else(|why| panic!("{}: {}: {why}", self.place, words.join(" ")));
        if pipe.iter().any(|command| elsewhere::knows(&command.words)) {
            return None;
        }
        match command.program() {
            "export" => {
                self.exported.extend(command.variables.iter().cloned());
                None
            }
            "forbear" => {
                let input = match pipe.first().map(|first| (first.program(), &first.words)) {
                    Some(("echo", words)) => words[1].as_str(),
                    Some(("curl", _)) => ANSWER,
                    _ => "",
                };
                let mut variables = self.exported.clone();
                variables.extend(command.variables.iter().cloned());
                Some(self.forbear(&words[1..], variables, input))
            }
            "cargo" => {
                self.added(words);
                Some(String::new())
            }
            "kubectl" => {
                settings::objects(words, &self.folder);
                None
            }
            "mimirtool" => {
                settings::namespaces(words, &self.folder);
                None
            }
            other => panic!(
                "{}: nobody runs {other}; tests/documents/elsewhere.rs has those that cannot be run here",
                self.place
            ),
        }
    }

    fn forbear(&self, words: &[String], variables: BTreeMap<String, String>, input: &str) -> String {
        let place = &self.place;
        let (words, variables) = (self.world.instead(words), self.world.instead_of(variables));
        let plot = words.iter().position(|word| word == "--plot").map(|at| &words[at + 1]);
        for file in words.iter().filter(|word| word.contains(".json") || Some(*word) == plot) {
            let here = self.folder.join(file);
            fs::create_dir_all(here.parent().expect("a folder")).expect("folders");
            if Some(file) != plot {
                let kept = fs::read_to_string(root().join(file));
                fs::write(here, kept.unwrap_or_else(|_| scenario())).expect("written");
            }
        }
        let output = run_in(&self.folder, &words, &variables, input);
        let (printed, complaint) = (text(&output.stdout), text(&output.stderr));
        // Both end with 1 where they find something, which is what they are for.
        let most = if ["check", "doctor"].contains(&words[0].as_str()) { 1 } else { 0 };
        let code = output.status.code().expect("an exit");
        assert!(code <= most, "{place}: forbear {words:?} ends with {code}: {complaint}{printed}");
        assert!(!printed.contains("nobody listens"), "{place}: forbear {words:?}: {printed}");
        if let Some(plot) = plot {
            let drawn = fs::read_to_string(self.folder.join(plot)).expect("a picture");
            let kept = fs::read_to_string(root().join(plot));
            assert!(kept.is_err() || kept.is_ok_and(|kept| kept == drawn), "{place}: {plot} is not what is drawn");
        }
        printed
    }

    /// `cargo add` in a fresh project, out of this folder.
    fn added(&self, words: &[String]) {
        assert_eq!(words.get(1).map(String::as_str), Some("add"), "{}: nobody runs {words:?}", self.place);
        fs::create_dir(self.folder.join("src")).expect("a folder");
        fs::write(self.folder.join("src/main.rs"), "fn main() {}\n").expect("written");
        let manifest = "[package]\nname = \"fresh\"\nedition = \"2024\"\n\n[workspace]\n";
        fs::write(self.folder.join("Cargo.toml"), manifest).expect("written");
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["add", "--offline", "--quiet", "--path"]).arg(root()).args(&words[3..]).current_dir(&self.folder);
        let output = cargo.output().expect("cargo runs");
        assert!(output.status.success(), "{}: {}", self.place, text(&output.stderr));
        let manifest = fs::read_to_string(self.folder.join("Cargo.toml")).expect("a manifest");
        assert!(manifest.contains("forbear = {") && manifest.contains("features = ["), "{manifest}");
    }
}

impl Drop for Terminal<'_> {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// The scenario of a help, which pages say is there.
fn scenario() -> String {
    let help = text(&forbear(&["what-if", "--help"], "").stdout);
    let from_quote = help.split_once("echo '").expect("an example").1;
    from_quote.split_once('\'').expect("its end").0.to_owned()
}
