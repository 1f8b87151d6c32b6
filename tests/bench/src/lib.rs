//! Benchmarks of forbear beside its peers, in one process and on the same operation.
//!
//! | command | what |
//! |---|---|
//! | `cargo run --release -p forbear-bench --bin overhead` | one call that succeeds at once, and the size of its future |
//! | `cargo run --release -p forbear-bench --bin overhead_paused` | three failures, then success, in paused time |
//! | `cargo run --release -p forbear-bench --features layers --bin layers` | one call that succeeds at once over HTTP, through the layers of tower and reqwest-middleware |
//! | `cargo run --release -p forbear-bench --bin confusion` | the verdict beside what really mends each of some thousand scenarios |
//! | `cargo run --release -p forbear-bench --bin onset -- FILE` | from a pool's first trouble to the page and the right cause |
//! | `cargo run --release -p forbear-bench --bin parity` | the rules in a Prometheus beside the verdicts of the process |
//! | `cargo run --release -p forbear-bench --features fleet --bin fleet` | the gate replicas share: cost, news, clocks, half a minute without the store |
//! | `cargo run --release -p forbear-bench --bin growth` | reading answers, against their size |
//! | `cargo run --release -p forbear-bench --bin numbers` | suggested numbers and the check's predictions, against simulation |
//! | `cargo run --release -p forbear-bench --features telemetry --bin telemetry` | one call that succeeds at once, told to meters and instruments |
//! | `cargo run --release -p forbear-bench --features telemetry --bin telemetry_spans` | the same with its spans, batched for OTLP |
//! | `cargo run --release -p forbear-bench --features telemetry --bin telemetry_paused` | three failures, then success, told to meters |
//! | `tests/bench/unseen_spans` | what spans cost that nobody subscribes to |
//! | `cargo run --release -p forbear-bench --bin classify` | an answer read: 20 headers, and a body of 600 bytes |
//! | `cargo run --release -p forbear-bench --bin storm` | many callers against a small quota, in virtual time |
//!
//! Several programs, because a process that paused its time once reads a slower clock from then on. What counts is the
//! ratio to a peer in the same run; nanoseconds belong to the machine. A missed target makes the program exit with 1.
//!
//! A topic is a file of rows for the peers, one for forbear with its targets, and a binary that puts both in a
//! [`Bench`](bench::Bench).

pub mod bench;
pub mod confusion;
pub mod fit;
#[cfg(feature = "fleet")]
pub mod fleet;
pub mod gate;
#[cfg(feature = "layers")]
pub mod layers;
pub mod look_ups;
pub mod operation;
pub mod ours;
pub mod parity;
pub mod peers;
#[cfg(feature = "fleet")]
#[path = "../../support/proxy.rs"]
mod proxy;
pub mod report;
#[path = "../../support/server.rs"]
mod server;
pub mod storm;
#[cfg(feature = "telemetry")]
pub mod telemetry;
pub mod versions;
