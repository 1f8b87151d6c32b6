//! What is seen while it runs.

use std::io::{IsTerminal, Write, stderr};
use std::time::Duration;

/// How often a line is printed where lines stay.
const EVERY: Duration = Duration::from_secs(3);

/// Progress on standard error: on a terminal the last lines again and again, elsewhere a line now and then.
pub(crate) struct Progress {
    /// Whether lines can be written over.
    in_place: bool,
    /// How many lines stand there to be written over.
    drawn: usize,
    /// When something was last shown.
    last: Option<Duration>,
}

impl Progress {
    /// As standard error is.
    pub(crate) fn new() -> Self {
        Self { in_place: stderr().is_terminal(), drawn: 0, last: None }
    }

    /// Shows these lines, one per service.
    pub(crate) fn show(&mut self, at: Duration, until: Option<Duration>, lines: &[String]) {
        if !self.in_place && self.last.is_some_and(|last| at < last + EVERY) {
            return;
        }
        self.last = Some(at);
        let of = until.map_or(String::new(), |until| format!(" of {} s", until.as_secs()));
        let title = format!("{} s{of}", at.as_secs());
        let text = if self.in_place {
            let block = std::iter::once(&title).chain(lines).map(|line| format!("\r\x1b[K{line}\n"));
            let up = if self.drawn > 0 { format!("\x1b[{}A", self.drawn) } else { String::new() };
            up + &block.collect::<String>()
        } else {
            format!("{title}: {}\n", lines.join("; "))
        };
        self.drawn = lines.len() + 1;
        // Whoever closed it does not want to see more.
        let _ = stderr().write_all(text.as_bytes());
    }

    /// Takes the last lines away, where they do not stay.
    pub(crate) fn clear(&mut self) {
        if self.in_place && self.drawn > 0 {
            let _ = write!(stderr(), "\x1b[{}A\r\x1b[J", self.drawn);
        }
        self.drawn = 0;
    }
}
