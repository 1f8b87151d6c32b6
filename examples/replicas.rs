//! Eight replicas, one provider that shuts for ten seconds: what it gets to see without a shared gate, with one, and with one
//! that shares the pace too.
//!
//! ```sh
//! cargo run --example replicas --features redis,reqwest,emulator
//! ```
//!
//! Every replica is a process of its own. The Redis is the one `REDIS_URL` names, else one that is started for this run:
//! `redis-server` has to be installed then (`apt-get install redis-server`). `REPLICAS` and `CALLERS` (of each replica)
//! take other numbers than 8 and 20.
#![allow(clippy::disallowed_methods, reason = "an application measures and sleeps in real time")]

use std::error::Error;
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use forbear::emulator::Emulator;
use forbear::emulator::limits::Verdict;
use forbear::{Forbear, Gate, Policy, RedisOptions, provider};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep, timeout};

const SHUT: Duration = Duration::from_secs(10);
/// Requests that were on their way when the provider shut are nobody's fault.
const ON_THEIR_WAY: Duration = Duration::from_millis(100);
/// How often a caller asks; the callers of a replica take turns.
const EVERY: Duration = Duration::from_secs(5);
/// How long callers ask: before the shut, while it lasts, and after it.
const BEFORE: Duration = Duration::from_secs(6);
const AFTER: Duration = Duration::from_secs(6);

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["replica", url, gate, store, callers, of_all] => {
            // A fleet of its own: it knows nothing of the run before.
            let options = RedisOptions::new(store, format!("replicas-example-{gate}"));
            let gate = match gate {
                "local" => Gate::local(),
                "paced" => Gate::redis(options.paced()),
                _ => Gate::redis(options),
            };
            replica(url, gate, callers.parse()?, of_all.parse()?).await
        }
        [] => compare().await,
        _ => Err("it takes no arguments".into()),
    }
}

/// One replica: callers who ask again and again, from the line on its input on. Its turns lie between those of the others,
/// later by this share of one.
async fn replica(url: &str, gate: Gate, callers: u32, later: f64) -> Result<(), Box<dyn Error>> {
    let forbear = Forbear::builder().gate(gate).build()?;
    let pool = forbear.pool(provider::generic(), ["account", "model"]).build()?;
    let policy = Policy::interactive(Duration::from_secs(30)).named("replicas").build()?;
    let client = reqwest::Client::new();
    // Connected, and heard by the store, before anything is measured.
    client.get(url).send().await?;
    sleep(Duration::from_secs(1)).await;
    println!("ready");
    BufReader::new(tokio::io::stdin()).lines().next_line().await?;

    let until = Instant::now() + BEFORE + SHUT + AFTER;
    let asking: Vec<_> = (0..callers)
        .map(|turn| {
            let (pool, policy, client, url) = (pool.clone(), policy.clone(), client.clone(), url.to_owned());
            tokio::spawn(async move {
                let (mut answered, mut failed) = (0_u64, 0_u64);
                sleep(EVERY.mul_f64((f64::from(turn) + later) / f64::from(callers))).await;
                while Instant::now() < until {
                    let asked = pool.call(&policy).run(|_| client.get(&url).send()).await;
                    *if asked.is_ok() { &mut answered } else { &mut failed } += 1;
                    sleep(EVERY).await;
                }
                (answered, failed)
            })
        })
        .collect();
    let (mut answered, mut failed) = (0, 0);
    for caller in asking {
        let counts = caller.await?;
        answered += counts.0;
        failed += counts.1;
    }
    println!("{answered} {failed}");
    Ok(())
}

/// What the provider saw and the callers got.
#[derive(Default)]
struct Seen {
    requests: usize,
    at_once: usize,
    later: usize,
    answered: u64,
    failed: u64,
}

async fn compare() -> Result<(), Box<dyn Error>> {
    let number = |name: &str, usual| std::env::var(name).map_or(Ok(usual), |text| text.parse::<u32>());
    let (replicas, callers) = (number("REPLICAS", 8)?, number("CALLERS", 20)?);
    let (_server, store) = redis().await?;
    println!(
        "{replicas} replicas with {callers} callers each, who ask every {EVERY:?}; the provider shuts for {SHUT:?} and says so"
    );
    let mut seen = Vec::new();
    for gate in ["local", "news", "paced"] {
        seen.push(run(replicas, callers, gate, &store).await?);
    }
    println!("\n{:36}{:>16}{:>16}{:>16}", "", "local gates", "shared gate", "paced together");
    let row = |what: &str, of: fn(&Seen) -> u64| {
        let numbers: String = seen.iter().map(|seen| format!("{:>16}", of(seen))).collect();
        println!("{what:36}{numbers}");
    };
    row("requests the provider got", |seen| seen.requests as u64);
    row("429 in the first 100 ms of the shut", |seen| seen.at_once as u64);
    row("429 after that", |seen| seen.later as u64);
    row("calls that were answered", |seen| seen.answered);
    row("calls that failed", |seen| seen.failed);
    Ok(())
}

/// Runs the replicas against a provider of their own.
async fn run(replicas: u32, callers: u32, gate: &str, store: &str) -> Result<Seen, Box<dyn Error>> {
    let provider =
        Emulator::builder().speaks(provider::generic()).service_time(Duration::from_millis(50)).start().await?;
    let program = std::env::current_exe()?;
    let mut running = Vec::new();
    for index in 0..replicas {
        let later = f64::from(index) / f64::from(replicas);
        let child = tokio::process::Command::new(&program)
            .args(["replica", &provider.url(), gate, store, &callers.to_string(), &later.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        running.push(child);
    }
    let mut said = Vec::new();
    for child in &mut running {
        let mut lines = BufReader::new(child.stdout.take().ok_or("a replica without output")?).lines();
        lines.next_line().await?.ok_or("a replica ended before it was ready")?;
        said.push(lines);
    }
    let before = provider.counts().requests as usize;
    for child in &mut running {
        child.stdin.as_mut().ok_or("a replica without input")?.write_all(b"go\n").await?;
    }
    sleep(BEFORE).await;
    let shut_at = provider.elapsed();
    provider.shut_for(SHUT);

    let mut seen = Seen::default();
    for lines in &mut said {
        let line = lines.next_line().await?.ok_or("a replica ended before its time")?;
        let (answered, failed) = line.split_once(' ').ok_or("a replica that counts otherwise")?;
        seen.answered += answered.parse::<u64>()?;
        seen.failed += failed.parse::<u64>()?;
    }
    let arrivals = provider.arrivals();
    seen.requests = arrivals.len() - before;
    let throttled = arrivals.iter().filter(|arrival| matches!(arrival.verdict, Verdict::Throttled(_)));
    for arrival in throttled {
        *if arrival.at <= shut_at + ON_THEIR_WAY { &mut seen.at_once } else { &mut seen.later } += 1;
    }
    Ok(seen)
}

/// A server that ends with this value.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        // An error means that it is gone already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The Redis of the environment, or one of our own.
async fn redis() -> Result<(Option<Server>, String), Box<dyn Error>> {
    if let Ok(url) = std::env::var("REDIS_URL") {
        return Ok((None, url));
    }
    let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
    let started = Command::new("redis-server")
        .args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"])
        .stdout(Stdio::null())
        .spawn();
    let server = started.map(Server).map_err(|error| {
        format!("redis-server: {error}; install it (`apt-get install redis-server`), or name one by REDIS_URL")
    })?;
    let listens = async {
        while TcpStream::connect(("127.0.0.1", port)).await.is_err() {
            sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(Duration::from_secs(5), listens).await.map_err(|_| "redis-server does not listen after 5 s")?;
    Ok((Some(server), format!("redis://127.0.0.1:{port}")))
}
