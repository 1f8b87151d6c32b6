//! A pool is a path of names, widest first; a limit belongs to one level of it.

use crate::core::signal::Scope;

/// The level (0 = widest) of a path of `names` names that a limit of `scope` shuts.
///
/// `scopes` are the provider's levels, widest first. The first name is the widest level, the last the narrowest, names
/// between fill the rest in order; a scope without a name is the next narrower level that has one; no scope, or one the
/// provider does not list, is the path's own last level.
#[must_use]
pub fn level(scopes: &[Scope], names: usize, scope: Option<Scope>) -> usize {
    let last = names.saturating_sub(1);
    let Some(place) = scope.and_then(|scope| scopes.iter().position(|&listed| listed == scope)) else { return last };
    if place + 1 == scopes.len() { last } else { place.min(last) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fill_the_levels_from_both_ends() {
        const OPENAI: &[Scope] = &[Scope::Org, Scope::Project, Scope::Model];
        let rows = [
            (3, Some(Scope::Org), 0),
            (3, Some(Scope::Project), 1),
            (3, Some(Scope::Model), 2),
            (2, Some(Scope::Org), 0),
            (2, Some(Scope::Project), 1), // no name of its own: the next narrower, the model
            (2, Some(Scope::Model), 1),
            (1, Some(Scope::Org), 0),
            (1, Some(Scope::Model), 0),
            (3, None, 2),
            (3, Some(Scope::Endpoint), 2),
        ];
        for (names, scope, expected) in rows {
            assert_eq!(level(OPENAI, names, scope), expected, "{names} names, {scope:?}");
        }
    }
}
