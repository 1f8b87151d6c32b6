//! A scenario's JSON, read so that every mistake is told by the name of its field: `policy.base_s is "6s"; allowed: a
//! number`.
//!
//! What serde makes of JSON by itself tells line and column, takes a list for an object (`"policy": [6, 2]`), and a number
//! written `1.0` for none that is whole. A scenario is written by hand or by a program in another language, so all three
//! matter. The text is read into a tree first; a field given twice is refused there.

use std::fmt;

use serde::de::value::{MapAccessDeserializer, StrDeserializer};
use serde::de::{DeserializeSeed, Deserializer, Error, Expected, MapAccess, SeqAccess, Unexpected, Visitor};
use serde::{Deserialize, forward_to_deserialize_any};
use serde_json::Value;

use super::Scenario;

/// How much of a refused value is shown.
const SHOWN: usize = 60;
/// The largest number up to which every whole one has a form with a fraction of its own.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// The scenario that `json` holds, or what is wrong with it.
pub(super) fn scenario(json: &str) -> Result<Scenario, serde_json::Error> {
    // Some editors begin a file with a mark of its byte order.
    let json = json.strip_prefix('\u{feff}').unwrap_or(json);
    if json.trim().is_empty() {
        return Err(Error::custom("the scenario is empty; {} is the one in which every default holds"));
    }
    let Tree(value) = serde_json::from_str(json)?;
    Scenario::deserialize(Node(value)).map_err(|refused| Error::custom(refused.to_string()))
}

/// JSON without a field that is given twice: of two values only one can be meant, and nobody knows which.
struct Tree(Value);

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Growing)
    }
}

/// Makes a tree of what is read.
struct Growing;

impl<'de> Visitor<'de> for Growing {
    type Value = Tree;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<Tree, E> {
        Ok(Tree(Value::Null))
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Tree, E> {
        Ok(Tree(value.into()))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Tree, E> {
        Ok(Tree(value.into()))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Tree, E> {
        Ok(Tree(value.into()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Tree, E> {
        Ok(Tree(value.into()))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Tree, E> {
        Ok(Tree(value.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Tree, A::Error> {
        let mut values = Vec::new();
        while let Some(Tree(value)) = list.next_element()? {
            values.push(value);
        }
        Ok(Tree(Value::Array(values)))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Tree, A::Error> {
        let mut fields = serde_json::Map::new();
        while let Some((name, Tree(value))) = map.next_entry::<String, _>()? {
            if fields.contains_key(&name) {
                return Err(Error::custom(format!("duplicate field `{name}`")));
            }
            fields.insert(name, value);
        }
        Ok(Tree(Value::Object(fields)))
    }
}

/// What was refused, and where: the names and places on the way to it.
#[derive(Debug)]
struct Refused {
    path: String,
    what: String,
}

impl Refused {
    /// A value that is not of its field's kind.
    fn value(value: &Value, allowed: &str) -> Self {
        let mut shown = value.to_string();
        if let Some((cut, _)) = shown.char_indices().nth(SHOWN) {
            shown.truncate(cut);
            shown.push('…');
        }
        Self::custom(format!("is {shown}; allowed: {allowed}"))
    }

    /// The same, one step further from the root.
    fn below(mut self, step: &str) -> Self {
        let between = if self.path.is_empty() || self.path.starts_with('[') { "" } else { "." };
        self.path = format!("{step}{between}{}", self.path);
        self
    }
}

impl Error for Refused {
    fn custom<T: fmt::Display>(what: T) -> Self {
        Self { path: String::new(), what: what.to_string() }
    }

    fn invalid_type(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        let given = match unexpected {
            Unexpected::UnitVariant => {
                return Self::custom("is a word; allowed: an object that the word names: {\"word\": {}}");
            }
            Unexpected::Bool(value) => value.to_string(),
            Unexpected::Float(value) => value.to_string(),
            Unexpected::Str(text) => format!("{text:?}"),
            Unexpected::Unit => "null".to_owned(),
            Unexpected::Seq => "a list".to_owned(),
            Unexpected::Map => "an object".to_owned(),
            other => other.to_string(),
        };
        Self::custom(format!("is {given}; allowed: {expected}"))
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, what } = self;
        match (path.is_empty(), what.starts_with("is ")) {
            (true, true) => write!(f, "the scenario {what}"),
            (true, false) => f.write_str(what),
            (false, true) => write!(f, "{path} {what}"),
            (false, false) => write!(f, "{path}: {what}"),
        }
    }
}

impl std::error::Error for Refused {}

/// A value on its way into the field that it belongs to.
struct Node(Value);

impl<'de> Deserializer<'de> for Node {
    type Error = Refused;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        match self.0 {
            Value::Null => visitor.visit_unit(),
            Value::Bool(value) => visitor.visit_bool(value),
            Value::String(value) => visitor.visit_string(value),
            // All numbers of a scenario are fractions but the seed, which has a way of its own.
            Value::Number(number) => visitor.visit_f64(number.as_f64().unwrap_or(f64::NAN)),
            Value::Array(values) => visitor.visit_seq(Items { values: values.into_iter(), place: 0 }),
            Value::Object(fields) => visitor.visit_map(Fields { fields: fields.into_iter(), next: None }),
        }
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        match self.0 {
            Value::Number(_) => self.deserialize_any(visitor),
            other => Err(Refused::value(&other, "a number")),
        }
    }

    fn deserialize_u64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        let whole = |number: f64| number.fract() == 0.0 && (0.0..=EXACT).contains(&number);
        let of_float = self.0.as_f64().filter(|number| whole(*number)).map(|number| number as u64);
        match self.0.as_u64().or(of_float) {
            Some(number) => visitor.visit_u64(number),
            None => Err(Refused::value(&self.0, "a whole number from 0 to 2^64 - 1")),
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        match self.0 {
            Value::Bool(value) => visitor.visit_bool(value),
            other => Err(Refused::value(&other, "true or false")),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        if self.0.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        match self.0 {
            Value::Array(_) => self.deserialize_any(visitor),
            other => Err(Refused::value(&other, "a list")),
        }
    }

    /// `null` is as good as an object in which nothing is said.
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Refused> {
        match self.0 {
            Value::Object(_) => self.deserialize_any(visitor),
            Value::Null => Self(Value::Object(serde_json::Map::new())).deserialize_any(visitor),
            other => Err(Refused::value(&other, "an object")),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Refused> {
        match self.0 {
            Value::String(word) => visitor.visit_enum(StrDeserializer::<Refused>::new(&word)),
            Value::Object(fields) if fields.len() == 1 => {
                let fields = Fields { fields: fields.into_iter(), next: None };
                visitor.visit_enum(MapAccessDeserializer::new(fields))
            }
            other => Err(Refused::value(&other, &format!("one of {}", variants.join(", ")))),
        }
    }

    forward_to_deserialize_any! {
        i8 i16 i32 i64 i128 u8 u16 u32 u128 f32 char str string bytes byte_buf unit unit_struct newtype_struct tuple
        tuple_struct map identifier ignored_any
    }
}

/// The items of a list, each with its place.
struct Items {
    values: std::vec::IntoIter<Value>,
    place: usize,
}

impl<'de> SeqAccess<'de> for Items {
    type Error = Refused;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Refused> {
        let Some(value) = self.values.next() else { return Ok(None) };
        self.place += 1;
        let item = seed.deserialize(Node(value)).map_err(|refused| refused.below(&format!("[{}]", self.place - 1)));
        item.map(Some)
    }
}

/// The fields of an object, each with its name.
struct Fields {
    fields: serde_json::map::IntoIter,
    next: Option<(String, Value)>,
}

impl<'de> MapAccess<'de> for Fields {
    type Error = Refused;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Refused> {
        self.next = self.fields.next();
        let Some((name, _)) = &self.next else { return Ok(None) };
        seed.deserialize(StrDeserializer::<Refused>::new(name)).map(Some)
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Refused> {
        let (name, value) = self.next.take().unwrap_or_default();
        seed.deserialize(Node(value)).map_err(|refused| refused.below(&name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(json: &str) -> String {
        scenario(json).expect_err(json).to_string()
    }

    #[test]
    fn what_is_of_the_wrong_kind_is_told_by_its_name() {
        for (json, expected) in [
            (r#"{"policy": {"base_s": "6s"}}"#, "policy.base_s is \"6s\"; allowed: a number"),
            (r#"{"policy": [6, 2]}"#, "policy is [6,2]; allowed: an object"),
            (r#"{"others": [{}, {"on_s": []}]}"#, "others[1].on_s is []; allowed: a number"),
            (r#"{"others": {}}"#, "others is {}; allowed: a list"),
            (r#"{"cold_start": 1}"#, "cold_start is 1; allowed: true or false"),
            (r#"{"seed": -1}"#, "seed is -1; allowed: a whole number from 0 to 2^64 - 1"),
            (r#"{"seed": 1.5}"#, "seed is 1.5; allowed: a whole number from 0 to 2^64 - 1"),
            (r#"{"gate": 5}"#, "gate is 5; allowed: one of none, off, local, news, paced, shared"),
            ("[]", "the scenario is []; allowed: an object"),
            ("{\"policy\": {\"bas\": 1}}", "policy: unknown field `bas`, expected one of `base_s`"),
            (r#"{"callers": {"arrivals": {"poisson": {}, "batch": {}}}}"#, "callers.arrivals is {"),
            (r#"{"callers": {"arrivals": "poisson"}}"#, "callers.arrivals is a word; allowed: an object that the word"),
            (r#"{"limit_configured": "no"}"#, "limit_configured is \"no\"; allowed: true, false, or an object"),
        ] {
            let refusal = refusal(json);
            assert!(refusal.starts_with(expected), "{refusal:?}, expected {expected:?}");
        }
    }

    #[test]
    fn what_is_no_json_or_nothing_is_said_to_be_that() {
        assert_eq!(refusal(" \n"), "the scenario is empty; {} is the one in which every default holds");
        assert!(refusal("{\"seed\": NaN}").ends_with("at line 1 column 10"));
        assert!(refusal(r#"{"seed": 1, "seed": 2}"#).starts_with("duplicate field `seed`"));
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        assert!(refusal(&deep).starts_with("recursion limit exceeded"));
        let long = format!("{{\"gate\": [\"{}\"]}}", "é".repeat(1_000));
        assert!(refusal(&long).chars().count() < 160);
    }

    #[test]
    fn null_is_as_good_as_nothing_and_a_whole_number_may_have_a_point() {
        let nothing = Scenario::default();
        for json in ["null", "{}", r#"{"provider": null, "others": null, "callers": {"tokens": null}, "policy": null}"#]
        {
            assert_eq!(scenario(json).expect(json), nothing);
        }
        assert_eq!(scenario("\u{feff}{\"seed\": 7.0}").expect("read").seed, Some(7));
        assert_eq!(scenario("{\"seed\": 18446744073709551615}").expect("read").seed, Some(u64::MAX));
    }
}
