//! A raw HTTP response as `curl -i` prints it.

use http::HeaderMap;

use super::case::Case;

/// Reads the last response in `bytes`: before it may stand those of a proxy, of redirects, or `100 Continue`.
pub(super) fn parse(bytes: &[u8]) -> Result<Case, String> {
    let mut rest = bytes;
    loop {
        let (case, body) = head(rest)?;
        if !body.starts_with(b"HTTP/") {
            let body = (!body.is_empty()).then(|| body.to_vec());
            return Ok(Case { body, ..case });
        }
        rest = body;
    }
}

/// Status line and headers; gives what follows them.
fn head(bytes: &[u8]) -> Result<(Case, &[u8]), String> {
    let mut rest = bytes;
    let first = line(&mut rest).unwrap_or_default();
    let mut case = Case { status: status(first)?, headers: HeaderMap::new(), body: None };
    while let Some(line) = line(&mut rest) {
        if line.is_empty() {
            break;
        }
        if let Some(colon) = line.iter().position(|&byte| byte == b':') {
            case.header(&String::from_utf8_lossy(&line[..colon]), line[colon + 1..].trim_ascii())?;
        }
    }
    Ok((case, rest))
}

/// Takes a line off `rest`, without its end.
fn line<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    if rest.is_empty() {
        return None;
    }
    let end = rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
    let line = &rest[..end];
    *rest = rest.get(end + 1..).unwrap_or_default();
    Some(line.strip_suffix(b"\r").unwrap_or(line))
}

/// The status of `HTTP/1.1 429 Too Many Requests` or `HTTP/2 429`.
fn status(line: &[u8]) -> Result<u16, String> {
    let expected = || "the input is no HTTP response: it should begin with a line such as `HTTP/2 429`".to_owned();
    let text = std::str::from_utf8(line).map_err(|_| expected())?;
    let mut words = text.split_ascii_whitespace();
    let begins = words.next().is_some_and(|version| version.starts_with("HTTP/"));
    let status = words.next().and_then(|word| word.parse().ok()).filter(|status| (100..1000).contains(status));
    status.filter(|_| begins).ok_or_else(expected)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_of_several_responses_is_read() {
        let text = b"HTTP/1.1 200 Connection established\r\n\r\nHTTP/2 429 \r\nRetry-After: 7\r\n\r\n{}\r\n\r\nx";
        let case = parse(text).expect("a response");
        assert_eq!(case.status, 429);
        assert_eq!(case.headers["retry-after"], "7");
        assert_eq!(case.body.as_deref(), Some(&b"{}\r\n\r\nx"[..]));
    }

    #[test]
    fn what_is_no_response_is_refused_in_words() {
        assert!(parse(b"").is_err());
        assert!(parse(b"HTTP/1.1 abc").is_err());
        assert!(parse(b"{\"error\":1}").is_err());
        assert_eq!(parse(b"HTTP/1.1 503").map(|case| case.status), Ok(503));
    }
}
