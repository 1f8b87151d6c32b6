//! What words mean, for people: the same colour and the same text wherever a word is shown.

/// The colour of every word that labels have, and of every line that boards name themselves.
pub(crate) const COLOURS: &[(&str, &str)] = &[
    // What is as it should be.
    ("ok", "green"),
    ("ok_by_fallback", "light-green"),
    ("healthy", "green"),
    ("flowing", "green"),
    ("attempting", "green"),
    ("admitted", "green"),
    ("succeeded", "green"),
    ("served", "green"),
    // A limit said no.
    ("throttled", "orange"),
    ("request_rate", "orange"),
    ("minute", "orange"),
    ("first attempts throttled", "orange"),
    ("token_throughput", "light-orange"),
    ("quota_too_small", "dark-orange"),
    ("shut", "dark-orange"),
    ("daily", "#a16a4b"),
    ("day", "#a16a4b"),
    ("daily_limit", "#a16a4b"),
    ("daily_spent", "#a16a4b"),
    ("spend", "#c94f7c"),
    ("spend_limit", "#c94f7c"),
    ("overload", "#3aa6a6"),
    ("overloaded", "#3aa6a6"),
    ("concurrency", "#b3a369"),
    ("unknown", "#8e8e8e"),
    // What failed, and what ended calls.
    ("transient", "red"),
    ("failure", "red"),
    ("provider_errors", "red"),
    ("failed", "red"),
    ("timeout", "light-red"),
    ("deadline_exceeded", "semi-dark-red"),
    ("out of time", "semi-dark-red"),
    ("attempts_exhausted", "super-light-red"),
    ("attempts exhausted", "super-light-red"),
    ("retry_budget", "dark-red"),
    ("not_retryable", "#d683ce"),
    ("caller_errors", "#d683ce"),
    ("cancelled", "#6e6e6e"),
    // Where a wait came from.
    ("header", "blue"),
    ("body", "light-blue"),
    ("stated_delay_too_long", "dark-blue"),
    ("curve", "purple"),
    ("sleeping", "purple"),
    ("retries throttled", "purple"),
    ("backoff_too_fast", "purple"),
    ("backoff_too_slow", "light-purple"),
    ("gate", "yellow"),
    ("at_gate", "yellow"),
    ("paced", "yellow"),
    ("unpaced", "yellow"),
    ("gate_refused", "dark-yellow"),
    ("refused", "dark-yellow"),
    ("queue_full", "semi-dark-yellow"),
    ("draining", "#6e6e6e"),
    // The shared store.
    ("slow", "light-orange"),
    ("down", "red"),
    ("rejected", "dark-red"),
    ("silent", "#8e8e8e"),
    ("absent", "#8e8e8e"),
    // Neither good nor bad.
    ("none", "#8e8e8e"),
    ("unclear", "#8e8e8e"),
    ("not_enough_data", "#8e8e8e"),
    ("limit", "text"),
];

/// The colour of a word that has one.
pub(crate) fn colour(word: &str) -> Option<&'static str> {
    COLOURS.iter().find(|(known, _)| *known == word).map(|(_, colour)| *colour)
}

/// Each cause with its words, and what to do about it.
pub(crate) const CAUSES: &[(&str, &str, &str)] = &[
    ("healthy", "Healthy", "Nothing"),
    ("quota_too_small", "Quota too small", "Raise the quota, or send less"),
    ("backoff_too_fast", "Backoff too fast", "Wait longer between attempts"),
    ("backoff_too_slow", "Backoff too slow", "Wait less between attempts"),
    ("unpaced", "Unpaced", "Turn a gate on, or its next rung"),
    ("daily_spent", "Day's quota spent", "Stop until the day ends, or ask for more a day"),
    ("spend_limit", "Account may spend no more", "Pay, or raise the account's limit"),
    ("overloaded", "Provider overloaded", "Wait it out, or go elsewhere"),
    ("concurrency", "Too many at once", "Run fewer at the same time"),
    ("provider_errors", "Provider fails", "Wait, or go elsewhere"),
    ("caller_errors", "Requests are wrong", "Repair the requests"),
    ("unclear", "Unclear", "Look at what ends calls"),
    ("not_enough_data", "Too little to tell", "Wait for 200 calls within an hour"),
];
