//! Commands of cargo, looked up: packages, targets, features and tests of that name are there.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;
use std::sync::OnceLock;

use serde_json::Value;

use crate::root;

/// What cargo says of the workspace.
fn packages() -> &'static [Value] {
    static KNOWN: OnceLock<Vec<Value>> = OnceLock::new();
    KNOWN.get_or_init(|| {
        let mut command = Command::new(env!("CARGO"));
        command.args(["metadata", "--no-deps", "--offline", "--format-version", "1"]).current_dir(root());
        let output = command.output().expect("cargo runs");
        let metadata: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        metadata["packages"].as_array().expect("packages").clone()
    })
}

/// What is given to cargo, taken apart.
#[derive(Default)]
struct Given<'w> {
    package: Option<&'w str>,
    target: Option<(&'w str, &'w str)>,
    features: BTreeSet<&'w str>,
    all_features: bool,
    /// What stands alone, after `--` too.
    alone: Vec<&'w str>,
    /// What stands after `--`.
    handed_on: Vec<&'w str>,
}

impl<'w> Given<'w> {
    fn of(words: &'w [String]) -> Result<Self, String> {
        let mut given = Self::default();
        let mut words = words.iter().map(String::as_str);
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or_else(|| format!("{word} has no value"));
            match word {
                "--" => {
                    given.handed_on = words.by_ref().collect();
                    given.alone.extend(given.handed_on.iter().filter(|word| !word.starts_with('-')));
                }
                "-p" | "--package" => given.package = Some(value()?),
                "--example" | "--bin" | "--test" => given.target = Some((word.trim_start_matches('-'), value()?)),
                "--features" => given.features.extend(value()?.split(',')),
                "--all-features" => given.all_features = true,
                "--path" | "--profile" => drop(value()?),
                "--release" | "--open" | "--locked" | "--quiet" | "--lib" | "--dry-run" => {}
                word if word.starts_with('-') => return Err(format!("cargo's {word} is not known here")),
                word => given.alone.push(word),
            }
        }
        Ok(given)
    }
}

/// Looks up what a command names. The first word is `cargo`.
pub(crate) fn look_up(words: &[String]) -> Result<(), String> {
    let verb = words.get(1).map(String::as_str).unwrap_or_default();
    if verb == "demo" {
        return demo(&words[2..]);
    }
    if !["run", "build", "test", "add", "install", "doc", "publish"].contains(&verb) {
        return Err(format!("cargo {verb} is not known here"));
    }
    let given = Given::of(&words[2..])?;
    let name = match verb {
        "add" | "install" => given.alone.first().copied().unwrap_or("forbear"),
        _ => given.package.unwrap_or("forbear"),
    };
    let package =
        packages().iter().find(|package| package["name"] == name).ok_or_else(|| format!("no package {name}"))?;
    let features = enabled(package, &given)?;
    let is_placeholder = |name: &str| name.chars().all(|c| c.is_ascii_uppercase());
    if let Some((kind, name)) = given.target.filter(|(_, name)| !is_placeholder(name)) {
        let targets = package["targets"].as_array().expect("targets");
        let is_it = |target: &&Value| target["name"] == name && target["kind"][0] == kind;
        let target = targets.iter().find(is_it).ok_or_else(|| format!("no {kind} {name}"))?;
        for needed in target["required-features"].as_array().into_iter().flatten() {
            let needed = needed.as_str().expect("a name");
            if !features.contains(needed) {
                return Err(format!("the {kind} {name} needs the feature {needed}"));
            }
        }
        let source = target["src_path"].as_str().expect("a path");
        if kind == "test" && !given.alone.iter().all(|filter| finds(source, filter)) {
            return Err(format!("no test of {name} is called {:?}", given.alone));
        }
    }
    Ok(())
}

/// The features that are on, those included that others switch on.
fn enabled<'p>(package: &'p Value, given: &Given<'p>) -> Result<BTreeSet<&'p str>, String> {
    let known = package["features"].as_object().expect("features");
    let mut left: Vec<&str> = given.features.iter().copied().collect();
    if given.all_features {
        left.extend(known.keys().map(String::as_str));
    }
    let mut on = BTreeSet::new();
    while let Some(feature) = left.pop().filter(|feature| !feature.contains([':', '/'])) {
        let more = known.get(feature).ok_or_else(|| format!("there is no feature {feature}"))?;
        if on.insert(feature) {
            let more = more.as_array().expect("a list").iter().filter_map(Value::as_str);
            left.splice(0..0, more.filter(|name| !name.contains([':', '/'])));
        }
    }
    Ok(on)
}

/// Whether a test's sources have a function or module with this in its name.
fn finds(source: &str, filter: &str) -> bool {
    let main = std::path::Path::new(source);
    let mut files = vec![main.to_owned()];
    if main.ends_with("main.rs") {
        let beside = fs::read_dir(main.parent().expect("a folder")).expect("a folder");
        files.extend(beside.map(|entry| entry.expect("an entry").path()).filter(|path| path.is_file()));
    }
    let names = |text: &str| {
        let begins = text.split(['\n', ' ']).zip(text.split(['\n', ' ']).skip(1));
        begins.filter(|(word, _)| ["fn", "mod"].contains(word)).any(|(_, name)| name.contains(filter))
    };
    files.iter().any(|file| names(&fs::read_to_string(file).expect("source")))
}

/// `cargo demo` is an alias; what it runs takes the options of `forbear demo`.
fn demo(options: &[String]) -> Result<(), String> {
    let aliases = fs::read_to_string(root().join(".cargo/config.toml")).expect("a file");
    let alias = aliases.lines().find_map(|line| line.strip_prefix("demo = \"")).ok_or("there is no alias demo")?;
    let alias: Vec<String> = alias.trim_end_matches('"').split(' ').map(str::to_owned).collect();
    let Some(("--", words)) = alias.split_last().map(|(last, words)| (last.as_str(), words)) else {
        return Err(format!("options would be cargo's: it is an alias of {alias:?}"));
    };
    look_up(&[&["cargo".to_owned()], words].concat())?;
    crate::inline::known_to_forbear(&[&["forbear".to_owned(), "demo".to_owned()], options].concat())
}

#[test]
fn what_is_not_there_is_told() {
    let looked_up = |line: &str| look_up(&line.split(' ').map(str::to_owned).collect::<Vec<_>>());
    assert_eq!(looked_up("cargo run --example otlp --features otlp,reqwest,emulator"), Ok(()));
    assert_eq!(
        looked_up("cargo run --example otlp --features reqwest,emulator").unwrap_err(),
        "the example otlp needs the feature otlp"
    );
    assert_eq!(looked_up("cargo add forbear --features moon").unwrap_err(), "there is no feature moon");
    assert_eq!(looked_up("cargo run -p forbear-bench --bin moon").unwrap_err(), "no bin moon");
    assert_eq!(looked_up("cargo test --test gate -- moon").unwrap_err(), "no test of gate is called [\"moon\"]");
    assert!(looked_up("cargo bench").is_err() && looked_up("cargo run --moon").is_err());
}
