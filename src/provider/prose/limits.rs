//! Named limits: "requests per minute", "TPM", "token rate limit", "20 API calls / minute", "hourly", "per 60s".

use crate::core::rule::claim::{Claims, Span, Unit};
use crate::provider::headers::number::leading_decimal;
use crate::provider::prose::terms::{Term, term};
use crate::provider::prose::words::{Packed, Word, Words};

/// Listens for limits, word by word. What it remembers is kept with the number of the word it was heard at.
#[derive(Debug, Default)]
pub(super) struct LimitReader {
    claims: Claims,
    words: u32,
    /// The unit last heard.
    unit: Option<(Unit, u32)>,
    /// The side last heard, for one word more.
    side: Option<Unit>,
    /// The unit or side before an "and", which shares what follows: "3 queries and 9 tokens per minute".
    joined: Option<(Unit, u32)>,
    /// A window without a unit, for one word more or two: "per minute request limit", "daily token limit".
    window: Option<(Span, u32)>,
    /// Whether "per" came directly before, and the number after it.
    per: Option<Option<u64>>,
    /// Whether the unit last heard is followed by "per" at all.
    chain: bool,
    /// Whether the sentence is advice: "please reduce the number of concurrent requests".
    advice: bool,
    /// What announced a unit ("too many", "number of"), and up to which word.
    announced: Option<(Term, u32)>,
    last: Term,
    last_end: usize,
    limit: Option<u64>,
    larger: bool,
    zero: bool,
}

impl LimitReader {
    #[inline]
    pub(super) fn hear(&mut self, term: Term, word: &Word, text: &[u8]) {
        self.words += 1;
        if word.after_stop {
            self.unit = None;
            self.window = None;
            self.chain = false;
            self.announced = None;
            self.advice = false;
        }
        if matches!(term, Term::Other | Term::Lead(_)) && self.per.is_none() {
            self.side = None;
        } else {
            if term == Term::Number {
                self.number(word, text);
            }
            self.name(term, word, text);
        }
        self.last = term;
        self.last_end = word.end;
    }

    fn claim(&mut self, unit: Unit, span: Span) {
        // Advice says what to do, not which limit was hit, unless it names a window.
        if self.advice && span == Span::Unsaid {
            return;
        }
        self.claims = self.claims.and(Claims::of(unit, span));
    }

    /// How many words ago.
    const fn age(&self, heard_at: u32) -> u32 {
        self.words - heard_at
    }

    fn name(&mut self, term: Term, word: &Word, text: &[u8]) {
        let (side, per) = (self.side.take(), self.per.take());
        match term {
            Term::Unit(unit) => self.heard_unit(unit, side, text[word.end - 1]),
            Term::Side(unit) => {
                let other = self.joined.take().filter(|(side, at)| *side != unit && self.age(*at) <= 1);
                self.side = Some(if other.is_some() { Unit::Tokens } else { unit });
                self.window = self.window.filter(|(_, at)| self.age(*at) <= 1).map(|(span, _)| (span, self.words));
            }
            Term::Per | Term::Slash => self.per = Some(None),
            Term::Number if per.is_some() => {
                self.per = Some(leading_decimal(&text[word.start..]).map(|(n, _)| n.whole))
            }
            Term::Window(span) => match (per, &mut self.unit) {
                (Some(count), _) => self.heard_window_of(of_length(count, span, word), count.is_some()),
                // "audio seconds per hour": these seconds are what is counted.
                (None, Some((Unit::Other, at))) => *at = self.words,
                (None, _) => {}
            },
            Term::Adverb(span) => self.heard_window(span, 2),
            // Not in the middle of a word: `10KTPM-200RPM` is the name of a model's alias.
            Term::Both(unit, span) if word.starts_word => self.claim(unit, span),
            Term::Limit => self.heard_limit(),
            Term::TooMany => self.announced = Some((term, self.words + 2)),
            Term::NumberOf => self.announced = Some((term, self.words + 3)),
            Term::Concurrent => self.claim(Unit::InFlight, Span::Unsaid),
            Term::And => {
                let unit = self.unit.filter(|(_, at)| self.age(*at) <= 1).map(|(unit, _)| unit);
                self.joined = side.or(unit).map(|before| (before, self.words));
            }
            // "per 60s": the unit is a letter of its own.
            Term::Other if per.flatten().is_some() => {
                if let Some(seconds) = short_unit(word, per.flatten()) {
                    self.heard_window_of(of_seconds(seconds), true);
                }
            }
            Term::LongWindow => self.unit = None,
            Term::Reduce => self.advice = true,
            Term::Both(..) | Term::Number | Term::Rate | Term::Requested | Term::Lead(_) | Term::Other => {}
        }
        if per.is_some() && self.last == Term::Per && matches!(term, Term::Other | Term::Lead(_)) {
            self.heard_per();
        }
    }

    fn heard_unit(&mut self, unit: Unit, side: Option<Unit>, last_letter: u8) {
        let unit = match unit {
            Unit::Tokens => side.unwrap_or(unit),
            // "Concurrent requests" are counted in flight.
            Unit::Requests if self.last == Term::Concurrent => Unit::InFlight,
            other => other,
        };
        if let Some((span, at)) = self.window
            && self.age(at) <= 1
        {
            self.claim(unit, span);
            self.window = None;
        }
        let is_named = match self.announced.filter(|(_, until)| self.words <= *until) {
            // "Too many requests" is a reason phrase and names nothing.
            Some((Term::TooMany, _)) => unit != Unit::Requests,
            // "Number of concurrent requests" counts what is in flight, "Number of request tokens" tokens.
            Some((Term::NumberOf, _)) => self.last != Term::Concurrent && last_letter | 0x20 == b's',
            _ => false,
        };
        if is_named {
            self.claim(unit, Span::Unsaid);
        }
        self.unit = Some((unit, self.words));
        // A number may stand between: then it is the third word.
        self.joined = self.joined.filter(|(before, at)| *before != unit && self.age(*at) <= 2);
        self.chain = false;
    }

    /// A window after "per", unless it is longer than a day: those are a plan's. `counted`: with a number before it.
    fn heard_window_of(&mut self, span: Option<Span>, counted: bool) {
        match span {
            Some(span) => self.heard_window(span, 2 + u32::from(counted)),
            None => self.unit = None,
        }
    }

    /// A window, which is that of a unit heard at most so many words before.
    fn heard_window(&mut self, span: Span, before: u32) {
        match self.unit.filter(|(_, at)| self.chain || self.age(*at) <= before) {
            Some((unit, _)) => {
                self.claim(unit, span);
                if let Some((before, _)) = self.joined.take() {
                    self.claim(before, span);
                }
            }
            None => {
                self.claim(Unit::Unsaid, span);
                self.window = Some((span, self.words));
            }
        }
        self.unit = None;
        self.chain = false;
    }

    /// After "per" and a word that is no window: a unit directly before it is named all the same ("requests per base
    /// model").
    fn heard_per(&mut self) {
        if let Some((unit, at)) = self.unit
            && (self.age(at) <= 2 || self.chain)
        {
            self.chain = true;
            self.claim(unit, Span::Unsaid);
        }
    }

    /// "token rate limit", "call rate limit", "request rate limit".
    fn heard_limit(&mut self) {
        if self.last == Term::Rate
            && let Some((unit, at)) = self.unit
            && self.age(at) == 2
        {
            self.claim(unit, Span::Unsaid);
        }
    }

    /// "Limit 30000, Requested 61337", "limit: 0". Nothing but a mark stands between word and number.
    fn number(&mut self, word: &Word, text: &[u8]) {
        let stands_apart = |byte: &u8| !matches!(byte, b' ' | b':' | b'=' | b'~');
        if !matches!(self.last, Term::Limit | Term::Requested)
            || text[self.last_end..word.start].iter().any(stands_apart)
        {
            return;
        }
        let Some(number) = count(&text[word.start..]) else { return };
        match self.last {
            Term::Limit => {
                self.limit = Some(number);
                self.zero |= number == 0;
            }
            Term::Requested => self.larger |= self.limit.is_some_and(|limit| number > limit),
            _ => {}
        }
    }

    pub(super) const fn finish(&self) -> Claims {
        self.claims
    }

    pub(super) const fn is_larger_than_limit(&self) -> bool {
        self.larger
    }

    pub(super) const fn is_zero(&self) -> bool {
        self.zero
    }
}

/// A whole number with or without commas between thousands, rounded up; saturates.
fn count(text: &[u8]) -> Option<u64> {
    let (first, mut rest) = leading_decimal(text).or_else(|| {
        // "Limit 0." at the end of a sentence.
        let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
        leading_decimal(&text[..digits]).map(|(number, _)| (number, &text[digits..]))
    })?;
    let mut number = first.whole.saturating_add(u64::from(first.nanos > 0));
    while let [b',', a @ b'0'..=b'9', b @ b'0'..=b'9', c @ b'0'..=b'9', after @ ..] = rest {
        if after.first().is_some_and(u8::is_ascii_digit) {
            break;
        }
        let thousand = [a, b, c].iter().fold(0, |value, digit| value * 10 + u64::from(**digit - b'0'));
        number = number.saturating_mul(1_000).saturating_add(thousand);
        rest = after;
    }
    Some(number)
}

/// The window of "per `count` `unit`"; `None` when it is longer than a day.
fn of_length(count: Option<u64>, span: Span, word: &Word) -> Option<Span> {
    let unit_seconds = match word.packed() {
        unit if unit == Packed::of("second") || unit == Packed::of("seconds") || unit == Packed::of("sec") => 1,
        unit if unit == Packed::of("hour") || unit == Packed::of("hours") => 3_600,
        unit if unit == Packed::of("day") || unit == Packed::of("days") => 86_400,
        _ => 60,
    };
    count.map_or(Some(span), |count| of_seconds(count.saturating_mul(unit_seconds)))
}

/// The seconds of the window in "60s", "24h": `s`, `m`, `h` or `d` after a number.
fn short_unit(word: &Word, count: Option<u64>) -> Option<u64> {
    const LETTERS: [(u128, u64); 4] =
        [(Packed::of("s"), 1), (Packed::of("m"), 60), (Packed::of("h"), 3_600), (Packed::of("d"), 86_400)];
    let (_, seconds) = LETTERS.iter().find(|(letter, _)| *letter == word.packed())?;
    Some(count?.saturating_mul(*seconds))
}

const fn of_seconds(seconds: u64) -> Option<Span> {
    match seconds {
        ..86_400 => Some(Span::Short),
        86_400 => Some(Span::Day),
        _ => None,
    }
}

/// The limits a name names: every unit and every window in it counts, also without "per".
pub(super) fn of_name(name: &[u8]) -> Claims {
    let (mut units, mut span, mut side) = (Claims::NONE, Span::Unsaid, None);
    let mut unit = Unit::Unsaid;
    for word in Words::new(name) {
        match term(&word) {
            Term::Unit(heard) => {
                unit = if heard == Unit::Tokens { side.take().unwrap_or(heard) } else { heard };
            }
            Term::Side(heard) => side = Some(heard),
            Term::Window(heard) | Term::Adverb(heard) => span = heard,
            Term::Both(unit, span) => units = units.and(Claims::of(unit, span)),
            Term::Concurrent => return Claims::of(Unit::InFlight, Span::Unsaid),
            _ => {}
        }
    }
    if unit == Unit::Unsaid && span == Span::Unsaid { units } else { units.and(Claims::of(unit, span)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::rule::claim::Named;
    use crate::core::signal::{LimitClass, TokenKind};

    fn named(text: &str) -> Named {
        let mut reader = LimitReader::default();
        for word in Words::new(text.as_bytes()) {
            reader.hear(term(&word), &word, text.as_bytes());
        }
        reader.finish().verdict()
    }

    const REQUESTS: Named = Named::Limit(LimitClass::RequestRate, None);
    const TOKENS: Named = Named::Limit(LimitClass::TokenThroughput, Some(TokenKind::Total));
    const INPUT: Named = Named::Limit(LimitClass::TokenThroughput, Some(TokenKind::Input));
    const OUTPUT: Named = Named::Limit(LimitClass::TokenThroughput, Some(TokenKind::Output));
    const DAILY: Named = Named::Limit(LimitClass::Daily, None);
    const DAILY_TOKENS: Named = Named::Limit(LimitClass::Daily, Some(TokenKind::Total));

    #[test]
    fn limits_are_read_from_the_words_of_real_messages() {
        for (text, expected) in [
            ("Rate limit reached for gpt-4o on tokens per min (TPM): Limit 30000, Used 1, Requested 2.", TOKENS),
            ("Rate limit reached for gpt-4o-mini on requests per min. Limit: 3 / min.", REQUESTS),
            ("on requests per day (RPD): Limit 200, Used 200, Requested 1.", DAILY),
            ("on tokens per day (TPD): Limit 100000", DAILY_TOKENS),
            ("on output tokens per minute (OTPM): Limit 1000", OUTPUT),
            ("rate limit of 50 requests per minute (org: A). Please reduce the maximum tokens requested.", REQUESTS),
            ("maximum usage increase rate for input tokens per minute. The limit will increase", INPUT),
            ("Number of request tokens has exceeded your per-minute rate limit", TOKENS),
            ("Number of request tokens has exceeded your daily rate limit", DAILY_TOKENS),
            ("Number of requests has exceeded your per-minute rate limit.", REQUESTS),
            (
                "Number of concurrent connections has exceeded your rate limit",
                Named::Limit(LimitClass::Concurrency, None),
            ),
            ("which is limited to 20 API calls / minute.", REQUESTS),
            ("You are past the per minute request limit, please wait", REQUESTS),
            ("have exceeded token rate limit of your current OpenAI S0 pricing tier", TOKENS),
            ("have exceeded call rate limit of your current", REQUESTS),
            ("Requests rate limit exceeded", REQUESTS),
            ("Rate limit of 10 per 60s exceeded for UserByModelByMinute.", REQUESTS),
            ("Rate limit of 50 per 86400s exceeded for UserByModelByDay.", DAILY),
            ("Too many tokens per day, please wait before trying again.", DAILY_TOKENS),
            ("Too many tokens, please wait before trying again.", TOKENS),
            ("You reached free usage limit (reset hourly).", REQUESTS),
            ("Daily quota exceeded.", DAILY),
            ("online_prediction_input_tokens_per_minute_per_base_model with base model: x.", INPUT),
            ("aiplatform.googleapis.com/online_prediction_requests_per_base_model with base model", REQUESTS),
            ("The maximum rate limit for this model is 9.0 queries per minute.", REQUESTS),
            ("Requests per Second (actual/limit): 9/8.", REQUESTS),
            ("reduced rate limits of 3 RPM and 10K TPM.", Named::Several),
            ("limit on images per minute", REQUESTS),
            ("is 0.3 queries and 180000 tokens per minute.", Named::Several),
            ("30,000 input and output tokens per minute", TOKENS),
            ("online_prediction_concurrent_requests_per_base_model", Named::Limit(LimitClass::Concurrency, None)),
            ("Rate limit of 50 per 604800s exceeded", Named::Nothing),
            ("100 requests per 24 hours", DAILY),
            ("50 tokens per 60 seconds", TOKENS),
            ("9,000 input tokens/60s", INPUT),
            ("50 tokens per 86400 seconds", DAILY_TOKENS),
            ("1000 requests per 30 days", Named::Nothing),
        ] {
            assert_eq!(named(text), expected, "{text}");
        }
    }

    #[test]
    fn advice_reason_phrases_and_urls_name_nothing() {
        for text in [
            "Too Many Requests",
            "Rate limit exceeded",
            "Quota exceeded",
            "Please reduce the number of concurrent requests.",
            "Reduce the number of tokens or send fewer concurrent requests.",
            "See https://example.com/requests-per-day for more",
            "This request would exceed your account's rate limit.",
            "请求过于频繁，请稍后再试",
        ] {
            assert_eq!(named(text), Named::Nothing, "{text}");
        }
    }

    #[test]
    fn names_of_limits_are_cut_where_they_are_written_together() {
        let verdict = |name: &str| of_name(name.as_bytes()).verdict();
        assert_eq!(verdict("GenerateRequestsPerDayPerProjectPerModel-FreeTier"), DAILY);
        assert_eq!(verdict("GenerateContentPaidTierInputTokensPerModelPerMinute"), INPUT);
        assert_eq!(verdict("UserByModelByDay"), DAILY);
        assert_eq!(verdict("UserByModelByMinute"), REQUESTS);
        assert_eq!(verdict("DeploymentRatelimit-Token"), TOKENS);
        assert_eq!(verdict("Requests"), REQUESTS);
        assert_eq!(verdict("rate_limit_exceeded"), Named::Nothing);
    }

    #[test]
    fn a_request_is_larger_only_when_it_alone_exceeds_the_limit() {
        let larger = |text: &str| {
            let mut reader = LimitReader::default();
            Words::new(text.as_bytes()).for_each(|word| reader.hear(term(&word), &word, text.as_bytes()));
            (reader.is_larger_than_limit(), reader.is_zero())
        };
        assert_eq!(larger("Limit 30000, Requested 61337."), (true, false));
        assert_eq!(larger("Limit 7000, Used 0, Requested ~12903."), (true, false));
        assert_eq!(larger("Limit 30,000, Requested 12,903."), (false, false));
        assert_eq!(larger("Limit 30000, Used 73124, Requested 1877."), (false, false));
        assert_eq!(larger("metric: x, limit: 0, model: y"), (false, true));
        assert_eq!(larger("limit: 250. Please retry"), (false, false));
    }
}
