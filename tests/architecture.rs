//! The shape of the source, checked: which room may import which, what it may name of the world outside, who reads the
//! clock and the environment, how long a file may be, which words are left over.
//! Code under `#[cfg(test)]` is exempt from arrows and clock.

#[path = "architecture/everywhere.rs"]
mod everywhere;
#[path = "architecture/rooms.rs"]
mod rooms;
#[path = "architecture/source.rs"]
mod source;

use std::collections::BTreeMap;

use source::{Source, Used, module_of, scan, sources};

// ---------------------------------------------------------------------------------------------------------- the rules

/// Each room with the rooms it may import; what those may import it may import too. A room is a file or folder under
/// `src/`, or the part of one that stands apart.
const ROOMS: &[(&str, &[&str])] = &[
    ("core", &[]),
    // `run`, `layer` and the user get errors from it; when to come back is told in real time.
    ("error", &["event", "clock"]),
    ("clock", &["core"]),
    ("event", &["core"]),
    ("provider", &["core"]),
    ("telemetry", &["event", "clock"]),
    ("store", &["event", "clock"]),
    ("gate", &["store", "clock"]),
    ("diagnose", &["event"]),
    ("run", &["gate", "diagnose", "clock", "error"]),
    // A layer reads the stream of its provider.
    ("layer", &["run", "provider", "clock"]),
    ("emulator::limits", &["core"]),
    ("emulator", &["emulator::limits", "provider", "core", "clock"]),
    ("simulate", &["diagnose", "emulator::limits", "event", "core"]),
    ("guide", &[]),
];

/// Files whose imports are free: the crate's root composes the rooms, and the command line is a crate of its own.
const FREE: &[&str] = &["lib", "bin"];

/// The one file that reads time, sleeps and rolls dice.
const CLOCK: &str = "src/clock.rs";

/// Ends of paths that only [`CLOCK`] may name. `clippy.toml` bans the same by whole path; here a line that switches
/// that lint off is found too.
const CLOCK_ONLY: &[&[&str]] = &[
    &["Instant", "now"],
    &["SystemTime", "now"],
    &["time", "sleep"],
    &["time", "sleep_until"],
    &["time", "timeout"],
    &["time", "timeout_at"],
    &["time", "interval"],
    &["time", "interval_at"],
    &["thread", "sleep"],
    &["rand", "rng"],
    &["rand", "random"],
    &["clippy", "disallowed_methods"],
    &["clippy", "disallowed_types"],
];

const MOST_LINES: usize = 500;
const MOST_LINES_P90: usize = 300;
const MOST_LINES_MEDIAN: usize = 150;
/// What a reader needs: units, errors, reasons. Test modules are not counted.
const LEAST_DOC_PERCENT: usize = 20;

// ------------------------------------------------------------------------------------------------- the rules, applied

#[test]
fn every_import_follows_an_arrow() {
    let sources = sources();
    let exports = root_exports(&sources["src/lib.rs"].paths);
    let wrong = sources.iter().flat_map(|(file, source)| wrong_arrows(file, &source.paths, &exports));
    assert_none(wrong, "imports against the arrows");
}

#[test]
fn every_room_has_its_arrows() {
    let unknown = sources().keys().filter(|file| {
        let module = module_of(file);
        room_of(&module).is_none() && !FREE.contains(&module[0].as_str())
    });
    assert_none(unknown.map(|file| format!("{file}: its room has no row in ROOMS")), "unknown rooms");
}

#[test]
fn no_arrow_leads_back() {
    let cycles = ROOMS.iter().filter(|(room, arrows)| arrows.iter().any(|next| reachable(next).contains(room)));
    assert_none(cycles.map(|(room, _)| format!("{room}: an arrow leads back to it")), "cycles");
}

#[test]
fn only_the_clock_reads_time_sleeps_or_rolls_dice() {
    let elsewhere = sources().iter().filter(|(file, _)| *file != CLOCK);
    let wrong = elsewhere.flat_map(|(file, Source { paths, .. })| clock_uses(file, paths));
    assert_none(wrong, "clock and dice outside of src/clock.rs");
}

#[test]
fn files_are_small_and_documented() {
    let sizes: Vec<_> = sources().iter().map(|(file, source)| Size::of(file, &source.text)).collect();
    assert_none(too_large(&sizes).into_iter(), "sizes");
}

fn assert_none(found: impl Iterator<Item = String>, what: &str) {
    let found: Vec<_> = found.collect();
    assert!(found.is_empty(), "{what}:\n  {}\n", found.join("\n  "));
}

// ----------------------------------------------------------------------------------------------------------- arrows

/// What `file` imports though no arrow leads there; one line each, with what to do about it.
fn wrong_arrows(file: &str, paths: &[Used], exports: &BTreeMap<String, Vec<String>>) -> Vec<String> {
    let module = module_of(file);
    if FREE.contains(&module[0].as_str()) {
        return Vec::new();
    }
    let Some(from) = room_of(&module) else { return Vec::new() };
    let mut wrong = Vec::new();
    for used in paths {
        let Some(target) = path_in_crate(used, exports) else { continue };
        let (line, path) = (used.line, target.join("::"));
        match room_of(&target) {
            None => wrong.push(format!("{file}:{line}: `crate::{path}` is in no room and not re-exported by lib.rs")),
            Some(to) if to == from || reachable(from).contains(&to) => {}
            Some(to) => wrong.push(format!("{file}:{line}: {from} -> {to} is no arrow (`crate::{path}`)")),
        }
    }
    wrong.dedup();
    wrong
}

/// Where what is named really stands, if it is this crate's: the root's re-exports are followed.
fn path_in_crate(used: &Used, exports: &BTreeMap<String, Vec<String>>) -> Option<Vec<String>> {
    let path = used.path_from_root()?;
    Some(path.first().and_then(|name| exports.get(name)).cloned().unwrap_or(path))
}

/// The room a module belongs to; the longest name that fits.
fn room_of(module: &[String]) -> Option<&'static str> {
    let fits =
        |room: &&str| room.split("::").count() <= module.len() && room.split("::").zip(module).all(|(a, b)| a == b);
    ROOMS.iter().map(|(room, _)| *room).filter(fits).max_by_key(|room| room.len())
}

/// Every room that an arrow, or several after each other, leads to from `room`.
fn reachable(room: &str) -> Vec<&'static str> {
    let mut found: Vec<&'static str> = Vec::new();
    let mut next: Vec<&str> = vec![room];
    while let Some(room) = next.pop() {
        let arrows = ROOMS.iter().find(|(name, _)| *name == room).map_or(&[][..], |(_, arrows)| *arrows);
        for arrow in arrows.iter().filter(|arrow| !found.contains(arrow)).collect::<Vec<_>>() {
            found.push(arrow);
            next.push(arrow);
        }
    }
    found
}

/// What the crate's root re-exports: the name and where it really stands.
fn root_exports(lib: &[Used]) -> BTreeMap<String, Vec<String>> {
    let own = lib.iter().filter(|path| path.segments.len() > 1);
    own.filter_map(|path| Some((path.name.clone(), path.path_from_root()?))).collect()
}

// ------------------------------------------------------------------------------------------------------------- clock

fn clock_uses(file: &str, paths: &[Used]) -> Vec<String> {
    let found = paths.iter().filter_map(|path| {
        let names: Vec<&str> = path.segments.iter().map(String::as_str).collect();
        let banned = CLOCK_ONLY.iter().find(|banned| names.windows(banned.len()).any(|window| window == **banned))?;
        Some(format!("{file}:{}: `{}` belongs to {CLOCK}", path.line, banned.join("::")))
    });
    found.collect()
}

// ------------------------------------------------------------------------------------------------------------- sizes

/// A file's length and how much of it is documentation, without its test module.
struct Size {
    file: String,
    lines: usize,
    docs: usize,
}

impl Size {
    fn of(file: &str, text: &str) -> Self {
        let lines: Vec<_> = text.split('\n').take_while(|line| !line.starts_with("#[cfg(test)]")).collect();
        let docs = lines.iter().filter(|line| ["///", "//!"].iter().any(|mark| line.trim_start().starts_with(mark)));
        Self { file: file.to_owned(), lines: lines.len(), docs: docs.count() }
    }
}

fn too_large(sizes: &[Size]) -> Vec<String> {
    let mut lines: Vec<_> = sizes.iter().map(|size| size.lines).collect();
    lines.sort_unstable();
    let mut wrong: Vec<String> = sizes
        .iter()
        .filter(|size| size.lines > MOST_LINES)
        .map(|size| format!("{}: {} lines without tests, at most {MOST_LINES}", size.file, size.lines))
        .collect();
    let (median, p90) = (lines[lines.len() / 2], lines[(lines.len() - 1) * 9 / 10]);
    if median > MOST_LINES_MEDIAN {
        wrong.push(format!("median {median} lines, at most {MOST_LINES_MEDIAN}"));
    }
    if p90 > MOST_LINES_P90 {
        wrong.push(format!("90th percentile {p90} lines, at most {MOST_LINES_P90}"));
    }
    let (docs, all) = (sizes.iter().map(|size| size.docs).sum::<usize>(), lines.iter().sum::<usize>());
    if docs * 100 < all * LEAST_DOC_PERCENT {
        let mut bare: Vec<_> = sizes.iter().collect();
        bare.sort_by_key(|size| (size.docs * 100).cast_signed() - (size.lines * LEAST_DOC_PERCENT).cast_signed());
        let barest: Vec<_> = bare.iter().take(5).map(|size| size.file.as_str()).collect();
        wrong.push(format!(
            "{} % of the lines are documentation, at least {LEAST_DOC_PERCENT} %; least of all in {}",
            docs * 100 / all,
            barest.join(", ")
        ));
    }
    wrong
}

// ------------------------------------------------------------------------------------------- the checks, checked

fn arrows_of(file: &str, text: &str) -> Vec<String> {
    let lib = paths_of("src/lib.rs", "pub use crate::run::pool::Pool;\npub use crate::core::policy::{A, B as Policy};");
    wrong_arrows(file, &paths_of(file, text), &root_exports(&lib))
}

/// What a text names that stood in this file.
fn paths_of(file: &str, text: &str) -> Vec<Used> {
    scan(file, text).paths
}

#[test]
fn an_import_against_the_arrows_is_named_with_file_line_and_arrow() {
    let found = arrows_of("src/core/decide.rs", "use std::fmt;\n\nuse crate::gate::Waiter;\n");
    assert_eq!(found, ["src/core/decide.rs:3: core -> gate is no arrow (`crate::gate::Waiter`)"]);
    assert_eq!(arrows_of("src/run/drive.rs", "fn f() { crate::provider::generic() }").len(), 1);
    assert_eq!(arrows_of("src/event/mod.rs", "macro_rules! m { () => { $crate::gate::X } }").len(), 1);
    assert_eq!(arrows_of("src/core/call.rs", "use crate::clock::Clock;").len(), 1);
    assert_eq!(arrows_of("src/core/call.rs", "use crate::*;").len(), 1);
    assert_eq!(arrows_of("src/core/call.rs", "use crate::{core::*, gate::*};").len(), 1);
}

#[test]
fn arrows_are_followed_over_several_rooms() {
    let allowed = "use crate::core::moment::Moment;\nuse crate::event::Event;\nuse crate::store::Store;\nuse crate::clock::Clock;";
    assert!(arrows_of("src/layer/tower.rs", allowed).is_empty());
    assert!(arrows_of("src/run/mod.rs", allowed).is_empty());
    assert_eq!(arrows_of("src/diagnose/mod.rs", allowed).len(), 2);
}

#[test]
fn groups_are_taken_apart() {
    let found = arrows_of(
        "src/event/sink.rs",
        "use crate::{\n    core::{call, gate},\n    run::{self, drive},\n    store,\n};",
    );
    let arrows: Vec<_> = found.iter().map(|line| line.split(" is no").next().unwrap_or_default()).collect();
    assert_eq!(
        arrows,
        [
            "src/event/sink.rs:3: event -> run",
            "src/event/sink.rs:3: event -> run",
            "src/event/sink.rs:4: event -> store"
        ]
    );
}

#[test]
fn super_that_leaves_the_room_is_an_import() {
    assert!(arrows_of("src/core/call.rs", "use super::decide::Decision;").is_empty());
    assert_eq!(arrows_of("src/core/call.rs", "use super::super::run::Pool;").len(), 1);
    assert_eq!(arrows_of("src/core/mod.rs", "use super::run::Pool;").len(), 1);
    assert_eq!(arrows_of("src/core/mod.rs", "mod inner { use super::super::run::Pool; use super::call; }").len(), 1);
}

#[test]
fn a_name_the_root_re_exports_stands_for_its_room() {
    assert!(arrows_of("src/run/mod.rs", "use crate::{Policy, Pool};").is_empty());
    assert_eq!(
        arrows_of("src/core/call.rs", "use crate::Pool;"),
        ["src/core/call.rs:1: core -> run is no arrow (`crate::run::pool::Pool`)"]
    );
    assert_eq!(
        arrows_of("src/run/mod.rs", "use crate::Nothing;"),
        ["src/run/mod.rs:1: `crate::Nothing` is in no room and not re-exported by lib.rs"]
    );
}

#[test]
fn the_simulator_reaches_the_emulators_limits_and_no_more_of_it() {
    assert!(arrows_of("src/simulate/world.rs", "use crate::emulator::limits::Bucket;").is_empty());
    assert_eq!(arrows_of("src/simulate/world.rs", "use crate::emulator::{limits, server};").len(), 1);
    assert_eq!(arrows_of("src/emulator/limits.rs", "use crate::provider::openai;").len(), 1);
    assert!(arrows_of("src/emulator/dialect.rs", "use crate::provider::openai;\nuse super::limits;").is_empty());
}

#[test]
fn what_only_tests_compile_may_import_anything() {
    let text = "use crate::core::gate;\n#[cfg(test)]\n#[allow(x)]\nmod tests { use crate::provider::openai; }\nfn f() { crate::run::f() }";
    assert_eq!(arrows_of("src/event/mod.rs", text).len(), 1, "what stands behind the module is read again");
    assert!(arrows_of("src/run/mod.rs", "#[cfg(all(test, feature = \"x\"))] use crate::provider::openai;").is_empty());
    assert!(arrows_of("src/run/mod.rs", "#![cfg(test)]\nuse crate::provider::openai;").is_empty());
    assert_eq!(arrows_of("src/run/mod.rs", "#[cfg(not(test))] use crate::provider::openai;").len(), 1);
    assert_eq!(arrows_of("src/run/mod.rs", "#[cfg(any(test, feature = \"x\"))] use crate::provider::openai;").len(), 1);
    assert_eq!(scan("src/run/mod.rs", "#[cfg(test)]\nmod cases;").test_files, ["src/run/cases.rs", "src/run/cases/"]);
    let elsewhere = "#[cfg(test)]\n#[path = \"call_tests.rs\"]\nmod tests;";
    assert_eq!(scan("src/core/call.rs", elsewhere).test_files, ["src/core/call_tests.rs"]);
}

#[test]
fn words_in_comments_and_strings_are_no_imports() {
    let text = "/// See [`crate::run::Pool`].\n// crate::run::Pool\nconst A: &str = \"crate::run::Pool\";\npub(crate) fn f() {}";
    assert!(arrows_of("src/core/call.rs", text).is_empty());
}

#[test]
fn a_clock_read_elsewhere_is_found_however_it_is_written() {
    let found = clock_uses(
        "src/gate/mod.rs",
        &paths_of("src/gate/mod.rs", "fn f() {\n    let t = tokio::time::Instant::now();\n}"),
    );
    assert_eq!(found, ["src/gate/mod.rs:2: `Instant::now` belongs to src/clock.rs"]);
    for text in [
        "use tokio::time::{Sleep, sleep as nap};",
        "use std::{thread::sleep, fmt};",
        "fn f() { let now = std::time::SystemTime::now; }",
        "fn f() { x.map(rand::random::<u64>) }",
        "#![allow(clippy::disallowed_methods)]",
        "fn f() { tokio::select! { _ = tokio::time::sleep(d) => {} } }",
    ] {
        assert_eq!(clock_uses("src/gate/mod.rs", &paths_of("src/gate/mod.rs", text)).len(), 1, "{text}");
    }
    let allowed = "use std::time::Duration; fn f(c: &Clock) { c.now(); c.sleep_until(m); }\n#[cfg(test)]\nmod tests { use tokio::time::sleep; }";
    assert!(clock_uses("src/gate/mod.rs", &paths_of("src/gate/mod.rs", allowed)).is_empty());
}

#[test]
fn a_file_too_long_is_named_and_its_tests_do_not_count() {
    let documented = |lines: usize| "/// x\n".repeat(lines - 1);
    let with_tests = format!("{}#[cfg(test)]\n{}", documented(MOST_LINES), documented(MOST_LINES));
    let long = Size::of("src/long.rs", &documented(MOST_LINES + 1));
    let small = || (0..20).map(|n| Size::of(&format!("src/{n}.rs"), &documented(100)));
    assert!(too_large(&small().chain([Size::of("src/tested.rs", &with_tests)]).collect::<Vec<_>>()).is_empty());
    assert_eq!(
        too_large(&small().chain([long]).collect::<Vec<_>>()),
        ["src/long.rs: 501 lines without tests, at most 500"]
    );
}

#[test]
fn many_long_files_and_little_documentation_are_found() {
    let sizes =
        |lines| (0..10).map(|n| Size { file: format!("src/{n}.rs"), lines, docs: lines / 4 }).collect::<Vec<_>>();
    assert_eq!(too_large(&sizes(160)), ["median 160 lines, at most 150"]);
    assert_eq!(too_large(&sizes(301)).len(), 2);
    let bare = [Size { file: "src/a.rs".to_owned(), lines: 100, docs: 15 }];
    assert_eq!(too_large(&bare), ["15 % of the lines are documentation, at least 20 %; least of all in src/a.rs"]);
}
