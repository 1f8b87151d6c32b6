//! Nothing of an answer reaches what is said of it but our own closed words: secrets in every place of every recorded answer,
//! searched for in whatever can be printed.

#[path = "support/spoiled.rs"]
mod spoiled;

use std::collections::BTreeSet;
use std::time::Duration;

use forbear::core::moment::WallTime;
use forbear::core::observation::Observation;
use forbear::provider;
use spoiled::{MARK, answers};

const NOW: WallTime = WallTime::since_epoch(Duration::from_secs(1_795_996_800));

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
