//! The world in virtual time.
