//! The forms in which providers write a wait. All round up: what is read back is never shorter than the wait.

use std::time::Duration;

use time::OffsetDateTime;
use time::format_description::well_known::{Rfc2822, Rfc3339};

use super::rpc::retry_info;
use crate::core::moment::WallTime;
use crate::emulator::limits::whole_seconds;

/// `wait` in the form that `form` names, seen at `wall`; `None` when there is no such form.
pub(super) fn written(form: &str, wait: Duration, wall: WallTime) -> Option<String> {
    let end = wall.after(wait).elapsed_since_epoch();
    Some(match form {
        "s" => whole_seconds(wait).as_secs().to_string(),
        "ms" => millis(wait).to_string(),
        "f" => decimal_seconds(millis(wait)),
        "go" => go(millis(wait)),
        "proto" => format!("{}.{:03}s", millis(wait) / 1_000, millis(wait) % 1_000),
        "date" => date(whole_seconds(end)),
        "rfc3339" => rfc3339(whole_seconds(end)),
        "epoch_s" => whole_seconds(end).as_secs().to_string(),
        "epoch_ms" => millis(end).to_string(),
        "rpc" => retry_info(Duration::from_millis(u64::try_from(millis(wait)).unwrap_or(u64::MAX))),
        _ => return None,
    })
}

/// The whole second of `wall` as an HTTP date (RFC 9110, section 5.6.7), for the `Date` of an answer.
pub(super) fn date_of(wall: WallTime) -> String {
    date(wall.elapsed_since_epoch())
}

/// Whole milliseconds, rounded up: no provider states finer ones.
fn millis(wait: Duration) -> u128 {
    wait.as_nanos().div_ceil(1_000_000)
}

/// `62.5`, `62`, `0.043`.
fn decimal_seconds(millis: u128) -> String {
    let (seconds, fraction) = (millis / 1_000, millis % 1_000);
    if fraction == 0 {
        return seconds.to_string();
    }
    format!("{seconds}.{fraction:03}").trim_end_matches('0').to_owned()
}

/// As Go's `Duration.String` prints it: `1h0m2.5s`, `6m0s`, `120ms`, `0s` (<https://pkg.go.dev/time#Duration.String>).
fn go(millis: u128) -> String {
    let (hours, minutes, rest) = (millis / 3_600_000, millis / 60_000 % 60, millis % 60_000);
    match (hours, minutes, millis) {
        (0, 0, 1..1_000) => format!("{millis}ms"),
        (0, 0, _) => format!("{}s", decimal_seconds(rest)),
        (0, _, _) => format!("{minutes}m{}s", decimal_seconds(rest)),
        _ => format!("{hours}h{minutes}m{}s", decimal_seconds(rest)),
    }
}

/// As HTTP writes dates (RFC 9110, section 5.6.7).
fn date(since_epoch: Duration) -> String {
    // RFC 2822 writes the same date; HTTP spells its zone GMT.
    civil(since_epoch).format(&Rfc2822).unwrap_or_default().replace("+0000", "GMT")
}

/// As RFC 3339 writes instants, in UTC.
fn rfc3339(since_epoch: Duration) -> String {
    civil(since_epoch).format(&Rfc3339).unwrap_or_default()
}

/// The civil time; what lies beyond the year 9999 is its last second.
fn civil(since_epoch: Duration) -> OffsetDateTime {
    const LAST: i64 = 253_402_300_799;
    let seconds = i64::try_from(since_epoch.as_secs()).unwrap_or(LAST).min(LAST);
    OffsetDateTime::from_unix_timestamp(seconds).unwrap_or(OffsetDateTime::UNIX_EPOCH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_form_is_written_as_its_providers_write_it() {
        let wall = WallTime::since_epoch(Duration::from_millis(1_700_000_000_400));
        let wait = Duration::from_micros(62_499_001);
        let forms = ["s", "ms", "f", "go", "proto", "epoch_s", "epoch_ms", "rfc3339", "date"];
        let written = forms.map(|form| written(form, wait, wall).unwrap());
        let expected = [
            "63",
            "62500",
            "62.5",
            "1m2.5s",
            "62.500s",
            "1700000063",
            "1700000062900",
            "2023-11-14T22:14:23Z",
            "Tue, 14 Nov 2023 22:14:23 GMT",
        ];
        assert_eq!(written, expected);
        assert_eq!(super::written("proto", Duration::from_millis(6), wall).unwrap(), "0.006s");
    }

    #[test]
    fn go_durations_drop_what_go_drops() {
        let expected = [(0, "0s"), (6, "6ms"), (1_000, "1s"), (360_000, "6m0s"), (3_600_000, "1h0m0s")];
        for (millis, text) in expected {
            assert_eq!(go(millis), text);
        }
    }

    #[test]
    fn a_wait_without_end_is_written_without_a_panic() {
        for form in ["s", "ms", "f", "go", "proto", "date", "rfc3339", "epoch_s", "epoch_ms"] {
            assert!(written(form, Duration::MAX, WallTime::since_epoch(Duration::MAX)).is_some());
        }
    }
}
