//! What each provider says and where: one table per file, all of one shape.

pub mod base;
pub mod body;
mod google;
pub mod headers;
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
    /// Any HTTP API.
    generic,
    /// OpenAI.
    openai,
    /// Anthropic.
    anthropic,
    /// Google Gemini API.
    gemini,
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
