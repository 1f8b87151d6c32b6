//! A run as a picture: what arrived, what was served and throttled, what was left of the quota, over time.
//!
//! The three panels share the axis of time and have a scale each. What was asked of the provider counts whoever asked as
//! long as it was one of the callers; other tenants show only in what is left of the quota.
//!
//! Counts stand on a square-root scale: a burst of a thousand and the three a second after it are both to be seen.

mod panel;

use std::fmt::{self, Write};

use crate::simulate::plan::Plan;
use crate::simulate::timeline::{Span, Timeline};

pub(super) use panel::{ARRIVED, GAVE_UP, LEFT, Panel, SERVED, THROTTLED, TOP, WIDTH, duration};
use panel::{GAP, PANEL, QUOTA};

/// The picture's height, with room for the marks of time.
const HEIGHT: f64 = TOP + 3.0 * PANEL + 2.0 * GAP + 52.0;

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
    let panel = |number: f64, most, scale| Panel {
        timeline,
        top: TOP + number * (PANEL + GAP),
        height: PANEL,
        hangs: false,
        most,
        scale,
    };

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

#[cfg(test)]
mod tests {
    use crate::simulate::{Scenario, Simulation};

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
