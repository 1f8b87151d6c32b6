//! Several runs of the same traffic as one picture, below each other on one axis of time.
//!
//! Requests stand upwards, served ones at the bottom and throttled ones on top of them; calls that gave up hang down. All
//! runs have the same scales, square roots as in the picture of a single run.

use std::fmt::{self, Write};

use crate::simulate::plot::{ARRIVED, GAVE_UP, LEFT, Panel, SERVED, THROTTLED, TOP, WIDTH, duration};
use crate::simulate::timeline::{Span, Timeline};
use crate::simulate::what_if::{Change, Row};

/// How high requests stand.
const UP: f64 = 76.0;
/// How far calls that gave up hang down.
const DOWN: f64 = 36.0;
/// Room for a run's heading.
const HEADING: f64 = 34.0;
/// Room for the marks of time.
const TIMES: f64 = 52.0;

/// Draws it.
pub(super) fn svg(rows: &[Row], timelines: &[Timeline]) -> String {
    let mut out = String::new();
    // A string takes everything.
    let _ = draw(&mut out, rows, timelines);
    out
}

fn draw(out: &mut String, rows: &[Row], timelines: &[Timeline]) -> fmt::Result {
    let height = TOP + rows.len() as f64 * (HEADING + UP + DOWN) + TIMES;
    writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\" \
         font-family=\"sans-serif\" font-size=\"12\" fill=\"#333\">"
    )?;
    writeln!(out, "<title>the same traffic {} times, with one thing changed</title>", rows.len())?;
    writeln!(out, "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>")?;
    let span = timelines.first().map_or(0.0, |timeline| timeline.span.as_secs_f64());
    legend(out, &duration(span))?;

    let most = |count: fn(&Span) -> u32| {
        let spans = timelines.iter().flat_map(|timeline| &timeline.spans);
        f64::from(spans.map(count).max().unwrap_or(0).max(1))
    };
    let (most_requests, most_given_up) = (most(|span| span.served + span.throttled), most(|span| span.gave_up));
    let up = |number: usize| TOP + HEADING + number as f64 * (HEADING + UP + DOWN);
    let panel = |timeline, top, height, hangs, most| Panel { timeline, top, height, hangs, most, scale: f64::sqrt };
    let requests = |number, timeline| panel(timeline, up(number), UP, false, most_requests);
    let given_up = |number, timeline| panel(timeline, up(number) + UP, DOWN, true, most_given_up);
    // Below everything else, so that no mark cuts a bar.
    if let Some(last) = timelines.last() {
        given_up(rows.len() - 1, last).times(out)?;
    }
    for (number, (row, timeline)) in rows.iter().zip(timelines).enumerate() {
        writeln!(out, "<text x=\"{LEFT}\" y=\"{}\" font-size=\"14\">{}</text>", up(number) - 8.0, heading(row))?;
        let requests = requests(number, timeline);
        requests.frame(out, &[])?;
        requests.bars(out, SERVED, |span| (0.0, span.served.into()))?;
        requests.bars(out, THROTTLED, |span| (span.served.into(), (span.served + span.throttled).into()))?;
        given_up(number, timeline).bars(out, GAVE_UP, |span| (0.0, span.gave_up.into()))?;
    }
    writeln!(out, "</svg>")
}

/// What the colours mean.
fn legend(out: &mut String, span: &str) -> fmt::Result {
    let captions = [
        (SERVED, format!("requests served per {span}")),
        (THROTTLED, "requests throttled, on top of them".to_owned()),
        (GAVE_UP, format!("calls that gave up per {span}")),
    ];
    let mut x = LEFT;
    for (colour, caption) in captions {
        writeln!(out, "<rect x=\"{x}\" y=\"21\" width=\"10\" height=\"10\" fill=\"{colour}\"/>")?;
        writeln!(out, "<text x=\"{}\" y=\"30\" fill=\"{ARRIVED}\">{caption}</text>", x + 15.0)?;
        x += 40.0 + 7.0 * caption.len() as f64;
    }
    Ok(())
}

/// What a run is, and what came of it.
fn heading(row: &Row) -> String {
    let outcome = &row.outcome;
    let what = match row.change {
        Change::Today => "today".to_owned(),
        Change::SuggestedNumbers => "suggested numbers".to_owned(),
        Change::SharedGate => "behind a shared gate".to_owned(),
        Change::TwiceTheQuota => "with twice the quota".to_owned(),
    };
    let success = outcome.success_ratio.unwrap_or(0.0) * 100.0;
    format!(
        "{what}: {} of {} calls succeed ({success:.0} %), {} requests throttled",
        outcome.succeeded, outcome.calls, outcome.throttled
    )
}
