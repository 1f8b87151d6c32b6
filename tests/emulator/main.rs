//! The emulator as its users meet it: the limit model by its functions, the server over real connections.
#![cfg(feature = "emulator")]
#![allow(clippy::disallowed_methods, reason = "these are clients: they sleep and cut as clients do")]

mod bursts;
mod dialects;
mod limits;
mod server;
