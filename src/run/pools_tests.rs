//! Which pools are kept, which are forgotten, and how often all are looked through.

use std::time::Duration;

use super::*;
use crate::provider;
use crate::run::engine::Forbear;

/// A handle of its own, given back at once.
fn named(forbear: &Forbear, name: &str) -> crate::Pool {
    forbear.pool(provider::generic(), ["customers", name]).build().expect("a valid pool")
}

fn kept(forbear: &Forbear) -> usize {
    forbear.pools.registry().levels.len()
}

async fn later(time: Duration) {
    tokio::time::advance(time).await;
}

#[tokio::test(start_paused = true)]
async fn a_hundred_thousand_pools_are_looked_through_a_few_times_at_most() {
    let forbear = Forbear::builder().build().expect("valid settings");
    for number in 0..100_000 {
        named(&forbear, &number.to_string());
    }
    let looked_at = forbear.pools.registry().looked_at;
    // The level above them is one more.
    assert_eq!(kept(&forbear), 100_001);
    assert!(looked_at <= 2 * 100_000, "{looked_at} looks for 100,000 pools");
    // Whoever asks then finds them in one look each, and they are gone in one.
    later(IDLE).await;
    named(&forbear, "0");
    assert_eq!(forbear.pools.registry().looked_at, looked_at + 100_001);
    assert_eq!(kept(&forbear), 2);
}

#[tokio::test(start_paused = true)]
async fn what_is_held_called_or_shut_stays_and_the_rest_is_forgotten_after_ten_minutes() {
    let forbear = Forbear::builder().build().expect("valid settings");
    for number in 0..FEW {
        named(&forbear, &format!("idle-{number}"));
    }
    let held = named(&forbear, "held");
    let streaming = named(&forbear, "streaming").shared.node.clone();
    named(&forbear, "shut").shut(3 * IDLE, "a test").expect("in range");
    later(IDLE / 2).await;
    let named_again = named(&forbear, "named-again").shared.node.calls();
    assert_eq!((kept(&forbear), named_again), (FEW + 5, 0));
    later(IDLE / 2).await;
    named(&forbear, "new");
    let names: Vec<_> = forbear.pools().into_iter().filter_map(|pool| pool.path.last().cloned()).collect();
    assert_eq!(names, ["held", "named-again", "new", "shut", "streaming"]);
    drop((held, streaming));
    later(4 * IDLE).await;
    // Few are not worth looking through: more are made first.
    for number in 0..=FEW {
        named(&forbear, &format!("more-{number}"));
    }
    later(IDLE).await;
    let gone = forbear.pools().into_iter().filter(|pool| !pool.path[1].starts_with("more")).count();
    assert_eq!(gone, 0);
}

#[tokio::test(start_paused = true)]
async fn a_handle_for_each_request_finds_the_same_pool() {
    let forbear = Forbear::builder().build().expect("valid settings");
    let first = Arc::as_ptr(&named(&forbear, "a").shared);
    for _ in 0..100 {
        later(IDLE / 2).await;
        assert_eq!(Arc::as_ptr(&named(&forbear, "a").shared), first);
    }
}

#[test]
fn an_engine_ends_with_its_last_handle() {
    let forbear = Forbear::builder().build().expect("valid settings");
    let pool = named(&forbear, "a");
    let weak = Arc::downgrade(&forbear.pools);
    drop(forbear);
    assert!(weak.upgrade().is_some(), "a pool's handle keeps it");
    drop(pool);
    assert!(weak.upgrade().is_none(), "nothing keeps it");
}
