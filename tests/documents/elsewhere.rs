//! What pages show and these tests do not run: each with its reason, and with the file that stands in for it.

use crate::pages::blocks;
use crate::root;
use crate::scripts::{commands, consoles};

/// A command by its first words.
pub(crate) struct Command {
    first_words: &'static str,
    why: &'static str,
    /// A file that does it or checks it instead, and what in it does.
    instead: Option<(&'static str, &'static str)>,
}

const fn command(
    first_words: &'static str,
    why: &'static str,
    instead: Option<(&'static str, &'static str)>,
) -> Command {
    Command { first_words, why, instead }
}

/// Names of packages, targets, features, tests and options are looked up all the same.
pub(crate) const COMMANDS: &[Command] = &[
    command("cargo demo", "takes a minute", Some(("tests/demo.rs", "\"demo\", \"--seconds\", \"12\""))),
    command("forbear demo", "takes a minute", Some(("tests/demo.rs", "\"demo\", \"--seconds\", \"12\""))),
    command("curl -s http://127.0.0.1:9464/metrics", "asks the demo", Some(("tests/demo.rs", "GET /metrics"))),
    command("tests/run", "is what runs this", None),
    command("cargo install", "builds for minutes what these tests run already", None),
    command("cargo run --example axum_service", "serves until it is ended", AXUM_SERVICE),
    command("curl -i http://127.0.0.1:3000/answer", "asks that service", AXUM_SERVICE),
    command("curl http://127.0.0.1:9464/metrics", "asks that service", AXUM_SERVICE),
    command(
        "cargo run --example otlp",
        "needs a collector",
        Some(("tests/otlp/tests/examples.rs", "example(\"otlp\")")),
    ),
    command("cargo run --example replicas", "takes most of a minute, in sixteen processes", None),
    command("docker compose", "needs docker's daemon", Some(("tests/export/stack.rs", "docker-compose"))),
    command("cargo run --release -p forbear-bench", "measures for minutes, optimised", None),
    command("cargo build --release -p forbear-bench", "builds for minutes", None),
    command("valgrind --tool=callgrind target/release/calls", "is for whoever has valgrind", None),
    command("cargo run -p forbear-otlp-tests --bin over_rotel", "brings a collector of 100 MB", None),
    command("cargo test -p forbear --features simulate --test boards", "is one of the tests", None),
    command("cargo test -p forbear --release --test grammars", "takes twenty minutes; a smaller one is a step", None),
    command("tests/preview/run", "brings a browser", None),
];

const AXUM_SERVICE: Option<(&str, &str)> = Some(("tests/otlp/tests/examples.rs", "example(\"axum_service\")"));

/// Blocks of text that no command prints: the page, how they begin, and what they are.
pub(crate) const DRAWINGS: &[(&str, &str, &str)] = &[
    ("README.md", "Three services call providers", "what `cargo demo` printed; tests/demo.rs compares its shape"),
    ("src/guide/adding_a_provider.rs", "providers! {", "a row to be added to a list of the source"),
    (
        "src/guide/replicas.rs",
        "8 replicas with 20 callers",
        "what the example printed once; real time, so numbers vary",
    ),
    ("src/guide/replicas.rs", "ACL SETUSER", "rights, which the store of this test is given: world.rs"),
    ("src/guide/spans.rs", "request ", "a trace as a drawing"),
    ("src/guide/spans.rs", "RUST_LOG=forbear=warn", "three settings of a logger, and what they let through"),
    ("src/run/drive.rs", "         .-> gate", "the way of a call as a drawing"),
];

/// Whether a command is known to be run elsewhere.
pub(crate) fn knows(words: &[String]) -> bool {
    COMMANDS.iter().any(|known| known.is_of(words))
}

impl Command {
    fn is_of(&self, words: &[String]) -> bool {
        let first: Vec<_> = self.first_words.split(' ').collect();
        words.len() >= first.len() && first.iter().zip(words).all(|(first, word)| first == word)
    }
}

#[test]
fn nothing_is_listed_that_no_page_shows() {
    let shown: Vec<_> = commands();
    let unused = COMMANDS.iter().filter(|known| !shown.iter().any(|words| known.is_of(words)));
    let unused: Vec<_> = unused.map(|known| known.first_words).collect();
    assert!(unused.is_empty(), "no page shows {unused:?}");
    for Command { first_words, why, instead } in COMMANDS {
        assert!(!why.is_empty());
        if let Some((file, does)) = instead {
            let text = std::fs::read_to_string(root().join(file)).expect("a file of the project");
            assert!(text.contains(does), "{file} does not do {first_words}: there is no {does} in it");
        }
    }
}

#[test]
fn a_block_of_text_is_a_console_or_a_known_drawing() {
    let mut used = Vec::new();
    for block in blocks().iter().filter(|block| block.kind == "text") {
        let is_of = |(page, begin, _): &&(&str, &str, &str)| *page == block.page && block.text.starts_with(begin);
        match DRAWINGS.iter().find(is_of) {
            Some(drawing) => used.push(drawing),
            None => assert!(block.text.starts_with("$ "), "{}: neither console nor known drawing", block.place()),
        }
    }
    assert_eq!(used.len(), DRAWINGS.len(), "no page shows all of {DRAWINGS:?}");
    for (block, lines) in consoles() {
        let prints = |(typed, printed): &&(String, String)| !printed.is_empty() || typed.starts_with("export ");
        assert!(lines.iter().all(|line| prints(&line)), "{}: nothing is printed: make it `sh`", block.place());
    }
}
