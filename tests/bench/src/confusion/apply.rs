//! A scenario after the verdict's advice was followed.

use forbear::diagnose::Verdict;
use serde_json::{Value, json};

/// The scenario with what the verdict recommends, and nothing else, changed. `None` if it recommends nothing.
#[must_use]
pub fn applied(scenario: &Value, verdict: &Verdict) -> Option<Value> {
    let set = serde_json::to_value(&verdict.recommend).expect("plain data");
    let set = set.as_object().filter(|set| !set.is_empty())?;
    let mut changed = scenario.clone();
    for (field, value) in set {
        match field.as_str() {
            "policy" => value.as_object().into_iter().flatten().for_each(|(name, value)| {
                changed["policy"][name] = value.clone();
            }),
            // A queue in front of the callers is no gate's affair.
            "gate" if value == "queue" => return None,
            "gate" => changed["gate"] = value.clone(),
            quota => {
                if !scenario["provider"][quota].is_null() {
                    changed["provider"][quota] = json!(value);
                }
            }
        }
    }
    Some(changed)
}
