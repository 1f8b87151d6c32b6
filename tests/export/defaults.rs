//! Without options, what is exported is what is kept.

use std::fs;

use crate::{exported, files, groups, kept};

/// What is not for whoever imports: tests of the rules, and pages for people with their pictures.
fn is_for_import(path: &str) -> bool {
    !path.ends_with(".test.yml") && !path.ends_with("README.md") && !path.ends_with(".png") && !path.ends_with(".svg")
}

#[test]
fn the_kept_files_come_out_byte_for_byte() {
    let folder = exported("default", &[]);
    let mut expected = files(&kept());
    expected.retain(|path, _| is_for_import(path));
    let found = files(&folder);
    assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
    for (path, text) in &expected {
        assert!(found[path] == *text, "{path} differs");
    }
    fs::remove_dir_all(&folder).expect("removed");
}

#[test]
fn groups_fit_hosted_rulers_and_rest_on_what_comes_before_them() {
    let all = groups(&kept());
    assert!(all.len() <= 70, "{} groups a tenant", all.len());
    let name = |rule: &serde_json::Value| rule["record"].as_str().map(str::to_owned);
    let series: Vec<Vec<_>> =
        all.iter().map(|group| group["rules"].as_array().expect("rules").iter().filter_map(name).collect()).collect();
    for (place, group) in all.iter().enumerate() {
        let rules = group["rules"].as_array().expect("rules");
        assert!((1..=20).contains(&rules.len()), "{}: {} rules", group["name"], rules.len());
        for (number, rule) in rules.iter().enumerate() {
            let expr = rule["expr"].as_str().expect("an expression");
            let read = |series: &str| crate::reads(expr, series);
            // Of its own group a rule rests on those above it: a chain is one evaluation long.
            let later =
                rules[number..].iter().filter_map(name).find(|series| read(series) && !above(rules, number, series));
            assert_eq!(later, None, "{} in {}", rule["record"], group["name"]);
            let of_later = series[place + 1..].iter().flatten().find(|series| read(series));
            let may_wait = ["forbear-ratios", "forbear-verdict"].contains(&group["name"].as_str().expect("a name"));
            assert!(of_later.is_none() || may_wait, "{} rests on {of_later:?} of a later group", rule["record"]);
        }
    }
}

fn above(rules: &[serde_json::Value], number: usize, series: &str) -> bool {
    rules[..number].iter().any(|rule| rule["record"] == series)
}
