//! Real servers: brought where they are missing, started on a free port, ended with their value.
#![allow(dead_code, unreachable_pub, missing_docs, reason = "each of its users needs a part of it")]
#![allow(clippy::disallowed_methods, reason = "nobody's runtime waits for these servers")]
#![allow(clippy::missing_panics_doc, reason = "a test ends where something is not as it should be")]

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

/// Runs a command to its end and shows what it said if it failed.
pub fn run(command: &mut Command) {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// The program of this name, brought if it is not there.
pub fn tool(name: &str) -> Command {
    let mut above = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    let root = above.find(|folder| folder.join("tests/tools/bring").exists()).expect("the project's folder");
    run(Command::new(root.join("tests/tools/bring")).arg(name).current_dir(root));
    let brought = root.join("target/tools/bin").join(name);
    Command::new(if brought.exists() { brought } else { PathBuf::from(name) })
}

/// Has promtool look at a page of metrics: at its grammar, and at names and help texts.
pub fn promtool_finds_nothing_in(page: &str) {
    let mut check = tool("promtool");
    let piped = check.args(["check", "metrics"]).stdin(Stdio::piped()).stderr(Stdio::piped()).stdout(Stdio::piped());
    let mut checking = piped.spawn().expect("promtool runs");
    checking.stdin.take().expect("piped").write_all(page.as_bytes()).expect("promtool reads");
    let output = checking.wait_with_output().expect("promtool ends");
    let findings = [output.stdout, output.stderr].concat();
    assert!(output.status.success() && findings.is_empty(), "{}", String::from_utf8_lossy(&findings));
}

/// An empty folder of this name below `parent`.
pub fn empty_folder(parent: &str, name: &str) -> PathBuf {
    let folder = Path::new(parent).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder");
    folder
}

/// A port of loopback that nobody listens at.
pub fn free_addr() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a free port")
}

/// A process that is killed with this value.
#[derive(Debug)]
pub struct Killed(Child);

impl Killed {
    /// This process, as long as the value lives.
    pub const fn on_drop(child: Child) -> Self {
        Self(child)
    }
}

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A program that listens; it ends with this value.
#[derive(Debug)]
pub struct Server {
    child: Killed,
    addr: SocketAddr,
}

impl Server {
    /// Where it listens.
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Starts a program that will listen at `addr`, and waits until its log says that it is `ready`.
    pub fn start(mut command: Command, addr: SocketAddr, ready: &str) -> Self {
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
        let mut log = BufReader::new(child.stderr.take().expect("piped")).lines().map_while(Result::ok);
        assert!(log.any(|line| line.contains(ready)), "{command:?} ended before it was ready");
        // It must not stop over a log that nobody reads.
        std::thread::spawn(move || log.for_each(drop));
        Self { child: Killed(child), addr }
    }

    /// Starts a program, and waits until it takes connections at `addr`.
    pub fn listening(mut command: Command, addr: SocketAddr) -> Self {
        let child = command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
        let mut server = Self { child: Killed(child), addr };
        while TcpStream::connect(addr).is_err() {
            let ended = server.child.0.try_wait().expect("it can be asked");
            assert!(ended.is_none(), "{command:?} ended before it listened: {ended:?}");
            std::thread::sleep(Duration::from_millis(20));
        }
        server
    }

    /// A Prometheus that keeps its data in `folder` and scrapes what this part of its configuration says.
    pub fn prometheus(folder: &Path, scrape_configs: &str) -> Self {
        let (config, addr) = (folder.join("prometheus.yml"), free_addr());
        fs::write(&config, format!("scrape_configs: {scrape_configs}\n")).expect("written");
        let mut command = tool("prometheus");
        command
            .arg(format!("--config.file={}", config.display()))
            .arg(format!("--storage.tsdb.path={}", folder.join("tsdb").display()))
            .arg("--storage.tsdb.retention.time=100y")
            .arg(format!("--web.listen-address={addr}"));
        Self::start(command, addr, "Server is ready to receive web requests")
    }

    /// A VictoriaMetrics that keeps its data in `folder`, takes OTLP over HTTP, and shows what it took at once: by default
    /// it holds the last half minute back.
    pub fn victoria_metrics(folder: &Path) -> Self {
        Self::victoria_metrics_told(folder, &["-opentelemetry.usePrometheusNaming"])
    }

    /// The same, told this and no more about names.
    pub fn victoria_metrics_told(folder: &Path, more: &[&str]) -> Self {
        let addr = free_addr();
        let mut command = tool("victoria-metrics");
        command
            .arg(format!("-storageDataPath={}", folder.join("victoria").display()))
            .arg(format!("-httpListenAddr={addr}"))
            .args(["-search.latencyOffset=1s", "-loggerLevel=INFO", "-retentionPeriod=100y"])
            .args(more);
        Self::start(command, addr, "started server at")
    }

    /// An empty Redis that keeps nothing on disk.
    pub fn redis(more: &[&str]) -> Self {
        Self::redis_at(free_addr(), more)
    }

    /// An empty Redis whose clock is off by so many seconds.
    pub fn redis_with_clock(shift: i64) -> Self {
        let (addr, mut command) = (free_addr(), tool("shifted-clock"));
        command.arg(shift.to_string()).arg(tool("redis-server").get_program());
        Self::redis_by(command, addr, &[])
    }

    /// The same at this address: as one that was killed comes back.
    pub fn redis_at(addr: SocketAddr, more: &[&str]) -> Self {
        Self::redis_by(tool("redis-server"), addr, more)
    }

    fn redis_by(mut command: Command, addr: SocketAddr, more: &[&str]) -> Self {
        command
            .args(["--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--daemonize", "no", "--port"])
            .arg(addr.port().to_string())
            .args(more)
            .stdout(Stdio::null());
        Self::listening(command, addr)
    }

    /// The process, for signals.
    pub fn pid(&self) -> u32 {
        self.child.0.id()
    }

    /// The body of an answer.
    pub fn get(&self, path: &str) -> String {
        let mut stream = TcpStream::connect(self.addr).expect("the server listens");
        write!(stream, "GET {path} HTTP/1.0\r\nHost: localhost\r\n\r\n").expect("the server reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("the server answers");
        let (head, body) = answer.split_once("\r\n\r\n").expect("a head and a body");
        assert!(head.contains(" 200 "), "{path}: {answer}");
        body.to_owned()
    }

    /// The series of an instant query, each with its labels and its value; now, or at a second since 1970.
    pub fn query(&self, promql: &str, unix_seconds: Option<u64>) -> Vec<(Labels, f64)> {
        self.ask(promql, unix_seconds).iter().map(|series| (labels(series), sample(&series["value"]).1)).collect()
    }

    /// The series of a query over time, from one second since 1970 to another, so many seconds apart.
    pub fn query_range(&self, promql: &str, from: u64, to: u64, step: u64) -> Vec<(Labels, Vec<(f64, f64)>)> {
        let series = self.ask_for(&format!("query_range?start={from}&end={to}&step={step}"), promql);
        series.iter().map(|series| (labels(series), samples(series))).collect()
    }

    /// The samples behind a selector with a range, such as `up[5m]`: by series, each with its second since 1970.
    pub fn samples(&self, promql: &str) -> Vec<(Labels, Vec<(f64, f64)>)> {
        self.ask(promql, None).iter().map(|series| (labels(series), samples(series))).collect()
    }

    fn ask(&self, promql: &str, unix_seconds: Option<u64>) -> Vec<Value> {
        let time = unix_seconds.map_or_else(String::new, |seconds| format!("time={seconds}"));
        self.ask_for(&format!("query?{time}"), promql)
    }

    fn ask_for(&self, what: &str, promql: &str) -> Vec<Value> {
        let query: String = promql.bytes().map(|byte| format!("%{byte:02X}")).collect();
        let body = self.get(&format!("/api/v1/{what}&query={query}"));
        let mut body: Value = serde_json::from_str(&body).unwrap_or_else(|error| panic!("{error}: {body}"));
        assert_eq!(body["status"], "success", "{promql}: {body}");
        match body["data"]["result"].take() {
            Value::Array(series) => series,
            other => panic!("{promql}: {other}"),
        }
    }
}

/// The labels of a series, its name among them.
pub type Labels = BTreeMap<String, String>;

fn labels(series: &Value) -> Labels {
    let labels = series["metric"].as_object().expect("labels").iter();
    labels.map(|(key, value)| (key.clone(), value.as_str().expect("a word").to_owned())).collect()
}

fn samples(series: &Value) -> Vec<(f64, f64)> {
    series["values"].as_array().expect("a matrix").iter().map(sample).collect()
}

/// Second since 1970, and value.
fn sample(pair: &Value) -> (f64, f64) {
    let value = pair[1].as_str().and_then(|value| value.parse().ok());
    (pair[0].as_f64().expect("a time"), value.unwrap_or_else(|| panic!("{pair} is no sample")))
}
