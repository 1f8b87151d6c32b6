//! A provider that throttles, for tests of clients.
//!
//! An [`Emulator`] is a real HTTP/1.1 server on 127.0.0.1 that keeps limits and answers as a provider does: with its
//! status, its headers and its error bodies. Point a client at its URL and see what the client does when the quota is
//! spent, the day's budget is gone, the bill is not paid or the provider is overloaded. Nothing leaves the machine, and
//! no key is needed.
//!
//! ```
//! use forbear::emulator::Emulator;
//! use forbear::provider;
//! use tokio::io::{AsyncReadExt, AsyncWriteExt};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let emulator = Emulator::builder().speaks(provider::openai()).requests_per_minute(1).start().await?;
//!
//! let mut answers = Vec::new();
//! for _ in 0..2 {
//!     // Any HTTP client will do; here a socket, to show what comes back.
//!     let mut stream = tokio::net::TcpStream::connect(emulator.addr()).await?;
//!     stream.write_all(b"GET /v1/models HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n").await?;
//!     let mut answer = String::new();
//!     stream.read_to_string(&mut answer).await?;
//!     answers.push(answer);
//! }
//!
//! assert!(answers[0].starts_with("HTTP/1.1 200 OK"));
//! assert!(answers[1].starts_with("HTTP/1.1 429 Too Many Requests"));
//! assert!(answers[1].contains("\r\nretry-after: 60\r\n"));
//! assert!(answers[1].contains("\r\nx-ratelimit-remaining-requests: 0\r\n"));
//! assert!(answers[1].contains(r#""code":"rate_limit_exceeded""#));
//! assert_eq!((emulator.counts().admitted, emulator.counts().throttled), (1, 1));
//! # Ok(())
//! # }
//! ```
//!
//! # What it can be told
//!
//! - **Whose words**: [`speaks`](EmulatorBuilder::speaks) takes a provider's table; which wait a refusal states, whether
//!   quota headers are sent and whether the class can be read are settings of their own, for clients must also live with
//!   providers that tell little ([`retry_after`](EmulatorBuilder::retry_after)) or tell it wrong.
//! - **Limits**: requests and tokens per minute and per day, input and output tokens apart, concurrency; as token bucket,
//!   fixed or sliding window; with refused requests counted or not. The meaning of each is in [`limits`].
//! - **Trouble**: overload, a spent account, 500, 401, a 200 whose body is an error, a connection that breaks or hangs;
//!   in a [`Period`](limits::Period) that is set before, or by the switches of the running [`Emulator`].
//! - **Time**: how long an answer takes, and how long a "minute" is: with a [`window`](EmulatorBuilder::window) of two
//!   seconds a test of a per-minute quota takes seconds. Under tokio's paused time it takes none: the emulator reads the
//!   same clock, so `tokio::time::advance` brings the next window.
//!
//! # What a request costs
//!
//! One request, and as many input tokens as the header [`x-emulator-input-tokens`](INPUT_TOKENS) says, or one for every four
//! bytes of its body; output tokens only where [`x-emulator-output-tokens`](OUTPUT_TOKENS) says so. Method and path are
//! counted, not judged.
//!
//! # What can be asked of it
//!
//! [`counts`](Emulator::counts) are sums (requests, admitted, throttled, failed, the peak in flight);
//! [`arrivals`](Emulator::arrivals) tell of each request when it came, what it cost and what became of it: enough to prove
//! that a client sent nothing while it was told to wait.
//!
//! # How it is made
//!
//! | file | job |
//! |---|---|
//! | `builder` | its settings |
//! | [`limits`], [`dialect`] | what the provider allows, and the words it answers in; both pure |
//! | `desk`, `counts` | where requests are judged, and counted |
//! | `server`, `serve` | the running emulator; its connections, and the way of one request |

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
