//! What spans say of a pool beside its labels.

use std::num::NonZeroU16;
use std::sync::OnceLock;

use crate::core::rule::Table;
use crate::core::setting::InvalidSetting;
use crate::core::signal::Scope;

/// The longest model name taken from a path, in characters.
const LONGEST_MODEL: usize = 128;

/// What spans say of a pool beside its labels: known when it is built, so that a call need not look for it.
#[derive(Debug)]
#[cfg_attr(not(feature = "telemetry"), expect(dead_code, reason = "only spans show it"))]
pub(super) struct About {
    /// `gen_ai.provider.name`.
    pub(super) provider: &'static str,
    /// The path's last name, where the provider's narrowest level is the model.
    pub(super) model: Option<Box<str>>,
    /// Where requests go, once the application has said so.
    pub(super) server: OnceLock<Server>,
    /// Whether attempts are spans of the kind CLIENT.
    pub(super) attempts_are_clients: bool,
}

impl About {
    /// Of the pool of this path.
    pub(super) fn new(table: &Table, path: &[String], attempts_are_clients: bool) -> Self {
        let model = match (table.scopes, path) {
            ([.., Scope::Model], [_, .., last]) => Some(bounded(last)),
            _ => None,
        };
        Self { provider: table.semconv, model, server: OnceLock::new(), attempts_are_clients }
    }
}

/// A name that is not longer than an attribute should be, and stays on one line.
fn bounded(name: &str) -> Box<str> {
    name.chars().take(LONGEST_MODEL).map(|c| if c.is_control() { '_' } else { c }).collect()
}

/// Where a pool's requests go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Server {
    /// `server.address`.
    pub(super) address: Box<str>,
    /// `server.port`.
    pub(super) port: NonZeroU16,
}

impl Server {
    /// A host's name or address and its port.
    ///
    /// # Errors
    /// It is no bare name: a URL, a path, a user. The value is not repeated, as what belongs to a URL may be a key.
    pub(super) fn new(address: &str, port: u16) -> Result<Self, InvalidSetting> {
        let plain = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | ':' | '[' | ']');
        let bare = (1..=255).contains(&address.len()) && address.chars().all(plain);
        match NonZeroU16::new(port) {
            Some(port) if bare => Ok(Self { address: address.into(), port }),
            Some(_) => {
                let allowed = "a host's name or address of 1 to 255 bytes, without scheme, user, path or query";
                Err(InvalidSetting::in_words("pool.server (address)", "something else".to_owned(), allowed))
            }
            None => Err(InvalidSetting::new("pool.server (port)", port, "1 to 65535")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider;

    #[test]
    fn the_model_is_the_last_of_several_names_where_the_provider_limits_by_model() {
        let model = |table: Table, path: &[&str]| {
            let path: Vec<_> = path.iter().map(|name| (*name).to_owned()).collect();
            About::new(&table, &path, false).model.map(String::from)
        };
        assert_eq!(model(provider::anthropic(), &["prod", "claude-sonnet"]).as_deref(), Some("claude-sonnet"));
        assert_eq!(model(provider::anthropic(), &["prod"]), None);
        assert_eq!(model(provider::generic(), &["prod", "search"]), None);
        let hostile = format!("a\nb{}", "x".repeat(1_000));
        let bounded = model(provider::openai(), &["prod", &hostile]).expect("a model");
        assert!(bounded.starts_with("a_bx") && bounded.chars().count() == LONGEST_MODEL);
    }

    #[test]
    fn a_server_that_is_a_url_is_refused_without_repeating_it() {
        assert!(Server::new("api.openai.com", 443).is_ok());
        assert!(Server::new("[::1]", 8080).is_ok());
        for url in ["https://user:key@host", "host/v1?key=secret", "", "a b"] {
            let refused = Server::new(url, 443).expect_err("refused").to_string();
            assert!(refused.starts_with("pool.server (address) is something else"), "{refused}");
        }
        assert_eq!(
            Server::new("a", 0).expect_err("refused").to_string(),
            "pool.server (port) is 0; allowed: 1 to 65535"
        );
    }
}
