//! Metrics of a time that is not now, as OpenMetrics text that `promtool tsdb create-blocks-from openmetrics` takes in.
//!
//! Each scrape is noted with its own time; at the end each family is written as one block, each series with all its
//! samples in a row, as the format wants it (<https://prometheus.io/docs/specs/om/open_metrics_spec/>).

use std::collections::HashMap;
use std::io::{self, Write};

use crate::event::catalogue::Metric;
use crate::event::exposition::{self, Format};
use crate::event::sink::Sample;
use crate::event::totals::Totals;

/// Scrapes of one or more processes, noted to be written as one file.
///
/// Memory grows by 16 bytes with each sample.
///
/// ```
/// use forbear::core::moment::Moment;
/// use forbear::event::{Event, PoolLabels, backfill::Backfill, sink::Sink, totals::Totals};
/// let totals = Totals::new();
/// totals.listen(&PoolLabels::new("openai", "gpt")).hear(Moment::START, &Event::RequestSent);
/// let mut backfill = Backfill::new("forbear");
/// backfill.scrape(1_700_000_000.0, "replica-1", &totals, &mut |_| {});
/// let mut text = Vec::new();
/// backfill.write(&mut text)?;
/// assert!(String::from_utf8(text).unwrap().contains(
///     r#"forbear_wire_requests_total{job="forbear",instance="replica-1",provider="openai",pool="gpt"} 1 1700000000"#
/// ));
/// # std::io::Result::Ok(())
/// ```
#[derive(Debug)]
pub struct Backfill {
    job: String,
    families: Vec<Family>,
}

/// The series of one metric, in the order in which they first appeared.
#[derive(Debug, Default)]
struct Family {
    places: HashMap<String, usize>,
    series: Vec<(String, Vec<(f64, f64)>)>,
}

/// What a gauge source hands its samples to.
type Visit<'v> = &'v mut dyn FnMut(Sample<'_>);

impl Backfill {
    /// Nothing scraped yet; `job` is the label of that name.
    #[must_use]
    pub fn new(job: &str) -> Self {
        let families = Metric::ALL.iter().map(|_| Family::default()).collect();
        Self { job: job.to_owned(), families }
    }

    /// Notes all that `totals` hold, and the samples of `gauges`, as scraped from `instance` at `unix_seconds`. The scrapes
    /// of one instance come in the order of their time.
    pub fn scrape(&mut self, unix_seconds: f64, instance: &str, totals: &Totals, gauges: &mut dyn FnMut(Visit<'_>)) {
        let scraped_from = format!("job=\"{}\",instance=\"{instance}\"", self.job);
        let families = &mut self.families;
        let mut note = |metric: Metric, line: &str| {
            let Some((series, value)) = line.rsplit_once(' ') else { return };
            let Ok(value) = value.parse() else { return };
            families[metric as usize].note(labelled(series, &scraped_from), unix_seconds, value);
        };
        totals.lines(&mut note);
        gauges(&mut |sample| note(sample.metric, &sample.to_string()));
    }

    /// Writes what was noted, with the end mark.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        for (metric, family) in Metric::ALL.iter().zip(&self.families).filter(|(_, family)| !family.series.is_empty()) {
            let mut head = String::new();
            // A string takes everything.
            let _ = exposition::head(&mut head, Format::OpenMetrics, metric.row());
            out.write_all(head.as_bytes())?;
            for (series, samples) in &family.series {
                samples.iter().try_for_each(|(at, value)| writeln!(out, "{series} {value} {at}"))?;
            }
        }
        writeln!(out, "# EOF")
    }
}

impl Family {
    fn note(&mut self, series: String, at: f64, value: f64) {
        let place = *self.places.entry(series).or_insert_with_key(|series| {
            self.series.push((series.clone(), Vec::new()));
            self.series.len() - 1
        });
        self.series[place].1.push((at, value));
    }
}

/// `name{labels}` with more labels before its own.
fn labelled(series: &str, more: &str) -> String {
    match series.split_once('{') {
        Some((name, rest)) => format!("{name}{{{more},{rest}"),
        None => format!("{series}{{{more}}}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::moment::Moment;
    use crate::event::sink::Sink;
    use crate::event::{Event, PoolLabels};

    #[test]
    fn a_family_is_one_block_and_a_series_rises_in_time_in_it() {
        let pool = PoolLabels::new("generic", "a");
        let totals = [Totals::new(), Totals::new()];
        let ears = totals.each_ref().map(|totals| totals.listen(&pool));
        let mut backfill = Backfill::new("test");
        for scrape in 1..=2 {
            for (instance, (totals, ear)) in ["x", "y"].into_iter().zip(totals.iter().zip(&ears)) {
                ear.hear(Moment::START, &Event::RequestSent);
                backfill.scrape(f64::from(scrape) * 15.0, instance, totals, &mut |visit| {
                    visit(Sample::new(Metric::Replicas, None, &[], 2.0));
                });
            }
        }
        let mut text = Vec::new();
        backfill.write(&mut text).expect("a vector takes everything");
        let text = String::from_utf8(text).expect("text");
        let requests: Vec<_> = text.lines().filter(|line| line.contains("wire_requests")).collect();
        let line = |instance, value, at| {
            let labels = format!("job=\"test\",instance=\"{instance}\",provider=\"generic\",pool=\"a\"");
            format!("forbear_wire_requests_total{{{labels}}} {value} {at}")
        };
        assert_eq!(requests[1], "# TYPE forbear_wire_requests counter");
        assert_eq!(requests[2..], [line("x", 1, 15), line("x", 2, 30), line("y", 1, 15), line("y", 2, 30)]);
        assert!(text.contains("\nforbear_replicas{job=\"test\",instance=\"y\"} 2 30\n"), "{text}");
        assert!(text.ends_with("\n# EOF\n"));
    }
}
