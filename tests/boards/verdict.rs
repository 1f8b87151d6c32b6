//! The verdict of each pool in words: where boards begin that somebody comes to with a question.

use serde_json::json;

use crate::panel::{Panel, mapping};
use crate::shared::NO_RULES;
use crate::words::{CAUSES, colour};

/// What is wrong with each pool and what to do about it: the answer, before any picture.
pub(crate) fn verdict() -> Panel {
    let word = |text: fn(&(&str, &str, &str)) -> String| {
        let one = |cause: &(&str, &str, &str)| (cause.0.to_owned(), text(cause), colour(cause.0).map(str::to_owned));
        mapping(CAUSES.iter().map(one))
    };
    let ratio = |steps: serde_json::Value| {
        vec![
            json!({"id": "unit", "value": "percentunit"}),
            json!({"id": "decimals", "value": 1}),
            json!({"id": "custom.width", "value": 105}),
            json!({"id": "custom.cellOptions", "value": {"type": "color-text"}}),
            json!({"id": "thresholds", "value": {"mode": "absolute", "steps": steps}}),
        ]
    };
    let runbook = json!([{
        "title": "Runbook", "targetBlank": true,
        "url": "https://docs.rs/forbear/latest/forbear/guide/runbooks/index.html#${__data.fields.Runbook}",
    }]);
    let diagnosis = json!([{
        "title": "Diagnosis of this pool", "targetBlank": false,
        "url": "/d/forbear-diagnosis?${__url_time_range}&${datasource:queryparam}&${job:queryparam}\
                &${instance:queryparam}&${cluster:queryparam}&${namespace:queryparam}&${tempo_datasource:queryparam}\
                &var-provider=${__data.fields.Provider}&var-pool=${__data.fields.Pool}",
    }]);
    Panel::table("Verdict", 24)
        .tall(6)
        .says(
            "What is wrong with each pool by the evidence of the last hour, and what to do. Anything but green means that
             calls fail or need too many attempts. Do what it says, then look again after an hour; the text leads to the
             runbook, the pool to its diagnosis. Firm: everything it rests on was seen. Likely: a limit or the cause of
             refusals is not known. Provisional: younger than a quarter of an hour. Load is what is asked for over what
             the limit can serve in time: above 100 % somebody goes without, however calls are paced.",
        )
        .empty(NO_RULES)
        .now(
            r#"label_replace(label_replace(label_replace(pool:forbear_verdict:1h{<pool>},
               "action", "$1", "cause", "(.+)"),
               "runbook", "forbear$1$2$3", "cause", "([a-z]+)_?([a-z]*)_?([a-z]*)"),
               "runbook", "forbearspendlimitreached", "cause", "spend_limit")"#,
            "",
        )
        .now("min by (<by>) (pool:forbear_success:ratio1h{<pool>})", "")
        .now(
            "max by (<by>) (pool:forbear_throttled:increase1h{<pool>} / (pool:forbear_attempts:increase1h{<pool>} > 0))",
            "",
        )
        .now("max by (<by>) (pool:forbear_horizon_load:1h{<pool>})", "")
        .columns(&[
            ("cluster", "Cluster"),
            ("namespace", "Namespace"),
            ("provider", "Provider"),
            ("pool", "Pool"),
            ("cause", "Verdict"),
            ("certainty", "How sure"),
            ("action", "Do now"),
            ("Value #B", "Success"),
            ("Value #C", "Throttled"),
            ("Value #D", "Load"),
            ("runbook", "Runbook"),
        ])
        .field(
            "Verdict",
            vec![
                json!({"id": "mappings", "value": word(|cause| cause.1.to_owned())}),
                json!({"id": "custom.cellOptions", "value": {"type": "color-background", "mode": "basic"}}),
                json!({"id": "custom.width", "value": 210}),
            ],
        )
        .field(
            "Do now",
            vec![
                json!({"id": "mappings", "value": word(|cause| cause.2.to_owned())}),
                json!({"id": "links", "value": runbook}),
            ],
        )
        .field("Pool", vec![json!({"id": "links", "value": diagnosis})])
        .widths(&[("Provider", 140), ("Pool", 170), ("How sure", 100)])
        .field("Runbook", vec![json!({"id": "custom.hidden", "value": true})])
        .field(
            "Success",
            ratio(json!([
                {"value": null, "color": "red"}, {"value": 0.95, "color": "orange"}, {"value": 0.99, "color": "green"},
            ])),
        )
        .field(
            "Throttled",
            ratio(json!([
                {"value": null, "color": "green"}, {"value": 0.1, "color": "orange"}, {"value": 0.33, "color": "red"},
            ])),
        )
        .field(
            "Load",
            ratio(json!([
                {"value": null, "color": "green"}, {"value": 0.9, "color": "orange"}, {"value": 1.25, "color": "red"},
            ])),
        )
        .sorted_by("Success", false)
}
