//! Promises: what you may rely on, what may change, and how a change is announced.
//!
//! # The API
//!
//! Semantic versioning as Cargo reads it. Enums and structs that may grow are `#[non_exhaustive]`; those that are closed are
//! closed on purpose, since their words are labels. Features only add API: switching one on changes no behaviour. The least
//! version of Rust is declared in `rust-version`, and raising it is a minor version.
//!
//! # Behaviour
//!
//! | promise | where it is stated |
//! |---|---|
//! | Nobody sends earlier than told: a stated wait is a floor, and jitter on it only adds. | [decisions](crate::guide::decisions) |
//! | No request is sent at or after the call's deadline; an attempt in flight is cut at it. | [how it works](crate::guide::how_it_works) |
//! | A wait is never zero, and never longer than its cap unless the provider stated it and the policy allows it. | [decisions](crate::guide::decisions) |
//! | Daily and spend limits end a call without another request. | [decisions](crate::guide::decisions) |
//! | A 4xx is never retried unless the answer says that waiting helps. | [decisions](crate::guide::decisions) |
//! | A throttle shuts the pool it belongs to, and nothing beside it. | [the gate](crate::guide::gate) |
//! | First come, first served inside a pool; a throttled call keeps its place. | [the gate](crate::guide::gate) |
//! | Dropping a call at any await leaks nothing, blocks nobody, and loses no throttle whose head was seen. | [`Call::run`](crate::Call::run) |
//! | An exhausted answer is given back whole. | [`Error::into_last`](crate::Error::into_last) |
//! | Untrusted input never panics, and never makes a wait shorter than told or longer than its cap. | [reading answers](crate::guide::reading_answers) |
//! | Without a sink and a subscriber nothing is told and nothing is built. | [events and metrics](crate::guide::events_and_metrics) |
//! | No label, span or log line holds a URL, a key, a request's id or an error's text. | [events and metrics](crate::guide::events_and_metrics) |
//!
//! Each is a test. Changing one is a major version, with one exception: **what a table says of a provider** follows the
//! provider. A row may turn from retry into stop in a minor version where the provider's page or captured answers say so;
//! the change log names the table and the word. A row never turns from stop into retry without such evidence.
//!
//! # Numbers
//!
//! Defaults (the table in [how it works](crate::guide::how_it_works#every-default)) may change in a minor version and stand in
//! the change log with the reason. Who needs a number to stay sets it.
//!
//! # Names of metrics, labels and spans
//!
//! They are API. The metric `forbear_build_info{schema="1"}` carries their version: it rises when a name, a label or a unit
//! changes, and then the old name is kept beside the new for one minor version, so that rules written against one version
//! work with the metrics of the next. New metrics, and new words in an open set, come without a new schema. The closed sets
//! (`outcome`, `limit_class`, `delay_source`, `attempt`, `state`) grow only with it.
//!
//! ```
//! // Dashboards and rules name what they were written for; a test can hold it against the crate.
//! assert_eq!(forbear::event::SCHEMA, "1");
//! ```
//!
//! # Not promised
//!
//! The wording of [`Error`](crate::Error)'s text, of log lines and of help texts; the order of events of different calls; the
//! size of a future; how fast calls come back after a shut, beyond never all at once and not slower than the limit allows by
//! design; what the emulator answers beyond what a table says.
