//! The pages of the project, and the blocks on them.

use std::fs;
use std::path::Path;

use crate::root;

/// A fenced block.
#[derive(Debug)]
pub(crate) struct Block {
    /// The file, from the project's folder.
    pub(crate) page: String,
    /// Where it begins.
    pub(crate) line: usize,
    /// What stands behind the fence.
    pub(crate) kind: String,
    /// What stands in it, without the indentation of the fence.
    pub(crate) text: String,
}

impl Block {
    pub(crate) fn place(&self) -> String {
        format!("{}:{}", self.page, self.line)
    }
}

/// A file, and of each of its lines what a reader of the page sees.
pub(crate) struct Page {
    pub(crate) name: String,
    pub(crate) lines: Vec<String>,
}

/// Every page: Markdown, and the documentation in sources.
pub(crate) fn pages() -> Vec<Page> {
    let mut names: Vec<String> =
        ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"].map(str::to_owned).into();
    for folder in ["dashboards", "examples", "src", "tests"] {
        names_below(&root().join(folder), &mut names);
    }
    names.sort();
    names.into_iter().map(Page::read).collect()
}

fn names_below(folder: &Path, names: &mut Vec<String>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let is_page = path.extension().is_some_and(|ending| ending == "rs" || ending == "md");
        if path.is_dir() {
            names_below(&path, names);
        } else if is_page {
            names.push(path.strip_prefix(root()).expect("below it").to_string_lossy().replace('\\', "/"));
        }
    }
}

impl Page {
    fn read(name: String) -> Self {
        let path = root().join(&name);
        let text = fs::read_to_string(&path).expect("a page");
        let lines = if name.ends_with(".md") {
            text.lines().map(str::to_owned).collect()
        } else {
            text.lines().map(|line| documented(line, path.parent().expect("a folder"))).collect()
        };
        Self { name, lines }
    }
}

/// What a line of source says to readers of its documentation; as it is with all features.
fn documented(line: &str, folder: &Path) -> String {
    let line = line.trim_start();
    if let Some(text) = line.strip_prefix("//!").or_else(|| line.strip_prefix("///")) {
        return text.strip_prefix(' ').unwrap_or(text).to_owned();
    }
    if let Some(file) = line.strip_prefix("#![doc = include_str!(\"").and_then(|rest| rest.strip_suffix("\")]")) {
        // Pages that are taken in are read by themselves; what stands in a block belongs to it.
        return if file.ends_with(".md") { String::new() } else { fs::read_to_string(folder.join(file)).expect(file) };
    }
    let condition = line.strip_prefix("#![cfg_attr(").or_else(|| line.strip_prefix("#[cfg_attr("));
    let with_all = condition.filter(|rest| !rest.starts_with("not(")).and_then(|rest| rest.split_once("doc = \""));
    with_all.map_or_else(String::new, |(_, text)| text.trim_end_matches("\")]").to_owned())
}

/// Every fenced block of every page.
pub(crate) fn blocks() -> Vec<Block> {
    pages().iter().flat_map(blocks_of).collect()
}

fn blocks_of(page: &Page) -> Vec<Block> {
    let (mut found, mut open) = (Vec::new(), None::<(Block, usize)>);
    for (number, line) in page.lines.iter().enumerate() {
        let indent = line.len() - line.trim_start().len();
        let fence = line.trim_start().strip_prefix("```");
        open = match (open, fence) {
            (None, Some(kind)) => {
                let (page, kind) = (page.name.clone(), kind.trim().to_owned());
                Some((Block { page, line: number + 1, kind, text: String::new() }, indent))
            }
            (Some((block, _)), Some("")) => {
                found.push(block);
                None
            }
            (Some((mut block, indent)), _) => {
                block.text += line.get(indent..).unwrap_or_default();
                block.text.push('\n');
                Some((block, indent))
            }
            (None, None) => None,
        };
    }
    assert!(open.is_none(), "{}: {open:?} does not end", page.name);
    found
}
