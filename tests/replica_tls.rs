//! A store behind TLS and an authority of one's own, as most managed ones are: replicas and the operator's command.
#![cfg(all(feature = "redis", feature = "emulator", feature = "cli"))]

#[path = "support/command.rs"]
mod command;
#[path = "support/fleet.rs"]
mod fleet;
#[path = "support/server.rs"]
mod server;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use command::text;
use fleet::{eventually, met, options, policy, replica, told};
use forbear::{GateState, RedisOptions};
use http::Response;
use server::{Server, run};

/// Where the program this starts of itself finds the store. Whom a process trusts is settled before it starts.
const URL: &str = "FORBEAR_TEST_TLS_URL";

/// A server with a certificate of its own making, for plain connections and encrypted ones; where the latter go, and the
/// certificate.
fn encrypted(name: &str) -> (Server, String, PathBuf) {
    let folder = server::empty_folder(env!("CARGO_TARGET_TMPDIR"), name);
    let certificate = "req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=test -addext \
                       subjectAltName=IP:127.0.0.1 -addext basicConstraints=critical,CA:FALSE";
    run(Command::new("openssl").args(certificate.split(' ')).current_dir(&folder));
    let file = |name: &str| folder.join(name).to_str().expect("a plain path").to_owned();
    let (port, cert, key) = (server::free_addr().port(), file("cert.pem"), file("key.pem"));
    let encrypts = ["--tls-auth-clients", "no", "--tls-cert-file", &cert, "--tls-key-file", &key];
    let server = Server::redis(&[&["--tls-port", &port.to_string()][..], &encrypts].concat());
    (server, format!("rediss://127.0.0.1:{port}"), folder.join("cert.pem"))
}

/// The same test in a process of its own, which trusts this certificate.
fn by_itself(test: &str, url: &str, trusted: &Path) {
    let program = std::env::current_exe().expect("this program");
    run(Command::new(program).args([test, "--exact", "--nocapture"]).env(URL, url).env("SSL_CERT_FILE", trusted));
}

async fn throttled(pool: &forbear::Pool) {
    let answer = |_| async { Response::builder().status(429).header("retry-after", 30).body(()).expect("an answer") };
    pool.call(&policy(Duration::from_millis(100))).run(answer).await.expect_err("no time to wait");
}

#[test]
fn news_travels_encrypted() {
    let Ok(url) = std::env::var(URL) else {
        let (_server, url, trusted) = encrypted("news");
        return by_itself("news_travels_encrypted", &url, &trusted);
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.expect("a runtime").block_on(async {
        let _ = tokio_rustls::rustls::crypto::ring::default_provider().install_default();
        let (_one, first, heard_first) = replica(RedisOptions::new(&url, "test"));
        let (_two, _second, heard_second) = replica(RedisOptions::new(&url, "test"));
        met([&heard_first, &heard_second]).await;
        throttled(&first).await;
        eventually("the news came", || told(&heard_second, "gate_shut") == 1).await;
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_nobody_vouches_for_is_not_spoken_to_and_the_command_says_why() {
    let (server, url, trusted) = encrypted("command");
    let (_one, pool, heard_one) = replica(options(&server));
    let (_two, _, heard_two) = replica(options(&server));
    met([&heard_one, &heard_two]).await;
    let shut = |trusted: Option<&Path>| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_forbear"));
        let pool = ["generic/account/model", "--for", "1h", "--reason", "x", "--redis", &url, "--namespace", "test"];
        command.args(["gate", "shut"]).args(pool).env_remove("SSL_CERT_FILE");
        trusted.into_iter().for_each(|file| {
            command.env("SSL_CERT_FILE", file);
        });
        command.output().expect("the command runs")
    };
    let refused = shut(None);
    let why = text(&refused.stderr);
    assert!(refused.status.code() == Some(1) && why.contains("SSL_CERT_FILE"), "{why}");
    assert_eq!(pool.snapshot().state, GateState::Flowing);
    let done = shut(Some(&trusted));
    assert!(done.status.success(), "{}", text(&done.stderr));
    eventually("it obeys", || pool.snapshot().state == GateState::Shut).await;
}
