//! Waiters in the order they came.
//!
//! A place is a number that is never given twice, so a waiter finds its entry without a search, and one that leaves from
//! the middle leaves a gap. Entries lie in blocks: no waiter pays for room that is kept for others, and a block without
//! waiters is given back however long the one at the head stays.

use std::collections::VecDeque;
use std::task::Waker;

use crate::core::moment::Moment;

/// Entries in a block.
const BLOCK: u64 = 32;

/// Somebody who waits.
#[derive(Debug)]
pub(super) struct Waiter {
    /// When the call arrived.
    pub(super) arrived: Moment,
    pub(super) deadline: Moment,
    pub(super) waker: Waker,
}

/// First come, first served.
#[derive(Debug, Default)]
pub(super) struct Line {
    blocks: VecDeque<Option<Box<Block>>>,
    /// The place of the first entry of the first block.
    first: u64,
    /// Nobody waits before this place.
    head: u64,
    /// The place the next who comes is given.
    next: u64,
    waiters: usize,
    last_arrived: Moment,
}

#[derive(Debug)]
struct Block {
    entries: [Option<Waiter>; BLOCK as usize],
    waiters: u32,
    /// No deadline of the block is earlier.
    earliest: Moment,
}

impl Line {
    pub(super) fn len(&self) -> usize {
        self.waiters
    }

    /// Takes the last place. Calls that ask in another order than they arrived in are taken to have arrived together.
    pub(super) fn join(&mut self, mut waiter: Waiter) -> u64 {
        waiter.arrived = waiter.arrived.max(self.last_arrived);
        self.last_arrived = waiter.arrived;
        let place = self.next;
        if (place - self.first) / BLOCK == self.blocks.len() as u64 {
            self.blocks.push_back(Some(Box::default()));
        }
        if let Some(Some(block)) = self.blocks.back_mut() {
            block.earliest = block.earliest.min(waiter.deadline);
            block.waiters += 1;
            block.entries[(place % BLOCK) as usize] = Some(waiter);
            self.next += 1;
            self.waiters += 1;
        }
        place
    }

    /// Who waits at `place`.
    pub(super) fn at(&mut self, place: u64) -> Option<&mut Waiter> {
        self.entry(place)?.as_mut()
    }

    /// Gives up `place`.
    pub(super) fn leave(&mut self, place: u64) -> Option<Waiter> {
        let left = self.entry(place)?.take()?;
        self.gone(place);
        Some(left)
    }

    /// Who is first, and where.
    pub(super) fn head(&self) -> Option<(u64, &Waiter)> {
        let block = self.blocks.get(self.block_of(self.head)?)?.as_ref()?;
        Some((self.head, block.entries[(self.head % BLOCK) as usize].as_ref()?))
    }

    /// No deadline is earlier than this.
    pub(super) fn earliest_deadline(&self) -> Moment {
        self.blocks.iter().flatten().map(|block| block.earliest).min().unwrap_or(Moment::NEVER)
    }

    /// Everybody in the line.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Waiter> {
        self.blocks.iter().flatten().flat_map(|block| block.entries.iter().flatten())
    }

    /// Takes those out whose deadline is not after `now`.
    pub(super) fn take_due(&mut self, now: Moment, due: &mut Vec<Waker>) {
        for number in 0..self.blocks.len() {
            let first = self.first + number as u64 * BLOCK;
            let Some(Some(block)) = self.blocks.get_mut(number) else { continue };
            if block.earliest > now {
                continue;
            }
            let late = block.entries.iter_mut().filter(|entry| entry.as_ref().is_some_and(|late| late.deadline <= now));
            let before = due.len();
            due.extend(late.filter_map(Option::take).map(|late| late.waker));
            let gone = due.len() - before;
            block.earliest = block.entries.iter().flatten().map(|left| left.deadline).min().unwrap_or(Moment::NEVER);
            block.waiters -= gone as u32;
            self.waiters -= gone;
            // A block that is still being filled is kept.
            if block.waiters == 0 && first + BLOCK <= self.next {
                self.blocks[number] = None;
            }
        }
        self.close_up();
    }

    fn block_of(&self, place: u64) -> Option<usize> {
        Some((place.checked_sub(self.first)? / BLOCK) as usize)
    }

    fn entry(&mut self, place: u64) -> Option<&mut Option<Waiter>> {
        let number = self.block_of(place)?;
        let block = self.blocks.get_mut(number)?.as_mut()?;
        Some(&mut block.entries[(place % BLOCK) as usize])
    }

    /// Somebody left `place`.
    fn gone(&mut self, place: u64) {
        self.waiters -= 1;
        let Some(number) = self.block_of(place) else { return };
        if let Some(Some(block)) = self.blocks.get_mut(number) {
            block.waiters -= 1;
            if block.waiters == 0 && (number + 1 < self.blocks.len() || self.next.is_multiple_of(BLOCK)) {
                self.blocks[number] = None;
            }
        }
        self.close_up();
    }

    /// Moves the head to the first who waits, and gives back what lies before it.
    fn close_up(&mut self) {
        if self.waiters == 0 {
            self.blocks = VecDeque::new();
            self.next = self.next.next_multiple_of(BLOCK);
            (self.first, self.head) = (self.next, self.next);
            return;
        }
        while let Some(None) = self.blocks.front() {
            self.blocks.pop_front();
            self.first += BLOCK;
        }
        self.head = self.head.max(self.first);
        while self.head < self.next && self.head().is_none() {
            // A block that is gone is stepped over whole.
            let gone = self.block_of(self.head).is_some_and(|number| matches!(self.blocks.get(number), Some(None)));
            self.head = if gone { (self.head + 1).next_multiple_of(BLOCK) } else { self.head + 1 };
        }
    }
}

impl Default for Block {
    fn default() -> Self {
        Self { entries: [const { None }; BLOCK as usize], waiters: 0, earliest: Moment::NEVER }
    }
}

#[cfg(test)]
#[path = "line_tests.rs"]
mod tests;
