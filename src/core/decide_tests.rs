//! What follows an attempt, class by class and bound by bound.

use super::*;
use crate::core::dice::SeededDice;
use crate::core::policy::PolicyBuilder;
use crate::core::signal::StatedDelay;

const S: Duration = Duration::from_secs(1);
const NANO: Duration = Duration::from_nanos(1);
const NOW: Moment = Moment::since_start(Duration::from_secs(1_000));

/// Dice that always show the same.
struct Fixed(u64);

impl Dice for Fixed {
    fn roll(&mut self) -> u64 {
        self.0
    }
}

/// The smallest and the largest draw there is.
const LOWEST: u64 = 0;
const HIGHEST: u64 = u64::MAX;

fn minute() -> PolicyBuilder {
    Policy::interactive(60 * S)
}

fn built(builder: PolicyBuilder) -> Policy {
    builder.build().expect("a valid policy")
}

fn stating(signal: Signal, delay: Duration) -> Signal {
    signal.stating(StatedDelay::new(delay, Part::Header, "retry-after"))
}

fn ambiguous() -> Signal {
    Signal { ambiguous: true, ..Signal::failure(true) }
}

fn timeout() -> Signal {
    Signal { timed_out: true, ..ambiguous() }
}

/// What is decided `left` before the deadline, after `attempts`, with a full budget.
fn decided(policy: &Policy, attempts: u32, left: Duration, gated: bool, signal: &Signal, roll: u64) -> Decision {
    let standing = Standing::new(attempts, NOW.after(left), gated);
    decide(policy, standing, signal, NOW, &mut Fixed(roll), &mut || true)
}

/// The usual case: the first attempt just ended, a minute is left, no gate.
fn first(policy: &Policy, signal: &Signal) -> Decision {
    decided(policy, 1, 60 * S, false, signal, HIGHEST)
}

fn wait(decision: Decision) -> Wait {
    match decision {
        Decision::Again(wait) => wait,
        other => panic!("no retry: {other:?}"),
    }
}

fn given_up(decision: Decision) -> GiveUp {
    match decision {
        Decision::GiveUp(give_up) => give_up,
        other => panic!("not given up: {other:?}"),
    }
}

#[test]
fn a_success_ends_the_call_even_at_its_deadline() {
    assert_eq!(first(&built(minute()), &Signal::success()), Decision::Done);
    assert_eq!(decided(&built(minute()), 4, Duration::ZERO, true, &Signal::success(), LOWEST), Decision::Done);
}

#[test]
fn a_429_of_every_class_that_waiting_cures_is_retried() {
    use LimitClass::{Concurrency, Overload, RequestRate, TokenThroughput, Unknown};
    for class in [RequestRate, TokenThroughput, Concurrency, Overload, Unknown] {
        let wait = wait(first(&built(minute()), &Signal::throttle(class)));
        assert_eq!((wait.source, wait.delay), (DelaySource::Curve, Duration::from_millis(500)), "{class}");
    }
}

#[test]
fn a_daily_limit_is_given_up_at_once_with_its_class_and_its_reset_time() {
    let policy = built(minute());
    let give_up = given_up(first(&policy, &stating(Signal::throttle(LimitClass::Daily), 7_200 * S)));
    assert_eq!((give_up.outcome, give_up.class), (CallOutcome::DailyLimit, LimitClass::Daily));
    assert_eq!(give_up.retry_at, Some(NOW.after(7_200 * S)));
    // Also where the wait would fit: the day's quota is not worth another request of this call.
    let soon = given_up(first(&policy, &stating(Signal::throttle(LimitClass::Daily), S)));
    assert_eq!((soon.outcome, soon.retry_at), (CallOutcome::DailyLimit, Some(NOW.after(S))));
    assert_eq!(given_up(first(&policy, &Signal::throttle(LimitClass::Daily))).retry_at, None);
}

#[test]
fn a_spend_limit_is_given_up_at_once_whatever_else_the_signal_says() {
    let retryable = Signal { retryable: true, ..Signal::throttle(LimitClass::Spend) };
    let give_up = given_up(first(&built(minute()), &stating(retryable, S)));
    assert_eq!((give_up.outcome, give_up.class), (CallOutcome::SpendLimit, LimitClass::Spend));
    assert_eq!(give_up.retry_at, Some(NOW.after(S)));
}

#[test]
fn a_request_larger_than_the_limit_is_given_up_at_once_and_says_which_limit() {
    for class in [LimitClass::TokenThroughput, LimitClass::Daily] {
        let large = Signal { larger_than_limit: true, retryable: true, ..Signal::throttle(class) };
        let give_up = given_up(first(&built(minute()), &stating(large, S)));
        assert_eq!((give_up.outcome, give_up.class), (CallOutcome::NotRetryable, class));
    }
}

#[test]
fn overload_is_retried_without_asking_what_to_do_about_ambiguous_failures() {
    let strict = built(minute().on_ambiguous(OnAmbiguous::Stop));
    for status in [503, 529] {
        let overload = Signal { status: Some(status), ..Signal::throttle(LimitClass::Overload) };
        assert_eq!(wait(first(&strict, &overload)).source, DelaySource::Curve, "{status}");
    }
}

#[test]
fn an_attempt_that_never_left_is_retried_and_an_ambiguous_one_as_set() {
    let (strict, lenient) = (built(minute().on_ambiguous(OnAmbiguous::Stop)), built(minute()));
    assert_eq!(wait(first(&strict, &Signal::failure(true))).source, DelaySource::Curve, "not connected");
    for signal in [ambiguous(), timeout()] {
        assert_eq!(wait(first(&lenient, &signal)).source, DelaySource::Curve);
        assert_eq!(given_up(first(&strict, &signal)).outcome, CallOutcome::NotRetryable);
    }
}

#[test]
fn what_the_signal_calls_not_retryable_is_never_retried() {
    let policy = built(minute());
    assert_eq!(given_up(first(&policy, &Signal::failure(false))).outcome, CallOutcome::NotRetryable);
    // The provider may say so of a throttle too, and a wait beside it does not change it.
    let refused = Signal { retryable: false, ..Signal::throttle(LimitClass::RequestRate) };
    let give_up = given_up(first(&policy, &stating(refused, S)));
    assert_eq!((give_up.outcome, give_up.class), (CallOutcome::NotRetryable, LimitClass::RequestRate));
}

#[test]
fn an_unreadable_stated_delay_means_the_curve_and_not_now() {
    let unreadable = Signal { unreadable: Some(Part::Header), ..Signal::throttle(LimitClass::Unknown) };
    for roll in [LOWEST, HIGHEST] {
        let wait = wait(decided(&built(minute()), 2, 60 * S, false, &unreadable, roll));
        assert_eq!((wait.source, wait.stated), (DelaySource::Curve, None));
        assert!(wait.delay > Duration::ZERO && wait.delay <= S, "{:?}", wait.delay);
    }
}

#[test]
fn a_stated_delay_beats_the_curve_and_says_where_it_stood() {
    let policy = built(minute());
    for (part, source) in [(Part::Header, DelaySource::Header), (Part::Body, DelaySource::Body)] {
        let stated = StatedDelay::new(7 * S, part, "retry-after");
        let wait = wait(decided(
            &policy,
            1,
            60 * S,
            false,
            &Signal::throttle(LimitClass::RequestRate).stating(stated),
            LOWEST,
        ));
        assert_eq!((wait.source, wait.stated, wait.clamped), (source, Some(7 * S), false));
        assert_eq!(wait.delay, 7 * S + NANO);
    }
}

#[test]
fn jitter_on_a_stated_delay_only_adds_and_at_most_the_curve() {
    let policy = built(minute());
    let signal = stating(Signal::throttle(LimitClass::RequestRate), 7 * S);
    for (attempts, bound) in [(1, 0.5), (2, 1.0), (3, 2.0)] {
        let shortest = wait(decided(&policy, attempts, 60 * S, false, &signal, LOWEST)).delay;
        let longest = wait(decided(&policy, attempts, 60 * S, false, &signal, HIGHEST)).delay;
        assert_eq!((shortest, longest), (7 * S + NANO, 7 * S + Duration::from_secs_f64(bound)));
    }
}

#[test]
fn behind_a_gate_the_pacing_is_the_jitter() {
    let signal = stating(Signal::throttle(LimitClass::RequestRate), 7 * S);
    for roll in [LOWEST, HIGHEST] {
        assert_eq!(wait(decided(&built(minute()), 1, 60 * S, true, &signal, roll)).delay, 7 * S);
    }
}

#[test]
fn a_stated_zero_is_a_wait_all_the_same() {
    let signal = stating(Signal::throttle(LimitClass::RequestRate), Duration::ZERO);
    for gated in [false, true] {
        let wait = wait(decided(&built(minute()), 1, 60 * S, gated, &signal, LOWEST));
        assert_eq!((wait.delay, wait.source), (NANO, DelaySource::Header));
    }
}

#[test]
fn a_stated_delay_that_reaches_the_deadline_is_given_up_now_and_one_just_before_it_is_waited_for() {
    let policy = built(minute());
    for gated in [false, true] {
        let reaching = stating(Signal::throttle(LimitClass::RequestRate), 60 * S);
        let give_up = given_up(decided(&policy, 1, 60 * S, gated, &reaching, LOWEST));
        assert_eq!((give_up.outcome, give_up.source), (CallOutcome::DeadlineExceeded, DelaySource::Header));
        assert_eq!((give_up.class, give_up.retry_at), (LimitClass::RequestRate, Some(NOW.after(60 * S))));

        let fitting = stating(Signal::throttle(LimitClass::RequestRate), 60 * S - 2 * NANO);
        let wait = wait(decided(&policy, 1, 60 * S, gated, &fitting, HIGHEST));
        assert!(wait.delay >= 60 * S - 2 * NANO && wait.at < NOW.after(60 * S), "{wait:?}");
    }
}

#[test]
fn a_stated_delay_over_the_header_cap_is_given_up_now_and_one_at_the_cap_is_waited_for() {
    let policy = built(Policy::background(3_600 * S));
    for gated in [false, true] {
        let over = stating(Signal::throttle(LimitClass::RequestRate), 300 * S + NANO);
        let give_up = given_up(decided(&policy, 1, 3_600 * S, gated, &over, LOWEST));
        assert_eq!((give_up.outcome, give_up.source), (CallOutcome::StatedDelayTooLong, DelaySource::Header));
        assert_eq!(give_up.retry_at, Some(NOW.after(300 * S + NANO)));

        let at_cap = stating(Signal::throttle(LimitClass::RequestRate), 300 * S);
        assert!(wait(decided(&policy, 1, 3_600 * S, gated, &at_cap, LOWEST)).delay >= 300 * S);
    }
}

#[test]
fn a_stated_delay_is_clamped_only_by_choice_and_only_without_a_gate() {
    let clamping = built(Policy::background(3_600 * S).header_cap(30 * S).on_over_cap(OnOverCap::Clamp));
    let over = stating(Signal::throttle(LimitClass::RequestRate), 900 * S);
    let clamped = wait(decided(&clamping, 1, 3_600 * S, false, &over, LOWEST));
    assert!(clamped.clamped);
    assert_eq!((clamped.delay, clamped.stated, clamped.source), (30 * S + NANO, Some(900 * S), DelaySource::Header));

    let behind_a_gate = given_up(decided(&clamping, 1, 3_600 * S, true, &over, LOWEST));
    assert_eq!(behind_a_gate.outcome, CallOutcome::StatedDelayTooLong);
    let under = stating(Signal::throttle(LimitClass::RequestRate), 20 * S);
    assert!(!wait(decided(&clamping, 1, 3_600 * S, false, &under, LOWEST)).clamped);
}

#[test]
fn after_the_last_attempt_nothing_is_waited_for() {
    let policy = built(minute().attempts(3));
    for signal in [stating(Signal::throttle(LimitClass::RequestRate), S), Signal::failure(true), timeout()] {
        assert!(matches!(decided(&policy, 2, 60 * S, false, &signal, HIGHEST), Decision::Again(_)));
        let give_up = given_up(decided(&policy, 3, 60 * S, false, &signal, HIGHEST));
        assert_eq!((give_up.outcome, give_up.class), (CallOutcome::AttemptsExhausted, signal.class));
    }
}

#[test]
fn the_deadline_is_compared_before_anybody_sleeps() {
    let policy = built(minute());
    for signal in [Signal::throttle(LimitClass::Unknown), Signal::failure(true)] {
        // The curve draws half a second at most; four tenths are left.
        let left = Duration::from_millis(400);
        let give_up = given_up(decided(&policy, 1, left, false, &signal, HIGHEST));
        assert_eq!((give_up.outcome, give_up.source), (CallOutcome::DeadlineExceeded, DelaySource::Curve));
        assert!(wait(decided(&policy, 1, left, false, &signal, LOWEST)).delay < left);
        let none_left = given_up(decided(&policy, 1, Duration::ZERO, false, &signal, LOWEST));
        assert_eq!(none_left.outcome, CallOutcome::DeadlineExceeded);
    }
}

#[test]
fn an_attempt_that_ended_by_time_at_the_deadline_is_given_up_as_that() {
    for policy in [built(minute()), built(minute().on_ambiguous(OnAmbiguous::Stop)), built(minute().attempts(1))] {
        let give_up = given_up(decided(&policy, 1, Duration::ZERO, false, &timeout(), LOWEST));
        assert_eq!(give_up.outcome, CallOutcome::DeadlineExceeded);
    }
}

#[test]
fn the_budget_is_asked_once_and_only_for_a_transient_failure_that_would_be_retried() {
    let policy = built(minute().attempts(2));
    let asked = |attempts, left: Duration, signal: &Signal| {
        let (mut asked, standing) = (0, Standing::new(attempts, NOW.after(left), false));
        let _ = decide(&policy, standing, signal, NOW, &mut Fixed(HIGHEST), &mut || {
            asked += 1;
            true
        });
        asked
    };
    assert_eq!(asked(1, 60 * S, &Signal::failure(true)), 1);
    assert_eq!(asked(1, 60 * S, &timeout()), 1);
    assert_eq!(asked(1, 60 * S, &Signal::throttle(LimitClass::Overload)), 0, "the gate paces throttles");
    assert_eq!(asked(1, 60 * S, &Signal::failure(false)), 0, "not retryable");
    assert_eq!(asked(2, 60 * S, &Signal::failure(true)), 0, "the last attempt");
    assert_eq!(asked(1, Duration::ZERO, &Signal::failure(true)), 0, "past the deadline");
    assert_eq!(asked(1, 60 * S, &Signal::success()), 0, "a success");
}

#[test]
fn an_empty_budget_ends_a_transient_failure_and_spares_a_throttle() {
    let policy = built(minute());
    let standing = Standing::new(1, NOW.after(60 * S), false);
    let empty = |signal: &Signal| decide(&policy, standing, signal, NOW, &mut Fixed(LOWEST), &mut || false);
    assert_eq!(given_up(empty(&Signal::failure(true))).outcome, CallOutcome::RetryBudget);
    assert!(matches!(empty(&Signal::throttle(LimitClass::Unknown)), Decision::Again(_)));
}

#[test]
fn the_curve_draws_from_zero_exclusive_to_its_bound_inclusive() {
    let policy = built(minute());
    let signal = Signal::throttle(LimitClass::Unknown);
    for (attempts, bound) in [(1, 0.5), (2, 1.0), (3, 2.0)] {
        assert_eq!(wait(decided(&policy, attempts, 60 * S, true, &signal, LOWEST)).delay, NANO);
        let longest = wait(decided(&policy, attempts, 60 * S, true, &signal, HIGHEST)).delay;
        assert_eq!(longest, Duration::from_secs_f64(bound));
    }
}

#[test]
fn the_ends_of_time_are_met_without_a_panic() {
    let policy = built(minute().attempts(100));
    let mut dice = SeededDice::new(5);
    for now in [Moment::START, Moment::NEVER] {
        for deadline in [Moment::START, Moment::NEVER] {
            for stated in [Duration::ZERO, NANO, 300 * S, Duration::MAX] {
                let signal = stating(Signal::throttle(LimitClass::Unknown), stated);
                let standing = Standing::new(u32::MAX - 1, deadline, true);
                let decision = decide(&policy, standing, &signal, now, &mut dice, &mut || true);
                assert!(matches!(decision, Decision::GiveUp(_)), "{now:?} {deadline:?} {stated:?}");
                let standing = Standing::new(1, deadline, false);
                if let Decision::Again(wait) = decide(&policy, standing, &signal, now, &mut dice, &mut || true) {
                    assert!(now == Moment::START && deadline == Moment::NEVER && wait.delay >= stated);
                }
            }
        }
    }
}
