//! What an operator asks of the pools a fleet shares, and orders for all of its replicas.

use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{Pipeline, Script, ScriptInvocation};

use crate::clock;
use crate::core::setting::{InvalidSetting, within};
use crate::store::news::{KEPT_AFTER_END, is_tag};
use crate::store::order::{LONGEST_HELD, Order, SLOWEST, printable};
use crate::store::redis::RedisOptions;
use crate::store::redis::ask::{Answer, readable, said_of};
use crate::store::redis::hub::Scripts;
use crate::store::redis::keys::Keys;
use crate::store::redis::operator_pool::{FleetPool, PoolName, SHOWN};
use crate::store::redis::options::{NAMES, is_name};
use crate::store::redis::stored::{FIELDS, READ_AT_ONCE, Stored};

/// A person waits longer than a courier.
const ANSWER_WITHIN: Duration = Duration::from_secs(5);

/// An operator's lever on all replicas of a fleet: sees the pools they share, and shuts, paces or reopens one everywhere.
///
/// Replicas hear an order over the channel news comes by, within milliseconds; one that missed it reads it within 2 s. It
/// stands beside what the provider said, ends by itself, and outlives a store that lost it: whoever obeys tells it again.
/// Every replica tells [`Event::GateOperated`](crate::event::Event::GateOperated) with the reason and the name behind it,
/// and logs it at WARN. The command `forbear gate` is made of this; a service may build a page of its own.
///
/// ```no_run
/// use std::time::Duration;
/// use forbear::{Operator, RedisOptions};
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let operator = Operator::new(&RedisOptions::new("rediss://cache.internal", "prod"), "alice")?;
/// let pool = "openai/prod-account/gpt-4o".parse()?;
/// let told = operator.shut(&pool, Duration::from_secs(600), "the nightly export needs the quota").await?;
/// println!("{told} replicas were told");
/// operator.reopen(&pool, "the export is done").await?;
/// # Ok(()) }
/// ```
///
/// # Cancel safety
/// An order that was dropped, or ended in an error, may have been carried out all the same; to give it again does no harm.
#[derive(Debug)]
pub struct Operator {
    client: redis::Client,
    keys: Keys,
    by: String,
}

/// The store did not do what an operator asked of it.
#[derive(Debug)]
#[non_exhaustive]
pub enum OperatorError {
    /// A time outside its range.
    Setting(InvalidSetting),
    /// No answer within 5 s, or no connection within one.
    Slow,
    /// It could not be reached, or refused: where it is, and the server's or the client's words, in which no password
    /// stands.
    Store(String),
}

impl std::fmt::Display for OperatorError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Setting(refused) => refused.fmt(f),
            Self::Slow => f.write_str(
                "the store did not answer in time, as one does not that is asked for TLS by rediss:// and speaks none; nothing \
                 is known to have changed",
            ),
            Self::Store(said) => {
                f.write_str(said)?;
                let hint = match () {
                    // rustls' words for an authority nobody here knows.
                    () if said.contains("invalid peer certificate") => {
                        "where its authority is one of your own, SSL_CERT_FILE names the file with that authority's certificate"
                    }
                    () if said.contains("could not be reached") => "no replica was told, and each goes on with what it knows",
                    () if said.contains("corrupt message") => "does it speak TLS? redis:// is for a store that does not",
                    () if said.contains("Parse error") => "is it a Redis that answers there?",
                    () => return Ok(()),
                };
                write!(f, "; {hint}")
            }
        }
    }
}

impl std::error::Error for OperatorError {}

impl From<InvalidSetting> for OperatorError {
    fn from(refused: InvalidSetting) -> Self {
        Self::Setting(refused)
    }
}

impl Operator {
    /// An operator at the store of these options, under this name: 1 to 32 of letters, digits, `.`, `_`, `-`. Connects with
    /// each question.
    ///
    /// # Errors
    /// Options or a name out of range.
    pub fn new(options: &RedisOptions, name: &str) -> Result<Self, InvalidSetting> {
        if !is_name(name) {
            return Err(InvalidSetting::new("operator.name", name, NAMES));
        }
        Ok(Self { client: options.client()?, keys: Keys::new(&options.namespace), by: name.to_owned() })
    }

    /// The pools that replicas use or that were throttled of late, by name; of each replica at most the 500 it used last.
    ///
    /// # Errors
    /// The store could not be reached, refused, or did not answer within 5 s.
    pub async fn list(&self) -> Result<Vec<FleetPool>, OperatorError> {
        let listed = self.listed().await?;
        let listed: Vec<_> =
            listed.iter().filter_map(|line| line.split_once(' ')).filter(|(tag, _)| is_tag(tag)).collect();
        let mut pools = Vec::new();
        for listed in listed.chunks(READ_AT_ONCE) {
            let tags: Vec<String> = listed.iter().map(|(tag, _)| (*tag).to_owned()).collect();
            let read = self.read(&tags).await?.into_iter().zip(listed);
            pools.extend(read.map(|(pool, (_, name))| pool.named(name)));
        }
        pools.sort_by(|a, b| (&a.name, &a.tag).cmp(&(&b.name, &b.tag)));
        Ok(pools)
    }

    /// What replicas said they use: a line for each pool, of its tag and its name.
    async fn listed(&self) -> Result<Vec<String>, OperatorError> {
        self.ask(async |mut connection| {
            let mut range = redis::cmd("ZRANGE");
            range.arg(self.keys.pools()).arg(0).arg(-1).query_async(&mut connection).await
        })
        .await
    }

    /// Whether a replica said of late that it uses this pool or one below it: an order for any other is heard by all and
    /// holds nobody. A pool that nobody called for five minutes is not said to be used.
    ///
    /// # Errors
    /// The store could not be reached, refused, or did not answer within 5 s.
    pub async fn is_used(&self, pool: &PoolName) -> Result<bool, OperatorError> {
        let tag = pool.tag(&self.keys);
        Ok(self.listed().await?.iter().any(|line| line.split_once(' ').is_some_and(|(listed, _)| listed == tag)))
    }

    /// One pool, if anything is known of it.
    ///
    /// # Errors
    /// The store could not be reached, refused, or did not answer within 5 s.
    pub async fn show(&self, pool: &PoolName) -> Result<Option<FleetPool>, OperatorError> {
        Ok(self.read(&[pool.tag(&self.keys)]).await?.pop().filter(FleetPool::is_known))
    }

    /// Shuts the pool, and all below it, in every replica, for 1 ms to 26 h. Returns how many replicas were told at once.
    ///
    /// # Errors
    /// A time outside its range; the store could not be reached, refused, or did not answer within 5 s.
    pub async fn shut(&self, pool: &PoolName, for_how_long: Duration, reason: &str) -> Result<u64, OperatorError> {
        self.hold(pool, for_how_long, Duration::ZERO, reason).await
    }

    /// Lets one call pass per `every` (1 ms to 1 h) over all replicas together, for 1 ms to 26 h. Each takes its part of
    /// that. Returns how many replicas were told at once.
    ///
    /// # Errors
    /// A time outside its range; the store could not be reached, refused, or did not answer within 5 s.
    pub async fn pace(
        &self,
        pool: &PoolName,
        every: Duration,
        for_how_long: Duration,
        reason: &str,
    ) -> Result<u64, OperatorError> {
        within("operator.pace (every)", every, MILLI..=SLOWEST, "1ms to 1h")?;
        self.hold(pool, for_how_long, every, reason).await
    }

    /// Reopens the pool in every replica, whoever shut it for all of them: the provider, or an operator. Calls come back
    /// one after another. What an operator ordered in one process alone holds there. Returns how many replicas were told at
    /// once.
    ///
    /// # Errors
    /// The store could not be reached, refused, or did not answer within 5 s.
    pub async fn reopen(&self, pool: &PoolName, reason: &str) -> Result<u64, OperatorError> {
        let order = self.order(Duration::ZERO, Duration::ZERO, reason);
        self.carry_out("reopen", pool, &order).await
    }

    async fn hold(
        &self,
        pool: &PoolName,
        for_how_long: Duration,
        every: Duration,
        reason: &str,
    ) -> Result<u64, OperatorError> {
        within("operator (time)", for_how_long, MILLI..=LONGEST_HELD, "1ms to 26h")?;
        self.carry_out("hold", pool, &self.order(for_how_long, every, reason)).await
    }

    fn order(&self, left: Duration, every: Duration, reason: &str) -> Order {
        let reason = Some(printable(reason)).filter(|reason| !reason.is_empty());
        Order {
            given_at: 0,
            left,
            every,
            by: self.by.clone(),
            reason: reason.unwrap_or_else(|| "no reason given".to_owned()),
        }
    }

    async fn carry_out(&self, what: &str, pool: &PoolName, order: &Order) -> Result<u64, OperatorError> {
        let Scripts { order: script, .. } = Scripts::default();
        let call = invocation(&script, &self.keys, &pool.tag(&self.keys), what, order, &pool.readable());
        let (_, told): (String, u64) =
            self.ask(async |mut connection| call.invoke_async(&mut connection).await).await?;
        Ok(told)
    }

    /// The entries of these pools, as they stand.
    async fn read(&self, tags: &[String]) -> Result<Vec<FleetPool>, OperatorError> {
        let mut commands = Pipeline::new();
        commands.cmd("TIME");
        for tag in tags {
            commands.cmd("HMGET").arg(self.keys.entry(tag)).arg(FIELDS).arg(SHOWN);
        }
        let commands = commands.ignore_errors();
        let answers = self.ask(async |mut connection| readable(commands.query_async(&mut connection).await?)).await?;
        let Some((time, answers)) = answers.split_first() else { return Ok(Vec::new()) };
        let server_ms = time.as_deref().and_then(Stored::server_ms).unwrap_or_default();
        let entry =
            |(tag, fields): (&String, &Answer)| FleetPool::read(tag, fields.as_deref().unwrap_or_default(), server_ms);
        Ok(tags.iter().zip(answers).map(entry).collect())
    }

    /// Asks the store one question, on a connection of its own.
    async fn ask<T>(
        &self,
        question: impl AsyncFnOnce(MultiplexedConnection) -> redis::RedisResult<T>,
    ) -> Result<T, OperatorError> {
        let answer = clock::within(ANSWER_WITHIN, async {
            question(self.client.get_multiplexed_async_connection().await?).await
        });
        answer.await.ok_or(OperatorError::Slow)?.map_err(|error| self.failed(&error))
    }

    /// What went wrong, with the store's host and port.
    fn failed(&self, error: &redis::RedisError) -> OperatorError {
        if error.is_timeout() {
            return OperatorError::Slow;
        }
        let (at, said) = (self.client.get_connection_info().addr(), said_of(error));
        OperatorError::Store(if error.is_connection_refusal() || error.is_io_error() {
            format!("the store at {at} could not be reached: {said}")
        } else {
            format!("the store at {at} said: {said}")
        })
    }
}

const MILLI: Duration = Duration::from_millis(1);

/// The call that carries out an order; what each argument is stands in the script.
pub(super) fn invocation<'a>(
    script: &'a Script,
    keys: &Keys,
    tag: &str,
    what: &str,
    order: &Order,
    name: &str,
) -> ScriptInvocation<'a> {
    let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    let mut call = script.key(keys.entry(tag));
    call.arg(what).arg(millis(order.left)).arg(millis(order.every)).arg(order.given_at).arg(millis(KEPT_AFTER_END));
    call.arg(keys.channel()).arg(tag).arg(&order.by).arg(&order.reason).arg(name);
    call
}
