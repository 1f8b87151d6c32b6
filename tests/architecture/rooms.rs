//! What a room is inside: what of the world outside it may name, whether its arrows are needed, and whether the table at
//! its top names its files.

use std::collections::BTreeSet;

use crate::source::{Used, module_of, sources};
use crate::{FREE, ROOMS, assert_none, path_in_crate, paths_of, room_of, root_exports};

/// Rooms of values and step functions: whoever calls them brings time, chance and bytes.
const SANS_IO: &[&str] = &["core", "event", "provider", "diagnose", "simulate", "emulator::limits"];

/// What such a room may not name: runtimes, clients, global sinks, the operating system.
const OUTSIDE: &[&[&str]] = &[
    &["tokio"],
    &["hyper"],
    &["hyper_util"],
    &["reqwest"],
    &["redis"],
    &["tracing"],
    &["metrics"],
    &["opentelemetry"],
    &["std", "env"],
    &["std", "fs"],
    &["std", "net"],
    &["std", "process"],
    &["std", "thread"],
];

/// Files that may all the same, each with what. Scenarios that come a line each are simulated on all cores.
const MAY: &[(&str, &[&str])] = &[("src/simulate/lines.rs", &["std", "thread"])];

/// Who may read the environment, and nobody else in the library: what is set there is documented where it is read.
const READ_ENVIRONMENT: &[&str] = &["src/run/builder.rs", "src/telemetry/otlp.rs"];

#[test]
fn rooms_of_pure_values_do_no_io() {
    assert_none(sources().iter().flat_map(|(file, source)| outside(file, &source.paths)), "I/O in a room without");
}

#[test]
fn the_environment_is_read_where_it_is_documented() {
    let library = sources().iter().filter(|(file, _)| module_of(file)[0] != "bin");
    let readers: Vec<_> =
        library.filter(|(_, source)| reads_environment(&source.paths)).map(|(file, _)| file).collect();
    assert_eq!(readers, READ_ENVIRONMENT);
}

#[test]
fn every_arrow_is_needed() {
    let sources = sources();
    let exports = root_exports(&sources["src/lib.rs"].paths);
    let mut used = BTreeSet::new();
    for (file, source) in sources {
        let module = module_of(file);
        let Some(from) = room_of(&module).filter(|_| !FREE.contains(&module[0].as_str())) else { continue };
        let targets = source.paths.iter().filter_map(|path| room_of(&path_in_crate(path, &exports)?));
        used.extend(targets.map(|to| (from, to)));
    }
    let arrows = ROOMS.iter().flat_map(|(from, arrows)| arrows.iter().map(move |to| (*from, *to)));
    let idle = arrows.filter(|arrow| !used.contains(arrow));
    assert_none(idle.map(|(from, to)| format!("{from} -> {to}")), "arrows that no import follows");
}

#[test]
fn a_table_of_files_names_each_file_and_no_other() {
    assert_none(sources().iter().flat_map(|(file, source)| wrong_table(file, &source.text)), "tables of files");
}

// ---------------------------------------------------------------------------------------------------------- the checks

fn starts(path: &Used, with: &[&str]) -> bool {
    path.segments.len() >= with.len() && path.segments.iter().zip(with).all(|(a, b)| a == b)
}

fn outside(file: &str, paths: &[Used]) -> Vec<String> {
    let Some(room) = room_of(&module_of(file)).filter(|room| SANS_IO.contains(room)) else { return Vec::new() };
    let found = paths.iter().filter_map(|path| {
        // A word alone is a name of the file's own.
        let named = OUTSIDE.iter().find(|outside| path.segments.len() > 1 && starts(path, outside))?;
        let may = MAY.iter().any(|(name, what)| *name == file && what == named);
        (!may).then(|| format!("{file}:{}: {room} names `{}`", path.line, named.join("::")))
    });
    found.collect()
}

fn reads_environment(paths: &[Used]) -> bool {
    paths.iter().any(|path| starts(path, &["std", "env"]) || starts(path, &["env", "var"]))
}

/// The module that a line declares whose body is elsewhere.
fn declared(line: &str) -> Option<&str> {
    let (before, name) = line.strip_suffix(';')?.rsplit_once("mod ")?;
    (before.is_empty() || before.starts_with("pub")).then_some(name)
}

/// What is wrong with a module's table of files, if its documentation has one (`| file | … |`).
fn wrong_table(file: &str, text: &str) -> Vec<String> {
    let docs = text.lines().filter_map(|line| line.strip_prefix("//! "));
    let mut rows = docs.skip_while(|line| !["| file | job |", "| module |"].iter().any(|head| line.starts_with(head)));
    if rows.next().is_none() {
        return Vec::new();
    }
    let first_cells = rows.take_while(|line| line.starts_with('|')).filter_map(|row| row.split('|').nth(1));
    let named: BTreeSet<_> = first_cells.flat_map(|cell| cell.split('`').skip(1).step_by(2)).collect();
    let lines: Vec<_> = text.lines().collect();
    let is_tests = |at: usize| at > 0 && lines[at - 1].starts_with("#[cfg(test)]");
    let modules = lines.iter().enumerate().filter(|(at, _)| !is_tests(*at)).filter_map(|(_, line)| declared(line));
    let modules: BTreeSet<_> = modules.filter(|name| *name != "tests" && !name.ends_with("_tests")).collect();
    let missing = modules.difference(&named).map(|name| format!("{file}: its table does not name `{name}`"));
    let gone =
        named.difference(&modules).map(|name| format!("{file}: its table names `{name}`, which is no file of its"));
    missing.chain(gone).collect()
}

// -------------------------------------------------------------------------------------------------- the checks, checked

fn found_outside(file: &str, text: &str) -> Vec<String> {
    outside(file, &paths_of(file, text))
}

#[test]
fn a_runtime_in_a_pure_room_is_found_with_its_line() {
    let found =
        found_outside("src/core/call.rs", "use std::fmt;\nuse tokio::time::Sleep;\nfn f() { std::env::var(\"A\") }");
    assert_eq!(found, ["src/core/call.rs:2: core names `tokio`", "src/core/call.rs:3: core names `std::env`"]);
    assert!(found_outside("src/run/drive.rs", "use tokio::time::Sleep;").is_empty());
    assert!(found_outside("src/core/call.rs", "#[cfg(test)]\nmod tests { use tokio::time::Sleep; }").is_empty());
    assert!(found_outside("src/core/call.rs", "fn f(metrics: u8) { env!(\"A\"); metrics }").is_empty());
    assert!(found_outside("src/simulate/lines.rs", "use std::thread::spawn;").is_empty());
    assert_eq!(found_outside("src/simulate/world.rs", "use std::{fmt, thread::spawn};").len(), 1);
}

#[test]
fn a_reader_of_the_environment_is_found_however_it_is_written() {
    assert!(reads_environment(&paths_of("src/gate/mod.rs", "fn f() { std::env::var(\"A\") }")));
    assert!(reads_environment(&paths_of("src/gate/mod.rs", "use std::env;\nfn f() { env::var(\"A\") }")));
    assert!(!reads_environment(&paths_of("src/gate/mod.rs", "const A: &str = env!(\"A\");")));
}

#[test]
fn a_file_its_table_leaves_out_and_one_that_has_gone_are_named() {
    let table =
        "//! A room.\n//!\n//! | file | job |\n//! |---|---|\n//! | `a`, [`b`] | both |\n\nmod a;\npub mod b;\n";
    assert!(wrong_table("src/x.rs", table).is_empty());
    assert!(wrong_table("src/x.rs", &format!("{table}#[cfg(test)]\nmod more;\nmod a_tests;\n")).is_empty());
    assert_eq!(wrong_table("src/x.rs", &format!("{table}mod c;")), ["src/x.rs: its table does not name `c`"]);
    let gone = table.replace("mod a;\n", "");
    assert_eq!(wrong_table("src/x.rs", &gone), ["src/x.rs: its table names `a`, which is no file of its"]);
    assert!(wrong_table("src/x.rs", "//! No table.\nmod a;").is_empty());
}
