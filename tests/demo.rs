//! `forbear demo` as whoever types it meets it.
#![cfg(feature = "cli")]

#[path = "support/server.rs"]
mod server;

use std::io::{BufRead, BufReader, Lines, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStderr, ChildStdout, Command, Stdio};

use forbear::event::catalogue::Metric;

/// The guide's table of metrics.
const GUIDE: &str = include_str!("../src/guide/metrics.md");

const README: &str = include_str!("../README.md");

/// A demonstration of twelve seconds, its endpoint at any free port.
struct Run {
    child: Child,
    /// What it prints before it begins.
    head: Vec<String>,
    out: Lines<BufReader<ChildStdout>>,
    progress: Lines<BufReader<ChildStderr>>,
    metrics_at: String,
}

impl Run {
    fn start(more: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_forbear"))
            .args(["demo", "--seconds", "12", "--port", "0"])
            .args(more)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the demonstration starts");
        let mut out = BufReader::new(child.stdout.take().expect("piped")).lines();
        let progress = BufReader::new(child.stderr.take().expect("piped")).lines();
        let mut head = Vec::new();
        let found = out.by_ref().map_while(Result::ok).find_map(|line| {
            head.push(line);
            let url = head.last()?.strip_prefix("metrics: http://")?;
            Some(url.strip_suffix("/metrics")?.to_owned())
        });
        Self { child, head, out, progress, metrics_at: found.expect("the URL of the metrics") }
    }

    /// What `/metrics` says once progress tells of this second, or of a later one where a stall left it out.
    fn scrape_at(&mut self, second: u32) -> String {
        let told = |line: &str| line.split_once(" s of").and_then(|(second, _)| second.parse::<u32>().ok());
        let reached =
            self.progress.by_ref().map_while(Result::ok).filter_map(|line| told(&line)).any(|now| now >= second);
        assert!(reached, "no progress of second {second}");
        let mut stream = TcpStream::connect(&self.metrics_at).expect("the endpoint listens");
        stream
            .write_all(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            .expect("the endpoint reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("the endpoint answers");
        let (head, text) = answer.split_once("\r\n\r\n").expect("head and body");
        assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
        text.to_owned()
    }

    /// The lines of the services in the next report.
    fn report(&mut self) -> Vec<String> {
        let lines = self.out.by_ref().map_while(Result::ok);
        let table = lines.skip_while(|line| !line.starts_with("service "));
        table.skip(1).take_while(|line| !line.is_empty()).collect()
    }

    fn interrupt(&self) {
        let told = Command::new("kill").args(["-INT", &self.child.id().to_string()]).status();
        assert!(told.expect("kill runs").success());
    }

    /// What it prints behind the report.
    fn rest(&mut self) -> Vec<String> {
        self.out.by_ref().map_while(Result::ok).collect()
    }

    fn exit_code(mut self) -> Option<i32> {
        // Read on to the end, so that the last lines find a reader.
        self.out.by_ref().for_each(drop);
        self.progress.by_ref().for_each(drop);
        self.child.wait().expect("it ends").code()
    }
}

fn assert_right(report: &[String]) {
    assert_eq!(report.len(), 3, "{report:#?}");
    let [chat, summaries, nightly] = report else { unreachable!() };
    assert!(chat.starts_with("chat ") && chat.ends_with(" healthy"), "{chat}");
    let asked = summaries.split_once("raise the quota: ask for about ").map(|(_, text)| text);
    let asked: u32 =
        asked.and_then(|text| text.split(' ').next()?.parse().ok()).unwrap_or_else(|| panic!("{summaries}"));
    // 120 a minute are asked of it. Where the machine is busy, its minutes of three seconds are uneven, and the busiest counts.
    assert!(summaries.starts_with("summaries ") && (120..=240).contains(&asked), "{summaries}");
    let change = "change the backoff: base 10ms -> 300ms, ";
    assert!(nightly.starts_with("nightly ") && nightly.contains(change), "{nightly}");
}

/// The README shows what it prints, but for numbers and where lines are broken.
fn assert_as_the_readme_shows(head: &[String], report: &[String], rest: &[String]) {
    let block = README.split("```text\n").nth(1).and_then(|rest| rest.split_once("```")).expect("a block").0;
    let (shown_head, block) = block.split_once("\n\nservice ").expect("a report");
    let (shown_report, shown_rest) = block.split_once("\n\n").expect("reasons");
    assert_eq!(without_numbers(&head.join(" ")), without_numbers(shown_head));
    for (shown, line) in shown_report.lines().skip(1).zip(report) {
        let ends = |line: &str| {
            let name = line.split(' ').next().unwrap_or_default().to_owned();
            (name, without_numbers(line.rsplit("  ").next().unwrap_or_default()))
        };
        assert_eq!(ends(shown), ends(line));
    }
    let (rest, shown) = (without_numbers(&rest.join(" ")), without_numbers(shown_rest));
    let source = |text: &str| text.split_once("Read from ").expect("the source of the numbers").1.trim().to_owned();
    assert_eq!(source(&rest), source(&shown));
    for service in ["chat:", "summaries:", "nightly:"] {
        let begin = |text: &str| text.split_once(service).expect(service).1.split(';').next().map(str::to_owned);
        let common =
            begin(&shown).zip(begin(&rest)).map(|(a, b)| a.split(' ').zip(b.split(' ')).take(9).all(|(a, b)| a == b));
        assert_eq!(common, Some(true), "{rest}\n{shown}");
    }
}

/// Its words, with one letter for each number.
fn without_numbers(text: &str) -> String {
    let is_number = |c: char| c.is_ascii_digit();
    let word = |word: &str| {
        let parts: Vec<_> = word.split(|c| is_number(c) || c == '.').filter(|part| !part.is_empty()).collect();
        if word.contains(is_number) { format!("N{}", parts.join("N")) } else { word.to_owned() }
    };
    text.split_whitespace().map(word).collect::<Vec<_>>().join(" ")
}

/// Every line is a series of the catalogue or says something of one.
fn assert_valid(text: &str) {
    for line in text.lines().filter(|line| !line.is_empty()) {
        let name = match line.strip_prefix("# ") {
            Some(comment) => comment.split(' ').nth(1).expect("a name"),
            None => {
                let (series, value) = line.rsplit_once(' ').expect("a value");
                assert!(value.parse::<f64>().is_ok(), "{line}");
                series.split('{').next().expect("a name")
            }
        };
        let of_histogram = ["_bucket", "_sum", "_count"].iter().find_map(|suffix| name.strip_suffix(suffix));
        let known = Metric::find(name).or_else(|| of_histogram.and_then(Metric::find));
        assert!(known.is_some(), "{line}");
    }
}

/// What a panel groups by: number, limit class and delay source of every attempt, under the names of the guide's table.
fn assert_attempts_are_as_the_guide_says(text: &str) {
    let row = GUIDE.lines().find(|row| row.starts_with("| `forbear_attempts_total` |")).expect("a row");
    let labels: Vec<_> =
        row.split(" | ").nth(3).expect("its labels").split(", ").map(|key| key.trim_matches('`')).collect();
    for asked in ["attempt", "limit_class", "delay_source"] {
        assert!(labels.contains(&asked), "{asked} is not in {row}");
    }
    let attempts: Vec<_> = text.lines().filter_map(|line| line.strip_prefix("forbear_attempts_total{")).collect();
    for line in &attempts {
        let pairs = line.split_once('}').expect("labels").0.split(',');
        let keys: Vec<_> = pairs.map(|pair| pair.split_once('=').expect("a pair").0).collect();
        assert_eq!(keys, [&["provider", "pool"], labels.as_slice()].concat(), "{line}");
    }
    for pair in [r#"attempt="1""#, r#"attempt="4_or_more""#, r#"limit_class="request_rate""#, r#"delay_source="curve""#]
    {
        assert!(attempts.iter().any(|line| line.contains(pair)), "{pair} is not in\n{text}");
    }
}

#[test]
fn it_ends_well_with_three_right_conclusions_and_shows_why_while_it_runs() {
    let mut run = Run::start(&[]);
    let text = run.scrape_at(9);
    assert_valid(&text);
    server::promtool_finds_nothing_in(&text);
    assert_attempts_are_as_the_guide_says(&text);
    let (report, head) = (run.report(), run.head.clone());
    assert_right(&report);
    assert_as_the_readme_shows(&head, &report, &run.rest());
    assert_eq!(run.exit_code(), Some(0));
}

#[test]
fn serving_goes_on_until_ctrl_c_and_ends_well() {
    let mut run = Run::start(&["--serve"]);
    assert_right(&run.report());
    run.interrupt();
    assert_right(&run.report());
    assert_eq!(run.exit_code(), Some(0));
}

#[test]
fn broken_off_before_its_conclusions_it_does_not_claim_to_have_ended_well() {
    let mut run = Run::start(&[]);
    run.interrupt();
    assert!(run.report().is_empty());
    assert_eq!(run.exit_code(), Some(130));
}
