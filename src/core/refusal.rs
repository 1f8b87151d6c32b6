//! Why a gate turns a call away.

use crate::core::signal::words;

words! {
    /// Why the gate refused a call. No request was sent since the call last asked.
    Refusal {
        /// The day's quota, or the credit, is used up: waiting does not help.
        Spent => "spent",
        /// The pool reopens after the call's deadline, or its turn did not come before it.
        Deadline => "deadline",
        /// The call would have had to wait, and does not wait.
        NoWait => "no_wait",
        /// An operator has shut the pool, for longer than the call can wait.
        ByHand => "by_hand",
        /// As many calls wait already as the pool's queue may hold.
        QueueFull => "queue_full",
        /// The engine is being drained: the process is about to end.
        Draining => "draining",
    }
}
