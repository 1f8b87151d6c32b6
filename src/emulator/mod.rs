//! A provider that throttles.
