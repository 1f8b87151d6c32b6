//! What error messages say: which limit, how long to wait, whether the request alone is too large.
//!
//! One pass over the words of a text. URLs are skipped: their words are nobody's statement. Anything not understood is
//! ignored; nothing is guessed from other languages.

mod limits;
mod terms;
mod waits;
mod words;

use crate::core::rule::claim::Claims;
use crate::core::rule::fact::Asked;
pub use crate::core::rule::fact::Prose;
use crate::core::rule::header::When;
use crate::provider::prose::limits::LimitReader;
use crate::provider::prose::terms::term;
use crate::provider::prose::waits::WaitReader;
use crate::provider::prose::words::Words;

/// Reads a text for people.
#[must_use]
pub fn read(bytes: &[u8], asked: Asked<'_>) -> Prose {
    let mut prose = Prose::default();
    let mut limits = LimitReader::default();
    let mut waits = WaitReader::default();
    for word in Words::new(bytes) {
        if word.starts_word {
            asked.begun_by(&bytes[word.start..], &mut prose);
        }
        let term = term(&word);
        limits.hear(term, &word, bytes);
        if let Some(wait) = waits.hear(term, &word, bytes) {
            let wait = When::after(wait);
            prose.wait = Some(prose.wait.map_or(wait, |known| known.or_later(wait)));
        }
    }
    prose.claims = limits.finish();
    prose.larger_than_limit = limits.is_larger_than_limit();
    prose.limit_is_zero = limits.is_zero();
    prose
}

/// Finds the phrases rules ask for and the stated waits, but no limits: text that speaks of somebody else's.
///
/// A gateway repeats what a provider behind it said: its limits are not the caller's, its wait is.
#[must_use]
pub fn read_foreign(text: &[u8], asked: Asked<'_>) -> Prose {
    Prose { claims: Claims::NONE, larger_than_limit: false, limit_is_zero: false, ..read(text, asked) }
}

/// Reads the name of a limit: `GenerateRequestsPerDayPerProjectPerModel-FreeTier`, `UserByModelByMinute`, `Tokens`.
///
/// What it claims is unit and window, as far as the words tell: requests or tokens, per minute or per day.
///
/// ```
/// use forbear::provider::prose::limit_name;
/// let (named, unknown) = (limit_name("GenerateRequestsPerDayPerProjectPerModel-FreeTier"), limit_name("whatever"));
/// assert_ne!(named, unknown);
/// ```
#[must_use]
pub fn limit_name(name: &str) -> Claims {
    limits::of_name(name.as_bytes())
}

/// The same of a header's value.
#[must_use]
pub fn limit_name_bytes(name: &[u8]) -> Claims {
    limits::of_name(name)
}
