//! The emulator as its users meet it: the limit model by its functions, the server over real connections.
#![cfg(feature = "emulator")]

mod bursts;
mod limits;
mod server;
