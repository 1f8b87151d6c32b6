//! Integrations: retry layers for what people already have, and the wire tap, which counts the requests that really leave.
//!
//! # The retry layer
//!
//! | where | the layer | what is sent again |
//! |---|---|---|
//! | a `tower` service of `http::Request<B>`: hyper's client, a tonic channel | `RetryLayer` (feature `tower`) | a body in memory, or one in pieces as far as it was kept: 4 MiB unless set |
//! | a `tower` service of `reqwest::Request`: `reqwest::Client` | the same (features `tower` and `reqwest`) | a body in memory |
//! | a `tower` service of another request: an SDK's | the same above `Cloned` | a clone |
//! | a `reqwest-middleware` chain | `ReqwestRetry` (feature `reqwest-middleware`) | a body in memory |
//!
//! Each makes one call at a pool of each request: it asks the gate, estimates tokens from the body, retries under a policy,
//! and counts the request as in flight until the answer's body was read. Throttles that come inside a stream are told to the
//! pool. [`guide::integrations`](crate::guide::integrations) shows them with the SDKs people use.
//!
//! Beside them stands `gate_routes` (feature `axum`), an operator's levers over HTTP.
//!
//! # The wire tap
//!
//! A client or SDK inside an operation may retry by itself. Its requests are then more than the attempts made here, both
//! layers' retries multiply, and nothing above it can tell. A tap below that layer and above the socket can: it counts a
//! request for each that passes, in the attempt it passes in. `forbear_wire_requests_total` then shows what left, and an
//! attempt that sent more than one makes its call count as `forbear_stacked_retries_total{detector="wire"}`, with one
//! warning for its call site.
//!
//! | where | the tap |
//! |---|---|
//! | a `tower` service: hyper's client, tonic's channel, `reqwest::Client` | `WireTapLayer` (feature `tower`) |
//! | a `reqwest-middleware` chain | `ReqwestTap` as its last middleware (feature `reqwest-middleware`) |
//! | a client of your own | [`request_sent`] where it sends |
//!
//! A tap sees what is sent while the operation itself is polled. A worker task that sends for it is not part of it:
//! [`Attempt::scope`](crate::Attempt::scope) makes a spawned future part of the attempt it is spawned in. What happens below
//! the tap stays unseen: `reqwest`'s own retries and redirects, a proxy's retries. So does an SDK that owns its client and
//! lets nobody in. [`guide::stacked_retries`](crate::guide::stacked_retries) lists who retries how often and where to turn
//! it off.
//!
//! An operation that by its nature sends several requests (a token, then the call) is no retry layer: tap only the client
//! that speaks to the provider.

#[cfg(feature = "axum")]
mod gate_routes;
#[cfg(any(feature = "tower", feature = "reqwest-middleware"))]
mod retry;
mod tap;

#[cfg(feature = "axum")]
pub use gate_routes::gate_routes;
#[cfg(any(feature = "tower", feature = "reqwest-middleware"))]
pub use retry::*;
pub use tap::*;
