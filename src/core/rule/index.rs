//! Names looked up: an index over lists of strings, built when the program is compiled.

/// An index of up to `N` strings. Words of a length none of them has are refused by one look, most others by one
/// multiplication.
///
/// Measured against the hash of a header map: an answer has about twenty headers, a table reads about six of them.
#[derive(Debug)]
pub(crate) struct Lexicon<const N: usize> {
    words: [&'static str; N],
    /// Where the words stand that share a hash: the number of the latest entry, or [`END`].
    slots: [u8; SLOTS],
    /// The entry of the same word added before.
    next: [u8; N],
    /// A bit for each length a word has.
    lengths: u64,
}

const SLOTS: usize = 256;
const END: u8 = u8::MAX;
const LONGEST: usize = 64;

impl<const N: usize> Lexicon<N> {
    pub(crate) const fn new() -> Self {
        assert!(N < END as usize, "an index holds at most 254 words");
        Self { words: [""; N], slots: [END; SLOTS], next: [END; N], lengths: 0 }
    }

    /// Adds `word` under `number`; words added later are found first.
    pub(crate) const fn add(&mut self, word: &'static str, number: usize) {
        assert!(!word.is_empty() && word.len() < LONGEST, "a word has 1 to 63 bytes");
        self.words[number] = word;
        self.lengths |= 1 << word.len();
        let mut slot = slot(word.as_bytes());
        while self.slots[slot] != END && !same(self.words[self.slots[slot] as usize], word) {
            slot = (slot + 1) % SLOTS;
        }
        self.next[number] = self.slots[slot];
        self.slots[slot] = number as u8;
    }

    /// The entry equal to `word` that was added last.
    #[inline]
    pub(crate) fn latest(&self, word: &[u8]) -> Option<usize> {
        if word.len() >= LONGEST || self.lengths >> word.len() & 1 == 0 {
            return None;
        }
        let mut slot = slot(word);
        while self.slots[slot] != END {
            let number = usize::from(self.slots[slot]);
            if self.words[number].as_bytes() == word {
                return Some(number);
            }
            slot = (slot + 1) % SLOTS;
        }
        None
    }

    /// All entries equal to `word`, latest first.
    #[inline]
    pub(crate) fn all(&self, word: &[u8]) -> impl Iterator<Item = usize> {
        let mut at = self.latest(word);
        std::iter::from_fn(move || {
            let number = at?;
            at = Some(self.next[number]).filter(|next| *next != END).map(usize::from);
            Some(number)
        })
    }
}

/// The place a word is looked for first: by its length and its last sixteen bytes, which overlap in shorter ones.
#[inline]
const fn slot(word: &[u8]) -> usize {
    const fn eight(bytes: Option<&[u8; 8]>) -> u64 {
        match bytes {
            Some(bytes) => u64::from_le_bytes(*bytes),
            None => 0,
        }
    }
    const fn four(bytes: Option<&[u8; 4]>) -> u64 {
        match bytes {
            Some(bytes) => u32::from_le_bytes(*bytes) as u64,
            None => 0,
        }
    }
    let mixed = match (word.last_chunk::<16>(), word.len()) {
        (Some(last), _) => eight(last.first_chunk()) ^ eight(last.last_chunk()).rotate_left(29),
        (None, 8..) => eight(word.first_chunk()) ^ eight(word.last_chunk()).rotate_left(29),
        (None, 4..) => four(word.first_chunk()) | four(word.last_chunk()) << 32,
        (None, 1..) => (word[0] as u64) | (word[word.len() / 2] as u64) << 8 | (word[word.len() - 1] as u64) << 16,
        (None, 0) => 0,
    };
    ((mixed ^ word.len() as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as usize % SLOTS
}

/// Whether two strings are equal, when the program is compiled.
pub(crate) const fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if a.len() != b.len() {
        return false;
    }
    let mut i = 0;
    while i < a.len() {
        if a[i] != b[i] {
            return false;
        }
        i += 1;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORDS: [&str; 7] =
        ["a", "ab", "retry-after", "x-ratelimit-reset-requests", "ab", "x-ratelimit-limit-requests", "ab"];
    const LEXICON: Lexicon<7> = {
        let mut lexicon = Lexicon::new();
        let mut i = 0;
        while i < WORDS.len() {
            lexicon.add(WORDS[i], i);
            i += 1;
        }
        lexicon
    };

    #[test]
    fn every_word_is_found_and_no_other() {
        for word in WORDS {
            let expected: Vec<usize> = (0..WORDS.len()).rev().filter(|number| WORDS[*number] == word).collect();
            assert_eq!(LEXICON.all(word.as_bytes()).collect::<Vec<_>>(), expected, "{word}");
            assert_eq!(LEXICON.latest(word.as_bytes()), expected.first().copied(), "{word}");
        }
        for other in ["", "b", "abc", "retry-afte", "retry-after-ms", "x-ratelimit-limit-tokens"] {
            assert_eq!(LEXICON.latest(other.as_bytes()), None, "{other}");
        }
    }
}
