//! A body that was looked into and is still whole.
//!
//! Which limit was hit stands in the body with half of the providers, and the body is the caller's. So its beginning is read
//! ahead, at most [`BODY_EXCERPT_BYTES`] and the rest of the frame in which that mark is passed, and given back first: frames,
//! trailers and errors come out as they would have.

use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::{Buf, Bytes, BytesMut};
use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;

use crate::core::observation::BODY_EXCERPT_BYTES;
use crate::run::outcome::PeekBody;

pin_project! {
    /// A body whose first bytes were read and are given back first: at most 64 KiB, plus the rest of the frame in which
    /// that mark was passed.
    pub struct Peek<B: Body> {
        read: Bytes,
        given: usize,
        held: Option<Held<B>>,
        #[pin]
        rest: B,
    }
}

/// What was read after the data and has to be given back after it.
enum Held<B: Body> {
    Trailers(http::HeaderMap),
    Broken(B::Error),
}

/// Reads the first bytes of a response's body, at most 64 KiB, so that the engine can see an error in it.
///
/// Needed where the client hands out a streaming [`Body`]. Only for answers that may be errors: reading holds the answer
/// back. A body that breaks while it is read gives what was read, then its error.
///
/// Cancel safety: dropping it drops the response, as dropping any read does.
///
/// ```
/// # use forbear::{peek, PeekBody};
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// let response = http::Response::new(String::from("{}"));
/// let seen = peek(response).await;
/// assert_eq!(seen.body().excerpt(), Some(&b"{}"[..]));
/// # }
/// ```
pub async fn peek<B: Body + Unpin>(response: http::Response<B>) -> http::Response<Peek<B>> {
    let (parts, body) = response.into_parts();
    let mut peek = Peek::unread(body);
    peek.read().await;
    http::Response::from_parts(parts, peek)
}

impl<B: Body> Peek<B> {
    /// A body nothing was read of.
    pub(crate) const fn unread(body: B) -> Self {
        Self { read: Bytes::new(), given: 0, held: None, rest: body }
    }

    /// What was read ahead, shared and not copied.
    #[cfg(any(feature = "reqwest", feature = "tower"))]
    pub(crate) fn read_ahead(&self) -> Bytes {
        self.read.slice(..self.read.len().min(BODY_EXCERPT_BYTES))
    }
}

impl<B: Body + Unpin> Peek<B> {
    /// Reads its beginning. To be asked before any of it was given.
    pub(crate) async fn read(&mut self) {
        let mut first = Bytes::new();
        let mut more = BytesMut::new();
        while first.len() + more.len() < BODY_EXCERPT_BYTES {
            match poll_fn(|cx| Pin::new(&mut self.rest).poll_frame(cx)).await {
                None => break,
                Some(Err(error)) => {
                    self.held = Some(Held::Broken(error));
                    break;
                }
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => {
                        let chunk = whole(data);
                        // The usual answer is one frame: then nothing is copied.
                        if first.is_empty() { first = chunk } else { more.extend_from_slice(&chunk) }
                    }
                    Err(frame) => self.held = frame.into_trailers().ok().map(Held::Trailers),
                },
            }
        }
        self.read = if more.is_empty() { first } else { [&first[..], &more[..]].concat().into() };
    }
}

/// A frame's data in one piece; where it is `Bytes` already, nothing is copied.
fn whole(mut data: impl Buf) -> Bytes {
    let length = data.remaining();
    data.copy_to_bytes(length)
}

impl<B: Body> PeekBody for Peek<B> {
    fn excerpt(&self) -> Option<&[u8]> {
        Some(&self.read[..self.read.len().min(BODY_EXCERPT_BYTES)])
    }
}

/// How much was read ahead; nothing of what it says.
impl<B: Body> fmt::Debug for Peek<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Peek").field("read_ahead", &self.read.len()).finish_non_exhaustive()
    }
}

impl<B: Body> Body for Peek<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        let this = self.project();
        if *this.given < this.read.len() {
            let read = this.read.slice(*this.given..);
            *this.given = this.read.len();
            return Poll::Ready(Some(Ok(Frame::data(read))));
        }
        match this.held.take() {
            Some(Held::Trailers(trailers)) => return Poll::Ready(Some(Ok(Frame::trailers(trailers)))),
            Some(Held::Broken(error)) => return Poll::Ready(Some(Err(error))),
            None => {}
        }
        this.rest.poll_frame(cx).map_ok(|frame| frame.map_data(whole))
    }

    fn is_end_stream(&self) -> bool {
        self.given == self.read.len() && self.held.is_none() && self.rest.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let ours = (self.read.len() - self.given) as u64;
        let mut hint = self.rest.size_hint();
        if let Some(upper) = hint.upper() {
            hint.set_upper(upper.saturating_add(ours));
        }
        hint.set_lower(hint.lower().saturating_add(ours));
        hint
    }
}
