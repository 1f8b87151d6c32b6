//! What requests and answers say of tokens, provider by provider, and what an engine makes of it.

use std::time::Duration;

use forbear::core::estimate::Usage;
use forbear::core::moment::WallTime;
use forbear::core::signal::TokenKind;
use forbear::provider::{self, StreamReader};
use forbear::{Forbear, Policy};

const NOW: WallTime = WallTime::since_epoch(Duration::from_secs(1_795_996_800));

fn sides(used: &Usage) -> Vec<(TokenKind, u64)> {
    used.sides().collect()
}

/// The output limit of requests under each provider's names for it.
#[test]
fn the_output_limit_a_request_asks_for_is_found() {
    for (provider, request, limit) in [
        ("openai", r#"{"model":"m","max_completion_tokens":400}"#, Some(400)),
        ("openai", r#"{"model":"m","max_output_tokens":401,"input":"hi"}"#, Some(401)),
        ("openai", r#"{"model":"m","max_tokens":402}"#, Some(402)),
        // Both are sent by clients that serve old and new models: the larger is the safer.
        ("openai", r#"{"max_tokens":100,"max_completion_tokens":400}"#, Some(400)),
        ("openai", r#"{"model":"m"}"#, None),
        ("openai", r#"{"messages":[{"content":"max_tokens: 5, \"max_tokens\":5"}]}"#, None),
        ("openai", r#"{"metadata":{"max_tokens":5}}"#, None),
        ("openai", r#"{"max_tokens":"7"}"#, Some(7)),
        ("openai", r#"{"max_tokens":-7}"#, None),
        ("openai", r#"{"max_tokens":99999999999}"#, Some(u32::MAX)),
        ("openai", "not JSON", None),
        ("azure-openai", r#"{"max_tokens":403}"#, Some(403)),
        ("github-models", r#"{"max_tokens":404}"#, Some(404)),
        ("anthropic", r#"{"model":"m","max_tokens":1024,"messages":[]}"#, Some(1_024)),
        ("gemini", r#"{"contents":[],"generationConfig":{"maxOutputTokens":256}}"#, Some(256)),
        ("vertex", r#"{"contents":[],"generation_config":{"max_output_tokens":257}}"#, Some(257)),
        ("bedrock", r#"{"messages":[],"inferenceConfig":{"maxTokens":512}}"#, Some(512)),
        ("bedrock", r#"{"anthropic_version":"bedrock-2023-05-31","max_tokens":513}"#, Some(513)),
        ("mistral", r#"{"max_tokens":1}"#, Some(1)),
        ("groq", r#"{"max_completion_tokens":2}"#, Some(2)),
        ("cohere", r#"{"max_tokens":3}"#, Some(3)),
        ("xai", r#"{"max_tokens":4}"#, Some(4)),
        ("deepseek", r#"{"max_tokens":5}"#, Some(5)),
        ("openrouter", r#"{"max_tokens":6}"#, Some(6)),
        ("together", r#"{"max_tokens":7}"#, Some(7)),
        ("fireworks", r#"{"max_tokens":8}"#, Some(8)),
        ("cerebras", r#"{"max_completion_tokens":9}"#, Some(9)),
        ("perplexity", r#"{"max_tokens":10}"#, Some(10)),
        ("replicate", r#"{"input":{"prompt":"p","max_tokens":11}}"#, Some(11)),
        ("huggingface", r#"{"inputs":"p","parameters":{"max_new_tokens":12}}"#, Some(12)),
        ("huggingface", r#"{"messages":[],"max_tokens":13}"#, Some(13)),
        ("voyage", r#"{"input":"p"}"#, None),
        ("stripe", r#"{"max_tokens":14}"#, None),
    ] {
        let size = provider::by_id(provider).expect("a table").measure(request.as_bytes());
        assert_eq!(size.output_limit, limit, "{provider}: {request}");
        assert_eq!(usize::try_from(size.bytes).ok(), Some(request.len()), "{provider}");
        assert_eq!(size.limit_counts, matches!(provider, "openai" | "azure-openai" | "groq"), "{provider}");
    }
}

/// The usage of answers under each provider's names for it.
#[test]
fn the_tokens_an_answer_says_were_used_are_found() {
    const OPENAI: &str = r#"{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":12,"total_tokens":21,"completion_tokens_details":{"reasoning_tokens":4}}}"#;
    let both = |input, output| vec![(TokenKind::Input, input), (TokenKind::Output, output)];
    for (provider, answer, expected) in [
        ("openai", OPENAI, both(9, 12)),
        (
            "openai",
            r#"{"object":"response","usage":{"input_tokens":9,"output_tokens":12,"total_tokens":21}}"#,
            both(9, 12),
        ),
        ("openai", r#"{"data":[],"usage":{"prompt_tokens":8,"total_tokens":8}}"#, vec![(TokenKind::Input, 8)]),
        ("openai", r#"{"usage":null}"#, vec![]),
        ("openai", r#"{"choices":[{"message":{"content":"{\"usage\":{\"prompt_tokens\":5}}"}}]}"#, vec![]),
        ("azure-openai", OPENAI, both(9, 12)),
        ("github-models", OPENAI, both(9, 12)),
        (
            "anthropic",
            r#"{"type":"message","usage":{"input_tokens":20,"cache_creation_input_tokens":100,"cache_read_input_tokens":7000,"output_tokens":5}}"#,
            both(120, 5),
        ),
        (
            "gemini",
            r#"{"candidates":[],"usageMetadata":{"promptTokenCount":4,"candidatesTokenCount":10,"thoughtsTokenCount":30,"totalTokenCount":44}}"#,
            both(4, 40),
        ),
        ("vertex", r#"[{"usageMetadata":{"promptTokenCount":4,"totalTokenCount":6}}]"#, both(4, 2)),
        ("bedrock", r#"{"output":{},"usage":{"inputTokens":3,"outputTokens":2,"totalTokens":5}}"#, both(3, 2)),
        ("bedrock", r#"{"metadata":{"usage":{"inputTokens":3,"outputTokens":2,"totalTokens":5}}}"#, both(3, 2)),
        ("mistral", OPENAI, both(9, 12)),
        ("groq", OPENAI, both(9, 12)),
        (
            "cohere",
            r#"{"message":{},"usage":{"billed_units":{"input_tokens":1},"tokens":{"input_tokens":66,"output_tokens":5}}}"#,
            both(66, 5),
        ),
        ("xai", OPENAI, both(9, 12)),
        ("deepseek", OPENAI, both(9, 12)),
        ("openrouter", OPENAI, both(9, 12)),
        ("together", OPENAI, both(9, 12)),
        ("fireworks", OPENAI, both(9, 12)),
        ("cerebras", OPENAI, both(9, 12)),
        ("perplexity", OPENAI, both(9, 12)),
        ("replicate", r#"{"status":"succeeded","metrics":{"input_token_count":3,"output_token_count":2}}"#, both(3, 2)),
        ("huggingface", r#"[{"generated_text":"x","details":{"generated_tokens":20}}]"#, vec![(TokenKind::Output, 20)]),
        ("voyage", r#"{"data":[],"usage":{"total_tokens":10}}"#, vec![(TokenKind::Input, 10)]),
        ("slack", r#"{"ok":true,"usage":{"total_tokens":10}}"#, vec![]),
    ] {
        let used = provider::by_id(provider).expect("a table").usage(answer.as_bytes());
        assert_eq!(sides(&used), expected, "{provider}: {answer}");
    }
}

/// An answer longer than what is looked at for errors is read to its end when the caller hands it over.
#[test]
fn usage_at_the_end_of_a_long_answer_is_found() {
    let text = "word ".repeat(40_000);
    let answer = format!(
        r#"{{"choices":[{{"message":{{"content":"{text}"}}}}],"usage":{{"prompt_tokens":9,"completion_tokens":40000}}}}"#
    );
    let used = provider::openai().usage(answer.as_bytes());
    assert_eq!(sides(&used), [(TokenKind::Input, 9), (TokenKind::Output, 40_000)]);
}

#[test]
fn a_stream_states_its_usage_bit_by_bit() {
    let stream = concat!(
        "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":25,\"output_tokens\":1}}}\n\n",
        "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"delta\":{\"text\":\"Hi\"}}\n\n",
        "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{},\"usage\":{\"output_tokens\":15}}\n\n",
    );
    let expected = [(TokenKind::Input, 25), (TokenKind::Output, 15)];
    assert_eq!(sides(&provider::anthropic().usage(stream.as_bytes())), expected);
    let mut reader = StreamReader::new(provider::anthropic());
    for chunk in stream.as_bytes().chunks(7) {
        assert!(reader.feed(chunk, NOW).is_none());
    }
    assert_eq!(sides(&reader.used()), expected);
}

/// The last events of each provider's streams, as they come over the wire.
#[test]
fn streams_state_their_usage_in_each_providers_words() {
    let both = [(TokenKind::Input, 9), (TokenKind::Output, 12)];
    for (provider, last) in [
        ("openai", r#"{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":12,"total_tokens":21}}"#),
        (
            "openai",
            r#"{"type":"response.completed","response":{"error":null,"usage":{"input_tokens":9,"output_tokens":12}}}"#,
        ),
        ("azure-openai", r#"{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":12,"total_tokens":21}}"#),
        ("gemini", r#"{"candidates":[],"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":12}}"#),
        ("gemini", r#"{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":12,"total_tokens":21}}"#),
        ("vertex", r#"{"type":"message","usage":{"input_tokens":9,"output_tokens":12}}"#),
        ("bedrock", r#"{"metadata":{"usage":{"inputTokens":9,"outputTokens":12,"totalTokens":21}}}"#),
        (
            "bedrock",
            r#"{"type":"message_stop","amazon-bedrock-invocationMetrics":{"inputTokenCount":9,"outputTokenCount":12}}"#,
        ),
        (
            "mistral",
            r#"{"choices":[{"delta":{}}],"usage":{"prompt_tokens":9,"completion_tokens":12,"total_tokens":21}}"#,
        ),
        ("groq", r#"{"choices":[],"x_groq":{"id":"req","usage":{"prompt_tokens":9,"completion_tokens":12}}}"#),
        (
            "cohere",
            r#"{"type":"message-end","delta":{"finish_reason":"COMPLETE","usage":{"billed_units":{"input_tokens":1},"tokens":{"input_tokens":9,"output_tokens":12}}}}"#,
        ),
        (
            "cohere",
            r#"{"event_type":"stream-end","response":{"meta":{"tokens":{"input_tokens":9,"output_tokens":12}}}}"#,
        ),
        ("huggingface", r#"{"token":{},"details":{"generated_tokens":12,"input_length":9}}"#),
        ("openrouter", r#"{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":12,"total_tokens":21}}"#),
        ("perplexity", r#"{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":12,"total_tokens":21}}"#),
    ] {
        let mut reader = StreamReader::new(provider::by_id(provider).expect("a table"));
        let stream = format!("data: {{\"choices\":[]}}\n\n: comment\n\ndata: {last}\n\ndata: [DONE]\n\n");
        assert!(reader.feed(stream.as_bytes(), NOW).is_none(), "{provider}: {last}");
        assert_eq!(sides(&reader.used()), both, "{provider}: {last}");
        assert_eq!(sides(&provider::by_id(provider).expect("a table").usage(stream.as_bytes())), both, "{provider}");
    }
}

/// A pool learns from the answers whose bodies it sees: a model that uses a tenth of what is asked for is expected to.
#[tokio::test(start_paused = true)]
async fn a_pool_corrects_its_estimates_by_what_answers_state() -> Result<(), Box<dyn std::error::Error>> {
    let pool = Forbear::builder().build()?.pool(provider::anthropic(), ["acme", "model"]).build()?;
    let policy = Policy::interactive(Duration::from_secs(5)).build()?;
    let request =
        format!(r#"{{"model":"m","max_tokens":1000,"messages":[{{"role":"user","content":"{}"}}]}}"#, "x".repeat(927));
    assert_eq!(request.len(), 1_000);
    let first = pool.estimate(request.as_bytes());
    assert_eq!((first.input_tokens(), first.output_tokens()), (250, 1_000));
    for _ in 0..60 {
        let answer = r#"{"type":"message","usage":{"input_tokens":500,"output_tokens":100}}"#;
        let call = pool.call(&policy).tokens(pool.estimate(request.as_bytes()));
        call.run(|_| async { Ok::<_, std::io::Error>(http::Response::new(answer.to_owned())) }).await?;
    }
    let learnt = pool.estimate(request.as_bytes());
    assert!((490..=500).contains(&learnt.input_tokens()), "{learnt:?}");
    assert!((100..=110).contains(&learnt.output_tokens()), "{learnt:?}");
    Ok(())
}
