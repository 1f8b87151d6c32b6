//! A service in a process of its own, so that a test can give it an environment, end it, and start it again.
//!
//! | arguments | what it does |
//! |---|---|
//! | `push current drop`, `push multi shutdown`, … | pushes the known workload and the known spans, then ends as told |
//! | `load CALLS` | pushes while it makes so many calls; prints what was lost and how its memory grew |
//! | `serve PORT` | is scraped at the port; makes as many calls as each line it reads says, prints `done`, ends with its input |

use std::error::Error;
use std::io::{BufRead, stdin};
use std::time::Duration;

use forbear::otlp::{self, Config, LostTelemetry};
use forbear::{Forbear, Observation, Policy, Pool, provider};
use forbear_otlp_tests::{traced_call, workload};
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinSet;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["push", "current", end] => Builder::new_current_thread().enable_all().build()?.block_on(push(end)),
        ["push", "multi", end] => Runtime::new()?.block_on(push(end)),
        ["load", calls] => Runtime::new()?.block_on(load(calls.parse()?)),
        ["serve", port] => serve(port.parse()?),
        _ => Err("push, load or serve".into()),
    }
}

/// Tasks that call at the same time.
const TASKS: u64 = 4;

/// The environment says where to: what stands here leads nowhere.
fn config() -> Config {
    Config::new("named-in-the-code").endpoint("http://127.0.0.1:1").attribute("deployment.environment.name", "test")
}

async fn push(end: &str) -> Result<(), Box<dyn Error>> {
    let otlp = otlp::install(config())?;
    let (totals, gauges) = workload(otlp.instruments());
    traced_call().await;
    match end {
        "drop" => drop(otlp),
        _ => println!("{:?}", otlp.shutdown().await?),
    }
    drop(gauges);
    print!("{}", totals.to_prometheus());
    Ok(())
}

/// Calls that succeed at once, from several tasks at the same time.
#[derive(Clone)]
struct Caller {
    pool: Pool,
    policy: Policy,
}

impl Caller {
    fn new(forbear: &Forbear) -> Result<Self, Box<dyn Error>> {
        let pool = forbear.pool(provider::generic(), ["search"]).build()?;
        Ok(Self { pool, policy: Policy::interactive(Duration::from_secs(15)).named("chat").build()? })
    }

    /// So many calls, in all.
    async fn call(&self, calls: u64) {
        let mut tasks = JoinSet::new();
        for task in 0..TASKS {
            let caller = self.clone();
            let own = calls / TASKS + u64::from(task < calls % TASKS);
            tasks.spawn(async move {
                for _ in 0..own {
                    let call = caller.pool.call(&caller.policy).classify(|_: &Result<(), ()>| Observation::ok());
                    call.run(|_| async { Ok(()) }).await.expect("a success");
                }
            });
        }
        tasks.join_all().await;
    }
}

async fn load(calls: u64) -> Result<(), Box<dyn Error>> {
    let otlp = otlp::install(config())?;
    let caller = Caller::new(&Forbear::builder().sink(otlp.instruments()).build()?)?;
    caller.call(calls / 5).await;
    let warm = resident_kib()?;
    caller.call(calls - calls / 5).await;
    let grown = resident_kib()?.saturating_sub(warm);
    let known = otlp.lost();
    let (lost, ended) = match otlp.shutdown().await {
        Ok(lost) => (lost, "well"),
        Err(error) => (error.lost(), "badly"),
    };
    let LostTelemetry { spans, metric_pushes, .. } = lost;
    println!("calls={calls} lost_before_the_end={} lost={spans} lost_pushes={metric_pushes}", known.spans);
    println!("grown_kib={grown} ended={ended}");
    Ok(())
}

/// What this process occupies of the machine's memory.
fn resident_kib() -> Result<u64, Box<dyn Error>> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or("no VmRSS")?;
    Ok(line.split_whitespace().next().ok_or("no number")?.parse()?)
}

fn serve(port: u16) -> Result<(), Box<dyn Error>> {
    let prometheus = forbear::prometheus::install(port)?;
    let caller = Caller::new(&Forbear::builder().sink(prometheus.meters()).build()?)?;
    let runtime = Runtime::new()?;
    for line in stdin().lock().lines() {
        runtime.block_on(caller.call(line?.trim().parse()?));
        println!("done");
    }
    Ok(())
}
