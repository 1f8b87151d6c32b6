//! Boards, rules and alerts in the stack you have: what to write, where to put it, and what to set on the way.
//!
//! # Out of the binary
//!
//! `forbear export` writes what belongs to its own version, so that rules never ask for a metric that the service does not
//! have:
//!
//! ```sh
//! forbear export --out forbear
//! forbear export --out forbear --format prometheusrule --metadata-labels release=kube-prometheus-stack
//! forbear export --out forbear --format mimir --group-by cluster,env,provider,pool --slo 99.9
//! ```
//!
//! | option | what it changes | unless told |
//! |---|---|---|
//! | `--format` | the wrapping: `prometheus`, `prometheusrule`, `mimir`, `configmap` | `prometheus` |
//! | `--group-by` | the labels by which pools are told apart; `provider` and `pool` are among them | `cluster,namespace,provider,pool` |
//! | `--selector` | more matchers for every metric | none |
//! | `--scrape-interval` | how often stretches are looked at, and the least step of panels; 5 s to 60 s | `15s` |
//! | `--slo` | the share of calls that has to succeed, `99.9`, `99.9%` or `0.999`; 94 % to 99.99 % | `99` |
//! | `--labels` | more labels of every alert | none |
//! | `--severity` | other words for `critical`, `warning`, `info` | those |
//! | `--runbook-base` | where alerts and boards link for a runbook | [`runbooks`](crate::guide::runbooks) on docs.rs |
//! | `--grafana-url` | what the links of alerts to their boards begin with | nothing: `/d/…` |
//! | `--datasource` | the data source that boards show first | Grafana's default |
//! | `--metadata-labels` | labels of Kubernetes objects | none |
//!
//! Labels that nobody sets do no harm: in a Prometheus without `cluster`, every pool has the same empty one. Leave a label
//! away from `--group-by`, and pools that differ in it alone are judged as one: right for replicas, wrong for two
//! environments with quotas of their own. `--slo` moves what counts as missed, both rates that wake somebody, and where boards
//! turn green and red; tell `forbear diagnose --slo` the same, and it judges by it. The verdict that a process has of itself
//! stays at 99 %. No group has more than 20 rules, and there are fewer than 70 groups: Mimir's limits unless an operator
//! raised them.
//!
//! Every alert has the annotations of other mixins: `summary`, `description`, `runbook_url`, and `dashboard_url`, which is the
//! board on which its runbook confirms it, over the last three hours, with the pool of the alert chosen. Without
//! `--grafana-url` it begins with `/d/forbear-…`: a link within Grafana, whose boards have fixed uids, and one that a template
//! of Alertmanager can put an address before. With it, it works from a pager too:
//!
//! ```yaml
//! # alertmanager.yml: the boards in a message
//! receivers:
//!   - name: tickets
//!     slack_configs:
//!       - channel: '#search'
//!         text: '{{ .CommonAnnotations.description }} {{ .CommonAnnotations.dashboard_url }}'
//! ```
//!
//! # Prometheus and Grafana that read files
//!
//! ```yaml
//! # prometheus.yml
//! rule_files: [forbear/rules/evidence.yml, forbear/rules/verdict.yml, forbear/rules/alerts.yml]
//! scrape_configs:
//!   - job_name: search
//!     scrape_interval: 15s
//!     static_configs:
//!       - targets: ["search:9464"]
//! ```
//!
//! The rules are tried with Prometheus 2.42, the first that knows `keep_firing_for`, and 3.5.
//!
//! Grafana reads `provisioning/` as `/etc/grafana/provisioning`, and the boards from where
//! `provisioning/dashboards/forbear.yml` says. By hand, each `*.json` can be imported as it is: the data source is a variable
//! of the board; [`dashboards`](crate::guide::dashboards) says how to read them. `alertmanager.yml` is an example of routes
//! in which nothing silences a page but another page.
//!
//! # The Prometheus operator, kube-prometheus
//!
//! Pods are scraped as they are, never through a Service that balances between them:
//!
//! ```yaml
//! apiVersion: monitoring.coreos.com/v1
//! kind: PodMonitor
//! metadata:
//!   name: search
//!   labels:
//!     release: kube-prometheus-stack
//! spec:
//!   selector:
//!     matchLabels:
//!       app.kubernetes.io/name: search
//!   podMetricsEndpoints:
//!     - port: metrics
//!       interval: 15s
//! ```
//!
//! `interval` is there because the chart's own is 30 s, at which stretches of a minute hold too few scrapes. The rules come as
//! `PrometheusRule`, the boards as ConfigMaps with the label that Grafana's sidecar looks for (`grafana_dashboard: "1"`):
//!
//! ```sh
//! forbear export --out forbear --format prometheusrule --metadata-labels release=kube-prometheus-stack
//! kubectl apply -n monitoring -f forbear/rules -f forbear/boards
//! ```
//!
//! An operator takes only the rules and monitors its `ruleSelector` and `podMonitorSelector` ask for; with the chart that is
//! the label `release`. `namespace` is set by the scrape, so pools of two namespaces are told apart. `cluster` is usually an
//! external label: it is not on the series that rules see, only on what is sent on. An `AlertmanagerConfig` matches alerts of
//! its own namespace alone: alerts of pools keep theirs, alerts of processes too.
//!
//! # Mimir
//!
//! ```sh
//! forbear export --out forbear --format mimir
//! mimirtool rules load --address https://mimir.example --id TENANT forbear/rules/*.yml
//! FORBEAR_PROMETHEUS_TENANT=TENANT forbear doctor --prometheus https://mimir.example/prometheus
//! ```
//!
//! Each file is a namespace of its own. Metrics that come by remote write keep their names. Mimir's own OTLP endpoint leaves
//! suffixes away unless the tenant's limits say otherwise, and no board finds `forbear_attempts_total` then:
//!
//! ```yaml
//! overrides:
//!   TENANT:
//!     otel_metric_suffixes_enabled: true
//!     promote_otel_resource_attributes: service.namespace,deployment.environment.name
//! ```
//!
//! # An OpenTelemetry collector that is scraped
//!
//! This one is what `examples/stack` runs:
//!
//! ```yaml
#![doc = include_str!("../../examples/stack/collector.yml")]
//! ```
//!
//! Without the conversion, attributes of the resource go to `target_info` and to no series. Without `honor_labels: true` in
//! the scrape, every service is called `collector`, and its own name is `exported_job`. The default expiry is 5 minutes: an
//! outage between service and collector that lasts longer looks like a restart of every process.
//!
//! # VictoriaMetrics
//!
//! `-opentelemetry.usePrometheusNaming` for names; it has `service_name` and `service_instance_id` where others have `job` and
//! `instance`, and boards choose by those:
//!
//! ```yaml
//! # -relabelConfig
//! - source_labels: [service_name]
//!   regex: (.+)
//!   target_label: job
//! - source_labels: [service_instance_id]
//!   regex: (.+)
//!   target_label: instance
//! ```
//!
//! Rules are kept by `vmalert -rule=forbear/rules/*.yml`, and say there what they say in a Prometheus: every query of the
//! boards, and every verdict, is tried on metrics that came over OTLP.
//!
//! # jsonnet
//!
//! `mixin.libsonnet` has the fields of a Prometheus mixin, `grafanaDashboards`, `prometheusRules` and `prometheusAlerts`. For
//! other labels or objectives export first: the folder holds the mixin and what it imports. It needs go-jsonnet, or jsonnet
//! from 0.20 on.
//!
//! # Whether it works
//!
//! ```sh
//! forbear doctor --prometheus http://localhost:9090
//! ```
//!
//! asks the Prometheus for what boards and rules need, and says of each fault what is wrong, what does not work for it, and
//! which setting mends it; `--json` says the same as data. It ends with 0 where nothing is amiss (notes do not count), with 1
//! where something is, and with 2 where the Prometheus could not be asked. Access is given as for `forbear diagnose`.
//!
//! | fault | what is wrong |
//! |---|---|
//! | `no_metrics` | nothing of forbear is there |
//! | `dotted_names` | OpenTelemetry's names were not translated |
//! | `names_without_suffixes` | units and `_total` are missing: Mimir's OTLP endpoint, a collector told so |
//! | `prefixed_names` | a collector's exporter or a recorder puts something before the names |
//! | `summaries` | a recorder without the buckets |
//! | `unknown_names` | metrics that this version does not have |
//! | `exported_job` | the scrape of a collector does not honour its labels |
//! | `no_job` | there is `service_name` in place of `job` |
//! | `no_instance` | processes cannot be told apart |
//! | `falling_counters` | two processes answer as one, or pushes tell only what is new |
//! | `counted_twice` | the same pools are scraped and pushed |
//! | `mixed_schemas` | metrics of two schemas are added up |
//! | `other_schema` | metrics of another schema than the rules' |
//! | `mixed_versions` | a release is half rolled out |
//! | `scraped_slowly` | less than every 15 s: the shortest stretches are left out |
//! | `scraped_too_seldom` | less than once a minute: there is no load to judge by |
//! | `rules_not_loaded` | no verdicts, no alerts |
//! | `rules_missing` | some files are loaded, or files of another version |
//! | `rules_failing` | the server cannot evaluate one |
//! | `limit_unknown` | neither answers nor configuration state a limit |
//! | `no_estimates` | tokens are limited, and no call says how many it needs |
//! | `label_overflow` | more pools or policies than are told apart |
//!
//! # All of it, on one machine
//!
//! `docker compose -f examples/stack/compose.yml up --build` starts Prometheus with the rules, Alertmanager, a collector and
//! Grafana with the boards, around three services that are scraped and one that pushes. Its files are made to be taken along.
