//! To see it: metrics that are scraped, metrics and traces that are pushed, and how to set either up.
//!
//! The engine tells its sink what happens. Which road the numbers take from there is the application's choice, and changes
//! none of them: every metric has the same name, labels and value in a Prometheus that scrapes the service and behind an
//! OTLP collector it pushes to. Both at once are fine.
//!
//! # Scraped: Prometheus
//!
//! One call, with feature `prometheus`:
//!
#![cfg_attr(feature = "prometheus", doc = "```")]
#![cfg_attr(not(feature = "prometheus"), doc = "```ignore")]
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let port = 0;
//! // On loopback: nobody outside of this machine reaches it. Port 9464 is usual.
//! let metrics = forbear::prometheus::install(port)?;
//! let forbear = forbear::Forbear::builder().sink(metrics.meters()).build()?;
//! # drop(metrics);
//! # Ok(()) }
//! ```
//!
//! In a pod the scrape comes from outside: `install(([0, 0, 0, 0], 9464))` listens on every interface. The endpoint has no
//! encryption and asks for no password. It runs on a thread of its own and answers while the application's runtime is too
//! busy to. What the application itself counts through the `metrics` facade is on the same page.
//!
//! ```yaml
//! scrape_configs:
//!   - job_name: my-service
//!     scrape_interval: 15s
//!     static_configs:
//!       - targets: ["my-service:9464"]
//! ```
//!
//! **A recorder of your own** needs three things: the buckets, [`Meters::sample`](crate::telemetry::Meters::sample) before
//! each scrape, and upkeep every few seconds, since the recorder keeps raw values of histograms until then (16 bytes each).
//! The example stands at [`prometheus::buckets`](crate::telemetry::prometheus::buckets). Recommended naming may be on or
//! off: the names are final. Where no recorder is installed at all, one warning says so (`forbear.no_recorder`), and
//! counting begins with the first event after there is one.
//!
//! **A restart** is a reset of the counters, as for any Prometheus client; series and labels stay. `rate` and `increase`
//! know what to do about it.
//!
//! # Pushed: OTLP
//!
//! One call, with feature `otlp`, for metrics and traces:
//!
#![cfg_attr(feature = "otlp", doc = "```no_run")]
#![cfg_attr(not(feature = "otlp"), doc = "```ignore")]
//! # #[tokio::main] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use forbear::otlp::{self, Config};
//! let otlp = otlp::install(Config::new("checkout"))?; // to http://localhost:4318
//! let forbear = forbear::Forbear::builder().sink(otlp.instruments()).build()?;
//! // … the service runs …
//! let lost = otlp.shutdown().await?; // or drop it: both push what is left
//! # Ok(()) }
//! ```
//!
//! - **Where to, and how**: [`Config`](crate::telemetry::otlp::Config) says it, and the `OTEL_*` variables beat it; its
//!   page has all of them. HTTP with protobuf unless told, gRPC by `.protocol(Protocol::Grpc)` or
//!   `OTEL_EXPORTER_OTLP_PROTOCOL=grpc`. Metrics are pushed each 15 s unless told: a rule that looks one minute back needs
//!   four pushes in it, and the SDK's own default is a minute.
//! - **Who pushes**: `service.instance.id` is made up at every start unless given. Without one, the counters of two replicas
//!   would be taken for one another's.
//! - **The end**: dropping the guard blocks for the last push, at most about 5 s; `shutdown().await` does not block the
//!   runtime. Both work on a runtime of one thread, where a flush that waits for its own runtime would wait for ever:
//!   connections are carried by a thread of their own.
//! - **A subscriber of your own**: `Config::own_subscriber` leaves `tracing` alone; add
//!   [`Otlp::layer`](crate::telemetry::otlp::Otlp::layer) to yours. It leaves out the spans of the HTTP and gRPC crates
//!   below the exporters, which would trace themselves for ever.
//! - **An SDK of your own**: [`instruments`](crate::telemetry::instruments) measures through the global meter provider. Set
//!   it before the first call.
//!
//! **A collector that is absent, frozen or slow** costs what was meant for it and nothing else. Calls never wait for it:
//! spans go into a queue of fixed length (2,048, or `OTEL_BSP_MAX_QUEUE_SIZE`, those being pushed included), metrics are
//! totals that the next push carries as well. What did not fit or was not taken in time (10 s, or
//! `OTEL_EXPORTER_OTLP_TIMEOUT`) is counted, and [`Otlp::lost`](crate::telemetry::otlp::Otlp::lost) tells while it happens.
//!
//! # Names at the other end
//!
//! OpenTelemetry's names are dotted and carry units (`forbear.attempts` in `{attempt}`); by the specification's rules they
//! become the Prometheus names of the [catalogue](crate::guide::events_and_metrics#every-metric). Dashboards and rules need
//! that translation:
//!
//! | behind the collector | what to set |
//! |---|---|
//! | Prometheus 3, OTLP receiver | nothing: `translation_strategy: UnderscoreEscapingWithSuffixes` is its default |
//! | VictoriaMetrics | `-opentelemetry.usePrometheusNaming`; it has no `job` and `instance` then but `service_name` and `service_instance_id`: relabel them |
//! | Mimir | `otel_metric_suffixes_enabled: true`: without it the suffixes are missing |
//! | the collector's own Prometheus exporter | `resource_to_telemetry_conversion`, and `honor_labels: true` in the scrape, else `job` becomes `exported_job`; it forgets a series after 5 minutes without news |
//!
//! `forbear doctor --prometheus URL` looks whether it is so; [`importing`](crate::guide::importing) has whole recipes.
//!
//! Counters must stay cumulative: `OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE=delta` is for receivers that want it.
//! No query should match `le` exactly: some servers spell `1`, others `1.0`.
//!
//! # Both, and your own
//!
//! A pair or a triple of sinks is a sink: `.sink((metrics.meters(), otlp.instruments()))`. A sink of your own takes what it
//! wants and leaves the rest; this one counts the throttles of each pool:
//!
//! ```
//! use std::collections::BTreeMap;
//! use std::sync::{Arc, Mutex};
//! use forbear::core::moment::Moment;
//! use forbear::event::sink::{Listener, Sink};
//! use forbear::event::{Event, PoolLabels};
//! use forbear::AttemptOutcome;
//!
//! #[derive(Clone, Default)]
//! struct Throttles(Arc<Mutex<BTreeMap<String, u64>>>);
//!
//! struct OfPool(Throttles, String);
//!
//! impl Sink for Throttles {
//!     fn listen(&self, pool: &PoolLabels) -> Box<dyn Listener> {
//!         Box::new(OfPool(self.clone(), pool.pool.to_string()))
//!     }
//! }
//!
//! impl Listener for OfPool {
//!     fn hear(&self, _at: Moment, event: &Event<'_>) {
//!         if let Event::AttemptEnded { outcome: AttemptOutcome::Throttled, .. } = event {
//!             *self.0.0.lock().unwrap().entry(self.1.clone()).or_default() += 1;
//!         }
//!     }
//! }
//! #
//! # let throttles = Throttles::default();
//! # let forbear = forbear::Forbear::builder().sink(throttles.clone()).build()?;
//! # let pool = forbear.pool(forbear::provider::generic(), ["search"]).build()?;
//! # let policy = forbear::Policy::interactive(std::time::Duration::from_secs(5)).attempts(1).build()?;
//! # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
//! # let call = pool.call(&policy).classify(|_: &Result<(), ()>| forbear::Observation::status(429));
//! # runtime.block_on(call.run(|_| async { Err(()) })).unwrap_err();
//! # assert_eq!(throttles.0.lock().unwrap()["search"], 1);
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! ```
//!
//! A listener is called inline by calls: it must not block. What belongs to the process and no pool, the shared store, is
//! told to [`listen_to_process`](crate::event::sink::Sink::listen_to_process); gauges are offered to
//! [`watch`](crate::event::sink::Sink::watch), to be asked when somebody reads.
//!
//! # Finer histograms
//!
//! Buckets are few by default, since each is a series for every outcome. `.finer_histograms()` on either `Config` gives
//! about twice as many, the same on both roads and the lean ones among them, so that no rule has to change;
//! [`Resolution`](crate::event::metric::Resolution) and the catalogue have the bounds.
//!
//! # To try it
//!
//! ```sh
//! cargo run --example axum_service --features prometheus,reqwest,emulator   # /metrics on, spans to standard output
//! cargo run --example otlp --features otlp,reqwest,emulator                 # traces and metrics to a collector
//! ```
//!
//! That both roads show the same is tested against real servers, which `tests/tools/bring` brings: a Prometheus that scrapes
//! and a VictoriaMetrics that is pushed to, series by series. A longer road, with a collector in between, is a command of
//! its own:
//!
//! ```text
//! $ cargo run -p forbear-otlp-tests --bin over_rotel
//! 754 series of 35 metrics arrived as a scrape would have shown them
//! ```
