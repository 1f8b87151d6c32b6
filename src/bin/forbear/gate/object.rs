//! Pools for a program.

use forbear::FleetPool;
use serde_json::{Value, json};

/// One object per pool.
pub(super) fn of_all(pools: &[FleetPool]) -> Value {
    pools.iter().map(of).collect()
}

/// The pool, with what holds it; `null` where nothing does.
pub(super) fn of(pool: &FleetPool) -> Value {
    let shut = pool.shut.as_ref().map(|shut| {
        json!({
            "limit_class": shut.class.as_str(), "left_s": shut.left.as_secs_f64(), "told": shut.told, "by": shut.by,
        })
    });
    let order = pool.order.as_ref().map(|order| {
        json!({
            "every_s": order.every.map(|every| every.as_secs_f64()), "left_s": order.left.as_secs_f64(), "by": order.by,
            "reason": order.reason,
        })
    });
    json!({ "pool": pool.name, "tag": pool.tag, "strikes": pool.strikes, "shut": shut, "by_hand": order })
}
