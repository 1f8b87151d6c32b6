//! What a value at a field of the table says, and the grammars of such values.

use std::time::Duration;

use crate::core::moment::WallTime;
use crate::core::rule::claim::{Claims, Span, Unit};
use crate::core::rule::fact::{Fact, Facts};
use crate::core::rule::field::{ROOT, Scalar, Told};
use crate::core::rule::header::{LONGEST, When};
use crate::provider::body::Walk;
use crate::provider::headers::duration::{by_magnitude, go_duration, reset};
use crate::provider::headers::number::decimal;
use crate::provider::prose;

/// A value at a node of the tree of fields.
pub(super) struct Leaf<'w, 'a> {
    pub(super) walk: &'w mut Walk<'a>,
    pub(super) node: u8,
}

/// JSON inside a string is read at most this often.
const ENCODED: u8 = 4;

impl Leaf<'_, '_> {
    /// Notes that an object stands here.
    pub(super) fn note_presence(&mut self) {
        let fields = self.walk.fields;
        for (row, field) in fields.rows_at(self.node) {
            let fact = match field.told {
                Told::Error => Fact::Error,
                Told::Named(word) => self.word(word.as_bytes()),
                _ => continue,
            };
            self.walk.facts.push(self.node, row, fact);
        }
    }

    /// Notes what `scalar` says to each row that ends here.
    pub(super) fn note(&mut self, scalar: Scalar<'_>) {
        if let (ROOT, Scalar::Text(text)) = (self.node, scalar) {
            let prose = prose::read(text.as_bytes(), self.walk.asked());
            self.walk.facts.push(ROOT, Facts::WHOLE_BODY, Fact::Prose(prose));
            return;
        }
        for (row, field) in self.walk.fields.rows_at(self.node) {
            if let Some(fact) = self.fact(field.told, scalar) {
                self.walk.facts.push(self.node, row, fact);
            }
        }
    }

    fn fact(&mut self, told: Told, scalar: Scalar<'_>) -> Option<Fact> {
        match (told, scalar) {
            (Told::Text, Scalar::Text(text)) => self.text(text).map(Fact::Prose),
            (Told::ForeignText, Scalar::Text(text)) => {
                Some(Fact::Prose(prose::read_foreign(text.as_bytes(), self.walk.asked())))
            }
            (Told::Word(cut), Scalar::Text(text)) => Some(self.word(cut(text).as_bytes())),
            (Told::Word(_), Scalar::Whole(number)) => Some(self.word(write_decimal(number, &mut [0; 20]))),
            (Told::Named(word), Scalar::Text(_) | Scalar::Whole(_) | Scalar::Number(_)) => {
                Some(self.word(word.as_bytes()))
            }
            (Told::Names(read), Scalar::Text(text)) => Some(Fact::Names(read(text))),
            (Told::Unit(read), Scalar::Text(text)) => Some(Fact::Unit(read(text))),
            (Told::Wait(read) | Told::Reset(_, read), scalar) => read(scalar).map(Fact::Wait),
            (Told::Spent(_, read), scalar) => read(scalar).map(Fact::Spent),
            (Told::Status, scalar) => status(scalar).map(Fact::Status),
            (Told::OriginalStatus, scalar) => status(scalar).map(Fact::OriginalStatus),
            (Told::Limit, scalar) => (count(scalar) == Some(0)).then_some(Fact::LimitIsZero),
            (Told::Error, Scalar::Text("") | Scalar::Bool(false)) => None,
            (Told::Error, _) => Some(Fact::Error),
            (Told::ErrorWord(words), Scalar::Text(text)) => words.contains(&text).then_some(Fact::Error),
            (Told::ErrorIfFalse, Scalar::Bool(false)) => Some(Fact::Error),
            (Told::Policy, Scalar::Text(name)) => {
                self.policy(name);
                None
            }
            (Told::Used(kind) | Told::UsedBeside(kind), scalar) => {
                let apart = matches!(told, Told::UsedBeside(_));
                self.walk.facts.used.note(kind, apart, count(scalar)?);
                None
            }
            (Told::OutputLimit, scalar) => {
                let limit = u32::try_from(count(scalar)?).unwrap_or(u32::MAX);
                self.walk.facts.output_limit = self.walk.facts.output_limit.max(Some(limit));
                None
            }
            _ => None,
        }
    }

    fn word(&self, word: &[u8]) -> Fact {
        let (table, user) = self.walk.asked().word(word);
        Fact::Words(table, user)
    }

    /// A text, unless it is a whole error written as a string: then that error takes its place and leaves no trace.
    fn text(&mut self, text: &str) -> Option<prose::Prose> {
        let inner = text.trim_ascii();
        if self.walk.encoded < ENCODED && inner.starts_with(['{', '[']) {
            let start = self.walk.facts.len();
            let Walk { table, fields, headers, ref mut facts, encoded } = *self.walk;
            if (Walk { table, fields, headers, facts, encoded: encoded + 1 }).document(inner).is_ok() {
                return None;
            }
            self.walk.facts.truncate(start);
        }
        Some(prose::read(text.as_bytes(), self.walk.asked()))
    }

    /// The policies the answer says were violated are looked up in its own headers.
    fn policy(&mut self, name: &str) {
        let read = self.walk.table.headers.read_listed();
        if let (Some(read), Some(map)) = (read, self.walk.headers) {
            for quota in read(map, Some(name)).iter() {
                self.walk.facts.violated.push(*quota);
            }
        }
    }
}

/// An HTTP status, as a number or as a string of digits.
fn status(scalar: Scalar<'_>) -> Option<u16> {
    count(scalar).and_then(|number| u16::try_from(number).ok()).filter(|status| (400..600).contains(status))
}

fn count(scalar: Scalar<'_>) -> Option<u64> {
    match scalar {
        Scalar::Whole(number) => Some(number),
        Scalar::Text(text) if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) => text.parse().ok(),
        _ => None,
    }
}

/// Seconds, as a number or as a string of digits.
///
/// ```
/// use std::time::Duration;
/// use forbear::core::moment::WallTime;
/// use forbear::core::rule::field::Scalar;
/// use forbear::provider::leaf::seconds;
/// let read = |scalar| Some(seconds(scalar)?.from(WallTime::default));
/// assert_eq!(read(Scalar::Text("7")), Some(Duration::from_secs(7)));
/// assert_eq!(read(Scalar::Text("soon")), None);
/// ```
#[must_use]
pub fn seconds(scalar: Scalar<'_>) -> Option<When> {
    match scalar {
        Scalar::Whole(seconds) => Some(When::after(Duration::from_secs(seconds).min(LONGEST))),
        Scalar::Number(seconds) => fractional(seconds).map(When::after),
        Scalar::Text(text) => decimal(text.as_bytes()).map(|number| When::after(number.seconds())),
        Scalar::Bool(_) | Scalar::Duration(..) => None,
    }
}

/// Seconds of a floating-point number, rounded up to the nanosecond.
fn fractional(seconds: f64) -> Option<Duration> {
    if !seconds.is_finite() || seconds < 0.0 || seconds == 0.0 && seconds.is_sign_negative() {
        return None;
    }
    if seconds >= LONGEST.as_secs_f64() {
        return Some(LONGEST);
    }
    let near = Duration::try_from_secs_f64(seconds).ok()?;
    let short = near.as_secs_f64() < seconds;
    Some(if short { near + Duration::from_nanos(1) } else { near })
}

/// An end: a number read by its magnitude, or a string with a date, a duration or such a number.
#[must_use]
pub fn end(scalar: Scalar<'_>) -> Option<When> {
    match scalar {
        Scalar::Whole(number) => {
            let mut digits = [0u8; 20];
            by_magnitude(write_decimal(number, &mut digits))
        }
        Scalar::Number(number) if number >= 1e12 => {
            fractional_epoch(number / 1_000.0).map(|since| When::at(WallTime::since_epoch(since)))
        }
        Scalar::Number(number) if number >= 1e9 => {
            fractional_epoch(number).map(|since| When::at(WallTime::since_epoch(since)))
        }
        Scalar::Number(number) => fractional(number).map(When::after),
        Scalar::Text(text) => reset(text.as_bytes()),
        Scalar::Bool(_) | Scalar::Duration(..) => None,
    }
}

/// Seconds since the epoch, which may be more than a wait may be long.
fn fractional_epoch(seconds: f64) -> Option<Duration> {
    Some(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX))
}

fn write_decimal(mut number: u64, digits: &mut [u8; 20]) -> &[u8] {
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            return &digits[at..];
        }
    }
}

/// `google.protobuf.Duration`: `45.5s`, also in Go's style, or seconds and nanoseconds. A negative one is refused.
///
/// ```
/// use std::time::Duration;
/// use forbear::core::moment::WallTime;
/// use forbear::core::rule::field::Scalar;
/// use forbear::provider::leaf::proto_duration;
/// let wait = proto_duration(Scalar::Text("45.5s")).expect("a duration").from(WallTime::default);
/// assert_eq!(wait, Duration::from_millis(45_500));
/// ```
#[must_use]
pub fn proto_duration(scalar: Scalar<'_>) -> Option<When> {
    match scalar {
        Scalar::Text(text) => go_duration(text.as_bytes()).map(When::after),
        Scalar::Duration(seconds, nanos) => {
            let whole = Duration::from_secs(u64::try_from(seconds).ok()?);
            let total = whole.saturating_add(Duration::from_nanos(u64::try_from(nanos).ok()?));
            Some(When::after(total.min(LONGEST)))
        }
        _ => None,
    }
}

/// Whether a percentage is 100 or more.
#[must_use]
pub fn used_up(scalar: Scalar<'_>) -> Option<bool> {
    match scalar {
        Scalar::Whole(percent) => Some(percent >= 100),
        Scalar::Number(percent) => Some(percent >= 100.0),
        Scalar::Text(text) => crate::provider::headers::number::used_up(text.as_bytes()),
        Scalar::Bool(_) | Scalar::Duration(..) => None,
    }
}

/// The unit named by the words `tokens` and `requests`.
#[must_use]
pub fn unit(word: &str) -> Claims {
    match word {
        "tokens" => Claims::of(Unit::Tokens, Span::Unsaid),
        "requests" => Claims::of(Unit::Requests, Span::Unsaid),
        _ => Claims::NONE,
    }
}

/// The word as it stands.
#[must_use]
pub fn word(text: &str) -> &str {
    text
}

/// What follows the last `#`: the problem of `https://iana.org/assignments/http-problem-types#quota-exceeded`.
///
/// ```
/// use forbear::provider::leaf::after_hash;
/// assert_eq!(after_hash("https://iana.org/assignments/http-problem-types#quota-exceeded"), "quota-exceeded");
/// ```
#[must_use]
pub fn after_hash(text: &str) -> &str {
    text.rsplit('#').next().unwrap_or(text)
}

/// The name of an error as AWS writes it, without the namespace before `#` and the tail after `:`:
/// `com.amazon.coral#ThrottlingException:http://internal.amazon.com/coral/`.
///
/// ```
/// use forbear::provider::leaf::exception;
/// assert_eq!(exception("com.amazon.coral#ThrottlingException:http://internal.amazon.com/coral/"), "ThrottlingException");
/// ```
#[must_use]
pub fn exception(text: &str) -> &str {
    let named = text.split(':').next().unwrap_or(text);
    after_hash(named).trim_ascii()
}
