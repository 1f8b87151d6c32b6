//! `forbear suggest`.

use crate::{object, printed, refusal};

#[test]
fn a_suggestion_gives_each_number_its_reason_and_the_line_to_paste() {
    let (text, status) = printed("suggest --window 60s --deadline 90s");
    assert_eq!(status, Some(0));
    for line in [
        "base        6 s     a tenth of the window",
        "factor      2       the usual doubling",
        "cap         9 s     a tenth of the deadline",
        "coverage    99.9 %",
        "Policy::background(Duration::from_secs(90)).base(Duration::from_secs(6)).cap(Duration::from_secs(9)).attempts(32)",
    ] {
        assert!(text.contains(line), "{line:?} in\n{text}");
    }
}

#[test]
fn no_retry_is_said_where_it_is_the_honest_answer() {
    let (text, status) = printed("suggest --window 60s --deadline 15s --interactive");
    assert_eq!(status, Some(0), "an answer, not an error");
    assert!(text.contains("do not retry: a window of 60 s resets within 15 s for at most 25 %"), "{text}");
    assert!(text.ends_with("  Policy::interactive(Duration::from_secs(15)).attempts(1)\n"), "{text}");
    let person = object("suggest --window 60s --deadline 15s --interactive --json");
    assert_eq!(
        (&person["retries"], &person["attempts"], &person["best_coverage"]),
        (&false.into(), &1.into(), &0.25.into())
    );
    assert_eq!(object("suggest --window 60s --deadline 1s --json")["retries"], false, "nor where nobody waits");
}

#[test]
fn few_retries_far_apart_come_with_a_caution() {
    let (text, _) = printed("suggest --window 60s --deadline 15s");
    for line in [
        "base        3.8 s   the cap: a tenth of the window is longer than that",
        "cap         3.8 s   a twentieth of window and deadline together",
        "caution     where a person waits, do not retry: a window of 60 s resets within 15 s for at most 25 %",
        "27 retries are refused for each call that is saved",
    ] {
        let folded = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(folded.contains(&line.split_whitespace().collect::<Vec<_>>().join(" ")), "{line:?} in\n{text}");
    }
    assert!(object("suggest --window 60s --deadline 15s --json")["caution"].is_string());
    assert!(object("suggest --window 60s --deadline 16s --json")["caution"].is_null());
}

#[test]
fn a_provider_brings_its_window_and_whether_it_states_waits() {
    let (text, _) = printed("suggest --provider openai --deadline 15s");
    assert!(text.starts_with("openai: window 60 s, deadline 15 s, waits are stated\n"), "{text}");
    assert_eq!(object("suggest --provider openai --deadline 15s --json")["retries"], true);
    assert_eq!(
        object("suggest --provider xai --deadline 15s --interactive --json")["retries"],
        false,
        "it states no waits"
    );
    let told = object("suggest --window 60s --states-delay --deadline 15s --json");
    assert_eq!(told["base_s"], 1.9);
}

#[test]
fn what_is_refused_is_named_with_its_range() {
    let refused = refusal("suggest --window 1ms --deadline 15s");
    assert_eq!(refused, "forbear suggest: --window is 1ms; allowed: 10ms to 24h\n");
    let refused = refusal("suggest --window 60s --deadline 8d");
    assert_eq!(refused, "forbear suggest: --deadline is 691200s; allowed: 1ms to 7 days\n");
    assert!(refusal("suggest --window soon --deadline 15s").contains("a duration, as in 500ms, 1.5s, 2m, 1h"));
    assert!(refusal("suggest --provider opneai --deadline 15s").contains("known, closest first: openai,"));
    assert!(refusal("suggest --provider stripe --deadline 15s").contains("name no window per minute: give --window"));
    assert!(refusal("suggest --deadline 15s").contains("--window"));
}
