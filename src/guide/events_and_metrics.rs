//! What is told: events to sinks, and the metrics made of them.
//!
//! # Sinks
//!
//! The engine hands each [`Event`](crate::event::Event) to the [`Sink`](crate::event::sink::Sink) it was built with;
//! a tuple of sinks is a sink. In memory:
//!
//! ```
//! use std::time::Duration;
//! use forbear::event::{catalogue::Metric, totals::Totals};
//! use forbear::{Forbear, Observation, Policy, provider};
//!
//! # #[tokio::main(flavor = "current_thread", start_paused = true)]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let totals = Totals::new();
//! let forbear = Forbear::builder().sink(totals.clone()).build()?;
//! let pool = forbear.pool(provider::generic(), ["search"]).build()?;
//! let policy = Policy::interactive(Duration::from_secs(15)).build()?;
//! pool.call(&policy)
//!     .classify(|status: &Result<u16, u16>| Observation::status(status.unwrap_or_else(|status| status)))
//!     .run(|attempt| async move { if attempt.number() == 1 { Err(429) } else { Ok(200) } })
//!     .await?;
//!
//! let throttled = [("attempt", "1"), ("outcome", "throttled")];
//! assert_eq!(totals.count(Metric::Attempts, "search", &throttled), 1);
//! assert_eq!(totals.count(Metric::Attempts, "search", &[("attempt", "2"), ("outcome", "ok")]), 1);
//! # Ok(()) }
//! ```
//!
//! `forbear::prometheus::install` (feature `prometheus`) serves `/metrics`; `forbear::telemetry::meters` (feature
//! `telemetry`) speaks to whatever recorder of the `metrics` facade is installed; feature `otlp` pushes over OTLP: set-up is
//! in [`telemetry`](crate::guide::telemetry). All of them, [`Totals`](crate::event::totals::Totals) included, read one table and cannot disagree.
//!
//! # How to read the labels
//!
//! Three labels answer three questions everywhere: `outcome` how it ended, `limit_class` which limit was hit,
//! `delay_source` where a wait came from (`header` and `body`: the provider said so; `curve`: our backoff; `gate`: the
//! pool held the call). `attempt` is 1, 2, 3 or `4_or_more`. All are closed sets but `provider`, `pool` and `policy`,
//! which are the application's own names: at most 64 pairs of provider and pool and 16 policies are kept apart, the rest
//! is `_OTHER`. No label holds a URL, a key, a request's id or an error's text.
//!
//! Success is (`ok` + `ok_by_fallback`) / (all − `cancelled` − `not_retryable`), over `forbear_call_duration_seconds_count`
//! by `outcome`; refusals by the gate and by daily and spend limits count as failures.
//!
//! # How many series
//!
//! Of one pool in one replica, as measured by `cargo test -p forbear --test cardinality -- --nocapture series`, which also
//! says of which metrics they are:
//!
//! | | series | what was measured |
//! |---|---|---|
//! | typical | 117 | two policies, four quotas in headers, a throttle now and then, a fault, a caller who gave up |
//! | worst | 364 | four policies; every pair of failures the provider's table knows, told in header, in body and not at all; callers who go away |
//!
//! Series are made by what happens: a class that was never hit costs none. Histograms are nearly half of the typical number,
//! as each bound is a series for each outcome or source; the bounds are few for that reason. More of them, or fewer series:
//!
//! - *Finer histograms*: [a setting](crate::guide::telemetry#finer-histograms). One metric alone: take your own
//!   `PrometheusBuilder`, give it the buckets of `forbear::prometheus::buckets`, then yours for the metric you want to see
//!   closer (`set_buckets_for_metric` with the full name; the last one set holds).
//! - *Without the waits' shape*: drop `forbear_delay_seconds_bucket` and `forbear_gate_wait_seconds_bucket`; sum and count
//!   still give the mean.
//! - *Without what a policy sets*: drop `forbear_policy_parameter`; the advice then cannot name the number to change.
//! - *Without numbers of attempts*: not by `labeldrop`, which would make one series of several; by a recording rule that sums
//!   `without (attempt)`.
//!
//! ```yaml
//! scrape_configs:
//!   - job_name: my-service
//!     metric_relabel_configs:
//!       - source_labels: [__name__]
//!         regex: forbear_(delay|gate_wait)_seconds_bucket|forbear_policy_parameter
//!         action: drop
//! ```
//!
//! Nothing an application or a provider names can make more: names are cut to 64 characters of `A-Z a-z 0-9 . _ : / -`, only
//! the first 64 pairs and 16 policies are kept apart, and what is reported as `_OTHER` is counted by
//! `forbear_label_overflows_total`. Gauges of pools that share `_OTHER` are not shown, as one value cannot stand for many.
//! A name for each customer belongs into a span of your own, not into a pool's path.
//!
//! # Every metric
//!
//! `provider` and `pool` come before the labels named, but for those marked "process". Histograms are in seconds and have
//! the usual `_bucket`, `_sum` and `_count`.
//!
#![doc = include_str!("metrics.md")]

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use crate::event::catalogue::Metric;
    use crate::event::metric::Kind;

    #[test]
    fn the_table_of_metrics_is_the_catalogue() {
        let mut table =
            "| Prometheus | OpenTelemetry | kind | labels | what it is |\n|---|---|---|---|---|\n".to_owned();
        for row in Metric::ALL.iter().map(|metric| metric.row()) {
            let kind = match row.kind {
                Kind::Counter => "counter",
                Kind::Gauge => "gauge",
                Kind::Histogram => "histogram",
            };
            let process = if row.per_pool { "" } else { ", process" };
            let labels: Vec<_> = row.labels.iter().map(|label| format!("`{}`", label.key)).collect();
            let (prometheus, otel, labels) = (row.prometheus, row.otel, labels.join(", "));
            writeln!(table, "| `{prometheus}` | `{otel}` | {kind}{process} | {labels} | {} |", row.help)
                .expect("a string takes everything");
        }
        assert!(include_str!("metrics.md") == table, "src/guide/metrics.md is not the catalogue, which is:\n{table}");
    }
}
