//! What every table must have, whatever the provider.

use std::collections::HashSet;

use forbear::core::moment::WallTime;
use forbear::core::observation::Observation;
use forbear::core::signal::LimitClass;
use forbear::provider;

#[test]
fn every_table_names_its_page_its_scopes_and_the_day_it_was_read() {
    for table in provider::all() {
        assert!(table.page.starts_with("https://"), "{}", table.id);
        assert_eq!(table.verified_on, "2026-11-30", "{}", table.id);
        assert!(!table.scopes.is_empty(), "{}", table.id);
        assert_eq!(provider::by_id(table.id).map(|found| found.id), Some(table.id));
    }
}

#[test]
fn every_table_has_one_answer_per_limit_it_can_express_and_one_for_success() {
    for table in provider::all() {
        let limits: HashSet<_> = table.answers.iter().map(|answer| (answer.class, answer.token_kind)).collect();
        assert_eq!(limits.len(), table.answers.len(), "{}: two answers for one limit", table.id);
        assert!(limits.contains(&(LimitClass::None, None)), "{}: no answer for success", table.id);
    }
}

#[test]
fn an_unknown_provider_is_answered_with_the_known_ones_closest_first() {
    assert_eq!(provider::closest("opneai").first(), Some(&"openai"));
    assert_eq!(provider::closest("azure").first(), Some(&"azure-openai"));
    assert_eq!(provider::closest("").len(), provider::all().len());
}

/// Found by the fuzzer: a rule about the status 424 had made an empty balance retryable.
#[test]
fn spend_is_never_retryable_whatever_status_it_comes_under() {
    let body = br#"{"error":{"message":"You exceeded your current quota.","code":"insufficient_quota"}}"#;
    for table in provider::all() {
        for status in [200, 400, 402, 403, 408, 424, 429, 500, 503, 529] {
            let signal = table.read(&Observation::status(status).body(body), WallTime::default()).signal;
            assert!(signal.class != LimitClass::Spend || !signal.retryable, "{} {status}", table.id);
        }
    }
}
