//! Bodies that are looked into before an answer is classified come back whole, and hold nobody up.
#![allow(clippy::disallowed_methods, reason = "tests read the paused clock")]

use std::collections::VecDeque;
use std::io::{Error, ErrorKind};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use forbear::{Forbear, Peek, PeekBody, Policy, Pool, peek, provider};
use http::{HeaderMap, Response};
use http_body::{Body, Frame, SizeHint};
use tokio::time::Instant;

const S: Duration = Duration::from_secs(1);
const MOST: usize = 64 * 1024;

/// One frame of a script.
enum Line {
    Data(Bytes),
    Trailers(HeaderMap),
    Breaks,
    Hangs,
}

/// A body that does what its script says, with a pending poll before each frame.
#[derive(Default)]
struct Scripted {
    lines: VecDeque<Line>,
    polled: bool,
    /// Data that was handed out.
    given: usize,
    length: Option<u64>,
}

impl Scripted {
    fn new(lines: impl IntoIterator<Item = Line>) -> Self {
        Self { lines: lines.into_iter().collect(), ..Self::default() }
    }
}

impl Body for Scripted {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        if matches!(self.lines.front(), Some(Line::Hangs)) {
            return Poll::Pending;
        }
        self.polled = !self.polled;
        if self.polled {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        Poll::Ready(match self.lines.pop_front() {
            None => None,
            Some(Line::Data(data)) => {
                self.given += data.len();
                Some(Ok(Frame::data(data)))
            }
            Some(Line::Trailers(trailers)) => Some(Ok(Frame::trailers(trailers))),
            Some(Line::Breaks) => Some(Err(ErrorKind::ConnectionReset.into())),
            Some(Line::Hangs) => return Poll::Pending,
        })
    }

    fn size_hint(&self) -> SizeHint {
        self.length.map_or_else(SizeHint::default, |length| SizeHint::with_exact(length - self.given as u64))
    }
}

fn data(text: &'static str) -> Line {
    Line::Data(Bytes::from_static(text.as_bytes()))
}

/// Everything a body still has to give.
struct Rest {
    data: Vec<u8>,
    trailers: Option<HeaderMap>,
    broke: bool,
    frames: usize,
}

async fn rest_of<B: Body<Data = Bytes> + Unpin>(body: &mut B) -> Rest {
    let mut rest = Rest { data: Vec::new(), trailers: None, broke: false, frames: 0 };
    while let Some(frame) = std::future::poll_fn(|cx| Pin::new(&mut *body).poll_frame(cx)).await {
        rest.frames += 1;
        match frame.map(Frame::into_data) {
            Ok(Ok(data)) => rest.data.extend_from_slice(&data),
            Ok(Err(frame)) => rest.trailers = frame.into_trailers().ok(),
            Err(_) => {
                rest.broke = true;
                break;
            }
        }
    }
    rest
}

async fn seen(lines: impl IntoIterator<Item = Line>) -> Response<Peek<Scripted>> {
    peek(Response::new(Scripted::new(lines))).await
}

fn excerpt(response: &Response<Peek<Scripted>>) -> &[u8] {
    response.body().excerpt().expect("it was looked into")
}

// ---------------------------------------------------------------------------------------------------------- whole

#[tokio::test]
async fn a_body_of_several_frames_with_trailers_comes_back_whole() {
    let mut trailers = HeaderMap::new();
    trailers.insert("x-checksum", "abc".parse().expect("a header value"));
    let mut response =
        seen([data("{\"error\":"), data(""), data("{\"message\":"), data("\"no\"}}"), Line::Trailers(trailers)]).await;
    assert_eq!(excerpt(&response), br#"{"error":{"message":"no"}}"#);
    let rest = rest_of(response.body_mut()).await;
    assert_eq!(rest.data, br#"{"error":{"message":"no"}}"#);
    assert_eq!(rest.trailers.expect("kept")["x-checksum"], "abc");
    assert_eq!((rest.broke, rest.frames), (false, 2));
}

#[tokio::test]
async fn an_empty_body_stays_empty() {
    let mut response = seen([]).await;
    assert_eq!(excerpt(&response), b"");
    assert_eq!(rest_of(response.body_mut()).await.frames, 0);
}

#[tokio::test]
async fn a_body_that_breaks_gives_what_was_read_and_then_its_error() {
    let mut response = seen([data("half an an"), Line::Breaks]).await;
    assert_eq!(excerpt(&response), b"half an an");
    let rest = rest_of(response.body_mut()).await;
    assert!(rest.broke);
    assert_eq!(rest.data, b"half an an");
}

#[tokio::test]
async fn at_most_64_kib_are_read_ahead_and_the_rest_follows_in_order() {
    let frame = |n: u8| Line::Data(Bytes::from(vec![n; 10_000]));
    let mut response =
        peek(Response::new(Scripted { length: Some(200_000), ..Scripted::new((0..20).map(frame)) })).await;
    assert_eq!(excerpt(&response).len(), MOST);
    let hint = response.body().size_hint();
    assert_eq!((hint.lower(), hint.upper()), (200_000, Some(200_000)), "what was read ahead counts as still to come");
    let rest = rest_of(response.body_mut()).await;
    let whole: Vec<u8> = (0..20u8).flat_map(|n| vec![n; 10_000]).collect();
    assert!(rest.data == whole, "{} bytes", rest.data.len());
}

#[tokio::test]
async fn what_is_beyond_64_kib_is_not_waited_for() {
    let big = Line::Data(Bytes::from(vec![b'x'; MOST]));
    let response = seen([big, Line::Hangs]).await;
    assert_eq!(excerpt(&response).len(), MOST);
}

#[tokio::test]
async fn one_huge_frame_shows_64_kib_and_comes_back_whole_without_a_copy() {
    let huge = Bytes::from(vec![b'x'; 1_000_000]);
    let start = huge.as_ptr();
    let mut response = seen([Line::Data(huge)]).await;
    assert_eq!((excerpt(&response).len(), excerpt(&response).as_ptr()), (MOST, start));
    assert_eq!(rest_of(response.body_mut()).await.data.len(), 1_000_000);
}

#[tokio::test]
async fn what_is_printed_of_a_body_says_nothing_of_what_it_holds() {
    let printed = format!("{:?}", seen([data("sk-SECRET")]).await);
    assert!(printed.contains("read_ahead: 9") && !printed.contains("SECRET"), "{printed}");
}

#[tokio::test]
async fn status_headers_version_and_extensions_stay() {
    let response = Response::builder()
        .status(418)
        .version(http::Version::HTTP_2)
        .header("x-request-id", "r1")
        .extension(42u8)
        .body(Scripted::new([data("x")]))
        .expect("a well-formed response");
    let seen = peek(response).await;
    assert_eq!((seen.status().as_u16(), seen.version()), (418, http::Version::HTTP_2));
    assert_eq!(
        (&seen.headers()["x-request-id"], seen.extensions().get::<u8>()),
        (&"r1".parse().expect("valid"), Some(&42))
    );
}

// -------------------------------------------------------------------------------------------------- in the engine

fn files() -> (Pool, Policy) {
    let forbear = Forbear::builder().seed(7).build().expect("valid settings");
    let pool = forbear.pool(provider::generic(), ["files"]).build().expect("a valid pool");
    (pool, Policy::interactive(60 * S).attempt_timeout(2 * S).attempts(1).build().expect("a valid policy"))
}

#[tokio::test(start_paused = true)]
async fn an_operation_that_peeks_lets_the_engine_read_the_body() {
    let (pool, policy) = files();
    let call = pool.call(&policy).run(|_| async {
        let throttled = Response::builder().status(429);
        peek(throttled.body(Scripted::new([data("{\"detail\":\"x\",\"retry_"), data("after\":7}")])).expect("valid"))
            .await
    });
    let error = call.await.expect_err("throttled");
    let stated = error.signal().and_then(|signal| signal.stated).expect("stated in the body");
    assert_eq!((stated.delay, stated.place), (7 * S, "body.retry_after"));
    let mut last = error.into_last().expect("kept");
    assert_eq!(rest_of(last.body_mut()).await.data, br#"{"detail":"x","retry_after":7}"#);
}

#[tokio::test(start_paused = true)]
async fn an_operation_whose_body_hangs_is_cut_at_the_attempts_end() {
    let (pool, policy) = files();
    let start = Instant::now();
    let call = pool.call(&policy).run(|attempt| async move {
        let response = Response::builder().status(429).header("retry-after", "30");
        let response = response.body(Scripted::new([data("{"), Line::Hangs])).expect("valid");
        attempt.saw(&response);
        peek(response).await
    });
    let error = call.await.expect_err("cut");
    assert!(start.elapsed() >= 2 * S && start.elapsed() <= 2 * S + S / 100, "{:?}", start.elapsed());
    assert!(error.into_last().is_none());
    let held = pool.call(&policy).no_wait().run(|_| async { Response::new(String::new()) }).await.expect_err("held");
    assert!(held.is_refused_by_gate(), "the throttle that was seen holds");
}

/// A success whose body the engine is to read, and which never comes.
#[derive(Debug)]
struct Endless;

impl forbear::Settle for Endless {
    type Value = Self;

    fn settle(self) -> Result<Self, Self> {
        Ok(self)
    }
}

impl forbear::Outcome for Endless {
    fn wants_peek(&self) -> bool {
        true
    }

    async fn peek(self) -> (Self, Option<Bytes>) {
        std::future::pending().await
    }

    fn observation<'a>(&'a self, _: Option<&'a [u8]>) -> forbear::Observation<'a> {
        forbear::Observation::ok()
    }
}

#[tokio::test(start_paused = true)]
async fn a_success_whose_body_does_not_come_in_time_is_a_timeout() {
    let (pool, policy) = files();
    let error = pool.call(&policy).run(|_| async { Endless }).await.expect_err("there is no success without its body");
    assert!(error.is_exhausted() && error.signal().is_some_and(|signal| signal.timed_out && signal.ambiguous));
    assert!(error.last().is_none());
}

// -------------------------------------------------------------------------------------------------------- reqwest

#[cfg(feature = "reqwest")]
mod with_reqwest {
    use super::*;
    use forbear::LimitClass;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    /// Serves one connection: reads a request, writes these pieces, and keeps the connection open if it is to hang.
    async fn serve(pieces: Vec<Vec<u8>>, hangs: bool) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("http://{}/v1/chat?x=1", listener.local_addr().expect("bound"));
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.expect("a client");
            let mut request = [0; 4_096];
            let _ = stream.read(&mut request).await;
            for piece in pieces {
                let _ = stream.write_all(&piece).await;
                let _ = stream.flush().await;
                tokio::task::yield_now().await;
            }
            if hangs {
                std::future::pending::<()>().await;
            }
        });
        url
    }

    fn head(status: &str, more: &str) -> Vec<u8> {
        format!("HTTP/1.1 {status}\r\nx-request-id: r1\r\n{more}\r\n").into_bytes()
    }

    async fn call(
        url: &str,
        policy: &Policy,
        pool: &Pool,
    ) -> Result<reqwest::Response, forbear::Error<Result<reqwest::Response, reqwest::Error>>> {
        let client = reqwest::Client::builder().no_proxy().build().expect("a client");
        pool.call(policy).run(|attempt| client.get(url).timeout(attempt.time_left()).send()).await
    }

    #[tokio::test]
    async fn an_error_answer_is_rebuilt_with_url_headers_version_and_body() {
        let body = r#"{"error":{"message":"no such model"}}"#;
        let (first, second) = body.split_at(12);
        let length = format!("content-length: {}\r\n", body.len());
        let url = serve(vec![head("404 Not Found", &length), first.into(), second.into()], false).await;
        let (pool, policy) = files();
        let error = call(&url, &policy, &pool).await.expect_err("not found");
        assert!(error.is_not_retryable());
        let last = error.into_last().expect("kept").expect("an answer came");
        assert_eq!(
            (last.status().as_u16(), last.version(), last.url().as_str()),
            (404, reqwest::Version::HTTP_11, &*url)
        );
        assert_eq!(
            (&last.headers()["x-request-id"], last.content_length()),
            (&"r1".parse().expect("valid"), Some(body.len() as u64))
        );
        assert_eq!(last.text().await.expect("the body"), body);
    }

    #[tokio::test]
    async fn a_success_is_handed_over_untouched() {
        let url = serve(vec![head("200 OK", "content-length: 5\r\n"), b"hello".to_vec()], false).await;
        let (pool, policy) = files();
        let answer = call(&url, &policy, &pool).await.expect("a success");
        assert_eq!((answer.url().as_str(), answer.content_length()), (&*url, Some(5)));
        assert_eq!(answer.text().await.expect("the body"), "hello");
    }

    #[tokio::test]
    async fn a_delay_stated_in_a_chunked_body_is_read_and_the_body_is_still_whole() {
        let body = b"19\r\n{\"detail\":\"throttled\",\"re\r\n10\r\ntry_after\":123} \r\n0\r\n\r\n";
        let url =
            serve(vec![head("429 Too Many Requests", "transfer-encoding: chunked\r\n"), body.to_vec()], false).await;
        let (pool, policy) = files();
        let error = call(&url, &policy, &pool).await.expect_err("throttled");
        assert_eq!(
            (error.limit_class(), error.retry_after().map(|after| after.as_secs())),
            (LimitClass::Unknown, Some(123))
        );
        let last = error.into_last().expect("kept").expect("an answer came");
        assert_eq!(last.text().await.expect("the body"), "{\"detail\":\"throttled\",\"retry_after\":123} ");
    }

    #[tokio::test]
    async fn a_large_error_body_comes_back_whole() {
        let body = vec![b'x'; 300_000];
        let length = format!("content-length: {}\r\n", body.len());
        let url = serve(vec![head("400 Bad Request", &length), body.clone()], false).await;
        let (pool, policy) = files();
        let error = call(&url, &policy, &pool).await.expect_err("refused");
        let last = error.into_last().expect("kept").expect("an answer came");
        assert_eq!(last.content_length(), Some(300_000));
        assert!(last.bytes().await.expect("the body") == body);
    }

    #[tokio::test]
    async fn a_body_that_hangs_is_cut_at_the_attempts_end_and_its_throttle_is_reported() {
        let pieces = vec![head("429 Too Many Requests", "retry-after: 30\r\ncontent-length: 100\r\n"), b"{".to_vec()];
        let url = serve(pieces, true).await;
        let (pool, _) = files();
        let policy = Policy::interactive(60 * S).attempt_timeout(S / 5).attempts(1).build().expect("a valid policy");
        let error = call(&url, &policy, &pool).await.expect_err("cut");
        // Which of the two clocks cut the body, ours or the client's, is a race that neither must win.
        assert_eq!((error.limit_class(), error.attempts()), (LimitClass::Unknown, 1));
        let held =
            pool.call(&policy).no_wait().run(|_| async { Response::new(String::new()) }).await.expect_err("held");
        assert!(held.is_refused_by_gate());
        assert!(held.retry_after().is_some_and(|after| after > 28 * S));
    }

    #[tokio::test]
    async fn a_body_that_breaks_is_given_back_with_its_error() {
        let pieces = vec![head("503 Service Unavailable", "content-length: 100\r\n"), b"half".to_vec()];
        let url = serve(pieces, false).await;
        let (pool, policy) = files();
        let error = call(&url, &policy, &pool).await.expect_err("unavailable");
        assert_eq!(error.limit_class(), LimitClass::Overload);
        let last = error.into_last().expect("kept").expect("an answer came");
        assert!(last.bytes().await.is_err());
    }

    #[tokio::test]
    async fn a_refused_connection_is_a_failure_that_was_certainly_not_sent() {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("bound"));
        drop(listener);
        let (pool, policy) = files();
        let error = call(&url, &policy, &pool).await.expect_err("refused");
        let signal = *error.signal().expect("a failure");
        assert!(signal.retryable && !signal.ambiguous && error.is_exhausted());
        let text = format!("{error} {error:?}");
        assert!(!text.contains("127.0.0.1"), "an error of the client prints URLs: {text}");
    }
}
