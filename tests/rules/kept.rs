//! The files in `dashboards/rules` are what the diagnosis writes. After a change of it:
//! `FORBEAR_WRITE_RULES=1 cargo test -p forbear --all-features --test rules kept`.

use std::fs;
use std::path::{Path, PathBuf};

use forbear::diagnose::RuleBook;

/// A file of the rules.
pub(crate) fn kept(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("dashboards/rules").join(name)
}

#[test]
fn the_kept_files_are_what_the_diagnosis_writes() {
    let book = RuleBook::new();
    let files = [
        ("evidence.yml", book.evidence()),
        ("verdict.yml", book.verdict()),
        ("alerts.yml", book.alerts()),
        ("evidence.test.yml", crate::numbers::file()),
        ("verdict.test.yml", crate::verdicts::file()),
        ("alerts.test.yml", crate::alarms::file()),
    ];
    for (name, text) in files {
        if std::env::var_os("FORBEAR_WRITE_RULES").is_some() {
            fs::write(kept(name), &text).expect("written");
        }
        let found = fs::read_to_string(kept(name)).unwrap_or_default();
        assert!(found == text, "dashboards/rules/{name} is not what the diagnosis writes: see the head of this file");
    }
}
