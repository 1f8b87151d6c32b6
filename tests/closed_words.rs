//! Nothing of an answer reaches what is said of it but our own closed words: secrets in every place of every recorded answer,
//! searched for in whatever can be printed.

use std::collections::BTreeSet;
use std::time::Duration;

use forbear::core::moment::WallTime;
use forbear::core::observation::Observation;
use forbear::provider;
use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;

/// Every secret begins with it.
const MARK: &str = "Kx7Qz";
const NOW: WallTime = WallTime::since_epoch(Duration::from_secs(1_795_996_800));

/// An answer that holds secrets.
struct Answer {
    id: String,
    provider: String,
    status: u16,
    headers: HeaderMap,
    body: Option<String>,
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

fn answers() -> Vec<Answer> {
    let mut answers = Vec::new();
    for line in
        [include_str!("data/vectors.jsonl"), include_str!("data/cases.jsonl")].iter().flat_map(|file| file.lines())
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

#[test]
fn a_reading_holds_nothing_of_the_answer_it_was_made_from() {
    let (mut read, mut throttles) = (0, 0);
    for answer in answers() {
        let table = provider::by_id(&answer.provider).expect("a table");
        let mut observation = Observation::status(answer.status).headers(&answer.headers);
        if let Some(body) = &answer.body {
            observation = observation.body(body.as_bytes());
        }
        let reading = table.read(&observation, NOW);
        let said = format!("{reading:?} {reading:#?} {:?} {table:?}", reading.signal);
        assert!(!said.contains(MARK), "{}: {said}", answer.id);
        read += 1;
        throttles += u32::from(reading.signal.is_throttle());
    }
    assert!(read > 2_000 && throttles > 1_000, "{throttles} throttles in {read} answers");
}

/// Where a wait stood is one of the tables' own words.
#[test]
fn the_place_of_a_wait_is_a_word_of_the_table() {
    let mut places = BTreeSet::new();
    for answer in answers() {
        let table = provider::by_id(&answer.provider).expect("a table");
        let mut observation = Observation::status(answer.status).headers(&answer.headers);
        if let Some(body) = &answer.body {
            observation = observation.body(body.as_bytes());
        }
        let Some(stated) = table.read(&observation, NOW).signal.stated else { continue };
        let words = format!("{:?} {:?} \"body\" \"ratelimit;t\" \"ratelimit;reset\"", table.headers, table.fields);
        assert!(words.contains(&format!("{:?}", stated.place)), "{}: {}", answer.id, stated.place);
        places.insert(stated.place);
    }
    assert!(places.len() > 30, "{places:?}");
}

#[cfg(feature = "cli")]
#[test]
fn the_command_line_says_nothing_of_the_answer_it_reads() {
    use std::io::Write as _;
    use std::process::{Command, Stdio};

    let classify = |arguments: &[&str], input: &[u8]| {
        let mut child = Command::new(env!("CARGO_BIN_EXE_forbear"))
            .arg("classify")
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the command");
        // It answers while it reads.
        let (mut stdin, input) = (child.stdin.take().expect("its input"), input.to_vec());
        let writing = std::thread::spawn(move || stdin.write_all(&input));
        let output = child.wait_with_output().expect("it ends");
        writing.join().expect("no panic").expect("it reads");
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
    };
    // One answer of each provider and status in words and as JSON: a process each.
    let mut seen = BTreeSet::new();
    let mut lines = String::new();
    for answer in answers() {
        let case = serde_json::json!({
            "id": answer.id, "provider": answer.provider, "status": answer.status, "body": answer.body,
            "headers": { "retry-after": "7", "authorization": format!("{MARK}-key") },
        });
        lines += &format!("{case}\n");
        if answer.body.is_none() || !seen.insert((answer.provider.clone(), answer.status)) {
            continue;
        }
        let mut raw = format!("HTTP/2 {}\r\n", answer.status).into_bytes();
        for (name, value) in &answer.headers {
            raw.extend_from_slice(&[name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"].concat());
        }
        raw.extend_from_slice(b"\r\n");
        raw.extend_from_slice(answer.body.unwrap_or_default().as_bytes());
        for form in [&["--provider", &answer.provider][..], &["--provider", &answer.provider, "--json"]] {
            let said = classify(form, &raw);
            assert!(said.contains(&answer.provider) && !said.contains(MARK), "{}: {said}", answer.id);
        }
    }
    assert!(seen.len() > 50, "{}", seen.len());
    let said = classify(&["--jsonl"], lines.as_bytes());
    assert!(said.lines().count() == lines.lines().count() && !said.contains(MARK));
}
