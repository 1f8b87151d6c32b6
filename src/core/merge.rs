//! How two pieces of news about a pool become one.
