//! Asks for the slots of a pace that all replicas share, and for the leave to probe.

use std::time::Duration;

use redis::ScriptInvocation;

use crate::core::gate::{LONGEST_DAILY, PROBE_EVERY, PROBE_GOOD_AFTER};
use crate::event::words::StoreOperation;
use crate::store::news::KEPT_AFTER_END;
use crate::store::order::SLOWEST;
use crate::store::redis::ask::Unanswered;
use crate::store::redis::hub::Hub;
use crate::store::{Grant, Want};

/// Slots are handed out at most this far ahead.
pub(super) const HORIZON: Duration = Duration::from_secs(1);
/// What is read is not trusted: no more slots than these are taken in.
const MOST_SLOTS: usize = 8;

/// Asks the store; `None` where its answer cannot be read.
pub(super) async fn ask(hub: &Hub, tag: &str, want: Want) -> Result<Option<Grant>, Unanswered> {
    let mut call = hub.scripts.permit.key(hub.keys.entry(tag));
    arguments(&mut call, want);
    let answer: Vec<String> = hub.invoke(StoreOperation::Permit, &call).await?;
    Ok(read(&answer))
}

/// What each argument is stands in the script.
pub(super) fn arguments(call: &mut ScriptInvocation<'_>, want: Want) {
    let millis = |time: Duration| time.as_millis() as u64;
    let (what, slots, every, known) = match want {
        Want::Slots { slots, every, known } => ("slots", slots, every, known),
        Want::Probe => ("probe", 0, Duration::ZERO, false),
    };
    call.arg(what).arg(slots).arg(every.as_micros().max(1) as u64).arg(millis(HORIZON));
    call.arg(millis(PROBE_GOOD_AFTER)).arg(millis(PROBE_EVERY)).arg(millis(KEPT_AFTER_END)).arg(u8::from(known));
}

/// Reads an answer; `None` for anything that is not one.
pub(super) fn read(answer: &[String]) -> Option<Grant> {
    let micros = |text: &String| text.parse::<u64>().ok().map(Duration::from_micros);
    let [_server, probes, again, every, slots @ ..] = answer else { return None };
    let slots: Option<Vec<Duration>> = slots.iter().take(MOST_SLOTS).map(micros).collect();
    let slots = slots?.into_iter().map(|slot| slot.min(HORIZON)).collect();
    let every = Some(micros(every)?.min(SLOWEST)).filter(|every| !every.is_zero());
    Some(Grant { slots, probes: probes == "1", again_in: micros(again)?.min(LONGEST_DAILY), every })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_read_within_bounds_and_anything_else_is_none() {
        let answer = |text: &str| read(&text.split(' ').map(str::to_owned).collect::<Vec<_>>());
        let grant = answer("1700000000000000 1 1500000 50000 0 50000").expect("an answer");
        assert_eq!((grant.probes, grant.again_in), (true, Duration::from_millis(1_500)));
        assert_eq!(
            (grant.slots, grant.every),
            (vec![Duration::ZERO, Duration::from_millis(50)], Some(Duration::from_millis(50)))
        );
        let hostile = answer(&format!("1 0 99999999999999999 99999999999999999{}", " 99999999999".repeat(1_000)))
            .expect("an answer");
        assert_eq!((hostile.slots.len(), hostile.again_in), (MOST_SLOTS, LONGEST_DAILY));
        assert_eq!(hostile.every, Some(SLOWEST));
        assert!(hostile.slots.iter().all(|slot| *slot == HORIZON));
        for wrong in ["", "1 0", "1 0 1", "1 0 x 1", "1 0 1 -1", "1 0 1 1 x"] {
            assert_eq!(answer(wrong), None, "{wrong}");
        }
    }
}
