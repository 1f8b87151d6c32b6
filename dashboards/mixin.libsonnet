// Boards, rules and alerts as jsonnet takes them, in the fields of a Prometheus mixin:
//
//   local forbear = import 'forbear/mixin.libsonnet';
//   { 'forbear-rules.yaml': std.manifestYamlDoc(forbear.prometheusRules) }
//
// For other labels, matchers or objectives: `forbear export --out DIR --group-by … --selector … --slo …` writes this file and
// what it imports for them. Needs go-jsonnet, or jsonnet from 0.20 on: older ones do not read the rules' YAML.
local groups(file) = std.parseYaml(file).groups;
{
  grafanaDashboardFolder:: 'forbear',
  grafanaDashboards+:: {
    'forbear-overview.json': import 'overview.json',
    'forbear-diagnosis.json': import 'diagnosis.json',
    'forbear-gate.json': import 'gate.json',
    'forbear-replicas.json': import 'replicas.json',
  },
  prometheusRules+:: {
    groups+: groups(importstr 'rules/evidence.yml') + groups(importstr 'rules/verdict.yml'),
  },
  prometheusAlerts+:: {
    groups+: groups(importstr 'rules/alerts.yml'),
  },
}
