//! Callers that leave the queue at the gate, wherever they stand in it.

use std::cell::RefCell;
use std::future::poll_fn;
use std::pin::Pin;
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;

use forbear::event::{Event, GateResult};
use forbear::{Policy, Pool};
use tokio::time::{advance, timeout};

use crate::scene::{S, answer, throttle};
use crate::{Watched, poll_times, watched};

type Caller<'a> = Pin<Box<dyn Future<Output = ()> + 'a>>;

/// Callers that wait at a shut pool, in this order; each tells its number when it went through.
struct Line<'a> {
    calls: Vec<Option<Caller<'a>>>,
    passed: Rc<RefCell<Vec<usize>>>,
}

impl<'a> Line<'a> {
    async fn of(callers: usize, watched: &'a Watched) -> Self {
        let passed = Rc::new(RefCell::new(Vec::new()));
        let mut calls = Vec::new();
        for number in 0..callers {
            let passed = Rc::clone(&passed);
            let caller: Caller<'a> = Box::pin(async move {
                let call = watched.pool.call(&watched.policy).run(|_| {
                    passed.borrow_mut().push(number);
                    async { answer(200) }
                });
                call.await.expect("let in");
            });
            calls.push(Some(caller));
        }
        let mut line = Self { calls, passed };
        line.poll().await;
        line
    }

    /// Polls every caller once.
    async fn poll(&mut self) {
        for place in &mut self.calls {
            let ended = match place {
                Some(call) => poll_fn(|cx| Poll::Ready(call.as_mut().poll(cx).is_ready())).await,
                None => false,
            };
            if ended {
                *place = None;
            }
        }
    }

    fn leaves(&mut self, number: usize) {
        self.calls[number] = None;
    }

    /// Waits, woken only by what wakes the callers, until all who are left went through.
    async fn drain(mut self) -> Vec<usize> {
        let all = poll_fn(|cx| {
            for place in &mut self.calls {
                if place.as_mut().is_some_and(|call| call.as_mut().poll(cx).is_ready()) {
                    *place = None;
                }
            }
            if self.calls.iter().all(Option::is_none) { Poll::Ready(()) } else { Poll::Pending }
        });
        timeout(50 * S, all).await.expect("nobody is left behind");
        self.passed.borrow().clone()
    }
}

#[tokio::test(start_paused = true)]
async fn a_head_that_leaves_the_queue_hands_its_timer_on() {
    let watched = watched();
    watched.shut_for(5).await;
    let mut line = Line::of(3, &watched).await;
    assert_eq!(watched.calls("at_gate"), 3.0);
    line.leaves(0);
    assert_eq!(watched.calls("at_gate"), 2.0);
    assert_eq!(line.drain().await, [1, 2]);
    watched.is_clean();
    watched.every_call_ended_once();
}

#[tokio::test(start_paused = true)]
async fn a_waiter_that_leaves_the_middle_of_the_queue_is_not_missed() {
    let watched = watched();
    watched.shut_for(5).await;
    let mut line = Line::of(4, &watched).await;
    line.leaves(2);
    line.leaves(1);
    assert_eq!(line.drain().await, [0, 3]);
    watched.is_clean();
}

#[tokio::test(start_paused = true)]
async fn a_head_that_was_woken_and_leaves_without_looking_blocks_nobody() {
    let watched = watched();
    watched.shut_for(5).await;
    let mut line = Line::of(3, &watched).await;
    // The reopening comes, the head's timer fires, and the head is dropped before it is polled again.
    advance(5 * S + S / 2).await;
    line.leaves(0);
    assert_eq!(line.drain().await, [1, 2]);
}

#[tokio::test(start_paused = true)]
async fn thousands_of_waiters_that_leave_in_any_order_leave_the_rest_in_theirs() {
    let watched = watched();
    watched.shut_for(5).await;
    let mut line = Line::of(3_000, &watched).await;
    assert_eq!(watched.calls("at_gate"), 3_000.0);
    // Every seventh stays; the others leave in an order that jumps about, some of them after the reopening.
    let leavers: Vec<usize> = (0..3_000).map(|n| (n * 1_237) % 3_000).filter(|n| n % 7 != 0).collect();
    let (early, late) = leavers.split_at(2_000);
    early.iter().for_each(|&number| line.leaves(number));
    advance(5 * S + S / 2).await;
    late.iter().for_each(|&number| line.leaves(number));
    let stayed: Vec<usize> = (0..3_000).filter(|n| n % 7 == 0).collect();
    assert_eq!(line.drain().await, stayed);
    watched.is_clean();
    watched.every_call_ended_once();
}

#[tokio::test(start_paused = true)]
async fn a_wait_at_the_gate_that_is_dropped_is_told_as_cancelled() {
    let watched = watched();
    watched.shut_for(30).await;
    let mut line = Line::of(2, &watched).await;
    advance(2 * S).await;
    line.leaves(1);
    line.leaves(0);
    let told = |event: &Event<'_>| match *event {
        Event::GateWaited { waited, result, .. } => (waited, result) == (2 * S, GateResult::Cancelled),
        _ => false,
    };
    assert_eq!(watched.recorder.count(told), 2);
    watched.every_call_ended_once();
}

#[tokio::test(start_paused = true)]
async fn a_head_that_is_kept_but_never_polled_again_keeps_nobody_past_his_deadline() {
    let watched = watched();
    watched.shut_for(5).await;
    // As in a `select!` whose other branch awaits something long: woken, but nobody polls it.
    let mut parked = Box::pin(watched.pool.call(&watched.policy).run(|_| async { answer(200) }));
    let (pool, start) = (watched.pool.clone(), tokio::time::Instant::now());
    assert!(poll_fn(|cx| Poll::Ready(parked.as_mut().poll(cx))).await.is_pending());
    let second = tokio::spawn(async move {
        let short = Policy::interactive(20 * S).build().expect("a valid policy");
        let ended = pool.call(&short).run(|_| async { answer(200) }).await;
        (ended.is_err(), start.elapsed())
    });
    let (refused, after) = timeout(120 * S, second).await.expect("it ends by its deadline").expect("no panic");
    assert!(refused && after <= 20 * S + Duration::from_millis(1), "{after:?}");
    drop(parked);
    watched.is_clean();
}

/// Real time: the clocks of two runtimes cannot be paused together.
#[test]
fn a_head_whose_runtime_is_gone_hands_over_to_waiters_of_another() {
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let (first, second) = (runtime(), runtime());
    let watched = watched();
    let call =
        |pool: Pool, policy: Policy| async move { pool.call(&policy).run(|_| async { answer(200) }).await.is_ok() };
    let (pool, policy) = (watched.pool.clone(), watched.policy.clone());
    first.block_on(async {
        let shut = watched.pool.call(&watched.policy).run(|_| async { throttle(1) });
        poll_times(shut, 1).await;
        assert!(watched.is_shut());
        tokio::spawn(call(pool.clone(), policy.clone()));
        tokio::task::yield_now().await;
    });
    assert_eq!(watched.calls("at_gate"), 1.0);
    let waiter = second.spawn(call(pool, policy));
    second.block_on(tokio::task::yield_now());
    assert_eq!(watched.calls("at_gate"), 2.0);
    drop(first);
    assert_eq!(watched.calls("at_gate"), 1.0);
    let ended = second.block_on(async { timeout(20 * S, waiter).await });
    assert!(ended.expect("it is let in").expect("no panic"));
    watched.is_clean();
}
