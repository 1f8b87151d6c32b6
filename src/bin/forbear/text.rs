//! Text for terminals.

/// Where lines end.
const WIDEST: usize = 110;

/// `text` in lines: the first begins with `head`, the others with as many spaces.
pub(crate) fn hanging(head: &str, text: &str) -> String {
    let indent = " ".repeat(head.chars().count());
    let (mut lines, mut line) = (String::new(), head.to_owned());
    let mut empty = true;
    for word in words(text) {
        if !empty && line.chars().count() + 1 + word.chars().count() > WIDEST {
            lines += line.trim_end();
            lines.push('\n');
            line.clone_from(&indent);
            empty = true;
        }
        if !empty {
            line.push(' ');
        }
        line += &word;
        empty = false;
    }
    lines + line.trim_end() + "\n"
}

/// `text` from elsewhere, without what would move the cursor or colour the terminal: lines and letters are kept.
pub(crate) fn printable(text: &str) -> String {
    text.chars().map(|char| if char.is_control() && char != '\n' { '\u{fffd}' } else { char }).collect()
}

/// The words of `text`, a number and its unit being one.
fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let unit = ["%", "ms", "s", "min", "h", "days"].contains(&word.trim_end_matches([',', ';', ':', '.']));
        match words.last_mut().filter(|last| unit && last.ends_with(|letter: char| letter.is_ascii_digit())) {
            Some(number) => *number += &format!(" {word}"),
            None => words.push(word.to_owned()),
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_hang_below_their_head_and_lose_no_word() {
        let text = "words of several lengths ".repeat(20);
        let lines = hanging("  base   ", &text);
        assert!(lines.lines().all(|line| line.chars().count() <= WIDEST), "{lines}");
        assert!(
            lines.starts_with("  base   words")
                && lines.lines().skip(1).all(|line| line.starts_with("         w")
                    || line.starts_with("         o")
                    || line.starts_with("         s")
                    || line.starts_with("         l"))
        );
        assert!(lines.split_whitespace().skip(1).eq(text.split_whitespace()));
    }

    #[test]
    fn what_would_steer_a_terminal_is_replaced_and_lines_are_kept() {
        assert_eq!(printable("a\u{1b}[31mb\r\u{9b}c\nü\u{7f}"), "a\u{fffd}[31mb\u{fffd}\u{fffd}c\nü\u{fffd}");
    }

    #[test]
    fn a_number_keeps_its_unit() {
        assert_eq!(words("within 100 ms of it; 5 %, no s"), ["within", "100 ms", "of", "it;", "5 %,", "no", "s"]);
    }
}
