//! What Gemini and Vertex AI share: the errors of `google.rpc`.

use crate::core::rule::field::{Field, Told};
use crate::core::rule::verdict::{INSIDE_A_SUCCESS, Rule};
use crate::core::signal::{LimitClass, Scope};
use crate::provider::{leaf, prose};

/// `QuotaFailure` and `ErrorInfo`. Their order is not fixed, and several violations may stand in one answer.
pub(super) const FIELDS: &[Field] = &[
    Field::new("body.error.details[].violations[].quotaId", Told::Names(prose::limit_name)),
    Field::new("body.error.details[].violations[].quotaValue", Told::Limit),
    Field::new("body.error.details[].reason", Told::Word(leaf::word)),
    Field::new("body.error.details[].metadata.quota_limit", Told::Names(prose::limit_name)),
    Field::new("body.error.details[].metadata.quota_limit_value", Told::Limit),
];

pub(super) const RULES: &[Rule] = &[
    Rule::status(&[429]).scope(Scope::Model),
    Rule::word(&["RATE_LIMIT_EXCEEDED", "QUOTA_EXHAUSTED"]).on(&[INSIDE_A_SUCCESS]).some_limit(),
    // "Check your plan and billing details" stands in ordinary limits per minute and is no sign of spend; these are.
    Rule::phrase(&["prepayment credits are depleted"]).limit(LimitClass::Spend).scope(Scope::Project),
    Rule::word(&["INSUFFICIENT_G1_CREDITS_BALANCE"]).limit(LimitClass::Spend).scope(Scope::Org),
];
