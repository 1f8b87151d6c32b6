//! The files in `dashboards/` are what is built here. After a change:
//! `FORBEAR_WRITE_BOARDS=1 cargo test -p forbear --features simulate --test boards kept`.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::board::Board;
use crate::states::STATES;
use crate::{diagnosis, gate, overview, replicas};

/// All boards.
pub(crate) fn boards() -> Vec<Board> {
    vec![overview::board(), diagnosis::board(), gate::board(), replicas::board()]
}

/// Where boards, rules and runbooks are kept.
pub(crate) fn dashboards() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("dashboards")
}

/// Where a board is kept.
pub(crate) fn file(name: &str) -> PathBuf {
    dashboards().join(name).with_extension("json")
}

/// The boards as they are kept, by their names.
pub(crate) fn read() -> Vec<(&'static str, Value)> {
    let one = |board: Board| {
        let text = fs::read_to_string(file(board.name)).expect("a board");
        (board.name, serde_json::from_str(&text).expect("JSON"))
    };
    boards().into_iter().map(one).collect()
}

/// Whoever clones the project takes them along, and they are drawn anew with every change of a board.
#[test]
fn there_is_a_small_picture_of_every_board_in_every_state() {
    const MOST_BYTES: u64 = 100_000;
    for state in &STATES {
        for board in boards() {
            let picture = dashboards().join("pictures").join(format!("{}-{}.png", state.name, board.name));
            let size = fs::metadata(&picture).unwrap_or_else(|error| panic!("{}: {error}", picture.display())).len();
            assert!(size <= MOST_BYTES, "{}: {size} bytes", picture.display());
        }
    }
}

#[test]
fn the_kept_boards_are_what_is_built_here() {
    for board in boards() {
        let mut text = serde_json::to_string_pretty(&board.json()).expect("JSON");
        text.push('\n');
        let file = file(board.name);
        if std::env::var_os("FORBEAR_WRITE_BOARDS").is_some() {
            fs::write(&file, &text).expect("written");
        }
        let found = fs::read_to_string(&file).unwrap_or_default();
        assert!(found == text, "{} is not what is built here: see the head of this file", file.display());
    }
}
