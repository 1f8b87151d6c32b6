//! Lines of a shell, taken apart as far as pages use it: quotes, comments, pipes, variables before a command, lines that go on.

/// One command of a pipe.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Command {
    /// `NAME=value` before it.
    pub(crate) variables: Vec<(String, String)>,
    /// The program and its arguments.
    pub(crate) words: Vec<String>,
}

impl Command {
    pub(crate) fn program(&self) -> &str {
        self.words.first().map_or("", String::as_str)
    }
}

/// Commands whose outputs are the inputs of the next.
pub(crate) type Pipe = Vec<Command>;

/// The pipes of a script.
pub(crate) fn script(text: &str) -> Vec<Pipe> {
    let (mut pipes, mut pipe, mut command) = (Vec::new(), Vec::new(), Command::default());
    let (mut word, mut quote, mut goes_on) = (None::<String>, None, false);
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (Some(end), letter) if letter == end => quote = None,
            (Some(_), letter) => word.get_or_insert_default().push(letter),
            (None, '\'' | '"') => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (None, '\\') if letters.peek() == Some(&'\n') => {
                letters.next();
            }
            (None, '#') if word.is_none() => while letters.next_if(|letter| *letter != '\n').is_some() {},
            (None, ' ' | '\n' | '|') => {
                command.takes(word.take());
                if letter == '|' || letter == '\n' && !goes_on {
                    pipe.extend(Some(std::mem::take(&mut command)).filter(|command| *command != Command::default()));
                }
                if letter == '\n' && !goes_on && !pipe.is_empty() {
                    pipes.push(std::mem::take(&mut pipe));
                }
                goes_on = letter == '|' || goes_on && letter == ' ';
            }
            (None, letter) => {
                goes_on = false;
                word.get_or_insert_default().push(letter);
            }
        }
    }
    assert!(quote.is_none(), "a quote does not end in {text:?}");
    command.takes(word);
    pipe.extend(Some(command).filter(|command| *command != Command::default()));
    pipes.extend(Some(pipe).filter(|pipe| !pipe.is_empty()));
    pipes
}

impl Command {
    fn takes(&mut self, word: Option<String>) {
        let Some(word) = word else { return };
        let is_name = |name: &str| !name.is_empty() && name.chars().all(|c| c.is_ascii_uppercase() || c == '_');
        match word.split_once('=').filter(|(name, _)| is_name(name)) {
            Some((name, value)) if self.words.is_empty() || self.words == ["export"] => {
                self.variables.push((name.to_owned(), value.to_owned()));
            }
            _ => self.words.push(word),
        }
    }
}

#[test]
fn a_script_is_taken_apart() {
    let told = |text: &str| {
        let words = |pipe: &Pipe| pipe.iter().map(|command| command.words.join("|")).collect::<Vec<_>>().join(" > ");
        script(text).iter().map(words).collect::<Vec<_>>()
    };
    assert_eq!(told("a --b c # d\n# e\n\nf 'g h'  \"i\"\n"), ["a|--b|c", "f|g h|i"]);
    assert_eq!(told("a b |\n  c\nd \\\n e"), ["a|b > c", "d|e"]);
    assert_eq!(told("echo '{\n 1}' | f"), ["echo|{\n 1} > f"]);
    let set = &script("A_B=c d --e=f\nexport G=h")[..];
    assert_eq!((set[0][0].variables[0].1.as_str(), set[0][0].words.join(" ")), ("c", "d --e=f".to_owned()));
    assert_eq!((set[1][0].variables.len(), set[1][0].program()), (1, "export"));
}
