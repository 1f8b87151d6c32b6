//! Connections, and the way of one request.

use std::convert::Infallible;
use std::fmt;
use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use super::desk::{Desk, InFlight};
use super::limits::{Cost, FailureKind, Verdict};

/// The header that says how many tokens a request sends. Without it every four bytes of the body count as one.
pub const INPUT_TOKENS: &str = "x-emulator-input-tokens";
/// The header that says how many tokens a request receives; none without it.
pub const OUTPUT_TOKENS: &str = "x-emulator-output-tokens";

/// Larger bodies are refused with 413.
const BODY_BYTES: usize = 64 * 1024 * 1024;

/// Accepts connections until it is dropped, and ends all of them then.
pub(super) async fn accept(listener: TcpListener, desk: Arc<Desk>) -> Infallible {
    let mut connections = JoinSet::new();
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                desk.state().ledger.counts.connections += 1;
                connections.spawn(speak(stream, Arc::clone(&desk)));
            }
            // Out of file handles, most likely: connections that end give some back.
            Err(_) => desk.clock.sleep_until(desk.clock.now().after(Duration::from_millis(10))).await,
        }
        while connections.try_join_next().is_some() {}
    }
}

/// One connection, until either side closes it.
async fn speak(stream: TcpStream, desk: Arc<Desk>) {
    // Answers are small and single: waiting for more to send only adds time.
    let _ = stream.set_nodelay(true);
    let answer = service_fn(|request| answer(request, &desk));
    // A caller who hangs up, and a connection cut on purpose, are no failures of ours.
    let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), answer).await;
}

/// The connection is cut here, on purpose.
#[derive(Debug)]
struct Cut;

impl fmt::Display for Cut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the emulator cut the connection, as its settings say; nothing is to be done")
    }
}

impl std::error::Error for Cut {}

/// One request: its cost, its verdict, the time it takes, its answer.
async fn answer(request: Request<Incoming>, desk: &Desk) -> Result<Response<Full<Bytes>>, Cut> {
    let (head, body) = request.into_parts();
    let Ok(body) = Limited::new(body, BODY_BYTES).collect().await else {
        let mut refusal = Response::default();
        *refusal.status_mut() = StatusCode::PAYLOAD_TOO_LARGE;
        return Ok(refusal);
    };
    let cost = cost_of(&head.headers, body.to_bytes().len());
    let judged = desk.judge(head.uri.path(), cost);
    let in_flight = judged.verdict.is_in_flight().then(|| InFlight(desk));
    if judged.verdict == Verdict::Failed(FailureKind::Timeout) {
        return pending().await;
    }
    if !judged.takes.is_zero() {
        desk.clock.sleep_until(desk.clock.now().after(judged.takes)).await;
    }
    drop(in_flight);
    // A success shows the quotas as they are when it is sent; a refusal those that refused it.
    let quotas = if judged.verdict == Verdict::Admitted { desk.quotas() } else { judged.quotas };
    let response = desk.dialect.answer(&judged.verdict, cost, &quotas, desk.clock.wall()).ok_or(Cut)?;
    desk.state().ledger.counts.answered += 1;
    Ok(response.map(Full::new))
}

/// What is not a number in a header is as if it were absent: the size counts.
fn cost_of(headers: &HeaderMap, body_bytes: usize) -> Cost {
    let told = |name| headers.get(name).and_then(|value| value.to_str().ok()?.trim().parse().ok());
    let by_size = body_bytes.div_ceil(4) as u64;
    Cost::tokens(told(INPUT_TOKENS).unwrap_or(by_size), told(OUTPUT_TOKENS).unwrap_or(0))
}
