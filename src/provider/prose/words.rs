//! A text as words: runs of letters, cut also where `CamelCase` begins a new one, and numbers.

/// A word in lower case, packed into a number so that comparing is one step; longer words keep their first 16 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Packed(u128);

impl Packed {
    /// Packs a word written in lower case, when the program is compiled.
    pub(super) const fn of(word: &str) -> u128 {
        let bytes = word.as_bytes();
        let (mut packed, mut i) = (0u128, 0);
        while i < bytes.len() {
            packed = packed << 8 | bytes[i] as u128;
            i += 1;
        }
        packed
    }

    pub(super) const fn get(self) -> u128 {
        self.0
    }
}

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
    /// Whether it ends in an `s`.
    pub(super) const fn is_plural(&self) -> bool {
        self.packed() as u8 == b's'
    }

    /// The word in lower case, packed; zero for numbers and slashes.
    pub(super) const fn packed(&self) -> u128 {
        match self.kind {
            Kind::Letters(packed) => packed.get(),
            _ => 0,
        }
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

    fn letters(&mut self, start: usize) -> Packed {
        let mut packed = 0u128;
        let mut at = start;
        while let Some(&byte) = self.text.get(at) {
            let camel = at > start && byte.is_ascii_uppercase() && self.text[at - 1].is_ascii_lowercase();
            if !byte.is_ascii_alphabetic() || camel {
                break;
            }
            if at - start < 16 {
                packed = packed << 8 | u128::from(byte | 0x20);
            }
            at += 1;
        }
        self.at = at;
        Packed(packed)
    }

    /// Skips a URL that begins at `start`: to the next white space.
    fn skip_url(&mut self, start: usize) -> bool {
        let rest = &self.text[start..];
        let scheme = [&b"https://"[..], b"http://"].iter().any(|scheme| rest.starts_with(scheme));
        if scheme {
            let length = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
            self.at = start + length;
        }
        scheme
    }
}

impl Iterator for Words<'_> {
    type Item = Word;

    fn next(&mut self) -> Option<Word> {
        let mut after_stop = self.at == 0;
        loop {
            let start = self.at;
            let byte = *self.text.get(start)?;
            let before = start.checked_sub(1).map_or(b' ', |at| self.text[at]);
            let starts_word = !before.is_ascii_alphanumeric();
            if byte.is_ascii_alphabetic() {
                if byte | 0x20 == b'h' && starts_word && self.skip_url(start) {
                    continue;
                }
                let kind = Kind::Letters(self.letters(start));
                return Some(Word { kind, start, end: self.at, starts_word, after_stop });
            }
            self.at = start + 1;
            if byte.is_ascii_digit() {
                while self.text.get(self.at).is_some_and(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b',')) {
                    self.at += 1;
                }
                return Some(Word { kind: Kind::Number, start, end: self.at, starts_word, after_stop });
            }
            if byte == b'/' {
                return Some(Word { kind: Kind::Slash, start, end: self.at, starts_word, after_stop });
            }
            after_stop |= matches!(byte, b'.' | b'!' | b';' | b'\n');
        }
    }
}
