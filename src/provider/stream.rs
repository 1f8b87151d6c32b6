//! Event streams (server-sent events): frames of a whole body, and a reader for one that arrives in chunks.

use std::borrow::Cow;

use crate::core::estimate::Usage;
use crate::core::moment::WallTime;
use crate::core::observation::{BODY_EXCERPT_BYTES, Observation};
use crate::core::rule::Table;
use crate::core::signal::Reading;

/// Whether a body begins as an event stream does: with a field or a comment.
pub(super) fn looks_like_events(body: &[u8]) -> bool {
    [&b"data:"[..], b"event:", b":", b"id:", b"retry:"].iter().any(|start| body.starts_with(start))
}

/// One frame of an event stream.
#[derive(Debug, Default)]
pub(super) struct Frame<'a> {
    event: &'a [u8],
    /// Its data; lines are joined by a line feed.
    pub(super) data: Cow<'a, [u8]>,
}

impl Frame<'_> {
    /// Whether the provider named the event an error.
    pub(super) fn is_error(&self) -> bool {
        self.event == b"error"
    }
}

/// The frames of a body that have data. The last one counts even where the empty line after it is missing.
#[derive(Debug)]
pub(super) struct Frames<'a> {
    rest: &'a [u8],
}

impl<'a> Frames<'a> {
    pub(super) const fn new(body: &'a [u8]) -> Self {
        Self { rest: body }
    }

    fn line(&mut self) -> Option<&'a [u8]> {
        if self.rest.is_empty() {
            return None;
        }
        let end = self.rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')).unwrap_or(self.rest.len());
        let line = &self.rest[..end];
        self.rest = match &self.rest[end..] {
            [b'\r', b'\n', rest @ ..] | [_, rest @ ..] => rest,
            [] => &[],
        };
        Some(line)
    }
}

impl<'a> Iterator for Frames<'a> {
    type Item = Frame<'a>;

    fn next(&mut self) -> Option<Frame<'a>> {
        let mut frame = Frame::default();
        let mut any = false;
        while let Some(line) = self.line() {
            if line.is_empty() {
                if any {
                    return Some(frame);
                }
                frame = Frame::default();
                continue;
            }
            let (field, value) = match line.iter().position(|&byte| byte == b':') {
                Some(colon) => (&line[..colon], &line[colon + 1..]),
                None => (line, &b""[..]),
            };
            let value = value.strip_prefix(b" ").unwrap_or(value);
            match field {
                b"event" => frame.event = value,
                b"data" if any => {
                    frame.data.to_mut().push(b'\n');
                    frame.data.to_mut().extend_from_slice(value);
                }
                b"data" => {
                    any = true;
                    frame.data = Cow::Borrowed(value);
                }
                // Comments (`: keep-alive`), `id`, `retry` and unknown fields say nothing of errors.
                _ => {}
            }
        }
        any.then_some(frame)
    }
}

/// Finds the error in a stream that arrives in chunks: feed it every chunk as it comes.
///
/// Memory is bounded: at most 64 KiB of one frame are kept, a longer one is skipped (errors are small).
///
/// ```
/// use forbear::provider::{self, StreamReader};
/// use forbear::core::moment::WallTime;
/// use forbear::core::signal::LimitClass;
///
/// let mut reader = StreamReader::new(provider::anthropic());
/// let now = WallTime::default();
/// assert!(reader.feed(b"event: ping\ndata: {\"type\":\"ping\"}\n\nevent: err", now).is_none());
/// let error = b"or\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\"}}\n\n";
/// let reading = reader.feed(error, now).expect("an error");
/// assert_eq!(reading.signal.class, LimitClass::Overload);
/// ```
#[derive(Debug)]
pub struct StreamReader {
    table: Table,
    frame: Vec<u8>,
    line_is_empty: bool,
    after_return: bool,
    too_long: bool,
    used: Usage,
}

impl StreamReader {
    /// A reader for a stream of this provider.
    #[must_use]
    pub fn new(table: Table) -> Self {
        Self {
            table,
            frame: Vec::new(),
            line_is_empty: true,
            after_return: false,
            too_long: false,
            used: Usage::default(),
        }
    }

    /// Reads the next chunk, which came at `wall`; gives the first error in it. Takes time linear in the chunk.
    pub fn feed(&mut self, chunk: &[u8], wall: WallTime) -> Option<Reading> {
        let mut found = None;
        for &byte in chunk {
            let second_half = byte == b'\n' && self.after_return;
            self.after_return = byte == b'\r';
            if second_half {
                continue;
            }
            if matches!(byte, b'\n' | b'\r') {
                self.keep(b'\n');
                if self.line_is_empty {
                    found = found.or(self.end_of_frame(wall));
                }
                self.line_is_empty = true;
            } else {
                self.keep(byte);
                self.line_is_empty = false;
            }
        }
        found
    }

    /// The tokens that the frames so far say were used.
    #[must_use]
    pub const fn used(&self) -> Usage {
        self.used
    }

    /// Reads what was left without an empty line after it when the stream ended.
    pub fn finish(mut self, wall: WallTime) -> Option<Reading> {
        self.end_of_frame(wall)
    }

    fn keep(&mut self, byte: u8) {
        if self.frame.len() < BODY_EXCERPT_BYTES {
            self.frame.push(byte);
        } else {
            self.too_long = true;
        }
    }

    fn end_of_frame(&mut self, wall: WallTime) -> Option<Reading> {
        let observation = Observation::ok().body(&self.frame);
        // Only frames are read here, never a document that happens to look like one.
        let reading = (!self.too_long && looks_like_events(self.frame.trim_ascii_start()))
            .then(|| self.table.read(&observation, wall));
        if let Some(reading) = &reading {
            self.used = self.used.and(reading.used);
        }
        let reading = reading.filter(|reading| reading.signal.failed);
        self.frame.clear();
        self.too_long = false;
        reading
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(body: &str) -> Vec<String> {
        Frames::new(body.as_bytes()).map(|frame| String::from_utf8(frame.data.into_owned()).expect("text")).collect()
    }

    #[test]
    fn frames_are_cut_at_empty_lines_whatever_the_line_ends_are() {
        assert_eq!(data("data: a\n\ndata: b\r\n\r\ndata: c\r\rdata: d"), ["a", "b", "c", "d"]);
        assert_eq!(data(": keep-alive\n\n: keep-alive\n\ndata: x\n\n"), ["x"]);
        assert_eq!(data("event: e\ndata: one\ndata: two\nid: 7\n\n"), ["one\ntwo"]);
        assert!(data("event: error\n\n").is_empty());
    }
}
