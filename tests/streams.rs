//! Streams that outlive their calls, against a provider that limits how many may run at a time.
//!
//! The emulator counts what is really open. Time is paused, its connections are real.
#![cfg(all(feature = "emulator", feature = "reqwest"))]
#![allow(clippy::disallowed_methods, reason = "a test waits as its callers do")]

use std::time::Duration;

use forbear::emulator::Emulator;
use forbear::{Forbear, InFlight, Observation, Policy, Pool, provider};
use tokio::task::{JoinHandle, JoinSet};

const S: Duration = Duration::from_secs(1);
const AT_A_TIME: u32 = 3;

/// An answer that is still being sent although its call has ended.
struct Stream {
    rest: JoinHandle<Result<reqwest::Response, reqwest::Error>>,
    permit: Option<InFlight>,
}

impl Stream {
    /// Reads it to its end; its place is given back then.
    async fn read(self) -> u16 {
        let answer = self.rest.await.expect("no panic").expect("an answer");
        drop(self.permit);
        answer.status().as_u16()
    }
}

struct Scene {
    emulator: Emulator,
    pool: Pool,
    client: reqwest::Client,
}

impl Scene {
    async fn new() -> Self {
        let builder = Emulator::builder().speaks(provider::deepseek()).concurrency(AT_A_TIME).service_time(2 * S);
        let emulator = builder.start().await.expect("started");
        let forbear = Forbear::builder().seed(7).build().expect("valid settings");
        let pool = forbear.pool(provider::deepseek(), ["prod"]).build().expect("a valid pool");
        Self { emulator, pool, client: reqwest::Client::builder().no_proxy().build().expect("a client") }
    }

    /// So many calls at once, each of which ends when its stream begins; read to their ends. How many requests were throttled
    /// meanwhile.
    async fn streams(&self, number: usize, keep_permit: bool) -> u64 {
        let before = self.emulator.counts().throttled;
        let mut readers = JoinSet::new();
        for _ in 0..number {
            let (pool, client, url) = (self.pool.clone(), self.client.clone(), self.emulator.url());
            readers.spawn(async move {
                let policy = Policy::interactive(600 * S).attempts(100).build().expect("a valid policy");
                let stream = pool
                    .call(&policy)
                    .classify(|begun: &Result<Stream, reqwest::Response>| match begun {
                        Ok(_) => Observation::ok(),
                        Err(refused) => Observation::status(refused.status().as_u16()).headers(refused.headers()),
                    })
                    .run(|attempt| {
                        let sent = client.post(&url).body("{}").send();
                        async move {
                            let mut rest = tokio::spawn(sent);
                            // A refusal comes at once; what takes longer is a stream that has begun.
                            match tokio::time::timeout(S / 10, &mut rest).await {
                                Ok(refused) => Err(refused.expect("no panic").expect("an answer")),
                                Err(_) => Ok(Stream { rest, permit: keep_permit.then(|| attempt.permit()) }),
                            }
                        }
                    });
                let stream = stream.await.unwrap_or_else(|error| panic!("{error}"));
                assert_eq!(stream.read().await, 200);
            });
        }
        while let Some(ended) = readers.join_next().await {
            ended.expect("no panic");
        }
        assert_eq!(self.pool.snapshot().in_flight, 0);
        self.emulator.counts().throttled - before
    }
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_holds_its_permit_is_counted_until_its_end() {
    let scene = Scene::new().await;
    // The first burst finds the limit out.
    let found_out = scene.streams(8, true).await;
    assert!(found_out >= 5, "{found_out} throttled");
    assert_eq!(scene.pool.snapshot().in_flight_limit, Some(AT_A_TIME));
    // From then on only now and then one more is tried.
    let tried = scene.streams(30, true).await;
    assert!(tried <= 5, "{tried} throttled of 30");
    assert_eq!(scene.emulator.counts().peak_in_flight, AT_A_TIME);
}

#[tokio::test(start_paused = true)]
async fn one_that_does_not_is_forgotten_with_its_call_and_the_next_one_throttled_for_it() {
    let scene = Scene::new().await;
    scene.streams(8, false).await;
    let throttled = scene.streams(30, false).await;
    assert!(throttled > 20, "{throttled} throttled of 30");
}
