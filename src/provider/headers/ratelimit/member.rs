//! Members of structured fields, as far as the `RateLimit` fields need them. No allocation for what is not escaped.

use std::borrow::Cow;
use std::convert::Infallible;

use sfv::visitor::{
    DictionaryVisitor, EntryVisitor, Ignored, InnerListVisitor, ItemVisitor, ListVisitor, ParameterVisitor,
};
use sfv::{BareItemFromInput, KeyRef, Parser};

/// More members than this are read as grammar only.
const MEMBERS: usize = 16;

/// What a member is called. String and token are one: the draft's own examples mix them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Name<'a> {
    Text(Cow<'a, str>),
    Number(u64),
    #[default]
    Other,
}

impl Name<'_> {
    pub(super) fn is(&self, name: &str) -> bool {
        matches!(self, Name::Text(text) if text == name)
    }
}

/// A member with the parameters the draft defines.
#[derive(Clone, Debug, Default)]
pub(super) struct Member<'a> {
    pub(super) name: Name<'a>,
    pub(super) r: Option<u64>,
    pub(super) t: Option<u64>,
    pub(super) q: Option<u64>,
    pub(super) w: Option<u64>,
    pub(super) unit: Option<Cow<'a, str>>,
}

/// The members of a list.
#[derive(Debug, Default)]
pub(super) struct Members<'a> {
    members: [Member<'a>; MEMBERS],
    len: usize,
}

impl<'a> Members<'a> {
    pub(super) fn iter(&self) -> impl Iterator<Item = &Member<'a>> {
        self.members[..self.len].iter()
    }
}

/// The dictionary of draft -07.
#[derive(Debug, Default)]
pub(super) struct Keys {
    pub(super) limit: Option<u64>,
    pub(super) remaining: Option<u64>,
    pub(super) reset: Option<u64>,
}

/// Reads a list; `None` when it is malformed.
pub(super) fn list(field: &[u8]) -> Option<Members<'_>> {
    Parser::new(field).parse_list_with_visitor(Members::default()).ok()
}

/// Reads a dictionary; `None` when it is malformed.
pub(super) fn dictionary(field: &[u8]) -> Option<Keys> {
    Parser::new(field).parse_dictionary_with_visitor(Keys::default()).ok()
}

fn whole(value: &BareItemFromInput<'_>) -> Option<u64> {
    value.as_integer().and_then(|number| u64::try_from(i64::from(number)).ok())
}

fn text(value: BareItemFromInput<'_>) -> Option<Cow<'_, str>> {
    match value {
        BareItemFromInput::Token(token) => Some(Cow::Borrowed(token.as_str())),
        BareItemFromInput::String(Cow::Borrowed(string)) => Some(Cow::Borrowed(string.as_str())),
        BareItemFromInput::String(Cow::Owned(string)) => Some(Cow::Owned(string.into())),
        _ => None,
    }
}

impl<'de> ListVisitor<'de> for Members<'de> {
    type Out = Self;
    type Error = Infallible;

    fn entry(&mut self) -> Result<impl EntryVisitor<'de>, Infallible> {
        let place = self.members.get_mut(self.len);
        self.len = (self.len + 1).min(MEMBERS);
        Ok(place.map(OneMember))
    }

    fn finish(self) -> Result<Self, Infallible> {
        Ok(self)
    }
}

struct OneMember<'m, 'de>(&'m mut Member<'de>);

impl<'de> EntryVisitor<'de> for OneMember<'_, 'de> {
    type Error = Infallible;

    fn item(self) -> Result<impl ItemVisitor<'de>, Infallible> {
        Ok(self)
    }

    fn inner_list(self) -> Result<impl InnerListVisitor<'de>, Infallible> {
        Ok(Ignored)
    }
}

impl<'de> ItemVisitor<'de> for OneMember<'_, 'de> {
    type Out = ();
    type Error = Infallible;

    fn bare_item(self, item: BareItemFromInput<'de>) -> Result<impl ParameterVisitor<'de, Out = ()>, Infallible> {
        self.0.name = match whole(&item) {
            Some(number) => Name::Number(number),
            None => text(item).map_or(Name::Other, Name::Text),
        };
        Ok(self)
    }
}

impl<'de> ParameterVisitor<'de> for OneMember<'_, 'de> {
    type Out = ();
    type Error = Infallible;

    fn parameter(&mut self, key: &'de KeyRef, value: BareItemFromInput<'de>) -> Result<(), Infallible> {
        match key.as_str() {
            "r" => self.0.r = whole(&value),
            "t" => self.0.t = whole(&value),
            "q" => self.0.q = whole(&value),
            "w" => self.0.w = whole(&value),
            "qu" => self.0.unit = text(value),
            _ => {}
        }
        Ok(())
    }

    fn finish(self) -> Result<(), Infallible> {
        Ok(())
    }
}

impl<'de> DictionaryVisitor<'de> for Keys {
    type Out = Self;
    type Error = Infallible;

    fn entry(&mut self, key: &'de KeyRef) -> Result<impl EntryVisitor<'de>, Infallible> {
        Ok(match key.as_str() {
            "limit" => Some(OneKey(&mut self.limit)),
            "remaining" => Some(OneKey(&mut self.remaining)),
            "reset" => Some(OneKey(&mut self.reset)),
            _ => None,
        })
    }

    fn finish(self) -> Result<Self, Infallible> {
        Ok(self)
    }
}

struct OneKey<'m>(&'m mut Option<u64>);

impl<'de> EntryVisitor<'de> for OneKey<'_> {
    type Error = Infallible;

    fn item(self) -> Result<impl ItemVisitor<'de>, Infallible> {
        Ok(self)
    }

    fn inner_list(self) -> Result<impl InnerListVisitor<'de>, Infallible> {
        *self.0 = None;
        Ok(Ignored)
    }
}

impl<'de> ItemVisitor<'de> for OneKey<'_> {
    type Out = ();
    type Error = Infallible;

    fn bare_item(self, item: BareItemFromInput<'de>) -> Result<impl ParameterVisitor<'de, Out = ()>, Infallible> {
        *self.0 = whole(&item);
        Ok(Ignored)
    }
}
