//! The HTTP answer to a verdict, in the words of a provider.
//!
//! A [`Dialect`] is pure: verdict, quotas and wall time in, answer out. The words come from the
//! [`answers`](crate::core::rule::Answer) of the provider's table.

mod forms;
mod plain;
mod rpc;
mod template;
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
    pub table: Table,
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
    pub const fn of(table: Table) -> Self {
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
                show_reset(throttle, &told, &mut values);
                self.refusal(throttle, &told)
            }
            Verdict::Failed(FailureKind::ServerError) => plain::SERVER_ERROR,
            Verdict::Failed(FailureKind::ErrorInSuccess) => plain::ERROR_IN_SUCCESS,
            Verdict::Failed(FailureKind::ErrorInStream) => plain::ERROR_IN_STREAM,
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
}

/// Where only the quota headers tell the wait, the spent quota is shown as spent: a rest too small for this request is
/// rounded down to nothing, for readers take the reset of an axis only when nothing is left of it.
fn show_reset(throttle: &Throttle, told: &Told, values: &mut Values) {
    let (Some(reset), Some(axis)) = (told.reset, throttle.axis) else { return };
    let shown =
        values.quotas.iter().any(|reading| (reading.dimension, reading.window) == (axis.dimension, axis.window));
    if let Some(entry) = values.quotas.entry(axis.dimension, axis.window).filter(|_| shown) {
        (entry.remaining, entry.reset) = (Some(0), Some(reset));
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use bytes::Bytes;
    use http::Response;

    use super::Dialect;
    use crate::core::dice::SeededDice;
    use crate::core::moment::{Moment, WallTime};
    use crate::core::rule::{Answer, Table};
    use crate::core::signal::{LimitClass, TokenKind};
    use crate::emulator::limits::{Cost, FailureKind, Limits, Meter, RetryAfter, Verdict};

    const fn answer(class: LimitClass, token_kind: Option<TokenKind>, body: &'static str) -> Answer {
        const HEADERS: &[(&str, &str)] = &[
            ("retry-after", "{wait.s}"),
            ("x-limit-requests", "{requests.limit}"),
            ("x-remaining-tokens", "{tokens.remaining}"),
            ("x-reset-tokens", "{tokens.reset.go}"),
        ];
        let status = if matches!(class, LimitClass::None) { 200 } else { 429 };
        Answer { class, token_kind, status, headers: HEADERS, body }
    }

    /// A provider that tells request rates from tokens, and input tokens from others.
    const WORDY: Table = Table::new("wordy").answers(&[
        answer(LimitClass::None, None, "{}"),
        answer(LimitClass::RequestRate, None, "requests: {limit}"),
        answer(LimitClass::TokenThroughput, Some(TokenKind::Input), "input"),
        answer(LimitClass::TokenThroughput, Some(TokenKind::Total), "total"),
        answer(LimitClass::Unknown, None, "unknown"),
    ]);

    /// What two requests of 6 and 4 tokens are answered, the second of which is refused.
    fn second(limits: Limits, dialect: Dialect) -> Response<Bytes> {
        let (mut meter, mut dice, cost) = (Meter::new(limits).unwrap(), SeededDice::new(1), Cost::tokens(6, 4));
        meter.admit(Moment::START, cost, &mut dice);
        let verdict = meter.admit(Moment::START, cost, &mut dice);
        dialect.answer(&verdict, cost, &meter.quotas(Moment::START), WallTime::default()).unwrap()
    }

    fn header<'a>(response: &'a Response<Bytes>, name: &str) -> Option<&'a str> {
        response.headers().get(name).and_then(|value| value.to_str().ok())
    }

    #[test]
    fn the_answer_of_the_class_and_the_nearest_side_is_sent() {
        let body = |limits: Limits| second(limits, Dialect::of(WORDY)).into_body();
        assert_eq!(body(Limits::new().requests_per_minute(1)), "requests: 1");
        assert_eq!(body(Limits::new().input_tokens_per_minute(6)), "input");
        assert_eq!(body(Limits::new().tokens_per_minute(10)), "total");
        assert_eq!(body(Limits::new().output_tokens_per_minute(4)), "total");
        assert_eq!(body(Limits::new().requests_per_day(1)), "unknown");
    }

    #[test]
    fn an_unreadable_class_is_sent_as_unknown_with_its_wait() {
        let dialect = Dialect { class_readable: false, ..Dialect::of(WORDY) };
        let response = second(Limits::new().requests_per_minute(1), dialect);
        assert_eq!((response.body().as_ref(), header(&response, "retry-after")), (&b"unknown"[..], Some("60")));
    }

    #[test]
    fn headers_tell_the_quotas_there_are_and_nothing_when_switched_off() {
        let limits = || Limits::new().tokens_per_minute(15);
        let shown = second(limits(), Dialect::of(WORDY));
        assert_eq!(header(&shown, "x-remaining-tokens"), Some("5"));
        assert_eq!(header(&shown, "x-reset-tokens"), Some("40s"));
        assert_eq!(header(&shown, "x-limit-requests"), None);
        let hidden = second(limits(), Dialect { quota_headers: false, ..Dialect::of(WORDY) });
        assert_eq!((header(&hidden, "x-remaining-tokens"), header(&hidden, "retry-after")), (None, Some("20")));
    }

    #[test]
    fn where_only_resets_tell_the_wait_the_spent_quota_is_shown_as_spent() {
        let dialect = Dialect { retry_after: RetryAfter::ResetOnly, ..Dialect::of(WORDY) };
        let response = second(Limits::new().tokens_per_minute(15), dialect);
        assert_eq!(header(&response, "retry-after"), None);
        assert_eq!(
            (header(&response, "x-remaining-tokens"), header(&response, "x-reset-tokens")),
            (Some("0"), Some("40s"))
        );
    }

    #[test]
    fn too_large_a_request_is_told_the_numbers_and_no_wait() {
        let response = second(Limits::new().tokens_per_minute(9), Dialect::of(WORDY));
        assert_eq!((response.status().as_u16(), header(&response, "retry-after")), (429, None));
        assert!(response.body().as_ref().windows(22).any(|text| text == b"Limit 9, Requested 10\""));
    }

    #[test]
    fn failures_without_an_answer_have_none_and_the_others_their_status() {
        let status = |kind| {
            let verdict = Verdict::Failed(kind);
            let answer = Dialect::of(WORDY).answer(&verdict, Cost::request(), &Default::default(), WallTime::default());
            answer.map(|response| response.status().as_u16())
        };
        let expected = [Some(500), None, Some(401), None, Some(200), Some(200)];
        assert_eq!(FailureKind::ALL.iter().copied().map(status).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn every_answer_is_dated_by_the_clock_that_states_its_waits() {
        let wall = WallTime::since_epoch(Duration::from_millis(1_700_000_000_900));
        let answer = Dialect::of(WORDY).answer(&Verdict::Admitted, Cost::request(), &Default::default(), wall).unwrap();
        assert_eq!(header(&answer, "date"), Some("Tue, 14 Nov 2023 22:13:20 GMT"));
        assert_eq!(header(&answer, "content-type"), Some("application/json"));
    }
}
