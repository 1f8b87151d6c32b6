//! Tests of rules as promtool takes them: pools side by side, each given its series, and what must come of each.

use std::collections::BTreeMap;
use std::fmt::Write;

/// Series of one pool, by name and labels, with their values as promtool spells them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pool {
    name: String,
    series: BTreeMap<(String, String), String>,
}

impl Pool {
    pub(crate) fn new(name: &str) -> Self {
        Self { name: name.to_owned(), series: BTreeMap::new() }
    }

    /// The same series under another name.
    pub(crate) fn named(&self, name: &str) -> Self {
        Self { name: name.to_owned(), ..self.clone() }
    }

    /// A series that stays at a value.
    pub(crate) fn at(self, series: &str, labels: &str, value: f64) -> Self {
        self.values(series, labels, &format!("{value}x{MINUTES}"))
    }

    /// A counter that rises by so much an hour.
    pub(crate) fn rising(self, series: &str, labels: &str, an_hour: f64) -> Self {
        self.values(series, labels, &format!("0+{}x{MINUTES}", an_hour / 60.0))
    }

    pub(crate) fn values(mut self, series: &str, labels: &str, values: &str) -> Self {
        self.series.insert((series.to_owned(), labels.to_owned()), values.to_owned());
        self
    }

    /// Without a series.
    pub(crate) fn without(mut self, series: &str) -> Self {
        self.series.retain(|(name, _), _| name != series);
        self
    }

    fn write(&self, text: &mut String) {
        for ((series, labels), values) in &self.series {
            let pool = format!("provider=\"openai\",pool=\"{}\"", self.name);
            let comma = if labels.is_empty() { "" } else { "," };
            // A string takes everything.
            let _ = writeln!(text, "      - series: '{series}{{{pool}{comma}{labels}}}'\n        values: '{values}'");
        }
    }
}

/// For how long series go on.
pub(crate) const MINUTES: u32 = 160;

/// A file of tests: what is asked at the end, and the series that must be the answer, all with the value 1.
pub(crate) struct Tests<'t> {
    pub(crate) rules: &'t str,
    pub(crate) asked: &'t str,
    /// How far apart samples, and evaluations, are in minutes.
    pub(crate) sampled: u32,
    pub(crate) evaluated: u32,
    pub(crate) at_minute: u32,
    /// Pools that are side by side, and the labels of what must come of them.
    pub(crate) blocks: &'t [(Vec<Pool>, Vec<String>)],
    /// More series for each of them.
    pub(crate) more: &'t str,
}

impl Tests<'_> {
    /// The file.
    pub(crate) fn text(&self) -> String {
        let Self { rules, asked, sampled, evaluated, at_minute, blocks, more } = self;
        let mut text = format!(
            "# Pools on both sides of every line. Made by tests/rules, from where they can be read in words.\n\
             rule_files: [{rules}]\nevaluation_interval: {evaluated}m\ntests:\n"
        );
        for (pools, expected) in *blocks {
            // A string takes everything.
            let _ = writeln!(text, "  - interval: {sampled}m\n    input_series:");
            pools.iter().for_each(|pool| pool.write(&mut text));
            text.push_str(more);
            let asked = asked.replace('\'', "''");
            let _ = writeln!(
                text,
                "    promql_expr_test:\n      - expr: '{asked}'\n        eval_time: {at_minute}m\n        exp_samples:"
            );
            for labels in expected {
                let _ = writeln!(text, "          - labels: '{{{labels}}}'\n            value: 1");
            }
        }
        // No longer than is looked at.
        text.replace(&format!("x{MINUTES}'"), &format!("x{}'", at_minute / sampled + 1))
    }
}
