//! An answer of a Prometheus: rows of values, or an error in words. Read with suspicion.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

use serde::Deserialize;

/// One series of an answer.
#[derive(Debug, PartialEq)]
pub(crate) struct Row {
    labels: HashMap<String, String>,
    /// Times in seconds since 1970, with values.
    pub(crate) values: Vec<(f64, f64)>,
}

impl Row {
    /// The value of a label.
    pub(crate) fn label(&self, key: &str) -> Option<&str> {
        self.labels.get(key).map(String::as_str)
    }
}

/// An answer that is none, or an error.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UnreadableAnswer {
    /// The Prometheus says what was wrong.
    Refused(String),
    /// It is no answer of a Prometheus.
    Foreign(String),
}

impl fmt::Display for UnreadableAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(why) => write!(f, "the Prometheus refused the query: {why}"),
            Self::Foreign(why) => write!(f, "this is no answer of a Prometheus ({why}); is the URL its root?"),
        }
    }
}

impl std::error::Error for UnreadableAnswer {}

/// `{"status":"success","data":{"resultType":"vector","result":[…]}}`, or `"status":"error"` with words.
#[derive(Deserialize)]
struct Body<'a> {
    #[serde(borrow)]
    status: Cow<'a, str>,
    #[serde(default)]
    error: Option<String>,
    data: Option<Data>,
}

#[derive(Deserialize)]
struct Data {
    result: Vec<Found>,
}

#[derive(Deserialize)]
struct Found {
    #[serde(default)]
    metric: HashMap<String, String>,
    value: Option<(f64, String)>,
    #[serde(default)]
    values: Vec<(f64, String)>,
}

/// The rows of an answer to an instant or a range query.
pub(crate) fn read(answer: &[u8]) -> Result<Vec<Row>, UnreadableAnswer> {
    let body: Body<'_> =
        serde_json::from_slice(answer).map_err(|error| UnreadableAnswer::Foreign(error.to_string()))?;
    if body.status != "success" {
        return Err(UnreadableAnswer::Refused(body.error.unwrap_or_else(|| "it does not say why".to_owned())));
    }
    let found = body.data.ok_or_else(|| UnreadableAnswer::Foreign("no data in it".to_owned()))?.result;
    let number = |(at, value): (f64, String)| Some((at, value.parse().ok()?));
    Ok(found
        .into_iter()
        .map(|Found { metric, value, values }| Row {
            labels: metric,
            values: value.into_iter().chain(values).filter_map(number).collect(),
        })
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_and_matrices_are_rows() {
        let vector = br#"{"status":"success","data":{"resultType":"vector","result":[
            {"metric":{"pool":"chat"},"value":[1767225600.5,"2.5"]},{"metric":{},"value":[1,"NaN"]}]}}"#;
        let rows = read(vector).expect("an answer");
        assert_eq!((rows[0].label("pool"), rows[0].values.as_slice()), (Some("chat"), &[(1_767_225_600.5, 2.5)][..]));
        assert!(rows[1].values[0].1.is_nan());
        let matrix = br#"{"status":"success","data":{"resultType":"matrix","result":[
            {"metric":{"pool":"chat"},"values":[[0,"1"],[15,"+Inf"],[30,"nonsense"]]}]}}"#;
        assert_eq!(read(matrix).expect("an answer")[0].values, [(0.0, 1.0), (15.0, f64::INFINITY)]);
    }

    #[test]
    fn an_error_is_told_in_its_words_and_anything_else_is_foreign() {
        let error = br#"{"status":"error","errorType":"bad_data","error":"parse error: unexpected end of input"}"#;
        let refused = read(error).expect_err("an error").to_string();
        assert_eq!(refused, "the Prometheus refused the query: parse error: unexpected end of input");
        for foreign in
            [&b"<html>"[..], b"", b"{}", br#"{"status":"success"}"#, br#"{"status":"success","data":{"result":5}}"#]
        {
            assert!(matches!(read(foreign), Err(UnreadableAnswer::Foreign(_))), "{foreign:?}");
        }
    }
}
