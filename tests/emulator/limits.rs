//! What the model promises, held against closed forms and against chance.

use std::time::Duration;

use proptest::prelude::*;

use forbear::core::dice::{Dice, SeededDice};
use forbear::core::moment::Moment;
use forbear::core::signal::{Dimension, LimitClass, TokenKind};
use forbear::emulator::limits::{
    Algorithm, Cost, Failure, FailureKind, Limits, Meter, Overload, Period, Throttle, Verdict,
};

const SECOND: Duration = Duration::from_secs(1);
const MINUTE: Duration = Duration::from_secs(60);

fn at(elapsed: Duration) -> Moment {
    Moment::since_start(elapsed)
}

fn meter(limits: Limits) -> Meter {
    Meter::new(limits).unwrap()
}

fn ask(meter: &mut Meter, elapsed: Duration, cost: Cost) -> Verdict {
    meter.admit(at(elapsed), cost, &mut SeededDice::new(1))
}

fn refused(meter: &mut Meter, elapsed: Duration, cost: Cost) -> Throttle {
    match ask(meter, elapsed, cost) {
        Verdict::Throttled(throttle) => throttle,
        other => panic!("{other:?}"),
    }
}

/// How many of the requests that come every `gap` for `time` are served.
fn served(limits: Limits, gap: Duration, time: Duration) -> u64 {
    let mut meter = meter(limits);
    let mut served = 0;
    let mut now = Duration::ZERO;
    while now < time {
        served += u64::from(ask(&mut meter, now, Cost::request()) == Verdict::Admitted);
        now += gap;
    }
    served
}

#[test]
fn a_hammered_quota_serves_what_its_algorithm_grants_in_ten_minutes() {
    let hammered = |limits: Limits| served(limits.requests_per_minute(30), SECOND / 4, 10 * MINUTE);
    let bucket = Limits::new().algorithm(Algorithm::TokenBucket);
    assert_eq!(hammered(bucket.clone()), 30 + 299);
    assert_eq!(hammered(bucket.clone().burst(Duration::from_secs(10))), 5 + 299);
    assert_eq!(hammered(bucket.burst(Duration::ZERO)), 1 + 299);
    let fixed = Limits::new().algorithm(Algorithm::FixedWindow);
    assert_eq!(hammered(fixed.clone()), 10 * 30);
    assert_eq!(hammered(fixed.first_boundary_after(20 * SECOND)), 11 * 30);
    assert_eq!(hammered(Limits::new().algorithm(Algorithm::SlidingWindow)), 10 * 30);
}

#[test]
fn counted_refusals_lock_a_hammering_caller_out_of_all_but_fixed_windows() {
    let hammered = |algorithm| {
        let limits = Limits::new().requests_per_minute(30).algorithm(algorithm).throttled_attempts_count(true);
        served(limits, SECOND / 4, 10 * MINUTE)
    };
    // While it is full the bucket still gains, 7.5 s long, what is refilled between the requests.
    assert_eq!(hammered(Algorithm::TokenBucket), 34);
    assert_eq!(hammered(Algorithm::SlidingWindow), 30);
    assert_eq!(hammered(Algorithm::FixedWindow), 10 * 30);
}

#[test]
fn each_quota_refuses_with_its_own_class_and_side() {
    let refused_by = |limits: Limits| {
        let mut meter = meter(limits);
        assert_eq!(ask(&mut meter, Duration::ZERO, Cost::tokens(6, 4)), Verdict::Admitted);
        let throttle = refused(&mut meter, Duration::ZERO, Cost::tokens(6, 4));
        assert!(throttle.wait.is_some_and(|wait| !wait.is_zero()));
        (throttle.class, throttle.token_kind(), throttle.limit)
    };
    let token = LimitClass::TokenThroughput;
    assert_eq!(refused_by(Limits::new().requests_per_minute(1)), (LimitClass::RequestRate, None, Some(1)));
    assert_eq!(refused_by(Limits::new().tokens_per_minute(10)), (token, Some(TokenKind::Total), Some(10)));
    assert_eq!(refused_by(Limits::new().input_tokens_per_minute(6)), (token, Some(TokenKind::Input), Some(6)));
    assert_eq!(refused_by(Limits::new().output_tokens_per_minute(4)), (token, Some(TokenKind::Output), Some(4)));
    assert_eq!(refused_by(Limits::new().requests_per_day(1)), (LimitClass::Daily, None, Some(1)));
    assert_eq!(refused_by(Limits::new().tokens_per_day(10)), (LimitClass::Daily, Some(TokenKind::Total), Some(10)));
}

#[test]
fn of_several_spent_quotas_the_longest_is_told() {
    let mut meter = meter(Limits::new().requests_per_minute(1).requests_per_day(1).day_ends_at(10 * SECOND));
    assert_eq!(ask(&mut meter, Duration::ZERO, Cost::request()), Verdict::Admitted);
    assert_eq!(refused(&mut meter, Duration::ZERO, Cost::request()).class, LimitClass::RequestRate);
    let mut meter = Meter::new(Limits::new().requests_per_minute(1).requests_per_day(1)).unwrap();
    assert_eq!(ask(&mut meter, Duration::ZERO, Cost::request()), Verdict::Admitted);
    let throttle = refused(&mut meter, Duration::ZERO, Cost::request());
    assert_eq!((throttle.class, throttle.wait), (LimitClass::Daily, Some(Duration::from_secs(86_400))));
}

#[test]
fn a_request_larger_than_the_quota_is_told_so_and_no_wait() {
    let mut meter = meter(Limits::new().tokens_per_minute(100));
    let throttle = refused(&mut meter, Duration::ZERO, Cost::tokens(90, 11));
    assert_eq!((throttle.larger_than_limit, throttle.limit, throttle.wait), (Some(101), Some(100), None));
    assert_eq!(ask(&mut meter, Duration::ZERO, Cost::tokens(90, 10)), Verdict::Admitted);
}

#[test]
fn concurrency_is_a_number_in_flight_and_states_no_wait() {
    let mut meter = meter(Limits::new().concurrency(2).requests_per_minute(10));
    for _ in 0..2 {
        assert!(ask(&mut meter, Duration::ZERO, Cost::request()).is_in_flight());
    }
    let throttle = refused(&mut meter, Duration::ZERO, Cost::request());
    assert_eq!((throttle.class, throttle.limit, throttle.wait), (LimitClass::Concurrency, Some(2), None));
    meter.finished();
    assert_eq!(ask(&mut meter, Duration::ZERO, Cost::request()), Verdict::Admitted);
    assert_eq!(meter.quotas(Moment::START).iter().next().unwrap().remaining, Some(7));
}

#[test]
fn spend_and_overload_charge_nothing_and_end_with_their_episode() {
    let limits = Limits::new()
        .requests_per_minute(1)
        .spend(Period::new(Duration::ZERO, SECOND))
        .overload(Period::new(SECOND, 2 * SECOND), 1.0);
    let mut meter = meter(limits);
    assert_eq!(refused(&mut meter, Duration::ZERO, Cost::request()).class, LimitClass::Spend);
    assert_eq!(refused(&mut meter, SECOND, Cost::request()).class, LimitClass::Overload);
    assert_eq!(ask(&mut meter, 2 * SECOND, Cost::request()), Verdict::Admitted);
}

#[test]
fn an_episode_hits_its_share() {
    let failure = Failure { kind: FailureKind::ServerError, period: Period::ALWAYS, share: 0.2 };
    let mut meter = meter(Limits::new().overload(Period::ALWAYS, 0.5).failure(failure));
    let mut dice = SeededDice::new(5);
    let mut seen = [0u32; 3];
    for _ in 0..10_000 {
        let place = match meter.admit(Moment::START, Cost::request(), &mut dice) {
            Verdict::Throttled(_) => 0,
            Verdict::Failed(_) => 1,
            Verdict::Admitted => 2,
        };
        seen[place] += 1;
    }
    for (seen, expected) in seen.into_iter().zip([5_000u32, 1_000, 4_000]) {
        assert!(seen.abs_diff(expected) < 150, "{seen} instead of about {expected}");
    }
}

#[test]
fn an_episode_that_is_over_rolls_no_dice() {
    let over = Overload { period: Period::new(Duration::ZERO, SECOND), share: 0.5 };
    let mut meter = meter(Limits::new().overload(over.period, over.share));
    let mut dice = SeededDice::new(9);
    meter.admit(at(SECOND), Cost::request(), &mut dice);
    assert_eq!(dice.roll(), SeededDice::new(9).roll());
}

#[test]
fn readings_tell_limit_rest_and_time_until_whole() {
    let mut meter = meter(Limits::new().requests_per_minute(60).tokens_per_day(1_000).day_ends_at(SECOND));
    assert_eq!(ask(&mut meter, Duration::ZERO, Cost::tokens(100, 0)), Verdict::Admitted);
    let quotas = meter.quotas(Moment::START);
    let told: Vec<_> = quotas.iter().map(|r| (r.dimension, r.limit, r.remaining, r.reset)).collect();
    let tokens = (Dimension::Tokens, Some(1_000), Some(900), Some(SECOND));
    let requests = (Dimension::Requests, Some(60), Some(59), Some(SECOND));
    assert_eq!(told, [tokens, requests]);
}

#[test]
fn new_limits_keep_what_was_used() {
    for algorithm in Algorithm::ALL {
        let limits = |amount: u64| Limits::new().requests_per_minute(amount).algorithm(*algorithm);
        let mut meter = meter(limits(2));
        ask(&mut meter, Duration::ZERO, Cost::request());
        ask(&mut meter, Duration::ZERO, Cost::request());
        assert_eq!(meter.set_limits(limits(0)).unwrap_err().field, "limits.requests_per_minute");
        refused(&mut meter, Duration::ZERO, Cost::request());
        meter.set_limits(limits(3)).unwrap();
        assert_eq!(ask(&mut meter, Duration::ZERO, Cost::request()), Verdict::Admitted, "{algorithm}");
        refused(&mut meter, Duration::ZERO, Cost::request());
    }
}

/// Limits of any kind, in a form the promises can be computed from.
#[derive(Clone, Debug)]
struct Drawn {
    algorithm: Algorithm,
    requests: u64,
    tokens: u64,
    daily: Option<u64>,
    window: Duration,
    burst: Duration,
    phase: Duration,
    day_end: Duration,
    counted: bool,
}

impl Drawn {
    fn limits(&self) -> Limits {
        Limits::new()
            .requests_per_minute(self.requests)
            .tokens_per_minute(self.tokens)
            .requests_per_day(self.daily)
            .window(self.window)
            .burst(self.burst)
            .first_boundary_after(self.phase)
            .day(10 * self.window)
            .day_ends_at(self.day_end)
            .algorithm(self.algorithm)
            .throttled_attempts_count(self.counted)
    }

    /// Whether what was served keeps within the quota of `amount` in every window that the algorithm promises.
    fn keeps(&self, amount: u64, served: &[(u128, u64)]) -> bool {
        let window = self.window.as_nanos();
        match self.algorithm {
            Algorithm::FixedWindow => {
                let number_of = |at: u128| (at + window - self.phase.as_nanos()) / window;
                served.iter().all(|(t, _)| sum(served, |u| number_of(u) == number_of(*t)) <= u128::from(amount))
            }
            Algorithm::SlidingWindow => {
                served.iter().all(|(t, _)| sum(served, |u| u <= *t && u + window > *t) <= u128::from(amount))
            }
            // In tokens times nanoseconds: what the bucket held, what was refilled, and the debt of the last one.
            Algorithm::TokenBucket => served.iter().enumerate().all(|(first, (from, _))| {
                let held = (u128::from(amount) * self.burst.as_nanos()).max(window);
                let mut taken = 0;
                served[first..].iter().all(|(until, need)| {
                    let need = u128::from(*need) * window;
                    taken += need;
                    taken <= held + u128::from(amount) * (until - from) + need.saturating_sub(held)
                })
            }),
        }
    }
}

fn sum(served: &[(u128, u64)], within: impl Fn(u128) -> bool) -> u128 {
    served.iter().filter(|(at, _)| within(*at)).map(|(_, need)| u128::from(*need)).sum()
}

fn drawn() -> impl Strategy<Value = Drawn> {
    let algorithm = prop::sample::select(Algorithm::ALL.to_vec());
    let window = (1u64..120_000).prop_map(Duration::from_millis);
    let quotas = (1u64..20, 1u64..200, prop::option::of(1u64..40));
    (algorithm, quotas, window, 0u32..=1_000, 0u32..=1_000, 1u64..500_000, any::<bool>()).prop_map(
        |(algorithm, (requests, tokens, daily), window, burst, phase, day_end, counted)| Drawn {
            algorithm,
            requests,
            tokens,
            daily,
            window,
            burst: window * burst / 1_000,
            phase: window * phase / 1_000,
            day_end: Duration::from_millis(day_end),
            counted,
        },
    )
}

proptest! {
    #[test]
    fn never_more_than_the_quota_is_served_in_any_window_it_promises(
        drawn in drawn(),
        requests in prop::collection::vec((0u64..5_000_000_000, 0u64..60), 1..120),
    ) {
        let mut meter = meter(drawn.limits());
        let (mut now, mut served) = (Duration::ZERO, Vec::new());
        for (gap, tokens) in requests {
            now += Duration::from_nanos(gap);
            if ask(&mut meter, now, Cost::tokens(tokens, 0)) == Verdict::Admitted {
                served.push((now.as_nanos(), tokens));
            }
        }
        prop_assert!(drawn.keeps(drawn.tokens, &served));
        let requests: Vec<_> = served.iter().map(|(at, _)| (*at, 1)).collect();
        prop_assert!(drawn.keeps(drawn.requests, &requests));
        let (day, end) = (10 * drawn.window.as_nanos(), drawn.day_end.as_nanos());
        let day_of = |at: u128| if at < end { 0 } else { 1 + (at - end) / day };
        if let Some(daily) = drawn.daily {
            prop_assert!(requests.iter().all(|(t, _)| sum(&requests, |u| day_of(u) == day_of(*t)) <= u128::from(daily)));
        }
    }

    #[test]
    fn a_wait_is_exact(
        drawn in drawn(),
        requests in prop::collection::vec((0u64..2_000_000_000, 0u64..60), 1..60),
    ) {
        let mut meter = meter(drawn.limits());
        let mut now = Duration::ZERO;
        for (gap, tokens) in requests {
            now += Duration::from_nanos(gap);
            let cost = Cost::tokens(tokens, 0);
            let fits_in = meter.fits_in(at(now), cost);
            let Verdict::Throttled(throttle) = ask(&mut meter, now, cost) else {
                prop_assert_eq!(fits_in, Some(Duration::ZERO));
                continue;
            };
            prop_assert!(fits_in <= throttle.wait && fits_in != Some(Duration::ZERO));
            let Some(wait) = throttle.wait else {
                prop_assert!(throttle.larger_than_limit.is_some());
                continue;
            };
            prop_assert!(!wait.is_zero());
            let early = ask(&mut meter.clone(), now + wait - Duration::from_nanos(1), cost);
            prop_assert!(matches!(early, Verdict::Throttled(_)));
            prop_assert_eq!(ask(&mut meter.clone(), now + wait, cost), Verdict::Admitted);
            prop_assert!(throttle.replenished >= Some(wait));
        }
    }
}
