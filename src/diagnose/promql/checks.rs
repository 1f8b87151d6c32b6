//! What may be asked of a book of rules: everything that ends up inside an expression or a template is looked at first.

use crate::core::setting::InvalidSetting;
use crate::event::catalogue::Metric;

/// Labels that the rules give meanings of their own.
const OURS: [&str; 9] = ["le", "load", "horizon", "reason", "cause", "certainty", "speed", "severity", "alertname"];

/// Labels by which pools are told apart.
pub(super) fn group_labels(labels: &[&str]) -> Result<(), InvalidSetting> {
    const ALLOWED: &str = "names of labels, each once, `provider` and `pool` among them, and none that the metrics or rules give a \
                           meaning of their own";
    let refused = || Err(InvalidSetting::new("rules.group_by", labels.join(","), ALLOWED));
    let taken = |label: &str| OURS.contains(&label) || is_of_a_metric(label);
    let twice = |place: usize, label: &&str| labels[..place].contains(label);
    for (place, label) in labels.iter().enumerate() {
        if !is_name(label) || taken(label) || twice(place, label) {
            return refused();
        }
    }
    if ["provider", "pool"].iter().all(|needed| labels.contains(needed)) { Ok(()) } else { refused() }
}

/// A label of every alert.
pub(super) fn alert_label(key: &str, value: &str) -> Result<(), InvalidSetting> {
    if !is_name(key) || OURS.contains(&key) || is_of_a_metric(key) {
        let allowed = "the name of a label that neither metrics nor rules set";
        return Err(InvalidSetting::new("rules.labels", key, allowed));
    }
    let odd = value.is_empty() || value.contains("{{") || value.chars().any(char::is_control) || value.trim() != value;
    let allowed = "some text on one line, without {{";
    if odd { Err(InvalidSetting::new("rules.labels", value, allowed)) } else { Ok(()) }
}

/// A word for a severity: routes match it.
pub(super) fn severity(word: &str) -> Result<(), InvalidSetting> {
    let is_plain = !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c));
    let allowed = "letters, digits, - and _";
    if is_plain { Ok(()) } else { Err(InvalidSetting::new("rules.severity", word, allowed)) }
}

/// An address to which more is added.
pub(super) fn address(field: &'static str, url: &str) -> Result<(), InvalidSetting> {
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
    let odd = |c: char| c.is_whitespace() || c.is_control() || "{}\"'<>`\\#?".contains(c);
    let is_address = rest.is_some_and(|rest| !rest.is_empty() && !rest.starts_with('/') && !rest.contains(odd));
    let allowed = "http:// or https://, a host and a path, without query and fragment";
    if is_address { Ok(()) } else { Err(InvalidSetting::new(field, url, allowed)) }
}

/// Matchers as they stand in a selector: `job="api", env!~"dev|test"`.
pub(super) fn matchers(text: &str) -> Result<(), InvalidSetting> {
    let refused = || InvalidSetting::new("rules.selector", text, "matchers, as in job=\"api\",env!~\"dev|test\"");
    let mut rest = text.trim();
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        let (name, behind) = rest.split_at(end);
        if !is_name(name) || name == "__name__" {
            return Err(refused());
        }
        let behind = behind.trim_start();
        let operator = ["=~", "!~", "!=", "="].into_iter().find(|operator| behind.starts_with(operator));
        let value = behind[operator.ok_or_else(refused)?.len()..].trim_start();
        rest = behind_string(value).ok_or_else(refused)?.trim_start();
        if !rest.is_empty() {
            rest = rest.strip_prefix(',').ok_or_else(refused)?.trim_start();
        }
    }
    Ok(())
}

/// What comes behind the string that `text` begins with.
fn behind_string(text: &str) -> Option<&str> {
    let quote = text.chars().next().filter(|quote| ['"', '\'', '`'].contains(quote))?;
    let mut escaped = false;
    for (place, c) in text.char_indices().skip(1) {
        match c {
            _ if c.is_control() => return None,
            _ if escaped => escaped = false,
            '\\' if quote != '`' => escaped = true,
            _ if c == quote => return Some(&text[place + 1..]),
            _ => {}
        }
    }
    None
}

/// The name of a label, none of a server's own.
fn is_name(text: &str) -> bool {
    let letter = |c: char| c.is_ascii_alphabetic() || c == '_';
    text.starts_with(letter) && text.chars().all(|c| letter(c) || c.is_ascii_digit()) && !text.starts_with("__")
}

/// Whether metrics of the catalogue have this label beside `provider` and `pool`.
fn is_of_a_metric(label: &str) -> bool {
    Metric::ALL.iter().any(|metric| metric.row().labels.iter().any(|known| known.key == label))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matchers_are_read_to_their_end() {
        for good in ["", "a=\"b\"", " a = 'b' , c!~`d\\|e`,", r#"a="say \"so\", or {not}""#, "a!=\"\""] {
            assert_eq!(matchers(good), Ok(()), "{good}");
        }
        for bad in [
            "a",
            "a=b",
            "a=\"b",
            "a=\"b\" c=\"d\"",
            "a==\"b\"",
            "=\"b\"",
            "a=\"b\"}",
            "1a=\"b\"",
            ",",
            "__name__=\"x\"",
        ] {
            let refused = matchers(bad).expect_err(bad);
            assert_eq!((refused.field, refused.value), ("rules.selector", format!("{bad:?}")));
        }
    }

    #[test]
    fn labels_that_mean_something_already_are_refused() {
        assert_eq!(group_labels(&["job", "provider", "pool"]), Ok(()));
        let bad: [&[&str]; 6] = [
            &["pool"],
            &["provider", "pool", "outcome"],
            &["provider", "pool", "cause"],
            &["provider", "pool", "pool"],
            &["provider", "pool", "a-b"],
            &[],
        ];
        for labels in bad {
            assert!(group_labels(labels).is_err(), "{labels:?}");
        }
        assert_eq!(alert_label("team", "search"), Ok(()));
        for (key, value) in
            [("severity", "x"), ("pool", "{{ $labels.x }}"), ("team", ""), ("te am", "x"), ("limit_class", "x")]
        {
            assert!(alert_label(key, value).is_err(), "{key}={value}");
        }
    }

    #[test]
    fn addresses_are_those_that_more_can_be_added_to() {
        for good in ["https://grafana.example", "http://localhost:3000/grafana/"] {
            assert_eq!(address("rules.boards", good), Ok(()), "{good}");
        }
        for bad in [
            "grafana.example",
            "https://",
            "https:///x",
            "https://a/?b",
            "https://a/#b",
            "https://a/{{x}}",
            "https://a b",
        ] {
            assert!(address("rules.boards", bad).is_err(), "{bad}");
        }
    }
}
