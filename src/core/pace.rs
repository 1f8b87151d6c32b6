//! Paced release.
