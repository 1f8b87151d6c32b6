//! The endpoint a Prometheus server scrapes: one thread with a small HTTP server.
//!
//! The exporter crate has a listener of its own, but no moment at which gauges could be sampled for a scrape. And it runs on
//! the application's runtime, which may be the very thing that is stuck when somebody looks.
//!
//! | asked | answer |
//! |---|---|
//! | `GET` or `HEAD /metrics` | 200, Prometheus text 0.0.4 |
//! | `/metrics` by another method | 405 with `allow` |
//! | anything else | 404, which names the path |
//!
//! HTTP/1.1, connections kept open; what does not ask within 30 s is closed. At most 32 connections at a time, so that
//! whoever can reach the port cannot make it hold more.

use std::convert::Infallible;
use std::io;
use std::net::TcpListener;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use http::header::{ALLOW, CONTENT_TYPE};
use http::{HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::runtime::Runtime;
use tokio::sync::{Semaphore, oneshot};

use crate::clock::Clock;
use crate::telemetry::prometheus::Page;

/// How often values of histograms are moved into their buckets between scrapes, so that they do not pile up.
const UPKEEP_EVERY: Duration = Duration::from_secs(5);
/// How long a client may take over its request line and headers, and keep an idle connection.
const HEADERS_WITHIN: Duration = Duration::from_secs(30);
/// How long to wait when the system gives no socket (out of files, mostly).
const NO_SOCKET_PAUSE: Duration = Duration::from_millis(100);
/// Connections served at the same time; more have to wait. A few Prometheus servers scrape; nobody else has to.
const MOST_CONNECTIONS: usize = 32;
/// Prometheus text format 0.0.4. Prometheus 3 refuses answers without a known type.
const TEXT: HeaderValue = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");

/// A running endpoint; stops when dropped.
pub(crate) struct Scraper {
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// An endpoint that has all it needs but the thread.
pub(crate) struct Prepared {
    runtime: Runtime,
    listener: tokio::net::TcpListener,
}

impl Scraper {
    /// Everything that may fail, but for the thread itself. `listener` must not block.
    pub(crate) fn prepare(listener: TcpListener) -> io::Result<Prepared> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build()?;
        let listener = {
            let _inside = runtime.enter();
            tokio::net::TcpListener::from_std(listener)?
        };
        Ok(Prepared { runtime, listener })
    }
}

impl Prepared {
    /// Starts serving.
    pub(crate) fn start(self, page: Page) -> io::Result<Scraper> {
        let Self { runtime, listener } = self;
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::Builder::new().name("forbear-prometheus".to_owned()).spawn(move || {
            runtime.spawn(keep_up(page.clone()));
            runtime.spawn(accept(listener, page));
            // An error means the sender is gone, which is a stop as well. Leaving drops the runtime with all its tasks.
            let _ = runtime.block_on(stopped);
        })?;
        Ok(Scraper { stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for Scraper {
    fn drop(&mut self) {
        if let (Some(stop), Some(thread)) = (self.stop.take(), self.thread.take()) {
            // Both fail only if the thread has ended by itself.
            let _ = stop.send(());
            let _ = thread.join();
        }
    }
}

/// Moves values into their buckets now and then, scraped or not.
async fn keep_up(page: Page) {
    let clock = Clock::new();
    loop {
        clock.sleep_until(clock.now().after(UPKEEP_EVERY)).await;
        page.keep_up();
    }
}

/// Takes connections, each on a task of its own, as long as the runtime lives.
async fn accept(listener: tokio::net::TcpListener, page: Page) {
    let clock = Clock::new();
    let places = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        let Ok((stream, _)) = listener.accept().await else {
            clock.sleep_until(clock.now().after(NO_SOCKET_PAUSE)).await;
            continue;
        };
        let page = page.clone();
        tokio::spawn(async move {
            let answer = service_fn(|request: Request<Incoming>| {
                let answer = answer(&page, request.method(), request.uri().path());
                async move { Ok::<_, Infallible>(answer) }
            });
            let mut server = http1::Builder::new();
            server.timer(TokioTimer::new()).header_read_timeout(HEADERS_WITHIN);
            // A client that breaks off is its own affair.
            let _ = server.serve_connection(TokioIo::new(stream), answer).await;
            drop(place);
        });
    }
}

/// Answers one request. Everything is rendered then, on the endpoint's own thread.
fn answer(page: &Page, method: &Method, path: &str) -> Response<Full<Bytes>> {
    let (status, text) = match (path, method) {
        ("/metrics", &Method::GET | &Method::HEAD) => (StatusCode::OK, page.render()),
        ("/metrics", _) => (StatusCode::METHOD_NOT_ALLOWED, String::new()),
        _ => (StatusCode::NOT_FOUND, "The metrics are at /metrics.\n".to_owned()),
    };
    let mut answer = Response::new(Full::new(Bytes::from(text)));
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, TEXT);
    if status == StatusCode::METHOD_NOT_ALLOWED {
        answer.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
    }
    answer
}
