//! An operator's orders to a whole fleet, by the command, over a real Redis: every replica obeys within a second.
#![cfg(all(feature = "redis", feature = "emulator", feature = "cli"))]

#[path = "support/command.rs"]
mod command;
#[path = "support/fleet.rs"]
mod fleet;
#[path = "support/server.rs"]
mod server;

use std::process::{Command, Output};
use std::time::Duration;

use command::text;
use fleet::{eventually, met, options, policy, replica, told, url};
use forbear::{GateState, Pool, Refusal};
use http::Response;
use serde_json::Value;
use server::Server;

const POOL: &str = "generic/account/model";
/// Orders are to be obeyed this fast.
const A_SECOND: Duration = Duration::from_secs(1);

fn gate(server: &Server, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_forbear"));
    command.arg("gate").args(arguments).env("FORBEAR_REDIS_URL", url(server)).env("FORBEAR_REDIS_NAMESPACE", "test");
    command.env("USER", "alice").output().expect("the command runs")
}

fn said(server: &Server, arguments: &[&str]) -> String {
    let output = gate(server, arguments);
    assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
    text(&output.stdout)
}

async fn answered(pool: &Pool) -> Result<(), Option<Refusal>> {
    let answer = pool.call(&policy(Duration::from_millis(100))).run(|_| async { Response::new(()) }).await;
    answer.map(drop).map_err(|refused| refused.refusal())
}

async fn throttled(pool: &Pool, retry_after_s: u64) {
    let answer = || Response::builder().status(429).header("retry-after", retry_after_s).body(()).expect("an answer");
    pool.call(&policy(Duration::from_millis(100))).run(|_| async { answer() }).await.expect_err("no time to wait");
}

/// Waits until it holds, at most a second.
#[allow(clippy::disallowed_methods, reason = "orders travel in real time")]
async fn within_a_second(what: &str, holds: impl Fn() -> bool) {
    let began = std::time::Instant::now();
    eventually(what, holds).await;
    assert!(began.elapsed() < A_SECOND, "{what}: after {:?}", began.elapsed());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_order_holds_in_every_replica_within_a_second_is_audited_and_ends_by_another() {
    let server = Server::redis(&[]);
    let (_one, first, heard_first) = replica(options(&server));
    let (_two, second, heard_second) = replica(options(&server));
    met([&heard_first, &heard_second]).await;
    let both = || [first.snapshot(), second.snapshot()];
    let all = |state| both().iter().all(|pool| pool.state == state);

    assert_eq!(
        said(&server, &["shut", POOL, "--for", "1h", "--reason", "the export"]),
        "shut for 3600s by alice: 2 replicas were told\n"
    );
    within_a_second("shut", || all(GateState::Shut)).await;
    assert_eq!(answered(&second).await, Err(Some(Refusal::ByHand)));
    let shown = said(&server, &["show", POOL]);
    assert!(shown.starts_with("generic/account/model: shut by hand of alice (the export), 3"), "{shown}");

    // Replicas share the pace: half of it each, and slots are not handed out twice.
    let paced = said(&server, &["pace", POOL, "--every", "500ms", "--for", "1h", "--reason", "half"]);
    assert_eq!(paced, "one call per 500ms for 3600s by alice: 2 replicas were told\n");
    let mistyped = said(&server, &["shut", "generic/acount/model", "--for", "1s", "--reason", "x"]);
    assert!(mistyped.contains("2 replicas were told\nno replica has used a pool of this name"), "{mistyped}");
    within_a_second("paced", || both().iter().all(|pool| pool.interval == Some(A_SECOND))).await;

    // By a level above, and by the tag that a list shows.
    let list = said(&server, &["list", "--json"]);
    let list: Value = serde_json::from_str(&list).expect("JSON");
    let listed =
        |name: &str| list.as_array().expect("an array").iter().find(|pool| pool["pool"] == name).expect("listed");
    assert_eq!(listed(POOL)["by_hand"]["every_s"], 0.5, "{list}");
    let account = listed("generic/account")["tag"].as_str().expect("a tag").to_owned();
    said(&server, &["shut", &account, "--for", "1h", "--reason", "all of it"]);
    within_a_second("shut", || all(GateState::Shut)).await;
    said(&server, &["reopen", &account, "--reason", "all done"]);
    said(&server, &["reopen", POOL, "--reason", "done"]);
    let free = || both().iter().all(|pool| pool.state != GateState::Shut && pool.paced_by_hand.is_none());
    within_a_second("reopened", free).await;

    for heard in [&heard_first, &heard_second] {
        for line in [
            "gate_operated action=shut reason=\"the export (alice, for all replicas)\"",
            "gate_operated action=paced reason=\"half (alice, for all replicas)\"",
            "gate_operated action=reopened reason=\"done (alice, for all replicas)\"",
        ] {
            assert_eq!(told(heard, line), 1, "{line}: {heard}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_operator_reopens_what_the_provider_shut_and_no_probe_what_an_operator_did() {
    let server = Server::redis(&[]);
    let (_one, first, heard_first) = replica(options(&server));
    let (_two, second, heard_second) = replica(options(&server));
    met([&heard_first, &heard_second]).await;
    throttled(&first, 60).await;
    eventually("the news came", || told(&heard_second, "gate_shut") == 1).await;
    said(&server, &["reopen", POOL, "--reason", "the quota was raised"]);
    within_a_second("reopened", || [&first, &second].iter().all(|pool| pool.snapshot().state != GateState::Shut)).await;

    said(&server, &["shut", POOL, "--for", "1h", "--reason", "the export"]);
    within_a_second("shut", || second.snapshot().state == GateState::Shut).await;
    // News of the provider changes nothing about it, and one who comes late obeys too.
    throttled(&first, 1).await;
    let (_three, late, _) = replica(options(&server));
    within_a_second("the late one obeys", || late.snapshot().shut.is_some_and(|shut| shut.by_hand.is_some())).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_order_outlives_a_store_that_lost_it() {
    let server = Server::redis(&[]);
    let addr = server.addr();
    let (_one, first, heard_first) = replica(options(&server));
    let (_two, _second, heard_second) = replica(options(&server));
    met([&heard_first, &heard_second]).await;
    said(&server, &["shut", POOL, "--for", "1h", "--reason", "the export"]);
    within_a_second("shut", || first.snapshot().state == GateState::Shut).await;
    drop(server);
    let server = Server::redis_at(addr, &[]);
    let (_three, late, _) = replica(options(&server));
    eventually("the late one obeys", || late.snapshot().shut.is_some_and(|shut| shut.by_hand.is_some())).await;
    assert!(said(&server, &["show", POOL]).contains("by hand of alice"));
}

#[test]
fn what_cannot_be_ordered_is_refused_by_exit_code_and_no_password_is_shown() {
    let server = Server::redis(&["--requirepass", "s3cret"]);
    let refused = gate(&server, &["list"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(
        text(&refused.stderr).contains("NOAUTH") || text(&refused.stderr).contains("uthentication"),
        "{}",
        text(&refused.stderr)
    );
    for arguments in [
        &["shut", "openai", "--for", "1h", "--reason", "x"][..],
        &["shut", POOL, "--for", "27h", "--reason", "x"],
        &["pace", POOL, "--every", "0s", "--for", "1h", "--reason", "x"],
        &["shut", POOL, "--for", "1h"],
        &["list", "--redis", "redis://:s3cret@127.0.0.1"],
        &["list", "--by", "two words"],
    ] {
        let refused = gate(&server, arguments);
        assert_eq!(refused.status.code(), Some(2), "{arguments:?}: {}", text(&refused.stderr));
        assert!(!text(&refused.stderr).contains("s3cret"), "{arguments:?}");
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_forbear"));
    command
        .args(["gate", "list", "--namespace", "test", "--redis", &url(&server)])
        .env("FORBEAR_REDIS_PASSWORD", "s3cret");
    let listed = command.output().expect("the command runs");
    assert_eq!(
        text(&listed.stdout),
        "no pool is in use in this namespace: is it the one the replicas use?\n",
        "{}",
        text(&listed.stderr)
    );
    let at = url(&server);
    drop(server);
    let away = command.output().expect("the command runs");
    assert_eq!(away.status.code(), Some(1));
    let told = text(&away.stderr);
    let expected = format!("forbear gate: the store at {} could not be reached: ", at.trim_start_matches("redis://"));
    assert!(told.starts_with(&expected) && told.contains("; no replica was told, and each goes on"), "{told}");
}
