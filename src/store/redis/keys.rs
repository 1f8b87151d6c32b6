//! The names of keys and channels: nobody else builds one.
//!
//! A pool's names may be anything a caller chose, a customer's key among them. None of it reaches a key: a pool is named
//! by a hash of its namespace, provider and path, each with its length before it, so that no two pools meet and no name
//! can choose a slot. All of a pool's state is one key, so that every script stays in one slot of a cluster.

use sha2::{Digest, Sha256};

use crate::store::PoolId;

/// Rises when two versions of this crate could not read each other's entries.
const SCHEMA: u8 = 1;

/// Keys and channel of one namespace.
#[derive(Clone, Debug)]
pub(super) struct Keys {
    namespace: String,
    namespace_tag: String,
}

impl Keys {
    pub(super) fn new(namespace: &str) -> Self {
        Self { namespace_tag: tag([namespace]), namespace: namespace.to_owned() }
    }

    /// The short name of a pool.
    pub(super) fn tag(&self, pool: &PoolId) -> String {
        self.tag_of(pool.provider, &pool.path)
    }

    /// The short name of the pool of this provider and path.
    pub(super) fn tag_of(&self, provider: &str, path: &[String]) -> String {
        let names = [self.namespace.as_str(), provider].into_iter();
        tag(names.chain(path.iter().map(String::as_str)))
    }

    /// The entry of the pool with this tag.
    pub(super) fn entry(&self, tag: &str) -> String {
        format!("fb:{SCHEMA}:{{{tag}}}:gate")
    }

    /// Where the news of all pools of the namespace is told: one subscription, however many pools there are.
    pub(super) fn channel(&self) -> String {
        format!("fb:{SCHEMA}:{{{}}}:news", self.namespace_tag)
    }

    /// The set of pools in use.
    pub(super) fn pools(&self) -> String {
        format!("fb:{SCHEMA}:{{{}}}:pools", self.namespace_tag)
    }

    /// When a replica found the server again last.
    pub(super) fn found(&self) -> String {
        format!("fb:{SCHEMA}:{{{}}}:found", self.namespace_tag)
    }

    /// The set of replicas that are alive.
    pub(super) fn alive(&self) -> String {
        format!("fb:{SCHEMA}:{{{}}}:alive", self.namespace_tag)
    }
}

/// The name of a pool for an operator's eyes: printable, at most 64 bytes.
pub(super) fn readable(pool: &PoolId) -> String {
    readable_of(pool.provider, &pool.path)
}

/// The same by provider and path.
pub(super) fn readable_of(provider: &str, path: &[String]) -> String {
    let whole = format!("{provider}/{}", path.join("/"));
    whole.chars().map(|char| if char.is_ascii_graphic() { char } else { '_' }).take(64).collect()
}

/// 16 characters of base32: 80 bits, enough that two of a billion pools do not meet.
fn tag<'a>(parts: impl IntoIterator<Item = &'a str>) -> String {
    let mut hash = Sha256::new();
    hash.update([SCHEMA]);
    for part in parts {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    let digest = hash.finalize();
    let bits = digest.iter().take(10).fold(0_u128, |bits, byte| bits << 8 | u128::from(*byte));
    (0..16).rev().map(|at| char::from(b"abcdefghijklmnopqrstuvwxyz234567"[(bits >> (5 * at)) as usize & 31])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pool(path: &[&str]) -> PoolId {
        PoolId { provider: "openai", path: path.iter().map(|&name| name.to_owned()).collect() }
    }

    #[test]
    fn no_two_pools_share_a_key_however_their_names_are_cut() {
        let keys = Keys::new("prod");
        let paths: [&[&str]; 6] = [&["a", "b"], &["a/b"], &["ab"], &["a", "b", "c"], &["}{other"], &["a\u{0}b"]];
        let mut tags: Vec<String> = paths.iter().map(|path| keys.tag(&pool(path))).collect();
        tags.push(Keys::new("staging").tag(&pool(&["a", "b"])));
        let shaped = |tag: &String| tag.len() == 16 && tag.bytes().all(|byte| byte.is_ascii_alphanumeric());
        assert!(tags.iter().all(shaped), "{tags:?}");
        tags.sort();
        tags.dedup();
        assert_eq!(tags.len(), 7);
    }

    #[test]
    fn a_name_is_shown_printable_and_short() {
        let shown = readable(&pool(&["line\nbreak \u{1b}[31m", &"x".repeat(100)]));
        assert_eq!((shown.len(), shown.contains('\n')), (64, false));
        assert!(shown.starts_with("openai/line_break__[31m/xxx"), "{shown}");
    }
}
