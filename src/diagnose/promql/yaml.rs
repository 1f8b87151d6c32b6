//! Rules, and how they are written.

use std::fmt::Write;

/// Rules that are evaluated in their order.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) name: String,
    pub(super) interval: &'static str,
    pub(super) rules: Vec<Rule>,
}

/// What a rule makes.
#[derive(Clone, Debug)]
pub(super) enum Makes {
    Series,
    /// An alert: how long it must hold, and for how long it stays.
    Alert(&'static str, Option<&'static str>),
}

/// One rule.
#[derive(Clone, Debug)]
pub(super) struct Rule {
    /// The line above it.
    pub(super) about: String,
    pub(super) makes: Makes,
    pub(super) name: String,
    pub(super) expr: String,
    pub(super) labels: Vec<(&'static str, String)>,
    pub(super) annotations: Vec<(&'static str, String)>,
}

impl Rule {
    /// A series of this name.
    pub(super) fn record(name: impl Into<String>, about: impl Into<String>, expr: impl Into<String>) -> Self {
        Self {
            about: about.into(),
            makes: Makes::Series,
            name: name.into(),
            expr: expr.into(),
            labels: Vec::new(),
            annotations: Vec::new(),
        }
    }

    /// The same with one more label.
    pub(super) fn label(mut self, key: &'static str, value: impl Into<String>) -> Self {
        self.labels.push((key, value.into()));
        self
    }
}

impl Group {
    /// These rules, evaluated each minute.
    pub(super) fn of(name: impl Into<String>, rules: Vec<Rule>) -> Self {
        Self { name: name.into(), interval: "1m", rules }
    }

    /// Writes it; `fill` fills in templates, and every alert has the labels of `added` as well.
    pub(super) fn write(&self, text: &mut String, fill: &dyn Fn(&str) -> String, added: &[(String, String)]) {
        // A string takes everything.
        let _ = writeln!(text, "  - name: {}\n    interval: {}\n    rules:", self.name, fill(self.interval));
        for rule in &self.rules {
            let _ = rule.write(text, fill, added);
        }
    }
}

impl Rule {
    fn write(&self, text: &mut String, fill: &dyn Fn(&str) -> String, added: &[(String, String)]) -> std::fmt::Result {
        if !self.about.is_empty() {
            writeln!(text, "      # {}", self.about)?;
        }
        let kind = if matches!(self.makes, Makes::Series) { "record" } else { "alert" };
        writeln!(text, "      - {kind}: {}\n        expr: |-", self.name)?;
        for line in fill(&self.expr).lines() {
            writeln!(text, "          {line}")?;
        }
        if let Makes::Alert(pending, firing) = &self.makes {
            writeln!(text, "        for: {pending}")?;
            if let Some(firing) = firing {
                writeln!(text, "        keep_firing_for: {firing}")?;
            }
        }
        let added = if matches!(self.makes, Makes::Series) { &[][..] } else { added };
        let added = added.iter().map(|(key, value)| (key.as_str(), value.clone()));
        let filled = |entries: &[(&'static str, String)]| -> Vec<(&str, String)> {
            entries.iter().map(|(key, value)| (*key, fill(value))).collect()
        };
        entries(text, "labels", filled(&self.labels).into_iter().chain(added))?;
        entries(text, "annotations", filled(&self.annotations).into_iter())
    }
}

/// A mapping of words; what is empty is left out.
fn entries<'a>(text: &mut String, title: &str, entries: impl Iterator<Item = (&'a str, String)>) -> std::fmt::Result {
    for (place, (key, value)) in entries.filter(|(_, value)| !value.is_empty()).enumerate() {
        if place == 0 {
            writeln!(text, "        {title}:")?;
        }
        writeln!(text, "          {key}: {}", quoted(&value))?;
    }
    Ok(())
}

/// In single quotes, in which nothing but they themselves has a meaning.
fn quoted(value: &str) -> String {
    format!("'{}'", value.replace('\'', "''"))
}
