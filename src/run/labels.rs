//! Labels that stay bounded whatever names an application makes up.

use std::collections::HashSet;

use crate::event::PoolLabels;
use crate::event::names::{OTHER, clean};

/// The most (provider, pool) pairs that get labels of their own; the rest share one.
const MOST_PAIRS: usize = 64;

/// The pairs handed out so far.
#[derive(Debug, Default)]
pub(super) struct PairBound {
    seen: HashSet<PoolLabels>,
    pub(super) overflows: u64,
}

impl PairBound {
    /// The labels of a pool: its own as long as there is room, then the shared ones, counted.
    pub(super) fn admit(&mut self, provider: &'static str, path: &[String]) -> PoolLabels {
        let labels = PoolLabels::new(provider, clean(&path.join("/")));
        if self.seen.contains(&labels) {
            return labels;
        }
        if self.seen.len() >= MOST_PAIRS {
            self.overflows += 1;
            return PoolLabels::new(provider, OTHER);
        }
        self.seen.insert(labels.clone());
        labels
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_names_are_cleaned_and_bounded() {
        assert_eq!(clean("a b\"c\n{é}"), "a_b_c____");
        assert_eq!(clean(&"x".repeat(1_000)).len(), 64);
        let mut bound = PairBound::default();
        let labels: HashSet<PoolLabels> =
            (0..100_000).map(|n| bound.admit("openai", &[format!("customer-{n}")])).collect();
        assert_eq!(labels.len(), 65);
        assert_eq!(bound.overflows, 100_000 - 64);
        assert_eq!(&*bound.admit("openai", &["customer-0".into()]).pool, "customer-0");
    }
}
