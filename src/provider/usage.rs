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

/// The Converse API of AWS Bedrock, and the body of an Anthropic model there.
pub(super) const BEDROCK: TokenFields = TokenFields::new(
    &["inferenceConfig.maxTokens", "max_tokens"],
    &["usage.inputTokens", "usage.input_tokens", "metadata.usage.inputTokens"],
    &["usage.outputTokens", "usage.output_tokens", "metadata.usage.outputTokens"],
    &["usage.totalTokens"],
);

/// Cohere's chat.
pub(super) const COHERE: TokenFields = TokenFields::new(
    &["max_tokens"],
    &["usage.tokens.input_tokens", "meta.tokens.input_tokens"],
    &["usage.tokens.output_tokens", "meta.tokens.output_tokens"],
    &[],
);

/// Text generation servers; the router of Inference Providers speaks as OpenAI does.
pub(super) const HUGGINGFACE: TokenFields = TokenFields::new(
    &["max_tokens", "parameters.max_new_tokens"],
    &["usage.prompt_tokens"],
    &["usage.completion_tokens", "details.generated_tokens"],
    &["usage.total_tokens"],
);

/// Predictions of language models.
pub(super) const REPLICATE: TokenFields = TokenFields::new(
    &["input.max_tokens", "input.max_new_tokens"],
    &["metrics.input_token_count"],
    &["metrics.output_token_count"],
    &[],
);

/// Embeddings: there is no output.
pub(super) const VOYAGE: TokenFields = TokenFields::new(&[], &["usage.total_tokens"], &[], &[]);
