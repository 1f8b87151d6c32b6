//! How calls retry, as a scenario says it.

use serde::Deserialize;

use super::loose::WordOr;

/// How calls retry. The defaults are those of [`Policy::background`](crate::Policy::background).
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct PolicySettings {
    /// The bound of the first wait: 6; 1 ms to 1 h.
    pub base_s: Option<f64>,
    /// By how much the bound grows with each attempt: 2; 1 to 10.
    pub factor: Option<f64>,
    /// The bound of every wait of the curve: 120, or the base if that is longer; the base to 24 h.
    pub cap_s: Option<f64>,
    /// The most attempts of one call: 10; 1 to 10^6. (The engine itself takes at most 100.)
    pub attempts: Option<f64>,
    /// Whether the stated wait is looked at: true. False hides it from gate and call.
    pub honour_header: Option<bool>,
    /// The longest stated wait that is waited for: 300; 1 s to 26 h.
    pub header_cap_s: Option<f64>,
    /// What happens above it: `give_up`.
    pub on_over_cap: Option<OverCap>,
    /// What is added to a stated wait where no gate paces the pool: `curve`.
    pub jitter_on_header: Option<HeaderJitter>,
    /// How the curve is drawn: `full`.
    pub jitter: Option<Jitter>,
    /// How long one attempt may take: no limit of its own; 1 ms to the deadline.
    pub attempt_timeout_s: Option<f64>,
    /// How often a client below repeats a throttled or failed request inside one attempt: 0; up to 10. It looks at no
    /// header and waits min(8, 0.5·2^n) s, up to a quarter of it less at random, as the usual clients do.
    pub sdk_retries: Option<f64>,
}

/// What happens to a stated wait above the cap; see [`crate::OnOverCap`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum OverCap {
    /// The call gives up.
    #[default]
    GiveUp,
    /// It waits the cap, where there is no gate.
    Clamp,
}

/// What is added to a stated wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum HeaderJitter {
    /// Nothing.
    None,
    /// Uniform up to a second.
    #[serde(rename = "1s")]
    Second,
    /// Uniform up to the curve's bound.
    #[default]
    Curve,
}

/// How a wait is drawn from the curve's bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Jitter {
    /// Uniform up to the bound.
    #[default]
    Full,
    /// Half the bound, and uniform up to the other half.
    Equal,
    /// The bound.
    None,
}

/// The policy of one kind of call: what differs from the scenario's.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(from = "WordOr<NamedPolicy>")]
#[non_exhaustive]
pub struct ClassPolicy {
    /// Its name in labels: `class-1`, `class-2` and so on.
    pub name: Option<String>,
    /// The fields that differ.
    pub settings: PolicySettings,
}

impl From<WordOr<NamedPolicy>> for ClassPolicy {
    fn from(policy: WordOr<NamedPolicy>) -> Self {
        match policy {
            WordOr::Word(name) => Self { name: Some(name), settings: PolicySettings::default() },
            WordOr::Other(named) => named.into(),
        }
    }
}

/// Declares the fields of [`PolicySettings`] with a name beside them: serde cannot both flatten and refuse unknown fields.
macro_rules! named_policy {
    ($($field:ident: $type:ty,)*) => {
        #[derive(Clone, Debug, Default, Deserialize)]
        #[serde(deny_unknown_fields, default)]
        pub(super) struct NamedPolicy {
            name: Option<String>,
            $($field: Option<$type>,)*
        }

        impl From<NamedPolicy> for ClassPolicy {
            fn from(named: NamedPolicy) -> Self {
                Self { name: named.name, settings: PolicySettings { $($field: named.$field,)* } }
            }
        }

        impl PolicySettings {
            /// These settings, and those of `other` where these say nothing.
            #[must_use]
            pub(crate) fn or(self, other: Self) -> Self {
                Self { $($field: self.$field.or(other.$field),)* }
            }
        }
    };
}

named_policy! {
    base_s: f64,
    factor: f64,
    cap_s: f64,
    attempts: f64,
    honour_header: bool,
    header_cap_s: f64,
    on_over_cap: OverCap,
    jitter_on_header: HeaderJitter,
    jitter: Jitter,
    attempt_timeout_s: f64,
    sdk_retries: f64,
}
