//! The vocabulary of limits and waits, looked up by one multiplication.

use crate::core::rule::claim::{Span, Unit};
use crate::provider::prose::words::{Kind, Packed, Word};

/// A word that leads to a stated wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lead {
    Try,
    Again,
    Retry,
    Reset,
    /// "In", "after".
    In,
    /// "Please", "must".
    Please,
    Wait,
}

/// What a word means for naming a limit or a wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Term {
    Unit(Unit),
    Side(Unit),
    Per,
    /// A slash: "per" only where a window follows it.
    Slash,
    Window(Span),
    /// A week, a month, a year: longer than any class but a plan.
    LongWindow,
    /// "hourly", "daily": a window without "per".
    Adverb(Span),
    /// A word that names unit and window at once.
    Both(Unit, Span),
    Rate,
    Limit,
    Requested,
    TooMany,
    NumberOf,
    Concurrent,
    /// "Reduce": what follows in the sentence is advice.
    Reduce,
    /// "And": two units or two sides share what follows.
    And,
    Number,
    Lead(Lead),
    #[default]
    Other,
}

/// What `word` means.
#[inline]
pub(super) fn term(word: &Word) -> Term {
    match word.kind {
        Kind::Number => Term::Number,
        Kind::Slash => Term::Slash,
        Kind::Letters(packed) => DICTIONARY.meaning(packed.get()),
    }
}

const WORDS: &[(&[&str], Term)] = &[
    (&["requests", "request", "calls", "call", "queries", "query", "images", "image"], Term::Unit(Unit::Requests)),
    (&["tokens", "token"], Term::Unit(Unit::Tokens)),
    (&["audio", "bytes", "byte"], Term::Unit(Unit::Other)),
    (&["input", "prompt"], Term::Side(Unit::InputTokens)),
    (&["output", "completion", "generated"], Term::Side(Unit::OutputTokens)),
    (&["per", "by"], Term::Per),
    (&["minute", "minutes", "min", "second", "seconds", "sec", "hour", "hours"], Term::Window(Span::Short)),
    (&["day", "days"], Term::Window(Span::Day)),
    (&["week", "weeks", "month", "months", "year", "years"], Term::LongWindow),
    (&["hourly"], Term::Adverb(Span::Short)),
    (&["daily"], Term::Adverb(Span::Day)),
    (&["rpm", "rps", "rph", "qpm", "qps", "ipm"], Term::Both(Unit::Requests, Span::Short)),
    (&["rpd", "qpd", "ipd"], Term::Both(Unit::Requests, Span::Day)),
    (&["tpm", "tps", "tph"], Term::Both(Unit::Tokens, Span::Short)),
    (&["tpd"], Term::Both(Unit::Tokens, Span::Day)),
    (&["itpm"], Term::Both(Unit::InputTokens, Span::Short)),
    (&["otpm"], Term::Both(Unit::OutputTokens, Span::Short)),
    (&["itpd"], Term::Both(Unit::InputTokens, Span::Day)),
    (&["otpd"], Term::Both(Unit::OutputTokens, Span::Day)),
    (&["ash", "asph"], Term::Both(Unit::Other, Span::Short)),
    (&["asd", "aspd"], Term::Both(Unit::Other, Span::Day)),
    (&["rate"], Term::Rate),
    (&["limit", "limits"], Term::Limit),
    (&["requested"], Term::Requested),
    (&["many"], Term::TooMany),
    (&["number"], Term::NumberOf),
    (&["concurrent", "concurrency", "simultaneous"], Term::Concurrent),
    (&["reduce", "reducing", "lower", "decrease", "fewer"], Term::Reduce),
    (&["and"], Term::And),
    (&["try"], Term::Lead(Lead::Try)),
    (&["again"], Term::Lead(Lead::Again)),
    (&["retry"], Term::Lead(Lead::Retry)),
    (&["reset", "resets"], Term::Lead(Lead::Reset)),
    (&["in", "after"], Term::Lead(Lead::In)),
    (&["please", "must"], Term::Lead(Lead::Please)),
    (&["wait"], Term::Lead(Lead::Wait)),
];

const PLACES: usize = 256;

/// A hash table built when the program is compiled.
struct Dictionary {
    entries: [(u128, Term); PLACES],
}

static DICTIONARY: Dictionary = Dictionary::of(WORDS);

impl Dictionary {
    const fn of(groups: &[(&[&str], Term)]) -> Self {
        let mut entries = [(0, Term::Other); PLACES];
        let mut group = 0;
        while group < groups.len() {
            let (words, term) = groups[group];
            let mut i = 0;
            while i < words.len() {
                let packed = Packed::of(words[i]);
                let mut place = place(packed);
                while entries[place].0 != 0 {
                    place = (place + 1) % PLACES;
                }
                entries[place] = (packed, term);
                i += 1;
            }
            group += 1;
        }
        Self { entries }
    }

    #[inline]
    fn meaning(&self, packed: u128) -> Term {
        let mut place = place(packed);
        loop {
            let (word, term) = self.entries[place];
            if word == packed || word == 0 {
                return term;
            }
            place = (place + 1) % PLACES;
        }
    }
}

const fn place(packed: u128) -> usize {
    let folded = packed as u64 ^ (packed >> 64) as u64;
    (folded.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as usize % PLACES
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::prose::words::Words;

    #[test]
    fn every_word_means_what_it_was_entered_with_and_others_mean_nothing() {
        let meaning = |text: &str| Words::new(text.as_bytes()).next().map(|word| term(&word));
        for (words, expected) in WORDS {
            for word in *words {
                assert_eq!(meaning(word), Some(*expected), "{word}");
                assert_eq!(meaning(&word.to_uppercase()), Some(*expected), "{word}");
                assert_eq!(meaning(&format!("{word}x")), Some(Term::Other), "{word}x");
            }
        }
    }
}
