//! The metrics as a scrape reads them.

use forbear::event::catalogue::Metric;

/// Label keys with values: those a series must have to be meant.
pub(crate) type Labels<'a> = &'a [(&'a str, &'a str)];

/// One answer of `/metrics`: Prometheus text 0.0.4, in the form our own endpoint writes it.
#[derive(Debug, Default)]
pub(crate) struct Scrape(Vec<Series>);

/// One line: a name, its labels, a value.
#[derive(Debug)]
struct Series {
    name: String,
    labels: Vec<(String, String)>,
    value: f64,
}

impl Scrape {
    /// Reads the text; lines that are no series are skipped.
    pub(crate) fn read(text: &str) -> Self {
        Self(text.lines().filter(|line| !line.starts_with('#')).filter_map(series).collect())
    }

    /// The sum of a counter's or gauge's series with these labels.
    pub(crate) fn sum(&self, metric: Metric, labels: Labels<'_>) -> f64 {
        self.total(metric, "", labels)
    }

    /// How many values a histogram with these labels took.
    pub(crate) fn count(&self, metric: Metric, labels: Labels<'_>) -> f64 {
        self.total(metric, "_count", labels)
    }

    /// The mean of the values a histogram with these labels took, in seconds; 0 when there were none.
    pub(crate) fn mean(&self, metric: Metric, labels: Labels<'_>) -> f64 {
        let count = self.count(metric, labels);
        if count > 0.0 { self.total(metric, "_sum", labels) / count } else { 0.0 }
    }

    /// The value of `key` in a series with these labels whose value is not zero: how a gauge that is always 1 speaks.
    pub(crate) fn word<'s>(&'s self, metric: Metric, labels: Labels<'s>, key: &str) -> Option<&'s str> {
        self.matching(metric.row().prometheus, "", labels)
            .filter(|series| series.value > 0.0)
            .find_map(|series| series.label(key))
    }

    /// The sum over all series of this name with these labels.
    fn total(&self, metric: Metric, suffix: &str, labels: Labels<'_>) -> f64 {
        // Not `sum`: the sum of nothing is -0.
        self.matching(metric.row().prometheus, suffix, labels).fold(0.0, |total, series| total + series.value)
    }

    /// The series whose name is `name` and then `suffix`, with at least these labels.
    fn matching<'s>(&'s self, name: &'s str, suffix: &'s str, labels: Labels<'s>) -> impl Iterator<Item = &'s Series> {
        self.0.iter().filter(move |series| {
            series.name.strip_prefix(name) == Some(suffix)
                && labels.iter().all(|(key, value)| series.label(key) == Some(value))
        })
    }
}

impl Series {
    /// The value of a label.
    fn label(&self, key: &str) -> Option<&str> {
        self.labels.iter().find(|(known, _)| known == key).map(|(_, value)| value.as_str())
    }
}

/// `name{key="value",…} 1.5`; label values are our own words and hold nothing that is escaped.
fn series(line: &str) -> Option<Series> {
    let (head, value) = line.rsplit_once(' ')?;
    let (name, labels) = match head.split_once('{') {
        Some((name, labels)) => (name, labels.strip_suffix('}')?),
        None => (head, ""),
    };
    let labels = labels
        .split("\",")
        .filter_map(|pair| pair.split_once("=\""))
        .map(|(key, value)| (key.to_owned(), value.trim_end_matches('"').to_owned()))
        .collect();
    Some(Series { name: name.to_owned(), labels, value: value.parse().ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"# HELP forbear_calls_total Calls offered.
# TYPE forbear_calls_total counter
forbear_calls_total{provider="openai",pool="chat",policy="chat"} 7
forbear_calls_total{provider="openai",pool="chat",policy="batch"} 3
forbear_calls_total{provider="openai",pool="other",policy="chat"} 100

forbear_delay_seconds_bucket{provider="openai",pool="chat",delay_source="gate",le="+Inf"} 4
forbear_delay_seconds_sum{provider="openai",pool="chat",delay_source="gate"} 2.5
forbear_delay_seconds_count{provider="openai",pool="chat",delay_source="gate"} 4
forbear_gate_state{provider="openai",pool="chat",state="flowing"} 0
forbear_gate_state{provider="openai",pool="chat",state="shut"} 1
forbear_store_up 1
"#;

    #[test]
    fn series_are_summed_over_the_labels_that_are_not_asked_for() {
        let scrape = Scrape::read(TEXT);
        assert_eq!(scrape.sum(Metric::Calls, &[("pool", "chat")]), 10.0);
        assert_eq!(scrape.sum(Metric::Calls, &[("pool", "chat"), ("policy", "batch")]), 3.0);
        assert_eq!(scrape.sum(Metric::Calls, &[("pool", "nobody")]), 0.0);
        assert_eq!(scrape.sum(Metric::StoreUp, &[]), 1.0);
    }

    #[test]
    fn a_histogram_tells_how_many_and_how_long_on_average() {
        let scrape = Scrape::read(TEXT);
        let gate = [("pool", "chat"), ("delay_source", "gate")];
        assert_eq!((scrape.count(Metric::Delay, &gate), scrape.mean(Metric::Delay, &gate)), (4.0, 0.625));
        assert_eq!(scrape.mean(Metric::GateWait, &gate), 0.0);
    }

    #[test]
    fn the_state_that_holds_is_the_word_of_the_series_that_is_one() {
        let scrape = Scrape::read(TEXT);
        assert_eq!(scrape.word(Metric::GateState, &[("pool", "chat")], "state"), Some("shut"));
    }
}
