//! The manifest, and what the documentation says of it.

const MANIFEST: &str = include_str!("../Cargo.toml");
const README: &str = include_str!("../README.md");
const CRATE: &str = include_str!("../src/lib.rs");

/// The lines of a section of the manifest.
fn section(name: &str) -> impl Iterator<Item = &'static str> {
    let heading = format!("[{name}]");
    MANIFEST.lines().skip_while(move |line| *line != heading).skip(1).take_while(|line| !line.starts_with('['))
}

/// The name a line of the manifest gives a value.
fn key(line: &str) -> Option<&str> {
    let (key, _) = line.split_once(" = ")?;
    key.starts_with(|first: char| first.is_ascii_lowercase()).then_some(key)
}

/// The features, sorted.
fn features() -> Vec<&'static str> {
    let mut features: Vec<_> = section("features").filter_map(key).filter(|feature| *feature != "default").collect();
    features.sort_unstable();
    features
}

/// The features a text has a row for, sorted.
fn told_in(text: &'static str) -> Vec<&'static str> {
    let lines = text.lines().map(|line| line.trim_start_matches("//! "));
    let table = lines.skip_while(|line| *line != "| feature | what it adds |").take_while(|line| line.starts_with('|'));
    let mut told: Vec<_> = table.filter_map(|row| row.strip_prefix("| `")?.split('`').next()).collect();
    told.sort_unstable();
    told
}

#[test]
fn the_readme_and_the_crate_tell_of_every_feature() {
    assert!(features().len() > 8, "{:?}", features());
    assert_eq!(told_in(README), features());
    assert_eq!(told_in(CRATE), features());
}

#[test]
fn full_is_all_that_a_service_can_use() {
    let full = section("features").find_map(|line| line.strip_prefix("full = ")).expect("a row");
    let mut full: Vec<_> = full.split('"').skip(1).step_by(2).collect();
    full.sort_unstable();
    let kept_out = ["cli", "emulator", "full", "simulate"];
    assert_eq!(full, features().into_iter().filter(|feature| !kept_out.contains(feature)).collect::<Vec<_>>());
}

#[test]
fn every_dependency_has_its_reason_in_the_line_above() {
    for name in ["dependencies", "dev-dependencies"] {
        let lines: Vec<_> = section(name).collect();
        for pair in lines.windows(2).filter(|pair| key(pair[1]).is_some()) {
            assert!(pair[0].starts_with("# ") && !pair[0].starts_with("# ---"), "no reason for {}", pair[1]);
        }
    }
}
