//! Every recorded answer with secrets in every place: for tests that search what is told of it.
#![allow(dead_code, reason = "each of its users needs a part of it")]

use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;

/// Every secret begins with it.
pub(crate) const MARK: &str = "Kx7Qz";

/// An answer that holds secrets.
pub(crate) struct Answer {
    pub(crate) id: String,
    pub(crate) provider: String,
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Option<String>,
}

/// Puts a secret into every text, as a name of its own and as the value of an unknown key.
fn spoiled(value: &Value, path: &str) -> Value {
    match value {
        Value::String(text) => Value::String(format!("{text} {MARK}-{path}")),
        Value::Array(values) => values.iter().map(|value| spoiled(value, path)).collect(),
        Value::Object(fields) => {
            let fields = fields.iter().map(|(key, value)| (key.clone(), spoiled(value, &format!("{path}.{key}"))));
            let added = [(format!("{MARK}-key"), Value::from(1)), ("note".to_owned(), format!("{MARK}-value").into())];
            Value::Object(fields.chain(added).collect())
        }
        other => other.clone(),
    }
}

/// A body with secrets: where it is a document, with the texts kept that classes are read from, and with all spoiled.
fn bodies(body: &str) -> Vec<String> {
    let with_secret = format!("{body}\n{MARK}-after {MARK}@example.com https://{MARK}.example/?key={MARK}");
    match serde_json::from_str::<Value>(body) {
        Ok(value @ Value::Object(_)) => {
            let mut added = value.clone();
            added["user"] = format!("{MARK}-user").into();
            if let Some(error) = added["error"].as_object_mut() {
                error.insert("param".to_owned(), format!("{MARK}-param").into());
                error.insert("request".to_owned(), format!("{MARK}-request").into());
            }
            vec![added.to_string(), spoiled(&value, "body").to_string(), with_secret]
        }
        _ => vec![with_secret],
    }
}

pub(crate) fn answers() -> Vec<Answer> {
    let mut answers = Vec::new();
    for line in [include_str!("../data/vectors.jsonl"), include_str!("../data/cases.jsonl")]
        .iter()
        .flat_map(|file| file.lines())
    {
        let case: Value = serde_json::from_str(line).expect("one JSON object a line");
        let text = |key: &str| case[key].as_str().expect("a string").to_owned();
        let mut headers = HeaderMap::new();
        for (name, lines) in case["headers"].as_object().expect("headers") {
            let lines = lines.as_array().cloned().unwrap_or_else(|| vec![lines.clone()]);
            let name = HeaderName::from_bytes(name.as_bytes()).expect("a name");
            for line in lines {
                let value = HeaderValue::from_bytes(line.as_str().expect("a value").as_bytes());
                headers.append(&name, value.expect("a value"));
            }
        }
        let mut spoiled_headers = headers.clone();
        let mark = || HeaderValue::from_static("Kx7Qz-header");
        for name in ["authorization", "set-cookie", "x-request-id", "location", "openai-organization"] {
            spoiled_headers.insert(name, mark());
            headers.insert(name, mark());
        }
        spoiled_headers.values_mut().for_each(|value| *value = mark());
        let status = u16::try_from(case["status"].as_u64().expect("a status")).expect("a status");
        let bodies = case["body"].as_str().map_or(vec![None], |body| bodies(body).into_iter().map(Some).collect());
        for body in bodies {
            for headers in [headers.clone(), spoiled_headers.clone()] {
                answers.push(Answer {
                    id: text("id"),
                    provider: text("provider"),
                    status,
                    headers,
                    body: body.clone(),
                });
            }
        }
    }
    answers
}
