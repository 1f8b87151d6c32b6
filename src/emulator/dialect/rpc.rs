//! A `google.rpc.Status` with a `RetryInfo`, as gRPC writes it into `grpc-status-details-bin`.

use std::time::Duration;

/// The trailer's value that states `wait`, unpadded as servers send it.
pub(super) fn retry_info(wait: Duration) -> String {
    let nanos = u64::from(wait.subsec_nanos());
    let duration = [varint(1, wait.as_secs().min(i64::MAX.cast_unsigned())), varint(2, nanos)].concat();
    let any = [bytes(1, b"type.googleapis.com/google.rpc.RetryInfo"), bytes(2, &bytes(1, &duration))].concat();
    base64(&bytes(3, &any))
}

/// A field that holds a number.
fn varint(field: u8, number: u64) -> Vec<u8> {
    let mut written = vec![field << 3];
    push(&mut written, number);
    written
}

/// A field that holds bytes.
fn bytes(field: u8, bytes: &[u8]) -> Vec<u8> {
    let mut written = vec![field << 3 | 2];
    push(&mut written, bytes.len() as u64);
    written.extend_from_slice(bytes);
    written
}

fn push(written: &mut Vec<u8>, mut number: u64) {
    while number > 0x7f {
        written.push(number as u8 | 0x80);
        number >>= 7;
    }
    written.push(number as u8);
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let bits = three.iter().fold(0u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - three.len()));
        let digits = [18, 12, 6, 0].map(|shift| char::from(DIGITS[(bits >> shift & 63) as usize]));
        text.extend(&digits[..=three.len()]);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_written_as_a_status_with_its_retry_info() {
        let text = retry_info(Duration::from_millis(62_500));
        assert_eq!(text, "GjYKKHR5cGUuZ29vZ2xlYXBpcy5jb20vZ29vZ2xlLnJwYy5SZXRyeUluZm8SCgoICD4QgMq17gE");
    }
}
