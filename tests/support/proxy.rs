//! A TCP proxy that a test makes slow, silent or selective while connections stand.
#![allow(dead_code, unreachable_pub, missing_docs, reason = "each of its users needs a part of it")]
#![allow(clippy::disallowed_methods, reason = "its delays are real")]
#![allow(clippy::missing_panics_doc, reason = "a test ends where something is not as it should be")]

use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep_until};

/// What becomes of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Pass,
    /// Each way takes so long.
    Delay(Duration),
    /// They vanish; connections stand.
    Drop,
    /// Connections are closed, and new ones as soon as they are made.
    Reset,
    /// The same of those that subscribe.
    NoNews,
}

/// Where bytes go, and what becomes of them.
#[derive(Clone, Copy, Debug)]
struct Way {
    mode: Mode,
    to: SocketAddr,
}

/// A proxy before a server; it ends with the runtime.
#[derive(Clone, Debug)]
pub struct Proxy {
    addr: SocketAddr,
    way: watch::Sender<Way>,
}

impl Proxy {
    pub async fn before(to: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let addr = listener.local_addr().expect("bound");
        let (way, changes) = watch::channel(Way { mode: Mode::Pass, to });
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let changes = changes.clone();
                tokio::spawn(serve(client, changes));
            }
        });
        Self { addr, way }
    }

    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    pub fn set(&self, mode: Mode) {
        self.way.send_modify(|way| way.mode = mode);
    }

    /// Another server takes over: connections to the one before are closed.
    pub fn lead_to(&self, to: SocketAddr) {
        self.way.send_modify(|way| way.to = to);
    }
}

async fn serve(client: TcpStream, mut changes: watch::Receiver<Way>) {
    let to = changes.borrow().to;
    let Ok(server) = TcpStream::connect(to).await else { return };
    let _ = (client.set_nodelay(true), server.set_nodelay(true));
    let ((from_client, to_client), (from_server, to_server)) = (client.into_split(), server.into_split());
    let (heard, mut subscribes) = watch::channel(false);
    let there = carry(from_client, to_server, changes.clone(), Some(heard));
    let back = carry(from_server, to_client, changes.clone(), None);
    let ended = async {
        loop {
            let way = *changes.borrow_and_update();
            let subscribed = *subscribes.borrow_and_update();
            if way.mode == Mode::Reset || way.to != to || (way.mode == Mode::NoNews && subscribed) {
                return;
            }
            tokio::select! {
                changed = changes.changed() => if changed.is_err() { return },
                Ok(()) = subscribes.changed() => {}
            }
        }
    };
    tokio::select! { () = there => {}, () = back => {}, () = ended => {} }
}

/// Carries bytes one way; whatever comes at the same time arrives at the same time.
async fn carry(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    way: watch::Receiver<Way>,
    subscribes: Option<watch::Sender<bool>>,
) {
    let (queue, mut queued) = mpsc::unbounded_channel::<(Instant, Vec<u8>)>();
    let reads = async {
        let mut buffer = vec![0; 16 * 1024];
        while let Ok(read @ 1..) = from.read(&mut buffer).await {
            let bytes = &buffer[..read];
            if let Some(subscribes) = &subscribes
                && bytes.windows(9).any(|word| word == b"SUBSCRIBE")
            {
                subscribes.send_replace(true);
            }
            if queue.send((Instant::now(), bytes.to_vec())).is_err() {
                return;
            }
        }
    };
    let writes = async {
        while let Some((read_at, bytes)) = queued.recv().await {
            let mode = way.borrow().mode;
            match mode {
                Mode::Drop => continue,
                Mode::Delay(each_way) => sleep_until(read_at + each_way).await,
                Mode::Pass | Mode::Reset | Mode::NoNews => {}
            }
            if to.write_all(&bytes).await.is_err() {
                return;
            }
        }
    };
    tokio::select! { () = reads => {}, () = writes => {} }
}
