//! The wire format of protocol buffers (<https://protobuf.dev/programming-guides/encoding/>), as far as statuses need it,
//! and the base64 their trailer is written in.

use crate::core::observation::BODY_EXCERPT_BYTES;

/// The bytes are no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Malformed;

/// The value of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Value<'a> {
    /// A whole number or truth value.
    Varint(u64),
    /// A string, bytes, or a message inside this one.
    Bytes(&'a [u8]),
    /// Four or eight bytes that no status has.
    Fixed,
}

/// The fields of a message, in the order they stand. Groups, which no status has, are refused.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fields<'a> {
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    pub(super) const fn of(message: &'a [u8]) -> Self {
        Self { rest: message }
    }

    /// The next field's number and value.
    pub(super) fn next(&mut self) -> Result<Option<(u64, Value<'a>)>, Malformed> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let tag = self.varint()?;
        let value = match tag & 7 {
            0 => Value::Varint(self.varint()?),
            1 => self.take(8).map(|_| Value::Fixed)?,
            2 => {
                let length = usize::try_from(self.varint()?).map_err(|_| Malformed)?;
                Value::Bytes(self.take(length)?)
            }
            5 => self.take(4).map(|_| Value::Fixed)?,
            _ => return Err(Malformed),
        };
        match tag >> 3 {
            0 => Err(Malformed),
            number => Ok(Some((number, value))),
        }
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], Malformed> {
        let (taken, rest) = self.rest.split_at_checked(length).ok_or(Malformed)?;
        self.rest = rest;
        Ok(taken)
    }

    /// At most ten bytes, seven bits each, the least first.
    fn varint(&mut self) -> Result<u64, Malformed> {
        let mut number = 0;
        for (i, byte) in self.rest.iter().take(10).enumerate() {
            let bits = u64::from(byte & 0x7f);
            if i == 9 && bits > 1 {
                return Err(Malformed);
            }
            number |= bits << (7 * i);
            if byte & 0x80 == 0 {
                self.rest = &self.rest[i + 1..];
                return Ok(number);
            }
        }
        Err(Malformed)
    }
}

/// Reads base64 (RFC 4648 section 4), padded or not, as gRPC writes binary metadata; at most what a body may have.
pub(super) fn from_base64(text: &[u8]) -> Option<Vec<u8>> {
    let padding = text.iter().rev().take_while(|byte| **byte == b'=').count();
    let digits = &text[..text.len() - padding];
    let is_padded_right = padding == 0 || padding <= 2 && text.len().is_multiple_of(4);
    if !is_padded_right || digits.len() % 4 == 1 || digits.len() / 4 * 3 > BODY_EXCERPT_BYTES {
        return None;
    }
    let mut bytes = Vec::with_capacity(digits.len() / 4 * 3 + 2);
    for four in digits.chunks(4) {
        let bits = four.iter().try_fold(0u32, |bits, digit| Some(bits << 6 | sixth(*digit)?))?;
        let [_, three @ ..] = (bits << (6 * (4 - four.len()))).to_be_bytes();
        bytes.extend_from_slice(&three[..four.len() - 1]);
    }
    Some(bytes)
}

/// The six bits of a digit.
fn sixth(digit: u8) -> Option<u32> {
    Some(u32::from(match digit {
        b'A'..=b'Z' => digit - b'A',
        b'a'..=b'z' => digit - b'a' + 26,
        b'0'..=b'9' => digit - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(message: &[u8]) -> Result<Vec<(u64, Value<'_>)>, Malformed> {
        let mut fields = Fields::of(message);
        std::iter::from_fn(|| fields.next().transpose()).collect()
    }

    #[test]
    fn fields_are_read_by_their_wire_types() {
        let message = [0x08, 0x96, 0x01, 0x12, 0x02, b'h', b'i', 0x1d, 1, 2, 3, 4, 0x21, 1, 2, 3, 4, 5, 6, 7, 8];
        let expected = vec![(1, Value::Varint(150)), (2, Value::Bytes(b"hi")), (3, Value::Fixed), (4, Value::Fixed)];
        assert_eq!(fields(&message), Ok(expected));
        let minus_one = [&[0x08][..], &[0xff; 9], &[0x01]].concat();
        assert_eq!(fields(&minus_one), Ok(vec![(1, Value::Varint(u64::MAX))]));
    }

    #[test]
    fn what_is_cut_off_too_long_or_grouped_is_refused() {
        for refused in [
            &[0x08][..],
            &[0x08, 0x80],
            &[0x12, 0x05, b'h'],
            &[0x0b],
            &[0x0c],
            &[0x00, 0x01],
            &[0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02],
            &[0x12, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01],
        ] {
            assert_eq!(fields(refused), Err(Malformed), "{refused:?}");
        }
    }

    #[test]
    fn base64_is_read_with_and_without_padding() {
        for (text, bytes) in
            [("", ""), ("Zg", "f"), ("Zg==", "f"), ("Zm8", "fo"), ("Zm8=", "fo"), ("Zm9vYmFy", "foobar")]
        {
            assert_eq!(from_base64(text.as_bytes()).as_deref(), Some(bytes.as_bytes()), "{text}");
        }
        for refused in ["Z", "Zg=", "Zg===", "Zm9v=", "Zm9v====", "Zm 9v", "Zm9-", "=", "Z=g="] {
            assert_eq!(from_base64(refused.as_bytes()), None, "{refused}");
        }
        assert_eq!(from_base64("A".repeat(90_000).as_bytes()), None);
    }
}
