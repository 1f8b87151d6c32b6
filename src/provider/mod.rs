//! What each provider says and where: one table per file, all of one shape.
//!
//! A table is a constant, copied freely and passed to [`Forbear::pool`](crate::Forbear::pool). Names of levels below are those
//! of a pool's path, widest first. What is worth knowing of each when a pool is set up, with its page, stands in the
//! [guide](crate::guide::providers); how a table is asked outside of a call in [reading answers](crate::guide::reading_answers).
//!
//! ```
//! use forbear::provider;
//! assert!(provider::all().len() >= 25);
//! let table = provider::by_id("groq").expect("there is one");
//! assert_eq!(table.page, "https://console.groq.com/docs/rate-limits");
//! assert_eq!(provider::closest("antropic")[0], "anthropic");
//! ```

pub mod base;
pub mod body;
mod closest;
mod google;
pub mod headers;
mod json;
pub mod leaf;
pub mod prose;
mod stream;
mod usage;

pub use crate::provider::closest::closest;
pub use crate::provider::stream::StreamReader;

use crate::core::rule::Table;

/// The one list of providers: a line here and a file beside it is a provider.
macro_rules! providers {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        $(
            mod $name;

            $(#[$doc])*
            #[must_use]
            pub const fn $name() -> Table {
                $name::TABLE
            }
        )*

        const TABLES: &[Table] = &[$($name::TABLE,)*];
    };
}

providers! {
    /// OpenAI.
    ///
    /// Path: organisation, project, model. Waits in headers (`retry-after`, resets as `6m0s`), the limit in the body; requests and
    /// tokens per minute on every answer. Spend shares the status 429 and differs in `error.code`.
    openai,
    /// Azure OpenAI.
    ///
    /// Path: subscription, region, deployment. OpenAI's header names with resets in bare seconds. Provisioned throughput states
    /// milliseconds, so a shut has no least time.
    azure_openai,
    /// GitHub Models.
    ///
    /// Path: account, model. `x-ratelimit-type` carries unit, level and window; limits per day are small.
    github_models,
    /// Anthropic.
    ///
    /// Path: organisation, workspace, model. Headers `anthropic-ratelimit-*` with instants for resets, input and output tokens
    /// apart; 529 is overload, also inside a stream.
    anthropic,
    /// Google Gemini API.
    ///
    /// Path: project, model. Everything stands in the body: `QuotaFailure` names the limit, `RetryInfo` the wait.
    gemini,
    /// Google Vertex AI.
    ///
    /// Path: project, region, model. No wait is stated; "resource exhausted" is shared capacity and counts as overload.
    vertex,
    /// AWS Bedrock.
    ///
    /// Path: account, region, model. No wait is stated; the error's name decides, under 429 and 400 alike.
    bedrock,
    /// Mistral.
    ///
    /// Path: organisation, workspace, model. Headers tell what is left per minute, and neither reset nor wait.
    mistral,
    /// Groq.
    ///
    /// Path: organisation, project, model. OpenAI's header names with other windows: `-requests` per day, `-tokens` per minute.
    groq,
    /// Cohere.
    ///
    /// Path: organisation, key, endpoint. The message alone tells the limit; a trial key's monthly allowance is spend.
    cohere,
    /// xAI.
    ///
    /// Path: team, model. The same code stands for rate and for spend, and the text decides. No wait is stated.
    xai,
    /// DeepSeek.
    ///
    /// Path: account. Its only limit is the number of requests in flight.
    deepseek,
    /// OpenRouter.
    ///
    /// Path: account, key, model. Resets in milliseconds since the epoch, in headers and in the body; errors inside a 200.
    openrouter,
    /// Together AI.
    ///
    /// Path: account, model. One `x-ratelimit-reset` on every answer serves requests and tokens both.
    together,
    /// Fireworks AI.
    ///
    /// Path: account, model. Prompt and generated tokens are counted apart; no reset. A suspended account answers 412.
    fireworks,
    /// Cerebras.
    ///
    /// Path: organisation, model. The window stands in the header's name; a full queue is overload.
    cerebras,
    /// Perplexity: little is known.
    ///
    /// Path: account, model. No header and no wait was ever captured; the curve does the rest.
    perplexity,
    /// Replicate.
    ///
    /// Path: account, endpoint. The wait stands in the body, as a number and in prose.
    replicate,
    /// Hugging Face.
    ///
    /// Path: account, model. The Hub counts in windows of five minutes; a model that loads is overload.
    huggingface,
    /// Voyage AI.
    ///
    /// Path: organisation, project, model. Bodies with a `detail`, no headers, no wait.
    voyage,
    /// GitHub REST API.
    ///
    /// Path: account, endpoint. 403 or 429, windows of an hour; the secondary limit is told by its text.
    github,
    /// Stripe.
    ///
    /// Path: account, endpoint. A header names the limit; 402 is a declined card of a customer, not a bill.
    stripe,
    /// Slack Web API.
    ///
    /// Path: workspace, method. `Retry-After` in a header; an error may be a 200 with `"ok":false`.
    slack,
    /// Any service that speaks gRPC.
    ///
    /// What a call of `tonic` returned, without a dependency on it: the status code, the message, the details and the
    /// metadata are all it needs.
    ///
    /// ```
    /// use forbear::Observation;
    /// use forbear::core::moment::WallTime;
    /// use forbear::core::signal::LimitClass;
    /// use forbear::provider;
    ///
    /// // With `status: tonic::Status`: `status.code() as i32`, `status.message()`, `status.details()` and
    /// // `status.metadata().clone().into_headers()`.
    /// let (code, message, details) = (8, "Quota of requests per minute exceeded", &b""[..]);
    /// let mut metadata = http::HeaderMap::new();
    /// metadata.insert("grpc-retry-pushback-ms", http::HeaderValue::from_static("1500"));
    ///
    /// let observation = Observation::grpc(code).message(message).body(details).headers(&metadata);
    /// let signal = provider::grpc().read(&observation, WallTime::default()).signal;
    /// assert_eq!(signal.class, LimitClass::RequestRate);
    /// assert_eq!(signal.stated.map(|stated| stated.delay.as_millis()), Some(1_500));
    /// ```
    ///
    /// The trailers of a call made without such a client are read as they came: `grpc-status`, `grpc-message` and
    /// `grpc-status-details-bin` beside the HTTP status 200. A client that could not connect reports `UNAVAILABLE`, too,
    /// with no trailer: hand such a failure over as [`TransportFailure::Connect`](crate::TransportFailure::Connect).
    grpc,
    /// Any HTTP API.
    ///
    /// Path: account, key, endpoint. `Retry-After` in every form, the usual header names, messages in the usual shapes: where to
    /// start with a provider that has no table.
    generic,
    /// Any HTTP API that sends the IETF `RateLimit` fields.
    ///
    /// Path: account, key, endpoint. As [`generic`](fn@generic), and a throttle without those fields counts as unreadable.
    generic_ietf,
}

/// Every table.
#[must_use]
pub const fn all() -> &'static [Table] {
    TABLES
}

/// The table of this id, as in `openai`.
#[must_use]
pub fn by_id(id: &str) -> Option<Table> {
    TABLES.iter().find(|table| table.id == id).copied()
}
