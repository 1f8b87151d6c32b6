//! The closed words of labels that no other room owns.

use crate::core::signal::words;

words! {
    /// The number of an attempt, as a label.
    AttemptNumber {
        /// The first.
        First => "1",
        /// The second: one retry.
        Second => "2",
        /// The third.
        Third => "3",
        /// Any later one.
        Later => "4_or_more",
    }
}

impl From<u32> for AttemptNumber {
    fn from(number: u32) -> Self {
        match number {
            0 | 1 => Self::First,
            2 => Self::Second,
            3 => Self::Third,
            _ => Self::Later,
        }
    }
}

words! {
    /// A yes or a no, as a label.
    YesNo {
        /// Yes.
        Yes => "yes",
        /// No.
        No => "no",
    }
}

impl From<bool> for YesNo {
    fn from(yes: bool) -> Self {
        if yes { Self::Yes } else { Self::No }
    }
}

words! {
    /// What a call that has not ended is doing.
    CallState {
        /// An attempt is in flight.
        Attempting => "attempting",
        /// It waits for its next attempt.
        Sleeping => "sleeping",
        /// The gate holds it.
        AtGate => "at_gate",
    }
}

words! {
    /// How a pool's gate works.
    GateMode {
        /// It lets everybody through.
        Off => "off",
        /// It knows what this process saw.
        Local => "local",
        /// It knows what the fleet saw.
        News => "news",
        /// The fleet shares its slots.
        Paced => "paced",
    }
}

words! {
    /// Who said how large a quota is. Readers prefer the header.
    QuotaOrigin {
        /// The provider, in a header.
        Header => "header",
        /// The application, in its configuration.
        Config => "config",
    }
}

words! {
    /// A number that a policy sets; the unit is part of the word.
    PolicyParameter {
        /// The curve's first bound.
        BaseSeconds => "base_seconds",
        /// What the bound grows by.
        Factor => "factor",
        /// The curve's highest bound.
        CapSeconds => "cap_seconds",
        /// The longest stated delay that is waited for.
        HeaderCapSeconds => "header_cap_seconds",
        /// The whole call.
        DeadlineSeconds => "deadline_seconds",
        /// One attempt.
        AttemptTimeoutSeconds => "attempt_timeout_seconds",
        /// The most attempts.
        Attempts => "attempts",
    }
}

words! {
    /// A label whose values the application chooses, and of which only so many are kept apart.
    BoundedLabel {
        /// A pair of provider and pool.
        Pool => "pool",
        /// A policy's name.
        Policy => "policy",
    }
}

words! {
    /// What an operator did to a gate.
    OperatorAction {
        /// Shut a pool.
        Shut => "shut",
        /// Paced a pool.
        Paced => "paced",
        /// Reopened a pool.
        Reopened => "reopened",
        /// Turned the gate of the process off.
        SwitchedOff => "switched_off",
        /// Turned it on again.
        SwitchedOn => "switched_on",
    }
}

words! {
    /// What was asked of a shared store.
    StoreOperation {
        /// Tell of a throttle.
        Report => "report",
        /// Ask for slots.
        Permit => "permit",
        /// Say how a probe or a paced call went.
        Settle => "settle",
        /// Reopen a pool by an operator's hand.
        Reopen => "reopen",
        /// Read what may have been missed.
        Reconcile => "reconcile",
    }
}

words! {
    /// How a question to a shared store ended.
    StoreOutcome {
        /// It answered.
        Ok => "ok",
        /// It answered too late or not at all.
        Slow => "slow",
        /// It could not be reached.
        Down => "down",
        /// It answered with a refusal.
        Rejected => "rejected",
    }
}

words! {
    /// Why a shared store is not relied on.
    DegradedReason {
        /// It was not there at the start.
        Absent => "absent",
        /// It answers too late.
        Slow => "slow",
        /// It cannot be reached.
        Down => "down",
        /// Its news stopped coming.
        Silent => "silent",
        /// It refuses what it is asked.
        Rejected => "rejected",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_attempt_from_the_fourth_on_shares_one_word() {
        let words = [1, 2, 3, 4, 5, u32::MAX].map(|number| AttemptNumber::from(number).as_str());
        assert_eq!(words, ["1", "2", "3", "4_or_more", "4_or_more", "4_or_more"]);
    }
}
