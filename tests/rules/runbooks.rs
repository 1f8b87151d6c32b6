//! The runbooks: one for each alert, and queries for what there is.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use forbear::event::catalogue::Metric;

use crate::kept::kept;

/// What every runbook says, in this order.
const PARTS: [&str; 7] = ["Meaning", "Impact", "How it is computed", "Confirm", "Now", "For good", "What it is not"];

fn runbooks() -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("dashboards/runbooks.md");
    fs::read_to_string(file).expect("kept")
}

fn named(text: &str, before: &str) -> BTreeSet<String> {
    text.lines().filter_map(|line| line.trim().strip_prefix(before)).map(str::to_owned).collect()
}

#[test]
fn every_alert_has_its_runbook_and_every_runbook_says_all_of_it_in_order() {
    let text = runbooks();
    let alerts = fs::read_to_string(kept("alerts.yml")).expect("kept");
    assert_eq!(named(&text, "## "), named(&alerts, "- alert: "));
    for book in text.split("\n## ").skip(1) {
        let name = book.lines().next().unwrap_or_default();
        let places: Vec<_> = PARTS.iter().map(|part| book.find(&format!("**{part}.**"))).collect();
        assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{name}: {places:?}");
        let queries = book.split_once("```promql\n").and_then(|(_, rest)| rest.split_once("\n```")).expect("queries").0;
        assert_eq!(queries.lines().count(), 3, "{name}");
        assert!(alerts.contains(&format!("#{}'", name.to_lowercase())), "{name} is linked to");
    }
}

#[test]
fn every_alert_leads_to_the_board_on_which_its_runbook_confirms_it() {
    let alerts = fs::read_to_string(kept("alerts.yml")).expect("kept");
    let leads_to = |alert: &str| -> BTreeSet<String> {
        let of_alert = alerts.split("- alert: ").skip(1).filter(|text| text.lines().next() == Some(alert));
        let link = |text: &str| {
            let (_, url) = text.split_once("dashboard_url: '/d/").unwrap_or_else(|| panic!("{alert} leads nowhere"));
            url.split_once('?').expect("variables").0.to_owned()
        };
        of_alert.map(link).collect()
    };
    for book in runbooks().split("\n## ").skip(1) {
        let (alert, rest) = book.split_once('\n').expect("a heading");
        let board =
            rest.split_once("Board *Forbear / ").and_then(|(_, board)| board.split_once('*')).expect("a board").0;
        assert_eq!(leads_to(alert), BTreeSet::from([format!("forbear-{}", board.to_lowercase())]), "{alert}");
    }
}

/// That they are queries, tests/documents/ sees to.
#[test]
fn queries_ask_for_metrics_of_the_catalogue_or_of_the_rules() {
    let recorded: BTreeSet<String> = ["evidence.yml", "verdict.yml"]
        .iter()
        .flat_map(|file| named(&fs::read_to_string(kept(file)).expect("kept"), "- record: "))
        .collect();
    let mut all = runbooks();
    for file in ["evidence.yml", "verdict.yml", "alerts.yml"] {
        all.push_str(&fs::read_to_string(kept(file)).expect("kept"));
    }
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == ':';
    for (place, _) in all.match_indices("forbear_") {
        let from = all[..place].rfind(|c| !is_word(c)).map_or(0, |before| before + 1);
        let name: String = all[from..].chars().take_while(|c| is_word(*c)).collect();
        let family = ["_bucket", "_count", "_sum"].iter().find_map(|suffix| name.strip_suffix(suffix)).unwrap_or(&name);
        let is_known = recorded.contains(&name) || Metric::find(&name).or_else(|| Metric::find(family)).is_some();
        assert!(is_known || name.ends_with("forbear_"), "{name} is in no catalogue");
    }
}
