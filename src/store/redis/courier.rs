//! Carries what gates have to tell to the store, and reads from it what may have been missed.
//!
//! | when | what |
//! |---|---|
//! | a throttle shut a pool or moved its end | a report, one per pool at most in a trip |
//! | somebody waits for a slot of a pace all share | a few slots are asked for |
//! | every 2 s while a pool is shut or no subscription stands, else every 15 s (up to a fifth sooner) | all pools in use are read in one trip |
//! | at once on a new subscription, and for a new pool | the same |
//! | every 15 s, and with the line before | this replica says it is alive |
//! | when the store is found again | the same, and when all who found it begin together |
//!
//! A report that could not be delivered stays in its slot and is tried again while its shut lasts. Where somebody has put
//! something else under a pool's key, that pool is not shared, and the others are.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use redis::Pipeline;
use tokio::sync::Notify;

use crate::clock;
use crate::core::dice::Dice;
use crate::core::gate::{STRIKES_FADE_AFTER, longest_shut};
use crate::core::moment::Moment;
use crate::event::Event;
use crate::event::words::StoreOperation;
use crate::store::news::{KEPT_AFTER_END, Line, OLDEST_REPORT, end_word};
use crate::store::order::Order;
use crate::store::redis::ask::Unanswered;
use crate::store::redis::breaker::{FOUND_WITHIN, jittered};
use crate::store::redis::hub::Hub;
use crate::store::redis::link::PoolLink;
use crate::store::redis::operator::invocation;
use crate::store::redis::outbox::Slip;
use crate::store::redis::permit;
use crate::store::redis::stored::{FIELDS, READ_AT_ONCE, Stored};

/// Between two readings while something is shut, or news could be missed.
const READ_OFTEN: Duration = Duration::from_secs(2);
/// Between two readings otherwise, and between two signs of life.
const READ_RARELY: Duration = Duration::from_secs(15);
/// A replica that gave no sign of life for this long is gone.
const ALIVE_FOR: Duration = Duration::from_secs(45);
/// The longest wait before an undelivered report is tried again.
const TRY_AGAIN: Duration = Duration::from_millis(500);
/// Pools of each replica that an operator's list shows.
const LISTED: usize = 500;

/// Tells what there is to tell, until the store is dropped.
pub(super) async fn run(hub: Arc<Hub>) {
    loop {
        if !may_ask(&hub).await {
            continue;
        }
        let delivered = deliver(&hub).await;
        let again_at = match delivered {
            Ok(()) => hub.clock.now().after(READ_RARELY),
            Err(_) => hub.clock.now().after(jittered(TRY_AGAIN, &mut &hub.dice)),
        };
        sleep_or(&hub.work, &hub, again_at, delivered.is_ok()).await;
    }
}

/// Reads what may have been missed and says that this replica is alive, until the store is dropped. Beside the courier, so
/// that nothing that is to be told waits for a reading.
pub(super) async fn read(hub: Arc<Hub>) {
    let mut read_at = hub.clock.now();
    let mut alive_at = read_at;
    loop {
        if !may_ask(&hub).await {
            continue;
        }
        let now = hub.clock.now();
        // What it refuses is to be told: reading alone does not show whether it takes that again.
        let refuses = hub.state().breaker.refuses();
        let asked_to = std::mem::take(&mut hub.state().reconcile);
        if asked_to || now >= read_at {
            let read = reconcile(&hub).await;
            let often = !hub.subscribed.load(Ordering::Relaxed) || any_shut(&hub, now);
            let again_in = match read {
                // Whether it is relied on shows in what it answers to this.
                Err(_) => jittered(TRY_AGAIN, &mut &hub.dice),
                Ok(()) => spread(if often { READ_OFTEN } else { READ_RARELY }, &hub),
            };
            read_at = hub.clock.now().after(again_in);
        }
        // A new subscription may have missed who came; a new pool is to be listed.
        if (asked_to || refuses || now >= alive_at) && say_alive(&hub).await.is_ok() {
            alive_at = hub.clock.now().after(READ_RARELY);
        }
        let next = read_at.min(alive_at.max(hub.clock.now().after(READ_OFTEN)));
        sleep_or(&hub.reading, &hub, next, true).await;
    }
}

/// Whether the store may be asked; where not, only after some waiting.
async fn may_ask(hub: &Hub) -> bool {
    let may_ask = hub.state().breaker.may_ask(hub.clock.now());
    if let Err(again_at) = may_ask {
        hub.clock.sleep_until(again_at).await;
        return hub.clock.now() >= again_at;
    }
    true
}

/// Sleeps until `at`, or until it is notified of something to do and `heeds_work`.
async fn sleep_or(work: &Notify, hub: &Hub, at: Moment, heeds_work: bool) {
    let sleep = hub.clock.sleep_until(at);
    tokio::select! {
        () = sleep => {}
        () = work.notified(), if heeds_work => {}
    }
}

/// Up to a fifth sooner, so that replicas do not read together, and no news is read later than it is said to be.
fn spread(period: Duration, hub: &Hub) -> Duration {
    period - (&mut &hub.dice).within(period / 5)
}

fn any_shut(hub: &Hub, now: Moment) -> bool {
    hub.links().iter().any(|link| link.is_shut(now))
}

/// Tells all there is to tell. What could not be told stays.
async fn deliver(hub: &Arc<Hub>) -> Result<(), Unanswered> {
    let now = hub.clock.now();
    let (slips, reopenings, orders, wants) = {
        let mut state = hub.state();
        let (reopenings, orders) = (std::mem::take(&mut state.reopenings), std::mem::take(&mut state.orders));
        (state.outbox.take(now), reopenings, orders, std::mem::take(&mut state.wants))
    };
    let links = hub.links();
    let link = |tag: &str| links.iter().find(|link| link.tag == tag);
    let mut outcome = Ok(());
    for (tag, slip) in slips {
        let told = match (outcome, link(&tag)) {
            (Ok(()), Some(link)) => report(hub, link, &slip).await,
            // Nobody has the pool any more, but others may: its name is all that is missing.
            (Ok(()), None) => report_of(hub, &tag, "", &slip).await,
            (Err(unanswered), _) => Err(unanswered),
        };
        if but_of_an_entry(told).is_err() {
            outcome = told;
            let now = hub.clock.now();
            hub.state().outbox.put(&tag, slip, now);
        }
    }
    for (tag, admitted) in reopenings {
        let name = link(&tag).map_or("", |link| link.name.as_str());
        // A reopening that cannot be told is not: the others have the shut's own end and their own probes.
        if outcome.is_ok() {
            outcome = but_of_an_entry(reopen(hub, &tag, name, admitted).await);
        }
    }
    for (tag, order) in orders {
        // Found missing again by the next reading.
        if outcome.is_ok() {
            outcome = but_of_an_entry(order_again(hub, &tag, &order).await);
        }
    }
    for (tag, want) in wants {
        let mut grant = None;
        if outcome.is_ok() {
            let asked = permit::ask(hub, &tag, want).await;
            outcome = but_of_an_entry(asked.as_ref().map(|_| ()).map_err(|unanswered| *unanswered));
            grant = asked.unwrap_or_default();
        }
        if let Some(link) = link(&tag) {
            link.grant(grant.as_ref(), hub.clock.now());
        }
    }
    outcome
}

/// What keeps others from being told: not one pool's entry.
fn but_of_an_entry(told: Result<(), Unanswered>) -> Result<(), Unanswered> {
    told.or_else(|unanswered| if unanswered == Unanswered::Entry { Ok(()) } else { Err(unanswered) })
}

/// Tells the store of an order it lost.
async fn order_again(hub: &Hub, tag: &str, order: &Order) -> Result<(), Unanswered> {
    let call = invocation(&hub.scripts.order, &hub.keys, tag, "hold", order, "");
    hub.invoke::<(String, u64)>(StoreOperation::Reopen, &call).await.map(drop)
}

async fn report(hub: &Hub, link: &PoolLink, slip: &Slip) -> Result<(), Unanswered> {
    report_of(hub, &link.tag, &link.name, slip).await?;
    link.was_told(hub.clock.now());
    Ok(())
}

async fn report_of(hub: &Hub, tag: &str, name: &str, slip: &Slip) -> Result<(), Unanswered> {
    let asked_at = hub.clock.now();
    // Never sooner than it was: the end is counted from then.
    let seen_at = hub.state().server_clock.latest_ms(slip.seen_at).unwrap_or(0);
    let mut call = hub.scripts.report.key(hub.keys.entry(tag));
    call.arg(slip.admitted)
        .arg(millis_up(slip.seen_at.until(slip.shut.until)))
        .arg(seen_at)
        .arg(end_word(slip.shut.end))
        .arg(slip.shut.class.as_str())
        .arg(millis_up(longest_shut(slip.shut.class)))
        .arg(millis_up(OLDEST_REPORT))
        .arg(millis_up(STRIKES_FADE_AFTER))
        .arg(millis_up(KEPT_AFTER_END))
        .arg(hub.keys.channel())
        .arg(tag)
        .arg(&hub.replica)
        .arg(name);
    let line: Vec<u8> = hub.invoke(StoreOperation::Report, &call).await?;
    heed(hub, &line, asked_at);
    Ok(())
}

async fn reopen(hub: &Hub, tag: &str, name: &str, admitted: u64) -> Result<(), Unanswered> {
    let asked_at = hub.clock.now();
    let mut call = hub.scripts.reopen.key(hub.keys.entry(tag));
    call.arg(admitted).arg(millis_up(KEPT_AFTER_END)).arg(hub.keys.channel()).arg(tag).arg(&hub.replica).arg(name);
    let line: Vec<u8> = hub.invoke(StoreOperation::Settle, &call).await?;
    heed(hub, &line, asked_at);
    Ok(())
}

/// Takes in an answer: the server's time, and what the entry is now.
fn heed(hub: &Hub, line: &[u8], asked_at: Moment) {
    let now = hub.clock.now();
    if let Some(line) = Line::parse(line) {
        hub.state().server_clock.note(line.news.server_ms, asked_at, now);
    }
    hub.hear(line, now);
}

/// Reads all pools in use; tells again what the store has lost.
async fn reconcile(hub: &Arc<Hub>) -> Result<(), Unanswered> {
    let now = hub.clock.now();
    let used: Vec<Arc<PoolLink>> = hub.links().into_iter().filter(|link| link.is_in_use(now)).collect();
    for links in used.chunks(READ_AT_ONCE) {
        let asked_at = hub.clock.now();
        let mut commands = Pipeline::new();
        commands.cmd("TIME");
        for link in links {
            commands.cmd("HMGET").arg(hub.keys.entry(&link.tag)).arg(FIELDS);
        }
        let answers = hub.query(StoreOperation::Reconcile, &mut commands).await?;
        let now = hub.clock.now();
        let Some((Some(time), answers)) = answers.split_first() else { continue };
        let Some(server_ms) = Stored::server_ms(time) else { continue };
        hub.state().server_clock.note(server_ms, asked_at, now);
        for (link, fields) in links.iter().zip(answers) {
            if let Some(fields) = fields {
                take_in(hub, link, fields, server_ms, asked_at, now);
            }
        }
    }
    Ok(())
}

/// Compares a pool's entry with what its gate holds.
fn take_in(hub: &Hub, link: &PoolLink, fields: &[Option<String>], server_ms: u64, asked_at: Moment, now: Moment) {
    let stored = Stored::parse(fields, server_ms);
    if let Some(stored) = &stored {
        link.hear(&stored.news, stored.by == hub.replica, now);
        if let Some(order) = stored.order.clone() {
            link.read_order(order, now);
        }
    }
    let order = stored.as_ref().and_then(|stored| stored.order.as_ref());
    if let Some(order) = link.order_lost(order, now) {
        hub.state().orders.push((link.tag.clone(), order));
        hub.work.notify_one();
    }
    let ends = stored.and_then(|stored| stored.ends(now));
    if let Some(slip) = link.lost_by_store(ends, asked_at, now) {
        hub.state().outbox.put(&link.tag, slip, now);
        hub.work.notify_one();
        hub.tell(now, &Event::ShutReasserted);
    }
}

async fn say_alive(hub: &Hub) -> Result<(), Unanswered> {
    let now = hub.clock.now();
    let meets = if hub.state().breaker.awaits_others(now) { FOUND_WITHIN } else { Duration::ZERO };
    let mut call = hub.scripts.alive.key(hub.keys.alive());
    call.key(hub.keys.pools()).key(hub.keys.found());
    call.arg(&hub.replica).arg(millis_up(ALIVE_FOR)).arg(hub.keys.channel()).arg(millis_up(meets));
    let used = hub.links().into_iter().filter(|link| link.is_in_use(now)).take(LISTED);
    used.for_each(|link| {
        call.arg(format!("{} {}", link.tag, link.name));
    });
    let (count, begins_in): (u32, u64) = hub.invoke(StoreOperation::Reconcile, &call).await?;
    if !meets.is_zero() {
        let begins_in = Duration::from_millis(begins_in).min(FOUND_WITHIN);
        let now = hub.clock.now();
        hub.state().breaker.begins_with_others(now.after(begins_in));
    }
    hub.count_replicas(count);
    Ok(())
}

/// Whole milliseconds, never fewer.
fn millis_up(time: Duration) -> u64 {
    u64::try_from(time.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX)
}

/// Waits, at most so long, until nothing is left to be told.
pub(super) async fn flush(hub: &Arc<Hub>, limit: Duration) -> bool {
    let told = clock::within(limit, async {
        while !hub.state().outbox.is_empty() {
            if deliver(hub).await.is_err() {
                hub.clock.sleep_until(hub.clock.now().after(TRY_AGAIN / 10)).await;
            }
        }
    });
    told.await.is_some()
}
