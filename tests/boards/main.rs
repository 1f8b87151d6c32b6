//! The boards kept in `dashboards/`: what they are made of, that Grafana's linter has nothing to say, and that every query
//! has an answer.
#![cfg(feature = "simulate")]

#[path = "../support/open_metrics.rs"]
mod open_metrics;
#[path = "../support/rule_file.rs"]
mod rule_file;
#[path = "../support/server.rs"]
mod server;

mod asked;
mod board;
mod by_hand;
mod diagnosis;
mod gate;
mod kept;
mod lint;
mod metrics;
mod overview;
mod panel;
mod promql;
mod queries;
mod recorded;
mod replicas;
mod shared;
mod states;
mod verdict;
mod words;
