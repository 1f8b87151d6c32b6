//! A panel of a picture: bars and lines over time, on an axis of its own.

use std::fmt::{self, Write};

use crate::simulate::timeline::{Span, Timeline};

/// The picture's width, in the units of all that follows.
pub(crate) const WIDTH: f64 = 960.0;
/// Room for the marks of the axes.
pub(crate) const LEFT: f64 = 64.0;
/// Room for half of the last mark of time.
pub(crate) const RIGHT: f64 = 24.0;
/// Room for the heading and the first captions.
pub(crate) const TOP: f64 = 60.0;
/// How high each panel is.
pub(crate) const PANEL: f64 = 120.0;
/// Room between panels, for captions.
pub(crate) const GAP: f64 = 48.0;

/// Colours that stay apart for eyes that mix red and green (Okabe and Ito, <https://jfly.uni-koeln.de/color/>).
pub(crate) const ARRIVED: &str = "#56606b";
pub(crate) const SERVED: &str = "#0072b2";
pub(crate) const THROTTLED: &str = "#d55e00";
pub(crate) const QUOTA: &str = "#009e73";
pub(crate) const GAVE_UP: &str = "#cc79a7";

/// One of the pictures above each other.
pub(crate) struct Panel<'a> {
    /// What is drawn.
    pub(crate) timeline: &'a Timeline,
    /// Where its upper edge is.
    pub(crate) top: f64,
    /// How high it is.
    pub(crate) height: f64,
    /// Whether its values hang down from the upper edge.
    pub(crate) hangs: bool,
    /// What the other edge stands for.
    pub(crate) most: f64,
    /// How a value becomes a height.
    pub(crate) scale: fn(f64) -> f64,
}

impl Panel<'_> {
    /// Where the span of this place begins.
    pub(crate) fn x(&self, place: usize) -> f64 {
        LEFT + (WIDTH - LEFT - RIGHT) * place as f64 / self.timeline.spans.len().max(1) as f64
    }

    /// How far down a value stands.
    pub(crate) fn y(&self, value: f64) -> f64 {
        let share = (self.scale)(value) / (self.scale)(self.most);
        self.top + self.height * if self.hangs { share } else { 1.0 - share }
    }

    /// The captions, the axis and its marks: nothing, half the height, all of it.
    pub(crate) fn frame(&self, out: &mut String, captions: &[(&str, String)]) -> fmt::Result {
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
    pub(crate) fn bars(&self, out: &mut String, colour: &str, value: impl Fn(&Span) -> (f64, f64)) -> fmt::Result {
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
    pub(crate) fn line(&self, out: &mut String) -> fmt::Result {
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
    pub(crate) fn times(&self, out: &mut String) -> fmt::Result {
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
        let y = self.top + self.height;
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
pub(crate) fn duration(seconds: f64) -> String {
    let units = [(86_400.0, "d"), (3_600.0, "h"), (60.0, "min")];
    let unit = units.into_iter().find(|(length, _)| seconds >= *length && seconds % length == 0.0);
    let (length, unit) = unit.unwrap_or((1.0, "s"));
    format!("{} {unit}", seconds / length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_of_time_is_named_in_its_largest_whole_unit() {
        let names = [0.0, 8.0, 90.0, 300.0, 7_200.0, 259_200.0].map(duration);
        assert_eq!(names, ["0 s", "8 s", "90 s", "5 min", "2 h", "3 d"]);
    }
}
