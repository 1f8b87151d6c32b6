//! tonic through one retry layer.

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::{Buf, BufMut, Bytes};
use forbear::provider;
use forbear_sdk_examples::grpc::channel;
use http_body_util::{BodyExt, Full};
use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use support::World;
use tokio::net::TcpListener;
use tonic::client::Grpc;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic::transport::Endpoint;
use tonic::{Code, Request, Status};

/// Messages that are bytes.
#[derive(Clone, Copy, Default)]
struct Raw;

impl Codec for Raw {
    type Encode = Bytes;
    type Decode = Bytes;
    type Encoder = Self;
    type Decoder = Self;

    fn encoder(&mut self) -> Self {
        Self
    }

    fn decoder(&mut self) -> Self {
        Self
    }
}

impl Encoder for Raw {
    type Item = Bytes;
    type Error = Status;

    fn encode(&mut self, item: Bytes, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        buffer.put(item);
        Ok(())
    }
}

impl Decoder for Raw {
    type Item = Bytes;
    type Error = Status;

    fn decode(&mut self, buffer: &mut DecodeBuf<'_>) -> Result<Option<Bytes>, Status> {
        Ok(Some(buffer.copy_to_bytes(buffer.remaining())))
    }
}

/// A service that is exhausted for the first `throttled` requests, and gives back what it is sent after them.
async fn service(throttled: u64) -> (Endpoint, Arc<AtomicU64>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let endpoint = Endpoint::from_shared(format!("http://{}", listener.local_addr().expect("it listens")));
    let requests = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&requests);
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            let counted = Arc::clone(&counted);
            let answer = service_fn(move |request: http::Request<hyper::body::Incoming>| {
                let number = counted.fetch_add(1, Ordering::Relaxed);
                async move {
                    let answer = http::Response::builder().header("content-type", "application/grpc");
                    let message = request.into_body().collect().await?.to_bytes();
                    let (answer, message) = if number < throttled {
                        let answer = answer.header("grpc-status", "8").header("grpc-message", "exhausted");
                        (answer.header("grpc-retry-pushback-ms", "50"), Bytes::new())
                    } else {
                        (answer.header("grpc-status", "0"), message)
                    };
                    Ok::<_, hyper::Error>(answer.body(Full::new(message)).expect("an answer"))
                }
            });
            let serve = http2::Builder::new(TokioExecutor::new()).serve_connection(TokioIo::new(socket), answer);
            tokio::spawn(serve);
        }
    });
    (endpoint.expect("an address"), requests)
}

async fn ask(world: &World, endpoint: &Endpoint, message: &'static str) -> Result<Bytes, Status> {
    let mut client = Grpc::new(channel(endpoint.connect_lazy(), &world.through));
    client.ready().await.map_err(|error| Status::unavailable(error.to_string()))?;
    let path = http::uri::PathAndQuery::from_static("/a.Service/Echo");
    Ok(client.unary(Request::new(Bytes::from_static(message.as_bytes())), path, Raw).await?.into_inner())
}

#[tokio::test]
async fn exactly_one_layer_retries_and_each_attempt_carries_the_message() {
    let world = World::new(provider::grpc(), 4).await;
    let (endpoint, requests) = service(2).await;
    assert_eq!(ask(&world, &endpoint, "hello").await.expect("the third attempt succeeds"), "hello");
    assert_eq!(requests.load(Ordering::Relaxed), 3);
    assert_eq!(world.counted(), [0, 3, 3, 1]);
    assert_eq!(world.in_flight(), 0);
}

#[tokio::test]
async fn the_services_status_reaches_the_application() {
    let world = World::new(provider::grpc(), 2).await;
    let (endpoint, requests) = service(10).await;
    let status = ask(&world, &endpoint, "hello").await.expect_err("it is exhausted");
    assert_eq!((status.code(), status.message()), (Code::ResourceExhausted, "exhausted"));
    assert_eq!((requests.load(Ordering::Relaxed), world.counted()), (2, [0, 2, 2, 1]));
}
