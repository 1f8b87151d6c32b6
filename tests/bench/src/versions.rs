//! Which versions of the peers were measured.

/// The versions of these packages, as the lock file has them: `backon 1.6.0, …`.
///
/// # Panics
/// Where the lock file cannot be read or lacks one of them: a benchmark of unknown versions is worth nothing.
#[must_use]
pub fn of(packages: &[&str]) -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.lock");
    let lock = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("Cargo.lock: {error}"));
    let named = |name: &&str| match version_in(&lock, name) {
        Some(version) => format!("{name} {version}"),
        None => panic!("Cargo.lock has no package {name:?}"),
    };
    packages.iter().map(named).collect::<Vec<_>>().join(", ")
}

fn version_in<'l>(lock: &'l str, name: &str) -> Option<&'l str> {
    let mut lines = lock.lines().skip_while(|line| line.strip_prefix("name = ").map(unquoted) != Some(name));
    lines.nth(1)?.strip_prefix("version = ").map(unquoted)
}

fn unquoted(text: &str) -> &str {
    text.trim_matches('"')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_read_from_the_lock_file() {
        let lock = "[[package]]\nname = \"tokio-retry\"\nversion = \"0.3.2\"\n\n[[package]]\nname = \"tokio\"\nversion = \"1.47.0\"\n";
        assert_eq!(version_in(lock, "tokio"), Some("1.47.0"));
        assert_eq!(version_in(lock, "retry"), None);
    }
}
