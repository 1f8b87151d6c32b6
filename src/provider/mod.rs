//! What each provider says and where: one table per file, all of one shape.

pub mod base;
pub mod body;
mod google;
pub mod headers;
mod json;
pub mod leaf;
pub mod prose;
mod stream;
mod usage;

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
    openai,
    /// Azure OpenAI.
    azure_openai,
    /// GitHub Models.
    github_models,
    /// Anthropic.
    anthropic,
    /// Google Gemini API.
    gemini,
    /// Google Vertex AI.
    vertex,
    /// AWS Bedrock.
    bedrock,
    /// Mistral.
    mistral,
    /// Groq.
    groq,
    /// Cohere.
    cohere,
    /// xAI.
    xai,
    /// DeepSeek.
    deepseek,
    /// OpenRouter.
    openrouter,
    /// Together AI.
    together,
    /// Fireworks AI.
    fireworks,
    /// Cerebras.
    cerebras,
    /// Perplexity: little is known.
    perplexity,
    /// Replicate.
    replicate,
    /// Hugging Face.
    huggingface,
    /// Voyage AI.
    voyage,
    /// GitHub REST API.
    github,
    /// Stripe.
    stripe,
    /// Slack Web API.
    slack,
    /// Any HTTP API.
    generic,
    /// Any HTTP API that sends the IETF `RateLimit` fields.
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

/// The ids of all tables, those most like `id` first: what to show when [`by_id`] knows none.
#[must_use]
pub fn closest(id: &str) -> Vec<&'static str> {
    let wanted: Vec<char> = id.chars().take(LONGEST_ID).flat_map(char::to_lowercase).collect();
    let mut ids: Vec<_> = TABLES.iter().map(|table| table.id).collect();
    ids.sort_by_key(|known| {
        let begins = !wanted.is_empty() && known.starts_with(&wanted.iter().collect::<String>());
        (!begins, distance(&wanted, &known.chars().collect::<Vec<_>>()))
    });
    ids
}

/// No id is longer; what is typed beyond it cannot matter.
const LONGEST_ID: usize = 64;

/// The Levenshtein distance: how many letters must be put in, taken out or replaced.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, letter) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for j in 0..b.len() {
            let replaced = diagonal + usize::from(*letter != b[j]);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}
