//! What four runs show, in one sentence.

use crate::simulate::what_if::{Change, Row, WhatIf};

/// A success ratio that needs no change.
const GOOD: f64 = 0.99;
/// What is this much better is better.
const BETTER: f64 = 0.01;

/// The cheapest change that does about as much as the best: numbers before a gate, a gate before a larger quota.
pub(super) fn of(what_if: &WhatIf) -> String {
    let success = |row: &Row| row.outcome.success_ratio.unwrap_or(0.0);
    let today = what_if.row(Change::Today);
    let best = what_if.rows().iter().map(success).fold(0.0, f64::max);
    if today.outcome.calls == 0 {
        return "No calls arrived, so nothing can be said.".to_owned();
    }
    if success(today) >= GOOD {
        return format!("Nothing has to change: {} of the calls succeed today.", percent(success(today)));
    }
    if best < success(today) + BETTER {
        return format!(
            "None of these changes helps: {} of the calls succeed today, and {} with the best of them.",
            percent(success(today)),
            percent(best)
        );
    }
    let enough = |change: &&Change| success(what_if.row(**change)) + BETTER >= best;
    let change = Change::ALL.iter().find(enough).copied().unwrap_or(Change::TwiceTheQuota);
    let row = what_if.row(change);
    let instead = format!("{} of the calls succeed instead of {}", percent(success(row)), percent(success(today)));
    let requests = format!("with {:.1} requests a call instead of {:.1}", requests(row), requests(today));
    match change {
        Change::Today => format!("Nothing has to change: {} of the calls succeed today.", percent(success(today))),
        Change::SuggestedNumbers => {
            format!(
                "The numbers are the trouble: with those that are suggested {instead}, {requests}, at the same quota."
            )
        }
        Change::SharedGate => {
            format!(
                "That each call retries on its own is the trouble: behind a shared gate {instead}, {requests}, at the same quota."
            )
        }
        Change::TwiceTheQuota => {
            let others = [Change::SuggestedNumbers, Change::SharedGate].map(|change| success(what_if.row(change)));
            format!(
                "The quota is the trouble: with twice of it {instead}, and at today's quota nothing lets more than {} succeed.",
                percent(others.into_iter().fold(success(today), f64::max))
            )
        }
    }
}

/// Requests per call, those without success among them.
fn requests(row: &Row) -> f64 {
    row.outcome.success_ratio.unwrap_or(0.0) + row.outcome.wasted_per_call.unwrap_or(0.0)
}

fn percent(ratio: f64) -> String {
    let hundredths = ratio * 100.0;
    if hundredths > 99.0 && ratio < 1.0 {
        format!("{:.1} %", hundredths.min(99.9))
    } else {
        format!("{hundredths:.0} %")
    }
}
