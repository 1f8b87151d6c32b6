//! A gate by hand: shuts, strikes, probes, and the way back.

use super::*;
use crate::core::dice::SeededDice;
use crate::core::signal::{Dimension, Part, QuotaWindow, Quotas, Signal, StatedDelay, TokenKind};

const S: Duration = Duration::from_secs(1);

fn at(seconds: f64) -> Moment {
    Moment::since_start(Duration::from_secs_f64(seconds))
}

fn stating(class: LimitClass, seconds: f64) -> Signal {
    Signal::throttle(class).stating(StatedDelay::new(Duration::from_secs_f64(seconds), Part::Header, "retry-after"))
}

fn pass_of(admission: Admission) -> Pass {
    match admission {
        Admission::Pass(pass) => pass,
        Admission::Hold(hold) => panic!("held: {hold:?}"),
    }
}

fn shut_of(gate: &mut Gate, now: Moment) -> Option<Shut> {
    match gate.look(now, &mut SeededDice::new(1)) {
        Look::Shut(shut) => Some(shut),
        _ => None,
    }
}

#[test]
fn a_stated_wait_shuts_until_then_and_at_least_for_the_floor() {
    let mut dice = SeededDice::new(1);
    for (stated, expected) in [(0.02, 1.0), (0.0, 1.0), (7.0, 7.0), (1e9, 3_600.0)] {
        let mut gate = Gate::new(S);
        let pass = pass_of(gate.take(at(0.0), &mut dice));
        let shut = gate.throttled(pass, &stating(LimitClass::RequestRate, stated), at(0.0), &mut dice).expect("shut");
        assert_eq!(shut.until, at(expected), "stated {stated}");
        assert!(shut.told());
    }
}

#[test]
fn a_burst_of_throttles_is_one_strike_and_one_round() {
    let mut dice = SeededDice::new(1);
    let mut gate = Gate::new(S);
    let passes: Vec<Pass> = (0..64).map(|_| pass_of(gate.take(at(0.0), &mut dice))).collect();
    for pass in passes {
        let _ = gate.throttled(pass, &Signal::throttle(LimitClass::Unknown), at(0.1), &mut dice);
    }
    assert_eq!((gate.strikes(), gate.round()), (1, 1));
    assert_eq!(shut_of(&mut gate, at(0.2)).expect("shut").until, at(1.1));
}

#[test]
fn guesses_double_with_strikes_up_to_a_minute_and_overload_to_half_of_one() {
    for (class, longest) in [(LimitClass::Unknown, 60.0), (LimitClass::Overload, 30.0)] {
        let mut dice = SeededDice::new(1);
        let mut gate = Gate::new(S);
        let mut now = at(0.0);
        let mut waits = Vec::new();
        for _ in 0..8 {
            let pass = pass_of(gate.take(now, &mut dice));
            let shut = gate.throttled(pass, &Signal::throttle(class), now, &mut dice).expect("shut");
            waits.push(now.until(shut.until).as_secs_f64());
            now = shut.until.after(Duration::from_millis(300));
        }
        assert_eq!(waits[..5], [1.0, 2.0, 4.0, 8.0, 16.0]);
        assert_eq!(waits[7], longest, "{class}");
    }
}

#[test]
fn nobody_passes_before_the_end_and_then_one_after_another() {
    let mut dice = SeededDice::new(1);
    let mut gate = Gate::new(S);
    let pass = pass_of(gate.take(at(0.0), &mut dice));
    let _ = gate.throttled(pass, &stating(LimitClass::RequestRate, 5.0), at(0.0), &mut dice);
    let mut passed = Vec::new();
    let mut now = at(0.0);
    while now < at(7.0) {
        if let Admission::Pass(_) = gate.take(now, &mut dice) {
            passed.push(now);
        }
        now = now.after(Duration::from_millis(1));
    }
    assert!(passed[0] >= at(5.0), "{:?}", passed[0]);
    assert!((8..=20).contains(&passed.len()), "{}", passed.len());
    assert!(passed.windows(2).all(|pair| pair[0].until(pair[1]) >= Duration::from_millis(50)));
}

#[test]
fn a_daily_limit_without_an_end_holds_for_26_hours_and_a_stated_one_replaces_it() {
    let mut dice = SeededDice::new(1);
    let mut gate = Gate::new(S);
    let pass = pass_of(gate.take(at(0.0), &mut dice));
    let _ = gate.throttled(pass, &Signal::throttle(LimitClass::Daily), at(0.0), &mut dice);
    assert_eq!(shut_of(&mut gate, at(1.0)).expect("shut").until, at(26.0 * 3_600.0));
    let _ = gate.throttled(pass, &stating(LimitClass::RequestRate, 30.0), at(1.0), &mut dice);
    assert_eq!(shut_of(&mut gate, at(1.0)).expect("shut").class, LimitClass::Daily);
    let _ = gate.throttled(pass, &stating(LimitClass::Daily, 600.0), at(2.0), &mut dice);
    assert_eq!(shut_of(&mut gate, at(2.0)).expect("shut").until, at(602.0));
}

#[test]
fn a_long_shut_lets_one_probe_through_every_five_minutes() {
    let mut dice = SeededDice::new(1);
    let mut gate = Gate::new(S);
    let pass = pass_of(gate.take(at(0.0), &mut dice));
    let _ = gate.throttled(pass, &Signal::throttle(LimitClass::Spend), at(0.0), &mut dice);
    assert!(matches!(gate.take(at(299.0), &mut dice), Admission::Hold(_)));
    let probe = pass_of(gate.take(at(300.0), &mut dice));
    assert!(probe.probe);
    assert!(matches!(gate.take(at(300.0), &mut dice), Admission::Hold(_)), "one probe, not two");
    // It is throttled: the shut is renewed and the next probe is five minutes away.
    let renewed = gate.throttled(probe, &Signal::throttle(LimitClass::Spend), at(300.1), &mut dice).expect("renewed");
    assert_eq!(renewed.until, at(3_900.1));
    assert!(matches!(gate.take(at(600.0), &mut dice), Admission::Hold(_)));
    // The bill was paid: the next one is not throttled for 1.5 s, and the pool reopens, paced.
    assert!(pass_of(gate.take(at(600.1), &mut dice)).probe);
    assert!(matches!(gate.look(at(601.5), &mut dice), Look::Shut(_)));
    assert!(matches!(gate.look(at(601.6), &mut dice), Look::Paced(_)));
}

#[test]
fn a_probe_that_said_nothing_is_given_back_at_once() {
    let mut dice = SeededDice::new(1);
    let mut gate = Gate::new(S);
    let pass = pass_of(gate.take(at(0.0), &mut dice));
    let _ = gate.throttled(pass, &Signal::throttle(LimitClass::Daily), at(0.0), &mut dice);
    let probe = pass_of(gate.take(at(300.0), &mut dice));
    gate.unknown(probe, at(300.5));
    assert!(pass_of(gate.take(at(300.5), &mut dice)).probe);
}

#[test]
fn a_success_sent_before_the_shut_does_not_reopen_it() {
    let mut dice = SeededDice::new(1);
    let mut gate = Gate::new(S);
    let early = pass_of(gate.take(at(0.0), &mut dice));
    let late = pass_of(gate.take(at(0.0), &mut dice));
    let _ = gate.throttled(late, &stating(LimitClass::RequestRate, 20.0), at(0.1), &mut dice);
    assert!(!gate.succeeded(early, at(3.0), &mut dice));
    assert!(shut_of(&mut gate, at(3.0)).is_some());
}

#[test]
fn a_request_larger_than_the_limit_shuts_nothing() {
    let mut dice = SeededDice::new(1);
    let mut gate = Gate::new(S);
    let pass = pass_of(gate.take(at(0.0), &mut dice));
    let mut signal = Signal::throttle(LimitClass::TokenThroughput);
    signal.larger_than_limit = true;
    assert_eq!(gate.throttled(pass, &signal, at(0.0), &mut dice), None);
}

#[test]
fn a_throttle_while_paced_shuts_again_and_counts_a_strike() {
    let mut dice = SeededDice::new(1);
    let mut gate = Gate::new(S);
    let pass = pass_of(gate.take(at(0.0), &mut dice));
    let _ = gate.throttled(pass, &Signal::throttle(LimitClass::RequestRate), at(0.0), &mut dice);
    let again = pass_of(gate.take(at(1.3), &mut dice));
    let shut = gate.throttled(again, &Signal::throttle(LimitClass::RequestRate), at(1.4), &mut dice).expect("shut");
    assert_eq!((gate.strikes(), shut.until), (2, at(3.4)));
}

#[test]
fn a_probe_whose_head_told_of_a_throttle_is_no_good_one() {
    let mut dice = SeededDice::new(1);
    let mut gate = Gate::new(S);
    let pass = pass_of(gate.take(at(0.0), &mut dice));
    let _ = gate.throttled(pass, &stating(LimitClass::Daily, 40_000.0), at(0.0), &mut dice);
    let probe = pass_of(gate.take(at(300.0), &mut dice));
    // Told as soon as its head came, by someone who does not know that it is a probe.
    let _ = gate.throttled(Pass { probe: false, ..probe }, &stating(LimitClass::Daily, 39_700.0), at(300.1), &mut dice);
    assert!(shut_of(&mut gate, at(310.0)).is_some(), "its body is still read, and 1.5 s are over");
    let strikes = gate.strikes();
    let _ = gate.throttled(probe, &stating(LimitClass::Daily, 39_690.0), at(310.0), &mut dice);
    assert_eq!(gate.strikes(), strikes, "told twice, one strike");
    assert!(matches!(gate.take(at(599.0), &mut dice), Admission::Hold(_)));
    assert!(pass_of(gate.take(at(600.1), &mut dice)).probe);
}

#[test]
fn a_probe_of_an_earlier_round_that_succeeds_late_does_not_reopen_a_later_shut() {
    let mut dice = SeededDice::new(1);
    let mut gate = Gate::new(S);
    let pass = pass_of(gate.take(at(0.0), &mut dice));
    let _ = gate.throttled(pass, &Signal::throttle(LimitClass::Spend), at(0.0), &mut dice);
    let slow_probe = pass_of(gate.take(at(300.0), &mut dice));
    // Not throttled for 1.5 s: the pool reopens, and the next call is throttled.
    let next = pass_of(gate.take(at(303.0), &mut dice));
    let _ = gate.throttled(next, &stating(LimitClass::RequestRate, 600.0), at(303.1), &mut dice);
    assert!(!gate.succeeded(slow_probe, at(310.0), &mut dice));
    assert_eq!(shut_of(&mut gate, at(310.0)).expect("shut").until, at(903.1));
}

#[test]
fn a_stated_end_is_not_lost_when_an_assumed_one_that_covered_it_turns_out_shorter() {
    let mut dice = SeededDice::new(1);
    let mut gate = Gate::new(S);
    let pass = pass_of(gate.take(at(0.0), &mut dice));
    let _ = gate.throttled(pass, &stating(LimitClass::RequestRate, 3_000.0), at(0.0), &mut dice);
    let _ = gate.throttled(pass, &Signal::throttle(LimitClass::Spend), at(1.0), &mut dice);
    assert_eq!(shut_of(&mut gate, at(1.0)).expect("shut").until, at(3_601.0));
    let _ = gate.throttled(pass, &stating(LimitClass::Spend, 10.0), at(2.0), &mut dice);
    let shut = shut_of(&mut gate, at(20.0)).expect("the request rate was told 3,000 s");
    assert_eq!((shut.until, shut.class), (at(3_000.0), LimitClass::RequestRate));
}

#[test]
fn what_was_stated_before_the_pool_reopened_is_forgotten() {
    let mut dice = SeededDice::new(1);
    for by_a_word in [true, false] {
        let mut gate = Gate::new(S);
        let pass = pass_of(gate.take(at(0.0), &mut dice));
        let _ = gate.throttled(pass, &stating(LimitClass::RequestRate, 3_000.0), at(0.0), &mut dice);
        let probe = pass_of(gate.take(at(300.0), &mut dice));
        assert!(!by_a_word || gate.succeeded(probe, at(300.2), &mut dice));
        let next = pass_of(gate.take(at(310.0), &mut dice));
        let shut = gate.throttled(next, &stating(LimitClass::RequestRate, 5.0), at(310.0), &mut dice).expect("shut");
        assert_eq!(shut.until, at(315.0));
    }
}

fn concurrency() -> Signal {
    Signal::throttle(LimitClass::Concurrency)
}

fn passes(gate: &mut Gate, in_flight: u32, seconds: f64) -> bool {
    let ask = Ask::at(at(seconds)).with_in_flight(in_flight);
    matches!(gate.peek_for(ask, &mut SeededDice::new(1)), Admission::Pass(_))
}

#[test]
fn a_concurrency_throttle_lowers_the_number_in_flight_and_shuts_nothing() {
    let mut dice = SeededDice::new(1);
    let mut gate = Gate::new(S);
    let pass = pass_of(gate.take(at(0.0), &mut dice));
    assert_eq!(gate.throttled_among(9, pass, &concurrency(), at(0.1), &mut dice), None);
    assert_eq!((gate.in_flight_limit(), gate.strikes()), (Some(8), 0));
    assert!(passes(&mut gate, 7, 0.2) && !passes(&mut gate, 8, 0.2));
    let Admission::Hold(hold) = gate.peek_for(Ask::at(at(0.2)).with_in_flight(8), &mut dice) else { panic!("full") };
    assert_eq!((hold.class, hold.shut), (LimitClass::Concurrency, None));
    assert_ne!(gate.look(at(0.2), &mut dice), Look::Flowing, "calls must ask");
}

#[test]
fn the_number_in_flight_grows_back_while_nobody_is_throttled_for_it() {
    let mut dice = SeededDice::new(1);
    let mut gate = Gate::new(S);
    let pass = pass_of(gate.take(at(0.0), &mut dice));
    let _ = gate.throttled_among(4, pass, &concurrency(), at(0.1), &mut dice);
    let in_flight = (1..40).fold(0, |in_flight, second| {
        let seconds = f64::from(second);
        (in_flight..).find(|in_flight| !passes(&mut gate, *in_flight, seconds)).expect("it is limited")
    });
    assert_eq!(in_flight, 10, "three, and one more every five seconds");
}

#[test]
fn a_number_in_flight_that_held_nobody_for_long_is_forgotten() {
    let mut dice = SeededDice::new(1);
    let mut gate = Gate::new(S);
    let pass = pass_of(gate.take(at(0.0), &mut dice));
    let _ = gate.throttled_among(4, pass, &concurrency(), at(0.1), &mut dice);
    assert_eq!(gate.look(at(301.0), &mut dice), Look::Flowing);
    assert_eq!(gate.in_flight_limit(), None);
}

#[test]
fn a_probe_that_meets_too_many_under_way_is_given_back() {
    let mut dice = SeededDice::new(1);
    let mut gate = Gate::new(S);
    let pass = pass_of(gate.take(at(0.0), &mut dice));
    let _ = gate.throttled(pass, &Signal::throttle(LimitClass::Spend), at(0.0), &mut dice);
    let probe = pass_of(gate.take(at(300.0), &mut dice));
    let _ = gate.throttled_among(5, probe, &concurrency(), at(300.1), &mut dice);
    assert!(pass_of(gate.take(at(300.2), &mut dice)).probe);
    assert!(shut_of(&mut gate, at(301.0)).is_some());
}

#[test]
fn dropping_the_probe_of_an_earlier_round_frees_no_second_one() {
    let mut dice = SeededDice::new(1);
    let mut gate = Gate::new(S);
    let pass = pass_of(gate.take(at(0.0), &mut dice));
    let _ = gate.throttled(pass, &Signal::throttle(LimitClass::Daily), at(0.0), &mut dice);
    let stale = pass_of(gate.take(at(300.0), &mut dice));
    // Good for 1.5 s, so the pool reopens, and is shut again; its new probe is out.
    let next = pass_of(gate.take(at(303.0), &mut dice));
    let _ = gate.throttled(next, &Signal::throttle(LimitClass::Daily), at(303.1), &mut dice);
    let probe = pass_of(gate.take(at(603.2), &mut dice));
    assert!(probe.probe);
    gate.unknown(stale, at(603.3));
    assert!(matches!(gate.take(at(603.4), &mut dice), Admission::Hold(_)), "one probe, not two");
}

#[test]
fn calls_that_take_a_minute_do_not_hold_up_those_behind_them() {
    let mut dice = SeededDice::new(1);
    let mut gate = Gate::new(S);
    let pass = pass_of(gate.take(at(0.0), &mut dice));
    let _ = gate.throttled(pass, &stating(LimitClass::RequestRate, 5.0), at(0.0), &mut dice);
    // Nobody tells of any success: the answers are not there yet.
    let passed = (0..2_000)
        .filter(|tick| matches!(gate.take(at(5.0 + f64::from(*tick) / 100.0), &mut dice), Admission::Pass(_)));
    assert!(passed.count() > 300, "twice as many each second");
}

#[test]
fn a_slow_start_does_not_begin_above_a_small_known_quota() {
    let mut dice = SeededDice::new(1);
    let mut gate = Gate::new(S);
    gate.know_limit(Dimension::Requests, 6, Duration::from_secs(60), 1);
    let pass = pass_of(gate.take(at(0.0), &mut dice));
    let _ = gate.throttled(pass, &Signal::throttle(LimitClass::RequestRate), at(0.0), &mut dice);
    let mut passed = (0..1_000)
        .filter(|tick| matches!(gate.take(at(1.0 + f64::from(*tick) / 100.0), &mut dice), Admission::Pass(_)));
    assert_eq!(passed.by_ref().count(), 1, "one in the first ten seconds, as six a minute grant");
}

#[test]
fn an_overload_is_let_back_in_carefully_however_large_the_quota_is() {
    let mut dice = SeededDice::new(1);
    let mut gate = Gate::new(S);
    gate.know_limit(Dimension::Requests, 60_000, Duration::from_secs(60), 1);
    let pass = pass_of(gate.take(at(0.0), &mut dice));
    let _ = gate.throttled(pass, &Signal::throttle(LimitClass::Overload), at(0.0), &mut dice);
    let passed = (0..1_000)
        .filter(|tick| matches!(gate.take(at(1.0 + f64::from(*tick) / 1_000.0), &mut dice), Admission::Pass(_)));
    assert!(passed.count() <= 6, "four a second to begin with");
}

#[test]
fn a_cold_start_paces_before_anything_was_throttled_and_saves_a_second_of_slots() {
    let mut dice = SeededDice::new(1);
    let mut gate = Gate::new(S);
    gate.know_limit(Dimension::Requests, 600, Duration::from_secs(60), 1);
    gate.start_cold(at(0.0));
    let mut passes_at = |seconds| {
        std::iter::repeat_with(|| gate.take(at(seconds), &mut dice))
            .take_while(|admission| matches!(admission, Admission::Pass(_)))
            .count()
    };
    assert_eq!(passes_at(0.0), 1);
    assert_eq!(passes_at(0.1), 1);
    assert_eq!(passes_at(100.0), 10, "ten a second, and not the thousand of a hundred seconds");
}

#[test]
fn a_cold_pool_is_paced_again_after_a_shut() {
    let mut dice = SeededDice::new(1);
    let mut gate = Gate::new(S);
    gate.know_limit(Dimension::Requests, 600, Duration::from_secs(60), 1);
    gate.start_cold(at(0.0));
    let pass = pass_of(gate.take(at(0.0), &mut dice));
    let _ = gate.throttled(pass, &stating(LimitClass::RequestRate, 5.0), at(0.1), &mut dice);
    for seconds in [6.0, 100.0, 1_000.0] {
        assert!(matches!(gate.look(at(seconds), &mut dice), Look::Paced(_)), "{seconds} s");
    }
}

#[test]
fn a_pool_short_of_tokens_is_paced_by_tokens() {
    let mut dice = SeededDice::new(1);
    let mut gate = Gate::new(S);
    gate.know_limit(Dimension::Tokens, 6_000, Duration::from_secs(60), 1);
    let pass = pass_of(gate.take(at(0.0), &mut dice));
    let _ = gate.throttled(pass, &stating(LimitClass::TokenThroughput, 5.0), at(0.0), &mut dice);
    let estimate = Some(Estimate::input(700).output(300));
    let mut passed = Vec::new();
    for tick in 0..4_000 {
        let now = at(5.0 + f64::from(tick) / 100.0);
        if let Admission::Pass(_) = gate.take_for(Ask::at(now).with_estimate(estimate), &mut dice) {
            passed.push(now);
        }
    }
    assert_eq!(passed.len(), 4, "a thousand tokens are ten seconds' worth");
    // It used less than was expected: the next need not wait as long.
    let last = passed[3];
    gate.settle(estimate, TokenKind::Input, 200, last);
    let Admission::Hold(hold) = gate.peek(last, &mut dice) else { panic!("paid for at once") };
    assert!(last.until(hold.ask_again) <= Duration::from_secs(5), "{:?}", last.until(hold.ask_again));
}

#[test]
fn a_call_with_less_time_than_attempts_take_is_not_worth_one() {
    let mut gate = Gate::new(S);
    assert_eq!(gate.latest_start(at(0.0), at(60.0)), at(58.5), "in less not even a refusal is heard of");
    (0..50).for_each(|_| gate.went_well(Duration::from_secs(10)));
    let latest = gate.latest_start(at(0.0), at(60.0));
    assert!((at(49.0)..at(50.1)).contains(&latest), "{latest:?}");
    assert_eq!(gate.latest_start(at(0.0), at(8.0)), at(4.0), "at most half of its time is asked for");
}

#[test]
fn a_call_whose_turn_comes_too_late_is_told_by_how_much() {
    let mut dice = SeededDice::new(1);
    let mut gate = Gate::new(S);
    gate.know_limit(Dimension::Requests, 60, Duration::from_secs(60), 1);
    assert_eq!(gate.comes_too_late_by(1_000, at(10.0), at(0.0)), None, "it flows");
    gate.start_cold(at(0.0));
    let _ = pass_of(gate.take(at(0.0), &mut dice));
    assert_eq!(gate.comes_too_late_by(8, at(10.0), at(0.0)), None);
    assert_eq!(gate.comes_too_late_by(12, at(10.0), at(0.0)), Some(Duration::from_secs(3)));
}

#[test]
fn what_others_leave_of_a_window_is_for_those_who_still_wait() {
    let mut dice = SeededDice::new(1);
    let mut gate = Gate::new(S);
    let minute = Duration::from_secs(60);
    gate.know_limit(Dimension::Requests, 50, minute, 10);
    let quotas = |left, reset| {
        let mut quotas = Quotas::default();
        let reading = quotas.entry(Dimension::Requests, QuotaWindow::Minute).expect("room");
        (reading.limit, reading.remaining) = (Some(50), Some(left));
        reading.reset = Some(Duration::from_secs(reset));
        quotas
    };
    let pass = pass_of(gate.take(at(0.0), &mut dice));
    // Whole again with its next request: a window.
    let throttle = stating(LimitClass::RequestRate, 30.0);
    let _ = gate.read(&quotas(0, 30), &throttle, at(0.1), &mut dice);
    let _ = gate.throttled(pass, &throttle, at(0.1), &mut dice);
    let mut taken = 0;
    let mut take_until = |gate: &mut Gate, from: f64, until: f64| {
        let mut now = from;
        while now < until {
            taken += u32::from(matches!(gate.take(at(now), &mut dice), Admission::Pass(_)));
            now += 0.01;
        }
        taken
    };
    assert_eq!(take_until(&mut gate, 30.0, 33.0), 5, "its tenth");
    // Five of ten processes have finished: half of the window is left, and a fifth of what was used was ours.
    let sooner = gate.read(&quotas(25, 56), &Signal::success(), at(33.0), &mut SeededDice::new(2));
    assert!(sooner, "those who wait must hear of it");
    assert_eq!(take_until(&mut gate, 33.0, 60.0), 10);
}
