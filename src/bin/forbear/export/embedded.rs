//! What lies in `dashboards/`, inside this binary. The rules are not here: the diagnosis writes them.

/// The boards by the names of their files.
pub(super) const BOARDS: [(&str, &str); 4] = [
    ("overview.json", include_str!("../../../../dashboards/overview.json")),
    ("diagnosis.json", include_str!("../../../../dashboards/diagnosis.json")),
    ("gate.json", include_str!("../../../../dashboards/gate.json")),
    ("replicas.json", include_str!("../../../../dashboards/replicas.json")),
];

/// How Grafana finds the boards, and an example of its data source.
pub(super) const PROVISIONING: [(&str, &str); 2] = [
    ("provisioning/dashboards/forbear.yml", include_str!("../../../../dashboards/provisioning/dashboards/forbear.yml")),
    (
        "provisioning/datasources/prometheus.yml",
        include_str!("../../../../dashboards/provisioning/datasources/prometheus.yml"),
    ),
];

/// What to do about each alert.
pub(super) const RUNBOOKS: &str = include_str!("../../../../dashboards/runbooks.md");

/// An example of routes and inhibitions.
pub(super) const ALERTMANAGER: &str = include_str!("../../../../dashboards/alertmanager.yml");

/// Boards and rules as jsonnet imports them.
pub(super) const MIXIN: &str = include_str!("../../../../dashboards/mixin.libsonnet");

/// Where the runbooks are unless told otherwise; boards link there.
pub(super) const RUNBOOK_BASE: &str = "https://docs.rs/forbear/latest/forbear/guide/runbooks/index.html";
