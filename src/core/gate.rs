//! The state machine of one pool.
