//! The command, given what people give it by mistake: what is said, and with which status it ends.
#![cfg(feature = "cli")]

#[path = "support/command.rs"]
mod command;

use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread;

use command::{forbear, text};

/// What it prints, what it complains of, and its exit status.
fn typed(line: &str, input: &str) -> (String, String, Option<i32>) {
    let output = forbear(&line.split_whitespace().collect::<Vec<_>>(), input);
    (text(&output.stdout), text(&output.stderr), output.status.code())
}

#[test]
fn what_classify_cannot_read_is_told_by_what_it_is() {
    let openai = "classify --provider openai";
    for (line, input, complaint, code) in [
        (openai, "", "the input is no HTTP response: it is empty; did the command before it fail?", 1),
        (openai, "{\"error\":{}}", "the input is no HTTP response: it is a body alone; print status and headers", 1),
        (openai, "> GET /\n< HTTP/2 429\n", "the input is no HTTP response: it is what `curl -v` prints; ", 1),
        ("classify --provider openai /no/such/file", "", "/no/such/file cannot be read: No such file", 1),
        ("classify --provider openai /tmp", "", "/tmp cannot be read: ", 1),
        ("classify --provider opneai", "", "no provider is called \"opneai\"; known, closest first: openai,", 2),
    ] {
        let (out, told, status) = typed(line, input);
        assert_eq!((out.as_str(), status), ("", Some(code)), "{line}: {told}");
        assert!(told.starts_with(&format!("forbear classify: {complaint}")), "{line}: {told}");
    }
    let (_, told, status) = typed(openai, &"a".repeat(17 * 1024 * 1024));
    assert_eq!((told.contains("longer than 16 MiB"), status), (true, Some(1)), "{told}");
}

#[test]
fn an_answer_that_was_cut_off_is_read_and_doubted() {
    let (out, told, status) = typed("classify --provider openai", "HTTP/2 429\r\nretry-after: 20\r\nx-rate");
    assert!(out.contains("told by   the header retry-after: 20 s") && status == Some(0), "{out}{told}");
    assert!(told.starts_with("forbear classify: note: no empty line ends the headers"), "{told}");
    let (_, told, _) = typed("classify --provider openai", "HTTP/2 429\r\nretry-after: 20\r\n\r\n");
    assert_eq!(told, "");
}

#[test]
fn the_providers_that_are_known_are_a_line_each() {
    let (out, _, status) = typed("classify --provider list", "");
    assert!(status == Some(0) && out.lines().count() > 20 && out.lines().any(|line| line == "openai"), "{out}");
    assert!(out.lines().is_sorted(), "{out}");
}

#[test]
fn a_bad_line_is_told_by_its_number_and_the_others_are_read() {
    let lines = "{\"id\":1,\"provider\":\"generic\",\"status\":503}\n\n{\"id\":2\n{\"id\":3,\"provider\":\"generic\",\"status\":503}";
    let (out, _, status) = typed("classify --jsonl", lines);
    let out: Vec<_> = out.lines().collect();
    assert_eq!((out.len(), status), (3, Some(1)));
    assert!(out[1].starts_with("{\"id\":null,\"line\":3,\"error\":\"not a JSON object: "), "{}", out[1]);
    assert!(!out[1].contains("line 1"), "{}", out[1]);
}

#[test]
fn a_duration_of_two_units_is_read_as_it_is_meant() {
    let (out, told, _) = typed("suggest --window 1m30s --deadline 3m", "");
    assert!(out.starts_with("window 90 s, deadline 3 min, "), "{out}{told}");
}

#[test]
fn a_url_of_a_store_that_cannot_be_read_is_not_shown_and_told_how_to_write() {
    let (_, told, status) = typed("gate list --namespace prod --redis 127.0.0.1:6379", "");
    assert_eq!(status, Some(2), "{told}");
    assert!(
        told.starts_with("forbear gate: --redis is no such URL (not shown: a password may stand in it); "),
        "{told}"
    );
    assert!(told.ends_with("as in redis://127.0.0.1:6379\n"), "{told}");
}

/// Serves one answer to each of `times` requests; gives where.
fn answers(answer: &'static str, times: usize) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let at = listener.local_addr().expect("an address").to_string();
    thread::spawn(move || {
        for connection in listener.incoming().take(times) {
            let mut connection = connection.expect("a connection");
            let _ = connection.read(&mut [0; 4096]);
            let _ = connection.write_all(answer.as_bytes());
        }
    });
    at
}

#[test]
fn what_is_no_prometheus_is_told_by_what_it_answers() {
    let page = "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 6\r\n\r\n<html>";
    let login = "HTTP/1.1 302 Found\r\nlocation: /login\r\ncontent-length: 0\r\n\r\n";
    let refusal = "HTTP/1.1 400 Bad\r\ncontent-length: 57\r\n\r\n{\"status\":\"error\",\"errorType\":\"x\",\"error\":\"\\u001b[31mno\"}";
    for verb in ["doctor", "diagnose"] {
        for (answer, complaint) in [
            (page, "answers 200 OK with a web page: is the URL the root of the API?"),
            (login, "answers 302 Found to /login: give the URL where the API is, behind any login"),
            (refusal, "the Prometheus refused the query: \u{fffd}[31mno"),
        ] {
            let at = answers(answer, 1);
            let (out, told, status) = typed(&format!("{verb} --prometheus http://{at}"), "");
            assert_eq!((out.as_str(), status), ("", Some(2)), "{told}");
            assert!(told.trim_end().ends_with(complaint), "{told}");
            assert!(!told.contains('\u{1b}'), "{told:?}");
        }
    }
}
