//! What the server says of itself.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};

/// One command's answer, as text.
///
/// # Panics
/// When the server does not answer.
pub(super) fn ask(addr: SocketAddr, words: &[&str]) -> String {
    let mut stream = TcpStream::connect(addr).expect("the server listens");
    let mut command = format!("*{}\r\n", words.len());
    words.iter().for_each(|word| command += &format!("${}\r\n{word}\r\n", word.len()));
    stream.write_all(command.as_bytes()).expect("the server reads");
    let mut answer = BufReader::new(stream);
    let mut line = String::new();
    answer.read_line(&mut line).expect("the server answers");
    let line = line.trim_end();
    match line.split_at(1) {
        ("$", length) => {
            let mut bulk = vec![0; length.parse().expect("a length")];
            answer.read_exact(&mut bulk).expect("a bulk");
            String::from_utf8(bulk).expect("text")
        }
        (_, rest) => rest.to_owned(),
    }
}

/// A number of `INFO`.
///
/// # Panics
/// When there is none of that name.
pub(super) fn number(addr: SocketAddr, section: &str, name: &str) -> u64 {
    let info = ask(addr, &["INFO", section]);
    let value = info.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    value.and_then(|value| value.trim().parse().ok()).unwrap_or_else(|| panic!("no {name} in {info}"))
}
