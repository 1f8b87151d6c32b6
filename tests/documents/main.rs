//! What README, guide, runbooks and helps show, done: commands are run and what they print is compared, snippets are given
//! to the tools they are for, and a block that nobody checks fails.
//!
//! | a block of | is |
//! |---|---|
//! | Rust | an example that rustdoc compiles, or it is refused |
//! | `sh` | a script of commands, each run here, looked up, or named in [`elsewhere`] |
//! | `text` that begins with `$` | commands with what they print |
//! | other `text` | a drawing, named in [`elsewhere`] |
//! | `yaml`, `json`, `promql` | read by what it is written for |
#![cfg(feature = "cli")]

mod cargo;
mod elsewhere;
mod inline;
mod pages;
mod queries;
mod scripts;
#[path = "../support/server.rs"]
mod server;
mod settings;
mod shell;
#[path = "../support/command.rs"]
mod typed;
mod world;

use std::path::Path;

use pages::{Block, blocks};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Whether rustdoc compiles this block: in the library's own documentation, or on a page that it takes in.
fn is_doctest(block: &Block) -> bool {
    let of_library =
        block.page.starts_with("src/") && !block.page.starts_with("src/bin/") && block.page.ends_with(".rs");
    let marks: Vec<_> = block.kind.split(',').filter(|mark| !mark.is_empty()).collect();
    let is_rust = marks.iter().all(|mark| ["rust", "no_run", "should_panic", "compile_fail"].contains(mark));
    is_rust && (of_library || block.page == "README.md" && marks.contains(&"rust"))
}

#[test]
fn every_block_is_of_a_kind_that_is_checked() {
    let blocks = blocks();
    let of = |kind: &str| blocks.iter().filter(|block| block.kind == kind).count();
    let doctests = blocks.iter().filter(|block| is_doctest(block)).count();
    assert!(doctests > 100 && of("sh") > 12 && of("promql") > 15 && of("yaml") > 4, "the blocks were not found");
    let checked = ["sh", "text", "yaml", "json", "promql"];
    let others = blocks.iter().filter(|block| !is_doctest(block) && !checked.contains(&block.kind.as_str()));
    let others: Vec<_> = others.map(|block| format!("{}: a block of {:?}", block.place(), block.kind)).collect();
    assert!(others.is_empty(), "nobody checks\n{}", others.join("\n"));
}

#[test]
fn the_pages_that_hold_rust_are_taken_in_by_the_library() {
    let library = std::fs::read_to_string(root().join("src/lib.rs")).expect("source");
    assert!(library.contains("#[doc = include_str!(\"../README.md\")]"));
}
