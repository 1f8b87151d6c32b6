//! The SDKs people use, each with one retry layer.
//!
//! Each module is one integration: how the SDK's own retries are turned off, where the retry layer goes, and what reaches
//! the application. The tests beside it prove, against the emulator, that exactly one layer retries: requests at the provider
//! are attempts. Copy the function you need; none is longer than a screen.
//!
//! | module | SDK | its own retries are off by |
//! |---|---|---|
//! | [`openai`] | async-openai 0.43 | `with_http_service`: its retry layer is part of the service that is replaced |
//! | [`anthropic`] | reqwest-middleware 0.5, on Anthropic's Messages API | `reqwest::ClientBuilder::retry(reqwest::retry::never())` |
//! | [`plain`] | reqwest 0.13 | the same |
//! | [`grpc`] | tonic 0.14 | it has none |
//! | [`bedrock`] | aws-sdk-bedrockruntime 1.153 | `RetryConfig::disabled()` |
pub mod anthropic;
pub mod bedrock;
pub mod grpc;
pub mod openai;
pub mod plain;

use forbear::{Policy, Pool};

/// The pool and the policy an integration was made with.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Through {
    /// What shares the quota.
    pub pool: Pool,
    /// How calls are retried.
    pub policy: Policy,
}

impl Through {
    /// Calls go through `pool` under `policy`.
    #[must_use]
    pub const fn new(pool: Pool, policy: Policy) -> Self {
        Self { pool, policy }
    }
}
