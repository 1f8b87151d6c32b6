//! A collector that takes everything and keeps nothing.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};

/// Starts one on a free port, on threads of its own, and gives back its URL. It lasts as long as the program.
///
/// # Panics
/// Where no port is free.
#[must_use]
pub fn quick_collector() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap_or_else(|error| panic!("a port: {error}"));
    let url = format!("http://{}", listener.local_addr().unwrap_or_else(|error| panic!("an address: {error}")));
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            // One that breaks off is its own affair.
            std::thread::spawn(move || drop(take(&stream)));
        }
    });
    url
}

/// Answers every request of a connection with an empty 200.
fn take(mut stream: &TcpStream) -> std::io::Result<()> {
    let mut requests = BufReader::new(stream);
    loop {
        let mut length = 0;
        loop {
            let mut line = String::new();
            if requests.read_line(&mut line)? == 0 {
                return Ok(());
            }
            let line = line.trim_end().to_ascii_lowercase();
            if line.is_empty() {
                break;
            }
            if let Some(value) = line.strip_prefix("content-length:") {
                length = value.trim().parse().unwrap_or(0);
            }
        }
        std::io::copy(&mut requests.by_ref().take(length), &mut std::io::sink())?;
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")?;
    }
}
