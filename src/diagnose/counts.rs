//! The numbers of one pool at one time, or over a span of time.

use crate::diagnose::number::{Number, Part};
use crate::event::catalogue::Metric;

/// What was offered under one policy.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Demand {
    /// The policy's name, as it stands in labels.
    pub(crate) policy: String,
    /// Calls.
    pub(crate) calls: f64,
    /// Their deadlines added up, in seconds.
    pub(crate) deadline_seconds: f64,
}

/// Every number of a pool. Counters at a time, or what they rose by over a span.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Counts {
    numbers: [f64; Number::ALL.len()],
    policies: Vec<Demand>,
}

impl Default for Counts {
    fn default() -> Self {
        Self { numbers: [0.0; Number::ALL.len()], policies: Vec::new() }
    }
}

impl Counts {
    /// One number.
    pub(crate) const fn get(&self, number: Number) -> f64 {
        self.numbers[number as usize]
    }

    /// Adds to one number.
    pub(crate) fn add(&mut self, number: Number, more: f64) {
        self.numbers[number as usize] += more;
    }

    /// Adds a series, as its name in Prometheus, with the suffix of a histogram's, and its labels say what it is. Whatever
    /// nothing is made of is passed over.
    pub(crate) fn note<'l>(&mut self, name: &str, label: impl Fn(&str) -> Option<&'l str>, value: f64) {
        let (family, part) = match (name.strip_suffix("_count"), name.strip_suffix("_sum")) {
            (Some(family), _) => (family, Part::Count),
            (_, Some(family)) => (family, Part::Seconds),
            _ => (name, Part::Count),
        };
        if let Some(metric) = Metric::find(family) {
            self.note_part(metric, part, label, value);
        }
    }

    /// Adds a part of a metric's series with these labels.
    pub(crate) fn note_part<'l>(
        &mut self,
        metric: Metric,
        part: Part,
        label: impl Fn(&str) -> Option<&'l str>,
        value: f64,
    ) {
        if !value.is_finite() {
            return;
        }
        for number in Number::ALL {
            let selector = number.selector();
            if selector.metric == metric && selector.part == part && selector.takes(&label) {
                self.add(*number, value);
            }
        }
        match (metric, part, label("policy")) {
            (Metric::Calls, _, Some(policy)) => self.policy_mut(policy).calls += value,
            (Metric::CallDeadline, Part::Seconds, Some(policy)) => self.policy_mut(policy).deadline_seconds += value,
            _ => {}
        }
    }

    /// What was offered, by policy.
    pub(crate) fn policies(&self) -> &[Demand] {
        &self.policies
    }

    /// What was offered under a policy; nothing at first.
    pub(crate) fn policy_mut(&mut self, name: &str) -> &mut Demand {
        let place = self.policies.iter().position(|demand| demand.policy == name).unwrap_or_else(|| {
            self.policies.push(Demand { policy: name.to_owned(), ..Demand::default() });
            self.policies.len() - 1
        });
        &mut self.policies[place]
    }

    /// What these rose by since they were `before`. What fell was counted anew: it rose by what it is.
    pub(crate) fn since(&self, before: &Self) -> Self {
        let rise = |now: f64, before: f64| if now >= before { now - before } else { now };
        let mut risen = self.clone();
        for (now, before) in risen.numbers.iter_mut().zip(&before.numbers) {
            *now = rise(*now, *before);
        }
        for now in &mut risen.policies {
            let Some(before) = before.policies.iter().find(|before| before.policy == now.policy) else { continue };
            now.calls = rise(now.calls, before.calls);
            now.deadline_seconds = rise(now.deadline_seconds, before.deadline_seconds);
        }
        risen
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_that_fell_was_counted_anew() {
        let counted = |calls: f64, chat: f64| {
            let mut counts = Counts::default();
            counts.add(Number::Calls, calls);
            counts.policy_mut("chat").calls = chat;
            counts
        };
        let risen = counted(150.0, 150.0).since(&counted(100.0, 90.0));
        assert_eq!((risen.get(Number::Calls), risen.policies()[0].calls), (50.0, 60.0));
        let restarted = counted(30.0, 30.0).since(&counted(100.0, 90.0));
        assert_eq!((restarted.get(Number::Calls), restarted.policies()[0].calls), (30.0, 30.0));
    }
}
