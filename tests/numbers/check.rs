//! `forbear check`.

use crate::{object, printed, refusal};

const COPIED: &str = "check --base 1s --factor 2 --retries 5 --window 60s --deadline 120s";

#[test]
fn copied_numbers_fail_a_check_with_numbers_and_a_fix() {
    let (text, status) = printed(COPIED);
    assert_eq!(status, Some(1), "it can stand in a CI");
    for line in [
        "wasted        5.5 ",
        "gives up      73 %       of the throttled calls before the window resets; 100 % where it has just begun",
        "31.5 s at the latest: it cannot outlive the window",
        "error    cannot_outlive_window\n",
        "-> set base 6 s, factor 2, cap 12 s, attempts 32: then 0.1 % do\n",
    ] {
        assert!(text.contains(line), "{line:?} in\n{text}");
    }
    assert_eq!(printed(&COPIED.replace("--retries 5", "--attempts 6")).0, text);
}

#[test]
fn what_is_suggested_passes() {
    let line = "check --base 6s --cap 12s --attempts 32 --window 60s --deadline 120s";
    let (text, status) = printed(line);
    assert_eq!(status, Some(0), "{text}");
    assert!(text.ends_with("nothing is wrong with these numbers\n"), "{text}");
}

#[test]
fn a_person_is_not_to_be_made_to_wait_for_what_cannot_come() {
    let line = "check --base 1s --retries 5 --window 60s --deadline 15s";
    let (text, status) = printed(line);
    assert!(text.contains("but no numbers save more than 25 % of the throttled calls") && status == Some(0), "{text}");
    let (text, status) = printed(&format!("{line} --interactive"));
    assert!(text.contains("warning  deadline_before_reset\n") && status == Some(1), "{text}");
    assert_eq!(printed("check --base 1s --retries 0 --window 60s --deadline 15s --interactive").1, Some(0));
}

#[test]
fn a_second_layer_is_multiplied_in() {
    let object = object(&format!("{COPIED} --cap 30s --sdk-retries 2 --timeout 600s --json"));
    assert_eq!(object["most_requests"], 18);
    // Eighteen requests of ten minutes, and every wait at its longest.
    assert_eq!(object["longest_call_s"], 18.0 * 600.0 + 6.0 * 1.5 + 31.0);
    let kinds: Vec<_> = object["findings"].as_array().expect("findings").iter().map(|f| f["finding"].clone()).collect();
    for kind in ["multiplied_requests", "outlasts_deadline"] {
        assert!(kinds.contains(&kind.into()), "{kinds:?}");
    }
}

#[test]
fn other_jitter_is_told_for_what_it_does() {
    let together =
        |jitter: &str| object(&format!("{COPIED} --jitter {jitter} --json"))["together"].as_f64().expect("a share");
    assert_eq!((together("full"), together("equal"), together("none")), (0.1, 0.2, 1.0));
}

#[test]
fn the_defaults_of_other_libraries_are_known_with_their_source() {
    for library in [
        "openai-python",
        "openai-node",
        "anthropic",
        "async-openai",
        "backon",
        "tokio-retry",
        "litellm",
        "aws-standard",
    ] {
        let object = object(&format!("check --like {library} --window 60s --deadline 120s --json"));
        assert!(object["like"]["source"].as_str().is_some_and(|source| source.starts_with("https://")), "{object}");
        assert_eq!(object["can_outlive_window"], false, "{library}");
    }
    let exception = object("check --like backon --retries 7 --window 60s --deadline 120s --json");
    assert_eq!((&exception["layer"]["attempts"], &exception["layer"]["base_s"]), (&8.into(), &1.0.into()));
}

#[test]
fn the_way_from_one_provider_to_another_is_explained() {
    let (text, status) = printed("check --from openai --to groq");
    assert_eq!(status, Some(0), "nothing was checked");
    for line in [
        "x-ratelimit-limit-requests       limit of requests per minute -> limit of requests per day\n",
        "tokens per minute                x-ratelimit-{limit,remaining,reset}-tokens (the same)\n",
        "levels, widest first    org, project, model (the same)\n",
        "counted per day         requests per day -> requests per day, tokens per day\n",
    ] {
        assert!(text.contains(line), "{line:?} in\n{text}");
    }
    // With numbers, these are checked against the target's window.
    let (both, status) = printed("check --from openai --to groq --base 1s --retries 5 --deadline 120s");
    assert!(both.starts_with(&text) && both.contains("window 60 s") && status == Some(1), "{both}");
    assert_eq!(object("check --from openai --to groq --json")["moving"]["to"], "groq");
}

#[test]
fn the_picture_has_a_line_for_the_numbers_the_suggestion_and_the_best() {
    let plot = std::env::temp_dir().join(format!("forbear-check-{}.svg", std::process::id()));
    let (text, _) = printed(&format!("{COPIED} --plot {}", plot.display()));
    assert_eq!(text, printed(COPIED).0);
    let svg = std::fs::read_to_string(&plot).expect("written");
    for caption in ["any numbers can reach: 100 %", "suggested numbers: 99.9 %", "the numbers checked: 27 %"] {
        assert!(svg.contains(caption), "{caption:?} in {svg}");
    }
    std::fs::remove_file(plot).expect("removed");
}

#[test]
fn what_is_refused_is_named_with_its_range() {
    let window = "--window 60s --deadline 120s";
    let refused = refusal(&format!("check --base 0s --retries 5 {window}"));
    assert_eq!(refused, "forbear check: --base is 0ns; allowed: 1ms to 24h\n");
    let refused = refusal(&format!("check --base 1s --retries 5 --factor 0.5 {window}"));
    assert_eq!(refused, "forbear check: --factor is 0.5; allowed: 1 to 100\n");
    assert!(refusal(&format!("check --base 1s --attempts 0 {window}")).contains("--attempts is 0; allowed: 1 to 1000"));
    assert!(refusal("check --base 1s --retries 5 --deadline 2m").contains("give --window, or --provider"));
    assert!(refusal("check --base 1s --retries 5 --window 1m").contains("give --deadline"));
    assert!(refusal(&format!("check --base 1s {window}")).contains("give --retries or --attempts"));
    assert!(refusal("check").contains("give --base and --retries (or --attempts), or --like, or --from and --to"));
    assert!(refusal(&format!("check --like tower {window}")).contains("one of openai-python, openai-node,"));
    let numbers = "give --base and --retries (or --attempts), or --like";
    assert_eq!(refusal("check --from openai --to groq --factor 3"), format!("forbear check: {numbers}\n"));
    let refused = refusal("check --from openai --to groq --plot no.svg");
    assert_eq!(refused, format!("forbear check: --plot draws what numbers do: {numbers}\n"));
    assert!(refusal("check --from openai --to nobody").contains("no provider is called \"nobody\""));
}
