//! A request body that is kept as it is read, so that it can be sent again.
//!
//! What is in memory is taken over whole before the first attempt. What arrives later is kept as it passes, so that a body
//! whose sender waits for the answer is never waited for. A body that grows over the bound is let go and sent once.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use bytes::{Buf, Bytes, BytesMut};
use http::HeaderMap;
use http_body::{Body, Frame, SizeHint};

use crate::layer::retry::gave_up::{BoxError, Once};

/// A request's body, on its way to one attempt. What it was made of is kept, up to a bound, for the attempts after it.
///
/// Data and trailers come as they would have, the length is the same. Only one attempt reads at a time: the body of an
/// attempt that was given up ends with an error once the next has begun.
pub struct KeptBody<B> {
    kept: Arc<Mutex<Kept<B>>>,
    /// The attempt it was made for.
    turn: u32,
    /// Frames given.
    frames: usize,
    /// Bytes given.
    bytes: usize,
    trailers_given: bool,
}

/// What all attempts share.
struct Kept<B> {
    frames: Vec<Bytes>,
    bytes: usize,
    most: usize,
    trailers: Option<HeaderMap>,
    /// How it broke, until that is told.
    broken: Option<BoxError>,
    /// What was not read yet.
    rest: Option<Pin<Box<B>>>,
    /// The attempt that may read.
    turn: u32,
    /// Why it cannot be sent again.
    once: Option<Once>,
}

impl<B> std::fmt::Debug for KeptBody<B> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KeptBody").field("turn", &self.turn).field("bytes_given", &self.bytes).finish_non_exhaustive()
    }
}

impl<B> KeptBody<B> {
    fn lock(&self) -> MutexGuard<'_, Kept<B>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// For the next attempt; the one before reads no more.
    pub(super) fn again(&self) -> Self {
        let mut kept = self.lock();
        kept.turn += 1;
        Self { kept: Arc::clone(&self.kept), turn: kept.turn, frames: 0, bytes: 0, trailers_given: false }
    }

    /// Why it cannot be sent again, if it cannot.
    pub(super) fn once(&self) -> Option<Once> {
        self.lock().once
    }

    /// All of it, if all of it is there.
    pub(super) fn whole(&self) -> Option<Bytes> {
        let kept = self.lock();
        match (&kept.rest, kept.once, &kept.frames[..]) {
            (Some(_), ..) | (_, Some(_), _) => None,
            (None, None, []) => Some(Bytes::new()),
            (None, None, [one]) => Some(one.clone()),
            (None, None, several) => {
                let mut all = BytesMut::with_capacity(kept.bytes);
                several.iter().for_each(|frame| all.extend_from_slice(frame));
                Some(all.freeze())
            }
        }
    }
}

impl<B: Body<Error: Into<BoxError>>> KeptBody<B> {
    /// Keeps at most `most` bytes of `body`. What is there is taken at once.
    pub(super) fn new(body: B, most: usize) -> Self {
        let mut kept =
            Kept { frames: Vec::new(), bytes: 0, most, trailers: None, broken: None, rest: None, turn: 0, once: None };
        if body.size_hint().lower() > most as u64 {
            kept.once = Some(Once::TooLong { most_bytes: most });
        }
        if !body.is_end_stream() {
            kept.rest = Some(Box::pin(body));
            // Its first attempt polls what is pending once more, and is woken then.
            let mut nobody = Context::from_waker(Waker::noop());
            while kept.once.is_none() && kept.poll_rest(&mut nobody) == Poll::Ready(true) {}
        }
        Self { kept: Arc::new(Mutex::new(kept)), turn: 0, frames: 0, bytes: 0, trailers_given: false }
    }
}

impl<B: Body<Error: Into<BoxError>>> Kept<B> {
    /// Reads the next frame of the rest and keeps it; `false` when there is no more.
    fn poll_rest(&mut self, cx: &mut Context<'_>) -> Poll<bool> {
        let Some(rest) = &mut self.rest else { return Poll::Ready(false) };
        let frame = match std::task::ready!(rest.as_mut().poll_frame(cx)) {
            Some(Ok(frame)) => frame,
            ended => {
                self.rest = None;
                if let Some(Err(error)) = ended {
                    self.once = Some(Once::Stream);
                    self.broken = Some(error.into());
                }
                return Poll::Ready(false);
            }
        };
        match frame.into_data() {
            Ok(mut data) => {
                let length = data.remaining();
                self.bytes = self.bytes.saturating_add(length);
                self.frames.push(data.copy_to_bytes(length));
                if self.bytes > self.most {
                    self.once = Some(Once::TooLong { most_bytes: self.most });
                }
            }
            Err(frame) => self.trailers = frame.into_trailers().ok(),
        }
        Poll::Ready(true)
    }
}

impl<B: Body<Error: Into<BoxError>>> Body for KeptBody<B> {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let this = &mut *self;
        let mut kept = this.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.turn != this.turn {
            return Poll::Ready(Some(Err("the attempt this body was for has ended, and the next has begun".into())));
        }
        loop {
            if let Some(frame) = kept.frames.get(this.frames) {
                let frame = frame.clone();
                this.frames += 1;
                this.bytes += frame.len();
                if kept.once.is_some() {
                    // Nobody will ask for it again.
                    kept.frames.drain(..this.frames);
                    this.frames = 0;
                }
                return Poll::Ready(Some(Ok(Frame::data(frame))));
            }
            if let Some(error) = kept.broken.take() {
                return Poll::Ready(Some(Err(error)));
            }
            if kept.rest.is_none() {
                let trailers = kept.trailers.as_ref().filter(|_| !this.trailers_given).cloned();
                this.trailers_given = true;
                return Poll::Ready(trailers.map(|trailers| Ok(Frame::trailers(trailers))));
            }
            std::task::ready!(kept.poll_rest(cx));
        }
    }

    fn is_end_stream(&self) -> bool {
        let kept = self.lock();
        let more = kept.broken.is_some() || kept.trailers.is_some() && !self.trailers_given;
        !more && self.frames >= kept.frames.len() && kept.rest.as_ref().is_none_or(|rest| rest.is_end_stream())
    }

    fn size_hint(&self) -> SizeHint {
        let kept = self.lock();
        let ours = kept.bytes.saturating_sub(self.bytes) as u64;
        let mut hint = kept.rest.as_ref().map_or_else(|| SizeHint::with_exact(0), |rest| rest.size_hint());
        if let Some(upper) = hint.upper() {
            hint.set_upper(upper.saturating_add(ours));
        }
        hint.set_lower(hint.lower().saturating_add(ours));
        hint
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;

    /// A body of these frames, with a pending poll where one is empty; it breaks where one is `!`.
    struct Script(VecDeque<&'static str>);

    impl Body for Script {
        type Data = Bytes;
        type Error = BoxError;

        fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
            match self.0.pop_front() {
                Some("") => Poll::Pending,
                Some("!") => Poll::Ready(Some(Err("broken".into()))),
                Some("trailers") => Poll::Ready(Some(Ok(Frame::trailers(HeaderMap::new())))),
                frame => Poll::Ready(frame.map(|text| Ok(Frame::data(Bytes::from_static(text.as_bytes()))))),
            }
        }

        fn size_hint(&self) -> SizeHint {
            if self.0.iter().any(|frame| ["", "!", "trailers"].contains(frame)) {
                return SizeHint::default();
            }
            SizeHint::with_exact(self.0.iter().map(|frame| frame.len() as u64).sum())
        }
    }

    fn body(frames: &[&'static str], most: usize) -> KeptBody<Script> {
        KeptBody::new(Script(frames.iter().copied().collect()), most)
    }

    /// What is read of it, as far as it comes: `.` for a pending poll, `T` for trailers, `!` for an error.
    fn read<B: Body<Error: Into<BoxError>>>(body: &mut KeptBody<B>) -> String {
        let mut all = String::new();
        for _ in 0..20 {
            match Pin::new(&mut *body).poll_frame(&mut Context::from_waker(Waker::noop())) {
                Poll::Pending => all.push('.'),
                Poll::Ready(None) => return all,
                Poll::Ready(Some(Err(_))) => return all + "!",
                Poll::Ready(Some(Ok(frame))) => match frame.into_data() {
                    Ok(data) => all.push_str(std::str::from_utf8(&data).expect("text")),
                    Err(_) => all.push('T'),
                },
            }
        }
        panic!("it has no end: {all}");
    }

    #[test]
    fn what_is_in_memory_is_there_whole_and_comes_again() {
        let mut first = body(&["abc", "de"], 100);
        assert_eq!(first.whole().expect("all of it"), "abcde");
        assert_eq!(first.size_hint().exact(), Some(5));
        assert_eq!(read(&mut first), "abcde");
        assert!(first.is_end_stream());
        let mut second = first.again();
        assert_eq!((second.size_hint().exact(), second.once()), (Some(5), None));
        assert_eq!(read(&mut second), "abcde");
    }

    #[test]
    fn what_comes_later_is_kept_as_it_passes_trailers_too() {
        let mut first = body(&["a", "", "b", "trailers"], 100);
        assert_eq!(first.whole(), None, "nobody waits for it");
        assert_eq!(read(&mut first), "abT");
        let mut second = first.again();
        assert_eq!(read(&mut second), "abT");
    }

    #[test]
    fn an_attempt_that_was_given_up_reads_no_more_and_the_next_reads_on_where_it_stopped() {
        let mut first = body(&["a", "", "", "b"], 100);
        let mut cx = Context::from_waker(Waker::noop());
        assert!(Pin::new(&mut first).poll_frame(&mut cx).is_ready());
        let mut second = first.again();
        assert_eq!(read(&mut first), "!");
        assert_eq!(read(&mut second), "a.b");
    }

    #[test]
    fn a_body_over_the_bound_is_sent_whole_once_and_not_kept() {
        let mut first = body(&["abc", "", "def", "ghi"], 5);
        assert_eq!(first.once(), None);
        assert_eq!(read(&mut first), "abcdefghi");
        assert_eq!(first.once(), Some(Once::TooLong { most_bytes: 5 }));
        assert!(first.lock().frames.is_empty());
        let announced = body(&["abcdef"], 5);
        assert_eq!(announced.once(), Some(Once::TooLong { most_bytes: 5 }), "its length says so before it is read");
        let all_at_once = body(&["", "a"], 0);
        assert_eq!(all_at_once.once(), None, "nothing came yet");
        assert_eq!(body(&[], 0).whole().expect("all of nothing"), "");
    }

    #[test]
    fn a_body_that_breaks_is_not_sent_again() {
        let mut first = body(&["a", "!"], 100);
        assert_eq!(first.once(), Some(Once::Stream));
        assert_eq!(read(&mut first), "a!", "nobody takes the half of it for the whole");
    }
}
