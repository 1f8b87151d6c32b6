//! Every query of every panel has an answer on a day on which everything happens, and every state has the verdict it is
//! named after. What is drawn for pictures stays in `target/tmp/boards/`.

use std::path::{Path, PathBuf};

use crate::asked::{unanswered_of, verdicts_are_right};
use crate::by_hand;
use crate::kept;
use crate::recorded::{record, whole_days};
use crate::server::{Server, empty_folder};
use crate::states::{EVERYTHING, FROM, STATES, State, TO, take_in};

fn folder(state: &State) -> PathBuf {
    empty_folder(env!("CARGO_TARGET_TMPDIR"), &format!("boards/{}", state.name))
}

#[test]
fn every_query_has_an_answer_on_a_day_on_which_everything_happens() {
    let folder = folder(&EVERYTHING);
    EVERYTHING.take_in(&folder);
    take_in(&by_hand::service("checkout"), &folder);
    record(&folder, &kept::dashboards().join("rules"), FROM + 1_800, TO);
    let prometheus = Server::prometheus(&folder, "[]");
    let mut unanswered = Vec::new();
    let mut asked = 0;
    for (name, board) in kept::read() {
        let (number, without) = unanswered_of(&prometheus, &board);
        asked += number;
        unanswered.extend(without.into_iter().map(|query| format!("{name}, {query}")));
    }
    assert!(asked > 100, "{asked} queries");
    assert!(unanswered.is_empty(), "no answer:\n  {}\n", unanswered.join("\n  "));
    verdicts_are_right(&prometheus, &EVERYTHING);
}

/// A verdict looks back an hour; pictures show three, and their command asks for all of them.
#[test]
fn every_state_has_the_verdict_it_is_named_after() {
    let from = if whole_days() { FROM + 1_800 } else { TO - 4_500 };
    for state in &STATES {
        let folder = folder(state);
        state.take_in(&folder);
        record(&folder, &kept::dashboards().join("rules"), from, TO);
        verdicts_are_right(&Server::prometheus(&folder, "[]"), state);
        assert!(Path::new(&folder).join("tsdb").exists(), "pictures are made of it");
    }
}
