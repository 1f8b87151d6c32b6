//! The wait an error states, and where it stood: the first valid one in a fixed order.

use crate::core::moment::WallTime;
use crate::core::rule::Table;
use crate::core::rule::fact::{Fact, Facts};
use crate::core::rule::header::{Axis, AxisRole, When};
use crate::core::rule::judge::Judgement;
use crate::core::rule::seen::Seen;
use crate::core::signal::{LimitClass, Part, StatedDelay, TokenKind};

/// The wait stated by an error, counted from `now`:
///
/// 1. the finer header (`retry-after-ms`), unless zero
/// 2. `retry-after`
/// 3. a field of the body
/// 4. the text of the body, when it names a limit per day that no header of this answer describes
/// 5. the reset header of an exhausted axis, the longest
/// 6. the `RateLimit` field, the longest of what is exhausted
/// 7. the text of the body
pub(crate) fn stated(
    table: &Table,
    seen: &Seen,
    facts: &Facts,
    judgement: &Judgement,
    now: &dyn Fn() -> WallTime,
) -> Option<StatedDelay> {
    let in_header = |(when, row): (When, u8)| {
        StatedDelay::new(when.from(now), Part::Header, table.headers.rows[usize::from(row)].name)
    };
    let in_body = |(when, place): (When, &'static str)| StatedDelay::new(when.from(now), Part::Body, place);
    if let Some(told) = seen.finer_wait.or(seen.wait) {
        return Some(in_header(told));
    }
    if facts.is_empty() {
        let of_axes = reset_of_exhausted(table, seen, facts, judgement, now);
        return if seen.lists_nothing() { of_axes } else { of_axes.or_else(|| listed(seen, false, now)) };
    }
    let in_text = || longest(prose(table, facts).map(in_body));
    let daily_in_text_alone = judgement.names_a_day && !describes_a_day(table, seen, judgement.token_kind);

    facts
        .wait(table.fields)
        .map(in_body)
        .or_else(|| daily_in_text_alone.then(in_text).flatten())
        .or_else(|| reset_of_exhausted(table, seen, facts, judgement, now))
        .or_else(|| listed(seen, false, now))
        .or_else(in_text)
}

/// The longest; of equal ones the first.
fn longest(delays: impl Iterator<Item = StatedDelay>) -> Option<StatedDelay> {
    delays.reduce(|longest, next| if next.delay > longest.delay { next } else { longest })
}

/// The waits that stand in sentences, in the order of the texts.
fn prose<'a>(table: &'a Table, facts: &'a Facts) -> impl Iterator<Item = (When, &'static str)> + 'a {
    facts.iter().filter_map(|entry| match entry.fact {
        Fact::Prose(prose) => {
            let place =
                if entry.row == Facts::WHOLE_BODY { "body" } else { table.fields.rows[usize::from(entry.row)].path };
            prose.wait.map(|when| (when, place))
        }
        _ => None,
    })
}

/// Whether a header of this answer tells when the day's quota of this unit resets.
fn describes_a_day(table: &Table, seen: &Seen, kind: Option<TokenKind>) -> bool {
    let is_that_day = |class: LimitClass, axis_kind: Option<TokenKind>| {
        class == LimitClass::Daily && axis_kind.is_some() == kind.is_some()
    };
    let mut axes = table.headers.axes.iter().flatten().enumerate();
    axes.any(|(slot, axis)| is_that_day(axis.class, axis.token_kind) && seen.axes[slot].reset().is_some())
        || seen
            .listed_exhausted()
            .any(|quota| quota.reset.is_some() && quota.class.is_some_and(|class| is_that_day(class, quota.token_kind)))
}

/// The reset of what is used up: where several are, the latest, since a call needs all of them.
fn reset_of_exhausted(
    table: &Table,
    seen: &Seen,
    facts: &Facts,
    judgement: &Judgement,
    now: &dyn Fn() -> WallTime,
) -> Option<StatedDelay> {
    let axes = seen.told_axes(table.headers).filter_map(|(slot, axis)| {
        let counts = match axis.role {
            AxisRole::Reserve => false,
            AxisRole::Standing => true,
            AxisRole::Cause => seen.axes[slot].is_exhausted().unwrap_or_else(|| is_named(axis, judgement)),
        };
        let (when, row) = seen.axes[slot].reset().filter(|_| counts)?;
        Some(StatedDelay::new(when.from(now), Part::Header, table.headers.rows[usize::from(row)].name))
    });
    let of_axes = longest(axes);
    if facts.is_empty() && seen.lists_nothing() {
        return of_axes;
    }
    let repeated =
        facts.spent_resets(table.fields).map(|(_, when, place)| StatedDelay::new(when.from(now), Part::Body, place));
    longest(of_axes.into_iter().chain(listed(seen, true, now)).chain(repeated))
}

/// Whether the answer named the limit this axis describes.
fn is_named(axis: &Axis, judgement: &Judgement) -> bool {
    let same_side = axis.token_kind == judgement.token_kind
        || axis.token_kind == Some(TokenKind::Total) && judgement.token_kind.is_some()
        || judgement.token_kind == Some(TokenKind::Total) && axis.token_kind.is_some();
    judgement.named && axis.class == judgement.class && axis.class != LimitClass::Unknown && same_side
}

/// The latest reset of what the `RateLimit` fields say is used up; `own_header`: of those fields that have a header of their own.
fn listed(seen: &Seen, own_header: bool, now: &dyn Fn() -> WallTime) -> Option<StatedDelay> {
    longest(
        seen.listed_exhausted()
            .filter(|quota| quota.own_header == own_header)
            .filter_map(|quota| quota.reset.map(|when| StatedDelay::new(when.from(now), Part::Header, quota.place))),
    )
}
