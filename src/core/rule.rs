//! Provider tables: what a row is, and how a table is read.
//!
//! A table is data: the headers and body fields it reads, each with the function of its grammar, and rules that
//! run from the general to the specific, the user's last. Reading is one pass over the headers; only an error, or a body
//! that was handed over, is looked at further.
//!
//! | file | job |
//! |---|---|
//! | [`header`], [`field`], [`tokens`] | the rows: headers, fields of a body, where tokens are asked for and stated |
//! | [`verdict`] | rules: conditions on an answer, and the opinion they lead to |
//! | `answer` | what the emulator sends in the provider's place |
//! | `reading` | the way from an observation to what it means |
//! | `seen`, `axis_seen`, [`fact`], [`claim`] | what headers, bodies and texts were found to say |
//! | `judge`, `wait` | which limit was hit, and the wait that was stated |
//! | `index`, `keys` | names looked up |

mod answer;
mod axis_seen;
pub mod claim;
pub mod fact;
pub mod field;
pub mod header;
mod index;
mod judge;
pub(crate) mod keys;
mod reading;
mod seen;
pub mod tokens;
pub mod verdict;
mod wait;

use std::fmt;
use std::time::Duration;

use crate::core::observation::Observation;
pub use crate::core::rule::answer::Answer;
use crate::core::rule::fact::Facts;
use crate::core::rule::field::Fields;
use crate::core::rule::header::Headers;
use crate::core::rule::tokens::TokenFields;
use crate::core::rule::verdict::Rules;
use crate::core::signal::{Part, Scope};

/// Reads the body and the message of an observation into facts. The flag tells whether the headers announced a stream.
pub type ReadBody = fn(&Table, &Observation<'_>, bool, &mut Facts);

/// Everything the engine knows of one provider. Cheap to copy: it refers to constants.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Table {
    /// Our word for the provider, as in the `provider` label.
    pub id: &'static str,
    /// Its name in `gen_ai.provider.name`, as the OpenTelemetry conventions spell it where they know it.
    pub semconv: &'static str,
    /// The provider's public page on its limits.
    pub page: &'static str,
    /// When the table was last held against that page.
    pub verified_on: &'static str,
    /// The levels its limits belong to, widest first.
    pub scopes: &'static [Scope],
    /// The least time a throttle shuts a pool; zero where waits of milliseconds are meant.
    pub shut_floor: Duration,
    /// The headers it reads.
    pub headers: &'static Headers,
    /// The body fields it reads.
    pub fields: &'static Fields,
    /// Its rules, the general ones first.
    pub rules: &'static Rules,
    /// The application's own rules, run last.
    pub user_rules: &'static Rules,
    /// How a body is read.
    pub read_body: ReadBody,
    /// Where it normally states how long to wait, if it does. A throttle without it raises the drift alarm.
    pub states_delay: Option<Part>,
    /// Where it normally states which limit was hit, if it does. A throttle without it raises the drift alarm.
    pub states_class: Option<Part>,
    /// Where requests ask for tokens and answers state what was used.
    pub tokens: TokenFields,
    /// What the emulator sends, one per class the provider can express.
    pub answers: &'static [Answer],
}

impl fmt::Debug for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Table").field("id", &self.id).finish_non_exhaustive()
    }
}

/// The default of [`Table::shut_floor`].
const SHUT_FLOOR: Duration = Duration::from_secs(1);

impl Table {
    /// A table that reads statuses alone; everything else is added by the functions below.
    #[must_use]
    pub const fn new(id: &'static str) -> Self {
        const NO_HEADERS: &Headers = &Headers::of(&[]);
        const NO_FIELDS: &Fields = &Fields::of(&[]);
        const NO_RULES: &Rules = &Rules::NONE;
        Self {
            id,
            semconv: id,
            page: "",
            verified_on: "",
            scopes: &[],
            shut_floor: SHUT_FLOOR,
            headers: NO_HEADERS,
            fields: NO_FIELDS,
            rules: NO_RULES,
            user_rules: NO_RULES,
            read_body: |_, _, _, _| {},
            states_delay: None,
            states_class: None,
            tokens: TokenFields::NONE,
            answers: &[],
        }
    }
}

/// Building a table: each function sets one part and gives the table back.
impl Table {
    /// Sets the public page on the limits and the day the table was last held against it, as `2026-11-30`.
    ///
    /// What an answer shows beats a page, and a page beats memory.
    #[must_use]
    pub const fn page(mut self, page: &'static str, verified_on: &'static str) -> Self {
        self.page = page;
        self.verified_on = verified_on;
        self
    }

    /// Sets the name in `gen_ai.provider.name`.
    #[must_use]
    pub const fn semconv(mut self, name: &'static str) -> Self {
        self.semconv = name;
        self
    }

    /// Sets the levels its limits belong to, widest first.
    ///
    /// A limit that names one of them shuts that level of a pool's path, and all pools below it.
    #[must_use]
    pub const fn scopes(mut self, scopes: &'static [Scope]) -> Self {
        self.scopes = scopes;
        self
    }

    /// Sets the least time a throttle shuts a pool.
    ///
    /// 1 s unless set. Where a bucket states the time until its next request, which is milliseconds at a large quota, reopening for
    /// everybody then would be a storm; zero is for capacity of one's own, where milliseconds are meant.
    #[must_use]
    pub const fn shut_floor(mut self, floor: Duration) -> Self {
        self.shut_floor = floor;
        self
    }

    /// Sets the headers it reads.
    #[must_use]
    pub const fn headers(mut self, headers: &'static Headers) -> Self {
        self.headers = headers;
        self
    }

    /// Sets the body fields it reads, and how a body is read.
    #[must_use]
    pub const fn fields(mut self, fields: &'static Fields, read_body: ReadBody) -> Self {
        self.fields = fields;
        self.read_body = read_body;
        self
    }

    /// Sets its rules.
    #[must_use]
    pub const fn rules(mut self, rules: &'static Rules) -> Self {
        self.rules = rules;
        self
    }

    /// Sets rules of the application's own, which run after all others.
    ///
    /// They run after the table's own and win; see [reading answers](crate::guide::reading_answers#a-word-of-your-own).
    #[must_use]
    pub const fn and_rules(mut self, rules: &'static Rules) -> Self {
        self.user_rules = rules;
        self
    }

    /// Sets where delay and class are normally stated.
    ///
    /// A throttle without what is normally stated is counted by `forbear_unreadable_signals_total`: the provider may have changed its
    /// spelling. `None` promises nothing, and raises nothing.
    #[must_use]
    pub const fn normally_states(mut self, delay: Option<Part>, class: Option<Part>) -> Self {
        self.states_delay = delay;
        self.states_class = class;
        self
    }

    /// Sets where requests ask for tokens and answers state what was used.
    #[must_use]
    pub const fn tokens(mut self, fields: TokenFields) -> Self {
        self.tokens = fields;
        self
    }

    /// Sets what the emulator sends.
    #[must_use]
    pub const fn answers(mut self, answers: &'static [Answer]) -> Self {
        self.answers = answers;
        self
    }
}
