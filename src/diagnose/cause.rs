//! The causes, and how sure a verdict is.

use serde::{Serialize, Serializer};

use crate::core::signal::words;

words! {
    /// Why calls of a pool fail, or need too many attempts: each is answered by another change.
    Cause {
        /// The objective is met.
        Healthy => "healthy",
        /// More is asked for than the quota can serve within the callers' deadlines, however it is paced: raise the quota.
        QuotaTooSmall => "quota_too_small",
        /// The quota would do; retries come, and end, before it is back: wait longer between attempts.
        BackoffTooFast => "backoff_too_fast",
        /// The quota would do; calls sleep while it lies idle: wait less between attempts.
        BackoffTooSlow => "backoff_too_slow",
        /// The quota would do; calls come too close together: let a gate pace them.
        Unpaced => "unpaced",
        /// The day's quota is used up: stop sending until it ends.
        DailySpent => "daily_spent",
        /// Credit, balance or budget is used up: a person must pay.
        SpendLimit => "spend_limit",
        /// The provider is short of capacity of its own: wait it out, or go elsewhere.
        Overloaded => "overloaded",
        /// Too many requests are in flight at the same time: run fewer.
        Concurrency => "concurrency",
        /// Requests fail, and no limit is the reason: it is the provider's to repair.
        ProviderErrors => "provider_errors",
        /// Requests are refused as wrong: they are the caller's to repair.
        CallerErrors => "caller_errors",
        /// Calls fail, and nothing here says why.
        Unclear => "unclear",
        /// Too little happened to tell.
        NotEnoughData => "not_enough_data",
    }
}

words! {
    /// How far a verdict can be relied on.
    Certainty {
        /// It may change as more is seen: the trouble is young.
        Provisional => "provisional",
        /// Something it should rest on is not known: the limit, the size of the fleet.
        Likely => "likely",
        /// Everything it rests on was seen.
        Firm => "firm",
    }
}

impl Serialize for Cause {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl Serialize for Certainty {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}
