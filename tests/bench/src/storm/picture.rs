//! What comes after a reopening, as a picture: requests in each tenth of a second, served and refused.
//!
//! Counts stand on a square-root scale, one for all rows: eight hundred at once and ten are both to be seen.

use std::fmt::{self, Write};
use std::time::Duration;

use forbear::core::moment::Moment;
use forbear::simulate::{Scenario, Simulation};

use super::cell::{Cell, Count};
use super::rules::Rule;
use super::{crowd, ours};

/// The storm of the picture.
const CELL: Cell = Cell {
    callers: 1_000,
    count: Count::FixedWindow,
    headers: true,
    refusals_count: false,
    service_s: 2,
    processes: 1,
};
const SEED: u64 = 2;
/// What one bar stands for.
const BAR: Duration = Duration::from_millis(100);
/// Bars from the one in which the window ends on.
const BARS: usize = 50;
/// Bars before.
const BARS_BEFORE: usize = 10;

const WIDTH: f64 = 960.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 24.0;
const TOP: f64 = 64.0;
const ROW: f64 = 110.0;
const GAP: f64 = 44.0;

/// Colours that stay apart for eyes that mix red and green (Okabe and Ito, <https://jfly.uni-koeln.de/color/>).
const SERVED: &str = "#0072b2";
const REFUSED: &str = "#d55e00";

/// A row: its name, and how many were served and refused in each bar.
struct Row {
    name: &'static str,
    bars: Vec<(u32, u32)>,
}

/// The picture as SVG.
///
/// # Panics
/// Where the simulator refuses the storm: a mistake in this benchmark.
#[must_use]
pub fn svg() -> String {
    let rows = [ours_row(), peer(Rule::SleepRetryAfter), peer(Rule::Pause), peer(Rule::RetryPolicies)];
    let mut out = String::new();
    // A string takes everything.
    let _ = draw(&mut out, &rows);
    out
}

fn ours_row() -> Row {
    let json = ours::scenario(&CELL, SEED, false, "forbear");
    let scenario: Scenario = json.parse().unwrap_or_else(|error| panic!("{error}: {json}"));
    let run = Simulation::of(&scenario).requests_listed().run().unwrap_or_else(|error| panic!("{error}: {json}"));
    let mut bars = Bars::default();
    run.requests.into_iter().flatten().for_each(|request| bars.add(request.at, request.served));
    Row { name: "forbear", bars: bars.0 }
}

fn peer(rule: Rule) -> Row {
    let mut bars = Bars::default();
    let ideal_s = ours::ideal(&CELL, SEED);
    let mut watch = |at: Moment, served| bars.add(at.elapsed_since_start(), served);
    crowd::run(&CELL, rule, SEED, ideal_s, &mut watch);
    Row { name: rule.as_str(), bars: bars.0 }
}

/// Counts around the end of the first window.
struct Bars(Vec<(u32, u32)>);

impl Default for Bars {
    fn default() -> Self {
        Self(vec![(0, 0); BARS_BEFORE + BARS])
    }
}

impl Bars {
    fn add(&mut self, at: Duration, served: bool) {
        let begins = Cell::window_ends_at(SEED).saturating_sub(BAR * BARS_BEFORE as u32);
        let Some(since) = at.checked_sub(begins) else { return };
        if let Some(bar) = self.0.get_mut((since.as_nanos() / BAR.as_nanos()) as usize) {
            bar.0 += u32::from(served);
            bar.1 += u32::from(!served);
        }
    }
}

fn draw(out: &mut String, rows: &[Row]) -> fmt::Result {
    let height = TOP + rows.len() as f64 * (ROW + GAP) + 24.0;
    let most = rows.iter().flat_map(|row| row.bars.iter().map(|(served, refused)| served + refused)).max();
    let most = f64::from(most.unwrap_or(1).max(1));
    writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" \
         height=\"{height}\" font-family=\"sans-serif\" font-size=\"12\" fill=\"#333\">"
    )?;
    writeln!(out, "<title>Requests in each 100 ms around the end of the first window</title>")?;
    writeln!(out, "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>")?;
    let (callers, quota) = (CELL.callers, CELL.quota());
    writeln!(
        out,
        "<text x=\"{LEFT}\" y=\"24\" font-size=\"15\">{callers} callers against {quota} requests a minute: what comes \
         when the window begins anew</text>"
    )?;
    for (x, colour, words) in [(LEFT, SERVED, "served"), (LEFT + 90.0, REFUSED, "refused")] {
        writeln!(out, "<rect x=\"{x}\" y=\"35\" width=\"10\" height=\"10\" fill=\"{colour}\"/>")?;
        writeln!(out, "<text x=\"{}\" y=\"44\">{words}</text>", x + 15.0)?;
    }
    writeln!(out, "<text x=\"{}\" y=\"44\">requests in each 100 ms, square-root scale</text>", LEFT + 180.0)?;
    for (number, row) in rows.iter().enumerate() {
        draw_row(out, row, TOP + 20.0 + number as f64 * (ROW + GAP), most)?;
    }
    let bottom = TOP + rows.len() as f64 * (ROW + GAP) - GAP + 20.0;
    for second in -1..=(BARS / 10) as i64 {
        let x = x_of((second + 1) as f64 * 10.0);
        writeln!(out, "<text x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\">{second} s</text>", bottom + 20.0)?;
    }
    writeln!(out, "</svg>")
}

fn draw_row(out: &mut String, row: &Row, top: f64, most: f64) -> fmt::Result {
    let y = |value: u32| top + ROW * (1.0 - (f64::from(value) / most).sqrt());
    let sum = |of: fn(&(u32, u32)) -> u32| row.bars.iter().map(of).sum::<u32>();
    let (served, refused) = (sum(|bar| bar.0), sum(|bar| bar.1));
    let largest = row.bars.iter().map(|bar| bar.0 + bar.1).max().unwrap_or(0);
    writeln!(
        out,
        "<text x=\"{LEFT}\" y=\"{:.1}\"><tspan font-weight=\"bold\">{}</tspan>: {served} served, {refused} refused, at \
         most {largest} in 100 ms</text>",
        top - 6.0,
        row.name
    )?;
    for mark in [0, most as u32 / 4, most as u32] {
        writeln!(out, "<path d=\"M{LEFT} {:.1}H{}\" stroke=\"#ddd\"/>", y(mark), WIDTH - RIGHT)?;
        writeln!(out, "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{mark}</text>", LEFT - 6.0, y(mark) + 4.0)?;
    }
    let zero = x_of(BARS_BEFORE as f64);
    writeln!(out, "<path d=\"M{zero:.1} {top:.1}V{:.1}\" stroke=\"#888\" stroke-dasharray=\"3 3\"/>", top + ROW)?;
    for (colour, refused) in [(SERVED, false), (REFUSED, true)] {
        write!(out, "<path fill=\"{colour}\" d=\"")?;
        for (place, bar) in row.bars.iter().enumerate() {
            let (from, to) = if refused { (bar.0, bar.0 + bar.1) } else { (0, bar.0) };
            if to > from {
                let (x, end) = (x_of(place as f64), x_of(place as f64 + 1.0));
                write!(out, "M{x:.1} {:.1}H{end:.1}V{:.1}H{x:.1}Z", y(to), y(from))?;
            }
        }
        writeln!(out, "\"/>")?;
    }
    Ok(())
}

fn x_of(bar: f64) -> f64 {
    LEFT + (WIDTH - LEFT - RIGHT) * bar / (BARS_BEFORE + BARS) as f64
}
