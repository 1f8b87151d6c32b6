//! Queries of boards with other matchers and labels: word by word, so that strings, comments and the variables of Grafana
//! stay as they are.

/// What is changed.
pub(super) struct Change<'c> {
    /// Matchers that every metric gets; series of the rules have them already.
    pub(super) matchers: &'c str,
    /// What stands for [`cluster` and `namespace`](super::variant::KEPT_LABELS) in lists of labels, and as variables.
    pub(super) labels: &'c [&'c str],
}

/// How boards choose by the labels that are replaced: one variable each.
const CHOSEN: &str = r#"cluster=~"$cluster", namespace=~"$namespace""#;

/// The operators behind which a list of labels may stand.
const LISTS: [&str; 6] = ["by", "without", "on", "ignoring", "group_left", "group_right"];
/// What pools are told apart by beside `provider` and `pool`.
const KEPT: [&str; 2] = ["cluster", "namespace"];

impl Change<'_> {
    /// The query, changed.
    pub(super) fn apply(&self, query: &str) -> String {
        let query = self.chosen(query);
        let mut text = String::with_capacity(query.len());
        let mut rest = query.as_str();
        while let Some(first) = rest.chars().next() {
            let length = match first {
                '"' | '\'' | '`' => string(rest),
                '#' => rest.find('\n').unwrap_or(rest.len()),
                '$' => variable(rest),
                c if is_word(c) => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
                c => c.len_utf8(),
            };
            let (token, behind) = rest.split_at(length);
            text.push_str(token);
            rest = behind;
            if is_word(first) && token.starts_with("forbear_") && !self.matchers.is_empty() {
                rest = self.select(&mut text, rest);
            } else if LISTS.contains(&token) {
                rest = self.list(&mut text, rest);
            }
        }
        text
    }

    /// The query with other variables to choose by.
    fn chosen(&self, query: &str) -> String {
        if self.labels == KEPT {
            return query.to_owned();
        }
        let matchers = self.labels.iter().map(|label| format!("{label}=~\"${label}\"")).collect::<Vec<_>>().join(", ");
        if matchers.is_empty() {
            return query.replace(&format!("{CHOSEN}, "), "").replace(&format!(", {CHOSEN}"), "").replace(CHOSEN, "");
        }
        query.replace(CHOSEN, &matchers)
    }

    /// Puts the matchers behind a metric.
    fn select<'q>(&self, text: &mut String, rest: &'q str) -> &'q str {
        let Some(inside) = rest.trim_start().strip_prefix('{') else {
            text.extend(["{", self.matchers, "}"]);
            return rest;
        };
        let comma = if inside.trim_start().starts_with('}') { "" } else { ", " };
        text.extend(["{", self.matchers, comma]);
        inside
    }

    /// Writes a list of labels anew, if it has those that are replaced.
    fn list<'q>(&self, text: &mut String, rest: &'q str) -> &'q str {
        let list = rest.trim_start().strip_prefix('(').and_then(|inside| inside.split_once(')'));
        let Some((inside, behind)) = list else { return rest };
        let labels: Vec<_> = inside.split(',').map(str::trim).filter(|label| !label.is_empty()).collect();
        if !KEPT.iter().all(|kept| labels.contains(kept)) {
            return rest;
        }
        let others: Vec<_> = labels.iter().filter(|label| !KEPT.contains(label)).collect();
        let added = self.labels.iter().filter(|label| !others.contains(label));
        let place = labels.iter().position(|label| KEPT.contains(label)).unwrap_or(0);
        let (before, after) = others.split_at(place.min(others.len()));
        let labels: Vec<_> = before.iter().copied().chain(added).chain(after.iter().copied()).copied().collect();
        text.extend([" (", &labels.join(", "), ")"]);
        behind
    }
}

/// What names are made of; those of recorded series have colons.
fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == ':'
}

/// How long the string is that `text` begins with.
fn string(text: &str) -> usize {
    let mut letters = text.char_indices();
    let Some((_, quote)) = letters.next() else { return 0 };
    let mut escaped = false;
    for (place, c) in letters {
        match c {
            _ if escaped => escaped = false,
            '\\' if quote != '`' => escaped = true,
            c if c == quote => return place + c.len_utf8(),
            _ => {}
        }
    }
    text.len()
}

/// How long the variable of Grafana is that `text` begins with: `$name` or `${name:format}`.
fn variable(text: &str) -> usize {
    match text[1..].strip_prefix('{') {
        Some(inside) => inside.find('}').map_or(text.len(), |end| end + 3),
        None => text[1..].find(|c| !is_word(c) || c == ':').map_or(text.len(), |end| end + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_get_the_matchers_and_nothing_else_does() {
        let change = Change { matchers: r#"job="a""#, labels: &["cluster", "namespace"] };
        for (query, changed) in [
            ("forbear_x", r#"forbear_x{job="a"}"#),
            ("rate(forbear_x[$__rate_interval])", r#"rate(forbear_x{job="a"}[$__rate_interval])"#),
            (r#"forbear_x{pool=~"$pool"}"#, r#"forbear_x{job="a", pool=~"$pool"}"#),
            ("forbear_x {}", r#"forbear_x{job="a"}"#),
            ("pool:forbear_x:ratio1h{a=\"b\"}", "pool:forbear_x:ratio1h{a=\"b\"}"),
            (
                r#"label_replace(up, "forbear_x", "$1", "a", "(.*)")"#,
                r#"label_replace(up, "forbear_x", "$1", "a", "(.*)")"#,
            ),
            ("label_values(forbear_x{a=\"}\"}, pool)", "label_values(forbear_x{job=\"a\", a=\"}\"}, pool)"),
            ("up # forbear_x\n+ forbear_y", "up # forbear_x\n+ forbear_y{job=\"a\"}"),
            ("${forbear_x:regex} + $forbear_y", "${forbear_x:regex} + $forbear_y"),
        ] {
            assert_eq!(change.apply(query), changed);
        }
    }

    #[test]
    fn what_is_chosen_by_is_what_pools_are_told_apart_by() {
        let query = r#"a{cluster=~"$cluster", namespace=~"$namespace", pool=~"$pool"} + b{job=~"$job", cluster=~"$cluster", namespace=~"$namespace"}"#;
        for (labels, changed) in [
            (&["cluster", "namespace"][..], query),
            (&["env"], r#"a{env=~"$env", pool=~"$pool"} + b{job=~"$job", env=~"$env"}"#),
            (&[], r#"a{pool=~"$pool"} + b{job=~"$job"}"#),
        ] {
            assert_eq!(Change { matchers: "", labels }.apply(query), changed);
        }
    }

    #[test]
    fn lists_that_tell_pools_apart_get_the_labels() {
        let change = Change { matchers: "", labels: &["env"] };
        for (query, changed) in [
            ("sum by (cluster, namespace, provider, pool) (x)", "sum by (env, provider, pool) (x)"),
            ("a * on(cluster,namespace,pool) group_left (cause) b", "a * on (env, pool) group_left (cause) b"),
            ("sum by (pool) (x)", "sum by (pool) (x)"),
            ("sum(x) by (le, cluster, namespace)", "sum(x) by (le, env)"),
            ("x{by=\"(cluster, namespace)\"}", "x{by=\"(cluster, namespace)\"}"),
        ] {
            assert_eq!(change.apply(query), changed);
        }
    }
}
