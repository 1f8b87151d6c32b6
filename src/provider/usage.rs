//! Where requests ask for tokens and answers state what was used, by the shape of the API.

use crate::core::rule::Answer;
use crate::core::rule::field::{Field, Fields, Told};
use crate::core::rule::tokens::TokenFields;
use crate::core::signal::{LimitClass, TokenKind};
use crate::provider::body::read_tokens;

const fn limit(path: &'static str) -> Field {
    Field::new(path, Told::OutputLimit)
}

const fn input(path: &'static str) -> Field {
    Field::new(path, Told::Used(TokenKind::Input))
}

const fn output(path: &'static str) -> Field {
    Field::new(path, Told::Used(TokenKind::Output))
}

const fn total(path: &'static str) -> Field {
    Field::new(path, Told::Used(TokenKind::Total))
}

/// Chat completions, responses and embeddings as OpenAI shapes them; `response.usage` is that of a stream's last event.
pub(super) const OPENAI: TokenFields = {
    const REQUEST: &Fields = &Fields::of(&[&[
        limit("body.max_completion_tokens"),
        limit("body.max_output_tokens"),
        limit("body.max_tokens"),
    ]]);
    const ANSWER: &[Field] = &[
        input("body.usage.prompt_tokens"),
        input("body.usage.input_tokens"),
        input("body.response.usage.input_tokens"),
        output("body.usage.completion_tokens"),
        output("body.usage.output_tokens"),
        output("body.response.usage.output_tokens"),
        total("body.usage.total_tokens"),
    ];
    TokenFields::new(REQUEST, ANSWER, read_tokens)
};

/// A success in that shape.
pub(super) const CHAT_COMPLETION: Answer = Answer::new(
    LimitClass::None,
    200,
    r#"{"object":"chat.completion","choices":[],"usage":{"prompt_tokens":{usage.input},"completion_tokens":{usage.output},"total_tokens":{usage.total}}}"#,
);

/// Groq's: the last chunk of its streams states the usage in a field of its own.
pub(super) const GROQ_STREAM: &[Field] =
    &[input("body.x_groq.usage.prompt_tokens"), output("body.x_groq.usage.completion_tokens")];

/// The same of those who count the larger of what the request asks for and what it sends: OpenAI and Azure OpenAI say so on
/// their pages on limits, at Groq it was observed (zeeyado/koassistant.koplugin#106).
pub(super) const OPENAI_COUNTING_THE_LIMIT: TokenFields = OPENAI.counting_the_limit();

/// Anthropic's messages; `message.usage` is that of a stream's first event. What is written to the cache counts, what is read
/// from it does not (<https://platform.claude.com/docs/en/api/rate-limits>).
pub(super) const ANTHROPIC: TokenFields = {
    const REQUEST: &Fields = &Fields::of(&[&[limit("body.max_tokens")]]);
    const ANSWER: &[Field] = &[
        input("body.usage.input_tokens"),
        input("body.message.usage.input_tokens"),
        Field::new("body.usage.cache_creation_input_tokens", Told::UsedBeside(TokenKind::Input)),
        Field::new("body.message.usage.cache_creation_input_tokens", Told::UsedBeside(TokenKind::Input)),
        output("body.usage.output_tokens"),
        output("body.message.usage.output_tokens"),
    ];
    TokenFields::new(REQUEST, ANSWER, read_tokens)
};

/// Gemini and Vertex AI. Thoughts are output that is stated apart. Both also speak as OpenAI does
/// (<https://ai.google.dev/gemini-api/docs/openai>), and Vertex AI serves Anthropic's models in Anthropic's words.
pub(super) const GEMINI: TokenFields = {
    const REQUEST: &Fields = &Fields::of(&[&[
        limit("body.generationConfig.maxOutputTokens"),
        limit("body.generation_config.max_output_tokens"),
        limit("body.max_completion_tokens"),
        limit("body.max_tokens"),
    ]]);
    const ANSWER: &[Field] = &[
        input("body.usageMetadata.promptTokenCount"),
        output("body.usageMetadata.candidatesTokenCount"),
        Field::new("body.usageMetadata.thoughtsTokenCount", Told::UsedBeside(TokenKind::Output)),
        total("body.usageMetadata.totalTokenCount"),
        input("body.usage.prompt_tokens"),
        input("body.usage.input_tokens"),
        input("body.message.usage.input_tokens"),
        output("body.usage.completion_tokens"),
        output("body.usage.output_tokens"),
        output("body.message.usage.output_tokens"),
    ];
    TokenFields::new(REQUEST, ANSWER, read_tokens)
};

/// The Converse API of AWS Bedrock, and the body of an Anthropic model there.
pub(super) const BEDROCK: TokenFields = {
    const REQUEST: &Fields = &Fields::of(&[&[limit("body.inferenceConfig.maxTokens"), limit("body.max_tokens")]]);
    const ANSWER: &[Field] = &[
        input("body.usage.inputTokens"),
        input("body.usage.input_tokens"),
        input("body.metadata.usage.inputTokens"),
        output("body.usage.outputTokens"),
        output("body.usage.output_tokens"),
        output("body.metadata.usage.outputTokens"),
        // The last event of a stream of `InvokeModel`, whatever the model.
        input("body.amazon-bedrock-invocationMetrics.inputTokenCount"),
        output("body.amazon-bedrock-invocationMetrics.outputTokenCount"),
        total("body.usage.totalTokens"),
    ];
    TokenFields::new(REQUEST, ANSWER, read_tokens)
};

/// Cohere's chat; `delta` and `response` are those of a stream's last event, in its second and first version.
pub(super) const COHERE: TokenFields = {
    const REQUEST: &Fields = &Fields::of(&[&[limit("body.max_tokens")]]);
    const ANSWER: &[Field] = &[
        input("body.usage.tokens.input_tokens"),
        input("body.meta.tokens.input_tokens"),
        input("body.delta.usage.tokens.input_tokens"),
        input("body.response.meta.tokens.input_tokens"),
        output("body.usage.tokens.output_tokens"),
        output("body.meta.tokens.output_tokens"),
        output("body.delta.usage.tokens.output_tokens"),
        output("body.response.meta.tokens.output_tokens"),
    ];
    TokenFields::new(REQUEST, ANSWER, read_tokens)
};

/// Text generation servers; the router of Inference Providers speaks as OpenAI does.
pub(super) const HUGGINGFACE: TokenFields = {
    const REQUEST: &Fields = &Fields::of(&[&[limit("body.max_tokens"), limit("body.parameters.max_new_tokens")]]);
    const ANSWER: &[Field] = &[
        input("body.usage.prompt_tokens"),
        output("body.usage.completion_tokens"),
        input("body.details.input_length"),
        output("body.details.generated_tokens"),
        total("body.usage.total_tokens"),
    ];
    TokenFields::new(REQUEST, ANSWER, read_tokens)
};

/// Predictions of language models.
pub(super) const REPLICATE: TokenFields = {
    const REQUEST: &Fields = &Fields::of(&[&[limit("body.input.max_tokens"), limit("body.input.max_new_tokens")]]);
    const ANSWER: &[Field] = &[input("body.metrics.input_token_count"), output("body.metrics.output_token_count")];
    TokenFields::new(REQUEST, ANSWER, read_tokens)
};

/// Embeddings: there is no output.
pub(super) const VOYAGE: TokenFields = {
    const REQUEST: &Fields = &Fields::of(&[]);
    const ANSWER: &[Field] = &[input("body.usage.total_tokens")];
    TokenFields::new(REQUEST, ANSWER, read_tokens)
};
