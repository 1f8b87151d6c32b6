//! A text as words: runs of letters, cut also where `CamelCase` begins a new one, and numbers.

/// A word in lower case, packed into a number so that comparing is one step; longer words keep their first 16 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Packed(u128);

impl Packed {
    /// Packs a word written in lower case, when the program is compiled.
    pub(super) const fn of(word: &str) -> u128 {
        let bytes = word.as_bytes();
        let (mut packed, mut i) = (0u128, 0);
        while i < bytes.len() && i < LONGEST {
            packed |= (bytes[i] as u128) << (8 * i);
            i += 1;
        }
        packed
    }

    pub(super) const fn get(self) -> u128 {
        self.0
    }
}

const LONGEST: usize = 16;

/// What a [`Word`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Letters.
    Letters(Packed),
    /// Digits, with what belongs to a number.
    Number,
    /// A slash between words.
    Slash,
}

/// One word of a text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Word {
    pub(super) kind: Kind,
    pub(super) start: usize,
    pub(super) end: usize,
    /// Whether it begins where a phrase may begin: not in the middle of a word.
    pub(super) starts_word: bool,
    /// Whether the word before it ended a sentence.
    pub(super) after_stop: bool,
}

impl Word {
    /// The word in lower case, packed; zero for numbers and slashes.
    pub(super) const fn packed(&self) -> u128 {
        match self.kind {
            Kind::Letters(packed) => packed.get(),
            _ => 0,
        }
    }
}

/// What a byte is to a text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Byte {
    Lower,
    Upper,
    Digit,
    Slash,
    /// Ends a sentence.
    Stop,
    Other,
}

static BYTES: [Byte; 256] = {
    let mut bytes = [Byte::Other; 256];
    let mut i = 0;
    while i < bytes.len() {
        bytes[i] = match i as u8 {
            b'a'..=b'z' => Byte::Lower,
            b'A'..=b'Z' => Byte::Upper,
            b'0'..=b'9' => Byte::Digit,
            b'/' => Byte::Slash,
            b'.' | b'!' | b';' | b'\n' => Byte::Stop,
            _ => Byte::Other,
        };
        i += 1;
    }
    bytes
};

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = ONES << 7;
/// The bit that tells small letters from capitals.
const CASE: u64 = ONES << 5;

/// Which of eight bytes are letters: the high bit of each.
struct Letters {
    lower: u64,
    upper: u64,
}

impl Letters {
    #[inline]
    const fn among(eight: u64) -> Self {
        let as_lower = (eight | CASE) & !HIGH;
        let from_a = as_lower + ONES * (0x80 - b'a' as u64);
        let past_z = as_lower + ONES * (0x7f - b'z' as u64);
        let letters = from_a & !past_z & !eight & HIGH;
        // The bit of the case, moved to the top.
        let small = eight << 2;
        Self { lower: letters & small, upper: letters & !small }
    }

    /// Where a word ends: at what is no letter, and at a capital after a small letter. `after_lower` holds a bit at the
    /// first byte when a small letter stood before it.
    #[inline]
    const fn end(&self, after_lower: u64) -> u64 {
        !(self.lower | self.upper) & HIGH | self.upper & (self.lower << 8 | after_lower)
    }
}

/// The first eight bytes of `text`; what it lacks is zero.
#[inline]
fn eight(text: &[u8]) -> u64 {
    match text.first_chunk() {
        Some(eight) => u64::from_le_bytes(*eight),
        None => text.iter().rev().fold(0, |eight, byte| eight << 8 | u64::from(*byte)),
    }
}

/// The words of a text.
pub(super) struct Words<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Words<'a> {
    pub(super) const fn new(text: &'a [u8]) -> Self {
        Self { text, at: 0 }
    }

    #[inline]
    fn byte(&self, at: usize) -> Byte {
        self.text.get(at).map_or(Byte::Other, |byte| BYTES[usize::from(*byte)])
    }

    /// Where the letters that begin at `start` end, and the word they are. Eight bytes are looked at together.
    #[inline]
    fn letters(&self, start: usize) -> (usize, Packed) {
        let first = eight(&self.text[start..]);
        let letters = Letters::among(first);
        let end = letters.end(0);
        if end != 0 {
            let length = end.trailing_zeros() / 8;
            return (start + length as usize, Packed(u128::from((first | CASE) & !(u64::MAX << (8 * length)))));
        }
        self.long(start, first, letters.lower)
    }

    /// The same of a word of eight letters and more, of which the first eight are known.
    fn long(&self, start: usize, first: u64, lower: u64) -> (usize, Packed) {
        let (mut at, mut packed, mut after_lower) = (start + 8, u128::from(first | CASE), lower >> 56);
        loop {
            let eight = eight(&self.text[at..]);
            let letters = Letters::among(eight);
            let length = letters.end(after_lower).trailing_zeros() as usize / 8;
            if at - start < LONGEST {
                let word = (eight | CASE) & !(u64::MAX.checked_shl(8 * length as u32).unwrap_or(0));
                packed |= u128::from(word) << (8 * (at - start));
            }
            at += length;
            if length < 8 {
                return (at, Packed(packed));
            }
            after_lower = letters.lower >> 56;
        }
    }

    /// Where the URL that begins at `start` ends, if one does: at the next white space.
    fn end_of_url(&self, start: usize) -> Option<usize> {
        let rest = &self.text[start..];
        let scheme = [&b"https://"[..], b"http://"].iter().any(|scheme| rest.starts_with(scheme));
        scheme.then(|| start + rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len()))
    }
}

impl Iterator for Words<'_> {
    type Item = Word;

    #[inline]
    fn next(&mut self) -> Option<Word> {
        let mut after_stop = self.at == 0;
        loop {
            let start = self.at;
            let first = *self.text.get(start)?;
            let byte = BYTES[usize::from(first)];
            if matches!(byte, Byte::Other | Byte::Stop) {
                after_stop |= byte == Byte::Stop;
                self.at += 1;
                continue;
            }
            let before = start.checked_sub(1).map_or(Byte::Other, |at| self.byte(at));
            let starts_word = !matches!(before, Byte::Lower | Byte::Upper | Byte::Digit);
            let kind = match byte {
                Byte::Lower | Byte::Upper => {
                    if first | 0x20 == b'h'
                        && starts_word
                        && let Some(end) = self.end_of_url(start)
                    {
                        self.at = end;
                        continue;
                    }
                    let (end, packed) = self.letters(start);
                    self.at = end;
                    Kind::Letters(packed)
                }
                Byte::Digit => {
                    while self.text.get(self.at).is_some_and(|byte| matches!(byte, b'0'..=b'9' | b'.' | b',')) {
                        self.at += 1;
                    }
                    Kind::Number
                }
                _ => {
                    self.at += 1;
                    Kind::Slash
                }
            };
            return Some(Word { kind, start, end: self.at, starts_word, after_stop });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<&str> {
        Words::new(text.as_bytes()).map(|word| &text[word.start..word.end]).collect()
    }

    #[test]
    fn words_are_cut_at_everything_else_and_at_capitals() {
        assert_eq!(words("GenerateRequestsPerDay-FreeTier"), ["Generate", "Requests", "Per", "Day", "Free", "Tier"]);
        assert_eq!(words("(RPM): 9/8. See https://a.b/c?d=e_f now"), ["RPM", "9", "/", "8.", "See", "now"]);
        assert_eq!(words("15h7m12s, 30,000"), ["15", "h", "7", "m", "12", "s", "30,000"]);
        assert_eq!(words("请求 über"), ["ber"]);
    }

    #[test]
    fn a_word_is_packed_alike_at_the_end_of_a_text_and_in_its_middle() {
        for word in ["a", "tokens", "concurrent", "sixteen-letters!", "internationalisation"] {
            let letters = word.split(|letter: char| !letter.is_ascii_alphabetic()).next().unwrap_or_default();
            for text in [letters.to_owned(), letters.to_uppercase(), format!("{letters} and more than sixteen bytes")] {
                let packed = Words::new(text.as_bytes()).next().map(|word| word.packed());
                assert_eq!(packed, Some(Packed::of(letters)), "{text}");
            }
        }
    }
}
