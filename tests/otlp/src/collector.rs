//! The collector: gRPC and HTTP, on a runtime of its own as a real one would be.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Request as HttpRequest, Response as HttpResponse, StatusCode};
use hyper_util::rt::TokioIo;
use opentelemetry_proto::tonic::collector::metrics::v1::metrics_service_server::{
    MetricsService, MetricsServiceServer,
};
use opentelemetry_proto::tonic::collector::metrics::v1::{ExportMetricsServiceRequest, ExportMetricsServiceResponse};
use opentelemetry_proto::tonic::collector::trace::v1::trace_service_server::{TraceService, TraceServiceServer};
use opentelemetry_proto::tonic::collector::trace::v1::{ExportTraceServiceRequest, ExportTraceServiceResponse};
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue};
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::number_data_point::Value as Number;
use opentelemetry_proto::tonic::resource::v1::Resource;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;
use tokio::net::TcpListener;
use tonic::{Request, Response, Status};

/// What was pushed so far, and how long each answer takes.
#[derive(Clone)]
struct Got(Arc<Mutex<Pushed>>, Duration);

#[derive(Default)]
struct Pushed {
    traces: Vec<ExportTraceServiceRequest>,
    metrics: Vec<ExportMetricsServiceRequest>,
    /// Of the last push over HTTP.
    headers: hyper::HeaderMap,
}

/// A collector on two ports of loopback.
pub struct Collector {
    /// Where it takes gRPC.
    pub grpc: SocketAddr,
    /// Where it takes HTTP.
    pub http: SocketAddr,
    got: Got,
    runtime: Option<tokio::runtime::Runtime>,
}

impl Collector {
    /// Starts one. May be called inside another runtime.
    #[must_use]
    pub fn start() -> Self {
        Self::answering_after(Duration::ZERO)
    }

    /// Starts one that takes everything at once, and so long to say so.
    #[must_use]
    pub fn answering_after(delay: Duration) -> Self {
        std::thread::spawn(move || Self::start_outside(delay)).join().expect("a collector")
    }

    fn start_outside(delay: Duration) -> Self {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime");
        let got = Got(Arc::default(), delay);
        let (grpc_listener, http_listener) = runtime.block_on(async {
            let bind = || async { TcpListener::bind("127.0.0.1:0").await.expect("a free port") };
            (bind().await, bind().await)
        });
        let grpc = grpc_listener.local_addr().expect("an address");
        let http = http_listener.local_addr().expect("an address");
        let incoming = tonic::transport::server::TcpIncoming::from(grpc_listener);
        let server = tonic::transport::Server::builder()
            .add_service(TraceServiceServer::new(got.clone()))
            .add_service(MetricsServiceServer::new(got.clone()));
        runtime.spawn(server.serve_with_incoming(incoming));
        runtime.spawn(serve_http(http_listener, got.clone()));
        Self { grpc, http, got, runtime: Some(runtime) }
    }

    /// A header of the last push over HTTP.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<String> {
        let got = self.got.0.lock().expect("nobody panicked");
        got.headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
    }

    /// The spans that came.
    #[must_use]
    pub fn spans(&self) -> Vec<Span> {
        let got = self.got.0.lock().expect("nobody panicked");
        let scopes = got.traces.iter().flat_map(|push| &push.resource_spans).flat_map(|resource| &resource.scope_spans);
        scopes.flat_map(|scope| scope.spans.clone()).collect()
    }

    /// Everything that came, headers and all, as text: to be searched.
    #[must_use]
    pub fn everything(&self) -> String {
        let got = self.got.0.lock().expect("nobody panicked");
        format!("{:?} {:?} {:?}", got.traces, got.metrics, got.headers)
    }

    /// The spans that came as a tree by their parents, in the order in which they began: one line each, with the
    /// attributes that are named in `shown`.
    #[must_use]
    pub fn tree(&self, shown: &[&str]) -> String {
        let mut spans = self.spans();
        spans.sort_by_key(|span| span.start_time_unix_nano);
        let roots = spans.iter().filter(|span| !spans.iter().any(|other| other.span_id == span.parent_span_id));
        let mut text = String::new();
        roots.for_each(|root| branch(&mut text, &spans, root, 0, shown));
        text
    }

    /// Waits until metrics are pushed once more.
    pub async fn next_push_of_metrics(&self) {
        let pushes = || self.got.0.lock().expect("nobody panicked").metrics.len();
        let before = pushes();
        while pushes() == before {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// An attribute of the resource that pushed traces, and of the one that pushed metrics.
    #[must_use]
    pub fn resource(&self, key: &str) -> [Option<String>; 2] {
        let got = self.got.0.lock().expect("nobody panicked");
        let of = |resource: Option<&Resource>| resource.and_then(|resource| attribute(&resource.attributes, key));
        let traces = got.traces.last().and_then(|push| of(push.resource_spans.first()?.resource.as_ref()));
        let metrics = got.metrics.last().and_then(|push| of(push.resource_metrics.first()?.resource.as_ref()));
        [traces, metrics]
    }

    /// The last push of metrics as Prometheus would store it, sorted: each name translated by `translate`, a histogram as
    /// its buckets, sum and count.
    #[must_use]
    pub fn lines(&self, translate: impl Fn(&str) -> Option<&'static str>) -> Vec<String> {
        let got = self.got.0.lock().expect("nobody panicked");
        let last = got.metrics.last().into_iter().flat_map(|push| &push.resource_metrics);
        let metrics = last.flat_map(|resource| &resource.scope_metrics).flat_map(|scope| &scope.metrics);
        let mut lines = Vec::new();
        for metric in metrics {
            let name = translate(&metric.name).unwrap_or_else(|| panic!("{} is not in the catalogue", metric.name));
            let numbers = match metric.data.as_ref().expect("data") {
                Data::Sum(sum) => {
                    assert!(sum.is_monotonic && sum.aggregation_temporality == 2, "{name} is cumulative");
                    &sum.data_points[..]
                }
                Data::Gauge(gauge) => &gauge.data_points[..],
                Data::Histogram(histogram) => {
                    assert_eq!(histogram.aggregation_temporality, 2, "{name} is cumulative");
                    for point in &histogram.data_points {
                        let mut below = 0;
                        let bounds = point.explicit_bounds.iter().map(f64::to_string).chain(["+Inf".to_owned()]);
                        for (bound, count) in bounds.zip(&point.bucket_counts) {
                            below += count;
                            lines.push(line(&format!("{name}_bucket"), &point.attributes, Some(&bound), below as f64));
                        }
                        let sum = point.sum.expect("a sum");
                        lines.push(line(&format!("{name}_sum"), &point.attributes, None, sum));
                        lines.push(line(&format!("{name}_count"), &point.attributes, None, point.count as f64));
                    }
                    continue;
                }
                other => panic!("{name}: {other:?}"),
            };
            for point in numbers {
                let value = match point.value.expect("a value") {
                    Number::AsDouble(value) => value,
                    Number::AsInt(value) => value as f64,
                };
                lines.push(line(name, &point.attributes, None, value));
            }
        }
        lines.sort();
        lines
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// A span and what is below it. A child belongs to its parent's trace.
fn branch(text: &mut String, spans: &[Span], span: &Span, depth: usize, shown: &[&str]) {
    let shown_here = shown.iter().filter_map(|key| Some(format!(" {key}={}", attribute(&span.attributes, key)?)));
    let line = format!("{:indent$}{}{}\n", "", span.name, shown_here.collect::<String>(), indent = 2 * depth);
    text.push_str(&line);
    for child in spans.iter().filter(|child| child.parent_span_id == span.span_id) {
        assert_eq!(child.trace_id, span.trace_id, "{} below {}", child.name, span.name);
        branch(text, spans, child, depth + 1, shown);
    }
}

/// The value of an attribute as text.
pub(crate) fn attribute(attributes: &[KeyValue], key: &str) -> Option<String> {
    attributes.iter().find(|attribute| attribute.key == key).map(|attribute| text(attribute.value.as_ref()))
}

fn text(value: Option<&AnyValue>) -> String {
    match value.and_then(|value| value.value.as_ref()) {
        Some(Value::StringValue(value)) => value.clone(),
        Some(Value::IntValue(value)) => value.to_string(),
        Some(Value::DoubleValue(value)) => value.to_string(),
        Some(Value::BoolValue(value)) => value.to_string(),
        other => format!("{other:?}"),
    }
}

fn line(name: &str, attributes: &[KeyValue], le: Option<&str>, value: f64) -> String {
    let own = attributes.iter().map(|attribute| format!("{}=\"{}\"", attribute.key, text(attribute.value.as_ref())));
    let mut labels: Vec<_> = own.chain(le.map(|le| format!("le=\"{le}\""))).collect();
    labels.sort();
    format!("{name}{{{}}} {value}", labels.join(","))
}

#[tonic::async_trait]
impl TraceService for Got {
    async fn export(
        &self,
        request: Request<ExportTraceServiceRequest>,
    ) -> Result<Response<ExportTraceServiceResponse>, Status> {
        self.0.lock().expect("nobody panicked").traces.push(request.into_inner());
        tokio::time::sleep(self.1).await;
        Ok(Response::new(ExportTraceServiceResponse::default()))
    }
}

#[tonic::async_trait]
impl MetricsService for Got {
    async fn export(
        &self,
        request: Request<ExportMetricsServiceRequest>,
    ) -> Result<Response<ExportMetricsServiceResponse>, Status> {
        self.0.lock().expect("nobody panicked").metrics.push(request.into_inner());
        tokio::time::sleep(self.1).await;
        Ok(Response::new(ExportMetricsServiceResponse::default()))
    }
}

async fn serve_http(listener: TcpListener, got: Got) {
    while let Ok((stream, _)) = listener.accept().await {
        let got = got.clone();
        let answer = service_fn(move |request: HttpRequest<Incoming>| {
            let got = got.clone();
            async move {
                let path = request.uri().path().to_owned();
                got.0.lock().expect("nobody panicked").headers = request.headers().clone();
                let body = request.into_body().collect().await.expect("a whole body").to_bytes();
                let known = got.take(&path, body);
                tokio::time::sleep(got.1).await;
                let mut answer = HttpResponse::new(Full::new(Bytes::new()));
                *answer.status_mut() = if known { StatusCode::OK } else { StatusCode::NOT_FOUND };
                Ok::<_, Infallible>(answer)
            }
        });
        tokio::spawn(hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), answer));
    }
}

impl Got {
    fn take(&self, path: &str, body: Bytes) -> bool {
        let mut got = self.0.lock().expect("nobody panicked");
        match path {
            "/v1/traces" => got.traces.push(ExportTraceServiceRequest::decode(body).expect("traces")),
            "/v1/metrics" => got.metrics.push(ExportMetricsServiceRequest::decode(body).expect("metrics")),
            _ => return false,
        }
        true
    }
}
