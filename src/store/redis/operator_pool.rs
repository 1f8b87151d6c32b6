//! A pool as an operator names and sees it.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use crate::core::setting::InvalidSetting;
use crate::core::signal::LimitClass;
use crate::store::news::{Phase, is_tag};
use crate::store::order::printable;
use crate::store::redis::keys::{Keys, readable_of};
use crate::store::redis::stored::{FIELDS, Stored};

/// What is read of an entry for an operator's eyes alone.
pub(super) const SHOWN: &[&str] = &["name"];

/// Which pool an operator means.
///
/// Parsed from `provider/name/name`, the names of the path as the application gives them, widest first; a path that is cut
/// short names a level above, which holds all below it. Where a name has a `/` of its own, use [`PoolName::new`], or the
/// pool's tag of 16 characters that a list shows.
///
/// ```
/// use forbear::PoolName;
/// let pool: PoolName = "openai/prod-account/gpt-4o".parse()?;
/// assert_eq!(pool, PoolName::new("openai", ["prod-account", "gpt-4o"]));
/// assert!("openai".parse::<PoolName>().is_err(), "a provider alone is no pool");
/// # Ok::<(), forbear::InvalidSetting>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PoolName(Named);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Named {
    Path { provider: String, path: Vec<String> },
    Tag(String),
}

impl PoolName {
    /// The pool of this provider (the table's id) and path.
    pub fn new<N: AsRef<str>>(provider: &str, path: impl IntoIterator<Item = N>) -> Self {
        let path = path.into_iter().map(|name| name.as_ref().to_owned()).collect();
        Self(Named::Path { provider: provider.to_owned(), path })
    }

    /// Its short name in keys.
    pub(super) fn tag(&self, keys: &Keys) -> String {
        match &self.0 {
            Named::Path { provider, path } => keys.tag_of(provider, path),
            Named::Tag(tag) => tag.clone(),
        }
    }

    /// Its name for an operator's eyes, where it is known.
    pub(super) fn readable(&self) -> String {
        match &self.0 {
            Named::Path { provider, path } => readable_of(provider, path),
            Named::Tag(_) => String::new(),
        }
    }
}

impl FromStr for PoolName {
    type Err = InvalidSetting;

    fn from_str(text: &str) -> Result<Self, InvalidSetting> {
        if is_tag(text) {
            return Ok(Self(Named::Tag(text.to_owned())));
        }
        match text.split_once('/') {
            Some((provider, path)) if !provider.is_empty() && path.split('/').all(|name| !name.is_empty()) => {
                Ok(Self::new(provider, path.split('/')))
            }
            _ => Err(InvalidSetting::new("pool", text, "provider/name/name, or a tag of 16 characters")),
        }
    }
}

/// A pool of the fleet, as its store holds it.
///
/// Displays as one line: `openai/prod/gpt-4o: shut for request_rate, 12.0s left (told), by checkout-7, strikes 2`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FleetPool {
    /// Provider and path, printable, at most 64 bytes; the tag, where no replica has said the name.
    pub name: String,
    /// Its short name in the store's keys.
    pub tag: String,
    /// What the provider's throttles did to it, while that lasts.
    pub shut: Option<FleetShut>,
    /// What an operator ordered for all replicas, while that lasts.
    pub order: Option<FleetOrder>,
    /// Throttled rounds in a row.
    pub strikes: u32,
}

/// A shut the fleet shares.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FleetShut {
    /// Why.
    pub class: LimitClass,
    /// How long from now. A probe may reopen it sooner.
    pub left: Duration,
    /// Whether the provider, or the class, says how long; else it was guessed.
    pub told: bool,
    /// The replica whose throttle it was.
    pub by: String,
}

/// An operator's order for all replicas.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FleetOrder {
    /// How long from now.
    pub left: Duration,
    /// One call passes per so long in the whole fleet; `None`: none passes.
    pub every: Option<Duration>,
    /// Who gave it.
    pub by: String,
    /// Why.
    pub reason: String,
}

impl FleetPool {
    pub(super) fn read(tag: &str, fields: &[Option<String>], server_ms: u64) -> Self {
        let (fields, shown) = fields.split_at_checked(FIELDS.len()).unwrap_or((fields, &[]));
        let stored = Stored::parse(fields, server_ms);
        let shut = stored.as_ref().filter(|stored| stored.news.phase == Phase::Shut && !stored.news.left.is_zero());
        let order = stored.as_ref().and_then(|stored| stored.order.clone()).filter(|order| !order.left.is_zero());
        let pool = Self {
            name: tag.to_owned(),
            tag: tag.to_owned(),
            strikes: stored.as_ref().map_or(0, |stored| stored.news.strikes),
            shut: shut.map(|stored| FleetShut {
                class: stored.news.class,
                left: stored.news.left,
                told: stored.news.end != crate::core::merge::End::Guessed,
                by: printable(&stored.by).chars().take(32).collect(),
            }),
            order: order.map(|order| FleetOrder {
                left: order.left,
                every: Some(order.every).filter(|every| !every.is_zero()),
                by: order.by,
                reason: order.reason,
            }),
        };
        match shown.first() {
            Some(Some(name)) => pool.named(name),
            _ => pool,
        }
    }

    /// The same under a name that was read, if it is one.
    pub(super) fn named(mut self, name: &str) -> Self {
        if (1..=64).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_graphic()) {
            name.clone_into(&mut self.name);
        }
        self
    }

    /// Whether the store has an entry of it.
    pub(super) fn is_known(&self) -> bool {
        self.name != self.tag || self.shut.is_some() || self.order.is_some()
    }
}

impl fmt::Display for FleetPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.name)?;
        if let Some(FleetOrder { left, every, by, reason }) = &self.order {
            match every {
                None => write!(f, "shut by hand")?,
                Some(every) => write!(f, "one call per {every:?} by hand")?,
            }
            write!(f, " of {by} ({reason}), {left:.1?} left")?;
        }
        match (&self.shut, &self.order) {
            (Some(FleetShut { class, left, told, by }), order) => {
                let (and, told) = (if order.is_some() { "; " } else { "" }, if *told { "told" } else { "guessed" });
                write!(f, "{and}shut for {class}, {left:.1?} left ({told}), by {by}, strikes {}", self.strikes)
            }
            (None, Some(_)) => Ok(()),
            (None, None) => write!(f, "not held"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pool_is_told_in_one_line() {
        let fields =
            |text: &str| text.split(' ').map(|field| (field != "-").then(|| field.to_owned())).collect::<Vec<_>>();
        let line = |text: &str| FleetPool::read("abcdefghij234567", &fields(text), 4_000).to_string();
        assert_eq!(
            line("1000 3 2 1 shut stated request_rate 9000 r-1 3900 64000 500 alice export openai/a"),
            "openai/a: one call per 500ms by hand of alice (export), 60.0s left; shut for request_rate, 5.0s left (told), by \
             r-1, strikes 1"
        );
        assert_eq!(line("- - - - - - - - - - - - - - -"), "abcdefghij234567: not held");
        let hostile = line(&format!("1000 3 2 1 shut stated spend 9000 \u{1b}[31m{} - - - - - -", "r".repeat(99)));
        assert!(hostile.ends_with(&format!("by _[31m{}, strikes 1", "r".repeat(27))), "{hostile:?}");
        assert_eq!(
            line("1000 3 2 1 ramp stated request_rate 3000 r-1 3900 3900 0 alice done op\u{1b}"),
            "abcdefghij234567: not held"
        );
    }
}
