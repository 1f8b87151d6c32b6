//! Labels that stay bounded whatever names an application makes up.
//!
//! A label is a series for each of its values, for as long as the process lives. Names come from the application, and one
//! day one of them is a customer's id: so the first 64 pairs of provider and pool are kept apart and the rest is `_OTHER`,
//! which is counted. The pools themselves are not bounded, only what is shown of them.

use std::collections::HashSet;

use crate::event::PoolLabels;
use crate::event::names::{OTHER, clean};

/// The most (provider, pool) pairs that get labels of their own; the rest share one per provider.
const MOST_PAIRS: usize = 64;

/// The pairs handed out so far. Kept for good: a label that was given is not given to another pool.
#[derive(Debug, Default)]
pub(super) struct PairBound {
    seen: HashSet<PoolLabels>,
}

impl PairBound {
    /// The labels of a pool, and whether they are not its own: there are as many of these as fit. The rest is reported as
    /// `_OTHER` of its provider, and that of providers which have no pair as `_OTHER` of `_OTHER`.
    pub(super) fn admit(&mut self, provider: &'static str, path: &[String]) -> (PoolLabels, bool) {
        let labels = PoolLabels::new(provider, clean(&path.join("/")));
        if self.seen.contains(&labels) {
            return (labels, false);
        }
        if self.seen.len() < MOST_PAIRS {
            self.seen.insert(labels.clone());
            return (labels, false);
        }
        let known = self.seen.iter().any(|labels| labels.provider == provider);
        (PoolLabels::new(if known { provider } else { OTHER }, OTHER), true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_so_many_pairs_are_kept_apart_whatever_their_names() {
        let mut bound = PairBound::default();
        let admitted: Vec<_> = (0..100_000).map(|n| bound.admit("openai", &[format!("customer-{n}")])).collect();
        assert_eq!(admitted.iter().filter(|(_, overflowed)| *overflowed).count(), 100_000 - MOST_PAIRS);
        let labels: HashSet<_> = admitted.into_iter().map(|(labels, _)| labels).collect();
        assert_eq!(labels.len(), MOST_PAIRS + 1);
        assert_eq!(&*bound.admit("openai", &["customer-0".into()]).0.pool, "customer-0");
        let (stranger, overflowed) = bound.admit("groq", &["customer-0".into()]);
        assert!(overflowed);
        assert_eq!((stranger.provider, &*stranger.pool), (OTHER, OTHER), "providers are bounded too");
    }
}
