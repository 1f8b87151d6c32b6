//! Slots as each plan brings them, and what answers, others and idleness make of them.

use super::*;
use crate::core::dice::SeededDice;

fn at(seconds: f64) -> Moment {
    Moment::since_start(Duration::from_secs_f64(seconds))
}

/// The slots taken up to `until` by somebody who always waits, in seconds.
fn slots(plan: Plan, until: f64) -> Vec<f64> {
    let mut dice = SeededDice::new(3);
    let mut pace = Pace::new(Moment::START, plan, &mut dice);
    let (mut now, mut taken) = (Moment::START, Vec::new());
    while now < at(until) {
        now = pace.next_slot();
        assert!(pace.take(now, &mut dice));
        taken.push(now.elapsed_since_start().as_secs_f64());
    }
    taken
}

#[test]
fn slots_of_an_unknown_pool_come_twice_as_fast_each_second() {
    let mut per_second = [0u32; 5];
    for slot in slots(Plan::slow_start(None), 4.99) {
        per_second[(slot as usize).min(4)] += 1;
    }
    for (second, slots) in per_second.iter().enumerate() {
        let expected = 4.0 * f64::from(1u32 << second);
        assert!((f64::from(*slots) / expected - 1.0).abs() < 0.45, "second {second}: {slots} slots");
    }
}

#[test]
fn slots_of_a_bucket_are_one_interval_apart() {
    let slots = slots(Plan::even(Duration::from_millis(300)), 30.0);
    assert!(slots.windows(2).all(|pair| (pair[1] - pair[0] - 0.3).abs() < 1e-6), "{slots:?}");
}

#[test]
fn a_window_grants_its_amount_near_its_beginning_and_never_more() {
    let window = 60.0;
    let slots = slots(Plan::Window { grant: 20, window: Duration::from_secs(60), test_in: None, shared: false }, 200.0);
    assert_eq!(slots.iter().filter(|slot| **slot < 3.0).count(), 20);
    assert_eq!(slots.iter().filter(|slot| (3.0..window).contains(*slot)).count(), 0);
    // Where the window slides, too: no 21 of them in any 60 s.
    assert!(slots.windows(21).all(|slots| slots[20] - slots[0] >= window), "{slots:?}");
}

#[test]
fn unused_slots_are_not_saved_up() {
    let mut dice = SeededDice::new(3);
    let mut pace = Pace::from(Moment::START, None, &mut dice);
    assert!(pace.take(at(0.9), &mut dice));
    assert!(!pace.take(at(0.9), &mut dice));
}

#[test]
fn pacing_is_over_when_a_slot_stays_untaken() {
    let mut dice = SeededDice::new(3);
    let mut pace = Pace::new(Moment::START, Plan::even(Duration::from_secs(3)), &mut dice);
    let next = pace.next_slot();
    assert!(!pace.is_over(next.after(Duration::from_millis(2_900))));
    assert!(pace.is_over(next.after(Duration::from_millis(3_100))));
}

const MINUTE: Duration = Duration::from_secs(60);

fn window(grant: u32, shared: bool) -> Plan {
    Plan::Window { grant, window: MINUTE, test_in: None, shared }
}

/// Takes so many slots as they come; when the last was taken.
fn take(pace: &mut Pace, slots: u32, dice: &mut SeededDice) -> Moment {
    let mut now = Moment::START;
    for _ in 0..slots {
        now = pace.next_slot();
        assert!(pace.take(now, dice));
    }
    now
}

#[test]
fn several_processes_keep_a_few_requests_of_a_bucket_in_reserve() {
    let (second, dice) = (Duration::from_secs(1), &mut SeededDice::new(3));
    let plan = Plan::Even { interval: second, slowest: second * 2, fastest: second / 10 };
    let after = |left, holds, dice: &mut SeededDice| {
        let mut pace = Pace::new(Moment::START, plan, dice);
        pace.left_told(left, 200, holds, at(1.0), dice);
        pace.interval()
    };
    assert!(after(2, 200, dice) > second && after(3, 200, dice) < second);
    // A small one has less to spare, and one of a single request nothing.
    assert!(after(0, 3, dice) > second && after(1, 3, dice) < second && after(0, 1, dice) > second);
    let mut pace = Pace::new(Moment::START, plan, dice);
    (0..100).for_each(|_| pace.left_told(200, 200, 200, at(1.0), dice));
    assert_eq!(pace.interval(), second / 10, "never faster than all of them together");
}

#[test]
fn where_a_window_slides_a_refused_process_goes_on_with_the_rest_of_its_share() {
    let dice = &mut SeededDice::new(3);
    let mut pace = Pace::new(Moment::START, window(20, true), dice);
    let refused_at = take(&mut pace, 8, dice);
    let start = refused_at.after(Duration::from_secs(1));
    let slides = pace.resumed((refused_at, 1), start, window(20, true), true, dice);
    assert_eq!(slides.allowed - slides.taken, 13);
    assert_eq!(slides.ends, pace.ends.after(Duration::from_secs(1)));
    let anew = pace.resumed((refused_at, 1), start, window(20, true), false, dice);
    assert_eq!(anew.allowed - anew.taken, 20, "the next window");
}

#[test]
fn what_others_left_of_a_window_is_asked_for_in_the_next() {
    let taken_by = |left, dice: &mut SeededDice| {
        let mut pace = Pace::new(Moment::START, window(2, true), dice);
        take(&mut pace, 2, dice);
        // Too late in its window to go on with it.
        pace.left_told(left, 20, 20, at(59.9), dice);
        take(&mut pace, 2, dice);
        pace.next_slot() < pace.ends
    };
    let dice = &mut SeededDice::new(3);
    assert!(taken_by(5, dice) && !taken_by(0, dice));
}

#[test]
fn a_pace_that_becomes_a_window_takes_only_what_is_left_of_it() {
    let dice = &mut SeededDice::new(3);
    let mut even = Pace::cold(Moment::START, Plan::even(Duration::from_secs(3)));
    let now = take(&mut even, 10, dice).after(Duration::from_secs(1));
    let left = |left, told, dice: &mut SeededDice| {
        let pace = even.windowed(left, told, now, window(20, false), dice);
        (pace.allowed, pace.ends)
    };
    assert_eq!(left(20, None, dice).0, 10, "ten were sent since");
    assert_eq!(left(4, None, dice).0, 4, "others sent some");
    assert_eq!(left(20, Some(at(40.0)), dice).1, at(40.0));
    // One window after the last was sent at 27 s: it may be one that slides.
    assert!(left(20, Some(at(87.0)), dice).1 >= now.after(MINUTE));
}
