//! Where requests ask for tokens and answers state what was used, by the shape of the API.

use crate::core::rule::tokens::TokenFields;

/// Chat completions and responses as OpenAI shapes them.
pub(super) const OPENAI: TokenFields = TokenFields::new(
    &["max_completion_tokens", "max_output_tokens", "max_tokens"],
    &["usage.prompt_tokens", "usage.input_tokens", "response.usage.input_tokens"],
    &["usage.completion_tokens", "usage.output_tokens", "response.usage.output_tokens"],
    &["usage.total_tokens"],
);

/// Anthropic's messages; `message.usage` is that of a stream's first event.
pub(super) const ANTHROPIC: TokenFields = TokenFields::new(
    &["max_tokens"],
    &["usage.input_tokens", "message.usage.input_tokens"],
    &["usage.output_tokens", "message.usage.output_tokens"],
    &[],
);

/// Gemini and Vertex AI.
pub(super) const GEMINI: TokenFields = TokenFields::new(
    &["generationConfig.maxOutputTokens", "generation_config.max_output_tokens"],
    &["usageMetadata.promptTokenCount"],
    &["usageMetadata.candidatesTokenCount"],
    &["usageMetadata.totalTokenCount"],
);
