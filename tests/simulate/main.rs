//! The simulator as its users meet it.
#![cfg(feature = "simulate")]

mod backfill;
mod bursts;
#[cfg(feature = "cli")]
mod command;
mod lasting;
mod scenarios;
