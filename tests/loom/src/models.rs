//! What must hold whatever the order.

use std::sync::Arc;

use loom::model::Builder;
use loom::sync::Notify;
use loom::sync::atomic::{AtomicBool, Ordering};
use loom::thread;

use crate::flow::Flow;
use crate::level::Level;

/// Whether a level is shut.
type Pool = Level<bool, ()>;

/// Every order with at most five preemptions, in a few seconds; without a bound it is every order at all, in about
/// ten minutes. `LOOM_MAX_PREEMPTIONS` sets another bound.
fn explore(model: impl Fn() + Send + Sync + 'static) {
    let mut builder = Builder::new();
    builder.preemption_bound = builder.preemption_bound.or(Some(5));
    builder.check(model);
}

fn level(above: Option<&Arc<Pool>>) -> Arc<Pool> {
    Pool::new(above.map(Arc::clone), false, ())
}

/// As `gate::node` does when a throttle is reported.
fn shut(level: &Pool) {
    *level.state() = true;
    level.bar(&|_| {});
}

fn reopen(level: &Pool) {
    *level.state() = false;
}

/// As `gate::node` asks: passes if all levels flow, and then nobody need ask any more.
fn asks(leaf: &Pool) -> bool {
    let mut states = leaf.states();
    let flows = states.each().all(|shut| !*shut);
    if flows {
        leaf.unbar(&states);
    }
    flows
}

/// A call at a flowing pool; whether it was let go.
fn passes(leaf: &Pool) -> bool {
    let Ok(number) = leaf.flow.pass() else { return false };
    let _ = leaf.flow.leave(number);
    true
}

#[test]
fn who_comes_after_a_shut_was_reported_is_held() {
    explore(|| {
        let (above, told) = (level(None), Arc::new(AtomicBool::new(false)));
        let leaf = level(Some(&above));
        let reporter = {
            let told = Arc::clone(&told);
            thread::spawn(move || {
                shut(&above);
                told.store(true, Ordering::Release);
            })
        };
        let after = told.load(Ordering::Acquire);
        assert!(!(passes(&leaf) && after), "let go although the report had returned");
        reporter.join().expect("no panic");
        assert!(!passes(&leaf) && leaf.flow.in_flight() == 0);
    });
}

#[test]
fn who_asks_at_a_reopened_pool_never_lifts_the_bar_of_a_shut_that_comes_meanwhile() {
    explore(|| {
        let above = level(None);
        let leaf = level(Some(&above));
        shut(&above);
        reopen(&above);
        let asking = {
            let leaf = Arc::clone(&leaf);
            thread::spawn(move || asks(&leaf))
        };
        let beside = {
            let leaf = Arc::clone(&leaf);
            thread::spawn(move || shut(&leaf))
        };
        shut(&above);
        assert!(!passes(&leaf), "let go although the report had returned");
        asking.join().expect("no panic");
        beside.join().expect("no panic");
        assert!(leaf.flow.is_barred());
    });
}

#[test]
fn a_pool_made_while_a_level_above_it_shuts_is_held_too() {
    explore(|| {
        let above = level(None);
        let making = {
            let above = Arc::clone(&above);
            thread::spawn(move || level(Some(&above)))
        };
        shut(&above);
        let leaf = making.join().expect("no panic");
        assert!(!passes(&leaf));
    });
}

#[test]
fn a_drain_hears_of_the_last_that_comes_back_and_lets_nobody_in_after_it() {
    explore(|| {
        let (flow, came_back, drained) =
            (Arc::new(Flow::new()), Arc::new(Notify::new()), Arc::new(AtomicBool::new(false)));
        let call = {
            let (flow, came_back, drained) = (Arc::clone(&flow), Arc::clone(&came_back), Arc::clone(&drained));
            thread::spawn(move || {
                let watched = match flow.pass() {
                    Ok(number) => {
                        assert!(!drained.load(Ordering::Acquire), "let go after the drain was over");
                        flow.leave(number)
                    }
                    Err(barred) => barred.watched,
                };
                if watched {
                    came_back.notify();
                }
            })
        };
        flow.watch();
        flow.bar();
        // A wake-up that never comes is a deadlock, which the checker reports.
        while flow.in_flight() > 0 {
            came_back.wait();
        }
        drained.store(true, Ordering::Release);
        call.join().expect("no panic");
        assert_eq!(flow.in_flight(), 0);
    });
}

#[test]
fn a_stream_and_its_attempt_are_counted_once_whichever_ends_first() {
    explore(|| {
        let flow = Arc::new(Flow::new());
        let attempt = flow.pass().expect("it flows");
        let other = flow.pass().expect("it flows");
        let taken_over = flow.stream_begins(Some(attempt));
        assert_eq!((taken_over, flow.in_flight()), (Some(attempt), 2));
        let stream = {
            let flow = Arc::clone(&flow);
            thread::spawn(move || flow.stream_ends(taken_over))
        };
        let beside = {
            let flow = Arc::clone(&flow);
            thread::spawn(move || flow.leave(other))
        };
        let _ = flow.leave(attempt);
        let _ = (stream.join().expect("no panic"), beside.join().expect("no panic"));
        assert_eq!(flow.in_flight(), 0);
    });
}

#[test]
fn two_streams_that_begin_and_end_together_leave_nothing_behind() {
    explore(|| {
        let flow = Arc::new(Flow::new());
        let streaming = |flow: &Arc<Flow>| {
            let flow = Arc::clone(flow);
            move || {
                let attempt = flow.enter();
                let stream = flow.stream_begins(Some(attempt));
                let _ = flow.leave(attempt);
                assert!(flow.in_flight() >= 1, "a stream is under way");
                let _ = flow.stream_ends(stream);
            }
        };
        let first = thread::spawn(streaming(&flow));
        streaming(&flow)();
        first.join().expect("no panic");
        assert_eq!((flow.in_flight(), flow.numbers()), (0, 2));
    });
}

#[test]
fn no_two_requests_under_way_have_the_same_number() {
    explore(|| {
        let flow = Arc::new(Flow::new());
        let passing = || {
            let flow = Arc::clone(&flow);
            // Turned away, it asks and is let in.
            thread::spawn(move || flow.pass().unwrap_or_else(|_| flow.enter()))
        };
        let (first, second) = (passing(), passing());
        flow.bar();
        let numbers = [flow.enter(), first.join().expect("no panic"), second.join().expect("no panic")];
        assert!(numbers[0] != numbers[1] && numbers[1] != numbers[2] && numbers[0] != numbers[2], "{numbers:?}");
        assert_eq!(flow.in_flight(), 3);
    });
}
