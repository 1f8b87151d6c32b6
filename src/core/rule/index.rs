//! Names looked up without hashing: an index over lists of strings, built when the program is compiled.

/// An index of up to `N` strings by length: most words that are not in it are refused by one comparison of lengths.
///
/// Measured against hashing the name of every header: an answer has about twenty headers, a table reads about six.
#[derive(Debug)]
pub(crate) struct Lexicon<const N: usize> {
    words: [&'static str; N],
    first: [u8; LENGTHS],
    next: [u8; N],
}

const LENGTHS: usize = 64;
const END: u8 = u8::MAX;

impl<const N: usize> Lexicon<N> {
    pub(crate) const fn new() -> Self {
        assert!(N < END as usize, "an index holds at most 254 words");
        Self { words: [""; N], first: [END; LENGTHS], next: [END; N] }
    }

    /// Adds `word` under `number`; words added later are found first.
    pub(crate) const fn add(&mut self, word: &'static str, number: usize) {
        assert!(!word.is_empty() && word.len() < LENGTHS, "a word has 1 to 63 bytes");
        self.words[number] = word;
        self.next[number] = self.first[word.len()];
        self.first[word.len()] = number as u8;
    }

    /// The numbers of all entries equal to `word`, latest first.
    #[inline]
    pub(crate) fn find<'a>(&'a self, word: &'a [u8]) -> impl Iterator<Item = usize> + 'a {
        let mut at = self.first.get(word.len()).copied().unwrap_or(END);
        std::iter::from_fn(move || {
            while at != END {
                let number = usize::from(at);
                at = self.next[number];
                if self.words[number].as_bytes() == word {
                    return Some(number);
                }
            }
            None
        })
    }
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
