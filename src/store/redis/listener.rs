//! Hears what other replicas tell, on a connection of its own.
//!
//! A subscription can be dead without an error: it is pinged every [`PING_EVERY`], and one that misses two is dropped and
//! made anew. Whatever was told meanwhile is read by the courier as soon as the new one stands.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::StreamExt;

use crate::clock;
use crate::event::words::DegradedReason;
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
    loop {
        listen(&hub).await;
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

/// Subscribes, and hears until the connection is lost.
async fn listen(hub: &Hub) {
    let subscription = clock::within(SUBSCRIBE_WITHIN, async {
        let mut subscription = hub.client.get_async_pubsub().await?;
        subscription.subscribe(hub.keys.channel()).await?;
        Ok::<_, redis::RedisError>(subscription)
    });
    // Why it failed is the courier's to say: it meets the same server, and says it once.
    let Some(Ok(subscription)) = subscription.await else { return };
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
                    Some(Err(_)) => return,
                    None if missed == 0 => missed = 1,
                    None => {
                        hub.failed(DegradedReason::Silent, hub.clock.now());
                        return;
                    }
                }
                continue;
            }
        };
        let Some(line) = line else { return };
        missed = 0;
        hub.hear(line.get_payload_bytes(), hub.clock.now());
    }
}
