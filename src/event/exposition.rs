//! The text formats of Prometheus and OpenMetrics, as far as the catalogue needs them.
//!
//! <https://prometheus.io/docs/instrumenting/exposition_formats/> and <https://prometheus.io/docs/specs/om/open_metrics_spec/>.

use std::fmt::{self, Write};

use crate::event::PoolLabels;
use crate::event::metric::{Kind, Row};

/// Which of the two formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// Prometheus text 0.0.4: what a scrape reads.
    Prometheus,
    /// OpenMetrics 1.0: what `promtool tsdb create-blocks-from openmetrics` reads.
    OpenMetrics,
}

/// The lines before a family's series.
pub(crate) fn head(out: &mut impl Write, format: Format, row: &Row) -> fmt::Result {
    let kind = match row.kind {
        Kind::Counter => "counter",
        Kind::Gauge => "gauge",
        Kind::Histogram => "histogram",
    };
    // OpenMetrics names a counter's family without the suffix of its series.
    let family = match (format, row.kind) {
        (Format::OpenMetrics, Kind::Counter) => row.prometheus.trim_end_matches("_total"),
        _ => row.prometheus,
    };
    writeln!(out, "# HELP {family} {}", row.help)?;
    writeln!(out, "# TYPE {family} {kind}")
}

/// `name{provider="…",pool="…",label="…"} value`, without an end of line.
pub(crate) fn line(
    out: &mut impl Write,
    name: impl fmt::Display,
    pool: Option<&PoolLabels>,
    labels: &[(&str, &str)],
    value: impl fmt::Display,
) -> fmt::Result {
    write!(out, "{name}")?;
    let pool = pool.map(|pool| [("provider", pool.provider), ("pool", &*pool.pool)]);
    let mut open = '{';
    for (key, word) in pool.iter().flatten().chain(labels) {
        write!(out, "{open}{key}=\"{}\"", Escaped(word))?;
        open = ',';
    }
    if open == ',' {
        out.write_char('}')?;
    }
    write!(out, " {value}")
}

/// A label value with the three characters escaped that would end it.
struct Escaped<'a>(&'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|c| match c {
            '\\' => f.write_str("\\\\"),
            '"' => f.write_str("\\\""),
            '\n' => f.write_str("\\n"),
            c => f.write_char(c),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_cannot_end_its_label() {
        let mut out = String::new();
        let pool = PoolLabels::new("generic", "a\"} 1\nforbear_x{b=\"c\\");
        line(&mut out, "forbear_x", Some(&pool), &[("le", "+Inf")], 2.5).expect("a string takes everything");
        assert_eq!(out, r#"forbear_x{provider="generic",pool="a\"} 1\nforbear_x{b=\"c\\",le="+Inf"} 2.5"#);
    }

    #[test]
    fn a_line_without_labels_has_no_braces() {
        let mut out = String::new();
        line(&mut out, "forbear_store_up", None, &[], 1).expect("a string takes everything");
        assert_eq!(out, "forbear_store_up 1");
    }
}
