//! The HTTP answer to a verdict, in the words of a provider.
//!
//! A [`Dialect`] is pure: verdict, quotas and wall time in, answer out. The words come from the
//! [`answers`](crate::core::rule::Answer) of the provider's table.

mod forms;
pub(crate) mod plain;
mod template;
#[cfg(test)]
mod tests;
mod untold;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, DATE, HeaderName};
use http::{HeaderValue, Response, StatusCode};

use self::template::Values;
use super::limits::{Cost, FailureKind, RetryAfter, Throttle, Told, Verdict};
use crate::core::moment::WallTime;
use crate::core::rule::{Answer, Table};
use crate::core::signal::{LimitClass, Quotas, TokenKind};

/// How an emulated provider speaks.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Dialect {
    /// Whose words it uses.
    pub table: &'static Table,
    /// Which wait a refused request is told.
    pub retry_after: RetryAfter,
    /// Whether answers carry the provider's quota headers, successes too.
    pub quota_headers: bool,
    /// Whether a refused request is told which limit refused it.
    pub class_readable: bool,
}

impl Dialect {
    /// The words of `table`; waits told in whole seconds, quota headers on, classes named.
    #[must_use]
    pub const fn of(table: &'static Table) -> Self {
        Self { table, retry_after: RetryAfter::WholeSeconds, quota_headers: true, class_readable: true }
    }

    /// The answer to `verdict`, sent at `wall`; `quotas` are those of that instant. `None` where no answer is sent: a
    /// timeout, a broken connection.
    #[must_use]
    pub fn answer(&self, verdict: &Verdict, cost: Cost, quotas: &Quotas, wall: WallTime) -> Option<Response<Bytes>> {
        let shown = if self.quota_headers { *quotas } else { Quotas::default() };
        let mut values = Values { wait: None, limit: None, requested: None, quotas: shown, cost, wall };
        let answer = match verdict {
            Verdict::Admitted => self.find(LimitClass::None, None).copied().unwrap_or(plain::SUCCESS),
            Verdict::Throttled(throttle) => {
                let told = self.retry_after.tell(throttle, self.class_readable);
                values.wait = told.wait;
                values.limit = throttle.limit;
                values.requested = throttle.larger_than_limit;
                self.show_reset(throttle, &told, &mut values);
                self.refusal(throttle, &told)
            }
            Verdict::Failed(FailureKind::ServerError) => plain::SERVER_ERROR,
            Verdict::Failed(FailureKind::ErrorInSuccess) => plain::ERROR_IN_SUCCESS,
            Verdict::Failed(FailureKind::Auth) => plain::AUTH,
            Verdict::Failed(FailureKind::Timeout | FailureKind::Broken) => return None,
        };
        Some(respond(&answer, &values))
    }

    /// The table's answer of this class: of the same token side, else of both sides together, else of any.
    fn find(&self, class: LimitClass, token_kind: Option<TokenKind>) -> Option<&'static Answer> {
        let closeness = |answer: &&Answer| match answer.token_kind {
            side if side == token_kind => 2,
            None | Some(TokenKind::Total) => 1,
            Some(_) => 0,
        };
        self.table.answers.iter().filter(|answer| answer.class == class).rev().max_by_key(closeness)
    }

    /// The table's words for what is told, or plain ones.
    fn refusal(&self, throttle: &Throttle, told: &Told) -> Answer {
        if throttle.larger_than_limit.is_some() {
            return plain::LARGER_THAN_LIMIT;
        }
        let without_words = match told.class {
            LimitClass::Overload => plain::OVERLOAD,
            LimitClass::Spend => plain::SPEND,
            _ => self.find(LimitClass::Unknown, None).copied().unwrap_or(plain::UNKNOWN),
        };
        self.find(told.class, told.token_kind).copied().unwrap_or(without_words)
    }

    /// Where only the quota headers tell the wait, the spent quota is shown as spent: a rest too small for this request is
    /// rounded down to nothing, for readers take the reset of an axis only when nothing is left of it.
    fn show_reset(&self, throttle: &Throttle, told: &Told, values: &mut Values) {
        let (Some(reset), Some(axis)) = (told.reset, throttle.axis) else { return };
        let shown =
            values.quotas.iter().any(|reading| (reading.dimension, reading.window) == (axis.dimension, axis.window));
        if let Some(entry) = values.quotas.entry(axis.dimension, axis.window).filter(|_| shown) {
            (entry.remaining, entry.reset) = (Some(0), Some(reset));
        }
    }
}

/// The answer with its placeholders filled in, dated by the clock that states its waits.
fn respond(answer: &Answer, values: &Values) -> Response<Bytes> {
    let mut response = Response::new(Bytes::from(values.body(answer.body)));
    *response.status_mut() = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    if let Ok(date) = HeaderValue::from_str(&forms::date_of(values.wall)) {
        headers.insert(DATE, date);
    }
    for (name, template) in answer.headers {
        let value = values.header(template).and_then(|text| HeaderValue::from_str(&text).ok());
        if let (Ok(name), Some(value)) = (HeaderName::from_bytes(name.as_bytes()), value) {
            headers.append(name, value);
        }
    }
    headers.entry(CONTENT_TYPE).or_insert(HeaderValue::from_static("application/json"));
    response
}
