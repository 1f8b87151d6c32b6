//! Providers: what each says of its limits, where, and on which page of its own.
//!
//! A [table](crate::provider) knows this for you: pass it to [`Forbear::pool`](crate::Forbear::pool) and the answers are
//! read as that provider means them. Here stands what is worth knowing when a pool is set up: which levels its path has,
//! whether waits are stated, in which windows it counts. *Levels* are the names of a pool's path, widest first; a limit shuts
//! the level it belongs to and everything below it.
//!
//! Every table was last held against its page on the day in
//! [`verified_on`](crate::core::rule::Table::verified_on). Pages change, and what an account is granted stands on none of
//! them: what answers say beats both.
//!
//! # OpenAI (`openai`)
//!
//! <https://developers.openai.com/api/docs/guides/rate-limits>. Levels: organisation, project, model. The wait stands in a
//! header (`retry-after`, and the resets of `x-ratelimit-*`, which are durations such as `6m0s`); the limit is named in the
//! body. Requests and tokens per minute stand in headers on every answer, failed ones included; requests per day are told in
//! the message only. Spend and rate share the status 429 and differ in `error.code`. `slow_down` is a ramp limiter: traffic
//! grew too quickly, even within the limits. A ChatGPT plan has windows of hours and of a week, in headers of its own.
//!
//! # Azure OpenAI (`azure-openai`)
//!
//! <https://learn.microsoft.com/en-us/azure/ai-foundry/openai/how-to/quota>. Levels: subscription, region, deployment; a 429
//! belongs to the deployment. The names of OpenAI's headers with another unit: resets are bare seconds. The wait stands in a
//! header; -1 means unknown, and `retry-after-ms: 0` is a placeholder. Provisioned throughput states waits of milliseconds,
//! so here alone a shut has no least time.
//!
//! # GitHub Models (`github-models`)
//!
//! <https://docs.github.com/en/github-models/use-github-models/prototyping-with-ai-models>. Levels: account, model. The
//! header `x-ratelimit-type` carries unit, level and window in one word (`UserByModelByDay`); the wait stands in a header.
//! Limits per day are small, so `daily` is what most callers meet.
//!
//! # Anthropic (`anthropic`)
//!
//! <https://platform.claude.com/docs/en/api/rate-limits>. Levels: organisation, workspace, model. Header names of its own
//! (`anthropic-ratelimit-*`), resets as RFC 3339 instants, input and output tokens apart. The wait stands in `retry-after`,
//! which is on successes, too. Limits are per class of models: where the message names one, the others may still be asked.
//! 529 is overload, also as an error event in a stream. When the priority share is used up, requests fall back to the
//! standard tier: that is no throttle.
//!
//! # Google Gemini API (`gemini`)
//!
//! <https://ai.google.dev/gemini-api/docs/rate-limits>. Levels: project, model. Everything stands in the body: the limit in
//! `QuotaFailure`, the wait in `RetryInfo` (`37s`). "Check your plan and billing details" stands in ordinary limits per
//! minute and is no sign of spend. The wait beside a limit per day is a floor, often seconds long: the class decides.
//!
//! # Google Vertex AI (`vertex`)
//!
//! <https://cloud.google.com/vertex-ai/generative-ai/docs/error-code-429>. Levels: project, region, model. No wait is ever
//! stated. "Resource exhausted" is the capacity all customers share and counts as overload; a quota of your own is told by
//! the name of its metric alone.
//!
//! # AWS Bedrock (`bedrock`)
//!
//! <https://docs.aws.amazon.com/bedrock/latest/userguide/troubleshooting-api-error-codes.html>. Levels: account, region,
//! model. No wait is ever stated. The name of the error decides, not the status: throttling comes as 429 and as 400. It
//! stands in the header `x-amzn-errortype`, in the body, or as a member of the event union in a stream.
//!
//! # Mistral (`mistral`)
//!
//! <https://docs.mistral.ai/deployment/ai-studio/tier>. Levels: organisation, workspace, model. Headers tell what is left per
//! minute (`x-ratelimit-remaining-req-minute`), and neither when it resets nor how long to wait.
//!
//! # Groq (`groq`)
//!
//! <https://console.groq.com/docs/rate-limits>. Levels: organisation, project, model. OpenAI's header names with other
//! windows: `-requests` is always per day, `-tokens` always per minute. The wait stands in `retry-after`. Requests per minute
//! and tokens per day have no header and are told in the message. A 413 is a request larger than the limit.
//!
//! # Cohere (`cohere`)
//!
//! <https://docs.cohere.com/docs/rate-limits>. Levels: organisation, key, endpoint. The message alone tells the limit, and no
//! wait is stated. The monthly allowance of a trial key is read as spend: waiting does not bring it back, a person must
//! change the plan.
//!
//! # xAI (`xai`)
//!
//! <https://docs.x.ai/docs/rate-limits>. Levels: team, model. Flat bodies whose `error` is a string; the same code stands for
//! rate and for spend, and the text decides. Headers tell what is left, not when it resets.
//!
//! # DeepSeek (`deepseek`)
//!
//! <https://api-docs.deepseek.com/quick_start/rate_limit>. Levels: account. Its only limit is the number of requests
//! in flight. Under load it sends empty lines or `: keep-alive` comments before the answer: that is waiting, not an error.
//!
//! # OpenRouter (`openrouter`)
//!
//! <https://openrouter.ai/docs/api-reference/limits>. Levels: account, key, model. Resets are milliseconds since the epoch,
//! in the headers of a 429 and again in its body; an error may stand in a 200 and in a stream. Most 402 are spend, one is a
//! limit on what is in flight. The free models' limits are the account's, over all models and keys. A provider behind it that
//! throttles counts as overload of that model.
//!
//! # Together AI (`together`)
//!
//! <https://docs.together.ai/docs/rate-limits>. Levels: account, model. One `x-ratelimit-reset` on every answer serves
//! requests and tokens both, and is the wait of an error whatever is left of either. `credit_limit` under 429 is a rate
//! limit, under 402 it is spend.
//!
//! # Fireworks AI (`fireworks`)
//!
//! <https://docs.fireworks.ai/serverless/rate-limits>. Levels: account, model. Prompt and generated tokens are counted apart,
//! and no reset is told. `x-ratelimit-over-limit: yes` on a success is a warning and nothing else. A suspended account
//! answers 412, which is spend.
//!
//! # Cerebras (`cerebras`)
//!
//! <https://inference-docs.cerebras.ai/support/rate-limits>. Levels: organisation, model. The window stands in the header's
//! name, for minutes and for days; resets are decimal seconds, and the wait is the reset of what is used up. "Quota" in a
//! code is no spend. A full queue is the provider's own: overload of that model.
//!
//! # Perplexity (`perplexity`)
//!
//! <https://docs.perplexity.ai/guides/rate-limits-usage-tiers>. Levels: account, model. Little is known: no header and no
//! wait was ever captured. Its table reads the types that were seen in errors, and the curve does the rest.
//!
//! # Replicate (`replicate`)
//!
//! <https://replicate.com/docs/topics/predictions/rate-limits>. Levels: account, endpoint. The wait stands in the body, as
//! `retry_after` and in prose. Its message speaks of credit and is a rate limit all the same.
//!
//! # Hugging Face (`huggingface`)
//!
//! <https://huggingface.co/docs/hub/rate-limits>. Levels: account, model. The Hub counts requests in windows of five minutes
//! and sends the IETF `RateLimit` field. The servers for models (TGI, TEI) answer 429 and 503 for their own full queue, and
//! 503 while a model loads: both are overload.
//!
//! # Voyage AI (`voyage`)
//!
//! <https://docs.voyageai.com/docs/rate-limits>. Levels: organisation, project, model; a 429 belongs to the organisation. Flat
//! bodies with a `detail`, no headers, no wait. Its best-known message speaks of payment and is a rate limit, on requests or
//! on tokens: it does not say which.
//!
//! # GitHub REST API (`github`)
//!
//! <https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api>. Levels: account, endpoint. 403 or 429;
//! a 403 for lack of permission carries the same headers with something left, and is never retried. Windows of an hour, for
//! some resources of a minute. The secondary limit is told by its text, and then the reset of the primary one is not the
//! wait.
//!
//! # Stripe (`stripe`)
//!
//! <https://docs.stripe.com/rate-limits>. Levels: account, endpoint. A header names the limit, rate or concurrency, global or
//! of the endpoint; no wait is stated. 402 is a declined card of your customer, not your bill. 429 `lock_timeout` is an object
//! somebody else holds: again by the curve, without shutting anybody's pool.
//!
//! # Slack Web API (`slack`)
//!
//! <https://docs.slack.dev/apis/web-api/rate-limits/>. Levels: workspace, method. `Retry-After` in a header; an error may come
//! as a 200 with `"ok":false`.
//!
//! # Any HTTP API (`generic`)
//!
//! <https://www.rfc-editor.org/rfc/rfc9110#section-10.2.3>. Levels: account, key, endpoint. `Retry-After` in both forms and in
//! milliseconds, OpenAI's header names, `x-should-retry`, and messages in the usual shapes. Where to start with a provider
//! that has no table.
//!
//! # Any HTTP API with the IETF fields (`generic-ietf`)
//!
//! <https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/>. Levels: account, key, endpoint. The same, for servers that send `RateLimit`,
//! `RateLimit-Policy` and problem details: they are expected to, so a throttle without them is counted as unreadable.
//!
//! # Any gRPC service (`grpc`)
//!
//! <https://grpc.io/docs/guides/status-codes/>. Levels: account, project, endpoint. The status stands in a trailer beside
//! HTTP's 200: `RESOURCE_EXHAUSTED` is a limit, `UNAVAILABLE` a service short of capacity. Wait and limit stand in the
//! details (`RetryInfo`, `QuotaFailure`, `ErrorInfo`), where the service sends any; `grpc-retry-pushback-ms` states a wait,
//! too, or forbids the retry.
//!
//! # A provider of your own
//!
//! A table is a constant of the same shape. Most need scopes and a rule or two on top of the generic one:
//!
//! ```
//! use forbear::core::rule::Table;
//! use forbear::core::rule::verdict::{Rule, Rules};
//! use forbear::{LimitClass, Observation, Scope, provider};
//!
//! const GATEWAY: Table = provider::generic().scopes(&[Scope::Org, Scope::Model]).and_rules(&Rules::of(&[&[
//!     Rule::word(&["seats_exhausted"]).on(&[429]).limit(LimitClass::Concurrency),
//! ]]));
//!
//! let body = br#"{"error":{"code":"seats_exhausted"}}"#;
//! let signal = GATEWAY.read(&Observation::status(429).body(body), forbear::wall_now()).signal;
//! assert_eq!(signal.class, LimitClass::Concurrency);
//! ```

#[cfg(test)]
mod tests {
    use crate::provider;

    #[test]
    fn every_table_has_a_paragraph_with_its_page() {
        let text = include_str!("providers.rs");
        let sections: Vec<&str> = text.split("//! # ").skip(1).collect();
        for table in provider::all() {
            let section = sections.iter().find(|section| {
                section.lines().next().is_some_and(|line| line.ends_with(&format!("(`{}`)", table.id)))
            });
            let section = section.unwrap_or_else(|| panic!("{} has no paragraph", table.id));
            let start = section.lines().nth(2).unwrap_or_default();
            assert!(start.contains(&format!("<{}>", table.page)), "{}: its page is {}", table.id, table.page);
            let words = section.replace("\n//! ", " ");
            let levels = words
                .split_once("Levels: ")
                .or_else(|| words.split_once("Level: "))
                .map(|(_, after)| after.split(['.', ';', '\n']).next().unwrap_or_default().split(", ").count());
            assert_eq!(levels, Some(table.scopes.len()), "{}: {:?}", table.id, table.scopes);
            let never_waits = words.contains("No wait is ever stated") || words.contains("no wait is stated");
            assert!(!never_waits || table.states_delay.is_none(), "{}: it states waits", table.id);
        }
    }
}
