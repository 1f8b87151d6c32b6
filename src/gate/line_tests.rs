//! The line against a sorted map, step by step, and what it keeps of those who left.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::Wake;
use std::time::Duration;

use proptest::prelude::*;

use super::*;

fn at(seconds: u64) -> Moment {
    Moment::since_start(Duration::from_secs(seconds))
}

fn waiter(arrived: u64, deadline: u64) -> Waiter {
    Waiter { arrived: at(arrived), deadline: at(deadline), waker: Waker::noop().clone() }
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Join {
        deadline: u64,
    },
    /// The so many-th of those who wait.
    Leave(usize),
    HeadLeaves,
    Time(u64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => (1u64..400).prop_map(|deadline| Step::Join { deadline }),
        2 => any::<usize>().prop_map(Step::Leave),
        3 => Just(Step::HeadLeaves),
        1 => (1u64..400).prop_map(Step::Time),
    ];
    prop::collection::vec(step, 0..400)
}

proptest! {
    /// Against a plain sorted map: same head, same number, same deadlines, whoever leaves from where.
    #[test]
    fn a_line_is_a_sorted_map_that_costs_less(steps in steps()) {
        let (mut line, mut model) = (Line::default(), BTreeMap::new());
        for step in steps {
            match step {
                Step::Join { deadline } => {
                    let place = line.join(waiter(0, deadline));
                    prop_assert!(model.insert(place, deadline).is_none());
                }
                Step::Leave(nth) if !model.is_empty() => {
                    let place = *model.keys().nth(nth % model.len()).expect("not empty");
                    prop_assert!(line.leave(place).is_some());
                    prop_assert!(line.leave(place).is_none(), "left twice");
                    model.remove(&place);
                }
                Step::HeadLeaves if !model.is_empty() => {
                    let (place, _) = line.head().expect("not empty");
                    line.leave(place);
                    prop_assert_eq!(model.pop_first().map(|(place, _)| place), Some(place));
                }
                Step::Time(now) => {
                    let mut due = Vec::new();
                    line.take_due(at(now), &mut due);
                    let before = model.len();
                    model.retain(|_, deadline| *deadline > now);
                    prop_assert_eq!(due.len(), before - model.len());
                    let earliest = model.values().min().map_or(Moment::NEVER, |earliest| at(*earliest));
                    prop_assert!(line.earliest_deadline() <= earliest && line.earliest_deadline() > at(now));
                }
                Step::Leave(_) | Step::HeadLeaves => prop_assert!(line.head().is_none()),
            }
            prop_assert_eq!(line.len(), model.len());
            prop_assert_eq!(line.head().map(|(place, _)| place), model.keys().next().copied());
            prop_assert!(line.iter().map(|waiter| waiter.deadline).eq(model.values().map(|deadline| at(*deadline))));
            let earliest = model.values().min().map_or(Moment::NEVER, |earliest| at(*earliest));
            prop_assert!(line.earliest_deadline() <= earliest);
        }
    }
}

#[test]
fn a_head_that_stays_keeps_nothing_of_those_who_left_behind_it() {
    let mut line = Line::default();
    line.join(waiter(0, 1_000));
    for _ in 0..10_000 {
        let place = line.join(waiter(0, 1_000));
        line.leave(place);
    }
    // The head's block and the one being filled; of the others only that they are gone.
    assert_eq!((line.blocks.iter().flatten().count(), line.len()), (2, 1));
    assert_eq!(line.blocks.len(), 10_001usize.div_ceil(BLOCK as usize));
}

#[test]
fn who_asks_later_is_behind_although_it_arrived_a_little_earlier() {
    let mut line = Line::default();
    line.join(waiter(10, 100));
    line.join(waiter(9, 100));
    assert!(line.iter().map(|waiter| waiter.arrived).eq([at(10), at(10)]));
}

#[test]
fn those_whose_deadline_has_come_are_taken_out_with_their_wakers() {
    struct Counts(AtomicU32);
    impl Wake for Counts {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
    let counts = Arc::new(Counts(AtomicU32::new(0)));
    let mut line = Line::default();
    for deadline in 1..=100 {
        line.join(Waiter { waker: Waker::from(Arc::clone(&counts)), ..waiter(0, deadline) });
    }
    let mut due = Vec::new();
    line.take_due(at(70), &mut due);
    due.into_iter().for_each(Waker::wake);
    assert_eq!((counts.0.load(Ordering::Relaxed), line.len(), line.earliest_deadline()), (70, 30, at(71)));
}
