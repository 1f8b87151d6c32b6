//! The rules kept in `dashboards/`: that they are the ones of the diagnosis, and that a Prometheus takes them for what they
//! are.
#![cfg(feature = "simulate")]

#[path = "../support/server.rs"]
mod server;

mod alarms;
mod alertmanager;
mod cases;
mod kept;
mod numbers;
mod promtool;
mod runbooks;
mod verdicts;
