//! How far long work has come: a line on a terminal that is written over, and nothing elsewhere.

use std::io::{IsTerminal, Write, stderr};
use std::time::Duration;

use forbear::clock::Clock;

/// How often the line is written anew.
const EVERY: Duration = Duration::from_millis(100);

/// The line. It is gone when this is dropped.
pub(crate) struct Progress {
    on_terminal: bool,
    clock: Clock,
    /// When it is written next. What is done by then shows nothing.
    next: Duration,
    drawn: bool,
}

impl Progress {
    /// Nothing shown yet.
    pub(crate) fn new() -> Self {
        Self { on_terminal: stderr().is_terminal(), clock: Clock::new(), next: 3 * EVERY, drawn: false }
    }

    /// Shows `text`, if it is time to.
    pub(crate) fn show(&mut self, text: impl FnOnce() -> String) {
        if !self.on_terminal || self.clock.now().elapsed_since_start() < self.next {
            return;
        }
        self.next = self.clock.now().elapsed_since_start() + EVERY;
        self.drawn = true;
        // Whoever closed it does not want to see more.
        let _ = write!(stderr(), "\r\x1b[K{}", text());
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.drawn {
            let _ = write!(stderr(), "\r\x1b[K");
        }
    }
}
