//! The rules of a table, looked up by what an answer says.

use std::fmt;

use crate::core::rule::index::Lexicon;
use crate::core::rule::verdict::Rule;

/// The most rules of one table.
pub const RULES: usize = 64;
const WORDS: usize = 128;
const PHRASES: usize = 96;

/// A set of rules, by number.
pub(crate) type RuleSet = u64;

/// The rules of a table, with an index of their words and phrases, built when the program is compiled.
///
/// Made in a `const`, so that a table with more than fits is an error of compilation.
///
/// ```
/// use forbear::core::rule::verdict::{Rule, Rules};
/// use forbear::LimitClass;
/// const COMMON: &[Rule] = &[Rule::status(&[529]).limit(LimitClass::Overload)];
/// const RULES: &Rules = &Rules::of(&[COMMON, &[Rule::word(&["paused"]).on(&[403]).limit(LimitClass::Spend)]]);
/// assert_eq!(format!("{RULES:?}").matches("Rule {").count(), 2);
/// ```
pub struct Rules {
    pub(crate) rows: [&'static Rule; RULES],
    pub(crate) count: usize,
    words: Lexicon<WORDS>,
    word_rule: [u8; WORDS],
    /// Each with its first four letters, and the number of its rule.
    phrases: [(&'static str, u32, u8); PHRASES],
    phrase_count: usize,
    /// For each letter the phrase last added that begins with it, and for each phrase the one before: 0 is none, others
    /// count from 1.
    initials: [u8; LETTERS],
    phrase_before: [u8; PHRASES],
    /// The rules that ask for a word, for a phrase, and those that are asked only where nothing else told the limit.
    worded: RuleSet,
    phrased: RuleSet,
    otherwise: RuleSet,
    /// The rules that ask for no more than a status.
    by_status_alone: RuleSet,
}

const LETTERS: usize = 26;

impl fmt::Debug for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.rows[..self.count].iter()).finish()
    }
}

impl Rules {
    /// No rules.
    pub const NONE: Self = Self::of(&[]);

    /// Indexes rules: the general ones first.
    ///
    /// # Panics
    ///
    /// With more than [`RULES`] rules, 128 words or 96 phrases, or a phrase that does not begin with a lower-case letter or has
    /// fewer than four bytes:
    /// in a `const` that is an error of compilation.
    #[must_use]
    pub const fn of(lists: &'static [&'static [Rule]]) -> Self {
        let mut rules = Self {
            rows: [&Rule::ANY; RULES],
            count: 0,
            words: Lexicon::new(),
            word_rule: [0; WORDS],
            phrases: [("", 0, 0); PHRASES],
            phrase_count: 0,
            initials: [0; LETTERS],
            phrase_before: [0; PHRASES],
            worded: 0,
            phrased: 0,
            otherwise: 0,
            by_status_alone: 0,
        };
        let (mut list, mut words) = (0, 0);
        while list < lists.len() {
            let mut row = 0;
            while row < lists[list].len() {
                let rule = &lists[list][row];
                assert!(rules.count < RULES, "a table has at most 64 rules");
                let number = rules.count as u8;
                let mut i = 0;
                while i < rule.words.len() {
                    assert!(words < WORDS, "the rules of a table ask for at most 128 words");
                    rules.words.add(rule.words[i], words);
                    rules.word_rule[words] = number;
                    words += 1;
                    i += 1;
                }
                i = 0;
                while i < rule.phrases.len() {
                    assert!(rules.phrase_count < PHRASES, "the rules of a table ask for at most 96 phrases");
                    let initial = rule.phrases[i].as_bytes()[0];
                    assert!(
                        initial.is_ascii_lowercase() && rule.phrases[i].len() >= 4,
                        "a phrase begins with a lower-case letter and has at least four bytes"
                    );
                    let letter = (initial - b'a') as usize;
                    let phrase = rule.phrases[i];
                    rules.phrases[rules.phrase_count] = (phrase, first_four(phrase.as_bytes()), number);
                    rules.phrase_before[rules.phrase_count] = rules.initials[letter];
                    rules.phrase_count += 1;
                    rules.initials[letter] = rules.phrase_count as u8;
                    i += 1;
                }
                let bit = 1 << number;
                if !rule.words.is_empty() {
                    rules.worded |= bit;
                }
                if !rule.phrases.is_empty() {
                    rules.phrased |= bit;
                }
                if rule.otherwise {
                    rules.otherwise |= bit;
                }
                if rule.words.is_empty() && rule.phrases.is_empty() && rule.shown.is_empty() {
                    rules.by_status_alone |= bit;
                }
                rules.rows[rules.count] = rule;
                rules.count += 1;
                row += 1;
            }
            list += 1;
        }
        rules
    }

    /// Whether any rule asks for no more than a status.
    #[inline]
    pub(crate) fn ask_for_status_alone(&self) -> bool {
        self.by_status_alone != 0
    }

    /// The rules that ask for no more than a status, in their order.
    pub(crate) fn by_status_alone(&self) -> impl Iterator<Item = &'static Rule> {
        self.numbered(self.by_status_alone)
    }

    /// The rules that words and phrases leave possible, in their order: those asked at once, or those asked only where
    /// nothing else told the limit.
    pub(crate) fn possible(
        &self,
        words: RuleSet,
        phrases: RuleSet,
        otherwise: bool,
    ) -> impl Iterator<Item = &'static Rule> {
        let turn = if otherwise { self.otherwise } else { !self.otherwise };
        let all = RuleSet::MAX.checked_shr((RULES - self.count) as u32).unwrap_or(0);
        self.numbered(all & turn & (!self.worded | words) & (!self.phrased | phrases))
    }

    fn numbered(&self, mut left: RuleSet) -> impl Iterator<Item = &'static Rule> {
        std::iter::from_fn(move || {
            let number = left.trailing_zeros() as usize;
            left &= left.wrapping_sub(1);
            self.rows.get(number).copied()
        })
    }

    /// The rules that ask for `word`.
    pub(crate) fn asking_for(&self, word: &[u8]) -> RuleSet {
        if self.worded == 0 {
            return 0;
        }
        self.words.all(word).fold(0, |set, number| set | 1 << self.word_rule[number])
    }

    /// Whether any rule asks for a phrase.
    #[inline]
    pub(crate) const fn asks_for_phrases(&self) -> bool {
        self.phrased != 0
    }

    /// The rules that ask for a phrase which `text`, beginning at the start of a word, begins with.
    #[inline]
    pub(crate) fn begun_by(&self, text: &[u8]) -> RuleSet {
        let Some(letter) = text.first().map(|byte| (byte | 0x20).wrapping_sub(b'a')) else { return 0 };
        let (mut set, mut at) = (0, self.initials.get(usize::from(letter)).copied().unwrap_or(0));
        if at == 0 {
            return 0;
        }
        let begins_with = first_four(text);
        while at != 0 {
            let number = usize::from(at - 1);
            let (phrase, first, rule) = self.phrases[number];
            if first == begins_with
                && text.get(..phrase.len()).is_some_and(|head| head.eq_ignore_ascii_case(phrase.as_bytes()))
            {
                set |= 1 << rule;
            }
            at = self.phrase_before[number];
        }
        set
    }
}

/// The first four letters in lower case: other bytes become something of their own, the same in text and phrase.
const fn first_four(text: &[u8]) -> u32 {
    match text.first_chunk() {
        Some(four) => u32::from_le_bytes(*four) | 0x2020_2020,
        None => 0,
    }
}
