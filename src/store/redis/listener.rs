//! Hears what other replicas tell, on a connection of its own.
//!
//! A subscription can be dead without an error: it is pinged every [`PING_EVERY`], and one that misses two is dropped and
//! made anew. Whatever was told meanwhile is read by the courier as soon as the new one stands.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::StreamExt;

use crate::clock;
use crate::event::words::{DegradedReason, StoreOutcome};
use crate::store::Note;
use crate::store::redis::ask::{judged, said_of};
use crate::store::redis::breaker::jittered;
use crate::store::redis::hub::Hub;

/// Between two pings, and how long each may take.
const PING_EVERY: Duration = Duration::from_secs(5);
/// How long connecting and subscribing may take.
const SUBSCRIBE_WITHIN: Duration = Duration::from_secs(1);
/// Before the next try.
const TRY_AGAIN: Duration = Duration::from_secs(1);

/// Runs until the store is dropped.
pub(super) async fn run(hub: Arc<Hub>) {
    let mut refused = false;
    loop {
        refused = listen(&hub, refused).await;
        if hub.subscribed.swap(false, Ordering::Relaxed) {
            // From now on news is read, and the next reading is near.
            hub.reconcile_soon();
        }
        let now = hub.clock.now();
        let again_at = now.after(jittered(TRY_AGAIN, &mut &hub.dice));
        let asked_again_at = hub.state().breaker.may_ask(now).err();
        hub.clock.sleep_until(asked_again_at.unwrap_or(again_at).max(again_at)).await;
    }
}

/// Subscribes, and hears until the connection is lost. Whether the server lets nobody subscribe, which is said once.
async fn listen(hub: &Hub, refused_before: bool) -> bool {
    let subscription = clock::within(SUBSCRIBE_WITHIN, async {
        let mut subscription = hub.client.get_async_pubsub().await?;
        subscription.subscribe(hub.keys.channel()).await?;
        Ok::<_, redis::RedisError>(subscription)
    });
    let subscription = match subscription.await {
        Some(Ok(subscription)) => subscription,
        // Of a server that serves the courier only this task can say so.
        Some(Err(error)) if judged(&error) == StoreOutcome::Rejected && hub.state().breaker.is_up() => {
            if !refused_before {
                hub.note(&Note::NoChannel { said: &said_of(&error) });
            }
            return true;
        }
        // Why else it failed is the courier's to say: it meets the same server, and says it once.
        _ => return refused_before,
    };
    let (mut pings, mut lines) = subscription.split();
    hub.subscribed.store(true, Ordering::Relaxed);
    hub.reconcile_soon();
    let mut missed = 0;
    loop {
        let ping_at = hub.clock.now().after(PING_EVERY);
        let line = tokio::select! {
            line = lines.next() => line,
            () = hub.clock.sleep_until(ping_at) => {
                match clock::within(PING_EVERY, pings.ping::<redis::Value>()).await {
                    Some(Ok(_)) => missed = 0,
                    // Whoever refuses it is there.
                    Some(Err(error)) if judged(&error) == StoreOutcome::Rejected => missed = 0,
                    Some(Err(_)) => return false,
                    None if missed == 0 => missed = 1,
                    None => {
                        hub.failed(DegradedReason::Silent, None, hub.clock.now());
                        return false;
                    }
                }
                continue;
            }
        };
        let Some(line) = line else { return false };
        missed = 0;
        hub.hear(line.get_payload_bytes(), hub.clock.now());
    }
}
