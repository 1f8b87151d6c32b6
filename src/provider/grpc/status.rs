//! A `google.rpc.Status` and the details in it that speak of limits (`google/rpc/error_details.proto`).
//!
//! What is found is noted under the names the JSON mapping has, so that one list of fields serves the trailer and what a
//! gateway makes of it. Four levels are looked into, each with its own function: nothing recurses.

use crate::core::rule::field::{ROOT, Scalar};
use crate::core::rule::keys::head_of;
use crate::provider::body::Walk;
use crate::provider::grpc::wire::{Fields, Malformed, Value};
use crate::provider::leaf::Leaf;

impl Walk<'_> {
    /// Reads a `google.rpc.Status`.
    pub(super) fn status(&mut self, message: &[u8]) -> Result<(), Malformed> {
        let mut fields = Fields::of(message);
        while let Some(field) = fields.next()? {
            match field {
                (2, Value::Bytes(text)) => self.text(&["message"], text),
                (3, Value::Bytes(any)) => self.detail(any)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// A `google.protobuf.Any`.
    fn detail(&mut self, any: &[u8]) -> Result<(), Malformed> {
        let (mut kind, mut message, mut fields) = (&b""[..], &b""[..], Fields::of(any));
        while let Some(field) = fields.next()? {
            match field {
                (1, Value::Bytes(url)) => kind = url.rsplit(|byte| *byte == b'/').next().unwrap_or(url),
                (2, Value::Bytes(value)) => message = value,
                _ => {}
            }
        }
        match kind {
            b"google.rpc.RetryInfo" => self.retry_info(message),
            b"google.rpc.QuotaFailure" => self.quota_failure(message),
            b"google.rpc.ErrorInfo" => self.error_info(message),
            _ => Ok(()),
        }
    }

    fn retry_info(&mut self, message: &[u8]) -> Result<(), Malformed> {
        let mut fields = Fields::of(message);
        while let Some(field) = fields.next()? {
            if let (1, Value::Bytes(duration)) = field {
                let (seconds, nanos) = duration_of(duration)?;
                self.note(&["details", "retryDelay"], Scalar::Duration(seconds, nanos));
            }
        }
        Ok(())
    }

    fn quota_failure(&mut self, message: &[u8]) -> Result<(), Malformed> {
        let mut violations = Fields::of(message);
        while let Some(violation) = violations.next()? {
            let (1, Value::Bytes(message)) = violation else { continue };
            let mut fields = Fields::of(message);
            while let Some(field) = fields.next()? {
                match field {
                    (2, Value::Bytes(text)) => self.text(&["details", "violations", "description"], text),
                    (5, Value::Bytes(id)) => self.text(&["details", "violations", "quotaId"], id),
                    (7, Value::Varint(limit)) => {
                        self.note(&["details", "violations", "quotaValue"], Scalar::Whole(limit));
                    }
                    _ => {}
                }
            }
        }
        Ok(())
    }

    fn error_info(&mut self, message: &[u8]) -> Result<(), Malformed> {
        let mut fields = Fields::of(message);
        while let Some(field) = fields.next()? {
            match field {
                (1, Value::Bytes(reason)) => self.text(&["details", "reason"], reason),
                (3, Value::Bytes(entry)) => self.metadata(entry)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// An entry of a map.
    fn metadata(&mut self, entry: &[u8]) -> Result<(), Malformed> {
        let (mut key, mut text, mut fields) = (&b""[..], &b""[..], Fields::of(entry));
        while let Some(field) = fields.next()? {
            match field {
                (1, Value::Bytes(bytes)) => key = bytes,
                (2, Value::Bytes(bytes)) => text = bytes,
                _ => {}
            }
        }
        if let Ok(key) = std::str::from_utf8(key) {
            self.text(&["details", "metadata", key], text);
        }
        Ok(())
    }

    /// Notes a text; bytes that are none are not.
    pub(super) fn text(&mut self, path: &[&str], bytes: &[u8]) {
        if let Ok(text) = std::str::from_utf8(bytes) {
            self.note(path, Scalar::Text(text));
        }
    }

    fn note(&mut self, path: &[&str], scalar: Scalar<'_>) {
        let fields = self.fields;
        let node = path.iter().try_fold(ROOT, |node, key| fields.child(node, key, head_of(key.as_bytes())));
        if let Some(node) = node {
            Leaf { walk: self, node }.note(scalar);
        }
    }
}

/// Seconds and nanoseconds of a `google.protobuf.Duration`; both are two's complement.
fn duration_of(message: &[u8]) -> Result<(i64, i64), Malformed> {
    let (mut seconds, mut nanos, mut fields) = (0, 0, Fields::of(message));
    while let Some(field) = fields.next()? {
        match field {
            (1, Value::Varint(number)) => seconds = number.cast_signed(),
            (2, Value::Varint(number)) => nanos = number.cast_signed(),
            _ => {}
        }
    }
    Ok((seconds, nanos))
}
