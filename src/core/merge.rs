//! How two pieces of news about a pool become one.
//!
//! | running | incoming | result |
//! |---|---|---|
//! | none, or over | any that lies ahead | incoming |
//! | stated | stated | later end |
//! | stated or assumed | guessed | running |
//! | guessed | stated or assumed | incoming, even if shorter: the provider knows |
//! | guessed | guessed | later end |
//! | assumed | stated, same class | incoming, even if shorter |
//! | assumed | stated, other class | later end |
//! | assumed | assumed | later end |
//!
//! The end that wins brings its class. Nothing else shortens a shut but a good probe and an operator.

use crate::core::moment::Moment;
use crate::core::signal::LimitClass;

/// How the end of a shut is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "the merge table covers exactly these")]
pub enum End {
    /// The provider stated it.
    Stated,
    /// Nobody stated it, but the class is sure: daily and spend limits. Ranks as told.
    Assumed,
    /// Nobody stated it.
    Guessed,
}

/// One piece of news: the pool is shut until then, because of this.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "news is exactly this")]
pub struct Shut {
    /// When it reopens.
    pub until: Moment,
    /// Why it is shut.
    pub class: LimitClass,
    /// How the end is known.
    pub end: End,
}

impl Shut {
    /// Whether the provider said it, or the class says it.
    #[must_use]
    pub const fn told(&self) -> bool {
        matches!(self.end, End::Stated | End::Assumed)
    }

    /// Whether waiting for it is pointless for a caller who waits now.
    #[must_use]
    pub const fn is_hard(&self) -> bool {
        matches!(self.class, LimitClass::Daily | LimitClass::Spend)
    }
}

/// What is known at `now` after `incoming` arrived while `running` held.
#[must_use]
pub fn merge(running: Option<Shut>, incoming: Shut, now: Moment) -> Option<Shut> {
    let running = running.filter(|running| running.until > now);
    if incoming.until <= now {
        return running;
    }
    let Some(running) = running else { return Some(incoming) };
    let incoming_wins = match (running.end, incoming.end) {
        (End::Guessed, End::Stated | End::Assumed) => true,
        (End::Stated | End::Assumed, End::Guessed) => false,
        (End::Assumed, End::Stated) if running.class == incoming.class => true,
        _ => incoming.until > running.until,
    };
    Some(if incoming_wins { incoming } else { running })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn at(seconds: u64) -> Moment {
        Moment::since_start(Duration::from_secs(seconds))
    }

    fn shut(seconds: u64, class: LimitClass, end: End) -> Shut {
        Shut { until: at(seconds), class, end }
    }

    #[test]
    fn every_row_of_the_table_holds() {
        use End::{Assumed, Guessed, Stated};
        use LimitClass::{Daily, RequestRate as Rate, Spend};
        let now = at(1);
        // (running, incoming, does the incoming win)
        let rows = [
            ((10, Rate, Stated), (5, Rate, Stated), false),
            ((10, Rate, Stated), (15, Rate, Stated), true),
            ((10, Rate, Stated), (30, Rate, Guessed), false),
            ((30, Rate, Guessed), (2, Rate, Stated), true),
            ((30, Rate, Guessed), (20, Rate, Guessed), false),
            ((30, Rate, Guessed), (40, Rate, Guessed), true),
            ((30, Rate, Guessed), (20, Spend, Assumed), true),
            ((90, Daily, Assumed), (50, Daily, Stated), true),
            ((90, Daily, Assumed), (50, Rate, Stated), false),
            ((90, Spend, Assumed), (95, Rate, Stated), true),
            ((90, Spend, Assumed), (95, Spend, Assumed), true),
            ((90, Daily, Stated), (80, Daily, Assumed), false),
        ];
        for (running, incoming, wins) in rows {
            let (running, incoming) = (shut(running.0, running.1, running.2), shut(incoming.0, incoming.1, incoming.2));
            let expected = if wins { incoming } else { running };
            assert_eq!(merge(Some(running), incoming, now), Some(expected), "{running:?} then {incoming:?}");
        }
    }

    #[test]
    fn news_of_the_past_changes_nothing_and_a_past_shut_gives_way() {
        let now = at(100);
        let old = shut(50, LimitClass::RequestRate, End::Stated);
        let ahead = shut(120, LimitClass::Overload, End::Guessed);
        assert_eq!(merge(None, old, now), None);
        assert_eq!(merge(Some(ahead), old, now), Some(ahead));
        assert_eq!(merge(Some(old), ahead, now), Some(ahead));
    }
}
