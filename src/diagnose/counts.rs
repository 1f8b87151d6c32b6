//! The numbers of one pool at one time, or over a span of time.

use crate::diagnose::number::Number;

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
