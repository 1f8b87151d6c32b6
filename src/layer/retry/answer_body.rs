//! An answer's body on its way to whoever reads it.
//!
//! The call has ended when its answer's head is there; the request has not. Until the body's end it counts as in flight, an
//! error event in its stream is told to the pool, and the tokens it says were used are settled. Left alone are answers of a
//! known length up to 64 KiB, where nobody asks for tokens: those are sent with their heads.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::HeaderMap;
use http::header::CONTENT_TYPE;
use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;

use crate::layer::retry::gave_up::BoxError;
use crate::provider::StreamReader;
use crate::run::{InFlight, Peek};

/// A whole answer longer than this is not read for the tokens it used.
const MOST_BYTES: usize = 1024 * 1024;

pin_project! {
    /// The body of an answer that came through [`Retry`](crate::layer::Retry): frames and trailers as the service gave them.
    ///
    /// The request counts as in flight until the end was read or this is dropped. A body of known length up to 64 KiB was sent
    /// with its head and may count as ended with it.
    pub struct AnswerBody<B: Body> {
        #[pin]
        body: Peek<B>,
        watch: Option<Box<Watch>>,
    }
}

impl<B: Body> std::fmt::Debug for AnswerBody<B> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AnswerBody").field("body", &self.body).field("in_flight", &self.watch.is_some()).finish()
    }
}

impl<B: Body> AnswerBody<B> {
    /// Of an answer nothing was read of.
    pub(super) fn unread(body: B) -> Self {
        Self { body: Peek::unread(body), watch: None }
    }

    /// Counts the request until the body's end, and reads what the body says on the way.
    pub(super) fn watched(&mut self, in_flight: InFlight, headers: &HeaderMap) {
        self.watch = Some(Box::new(Watch::new(in_flight, headers)));
    }
}

#[cfg(feature = "tower")]
impl<B: Body + Unpin> AnswerBody<B> {
    /// Reads its beginning, and gives it back first.
    pub(super) async fn peek(&mut self) -> Bytes {
        self.body.read().await;
        self.body.read_ahead()
    }
}

impl<B: Body<Error: Into<BoxError>>> Body for AnswerBody<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let mut this = self.project();
        let frame = ready!(this.body.as_mut().poll_frame(cx));
        if let Some(watch) = this.watch {
            match &frame {
                Some(Ok(frame)) => {
                    if let Some(data) = frame.data_ref() {
                        watch.passes(data);
                    }
                }
                Some(Err(_)) => *this.watch = None,
                None => {}
            }
        }
        if (frame.is_none() || this.body.is_end_stream())
            && let Some(watch) = this.watch.take()
        {
            watch.ends();
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// What is kept of a body that is being read.
struct Watch {
    in_flight: InFlight,
    reads: Reads,
}

/// How a body is read on its way.
enum Reads {
    Nothing,
    Events(Box<StreamReader>),
    /// A document, kept by reference until its end.
    Whole(Vec<Bytes>, usize),
}

impl Watch {
    fn new(in_flight: InFlight, headers: &HeaderMap) -> Self {
        let kind = headers.get(CONTENT_TYPE).map(http::HeaderValue::as_bytes).unwrap_or_default();
        let reads = if kind.starts_with(b"text/event-stream") {
            Reads::Events(Box::new(StreamReader::new(in_flight.pool().table())))
        } else if kind.starts_with(b"application/json") {
            Reads::Whole(Vec::new(), 0)
        } else {
            Reads::Nothing
        };
        Self { in_flight, reads }
    }

    fn passes(&mut self, data: &Bytes) {
        match &mut self.reads {
            Reads::Nothing => {}
            Reads::Events(reader) => {
                if let Some(reading) = reader.feed(data, crate::clock::wall_now()) {
                    self.in_flight.saw(&reading.signal);
                }
            }
            Reads::Whole(_, bytes) if *bytes + data.len() > MOST_BYTES => self.reads = Reads::Nothing,
            Reads::Whole(frames, bytes) => {
                *bytes += data.len();
                frames.push(data.clone());
            }
        }
    }

    fn ends(self) {
        let Self { in_flight, reads } = self;
        let used = match reads {
            Reads::Nothing => return,
            Reads::Events(reader) => {
                let used = reader.used();
                if let Some(reading) = reader.finish(crate::clock::wall_now()) {
                    in_flight.saw(&reading.signal);
                }
                used
            }
            Reads::Whole(frames, _) => match &frames[..] {
                [one] => in_flight.pool().table().usage(one),
                several => in_flight.pool().table().usage(&several.concat()),
            },
        };
        in_flight.used(used);
    }
}
