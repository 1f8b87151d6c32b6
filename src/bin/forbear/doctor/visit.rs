//! Asking: queries for the hour that is looked at.

use std::collections::BTreeMap;

use forbear::core::moment::WallTime;
use serde_json::Value;

use crate::diagnose::Failure;
use crate::diagnose::ask::{Source, encoded};

/// A Prometheus, a time, and the matchers of every query.
pub(super) struct Visit<'s> {
    source: &'s Source,
    at: f64,
    /// With a comma behind.
    matchers: String,
}

/// One row of an answer.
#[derive(Debug)]
pub(super) struct Row {
    labels: BTreeMap<String, String>,
    /// Its value, or the last of its values.
    pub(super) value: f64,
    /// When it was sampled, in seconds since 1970: once, unless a range was asked for.
    pub(super) times: Vec<f64>,
}

impl Row {
    /// The value of a label; empty where it has none, as in PromQL.
    pub(super) fn label(&self, key: &str) -> &str {
        self.labels.get(key).map_or("", String::as_str)
    }

    /// The pool it is of, as people name it.
    pub(super) fn pool(&self) -> String {
        format!("{} ({})", self.label("pool"), self.label("provider"))
    }
}

impl<'s> Visit<'s> {
    pub(super) fn new(source: &'s Source, at: WallTime, matchers: &str) -> Self {
        let matchers = matchers.trim().trim_end_matches(',');
        let matchers = if matchers.is_empty() { String::new() } else { format!("{matchers},") };
        Self { source, at: at.elapsed_since_epoch().as_secs_f64(), matchers }
    }

    /// The rows of a query; `$m` stands for the matchers.
    ///
    /// # Errors
    /// It cannot be reached, or refuses the query, or does not answer as a Prometheus does.
    pub(super) async fn ask(&self, promql: &str) -> Result<Vec<Row>, Failure> {
        let query = encoded(&promql.replace("$m", &self.matchers));
        let (_, body) = self.source.body(&format!("/api/v1/query?query={query}&time={}", self.at)).await?;
        let answer: Value = serde_json::from_slice(&body)
            .map_err(|error| format!("this is no answer of a Prometheus ({error}); is the URL its root?"))?;
        if answer["status"] != "success" {
            let error = answer["error"].as_str().unwrap_or("it does not say why");
            return Err(format!("the Prometheus refused the query: {error}").into());
        }
        let rows = answer["data"]["result"].as_array().ok_or("this is no answer of a Prometheus: no result in it")?;
        Ok(rows.iter().filter_map(row).collect())
    }

    /// The groups of rules that it evaluates; `None` where it does not say.
    ///
    /// # Errors
    /// It cannot be reached.
    pub(super) async fn rule_groups(&self) -> Result<Option<Vec<Value>>, Failure> {
        let (status, body) = self.source.body("/api/v1/rules").await?;
        let answer: Value = serde_json::from_slice(&body).unwrap_or_default();
        Ok(answer["data"]["groups"].as_array().filter(|_| status.is_success()).cloned())
    }
}

/// A row; `None` where it is none.
fn row(row: &Value) -> Option<Row> {
    let labels = row["metric"].as_object()?.iter();
    let labels = labels.filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned())));
    let samples = row["values"].as_array().map_or_else(|| std::slice::from_ref(&row["value"]), Vec::as_slice);
    Some(Row {
        labels: labels.collect(),
        value: samples.last()?[1].as_str()?.parse().ok()?,
        times: samples.iter().filter_map(|sample| sample[0].as_f64()).collect(),
    })
}
