//! What is published: what a user needs, dashboards too, and nothing else.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// The files of the package, as cargo packs them.
fn packed() -> BTreeSet<String> {
    let output = Command::new(env!("CARGO"))
        .args(["package", "--list", "--allow-dirty", "--offline", "-p", "forbear"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("names").lines().map(|line| line.replace('\\', "/")).collect()
}

/// The files of a folder of the project with this ending.
fn kept(folder: &str, ending: &str) -> Vec<String> {
    let entries = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder).read_dir().expect("a folder");
    let names = entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned());
    names.filter(|name| name.ends_with(ending)).map(|name| format!("{folder}/{name}")).collect()
}

#[test]
fn boards_rules_and_runbooks_are_published() {
    let packed = packed();
    let rules = kept("dashboards/rules", ".yml").into_iter().filter(|name| !name.ends_with(".test.yml"));
    let wanted = ["README.md", "CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT", "dashboards/runbooks.md", "src/lib.rs"];
    let boards = kept("dashboards", ".json");
    assert!(boards.len() >= 4, "{boards:?}");
    for name in wanted.map(str::to_owned).into_iter().chain(boards).chain(rules) {
        assert!(packed.contains(&name), "{name} is not packed");
    }
}

#[test]
fn tests_pictures_and_tools_are_not_published() {
    let is_meant = |name: &str| {
        let top = name.split('/').next().unwrap_or_default();
        let by_cargo = [".cargo_vcs_info.json", "Cargo.toml", "Cargo.toml.orig", "Cargo.lock"].contains(&name);
        let text = ["README.md", "CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT"].contains(&name);
        // The guide shows the collector's file.
        let example = top == "examples" && name.matches('/').count() == 1 && name.ends_with(".rs")
            || name == "examples/stack/collector.yml";
        let board = top == "dashboards" && !name.ends_with(".png") && !name.ends_with(".test.yml");
        by_cargo || text || example || board || top == "src"
    };
    let others: Vec<_> = packed().into_iter().filter(|name| !is_meant(name)).collect();
    assert!(others.is_empty(), "{others:?}");
}

#[test]
fn what_sources_take_in_is_published_with_them() {
    let packed = packed();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut taken = 0;
    for name in packed.iter().filter(|name| name.starts_with("src/") && name.ends_with(".rs")) {
        let text = std::fs::read_to_string(root.join(name)).expect("source");
        // Tests may read what only the project has.
        let text = text.split("\n#[cfg(test)]\nmod ").next().unwrap_or_default();
        for rest in text.split("include_str!(\"").skip(1) {
            let mut parts: Vec<_> = name.split('/').collect();
            parts.pop();
            for part in rest.split('"').next().unwrap_or_default().split('/') {
                match part {
                    ".." => parts.truncate(parts.len().saturating_sub(1)),
                    part => parts.push(part),
                }
            }
            taken += 1;
            assert!(packed.contains(&parts.join("/")), "{name} takes in {}, which is not packed", parts.join("/"));
        }
    }
    assert!(taken > 5, "{taken} files are taken in");
}
