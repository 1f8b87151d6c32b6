//! A call under way in a world.

use crate::core::call::Call;
use crate::core::decide::DelaySource;
use crate::core::estimate::Estimate;
use crate::core::moment::Moment;
use crate::emulator::limits::Cost;
use crate::simulate::provider::Answer;
use crate::simulate::world::queue::Place;

/// A call, and what its next step must know of the last.
#[derive(Debug)]
pub(super) struct Going {
    /// The engine's own state machine of it.
    pub(super) core: Call,
    /// Which kind of call it is.
    pub(super) class: usize,
    /// The replica it arrived at.
    pub(super) replica: usize,
    /// What its requests cost.
    pub(super) cost: Cost,
    /// What the engine expects them to cost.
    pub(super) estimate: Option<Estimate>,
    /// Whether it arrived in the measured time.
    pub(super) measured: bool,
    /// When its wait, at the gate or between attempts, or its attempt began.
    pub(super) since: Moment,
    /// Where its wait between attempts came from, or the wait before its attempt.
    pub(super) source: DelaySource,
    /// Its place in the queue, while it waits there.
    pub(super) place: Option<Place>,
    /// Whether it has asked from there.
    pub(super) queued: bool,
    /// The last moment at which it is worth the attempt it waits for.
    pub(super) latest: Moment,
    /// When the attempt under way is cut.
    pub(super) cut: Moment,
    /// Whether the attempt under way tests a shut pool.
    pub(super) probe: bool,
    /// Whether it had to ask, and was let in.
    pub(super) let_in: bool,
    /// What the request under way is going to be answered.
    pub(super) answer: Option<Answer>,
    /// How often the client below has repeated the request of this attempt.
    pub(super) resent: u32,
}

impl Going {
    /// A call that arrives now.
    pub(super) const fn arrives(now: Moment, class: usize, replica: usize, cost: Cost, measured: bool) -> Self {
        Self {
            core: Call::start(now),
            class,
            replica,
            cost,
            estimate: None,
            measured,
            since: now,
            source: DelaySource::None,
            place: None,
            queued: false,
            latest: Moment::NEVER,
            cut: Moment::NEVER,
            probe: false,
            let_in: false,
            answer: None,
            resent: 0,
        }
    }
}

/// The calls under way, each in a slot that another may have after it.
#[derive(Debug, Default)]
pub(super) struct Calls {
    /// Each call in its slot, unless it is making a step.
    slots: Vec<Option<Box<Going>>>,
    /// The slots that nobody has.
    free: Vec<usize>,
}

impl Calls {
    /// Gives a call a slot.
    pub(super) fn add(&mut self, going: Going) -> usize {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            self.slots.len() - 1
        });
        self.slots[slot] = Some(Box::new(going));
        slot
    }

    /// The call in `slot`, which is taken out until it is put back: nobody else needs it while it makes a step.
    pub(super) fn take(&mut self, slot: usize) -> Option<Box<Going>> {
        self.slots.get_mut(slot)?.take()
    }

    /// The call is done with its step and goes on.
    pub(super) fn put_back(&mut self, slot: usize, going: Box<Going>) {
        self.slots[slot] = Some(going);
    }

    /// The call that was in `slot` has ended.
    pub(super) fn free(&mut self, slot: usize) {
        self.free.push(slot);
    }

    /// Where the call in `slot` waits, if it does.
    pub(super) fn place(&self, slot: usize) -> Option<Place> {
        self.slots.get(slot)?.as_ref()?.place
    }

    /// How many have not ended.
    pub(super) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }
}
