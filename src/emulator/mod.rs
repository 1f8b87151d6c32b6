//! A provider that throttles, for tests of clients.
//!
//! An [`Emulator`] is a real HTTP server on 127.0.0.1 that keeps limits and answers as a provider does. Point a client at
//! its URL and see what the client does when the quota is spent. Nothing leaves the machine.

mod builder;
mod counts;
mod desk;
pub mod dialect;
pub mod limits;
mod serve;
mod server;

pub use builder::{EmulatorBuilder, StartError};
pub use counts::{ARRIVALS_KEPT, Arrival, Counts};
pub use serve::{INPUT_TOKENS, OUTPUT_TOKENS};
pub use server::Emulator;
