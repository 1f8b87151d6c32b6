//! The figures beside each other, as Markdown.

use std::fmt::{self, Display};

use super::cell::Cell;
use super::runs::{Row, Summary, Target, Who};

/// One of the four tables.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::exhaustive_structs, reason = "a section is these two")]
pub struct Section {
    /// Processes that know nothing of each other.
    pub processes: u32,
    /// Whether answers tell of the quota.
    pub headers: bool,
}

impl Section {
    /// All of them, in their order.
    pub const ALL: [Self; 4] = [
        Self { processes: 1, headers: true },
        Self { processes: 1, headers: false },
        Self { processes: 10, headers: true },
        Self { processes: 10, headers: false },
    ];

    /// Whether the storm stands in this one.
    #[must_use]
    pub const fn holds(&self, cell: &Cell) -> bool {
        self.processes == cell.processes && self.headers == cell.headers
    }
}

/// A table, and the counts below it.
#[derive(Debug)]
#[allow(clippy::exhaustive_structs, reason = "a table is its rows and columns")]
pub struct Table<'a> {
    /// Which of the four it is.
    pub section: Section,
    /// The storms.
    pub rows: &'a [Row],
    /// The columns.
    pub who: &'a [Who],
}

/// Cells of one kind that have a target.
#[derive(Clone, Copy, Debug, Default)]
#[allow(clippy::exhaustive_structs, reason = "counts")]
pub struct Hits {
    /// Cells.
    pub cells: usize,
    /// Those in which requests and drain are within the target.
    pub both: usize,
    /// Those in which requests are.
    pub requests: usize,
    /// Those in which the drain is.
    pub drain: usize,
}

impl Table<'_> {
    /// How many cells reach their target.
    #[must_use]
    pub fn hits(&self, who: usize) -> Hits {
        let mut hits = Hits::default();
        for row in self.rows {
            let Some(target) = Target::of(&row.cell) else { continue };
            let (requests, drain) = target.reached(&row.summary(who));
            hits.cells += 1;
            hits.both += usize::from(requests && drain);
            hits.requests += usize::from(requests);
            hits.drain += usize::from(drain);
        }
        hits
    }
}

impl Display for Table<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Section { processes, headers } = self.section;
        let plural = if processes == 1 { "One process" } else { "Ten processes" };
        let told = if headers { "with headers" } else { "without headers" };
        writeln!(f, "## {plural}, {told}\n")?;
        if let Some(target) = self.rows.first().and_then(|row| Target::of(&row.cell)) {
            let Target { above_floor, drain } = target;
            writeln!(f, "Target: at most floor + {above_floor} requests for each call, and {drain:.2} × the ideal.\n")?;
        }
        write!(f, "| callers | limit | refusals | service | floor | ideal, s |")?;
        self.who.iter().try_for_each(|who| write!(f, " {} |", who.as_str()))?;
        write!(f, "\n|--:|---|---|--:|--:|--:|")?;
        self.who.iter().try_for_each(|_| write!(f, "---|"))?;
        writeln!(f)?;
        for row in self.rows {
            let cell = &row.cell;
            let refusals = if cell.refusals_count { "counted" } else { "free" };
            let (floor, ideal) = (row.summary(0).floor, row.ideal_s());
            write!(f, "| {} | {} | {refusals} ", cell.callers, cell.count.as_str())?;
            write!(f, "| {} s | {floor:.2} | {ideal:.0} |", cell.service_s)?;
            for (place, who) in self.who.iter().enumerate() {
                let target = Target::of(cell).filter(|_| !matches!(who, Who::Peer(_)));
                write!(f, " {} |", Entry { summary: row.summary(place), target })?;
            }
            writeln!(f)?;
        }
        writeln!(f)?;
        for (place, who) in self.who.iter().enumerate() {
            let hits = self.hits(place);
            if hits.cells > 0 {
                let Hits { cells, both, requests, drain } = hits;
                let name = who.as_str();
                writeln!(
                    f,
                    "- {name}: {both} of {cells} cells within the target ({requests} by requests, {drain} by time)"
                )?;
            }
        }
        writeln!(f)
    }
}

/// One entry: requests for each call / the drain as a multiple of the ideal / the largest 100 ms.
struct Entry {
    summary: Summary,
    target: Option<Target>,
}

impl Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Summary { requests, drain, slowest, largest, served, .. } = self.summary;
        if served < 1.0 {
            return write!(f, "{requests:.0} / {:.0} % served / {largest:.0}", served * 100.0);
        }
        let (few, fast) = self.target.map_or((true, true), |target| target.reached(&self.summary));
        let mark = |reached| if reached { "" } else { "**" };
        let (few, fast) = (mark(few), mark(fast));
        write!(f, "{few}{requests:.2}{few} / {fast}{drain:.2}{fast}")?;
        // One seed that does much worse than the average is worth a word.
        if slowest > drain + 0.05 {
            write!(f, " ({slowest:.2})")?;
        }
        write!(f, " / {largest:.0}")
    }
}
