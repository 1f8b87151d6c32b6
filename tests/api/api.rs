//! What the crate makes public, item by item, is what stands in `public.txt`: whoever changes it sees it in the change.
//!
//! After a change that is meant: `FORBEAR_WRITE_API=1 cargo test -p forbear-api-tests`.

use std::path::Path;
use std::process::Command;
use std::{env, fs};

#[test]
fn what_is_public_is_what_was_written_down() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = here.join("../..");
    let documented = Command::new(env!("CARGO"))
        .args(["doc", "-p", "forbear", "--lib", "--no-deps", "--all-features", "--quiet"])
        .current_dir(&root)
        .env("RUSTDOC", here.join("rustdoc"))
        .env("RUSTDOCFLAGS", "-Z unstable-options --output-format json --cap-lints allow")
        .status()
        .expect("cargo runs");
    assert!(documented.success(), "cargo doc");
    let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), Into::into);
    let api = public_api::Builder::from_rustdoc_json(target.join("doc/forbear.json"))
        .omit_blanket_impls(true)
        .omit_auto_trait_impls(true)
        .omit_auto_derived_impls(true)
        .build()
        .unwrap_or_else(|error| panic!("{error}\nthe JSON of this toolchain is not the one read here: see Cargo.toml"));
    let found: String = api.items().map(|item| format!("{item}\n")).collect();
    let kept = here.join("public.txt");
    if env::var_os("FORBEAR_WRITE_API").is_some() {
        fs::write(&kept, &found).expect("written");
    }
    let expected = fs::read_to_string(&kept).unwrap_or_default();
    let only_in = |these: &str, those: &str, mark: char| -> String {
        let others: std::collections::HashSet<_> = those.lines().collect();
        these.lines().filter(|line| !others.contains(line)).map(|line| format!("{mark} {line}\n")).collect()
    };
    let change = only_in(&expected, &found, '-') + &only_in(&found, &expected, '+');
    assert!(change.is_empty(), "the public API changed; the head of this file says how to write it down:\n{change}");
}
