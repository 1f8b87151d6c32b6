//! A small part of what `tests/bench/src/bin/numbers.rs` measures, with cases that are the same each time.

use forbear::core::dice::SeededDice;

use crate::fit::cases::Shape;
use crate::fit::{Sorted, predicted, suggested};

#[test]
fn suggested_numbers_keep_up_with_the_best_of_a_sweep() {
    let mut dice = SeededDice::new(7);
    let cases = [Shape::Steady, Shape::Steady, Shape::Steady, Shape::Bursts, Shape::Bursts];
    let compared: Vec<_> =
        cases.map(|shape| suggested::compare(shape, 200.0, &mut dice).expect("in range")).into_iter().collect();
    let ratios = Sorted::of(compared.iter().map(suggested::Compared::ratio));
    assert!(ratios.quantile(0.5) >= 0.98, "{compared:#?}");
}

#[test]
fn a_check_foretells_what_happens() {
    let mut dice = SeededDice::new(8);
    for _ in 0..20 {
        let compared = predicted::compare(400, &mut dice).expect("in range");
        // Two standard errors of 400 calls are 5 points.
        assert!(compared.gives_up_apart() < 0.08 && compared.wasted_apart() < 0.15, "{compared:?}");
    }
}
