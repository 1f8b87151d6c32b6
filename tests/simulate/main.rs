//! The simulator as its users meet it.
#![cfg(feature = "simulate")]

mod backfill;
mod bursts;
#[cfg(feature = "cli")]
mod command;
#[cfg(feature = "cli")]
mod diagnose;
mod lasting;
mod scenarios;
#[path = "../support/server.rs"]
mod server;
mod story;
#[cfg(feature = "cli")]
#[path = "../support/command.rs"]
mod typed;
