//! What Prometheus would have recorded: the rules, evaluated over a time that is long past.

use std::collections::BTreeMap;
use std::path::Path;

use crate::open_metrics::{Recorded, Series, open_metrics};
use crate::rule_file::{Rule, layers, read};
use crate::server::{Labels, Server};
use crate::states::take_in;

/// How far apart those rules are evaluated that look at the end of the time they are asked for, and so have to be asked
/// anew for every time: less than a Prometheus looks back.
const ASKED_ANEW_EVERY: usize = 240;

/// For how long before the end, in seconds: nothing looks back at them further. Pictures show them all the time, and their
/// command asks for whole days.
const ASKED_ANEW_FOR: u64 = 1_200;

/// Whether `FORBEAR_WHOLE_DAYS` asks for what pictures show besides what is asserted.
pub(crate) fn whole_days() -> bool {
    std::env::var_os("FORBEAR_WHOLE_DAYS").is_some()
}

/// Records every rule and alert of the files in `rules` between two seconds since 1970 into the data of a Prometheus in
/// `folder`.
pub(crate) fn record(folder: &Path, rules: &Path, from: u64, to: u64) {
    record_by(
        rules,
        from,
        to,
        || Box::new(Server::prometheus(folder, "[]")),
        |recorded| take_in(&open_metrics(recorded), folder),
    );
}

/// Records them by asking the server that `serve` gives, and handing what it answers to `take_in`, layer by layer.
pub(crate) fn record_by<S: std::ops::Deref<Target = Server>>(
    rules: &Path,
    from: u64,
    to: u64,
    serve: impl Fn() -> S,
    take_in: impl Fn(&Recorded),
) {
    let [evidence, verdict, alerts] = ["evidence.yml", "verdict.yml", "alerts.yml"].map(|name| rules.join(name));
    for layer in layers(read(&[&evidence, &verdict])) {
        let prometheus = serve();
        let mut recorded = Recorded::new();
        for rule in &layer {
            let found = evaluated(&prometheus, rule, from, to).into_iter().map(|(mut labels, samples)| {
                labels.extend(rule.labels.iter().cloned());
                (labels, samples)
            });
            recorded.entry(rule.name.clone()).or_default().extend(found);
        }
        drop(prometheus);
        take_in(&recorded);
    }
    let prometheus = serve();
    let fire = |rule: &Rule| fired(rule, evaluated(&prometheus, rule, from, to));
    let fired = read(&[&alerts]).iter().flat_map(fire).collect();
    drop(prometheus);
    take_in(&BTreeMap::from([("ALERTS".to_owned(), fired)]));
}

/// What a rule's expression gives over time.
fn evaluated(prometheus: &Server, rule: &Rule, from: u64, to: u64) -> Vec<Series> {
    let mut found: BTreeMap<Labels, Vec<(f64, f64)>> = BTreeMap::new();
    if rule.expr.contains("@ end()") {
        let from = if whole_days() { from } else { from.max(to - ASKED_ANEW_FOR) };
        for at in (from..=to).step_by(ASKED_ANEW_EVERY) {
            for (labels, value) in prometheus.query(&rule.expr, Some(at)) {
                found.entry(labels).or_default().push((at as f64, value));
            }
        }
    } else {
        found.extend(prometheus.query_range(&rule.expr, from, to, rule.every));
    }
    let unnamed = |(mut labels, samples): Series| {
        labels.remove("__name__");
        (labels, samples)
    };
    found.into_iter().map(unnamed).collect()
}

/// The alert's series while it fires: once what it is about has held for as long as it pends.
fn fired(rule: &Rule, found: Vec<Series>) -> Vec<Series> {
    let fires = |(mut labels, samples): Series| {
        let severity = rule.labels.iter().filter(|(key, _)| key == "severity" || key == "speed").cloned();
        labels.extend(severity);
        labels.extend([("alertname", rule.name.as_str()), ("alertstate", "firing")].map(|(k, v)| (k.into(), v.into())));
        let mut since = None;
        let mut last = f64::NEG_INFINITY;
        let step = rule.every as f64;
        let held = samples.into_iter().filter_map(|(at, _)| {
            if at - last > step {
                since = Some(at);
            }
            last = at;
            (at - since? >= (rule.pending * 60) as f64).then_some((at, 1.0))
        });
        (labels, held.collect::<Vec<_>>())
    };
    let mut alerts: BTreeMap<Labels, Vec<(f64, f64)>> = BTreeMap::new();
    for (labels, samples) in found.into_iter().map(fires).filter(|(_, samples)| !samples.is_empty()) {
        alerts.insert(labels, samples);
    }
    alerts.into_iter().collect()
}
