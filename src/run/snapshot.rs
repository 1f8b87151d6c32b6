//! A pool at one moment, as plain data.

use std::fmt;
use std::time::Duration;

use crate::core::gate::Look;
use crate::core::limit::Limit;
use crate::core::moment::Moment;
use crate::core::signal::{LimitClass, QuotaReading};
use crate::event::GateState;
use crate::run::gauges::most_shut;
use crate::run::pool::Shared;

/// A pool at one moment, as plain data: for an operator's page, a log line, a test.
///
/// Made by [`Pool::snapshot`](crate::Pool::snapshot) and [`Forbear::pools`](crate::Forbear::pools). Displays as one line:
/// `openai prod/gpt: shut for request_rate, reopens in 12.0s (told), 3 waiting, 0 in flight`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PoolSnapshot {
    /// The provider table's id.
    pub provider: &'static str,
    /// The names of the path, widest first, as the application gave them.
    pub path: Vec<String>,
    /// What its gate does with calls: that of the most shut level of the path.
    pub state: GateState,
    /// While it is shut: why, and until when.
    pub shut: Option<ShutSnapshot>,
    /// While it is paced: one call passes per so long, on the average.
    pub interval: Option<Duration>,
    /// The operator's reason, if one paces the pool, or a level above it, by hand.
    pub paced_by_hand: Option<String>,
    /// How many requests may be in flight, if that was learned from a throttle.
    pub in_flight_limit: Option<u32>,
    /// Requests in flight, streams that hold their permit included.
    pub in_flight: u32,
    /// Calls that wait at the gate.
    pub waiting: usize,
    /// The limits the application set.
    pub limits: Vec<Limit>,
    /// What answers last said of limits, and how long ago each was read.
    pub readings: Vec<(QuotaReading, Duration)>,
}

/// Why a pool is shut, and until when.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ShutSnapshot {
    /// The limit that was hit; `none` where an operator shut it.
    pub class: LimitClass,
    /// How long from now until it reopens. A probe may reopen it sooner.
    pub reopens_in: Duration,
    /// Whether the provider, or an operator, said how long; else it was guessed.
    pub told: bool,
    /// The operator's reason, if one shut it.
    pub by_hand: Option<String>,
    /// The names of the level that is shut: the whole path, or its beginning.
    pub level: Vec<String>,
}

impl PoolSnapshot {
    pub(super) fn of(pool: &Shared) -> Self {
        let now = pool.clock().now();
        let look = most_shut(&pool.node, now);
        let interval = match look {
            Look::Paced(interval) => Some(interval),
            Look::Flowing | Look::Shut(_) => None,
        };
        let board = pool.board();
        Self {
            provider: pool.table.id,
            path: pool.path.to_vec(),
            state: GateState::of(&look),
            shut: ShutSnapshot::of(pool, now),
            interval,
            paced_by_hand: pool.node.path().find_map(|node| node.paced_by_hand_for(now)).map(String::from),
            in_flight_limit: pool.node.in_flight_limit(),
            in_flight: pool.node.in_flight(),
            waiting: pool.node.waiting(),
            limits: board.configured.clone(),
            readings: board.readings().iter().map(|(reading, at)| (*reading, at.until(now))).collect(),
        }
    }
}

impl ShutSnapshot {
    /// Of the level of the path that is shut the longest.
    fn of(pool: &Shared, now: Moment) -> Option<Self> {
        let levels = pool.node.path().enumerate().filter_map(|(above, node)| match node.look(now) {
            Look::Shut(shut) => Some((above + 1, node, shut)),
            Look::Flowing | Look::Paced(_) => None,
        });
        let (names, node, shut) = levels.max_by_key(|(.., shut)| shut.until)?;
        Some(Self {
            class: shut.class,
            reopens_in: now.until(shut.until),
            told: shut.told(),
            by_hand: node.shut_by_hand_for(now).filter(|_| shut.class == LimitClass::None).map(String::from),
            level: pool.path[..names].to_vec(),
        })
    }
}

/// Names as one line shows them: they may be a customer's, and a line of a log has to stay one.
fn in_line(names: &[String]) -> String {
    names.join("/").replace(char::is_control, "\u{fffd}")
}

impl fmt::Display for PoolSnapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: {}", self.provider, in_line(&self.path), self.state)?;
        if let Some(shut) = &self.shut {
            match &shut.by_hand {
                Some(reason) => write!(f, " by hand ({reason})")?,
                None => write!(f, " for {}", shut.class)?,
            }
            if shut.level.len() < self.path.len() {
                write!(f, " at {}", in_line(&shut.level))?;
            }
            write!(f, ", reopens in {:.1?} ({})", shut.reopens_in, if shut.told { "told" } else { "guessed" })?;
        }
        if let Some(interval) = self.interval {
            write!(f, ", one call per {interval:.1?}")?;
        }
        if let Some(reason) = &self.paced_by_hand {
            write!(f, ", paced by hand ({reason})")?;
        }
        write!(f, ", {} waiting, {} in flight", self.waiting, self.in_flight)?;
        match self.in_flight_limit {
            Some(limit) => write!(f, " of {limit}"),
            None => Ok(()),
        }
    }
}
