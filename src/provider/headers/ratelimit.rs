//! The IETF `RateLimit` fields, all generations of the draft (draft-ietf-httpapi-ratelimit-headers).
//!
//! | draft | fields |
//! |---|---|
//! | -00 to -02 | `RateLimit-Limit: 100, 100;w=60`, `RateLimit-Remaining`, `RateLimit-Reset` |
//! | -03 to -06 | the same with a `RateLimit-Policy: 100;w=60` of their own |
//! | -07 | `RateLimit: limit=100, remaining=50, reset=5` |
//! | -08 and later | `RateLimit: "default";r=50;t=30`, `RateLimit-Policy: "default";q=100;w=60` |
//!
//! They are strict structured fields (RFC 9651): a malformed field counts as absent.

use std::borrow::Cow;
use std::time::Duration;

use http::HeaderMap;

use crate::core::rule::header::{Listed, ListedQuota, When};
use crate::core::signal::{LimitClass, TokenKind};
use crate::provider::headers::duration::reset;
use crate::provider::headers::number::amount;
use crate::provider::headers::ratelimit::member::{Member, Members, Name, dictionary, list};

mod member;

const DAY_SECONDS: u64 = 86_400;

/// Reads the fields; with `only` a name, the policy of that name alone, as if it were exhausted.
#[must_use]
pub fn ratelimit(map: &HeaderMap, only: Option<&str>) -> Listed {
    let mut listed = Listed::default();
    let policy_field = joined(map, "ratelimit-policy");
    let policies = policy_field.as_deref().and_then(list).unwrap_or_default();
    if let Some(name) = only {
        if let Some(policy) = policies.iter().find(|policy| policy.name.is(name)) {
            listed.push(ListedQuota { remaining: Some(0), ..of_policy("ratelimit-policy", Some(policy)) });
        }
        return listed;
    }
    if let Some(field) = joined(map, "ratelimit") {
        if let Some(items) = list(&field) {
            for item in items.iter() {
                let policy = policies.iter().find(|policy| policy.name == item.name && policy.name != Name::Other);
                listed.push(ListedQuota {
                    remaining: item.r,
                    reset: item.t.map(|seconds| When::after(Duration::from_secs(seconds))),
                    ..of_policy("ratelimit;t", policy)
                });
            }
        } else if let Some(keys) = dictionary(&field) {
            let policy = keys.limit.and_then(|limit| only_policy(policies.iter(), limit));
            listed.push(ListedQuota {
                limit: keys.limit,
                remaining: keys.remaining,
                reset: keys.reset.map(|seconds| When::after(Duration::from_secs(seconds))),
                ..of_policy("ratelimit;reset", policy)
            });
        }
    }
    if let Some(quota) = separate_fields(map, &policies) {
        listed.push(quota);
    }
    listed
}

/// The fields of -00 to -06. The first number of `RateLimit-Limit` is the limit that was hit.
fn separate_fields(map: &HeaderMap, policies: &Members<'_>) -> Option<ListedQuota> {
    let field = joined(map, "ratelimit-limit");
    let limits = field.as_deref().and_then(list).unwrap_or_default();
    let remaining = joined(map, "ratelimit-remaining").and_then(|line| amount(&line));
    let ends = joined(map, "ratelimit-reset").and_then(|line| reset(&line));
    let limit = limits.iter().next().and_then(Member::quota);
    if limit.is_none() && remaining.is_none() && ends.is_none() {
        return None;
    }
    let policy = limit.and_then(|limit| only_policy(limits.iter().chain(policies.iter()), limit));
    Some(ListedQuota { limit, remaining, reset: ends, own_header: true, ..of_policy("ratelimit-reset", policy) })
}

/// The policy with this quota, if there is exactly one.
fn only_policy<'p, 'm: 'p>(policies: impl Iterator<Item = &'p Member<'m>>, quota: u64) -> Option<&'p Member<'m>> {
    let mut matching = policies.filter(|policy| policy.w.is_some() && policy.quota() == Some(quota));
    let first = matching.next()?;
    matching.next().is_none().then_some(first)
}

/// A quota of which the policy alone is known.
fn of_policy(place: &'static str, policy: Option<&Member<'_>>) -> ListedQuota {
    let quota = ListedQuota::new(place);
    let Some(policy) = policy else { return quota };
    let by_window = match policy.w {
        Some(DAY_SECONDS) => Some(LimitClass::Daily),
        Some(1..DAY_SECONDS) => Some(LimitClass::RequestRate),
        _ => None,
    };
    // What is counted beats the window.
    let (class, token_kind) = match policy.unit.as_deref() {
        None | Some("requests") => (by_window, None),
        Some("concurrent-requests") => (Some(LimitClass::Concurrency), None),
        Some("tokens") => (Some(LimitClass::TokenThroughput), Some(TokenKind::Total)),
        Some(_) => (Some(LimitClass::Unknown), None),
    };
    ListedQuota { class, token_kind, window: policy.w.map(Duration::from_secs), limit: policy.quota(), ..quota }
}

/// The lines of a field as one, as RFC 9110 section 5.3 joins them.
fn joined<'a>(map: &'a HeaderMap, name: &str) -> Option<Cow<'a, [u8]>> {
    let mut lines = map.get_all(name).iter().map(http::HeaderValue::as_bytes);
    let first = lines.next()?;
    Some(lines.fold(Cow::Borrowed(first), |whole, line| Cow::Owned([&whole, line].join(&b", "[..]))))
}

impl Member<'_> {
    /// What it grants: the parameter `q`, or in the older drafts the item itself.
    fn quota(&self) -> Option<u64> {
        match self.name {
            Name::Number(number) => Some(number),
            _ => self.q,
        }
    }
}

#[cfg(test)]
mod tests {
    use http::{HeaderMap, HeaderValue};

    use super::*;

    fn read(fields: &[(&'static str, &'static str)]) -> Vec<ListedQuota> {
        let mut map = HeaderMap::new();
        for (name, value) in fields {
            map.append(*name, HeaderValue::from_static(value));
        }
        ratelimit(&map, None).iter().copied().collect()
    }

    #[test]
    fn each_generation_says_the_same() {
        for fields in [
            &[("ratelimit-limit", "100, 100;w=60"), ("ratelimit-remaining", "0"), ("ratelimit-reset", "5")][..],
            &[
                ("ratelimit-limit", "100"),
                ("ratelimit-policy", "100;w=60"),
                ("ratelimit-remaining", "0"),
                ("ratelimit-reset", "5"),
            ],
            &[("ratelimit", "limit=100, remaining=0, reset=5"), ("ratelimit-policy", "100;w=60")],
            &[("ratelimit", "\"a\";r=0;t=5"), ("ratelimit-policy", "\"a\";q=100;w=60")],
        ] {
            let quotas = read(fields);
            assert_eq!(quotas.len(), 1, "{fields:?}");
            assert_eq!(quotas[0].class, Some(LimitClass::RequestRate), "{fields:?}");
            assert_eq!((quotas[0].limit, quotas[0].remaining), (Some(100), Some(0)), "{fields:?}");
            assert_eq!(quotas[0].reset, Some(When::after(Duration::from_secs(5))), "{fields:?}");
        }
    }

    #[test]
    fn a_malformed_field_counts_as_absent() {
        for field in ["\"default;r=0;t=30", "\"a\";r=0,", "\"a\";r=0;t=1234567890123456", "\"a\" \"b\""] {
            assert!(read(&[("ratelimit", field)]).is_empty(), "{field}");
        }
    }

    #[test]
    fn a_repeated_parameter_keeps_its_last_value_and_only_whole_numbers_count() {
        assert_eq!(read(&[("ratelimit", "a;r=5;r=0;t=1;t=2")])[0].remaining, Some(0));
        assert_eq!(read(&[("ratelimit", "a;r=0;t=1;t=\"2\"")])[0].reset, None);
        assert_eq!(read(&[("ratelimit", "a;r=0.0;t=-1")])[0].remaining, None);
    }
}
