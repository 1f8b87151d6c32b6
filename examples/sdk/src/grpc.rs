//! tonic: the retry layer around a channel. tonic retries nothing by itself.
//!
//! A client of any service takes the channel: `GreeterClient::new(channel)`. What a service answers is a status in the
//! answer's headers; the table `provider::google()` reads Google's, `provider::grpc()` any other's.

use forbear::layer::{AnswerBody, KeptBody, RetryLayer, WireTapLayer};
use tonic::body::Body;
use tonic::client::GrpcService;
use tower::{Service, ServiceBuilder};

use crate::Through;

/// A channel whose every request is a call at a pool. Requests of one message are kept and sent again; of a stream of
/// messages what was sent so far is kept, up to the bound, and an answer that has begun is never asked for again.
pub fn channel<C>(
    channel: C,
    through: &Through,
) -> impl GrpcService<Body, ResponseBody = AnswerBody<Body>, Error = tower::BoxError> + Clone
where
    C: Service<http::Request<Body>, Response = http::Response<Body>, Error: Into<tower::BoxError> + Send>,
    C: Clone + Send + 'static,
    C::Future: Send,
{
    let Through { pool, policy } = through.clone();
    ServiceBuilder::new()
        .layer(RetryLayer::new(pool, policy))
        .layer(WireTapLayer::new())
        .map_request(|request: http::Request<KeptBody<Body>>| request.map(Body::new))
        .service(channel)
}
