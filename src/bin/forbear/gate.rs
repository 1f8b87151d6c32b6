//! `forbear gate`: an operator's hand on the pools a fleet shares.

mod access;
mod object;

use std::io::{self, Write};
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, Subcommand};
use forbear::{FleetPool, Operator, PoolName};
use serde_json::Value;

use crate::duration;
use crate::text::printable;
use access::Store;

/// See the pools that replicas share, and shut, pace or reopen one in all of them.
///
/// Every replica hears an order within a second, tells it as an event with the reason and your name, and obeys until it
/// ends. It stands beside what the provider says.
#[derive(Args)]
#[command(after_help = "\
Secrets are read from the environment, never from an argument:
  FORBEAR_REDIS_PASSWORD, or FORBEAR_REDIS_PASSWORD_FILE, which names a file
FORBEAR_REDIS_URL and FORBEAR_REDIS_NAMESPACE stand in for --redis and --namespace.

Examples:
  forbear gate list --redis rediss://cache.internal --namespace prod
  forbear gate show openai/prod/gpt-4o
  forbear gate shut openai/prod --for 30m --reason 'the export needs the quota'
  forbear gate pace openai/prod/gpt-4o --every 500ms --for 2h --reason 'half for the export'
  forbear gate reopen openai/prod --reason 'the quota was raised'

Without --by the name is that of the user of this machine.

Exit status: 0 when it is done; 1 when the store is away, refused, or knows no such pool; 2 when the arguments are refused.")]
pub(crate) struct Gate {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// The pools that replicas use or that were throttled of late, one line each.
    List {
        #[command(flatten)]
        store: Store,
        /// Print one JSON array; times are seconds.
        #[arg(long)]
        json: bool,
    },
    /// One pool.
    Show {
        /// The pool: provider/name/name, or the tag a list shows.
        pool: PoolName,
        #[command(flatten)]
        store: Store,
        /// Print one JSON object; times are seconds.
        #[arg(long)]
        json: bool,
    },
    /// Let nobody pass, in every replica.
    Shut(Order),
    /// Let one call pass per so long, over all replicas together.
    Pace {
        /// One call per so long, 1ms to 1h.
        #[arg(long, value_name = "TIME", value_parser = duration::parse, allow_hyphen_values = true)]
        every: Duration,
        #[command(flatten)]
        order: Order,
    },
    /// Let calls come back, one after another, whoever shut or paced the pool.
    Reopen {
        /// The pool: provider/name/name, or the tag a list shows.
        pool: PoolName,
        /// Why: told by every replica.
        #[arg(long, value_name = "TEXT")]
        reason: String,
        #[command(flatten)]
        store: Store,
    },
}

#[derive(Args)]
struct Order {
    /// The pool: provider/name/name, or the tag a list shows. A path cut short holds all pools below it.
    pool: PoolName,
    /// For how long, 1ms to 26h; give it again where that is not enough.
    #[arg(long = "for", value_name = "TIME", value_parser = duration::parse, allow_hyphen_values = true)]
    for_how_long: Duration,
    /// Why: told by every replica.
    #[arg(long, value_name = "TEXT")]
    reason: String,
    #[command(flatten)]
    store: Store,
}

/// Why there is nothing to show for it, and the exit code.
pub(crate) struct Failure(u8, String);

/// Asks, or orders, and says what came of it.
pub(crate) fn run(gate: &Gate) -> ExitCode {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let done = match runtime {
        Ok(runtime) => runtime.block_on(gate.what.carry_out()),
        Err(error) => Err(Failure(1, error.to_string())),
    };
    match done {
        Ok(text) => {
            // Whoever reads our output may stop reading it.
            let _ = io::stdout().lock().write_all(printable(&text).as_bytes());
            ExitCode::SUCCESS
        }
        Err(Failure(code, why)) => {
            eprintln!("forbear gate: {}", printable(&why));
            ExitCode::from(code)
        }
    }
}

impl What {
    async fn carry_out(&self) -> Result<String, Failure> {
        match self {
            Self::List { store, json } => {
                let pools = store.operator()?.list().await?;
                Ok(if *json { object::of_all(&pools).to_string() + "\n" } else { lines(&pools) })
            }
            Self::Show { pool, store, json } => {
                let shown = store.operator()?.show(pool).await?;
                let shown = shown.ok_or_else(|| {
                    Failure(
                        1,
                        "the store knows nothing of this pool: it was never throttled or held of late. `forbear gate list` shows \
                         those that replicas use"
                            .to_owned(),
                    )
                })?;
                let object = || -> Value { object::of(&shown) };
                Ok(if *json { object().to_string() } else { shown.to_string() } + "\n")
            }
            Self::Shut(Order { pool, for_how_long, reason, store }) => {
                let operator = store.operator()?;
                let told = operator.shut(pool, *for_how_long, reason).await?;
                Ok(done(&format!("shut for {for_how_long:?}"), told, store) + hint(&operator, pool, told).await)
            }
            Self::Pace { every, order: Order { pool, for_how_long, reason, store } } => {
                let operator = store.operator()?;
                let told = operator.pace(pool, *every, *for_how_long, reason).await?;
                Ok(done(&format!("one call per {every:?} for {for_how_long:?}"), told, store)
                    + hint(&operator, pool, told).await)
            }
            Self::Reopen { pool, reason, store } => {
                let operator = store.operator()?;
                let told = operator.reopen(pool, reason).await?;
                Ok(done("reopened", told, store) + hint(&operator, pool, told).await)
            }
        }
    }
}

/// What a person should know after an order.
fn done(what: &str, told: u64, store: &Store) -> String {
    let replicas = if told == 1 { "replica was" } else { "replicas were" };
    format!("{what} by {}: {told} {replicas} told\n", store.by())
}

/// Why an order may have held nobody. Replicas are told of all pools of their namespace, whichever they have.
async fn hint(operator: &Operator, pool: &PoolName, told: u64) -> &'static str {
    if told == 0 {
        return "nobody listens: is the namespace the one the replicas use?\n";
    }
    // Whoever may not look into the list hears nothing of it: the order was given.
    match operator.is_used(pool).await {
        Ok(false) => "no replica has used a pool of this name of late: is it spelled as a list shows it?\n",
        Ok(true) | Err(_) => "",
    }
}

fn lines(pools: &[FleetPool]) -> String {
    if pools.is_empty() {
        return "no pool is in use in this namespace: is it the one the replicas use?\n".to_owned();
    }
    pools.iter().map(|pool| format!("{}  {pool}\n", pool.tag)).collect()
}
