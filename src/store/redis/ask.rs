//! One question to the server: never longer than [`ANSWER_WITHIN`], connecting included, and every failure judged.

use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{ErrorKind, FromRedisValue, Pipeline, RedisError, RedisResult, ScriptInvocation, ServerErrorKind, Value};

use crate::clock;
use crate::core::moment::Moment;
use crate::event::Event;
use crate::event::words::{DegradedReason, StoreOperation, StoreOutcome};
use crate::store::Note;
use crate::store::order::printable;
use crate::store::redis::breaker::Transition;
use crate::store::redis::hub::Hub;

/// A store that takes longer is slow. The client's own limits do not cover connecting.
pub(super) const ANSWER_WITHIN: Duration = Duration::from_millis(250);

/// There is no answer; what to do about it has been seen to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unanswered {
    /// The store did not answer as it should: nothing else need be asked of it now.
    Store,
    /// The store is well, but what lies under the key is none of ours, and nothing can be told or asked of that pool.
    Entry,
}

impl Hub {
    /// Runs a script.
    pub(super) async fn invoke<T: FromRedisValue>(
        &self,
        operation: StoreOperation,
        script: &ScriptInvocation<'_>,
    ) -> Result<T, Unanswered> {
        let asked_at = self.clock.now();
        let answer = clock::within(ANSWER_WITHIN, async {
            let mut connection = self.connection().await?;
            script.invoke_async(&mut connection).await
        });
        self.judge(operation, true, asked_at, answer.await)
    }

    /// Runs commands that write nothing in one trip. One that meets a key that is none of ours, or what cannot be read, has no answer;
    /// the others do.
    pub(super) async fn query(
        &self,
        operation: StoreOperation,
        commands: &mut Pipeline,
    ) -> Result<Vec<Answer>, Unanswered> {
        let asked_at = self.clock.now();
        let commands = commands.ignore_errors();
        let answer = clock::within(ANSWER_WITHIN, async {
            let mut connection = self.connection().await?;
            readable(commands.query_async(&mut connection).await?)
        });
        self.judge(operation, false, asked_at, answer.await)
    }

    /// The connection commands share, opened where there is none.
    async fn connection(&self) -> Result<MultiplexedConnection, RedisError> {
        if let Some(connection) = self.state().connection.clone() {
            return Ok(connection);
        }
        let connection = self.client.get_multiplexed_async_connection().await?;
        self.state().connection = Some(connection.clone());
        Ok(connection)
    }

    /// What comes of an answer; `writes`: of one to a question that writes.
    fn judge<T>(
        &self,
        operation: StoreOperation,
        writes: bool,
        asked_at: Moment,
        answer: Option<Result<T, RedisError>>,
    ) -> Result<T, Unanswered> {
        let now = self.clock.now();
        let error = match answer {
            Some(Ok(answer)) => {
                self.tell(now, &Event::StoreAsked { operation, outcome: StoreOutcome::Ok, took: asked_at.until(now) });
                self.answered(writes, asked_at, now);
                return Ok(answer);
            }
            Some(Err(error)) => Some(error),
            None => None,
        };
        let outcome = error.as_ref().map_or(StoreOutcome::Slow, judged);
        self.tell(now, &Event::StoreAsked { operation, outcome, took: asked_at.until(now) });
        if error.as_ref().is_some_and(is_foreign) {
            self.answered(false, asked_at, now);
            return Err(Unanswered::Entry);
        }
        let reason = match outcome {
            StoreOutcome::Down => DegradedReason::Down,
            StoreOutcome::Rejected => DegradedReason::Rejected,
            StoreOutcome::Slow | StoreOutcome::Ok => DegradedReason::Slow,
        };
        self.failed(reason, error.as_ref(), now);
        Err(Unanswered::Store)
    }

    /// Notes that the store answered what it was asked at `asked_at`.
    fn answered(&self, wrote: bool, asked_at: Moment, now: Moment) {
        let transition = self.state().breaker.answered(wrote, asked_at, now);
        self.tell_transition(transition, "", now);
    }

    /// Notes a failure, with what the server or the client says of it. The connection goes with it: after a fail-over the
    /// same socket never heals.
    pub(super) fn failed(&self, reason: DegradedReason, error: Option<&RedisError>, now: Moment) {
        let fails_over = error.is_some_and(|error| error.kind() == ErrorKind::Server(ServerErrorKind::ReadOnly));
        let mut state = self.state();
        state.connection = None;
        state.server_clock.forget();
        let transition = state.breaker.failed(reason, fails_over, now, &mut &self.dice);
        drop(state);
        if transition.is_some() {
            let said = match error {
                Some(error) => said_of(error),
                None if reason == DegradedReason::Silent => {
                    "two pings of the subscription were not answered".to_owned()
                }
                None => format!("no answer within {ANSWER_WITHIN:?}"),
            };
            self.tell_transition(transition, &said, now);
        }
    }

    fn tell_transition(&self, transition: Option<Transition>, said: &str, now: Moment) {
        match transition {
            Some(Transition::Degraded(reason)) => {
                self.tell(now, &Event::StoreDegraded { reason });
                self.note(&Note::Degraded { reason, said });
            }
            Some(Transition::Refuses) => self.note(&Note::Degraded { reason: DegradedReason::Rejected, said }),
            Some(Transition::Recovered(away)) => {
                self.tell(now, &Event::StoreRecovered);
                self.note(&Note::Recovered { away });
                // All who found it meet, and begin together.
                self.reconcile_soon();
            }
            None => {}
        }
    }
}

/// What the server or the client says of a failure, on one line and not too long. No address and no password stand in it.
pub(super) fn said_of(error: &RedisError) -> String {
    printable(&error.to_string())
}

/// The fields a plain command of several was answered with, if that can be read.
pub(super) type Answer = Option<Vec<Option<String>>>;

/// What commands that were asked together were answered; fails where the server refuses one.
pub(super) fn readable(answers: Vec<RedisResult<Value>>) -> RedisResult<Vec<Answer>> {
    let readable = |answer: RedisResult<Value>| match answer {
        Ok(answer) => Ok(redis::from_redis_value(answer).ok()),
        Err(error) if is_foreign(&error) => Ok(None),
        Err(error) => Err(error),
    };
    answers.into_iter().map(readable).collect()
}

/// Whether it is no failure of the store, but a key under which somebody else has put something else.
fn is_foreign(error: &RedisError) -> bool {
    // Where a script meets it, older servers put their own word before it.
    matches!(error.kind(), ErrorKind::Server(_) | ErrorKind::Extension) && error.to_string().contains("WRONGTYPE")
}

/// Whether the server refuses, as opposed to being away or slow. One that is still loading, or whose cluster is down, is as
/// good as away.
pub(super) fn judged(error: &RedisError) -> StoreOutcome {
    match error.kind() {
        _ if error.is_timeout() => StoreOutcome::Slow,
        ErrorKind::Server(
            ServerErrorKind::BusyLoading | ServerErrorKind::ClusterDown | ServerErrorKind::MasterDown,
        ) => StoreOutcome::Down,
        ErrorKind::Io => StoreOutcome::Down,
        _ => StoreOutcome::Rejected,
    }
}
