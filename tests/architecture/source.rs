//! Reads source by its tokens: comments, strings and layout mean nothing, and `use` groups, paths inside expressions
//! and macros mean what they say.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// A source file.
pub(crate) struct Source {
    pub(crate) text: String,
    /// What it names.
    pub(crate) paths: Vec<Used>,
}

/// Every source file by its name from the project's root, but those that only tests compile. Read once.
pub(crate) fn sources() -> &'static BTreeMap<String, Source> {
    static SOURCES: LazyLock<BTreeMap<String, Source>> = LazyLock::new(read_sources);
    &SOURCES
}

fn read_sources() -> BTreeMap<String, Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (mut folders, mut found, mut tests) = (vec![root.join("src")], BTreeMap::new(), Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
            let path: PathBuf = entry.expect("an entry of a folder just listed").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let file = path.strip_prefix(root).expect("below the root").to_string_lossy().replace('\\', "/");
                let text = std::fs::read_to_string(&path).expect("source is UTF-8");
                let Scan { paths, test_files } = scan(&file, &text);
                tests.extend(test_files);
                found.insert(file, Source { text, paths });
            }
        }
    }
    found.retain(|file, _| !tests.iter().any(|test| file.starts_with(test)));
    found
}

/// `src/a/b.rs` and `src/a/b/mod.rs` are both `a::b`.
pub(crate) fn module_of(file: &str) -> Vec<String> {
    let inner = file.strip_prefix("src/").unwrap_or(file).trim_end_matches(".rs").trim_end_matches("/mod");
    inner.split('/').map(str::to_owned).collect()
}

/// A path as it is written, groups taken apart: `use a::{b, c as d};` is `a::b` and `a::c`, called `d`.
#[derive(Debug)]
pub(crate) struct Used {
    pub(crate) segments: Vec<String>,
    /// What it is called here.
    pub(crate) name: String,
    pub(crate) line: usize,
    /// The module it is written in.
    module: Vec<String>,
}

impl Used {
    /// The path from the crate's root, for those that start at `crate`, or leave their module by `super`.
    pub(crate) fn path_from_root(&self) -> Option<Vec<String>> {
        let supers = self.segments.iter().take_while(|name| *name == "super").count();
        let (base, rest) = match self.segments.first()?.as_str() {
            "crate" => (0, &self.segments[1..]),
            "super" => (self.module.len().saturating_sub(supers), &self.segments[supers..]),
            _ => return None,
        };
        let path: Vec<String> = self.module[..base].iter().chain(rest).cloned().collect();
        // `pub(crate)` imports nothing.
        (!path.is_empty()).then_some(path)
    }
}

/// What a file names.
#[derive(Default)]
pub(crate) struct Scan {
    pub(crate) paths: Vec<Used>,
    /// Where the modules declared under `#[cfg(test)]` have their bodies: beginnings of file names.
    pub(crate) test_files: Vec<String>,
}

/// What `file`, whose content is `text`, names outside of what only tests compile.
pub(crate) fn scan(file: &str, text: &str) -> Scan {
    let tokens: TokenStream = text.parse().unwrap_or_else(|error| panic!("{file}: {error}"));
    let mut scan = Scan::default();
    let folder = file.rsplit_once('/').map_or("", |(folder, _)| folder);
    walk(tokens, folder, &module_of(file), &mut scan);
    scan
}

fn walk(tokens: TokenStream, folder: &str, module: &[String], scan: &mut Scan) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut at = 0;
    while at < tokens.len() {
        match &tokens[at] {
            TokenTree::Punct(hash) if hash.as_char() == '#' && is_test_only(&tokens[at + 1..]) => {
                if matches!(&tokens[at + 1], TokenTree::Punct(_)) {
                    return; // `#![cfg(test)]`: all of what it stands in
                }
                let end = end_of_item(&tokens, at + 2);
                scan.test_files.extend(bodies_elsewhere(&tokens[at + 2..end], folder, module));
                at = end;
            }
            TokenTree::Ident(word) if word == "mod" => {
                if let (Some(TokenTree::Ident(name)), Some(TokenTree::Group(body))) =
                    (tokens.get(at + 1), tokens.get(at + 2))
                {
                    walk(body.stream(), folder, &[module, &[name.to_string()]].concat(), scan);
                    at += 2;
                }
                at += 1;
            }
            TokenTree::Ident(_) => at = read_path(&tokens, at, Vec::new(), module, scan),
            TokenTree::Group(group) => {
                walk(group.stream(), folder, module, scan);
                at += 1;
            }
            _ => at += 1,
        }
    }
}

/// Reads the path that starts at `at`, behind `prefix`, into `scan`. Gives the place after it.
fn read_path(tokens: &[TokenTree], mut at: usize, prefix: Vec<String>, module: &[String], scan: &mut Scan) -> usize {
    let mut segments = prefix;
    let line = tokens[at].span().start().line;
    loop {
        match tokens.get(at) {
            Some(TokenTree::Ident(name)) => {
                let name = name.to_string();
                // `a::{self}` is `a`.
                if name != "self" || segments.is_empty() {
                    segments.push(name);
                }
            }
            Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => {
                let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                let mut inside = 0;
                while inside < inner.len() {
                    inside = match &inner[inside] {
                        TokenTree::Punct(_) => inside + 1,
                        _ => read_path(&inner, inside, segments.clone(), module, scan),
                    };
                }
                return at + 1;
            }
            Some(TokenTree::Punct(glob)) if glob.as_char() == '*' && !segments.is_empty() => {
                segments.push("*".to_owned());
                at += 1;
                break;
            }
            _ => break, // generic arguments
        }
        at += 1;
        if !is_colons(&tokens[at.min(tokens.len())..]) {
            break;
        }
        at += 2;
    }
    let mut name = segments.last().cloned().unwrap_or_default();
    if let (Some(TokenTree::Ident(word)), Some(TokenTree::Ident(other))) = (tokens.get(at), tokens.get(at + 1))
        && word == "as"
    {
        name = other.to_string();
        at += 2;
    }
    scan.paths.push(Used { segments, name, line, module: module.to_vec() });
    at.max(1)
}

fn is_colons(tokens: &[TokenTree]) -> bool {
    tokens.len() >= 2
        && tokens[..2].iter().all(|token| matches!(token, TokenTree::Punct(punct) if punct.as_char() == ':'))
}

/// Whether an attribute, read from behind its `#`, compiles what it stands on for tests only.
fn is_test_only(after_hash: &[TokenTree]) -> bool {
    let inner = usize::from(matches!(after_hash.first(), Some(TokenTree::Punct(punct)) if punct.as_char() == '!'));
    let Some(TokenTree::Group(attribute)) = after_hash.get(inner) else { return false };
    let parts: Vec<TokenTree> = attribute.stream().into_iter().collect();
    match &parts[..] {
        [TokenTree::Ident(cfg), TokenTree::Group(condition)] if cfg == "cfg" => needs_test(condition.stream()),
        _ => false,
    }
}

/// `test`, or `all(…, test, …)`.
fn needs_test(condition: TokenStream) -> bool {
    let parts: Vec<TokenTree> = condition.into_iter().collect();
    match &parts[..] {
        [TokenTree::Ident(all), TokenTree::Group(inner)] if all == "all" => {
            inner.stream().into_iter().any(|part| matches!(part, TokenTree::Ident(name) if name == "test"))
        }
        [TokenTree::Ident(name)] => name == "test",
        _ => false,
    }
}

/// The place after the item (or field) that starts at `at`, further attributes included.
fn end_of_item(tokens: &[TokenTree], at: usize) -> usize {
    let ends = |token: &TokenTree| match token {
        TokenTree::Punct(punct) => matches!(punct.as_char(), ';' | ','),
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
        _ => false,
    };
    tokens[at..].iter().position(ends).map_or(tokens.len(), |end| at + end + 1)
}

/// Where the body of `… mod name;` may stand: at its `#[path]`, or where its name says.
fn bodies_elsewhere(item: &[TokenTree], folder: &str, module: &[String]) -> Vec<String> {
    let [attributes @ .., TokenTree::Ident(word), TokenTree::Ident(name), TokenTree::Punct(_)] = item else {
        return Vec::new();
    };
    if word != "mod" {
        return Vec::new();
    }
    let written = attributes.iter().find_map(|token| match token {
        TokenTree::Group(attribute) => {
            attribute.to_string().strip_prefix("[path = \"")?.strip_suffix("\"]").map(str::to_owned)
        }
        _ => None,
    });
    match written {
        Some(path) => vec![format!("{folder}/{path}")],
        None => {
            let name = [module, &[name.to_string()]].concat().join("/");
            vec![format!("src/{name}.rs"), format!("src/{name}/")]
        }
    }
}
