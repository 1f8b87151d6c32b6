//! The boards kept in `dashboards/`: what they are made of, that Grafana's linter has nothing to say, and that every query
//! has an answer.
#![cfg(feature = "simulate")]

#[path = "../support/server.rs"]
mod server;

mod board;
mod diagnosis;
mod gate;
mod kept;
mod overview;
mod panel;
mod replicas;
mod shared;
mod words;
