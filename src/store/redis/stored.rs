//! A pool's entry as it is read, field by field. What is read is not trusted.

use crate::core::moment::Moment;
use crate::store::news::{News, Phase, Stamp, clamp, class_from_word, end_from_word, number};
use crate::store::order::Order;

/// Pools read in one trip.
pub(super) const READ_AT_ONCE: usize = 500;
/// The fields that are read, in this order.
pub(super) const FIELDS: &[&str] = &[
    "born",
    "version",
    "round",
    "strikes",
    "phase",
    "end",
    "class",
    "until",
    "by",
    "held_at",
    "held_until",
    "held_every",
    "held_by",
    "held_why",
];

/// An entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stored {
    pub(super) news: News,
    /// The replica whose report holds.
    pub(super) by: String,
    /// What an operator ordered last.
    pub(super) order: Option<Order>,
}

impl Stored {
    /// Reads an entry at the server's time `server_ms`; `None` if there is none, or if it is not one.
    pub(super) fn parse(fields: &[Option<String>], server_ms: u64) -> Option<Self> {
        let (fields, held) = fields.split_at_checked(9)?;
        let [born, version, round, strikes, phase, end, class, until, by] = fields else { return None };
        let [born, version, round, strikes, until] =
            [born, version, round, strikes, until].map(|field| field.as_deref().and_then(number));
        let class = class_from_word(class.as_deref()?)?;
        let phase = match phase.as_deref()? {
            "shut" => Phase::Shut,
            "ramp" => Phase::Ramp,
            _ => return None,
        };
        let left = std::time::Duration::from_millis(until?.saturating_sub(server_ms));
        let (left, clamped) = clamp(class, left);
        let news = News {
            stamp: Stamp { born_ms: born?, version: version? },
            round: round?,
            strikes: u32::try_from(strikes?).ok()?,
            phase,
            end: end_from_word(end.as_deref()?)?,
            class,
            left,
            clamped,
            server_ms,
        };
        Some(Self { news, by: by.clone().unwrap_or_default(), order: ordered(held, server_ms) })
    }

    /// When its shut ends by the own clock, if it is one.
    pub(super) fn ends(&self, now: Moment) -> Option<Moment> {
        (self.news.phase == Phase::Shut && !self.news.left.is_zero()).then(|| now.after(self.news.left))
    }

    /// The answer to `TIME`, in milliseconds.
    pub(super) fn server_ms(time: &[Option<String>]) -> Option<u64> {
        let [Some(seconds), Some(micros)] = time else { return None };
        Some(number(seconds)?.checked_mul(1_000)? + number(micros)? / 1_000)
    }
}

/// What an operator ordered, by its fields.
fn ordered(fields: &[Option<String>], server_ms: u64) -> Option<Order> {
    let [given_at, until, every, by, reason] = fields else { return None };
    let [given_at, until, every] = [given_at, until, every].map(|field| field.as_deref().and_then(number));
    Order::read(given_at?, until?.saturating_sub(server_ms), every?, by.as_deref()?, reason.as_deref()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(text: &str) -> Vec<Option<String>> {
        let mut fields: Vec<_> = text.split(' ').map(|field| (field != "-").then(|| field.to_owned())).collect();
        fields.resize(FIELDS.len(), None);
        fields
    }

    #[test]
    fn an_entry_is_read_as_it_was_written_and_its_end_cut_to_what_its_class_allows() {
        let stored = Stored::parse(&fields("1000 3 2 1 shut stated request_rate 9000 r-1"), 4_000).expect("an entry");
        assert_eq!((stored.news.left.as_millis(), stored.news.clamped, stored.by.as_str()), (5_000, false, "r-1"));
        let hostile = Stored::parse(&fields("1000 3 2 1 shut stated request_rate 99999999999999 r-1"), 4_000);
        let hostile = hostile.expect("an entry").news;
        assert_eq!((hostile.left.as_secs(), hostile.clamped), (3_600, true));
    }

    #[test]
    fn an_order_is_read_beside_what_the_provider_said() {
        let text = "1000 0 0 0 ramp guessed unknown 0 - 3900 9000 500 alice export";
        let order = Stored::parse(&fields(text), 4_000).expect("an entry").order.expect("an order");
        assert_eq!((order.given_at, order.left.as_millis(), order.every.as_millis()), (3_900, 5_000, 500));
        assert_eq!(Stored::parse(&fields(&text.replace("9000", "x")), 4_000).expect("an entry").order, None);
    }

    #[test]
    fn what_is_no_entry_is_none() {
        let good = "1000 3 2 1 shut stated request_rate 9000 r-1";
        for at in 0..8 {
            for wrong in ["-", "x", "-5", "1e9"] {
                let mut text: Vec<&str> = good.split(' ').collect();
                text[at] = wrong;
                assert_eq!(Stored::parse(&fields(&text.join(" ")), 4_000), None, "{text:?}");
            }
        }
        assert_eq!(Stored::parse(&fields("- - - - - - - - -"), 1), None);
        assert_eq!(Stored::parse(&[], 1), None);
        assert_eq!(Stored::server_ms(&fields("5 250000")[..2]), Some(5_250));
        assert_eq!(Stored::server_ms(&fields("5 -")[..2]), None);
    }
}
