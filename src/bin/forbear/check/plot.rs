//! A check as a picture: how many of the throttled calls have succeeded, so long after they were refused.

use std::fmt::{self, Write};
use std::time::Duration;

use forbear::core::tune::{HumanDuration, HumanPercent, RetryLayer};

use super::Layer;

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 360.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 24.0;
const TOP: f64 = 64.0;
const BOTTOM: f64 = 52.0;
/// Points of each line.
const POINTS: u32 = 60;

/// Colours that stay apart for eyes that mix red and green (Okabe and Ito, <https://jfly.uni-koeln.de/color/>).
const CHECKED: &str = "#d55e00";
const SUGGESTED: &str = "#0072b2";
const BEST: &str = "#999999";

/// Draws it.
pub(super) fn svg(layer: &Layer) -> String {
    let mut out = String::new();
    // A string takes everything.
    let _ = draw(&mut out, layer);
    out
}

/// Which moments the lines are drawn at.
fn moments(deadline: Duration) -> impl Iterator<Item = Duration> {
    (1..=POINTS).map(move |point| deadline * point / POINTS)
}

/// How many of the throttled calls have succeeded, at each moment.
fn succeeded(layer: &RetryLayer, window: Duration, deadline: Duration) -> Vec<f64> {
    let by = |moment| layer.check(window, moment).map_or(0.0, |checked| checked.reach.coverage);
    moments(deadline).map(by).collect()
}

fn draw(out: &mut String, layer: &Layer) -> fmt::Result {
    let (window, deadline) = (layer.checked.window, layer.checked.deadline);
    let suggestion = &layer.checked.suggestion;
    let suggested = RetryLayer::new(suggestion.base, suggestion.attempts).cap(suggestion.cap);
    let best: Vec<_> = moments(deadline).map(|moment| (moment.as_secs_f64() / window.as_secs_f64()).min(1.0)).collect();
    let lines = [
        (BEST, "all that any numbers can reach", best),
        (SUGGESTED, "suggested numbers", succeeded(&suggested, window, deadline)),
        (CHECKED, "the numbers checked", succeeded(&layer.layer, window, deadline)),
    ];

    writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" \
         font-family=\"sans-serif\" font-size=\"12\" fill=\"#333\">"
    )?;
    writeln!(out, "<title>throttled calls that have succeeded, over time</title>")?;
    writeln!(out, "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>")?;
    let mut x = LEFT;
    for (colour, name, line) in &lines {
        let caption = format!("{name}: {}", HumanPercent(line.last().copied().unwrap_or_default()));
        writeln!(out, "<rect x=\"{x}\" y=\"19\" width=\"10\" height=\"10\" fill=\"{colour}\"/>")?;
        writeln!(out, "<text x=\"{}\" y=\"28\">{caption}</text>", x + 15.0)?;
        x += 32.0 + 6.6 * caption.len() as f64;
    }
    writeln!(out, "<text x=\"{LEFT}\" y=\"{}\">throttled calls that have succeeded</text>", TOP - 10.0)?;
    axes(out, window, deadline)?;
    for (colour, _, line) in &lines {
        write!(out, "<path fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\" d=\"M{LEFT} {:.1}", y(0.0))?;
        for (point, share) in line.iter().enumerate() {
            write!(out, "L{:.1} {:.1}", across(f64::from(point as u32 + 1) / f64::from(POINTS)), y(*share))?;
        }
        writeln!(out, "\"/>")?;
    }
    writeln!(out, "</svg>")
}

/// The marks of both axes, and the end of the window.
fn axes(out: &mut String, window: Duration, deadline: Duration) -> fmt::Result {
    for quarter in 0..=4 {
        let share = f64::from(quarter) / 4.0;
        writeln!(out, "<path d=\"M{LEFT} {0:.1}H{1}\" stroke=\"#ddd\"/>", y(share), WIDTH - RIGHT)?;
        writeln!(
            out,
            "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{:.0} %</text>",
            LEFT - 8.0,
            y(share) + 4.0,
            share * 100.0
        )?;
        let (x, moment) = (across(share), deadline * quarter / 4);
        writeln!(
            out,
            "<text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            y(0.0) + 20.0,
            HumanDuration(moment)
        )?;
    }
    if window < deadline {
        let x = across(window.as_secs_f64() / deadline.as_secs_f64());
        writeln!(out, "<path d=\"M{x:.1} {TOP}V{:.1}\" stroke=\"#999\" stroke-dasharray=\"4 4\"/>", y(0.0))?;
        writeln!(out, "<text x=\"{:.1}\" y=\"{:.1}\">the window's length</text>", x + 6.0, y(0.0) - 8.0)?;
    }
    let middle = (LEFT + WIDTH - RIGHT) / 2.0;
    writeln!(
        out,
        "<text x=\"{middle}\" y=\"{:.1}\" text-anchor=\"middle\">time since the first refusal</text>",
        y(0.0) + 40.0
    )
}

/// How far right a share of the deadline is.
fn across(share: f64) -> f64 {
    LEFT + (WIDTH - LEFT - RIGHT) * share
}

/// How far down a share of the calls is.
fn y(share: f64) -> f64 {
    TOP + (HEIGHT - TOP - BOTTOM) * (1.0 - share)
}
