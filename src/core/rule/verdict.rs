//! Rules: conditions on an answer, and the opinion they lead to.
//!
//! A rule that matches has an opinion on some of: class, retrying, scope; on the rest it has none, which is not the same
//! as "no". The general rules run first, the provider's after them, the user's last; a later opinion replaces an earlier
//! one.

use crate::core::rule::index::Lexicon;
use crate::core::signal::{LimitClass, Scope, TokenKind};
use std::fmt;

/// Something an answer shows, beside status, words and phrases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Shown {
    /// An axis described by headers is exhausted.
    Exhausted,
    /// A header states a wait.
    WaitInHeader,
    /// The IETF `RateLimit` field is there and can be read.
    RateLimitField,
}

/// What a rule says about the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "read by the engine alone")]
pub enum Opinion {
    /// None.
    NoOpinion,
    /// It is this limit.
    Limit(LimitClass, Option<TokenKind>),
    /// It is a limit; texts and headers tell which.
    SomeLimit,
}

/// The status that stands for an error inside a success which repeats no status of its own.
pub const INSIDE_A_SUCCESS: u16 = 200;

/// A row: what must be shown, all of it, and what follows.
///
/// ```
/// use forbear::core::rule::verdict::Rule;
/// use forbear::{LimitClass, Scope};
/// // A 429 whose text speaks of the account is the account's limit, on requests.
/// const RULE: Rule = Rule::phrase(&["this account"]).on(&[429]).limit(LimitClass::RequestRate).scope(Scope::Org);
/// assert_eq!(RULE.statuses, [429]);
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Rule {
    /// Any of these statuses; empty: any at all.
    pub statuses: &'static [u16],
    /// Any of these words in a field or header that holds words; empty: not asked.
    pub words: &'static [&'static str],
    /// Any of these phrases, upper and lower case alike, at the start of a word; empty: not asked.
    pub phrases: &'static [&'static str],
    /// All of these.
    pub shown: &'static [Shown],
    /// Asked only where nothing else told the limit.
    pub otherwise: bool,
    /// The limit.
    pub limit: Opinion,
    /// Could waiting help? `None`: no opinion.
    pub retry: Option<bool>,
    /// The level; `None`: no opinion.
    pub scope: Option<Scope>,
}

impl Rule {
    const ANY: Self = Self {
        statuses: &[],
        words: &[],
        phrases: &[],
        shown: &[],
        otherwise: false,
        limit: Opinion::NoOpinion,
        retry: None,
        scope: None,
    };

    /// A rule about answers with one of these statuses.
    #[must_use]
    pub const fn status(statuses: &'static [u16]) -> Self {
        Self { statuses, ..Self::ANY }
    }

    /// A rule about answers that show one of these words.
    #[must_use]
    pub const fn word(words: &'static [&'static str]) -> Self {
        Self { words, ..Self::ANY }
    }

    /// A rule about answers that show one of these phrases.
    #[must_use]
    pub const fn phrase(phrases: &'static [&'static str]) -> Self {
        Self { phrases, ..Self::ANY }
    }

    /// The same, asked only where nothing else told the limit.
    ///
    /// For a provider's last resort: "resource exhausted" without any other sign is overload with one, an unknown limit with another.
    #[must_use]
    pub const fn otherwise(mut self) -> Self {
        self.otherwise = true;
        self
    }

    /// And one of these statuses.
    #[must_use]
    pub const fn on(mut self, statuses: &'static [u16]) -> Self {
        self.statuses = statuses;
        self
    }

    /// And one of these phrases.
    #[must_use]
    pub const fn saying(mut self, phrases: &'static [&'static str]) -> Self {
        self.phrases = phrases;
        self
    }

    /// And all of these.
    #[must_use]
    pub const fn showing(mut self, shown: &'static [Shown]) -> Self {
        self.shown = shown;
        self
    }

    /// Then it is this limit.
    #[must_use]
    pub const fn limit(mut self, class: LimitClass) -> Self {
        let kind = match class {
            LimitClass::TokenThroughput => Some(TokenKind::Total),
            _ => None,
        };
        self.limit = Opinion::Limit(class, kind);
        self
    }

    /// Then it is this limit on this side of the tokens.
    #[must_use]
    pub const fn tokens(mut self, class: LimitClass, kind: TokenKind) -> Self {
        self.limit = Opinion::Limit(class, Some(kind));
        self
    }

    /// Then it is a limit; texts and headers tell which.
    ///
    /// For answers that are a throttle under a status that is none by itself: a 200, a 400, a 403. Texts, fields and exhausted axes
    /// are then asked which limit it was.
    #[must_use]
    pub const fn some_limit(mut self) -> Self {
        self.limit = Opinion::SomeLimit;
        self
    }

    /// Then waiting can help.
    #[must_use]
    pub const fn retry(mut self) -> Self {
        self.retry = Some(true);
        self
    }

    /// Then waiting cannot help.
    #[must_use]
    pub const fn stop(mut self) -> Self {
        self.retry = Some(false);
        self
    }

    /// Then it belongs to this level.
    ///
    /// Decides which level of a pool's path is shut. Where no rule and no header names one, the caller's own pool is.
    #[must_use]
    pub const fn scope(mut self, scope: Scope) -> Self {
        self.scope = Some(scope);
        self
    }
}

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
