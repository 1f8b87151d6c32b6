//! Samples of recorded series, as text that `promtool` takes in.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::server::Labels;

/// A series with its samples, each a second since 1970 and a value.
pub(super) type Series = (Labels, Vec<(f64, f64)>);
/// By the names of the rules.
pub(super) type Recorded = BTreeMap<String, Vec<Series>>;

/// Every series as a gauge.
pub(super) fn open_metrics(series: &Recorded) -> String {
    let mut text = String::new();
    for (name, series) in series {
        writeln!(text, "# TYPE {name} gauge").expect("a string takes everything");
        for (labels, samples) in series {
            let labels: Vec<_> = labels.iter().map(|(key, value)| format!("{key}=\"{value}\"")).collect();
            for (at, value) in samples.iter().filter(|(_, value)| !value.is_nan()) {
                let value = if value.is_infinite() { "+Inf".to_owned() } else { value.to_string() };
                writeln!(text, "{name}{{{}}} {value} {at}", labels.join(",")).expect("a string takes everything");
            }
        }
    }
    text.push_str("# EOF\n");
    text
}
