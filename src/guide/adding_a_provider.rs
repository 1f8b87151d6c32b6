//! A provider is one file and one line; this page writes both, for a provider that does not exist.
//!
//! # What Acme says
//!
//! Acme's page on limits might read like this:
//!
//! > Each answer carries `Acme-Requests-Left` and `Acme-Requests-Back-In` (seconds). A 429 states how long to wait in
//! > `error.back_in`, in seconds. `error.kind` is `slow` for requests per minute, `long` for tokens per minute, `today` for
//! > requests per day and `money` when the balance is used up. At peak hours we answer 430 and ask for patience. Limits
//! > belong to a model within a team.
//!
//! # The file
//!
//! Four lists, each data: headers, fields of bodies, rules, and what the emulator says. Each row names the grammar that
//! reads its value; a value the grammar does not read whole counts as absent.
//!
//! ```
//! use forbear::core::rule::field::{Field, Fields, Told};
//! use forbear::core::rule::header::{Axis, Header, Headers, Means};
//! use forbear::core::rule::verdict::{INSIDE_A_SUCCESS, Rule, Rules};
//! use forbear::core::rule::{Answer, Table};
//! use forbear::core::signal::{Dimension, LimitClass, Part, QuotaWindow, Scope, TokenKind};
//! use forbear::provider::headers::{duration::reset, number::amount};
//! use forbear::provider::{base, body, leaf};
//!
//! const ACME: Table = Table::new("acme")
//!     // Where the limits are described, and when this table was last held against it.
//!     .page("https://acme.example/docs/limits", "2026-11-30")
//!     // The levels limits belong to, widest first: how a pool's path of names is understood.
//!     .scopes(&[Scope::Org, Scope::Model])
//!     .headers(HEADERS)
//!     .fields(FIELDS, body::read)
//!     .rules(RULES)
//!     // A throttle without a wait in its body, or without a class, raises the drift alarm.
//!     .normally_states(Some(Part::Body), Some(Part::Body))
//!     .answers(ANSWERS);
//!
//! /// Rows that name the same axis describe it together. Nothing left on it: that is why a 429 came, and its reset is the
//! /// wait where nothing else states one.
//! const REQUESTS: Axis = Axis::new("requests", Dimension::Requests, QuotaWindow::Minute);
//!
//! const HEADERS: &Headers = &Headers::of(&[
//!     base::HEADERS, // Retry-After in its forms, Date, the IETF fields
//!     &[
//!         Header::new("acme-requests-left", Means::Remaining(REQUESTS, amount)),
//!         Header::new("acme-requests-back-in", Means::Reset(REQUESTS, reset)),
//!     ],
//! ]);
//!
//! const FIELDS: &Fields = &Fields::of(&[
//!     // Of waits, the row that stands first is asked first.
//!     &[Field::new("body.error.back_in", Told::Wait(leaf::seconds))],
//!     base::FIELDS, // `error`, `error.message` with the limits and waits it names, `error.code`, …
//!     &[Field::new("body.error.kind", Told::Word(leaf::word))],
//! ]);
//!
//! /// From the general to the specific: a later opinion replaces an earlier one. `INSIDE_A_SUCCESS` stands for an error in a
//! /// 200, or in the middle of a stream.
//! const RULES: &Rules = &Rules::of(&[
//!     &[Rule::status(&[429]).scope(Scope::Model)],
//!     base::RULES,
//!     &[
//!         Rule::status(&[430]).limit(LimitClass::Overload).scope(Scope::Model),
//!         Rule::word(&["slow"]).on(&[429, INSIDE_A_SUCCESS]).limit(LimitClass::RequestRate),
//!         Rule::word(&["long"]).on(&[429, INSIDE_A_SUCCESS]).limit(LimitClass::TokenThroughput),
//!         Rule::word(&["today"]).on(&[429, INSIDE_A_SUCCESS]).limit(LimitClass::Daily),
//!         Rule::word(&["money"]).limit(LimitClass::Spend).scope(Scope::Org),
//!     ],
//! ]);
//!
//! /// What the emulator says in Acme's words, one answer a class. The placeholders are listed at `Answer`.
//! const ANSWERS: &[Answer] = &[
//!     Answer::new(LimitClass::None, 200, r#"{"text":"ok"}"#).headers(&[
//!         ("Acme-Requests-Left", "{requests.remaining}"),
//!         ("Acme-Requests-Back-In", "{requests.reset.s}"),
//!     ]),
//!     Answer::new(LimitClass::RequestRate, 429, r#"{"error":{"kind":"slow","back_in":{wait.s}}}"#),
//!     Answer::new(LimitClass::TokenThroughput, 429, r#"{"error":{"kind":"long","back_in":{wait.s}}}"#)
//!         .tokens(TokenKind::Total),
//!     Answer::new(LimitClass::Daily, 429, r#"{"error":{"kind":"today","back_in":{wait.s}}}"#),
//!     Answer::new(LimitClass::Spend, 429, r#"{"error":{"kind":"money"}}"#),
//!     Answer::new(LimitClass::Overload, 430, r#"{"error":{"kind":"peak"}}"#),
//!     Answer::new(LimitClass::Unknown, 429, r#"{"error":{"kind":"other","back_in":{wait.s}}}"#),
//! ];
//!
//! # use forbear::Observation;
//! # use forbear::core::moment::WallTime;
//! // What it reads.
//! let body = br#"{"error":{"kind":"long","back_in":12.5,"message":"Too long."}}"#;
//! let signal = ACME.read(&Observation::status(429).body(body), WallTime::default()).signal;
//! assert_eq!((signal.class, signal.token_kind), (LimitClass::TokenThroughput, Some(TokenKind::Total)));
//! assert_eq!(signal.scope, Some(Scope::Model));
//! let stated = signal.stated.expect("a wait");
//! assert_eq!((stated.delay.as_millis(), stated.place), (12_500, "body.error.back_in"));
//!
//! // A pool of it is a pool like any other.
//! let pool = forbear::Forbear::builder().build()?.pool(ACME, ["my-team", "acme-large"]).build()?;
//! # let _ = pool;
//! # Ok::<(), forbear::InvalidSetting>(())
//! ```
//!
//! # The line
//!
//! In a service of your own that is all: the table is a value. For everybody, the file goes to `src/provider/acme.rs` with
//! `pub(super) const TABLE`, and the list in `src/provider/mod.rs` gets a line:
//!
//! ```text
//! providers! {
//!     …
//!     /// Acme.
//!     acme,
//! }
//! ```
//!
//! That makes `provider::acme()`, `forbear classify --provider acme`, and the emulator's dialect. Tests go over the list:
//! the round trip (what the emulator says is what the table reads, for each class), the bounds on hostile input, the closed
//! words. Recorded answers go to `tests/data/cases.jsonl`, one a line, each with its source; one of the tests asks for a
//! paragraph in [`providers`](crate::guide::providers), so that users read of it.
//!
//! # Judging what a page leaves open
//!
//! * **A status is the weakest word.** Ask for a code or a text first; a rule on a status alone holds for every answer with
//!   it, also those of a proxy.
//! * **A text names an axis only where it says so.** "Rate limit exceeded" and "Too many requests" name none: the class is
//!   `unknown`, and the caller retries all the same.
//! * **Spend must be certain.** It stops every call and wakes a person. "Quota", "billing", "credits" and "balance" stand in
//!   ordinary rate limits of several providers.
//! * **The scope is the narrowest level the limit belongs to**, for it decides who stops. OpenAI and Groq write "for gpt-4o
//!   in organization org-…": the quota is the organisation's, kept for each model apart, so one model's limit says nothing
//!   of the others and their tables say `model`. So does Anthropic's where the text names the model; where it names the
//!   organisation alone, so does the table. A scope that the answer does not tell is the caller's own pool.
//! * **A level that no name stands for is the next narrower one**; see [the gate](crate::guide::gate).
//! * **What cannot be read is as if it were not there**, and counted (`forbear_unreadable_signals_total`) where the table says
//!   that this provider normally states it. A body that is no JSON, or is cut off, is read as text: phrases and waits in it
//!   count, its keys are nothing. In a success only a document or an event can be an error.
//! * **Waits of milliseconds are meant** where capacity is bought (Azure's provisioned throughput): its table lets a pool be
//!   shut for less than a second. The others shut it for at least one.
//! * **An event stream is read frame by frame** ([`StreamReader`](crate::provider::StreamReader)). AWS's binary event streams
//!   are the SDK's: hand over the exception it decoded, as JSON under its own name.
