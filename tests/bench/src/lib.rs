//! Benchmarks of forbear beside its peers, in one process and on the same operation.
//!
//! | command | what |
//! |---|---|
//! | `cargo run --release -p forbear-bench --bin overhead` | one call that succeeds at once, and the size of its future |
//! | `cargo run --release -p forbear-bench --bin overhead_paused` | three failures, then success, in paused time |
//! | `cargo run --release -p forbear-bench --bin storm` | many callers against a small quota, in virtual time |
//!
//! Two programs, because a process that paused its time once reads a slower clock from then on. What counts is the
//! ratio to a peer in the same run; nanoseconds belong to the machine. A missed target makes the program exit with 1.
//!
//! A topic is a file of rows for the peers, one for forbear with its targets, and a binary that puts both in a
//! [`Bench`](bench::Bench).

pub mod bench;
pub mod operation;
pub mod ours;
pub mod peers;
pub mod report;
pub mod storm;
pub mod versions;
