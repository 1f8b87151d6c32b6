//! A pacer that holds nobody: it only tells whether any pacing could serve a call in time.
//!
//! Each limit is a bucket that refills evenly and holds a quarter of its window: what the best pacing could have saved up
//! for a burst. A call waits for the last of its buckets. One that would have to wait beyond its deadline could not be
//! served by any pacing, however patient; it takes nothing from the buckets, as it is not sent.

use std::time::Duration;

use crate::core::estimate::Estimate;
use crate::core::moment::Moment;
use crate::core::quota_board::QuotaBoard;
use crate::core::signal::Dimension;

/// The share of a window's grant that can be saved up.
const BURST: f64 = 0.25;

/// The buckets of one pool's limits. Knows the calls of this process alone: with several replicas each gets its share of
/// the limit, and demand that is spread unevenly looks larger than it is.
#[derive(Clone, Debug)]
pub struct ShadowPacer {
    replicas: f64,
    buckets: [Option<Bucket>; Dimension::ALL.len()],
}

/// What is saved up of one limit; less than nothing where calls have been promised what is still to come.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    level: f64,
    at: Moment,
}

impl ShadowPacer {
    /// Full buckets; the limits are shared by so many replicas.
    #[must_use]
    pub fn new(replicas: u32) -> Self {
        Self { replicas: f64::from(replicas.max(1)), buckets: [None; Dimension::ALL.len()] }
    }

    /// Whether a call that arrives now, with this estimate and deadline, can be served within the limits known. One for
    /// which no limit is known can.
    pub fn can_serve(
        &mut self,
        board: &QuotaBoard,
        estimate: Option<Estimate>,
        deadline: Duration,
        now: Moment,
    ) -> bool {
        let mut taken = [None; Dimension::ALL.len()];
        let mut wait = 0_f64;
        for (dimension, amount, window) in board.limits() {
            let need = need(dimension, estimate);
            let amount = amount as f64 / self.replicas;
            let rate = amount / window.as_secs_f64();
            if need <= 0.0 || rate <= 0.0 {
                continue;
            }
            // What one call needs can be saved up for it in any case.
            let holds = (BURST * amount).max(need);
            let level = self.buckets[dimension as usize]
                .map_or(holds, |bucket| (bucket.level + bucket.at.until(now).as_secs_f64() * rate).min(holds));
            wait = wait.max((need - level) / rate);
            taken[dimension as usize] = Some(Bucket { level: level - need, at: now });
        }
        let in_time = wait <= deadline.as_secs_f64();
        if in_time {
            for (bucket, taken) in self.buckets.iter_mut().zip(taken) {
                *bucket = taken.or(*bucket);
            }
        }
        in_time
    }
}

/// How much of a limit a call needs; nothing where that was not estimated.
fn need(dimension: Dimension, estimate: Option<Estimate>) -> f64 {
    let tokens = |count: fn(&Estimate) -> u32| estimate.as_ref().map_or(0.0, |estimate| f64::from(count(estimate)));
    let (input, output) = (tokens(Estimate::input_tokens), tokens(Estimate::output_tokens));
    match dimension {
        Dimension::Requests => 1.0,
        Dimension::InputTokens => input,
        Dimension::OutputTokens => output,
        Dimension::Tokens => input + output + tokens(Estimate::unsided_tokens),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::limit::Limit;

    fn board(limits: &[Limit]) -> QuotaBoard {
        let mut board = QuotaBoard::default();
        board.configured = limits.to_vec();
        board
    }

    /// How many of `calls` that arrive each second can be served within `deadline`, in ten minutes.
    fn served(calls: u32, deadline: u64, estimate: Option<Estimate>, board: &QuotaBoard, replicas: u32) -> u32 {
        let mut pacer = ShadowPacer::new(replicas);
        let arrivals = (0..600 * calls).map(|n| Moment::START.after(Duration::from_secs(u64::from(n / calls))));
        let deadline = Duration::from_secs(deadline);
        arrivals.map(|now| u32::from(pacer.can_serve(board, estimate, deadline, now))).sum()
    }

    #[test]
    fn what_the_limit_grants_is_feasible_and_what_is_more_is_not() {
        let board = board(&[Limit::requests_per_minute(60)]);
        assert_eq!(served(1, 10, None, &board, 1), 600, "one a second is the limit");
        let twice = served(2, 10, None, &board, 1);
        assert!((600..=630).contains(&twice), "ten minutes' grant, the burst and a deadline's worth: {twice}");
        let shared = served(1, 10, None, &board, 2);
        assert!((300..=320).contains(&shared), "half of it: {shared}");
    }

    #[test]
    fn the_scarcest_limit_decides_and_tokens_count_only_where_they_are_estimated() {
        let board = board(&[Limit::requests_per_minute(60), Limit::input_tokens_per_minute(6_000)]);
        let estimate = Some(Estimate::input(200).output(50));
        let some = served(1, 10, estimate, &board, 1);
        assert!((300..=320).contains(&some), "{some}");
        assert_eq!(served(1, 10, None, &board, 1), 600);
    }

    #[test]
    fn without_a_known_limit_every_call_is_feasible_and_a_daily_limit_is_none_of_pacing() {
        assert_eq!(served(10, 1, None, &board(&[]), 1), 6_000);
        assert_eq!(served(10, 1, None, &board(&[Limit::requests_per_day(10)]), 1), 6_000);
    }
}
