//! One question to the server: never longer than [`ANSWER_WITHIN`], connecting included, and every failure judged.

use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{ErrorKind, FromRedisValue, Pipeline, RedisError, ScriptInvocation, ServerErrorKind};

use crate::clock;
use crate::core::moment::Moment;
use crate::event::Event;
use crate::event::words::{DegradedReason, StoreOperation, StoreOutcome};
use crate::store::redis::breaker::Transition;
use crate::store::redis::hub::Hub;

/// A store that takes longer is slow. The client's own limits do not cover connecting.
pub(super) const ANSWER_WITHIN: Duration = Duration::from_millis(250);

/// The store did not answer as it should; what to do about it has been seen to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unanswered;

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
        self.judge(operation, asked_at, answer.await)
    }

    /// Runs plain commands in one trip.
    pub(super) async fn query<T: FromRedisValue>(
        &self,
        operation: StoreOperation,
        commands: &Pipeline,
    ) -> Result<T, Unanswered> {
        let asked_at = self.clock.now();
        let answer = clock::within(ANSWER_WITHIN, async {
            let mut connection = self.connection().await?;
            commands.query_async(&mut connection).await
        });
        self.judge(operation, asked_at, answer.await)
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

    fn judge<T>(
        &self,
        operation: StoreOperation,
        asked_at: Moment,
        answer: Option<Result<T, RedisError>>,
    ) -> Result<T, Unanswered> {
        let now = self.clock.now();
        let (outcome, answer) = match answer {
            Some(Ok(answer)) => (StoreOutcome::Ok, Ok(answer)),
            Some(Err(error)) => (judged(&error), Err(Unanswered)),
            None => (StoreOutcome::Slow, Err(Unanswered)),
        };
        self.tell(now, &Event::StoreAsked { operation, outcome, took: asked_at.until(now) });
        match outcome {
            StoreOutcome::Ok => self.answered(now),
            StoreOutcome::Slow => self.failed(DegradedReason::Slow, now),
            StoreOutcome::Down => self.failed(DegradedReason::Down, now),
            StoreOutcome::Rejected => self.failed(DegradedReason::Rejected, now),
        }
        answer
    }

    /// Notes that the store answered.
    fn answered(&self, now: Moment) {
        let transition = self.state().breaker.answered(now);
        self.tell_transition(transition, now);
    }

    /// Notes a failure. The connection goes with it: after a fail-over the same socket never heals.
    pub(super) fn failed(&self, reason: DegradedReason, now: Moment) {
        let mut state = self.state();
        state.connection = None;
        state.server_clock.forget();
        let transition = state.breaker.failed(reason, now, &mut &self.dice);
        drop(state);
        self.tell_transition(transition, now);
    }

    fn tell_transition(&self, transition: Option<Transition>, now: Moment) {
        match transition {
            Some(Transition::Degraded(reason)) => self.tell(now, &Event::StoreDegraded { reason }),
            Some(Transition::Recovered(_)) => self.tell(now, &Event::StoreRecovered),
            None => {}
        }
    }
}

/// What kind of failure it is. A server that is still loading, or whose cluster is down, is as good as away.
fn judged(error: &RedisError) -> StoreOutcome {
    match error.kind() {
        _ if error.is_timeout() => StoreOutcome::Slow,
        ErrorKind::Server(
            ServerErrorKind::BusyLoading | ServerErrorKind::ClusterDown | ServerErrorKind::MasterDown,
        ) => StoreOutcome::Down,
        ErrorKind::Io => StoreOutcome::Down,
        _ => StoreOutcome::Rejected,
    }
}
