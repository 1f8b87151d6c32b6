//! Hugging Face: the Hub, Inference Providers, and TGI and TEI servers.
//!
//! The Hub sends `RateLimit` in its valid form and a policy that is no structured field; it counts requests per 5 minutes.
//! Servers answer 429 and 503 for their own full queue, 503 while a model loads.

use crate::core::rule::field::Fields;
use crate::core::rule::header::Headers;
use crate::core::rule::verdict::{Rule, Rules, Shown};
use crate::core::rule::{Answer, Table};
use crate::core::signal::{LimitClass, Scope};
use crate::provider::{base, body, usage};

/// The table.
pub(super) const TABLE: Table = Table::new("huggingface")
    .page("https://huggingface.co/docs/hub/rate-limits", "2026-11-30")
    .scopes(&[Scope::Org, Scope::Model])
    .headers(HEADERS)
    .fields(FIELDS, body::read)
    .rules(RULES)
    .tokens(usage::HUGGINGFACE)
    .answers(ANSWERS);

const HEADERS: &Headers = &Headers::of(&[base::HEADERS]);
const FIELDS: &Fields = &Fields::of(&[base::FIELDS, usage::HUGGINGFACE.answer]);
const RULES: &Rules = &Rules::of(&[
    base::RULES,
    &[
        Rule::status(&[429]).showing(&[Shown::RateLimitField]).otherwise().limit(LimitClass::RequestRate),
        Rule::phrase(&["model is overloaded"]).scope(Scope::Model),
        Rule::phrase(&["currently loading"]).on(&[429, 503, 200]).limit(LimitClass::Overload).scope(Scope::Model),
        Rule::phrase(&["you have exceeded your monthly included credits"]).limit(LimitClass::Spend).scope(Scope::Org),
    ],
]);

const ANSWERS: &[Answer] = &[
    Answer::new(LimitClass::None, 200, r#"[{"generated_text":"ok","details":{"generated_tokens":{usage.output}}}]"#)
        .headers(&[
            ("ratelimit", "\"resolvers\";r={requests.remaining};t={requests.reset.s}"),
            ("ratelimit-policy", "\"fixed window\";\"resolvers\";q={requests.limit};w=300"),
        ]),
    Answer::new(
        LimitClass::RequestRate,
        429,
        r#"{"error":"Rate limit reached. You reached free usage limit (reset hourly)."}"#,
    )
    .headers(&[
        ("ratelimit", "\"resolvers\";r=0;t={wait.s}"),
        ("ratelimit-policy", "\"fixed window\";\"resolvers\";q={limit};w=300"),
    ]),
    Answer::new(LimitClass::Overload, 503, r#"{"error":"Model is overloaded","error_type":"overloaded"}"#),
    Answer::new(
        LimitClass::Spend,
        402,
        r#"{"error":"You have exceeded your monthly included credits for Inference Providers."}"#,
    ),
    Answer::new(LimitClass::Unknown, 429, r#"{"error":"Rate limit reached."}"#),
];
