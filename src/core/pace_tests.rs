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
