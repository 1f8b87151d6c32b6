//! Queries on pages, given to a Prometheus' own tool.

use std::fmt::Write;
use std::fs;

use crate::pages::blocks;
use crate::server::{empty_folder, run, tool};

#[test]
fn every_query_is_one() {
    let mut rules = "groups:\n  - name: pages\n    rules:\n".to_owned();
    let blocks = blocks();
    let queries = blocks.iter().filter(|block| block.kind == "promql").flat_map(|block| block.text.lines());
    for (number, query) in queries.filter(|line| !line.is_empty()).enumerate() {
        writeln!(rules, "      - record: query:{number}\n        expr: |-\n          {query}")
            .expect("a string takes everything");
    }
    assert!(rules.lines().count() > 100, "{rules}");
    let folder = empty_folder(env!("CARGO_TARGET_TMPDIR"), "documents-queries");
    let file = folder.join("queries.yml");
    fs::write(&file, rules).expect("written");
    run(tool("promtool").args(["check", "rules"]).arg(&file));
    fs::remove_dir_all(&folder).expect("removed");
}
