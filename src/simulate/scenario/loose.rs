//! JSON values that may have one of several shapes, read so that errors keep their names.
//!
//! An untagged enum would answer every mistake with "did not match any variant"; here the shape decides which variant is
//! read, and that variant's own error is told.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// `null` is as good as nothing.
pub(super) fn null_is_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

/// A switch, or an object.
pub(super) enum SwitchOr<T> {
    /// Yes or no.
    Switch(bool),
    /// What stands in the object.
    Other(T),
}

/// A word, or an object.
pub(super) enum WordOr<T> {
    /// The word.
    Word(String),
    /// What stands in the object.
    Other(T),
}

/// A number, a word, or a list.
pub(super) enum NumberOr<T> {
    /// The number.
    Number(f64),
    /// The word.
    Word(String),
    /// What stands in the list.
    List(Vec<T>),
}

/// Writes the visitor of one enum: the method of each shape it may have.
macro_rules! shapes {
    ($name:ident, $expecting:literal, { $($method:tt)* }) => {
        impl<'de, T: Deserialize<'de>> Deserialize<'de> for $name<T> {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Shapes<T>(PhantomData<T>);
                impl<'de, T: Deserialize<'de>> Visitor<'de> for Shapes<T> {
                    type Value = $name<T>;

                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str($expecting)
                    }

                    $($method)*
                }
                deserializer.deserialize_any(Shapes(PhantomData))
            }
        }
    };
}

shapes!(SwitchOr, "true, false, or an object", {
    fn visit_bool<E: Error>(self, switch: bool) -> Result<Self::Value, E> {
        Ok(SwitchOr::Switch(switch))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(SwitchOr::Other)
    }
});

shapes!(WordOr, "a word, or an object", {
    fn visit_str<E: Error>(self, word: &str) -> Result<Self::Value, E> {
        Ok(WordOr::Word(word.to_owned()))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(WordOr::Other)
    }
});

shapes!(NumberOr, "a number, a word, or a list", {
    fn visit_f64<E: Error>(self, number: f64) -> Result<Self::Value, E> {
        Ok(NumberOr::Number(number))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Self::Value, E> {
        Ok(NumberOr::Number(number as f64))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Self::Value, E> {
        Ok(NumberOr::Number(number as f64))
    }

    fn visit_str<E: Error>(self, word: &str) -> Result<Self::Value, E> {
        Ok(NumberOr::Word(word.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Self::Value, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(seq)).map(NumberOr::List)
    }
});
