//! Exchanges over sockets while the paused clock stands still, and a server that answers what it is told.
#![allow(dead_code, reason = "each test file uses what it needs of it")]

#[cfg(feature = "tower")]
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

/// Carries out an exchange over sockets while the paused clock stands still: the runtime lets no time pass while a
/// blocking task runs, and this one runs until the exchange has ended or was dropped.
pub(crate) async fn standing_still<F: Future>(exchange: F) -> F::Output {
    let (ended, end) = std::sync::mpsc::channel::<()>();
    let _running = tokio::task::spawn_blocking(move || end.recv());
    let output = exchange.await;
    drop(ended);
    output
}

/// Lets the others run until it holds. Within [`standing_still`]: what does not come then, never comes.
pub(crate) async fn reached(holds: impl Fn() -> bool) {
    while !holds() {
        tokio::task::yield_now().await;
    }
}

/// A service whose exchanges, bodies included, take none of the paused clock's time.
#[cfg(feature = "tower")]
#[derive(Clone)]
pub(crate) struct Still<S>(pub(crate) S);

#[cfg(feature = "tower")]
impl<R, S, B> tower::Service<R> for Still<S>
where
    S: tower::Service<R, Response = http::Response<B>, Error: Into<tower::BoxError>, Future: Send + 'static>,
    B: http_body::Body<Data: Send, Error: Into<tower::BoxError>> + Send + 'static,
{
    type Response = http::Response<http_body_util::Full<bytes::Bytes>>;
    type Error = tower::BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, tower::BoxError>> + Send>>;

    fn poll_ready(&mut self, cx: &mut std::task::Context<'_>) -> std::task::Poll<Result<(), tower::BoxError>> {
        self.0.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, request: R) -> Self::Future {
        use http_body_util::BodyExt;
        let answer = self.0.call(request);
        Box::pin(standing_still(async {
            let (head, body) = answer.await.map_err(Into::into)?.into_parts();
            let body = body.collect().await.map_err(Into::into)?.to_bytes();
            Ok(http::Response::from_parts(head, body.into()))
        }))
    }
}

/// A server that answers every request with the same bytes and leaves the connection open.
pub(crate) struct Server {
    pub(crate) url: String,
    answered: Arc<AtomicUsize>,
}

impl Server {
    /// How many requests it answered.
    pub(crate) fn answered(&self) -> usize {
        self.answered.load(Ordering::Relaxed)
    }
}

/// Starts one.
pub(crate) async fn server(answer: &[u8]) -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let url = format!("http://{}/", listener.local_addr().expect("it listens"));
    let answered = Arc::new(AtomicUsize::new(0));
    let (answer, count) = (answer.to_vec(), Arc::clone(&answered));
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            let (answer, count) = (answer.clone(), Arc::clone(&count));
            tokio::spawn(async move {
                let mut request = [0; 4_096];
                while socket.read(&mut request).await.is_ok_and(|read| read > 0) {
                    if socket.write_all(&answer).await.is_err() {
                        return;
                    }
                    count.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    Server { url, answered }
}
