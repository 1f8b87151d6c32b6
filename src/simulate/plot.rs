//! A run as a picture: what arrived, what was served and throttled, what was left of the quota, over time.
//!
//! The three panels share the axis of time and have a scale each. What was asked of the provider counts whoever asked as
//! long as it was one of the callers; other tenants show only in what is left of the quota.
//!
//! Counts stand on a square-root scale: a burst of a thousand and the three a second after it are both to be seen.

use std::fmt::{self, Write};

use crate::simulate::plan::Plan;
use crate::simulate::timeline::{Span, Timeline};

/// The picture's width, in the units of all that follows.
const WIDTH: f64 = 960.0;
/// Room for the marks of the axes.
const LEFT: f64 = 64.0;
/// Room for half of the last mark of time.
const RIGHT: f64 = 24.0;
/// Room for the heading and the first captions.
const TOP: f64 = 60.0;
/// How high each panel is.
const PANEL: f64 = 120.0;
/// Room between panels, for captions.
const GAP: f64 = 48.0;
/// The picture's height, with room for the marks of time.
const HEIGHT: f64 = TOP + 3.0 * PANEL + 2.0 * GAP + 52.0;

/// Colours that stay apart for eyes that mix red and green (Okabe and Ito, <https://jfly.uni-koeln.de/color/>).
const ARRIVED: &str = "#56606b";
const SERVED: &str = "#0072b2";
const THROTTLED: &str = "#d55e00";
const QUOTA: &str = "#009e73";

/// One of the pictures above each other.
struct Panel<'a> {
    /// What is drawn.
    timeline: &'a Timeline,
    /// Where its upper edge is.
    top: f64,
    /// What the top edge stands for.
    most: f64,
    /// How a value becomes a height.
    scale: fn(f64) -> f64,
}

/// Draws it.
pub(super) fn svg(timeline: &Timeline, plan: &Plan) -> String {
    let mut out = String::new();
    // A string takes everything.
    let _ = draw(&mut out, timeline, plan);
    out
}

/// The whole picture: heading, three panels, marks of time.
fn draw(out: &mut String, timeline: &Timeline, plan: &Plan) -> fmt::Result {
    let spans = &timeline.spans;
    let sum = |count: fn(&Span) -> u32| spans.iter().map(|span| u64::from(count(span))).sum::<u64>();
    let (arrived, served) = (sum(|span| span.arrivals), sum(|span| span.served));
    let throttled = sum(|span| span.throttled);
    writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" \
         font-family=\"sans-serif\" font-size=\"12\" fill=\"#333\">"
    )?;
    writeln!(out, "<title>{arrived} calls arrived, {served} requests served, {throttled} throttled</title>")?;
    writeln!(out, "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>")?;
    let engine = format!("{:?}", plan.engine).to_lowercase();
    let gate = format!("{:?}", plan.gate).to_lowercase();
    writeln!(out, "<text x=\"{LEFT}\" y=\"24\" font-size=\"15\">engine {engine}, gate {gate}</text>")?;
    let span = duration(timeline.span.as_secs_f64());

    let most = |count: fn(&Span) -> u32| f64::from(spans.iter().map(count).max().unwrap_or(0).max(1));
    let panel = |number: f64, most, scale| Panel { timeline, top: TOP + number * (PANEL + GAP), most, scale };

    let arrivals = panel(0.0, most(|span| span.arrivals), f64::sqrt);
    arrivals.frame(out, &[(ARRIVED, format!("calls arriving per {span} ({arrived})"))])?;
    arrivals.bars(out, ARRIVED, |span| (0.0, span.arrivals.into()))?;

    let requests = panel(1.0, most(|span| span.served + span.throttled), f64::sqrt);
    let captions = [
        (SERVED, format!("requests served per {span} ({served})")),
        (THROTTLED, format!("throttled, on top of them ({throttled})")),
    ];
    requests.frame(out, &captions)?;
    requests.bars(out, SERVED, |span| (0.0, span.served.into()))?;
    requests.bars(out, THROTTLED, |span| (span.served.into(), (span.served + span.throttled).into()))?;

    let quota = panel(2.0, 100.0, |share| share);
    quota.frame(out, &[(QUOTA, "left of the per-minute quota, %, at requests".to_owned())])?;
    quota.line(out)?;
    quota.times(out)?;
    writeln!(out, "</svg>")
}

impl Panel<'_> {
    /// Where the span of this place begins.
    fn x(&self, place: usize) -> f64 {
        LEFT + (WIDTH - LEFT - RIGHT) * place as f64 / self.timeline.spans.len().max(1) as f64
    }

    /// How far down a value stands.
    fn y(&self, value: f64) -> f64 {
        self.top + PANEL * (1.0 - (self.scale)(value) / (self.scale)(self.most))
    }

    /// The captions, the axis and its marks: nothing, half the height, all of it.
    fn frame(&self, out: &mut String, captions: &[(&str, String)]) -> fmt::Result {
        let mut x = LEFT;
        for (colour, caption) in captions {
            let y = self.top - 10.0;
            writeln!(out, "<rect x=\"{x}\" y=\"{}\" width=\"10\" height=\"10\" fill=\"{colour}\"/>", y - 9.0)?;
            writeln!(out, "<text x=\"{}\" y=\"{y}\">{caption}</text>", x + 15.0)?;
            x += 40.0 + 7.0 * caption.len() as f64;
        }
        let half = if (self.scale)(self.most) == self.most { self.most / 2.0 } else { self.most / 4.0 };
        let marks = if half.fract() == 0.0 { vec![0.0, half, self.most] } else { vec![0.0, self.most] };
        for mark in marks {
            let y = self.y(mark);
            writeln!(out, "<path d=\"M{LEFT} {y:.1}H{}\" stroke=\"#ddd\"/>", WIDTH - RIGHT)?;
            writeln!(out, "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{mark}</text>", LEFT - 6.0, y + 4.0)?;
        }
        Ok(())
    }

    /// A bar for each span that has something, from the first value to the second.
    fn bars(&self, out: &mut String, colour: &str, value: impl Fn(&Span) -> (f64, f64)) -> fmt::Result {
        write!(out, "<path fill=\"{colour}\" d=\"")?;
        for (place, span) in self.timeline.spans.iter().enumerate() {
            let (from, to) = value(span);
            if to > from {
                let (x, end) = (self.x(place), self.x(place + 1));
                write!(out, "M{x:.1} {:.1}H{end:.1}V{:.1}H{x:.1}Z", self.y(to), self.y(from))?;
            }
        }
        writeln!(out, "\"/>")
    }

    /// The least that was left in each span in which anybody asked; between them nobody knows.
    fn line(&self, out: &mut String) -> fmt::Result {
        write!(out, "<path fill=\"none\" stroke=\"{QUOTA}\" stroke-width=\"1.5\" d=\"")?;
        let mut known_before = false;
        for (place, span) in self.timeline.spans.iter().enumerate() {
            if let Some(left) = span.quota_left {
                let (x, end, y) = (self.x(place), self.x(place + 1), self.y(left * 100.0));
                write!(out, "{}{x:.1} {y:.1}H{end:.1}", if known_before { 'L' } else { 'M' })?;
            }
            known_before = span.quota_left.is_some();
        }
        writeln!(out, "\"/>")
    }

    /// The marks of the time axis, below everything.
    fn times(&self, out: &mut String) -> fmt::Result {
        const STEPS: [f64; 15] = [
            1.0,
            5.0,
            15.0,
            60.0,
            300.0,
            900.0,
            1_800.0,
            3_600.0,
            7_200.0,
            21_600.0,
            43_200.0,
            86_400.0,
            172_800.0,
            604_800.0,
            2_592_000.0,
        ];
        let all = self.timeline.span.as_secs_f64() * self.timeline.spans.len() as f64;
        let step = STEPS.into_iter().find(|step| all / step <= 10.0).unwrap_or(all.max(1.0));
        let y = self.top + PANEL;
        let mut at = 0.0;
        while at <= all {
            let x = LEFT + (WIDTH - LEFT - RIGHT) * at / all.max(1.0);
            writeln!(out, "<path d=\"M{x:.1} {TOP}V{:.1}\" stroke=\"#ddd\" stroke-dasharray=\"2 4\"/>", y + 5.0)?;
            writeln!(out, "<text x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>", y + 20.0, duration(at))?;
            at += step;
        }
        let middle = (LEFT + WIDTH - RIGHT) / 2.0;
        writeln!(out, "<text x=\"{middle}\" y=\"{}\" text-anchor=\"middle\">time since the start</text>", y + 40.0)
    }
}

/// `90 s`, `5 min`, `2 h`, `3 d`: the largest unit of which it is a whole number.
fn duration(seconds: f64) -> String {
    let units = [(86_400.0, "d"), (3_600.0, "h"), (60.0, "min")];
    let unit = units.into_iter().find(|(length, _)| seconds >= *length && seconds % length == 0.0);
    let (length, unit) = unit.unwrap_or((1.0, "s"));
    format!("{} {unit}", seconds / length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::{Scenario, Simulation};

    #[test]
    fn a_span_of_time_is_named_in_its_largest_whole_unit() {
        let names = [0.0, 8.0, 90.0, 300.0, 7_200.0, 259_200.0].map(duration);
        assert_eq!(names, ["0 s", "8 s", "90 s", "5 min", "2 h", "3 d"]);
    }

    #[test]
    fn a_picture_tells_the_counts_of_the_run_it_shows() {
        let json = r#"{"provider": {"requests_per_minute": 20}, "gate": "none", "limit_configured": false,
            "callers": {"arrivals": {"burst": {"size": 50}}}}"#;
        let scenario: Scenario = json.parse().expect("a scenario");
        let run = Simulation::of(&scenario).plotted().run().expect("in range");
        let (outcome, svg) = (run.outcome, run.plot.expect("asked for"));
        let title = format!(
            "<title>{} calls arrived, {} requests served, {} throttled</title>",
            outcome.calls, outcome.succeeded, outcome.throttled
        );
        assert!(svg.contains(&title), "{title}");
        assert_eq!(svg.matches("<path fill=").count(), 4, "three kinds of bars and a line");
        assert!(svg.ends_with("</svg>\n"));
    }
}
