//! Spans and log events: what one call looks like in a trace, and what is said about it in the log.
//!
//! With feature `telemetry` every call opens spans of `tracing`. Nobody has to be told of them: without a subscriber a call
//! pays a few nanoseconds and allocates nothing. Over OTLP they arrive as OpenTelemetry spans
//! (`forbear::otlp::install`, feature `otlp`), in a `fmt` layer as lines.
//!
//! ```text
//! request                          yours
//! └─ chat claude-sonnet            the call: forbear.call
//!    ├─ forbear.attempt            1, throttled, 429
//!    │  └─ POST                    your HTTP client's
//!    ├─ forbear.delay              the provider stated 2 s
//!    ├─ forbear.gate.wait          the pool was shut
//!    └─ forbear.attempt            2, ok
//!       └─ POST                    http.request.resend_count = 1 stands on the attempt
//! ```
//!
//! # Spans
//!
//! All are at INFO, with the target `forbear`. A field that does not apply is not there.
//!
//! | span | field | what it says |
//! |---|---|---|
//! | `forbear.call` | | the logical operation, with all its attempts and waits |
//! | | `otel.name`, `otel.kind` | `{operation} {model}` and `client`, where the policy sets [`gen_ai_operation`](crate::PolicyBuilder::gen_ai_operation); else the span has its own name and is INTERNAL |
//! | | `gen_ai.operation.name`, `gen_ai.provider.name`, `gen_ai.request.model` | the same in the words of the conventions for generative AI; the model is the last name of the pool's path where the provider limits by model, or [`gen_ai_model`](crate::PolicyBuilder::gen_ai_model) |
//! | | `server.address`, `server.port` | what [`PoolBuilder::server`](crate::PoolBuilder::server) said |
//! | | `forbear.provider`, `forbear.pool`, `forbear.policy` | the pool's labels and the policy's name: the way from a trace to the metrics |
//! | | `forbear.nesting.depth` | of how many attempts the call is inside, if of any |
//! | | `forbear.call.attempts`, `forbear.call.outcome` | how it ended; the word of the metrics' label `outcome` |
//! | | `forbear.giveup.reason`, `forbear.limit.class` | why it was given up, and what stood in the way last |
//! | | `error.type`, `otel.status_code` | the outcome's word and `ERROR`, only if the call failed |
//! | `forbear.attempt` | | one request, as far as the operation sends one |
//! | | `otel.kind`, `server.address`, `server.port` | `client` and where, only with [`client_attempts`](crate::ForbearBuilder::client_attempts) |
//! | | `forbear.attempt.number`, `http.request.resend_count` | 1 for the first; how many came before, absent on the first |
//! | | `forbear.delay.source` | where the longest wait before it came from |
//! | | `forbear.attempt.requests` | how many requests a tap saw leave, if one did |
//! | | `forbear.attempt.outcome`, `forbear.limit.class` | how it ended, and the limit it hit |
//! | | `http.response.status_code` | the status, if an answer came |
//! | | `error.type`, `otel.status_code` | the status or the outcome's word, and `ERROR`, only if it failed |
//! | `forbear.delay` | | a wait between two attempts |
//! | | `forbear.delay.source` | header, body or curve |
//! | | `forbear.delay.stated` | what the provider stated, in seconds |
//! | | `forbear.delay.planned`, `forbear.delay.clamped` | what was decided, in seconds, and whether a stated delay was cut to its cap |
//! | | `forbear.delay.duration` | what it was, in seconds |
//! | `forbear.gate.wait` | | a wait at the pool's gate, only if there was one |
//! | | `forbear.gate.queue.depth` | calls that waited when it began, this one included |
//! | | `forbear.gate.wait.stated` | how long the pool was said to be shut, in seconds |
//! | | `forbear.gate.wait.duration`, `forbear.gate.result` | what it was, in seconds, and how it ended |
//!
//! A failure that was retried stands on its attempt and not on the call: whoever alerts on failed spans of a service wants
//! to hear of calls (OpenTelemetry, "Recording errors": errors that were handled are not recorded on the operation).
//! Attempts are INTERNAL because the HTTP client's span below is the CLIENT one, and two would count each request twice in
//! service graphs; a client without spans is what `client_attempts` is for.
//!
//! # What nests where
//!
//! The call's span is a child of the span that is current when the call is first polled. What the operation opens nests in
//! its attempt, over every `.await`. A task of its own knows no span unless it is given one: spawn
//! [`attempt.scope(future)`](crate::Attempt::scope), or `future.in_current_span()` of `tracing`.
//!
//! # Log events
//!
//! | event | level | when |
//! |---|---|---|
//! | `forbear.retried` | DEBUG | a failure that is no throttle and is retried |
//! | `forbear.throttled` | INFO | a throttle, with what the provider stated and where it stood |
//! | `forbear.gave_up` | WARN | a call ended without success; DEBUG where it sent nothing that failed (the gate refused it) or waiting could not have helped (a 404) |
//! | `forbear.gate.shut` | INFO | a pool shut that had let calls in; WARN for a daily or a spend limit, as nothing but the next day or a person reopens it |
//! | `forbear.gate.reopened` | INFO | a pool went from shut to paced, or from paced to flowing; noticed when the next call or scrape looks |
//! | `forbear.quota.updated` | DEBUG | an answer states another limit than was known |
//! | `forbear.store.degraded` | WARN | the store that replicas share is not relied on any more, or refuses now, with what it said; once each ([`replicas`](crate::guide::replicas#when-the-store-is-away)) |
//! | `forbear.store.no_channel` | WARN | that store lets nobody subscribe: news are read every two seconds; once until it does |
//! | `forbear.store.recovered` | INFO | that store is relied on again, after so long |
//! | `forbear.headers_hidden` | WARN | a throttle was shown without headers, once per call site ([`integrations`](crate::guide::integrations)) |
//! | `forbear.stacked_retry` | WARN | a second retry layer was noticed, once per call site and way of noticing ([`stacked_retries`](crate::guide::stacked_retries)) |
//! | `forbear.no_recorder` | WARN | the meters count into nothing, once |
//!
//! It is promised that failures that were retried stay at INFO and below, that throttles and give-ups never rise above WARN,
//! and that nothing is logged at ERROR: `tracing-opentelemetry` turns an event at ERROR into a failed span, and what a
//! failure means is for the caller to say. Events of a pool come when it changes, never per request.
//!
//! ```text
//! RUST_LOG=forbear=warn        give-ups, second retry layers, limits that a person must lift
//! RUST_LOG=forbear=info        and each throttle, and pools that shut and reopen
//! RUST_LOG=forbear=debug       and each failure that is retried
//! ```
//!
//! # With tracing-opentelemetry
//!
//! `forbear::otlp::install` sets it up. For a layer of your own: `with_location(false).with_threads(false)
//! .with_target(false).with_tracked_inactivity(false)` keeps eight attributes off every span, and a filter that turns
//! `h2`, `hyper`, `tonic`, `reqwest` and `opentelemetry` off keeps the exporter from tracing itself.
//!
//! # What never stands there
//!
//! No header, URL, body or error text, of request or of answer: spans and events hold labels, numbers, and the tables' own
//! words. What the application itself names (pool, policy, model, server) is shown as it is, so none of it may be a key. A
//! test plants secrets everywhere and searches all that is told.
