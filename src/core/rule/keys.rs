//! Keys of objects looked up: by their first sixteen bytes as one number, built when the program is compiled.

/// An index of up to `N` keys, of which several may be the same.
#[derive(Debug)]
pub(crate) struct Keys<const N: usize> {
    keys: [&'static str; N],
    heads: [u128; N],
    /// Where the keys stand that share a hash: the number of the latest entry, or [`END`].
    slots: [u8; SLOTS],
    /// The entry of the same slot added before.
    next: [u8; N],
}

const SLOTS: usize = 256;
const END: u8 = u8::MAX;
/// The bytes of a head.
pub(crate) const HEAD: usize = 16;

impl<const N: usize> Keys<N> {
    pub(crate) const fn new() -> Self {
        assert!(N < END as usize, "an index holds at most 254 keys");
        Self { keys: [""; N], heads: [0; N], slots: [END; SLOTS], next: [END; N] }
    }

    /// Adds `key` under `number`.
    pub(crate) const fn add(&mut self, key: &'static str, number: usize) {
        let head = head_of(key.as_bytes());
        let slot = slot(head);
        self.keys[number] = key;
        self.heads[number] = head;
        self.next[number] = self.slots[slot];
        self.slots[slot] = number as u8;
    }

    /// All entries equal to `key`, whose first bytes are `head`.
    #[inline]
    pub(crate) fn all(&self, key: &str, head: u128) -> impl Iterator<Item = usize> {
        let mut at = self.slots[slot(head)];
        std::iter::from_fn(move || {
            while at != END {
                let number = usize::from(at);
                at = self.next[number];
                let known = self.keys[number];
                if self.heads[number] == head && known.len() == key.len() && (key.len() <= HEAD || known == key) {
                    return Some(number);
                }
            }
            None
        })
    }
}

/// The first sixteen bytes of a key; what it lacks is zero.
pub(crate) const fn head_of(key: &[u8]) -> u128 {
    let (mut head, mut i) = (0, 0);
    while i < key.len() && i < HEAD {
        head |= (key[i] as u128) << (8 * i);
        i += 1;
    }
    head
}

/// [`head_of`] the first `length` of sixteen bytes.
#[inline]
pub(crate) const fn head_of_many(sixteen: &[u8; HEAD], length: usize) -> u128 {
    match u128::MAX.checked_shl(8 * length as u32) {
        Some(rest) => u128::from_le_bytes(*sixteen) & !rest,
        None => u128::from_le_bytes(*sixteen),
    }
}

#[inline]
const fn slot(head: u128) -> usize {
    let folded = head as u64 ^ ((head >> 64) as u64).rotate_left(29);
    (folded.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as usize % SLOTS
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEYS: [&str; 6] = ["a", "error", "message", "error", "X-RateLimit-Remaining", "X-RateLimit-Remainder"];
    const INDEX: Keys<6> = {
        let mut keys = Keys::new();
        let mut i = 0;
        while i < KEYS.len() {
            keys.add(KEYS[i], i);
            i += 1;
        }
        keys
    };

    #[test]
    fn every_key_is_found_and_no_other() {
        for key in KEYS {
            let mut found: Vec<usize> = INDEX.all(key, head_of(key.as_bytes())).collect();
            found.sort_unstable();
            let expected: Vec<usize> = (0..KEYS.len()).filter(|number| KEYS[*number] == key).collect();
            assert_eq!(found, expected, "{key}");
        }
        for other in ["", "e", "errors", "X-RateLimit-Remai", "X-RateLimit-RemaininG", "a\0"] {
            assert_eq!(INDEX.all(other, head_of(other.as_bytes())).next(), None, "{other:?}");
        }
    }

    #[test]
    fn a_head_is_the_same_whatever_follows_the_key() {
        for length in 0..=16 {
            let text = b"message\":\"and so";
            assert_eq!(head_of_many(text, length), head_of(&text[..length]), "{length}");
        }
        assert_eq!(head_of_many(b"X-RateLimit-Rema", 21), head_of(b"X-RateLimit-Remaining"));
    }
}
