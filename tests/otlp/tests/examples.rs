//! The examples, run as a reader would run them.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{ChildStdout, Command, Stdio};

use forbear_otlp_tests::Collector;
use forbear_otlp_tests::server::Killed;

/// An example, which cargo puts beside the folder of the tests.
fn example(name: &str) -> Command {
    let tests = std::env::current_exe().expect("this program has a path");
    let folder: PathBuf = tests.parent().and_then(|deps| deps.parent()).expect("two folders up").join("examples");
    let program = folder.join(name);
    assert!(program.exists(), "no {}; bring it: cargo build --workspace --all-features --examples", program.display());
    Command::new(program)
}

/// Starts an example and gives back what it prints.
fn start(command: &mut Command) -> (Killed, BufReader<ChildStdout>) {
    let mut child = command.stdout(Stdio::piped()).spawn().expect("the example starts");
    let printed = BufReader::new(child.stdout.take().expect("piped"));
    (Killed::on_drop(child), printed)
}

/// Head and body of an answer.
fn get(url: &str) -> String {
    let (addr, path) = url.strip_prefix("http://").and_then(|rest| rest.split_once('/')).expect("a URL");
    let mut stream = TcpStream::connect(addr).expect("the example listens");
    write!(stream, "GET /{path} HTTP/1.0\r\nHost: localhost\r\n\r\n").expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it answers");
    answer
}

#[test]
fn the_axum_service_answers_shows_its_metrics_and_prints_its_spans() {
    let (running, mut printed) = start(example("axum_service").args(["127.0.0.1:0", "0"]));
    let mut line = String::new();
    printed.read_line(&mut line).expect("it says where it listens");
    let urls: Vec<_> =
        line.split([' ', ',', '\n']).filter(|word| word.starts_with("http://")).map(str::to_owned).collect();
    let [answers, metrics] = &urls[..] else { panic!("two URLs in {line:?}") };

    const CALLERS: usize = 4;
    let callers: Vec<_> = (0..CALLERS)
        .map(|_| {
            std::thread::spawn({
                let answers = answers.clone();
                move || get(&answers)
            })
        })
        .collect();
    for caller in callers {
        let answer = caller.join().expect("an answer");
        assert!(answer.starts_with("HTTP/1.0 200 OK"), "two at once and two in the next second: {answer}");
    }
    let page = get(metrics);
    let shown = |line: &str| assert!(page.contains(line), "{line} is not in\n{page}");
    let pool = r#"provider="openai",pool="demo/gpt""#;
    shown(&format!("forbear_calls_total{{{pool},policy=\"chat\"}} {CALLERS}\n"));
    shown(&format!("forbear_call_duration_seconds_count{{{pool},outcome=\"ok\"}} {CALLERS}\n"));
    shown(&format!("forbear_quota_limit{{{pool},dimension=\"requests\",window=\"minute\",origin=\"header\"}} 120\n"));
    shown("outcome=\"throttled\",limit_class=\"request_rate\"}");

    drop(running);
    let mut spans = String::new();
    printed.read_to_string(&mut spans).expect("text");
    for span in ["forbear.call", "forbear.attempt"] {
        assert!(spans.contains(span), "{span} is not in\n{spans}");
    }
}

#[test]
fn the_otlp_example_pushes_its_traces_and_metrics_to_the_collector_the_environment_names() {
    let collector = Collector::start();
    let endpoint = format!("http://{}", collector.http);
    let output = example("otlp").env("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint).output().expect("the example runs");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(said.matches(": 200 OK").count(), 8, "{said}");
    assert!(said.ends_with("pushed; lost 0 spans and 0 pushes of metrics\n"), "{said}");

    let tree = collector.tree(&["document", "forbear.call.outcome"]);
    assert_eq!(tree.matches("summarise document=").count(), 8, "{tree}");
    assert_eq!(tree.matches("\n  forbear.call forbear.call.outcome=ok\n    forbear.").count(), 8, "{tree}");
    assert_eq!(collector.resource("service.name")[0].as_deref(), Some("otlp-example"));
    let calls = collector.lines(forbear_otlp_tests::translate);
    let pool = "policy=\"summaries\",pool=\"example/claude-sonnet\",provider=\"anthropic\"";
    assert!(calls.contains(&format!("forbear_calls_total{{{pool}}} 8")), "{calls:#?}");
}
