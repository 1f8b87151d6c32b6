//! The regular expressions in matchers.

/// Looks at the expression of every `=~` and `!~`. The matchers are ones, as far as their form goes.
///
/// # Errors
/// One is no regular expression: which, and why.
pub(super) fn check(matchers: &str) -> Result<(), String> {
    let mut rest = matchers;
    while let Some(place) = rest.find(['"', '\'', '`']) {
        let is_pattern = rest[..place].trim_end().ends_with('~');
        let (text, behind) = unquoted(&rest[place..]);
        // Prometheus holds it against the whole value; its syntax is RE2's, of which this is more, but for hardly used classes.
        if is_pattern && let Err(error) = regex_syntax::parse(&text) {
            let why = error.to_string();
            let why = why.lines().last().unwrap_or_default().trim_start_matches("error: ");
            return Err(format!("--selector has {text:?}; allowed: regular expressions ({why})"));
        }
        rest = behind;
    }
    Ok(())
}

/// The text of the string that `quoted` begins with, and what comes behind it.
fn unquoted(quoted: &str) -> (String, &str) {
    let mut letters = quoted.char_indices();
    let quote = letters.next().map_or('"', |(_, quote)| quote);
    let mut text = String::new();
    while let Some((place, c)) = letters.next() {
        match c {
            c if c == quote => return (text, &quoted[place + c.len_utf8()..]),
            '\\' if quote != '`' => text.extend(letters.next().map(|(_, escaped)| escaped)),
            c => text.push(c),
        }
    }
    (text, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_expression_is_refused_where_it_would_be_one() {
        for good in ["", r#"a="(",b=~"x|(y.*)",c!~`\d+`"#, r#"a=~"say \"so\" \\d""#] {
            assert_eq!(check(good), Ok(()), "{good}");
        }
        let refused = check(r#"a="b",c!~"x|(""#).expect_err("no expression");
        assert_eq!(refused, r#"--selector has "x|("; allowed: regular expressions (unclosed group)"#);
        assert!(check("a=~`*`").is_err());
    }
}
