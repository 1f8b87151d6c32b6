//! Customers who bring keys of their own: what shuts one of them never shuts another. Over real HTTP.
#![cfg(all(feature = "emulator", feature = "reqwest"))]
#![allow(clippy::disallowed_methods, reason = "a test waits as its callers do")]

use std::time::Duration;

use forbear::core::signal::LimitClass;
use forbear::emulator::Emulator;
use forbear::{Forbear, GateState, Policy, Pool, Refusal, provider};

const S: Duration = Duration::from_secs(1);

/// A customer: an account at the provider, and two models that are used with its key.
struct Customer {
    account: Emulator,
    models: [Pool; 2],
    client: reqwest::Client,
}

impl Customer {
    async fn new(forbear: &Forbear, name: &str) -> Self {
        let account = Emulator::builder().speaks(provider::openai()).start().await.expect("started");
        let pool = |model| forbear.pool(provider::openai(), [name, model]).build().expect("a valid pool");
        let models = ["gpt", "mini"].map(pool);
        Self { account, models, client: reqwest::Client::builder().no_proxy().build().expect("a client") }
    }

    /// One call with each model; why each failed, if it did.
    async fn call_each(&self) -> [Option<(LimitClass, Option<Refusal>)>; 2] {
        let mut ended = [None; 2];
        for (pool, ended) in self.models.iter().zip(&mut ended) {
            let policy = Policy::interactive(30 * S).attempts(1).build().expect("a valid policy");
            let url = self.account.url();
            let call = pool.call(&policy).run(|_| self.client.post(&url).body("{}").send());
            *ended = call.await.err().map(|error| (error.limit_class(), error.refusal()));
        }
        ended
    }

    fn requests(&self) -> u64 {
        self.account.counts().requests
    }

    fn states(&self) -> [GateState; 2] {
        self.models.each_ref().map(|model| model.snapshot().state)
    }
}

#[tokio::test(start_paused = true)]
async fn one_customers_spend_limit_shuts_all_models_of_his_and_nothing_of_another() {
    let forbear = Forbear::builder().seed(7).build().expect("valid settings");
    let (broke, solvent) = (Customer::new(&forbear, "broke").await, Customer::new(&forbear, "solvent").await);
    broke.account.spend(true);
    let spent = LimitClass::Spend;
    assert_eq!(broke.call_each().await, [Some((spent, None)), Some((spent, Some(Refusal::Spent)))]);
    assert_eq!((broke.states(), solvent.states()), ([GateState::Shut; 2], [GateState::Flowing; 2]));
    for _ in 0..50 {
        assert_eq!(solvent.call_each().await, [None; 2]);
        assert_eq!(broke.call_each().await, [Some((spent, Some(Refusal::Spent))); 2]);
    }
    assert_eq!((solvent.requests(), broke.requests()), (100, 1), "the account was asked once, and never again");

    // He pays; the next probe finds out.
    broke.account.spend(false);
    tokio::time::advance(300 * S).await;
    assert_eq!(broke.call_each().await[0], None);
    tokio::time::advance(2 * S).await;
    assert_eq!(broke.call_each().await, [None; 2]);
}

#[tokio::test(start_paused = true)]
async fn one_customers_rate_limit_holds_his_callers_and_nobody_elses() {
    let forbear = Forbear::builder().seed(7).build().expect("valid settings");
    let (busy, quiet) = (Customer::new(&forbear, "busy").await, Customer::new(&forbear, "quiet").await);
    busy.account.shut_for(60 * S);
    assert!(busy.call_each().await[0].is_some());
    let held = busy.requests();
    assert_eq!(quiet.call_each().await, [None; 2]);
    let policy = Policy::interactive(5 * S).build().expect("a valid policy");
    let refused = busy.models[0].call(&policy).run(|_| busy.client.post(busy.account.url()).send()).await;
    assert_eq!(refused.expect_err("held").refusal(), Some(Refusal::Deadline));
    assert_eq!(busy.requests(), held);
}

#[tokio::test(start_paused = true)]
async fn a_thousand_customers_are_a_thousand_gates() {
    let forbear = Forbear::builder().seed(7).build().expect("valid settings");
    let account = Emulator::builder().speaks(provider::openai()).start().await.expect("started");
    let client = reqwest::Client::builder().no_proxy().build().expect("a client");
    let policy = Policy::interactive(30 * S).attempts(1).build().expect("a valid policy");
    // Every tenth is broke when they call; a handle for each request, as a service has it.
    let ask = |number: usize| {
        let pool = forbear.pool(provider::openai(), [format!("customer-{number}"), "gpt".into()]);
        let (policy, client, url) = (&policy, &client, account.url());
        async move {
            let pool = pool.build().expect("a valid pool");
            pool.call(policy).run(|_| client.post(&url).body("{}").send()).await.is_ok()
        }
    };
    for number in 0..1_000 {
        account.spend(number % 10 == 0);
        assert_eq!(ask(number).await, number % 10 != 0);
    }
    account.spend(false);
    for number in 0..1_000 {
        assert_eq!(ask(number).await, number % 10 != 0, "customer {number}");
    }
    let shut = forbear.pools().into_iter().filter(|pool| pool.state == GateState::Shut).count();
    assert_eq!((shut, account.counts().requests), (100, 1_900));
}
