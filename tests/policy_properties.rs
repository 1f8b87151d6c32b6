//! What no decision may do, whatever the policy, the signal and the time: 10,000 random cases.

use std::time::Duration;

use forbear::core::backoff;
use forbear::core::call::Call;
use forbear::core::decide::{Decision, DelaySource, GiveUp, Standing, Wait, decide};
use forbear::core::dice::{Dice, SeededDice};
use forbear::core::moment::Moment;
use forbear::core::signal::{Part, StatedDelay};
use forbear::{CallOutcome, LimitClass, OnAmbiguous, OnOverCap, Policy, Signal};
use proptest::prelude::*;

const CASES: u32 = 10_000;
const HOUR: u64 = 3_600_000_000_000;

/// Durations of every size, the ends of the range among them.
fn nanos(range: std::ops::RangeInclusive<u64>) -> impl Strategy<Value = Duration> {
    let (low, high) = (*range.start(), *range.end());
    let sized = (0u32..64, any::<u64>()).prop_map(move |(size, n)| (n >> size).clamp(low, high));
    prop_oneof![1 => Just(low), 1 => Just(high), 6 => sized, 4 => range].prop_map(Duration::from_nanos)
}

prop_compose! {
    fn policies()(
        (base, cap_above, header_cap) in (nanos(1_000_000..=HOUR), nanos(0..=23 * HOUR), nanos(1_000_000_000..=26 * HOUR)),
        (deadline, timeout) in (nanos(1_000_000..=168 * HOUR), proptest::option::of(nanos(1_000_000..=168 * HOUR))),
        factor in prop_oneof![Just(1.0), Just(2.0), Just(10.0), 1.0..=10.0],
        attempts in prop_oneof![1u32..=5, 1u32..=100],
        (clamps, stops) in any::<(bool, bool)>(),
    ) -> Policy {
        let builder = Policy::interactive(deadline)
            .base(base)
            .cap(base + cap_above)
            .factor(factor)
            .header_cap(header_cap)
            .attempts(attempts)
            .on_over_cap(if clamps { OnOverCap::Clamp } else { OnOverCap::GiveUp })
            .on_ambiguous(if stops { OnAmbiguous::Stop } else { OnAmbiguous::Retry });
        let builder = match timeout {
            Some(timeout) => builder.attempt_timeout(timeout.min(deadline)),
            None => builder,
        };
        builder.build().expect("a valid policy")
    }
}

prop_compose! {
    fn signals()(
        class in proptest::sample::select(LimitClass::ALL),
        stated in proptest::option::weighted(0.6, nanos(0..=u64::MAX)),
        in_body in any::<bool>(),
        (failed, retryable, larger, timed_out) in (
            prop::bool::weighted(0.95), prop::bool::weighted(0.9), prop::bool::weighted(0.03), prop::bool::weighted(0.1),
        ),
        ambiguous in prop::bool::weighted(0.2),
    ) -> Signal {
        let mut signal = Signal::throttle(class);
        (signal.failed, signal.retryable, signal.ambiguous) = (failed, retryable, ambiguous || timed_out);
        (signal.larger_than_limit, signal.timed_out) = (larger, timed_out);
        let part = if in_body { Part::Body } else { Part::Header };
        signal.stated = stated.map(|delay| StatedDelay::new(delay, part, "retry-after"));
        signal
    }
}

/// Dice that like their ends.
#[derive(Clone, Debug)]
struct Loaded(SeededDice);

impl Dice for Loaded {
    fn roll(&mut self) -> u64 {
        match self.0.roll() % 8 {
            0 => 0,
            1 => u64::MAX,
            _ => self.0.roll(),
        }
    }
}

fn dice() -> impl Strategy<Value = Loaded> {
    any::<u64>().prop_map(|seed| Loaded(SeededDice::new(seed)))
}

/// The most the curve may say, reckoned another way than the engine does: by repeated multiplication in `u128`.
fn most_of_the_curve(policy: &Policy, attempts: u32) -> Duration {
    let mut bound = policy.base().as_nanos();
    // Thousandths of the factor, rounded up.
    let factor = (policy.factor() * 1_000_000.0).ceil() as u128;
    for _ in 1..attempts.min(200) {
        bound = (bound * factor).div_ceil(1_000_000).min(policy.cap().as_nanos());
    }
    Duration::from_nanos(bound.min(policy.cap().as_nanos()) as u64) + Duration::from_nanos(1)
}

fn a_retry_is_lawful(policy: &Policy, standing: Standing, signal: &Signal, now: Moment, wait: Wait) {
    let Standing { attempts, deadline, gated, .. } = standing;
    assert!(signal.failed && signal.retryable && !signal.larger_than_limit, "nothing to retry");
    assert!(!matches!(signal.class, LimitClass::Daily | LimitClass::Spend), "given up at once");
    assert!(!signal.ambiguous || policy.on_ambiguous() == OnAmbiguous::Retry);
    assert!(attempts < policy.attempts());

    assert!(wait.delay > Duration::ZERO, "a wait of zero");
    assert!(wait.at < deadline, "a wait past the deadline");
    assert_eq!(wait.at, now.after(wait.delay));

    let curve = most_of_the_curve(policy, attempts);
    assert!(curve <= policy.cap() + Duration::from_nanos(1));
    match signal.stated {
        None => {
            assert!(wait.delay <= curve, "{:?} is above the curve's {curve:?}", wait.delay);
            assert_eq!((wait.source, wait.stated, wait.clamped), (DelaySource::Curve, None, false));
        }
        Some(stated) => {
            let told = stated.delay;
            assert_eq!((wait.source, wait.stated), (DelaySource::from(stated.part), Some(told)));
            let floor = if wait.clamped {
                assert!(policy.on_over_cap() == OnOverCap::Clamp && !gated && told > policy.header_cap());
                policy.header_cap()
            } else {
                assert!(told <= policy.header_cap(), "over the header cap");
                assert!(wait.delay >= told, "earlier than stated");
                told
            };
            assert!(wait.delay >= floor && wait.delay <= floor.saturating_add(curve));
            assert!(!gated || told.is_zero() || wait.delay == told, "behind a gate the pacing is the jitter");
        }
    }
}

fn a_give_up_is_lawful(policy: &Policy, standing: Standing, signal: &Signal, now: Moment, give_up: GiveUp) {
    use CallOutcome as Out;
    assert!(signal.failed);
    assert_eq!(give_up.class, signal.class);
    if let (Some(at), Some(stated)) = (give_up.retry_at, signal.stated) {
        assert_eq!(at, now.after(stated.delay), "a retry makes sense when the provider says so");
    }
    match give_up.outcome {
        Out::DailyLimit => assert_eq!(signal.class, LimitClass::Daily),
        Out::SpendLimit => assert_eq!(signal.class, LimitClass::Spend),
        Out::NotRetryable => assert!(
            !signal.retryable
                || signal.larger_than_limit
                || (signal.ambiguous && policy.on_ambiguous() == OnAmbiguous::Stop)
        ),
        Out::AttemptsExhausted => assert!(standing.attempts >= policy.attempts()),
        Out::StatedDelayTooLong => assert!(signal.stated.is_some_and(|stated| stated.delay > policy.header_cap())),
        Out::RetryBudget => assert!(!signal.is_throttle()),
        Out::DeadlineExceeded => {
            let least = signal.stated.map_or(Duration::ZERO, |stated| stated.delay.min(policy.header_cap()));
            let most = least.saturating_add(most_of_the_curve(policy, standing.attempts));
            assert!(now.after(most) >= standing.deadline, "every wait would have fitted");
        }
        other => panic!("`decide` says {other}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(CASES))]

    #[test]
    fn no_wait_is_zero_earlier_than_stated_past_the_deadline_or_above_its_cap(
        policy in policies(),
        signal in signals(),
        mut dice in dice(),
        now in prop_oneof![Just(0), Just(u64::MAX), any::<u64>(), 0u64..168 * HOUR],
        left in nanos(0..=168 * HOUR),
        attempts in prop_oneof![1u32..6, 1u32..120, Just(u32::MAX)],
        (gated, granted) in any::<(bool, bool)>(),
    ) {
        let now = Moment::since_start(Duration::from_nanos(now));
        let standing = Standing::new(attempts, now.after(left), gated);
        match decide(&policy, standing, &signal, now, &mut dice, &mut || granted) {
            Decision::Done => prop_assert!(!signal.failed),
            Decision::Again(wait) => a_retry_is_lawful(&policy, standing, &signal, now, wait),
            Decision::GiveUp(give_up) => a_give_up_is_lawful(&policy, standing, &signal, now, give_up),
            _ => panic!("a decision this test does not know"),
        }
    }

}

proptest! {
    // Each case is a whole call, or a whole curve.
    #![proptest_config(ProptestConfig::with_cases(CASES / 10))]

    #[test]
    fn no_attempt_of_a_call_begins_before_it_was_told_after_its_deadline_or_beyond_its_number(
        policy in policies(),
        script in prop::collection::vec((signals(), nanos(0..=HOUR), nanos(0..=HOUR)), 1..12),
        mut dice in dice(),
        gated in any::<bool>(),
    ) {
        let mut now = Moment::since_start(Duration::from_secs(5));
        let mut call = Call::start(now);
        let deadline = call.deadline(&policy);
        let mut told = now;
        for (number, (signal, attempt_takes, gate_holds)) in script.into_iter().cycle().take(300).enumerate() {
            if gated && number % 3 == 1 {
                now = now.after(gate_holds);
                call.waited(DelaySource::Gate, gate_holds);
            }
            let plan = match call.begin_attempt(&policy, now) {
                Ok(plan) => plan,
                Err(give_up) => {
                    prop_assert!(now >= deadline && give_up.outcome == CallOutcome::DeadlineExceeded);
                    return Ok(());
                }
            };
            prop_assert_eq!(plan.number as usize, number + 1);
            prop_assert!(plan.number <= policy.attempts());
            prop_assert!(now >= told && now < deadline && plan.cut <= deadline && plan.cut > now);
            if let Some(timeout) = policy.attempt_timeout() {
                prop_assert!(plan.cut <= now.after(timeout));
            }
            now = plan.cut.min(now.after(attempt_takes));
            match call.end_attempt(&policy, &signal, gated, now, &mut dice, &mut || true) {
                Decision::Again(wait) => {
                    let stated = signal.stated.map_or(Duration::ZERO, |stated| stated.delay);
                    told = now.after(if wait.clamped { policy.header_cap() } else { stated });
                    now = wait.at;
                    call.waited(wait.source, wait.delay);
                }
                _ => return Ok(()),
            }
        }
        prop_assert!(false, "a call that never ends");
    }

    #[test]
    fn the_curve_is_never_zero_never_above_the_cap_and_never_falls(policy in policies(), mut dice in dice()) {
        let bounds: Vec<_> = (1..=120).chain([u32::MAX]).map(|number| backoff::bound(&policy, number)).collect();
        prop_assert!(bounds.is_sorted());
        prop_assert!(bounds[0] >= Duration::from_nanos(999_999) && bounds.iter().all(|bound| *bound <= policy.cap()));
        for (number, bound) in (1..=120).zip(bounds) {
            let wait = backoff::wait(&policy, number, &mut dice);
            prop_assert!(wait > Duration::ZERO && wait <= bound);
        }
    }

    #[test]
    fn a_policy_is_built_within_its_ranges_or_refused_with_field_value_and_range(
        base in nanos(0..=u64::MAX), cap in nanos(0..=u64::MAX), header_cap in nanos(0..=u64::MAX),
        deadline in nanos(0..=u64::MAX), factor in any::<f64>(), attempts in any::<u32>(),
    ) {
        let built = Policy::background(deadline).base(base).cap(cap).header_cap(header_cap).factor(factor)
            .attempts(attempts).build();
        match built {
            Ok(policy) => {
                prop_assert!(policy.base() >= Duration::from_millis(1) && policy.cap() >= policy.base());
                prop_assert!((1.0..=10.0).contains(&policy.factor()) && (1..=100).contains(&policy.attempts()));
                prop_assert!(policy.header_cap() >= Duration::from_secs(1) && !policy.deadline().is_zero());
            }
            Err(refused) => {
                let text = refused.to_string();
                prop_assert!(text.starts_with("policy.") && text.contains(" is ") && text.contains("; allowed: "), "{}", text);
            }
        }
    }
}
