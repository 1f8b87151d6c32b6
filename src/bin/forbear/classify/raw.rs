//! A raw HTTP response as `curl -i` prints it.

use http::HeaderMap;

use super::case::Case;

/// Reads the last response in `bytes`: before it may stand those of a proxy, of redirects, or `100 Continue`. With it comes
/// what looks wrong about it and did not keep it from being read.
pub(super) fn parse(bytes: &[u8]) -> Result<(Case, Vec<String>), String> {
    // Some editors begin a file with a byte-order mark, some people with an empty line.
    let mut rest = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii_start();
    loop {
        let (head, body) = head(rest).ok_or_else(|| no_response(bytes))?;
        if !body.starts_with(b"HTTP/") {
            let body = (!body.is_empty()).then(|| body.to_vec());
            let doubts = head.doubts();
            return Ok((Case { body, ..head.case }, doubts));
        }
        rest = body;
    }
}

/// What was given in place of a response, and what to give.
fn no_response(bytes: &[u8]) -> String {
    let text = bytes.trim_ascii_start();
    let begins_line = |mark: &[u8]| text.split(|&byte| byte == b'\n').any(|line| line.starts_with(mark));
    let (what, instead) = match text.first() {
        None => ("it is empty", "did the command before it fail? `curl -sSi` says why"),
        _ if begins_line(b"< HTTP/") => ("it is what `curl -v` prints", "print it with `curl -i`"),
        Some(b'{' | b'[') => ("it is a body alone", "print status and headers with it, as `curl -i` does"),
        Some(_) => ("it should begin with a line such as `HTTP/2 429`", "print it with `curl -i`"),
    };
    format!("the input is no HTTP response: {what}; {instead}")
}

/// Status line and headers.
struct Head {
    case: Case,
    /// Lines that are no field.
    passed_over: usize,
    /// The empty line after them is there.
    ended: bool,
}

impl Head {
    fn doubts(&self) -> Vec<String> {
        let cut = (!self.ended).then(|| "no empty line ends the headers: the answer may be cut off".to_owned());
        let odd = (self.passed_over > 0)
            .then(|| format!("{} of its header lines have no `:` and were passed over", self.passed_over));
        cut.into_iter().chain(odd).collect()
    }
}

/// Status line and headers; gives what follows them.
fn head(bytes: &[u8]) -> Option<(Head, &[u8])> {
    let mut rest = bytes;
    let status = status(line(&mut rest)?)?;
    let case = Case { status, headers: HeaderMap::new(), body: None };
    let mut head = Head { case, passed_over: 0, ended: false };
    while let Some(line) = line(&mut rest) {
        if line.is_empty() {
            head.ended = true;
            break;
        }
        let field = line.iter().position(|&byte| byte == b':').map(|colon| line.split_at(colon));
        let added =
            field.map(|(name, value)| head.case.header(&String::from_utf8_lossy(name), value[1..].trim_ascii()));
        // More headers than can be held are passed over like what is no header.
        if !matches!(added, Some(Ok(()))) {
            head.passed_over += 1;
        }
    }
    Some((head, rest))
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
fn status(line: &[u8]) -> Option<u16> {
    // What stands behind the status is words, in whatever encoding.
    let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    words.next().filter(|version| version.starts_with(b"HTTP/"))?;
    std::str::from_utf8(words.next()?).ok()?.parse().ok().filter(|status| (100..1000).contains(status))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_of_several_responses_is_read() {
        let text = b"\xef\xbb\xbf\r\nHTTP/1.1 200 Connection established\r\n\r\nHTTP/2 429 \r\nRetry-After: 7\r\n\r\n{}\r\n\r\nx";
        let (case, doubts) = parse(text).expect("a response");
        assert_eq!(case.status, 429);
        assert_eq!(case.headers["retry-after"], "7");
        assert_eq!(case.body.as_deref(), Some(&b"{}\r\n\r\nx"[..]));
        assert_eq!(doubts, [""; 0]);
    }

    #[test]
    fn what_is_no_response_is_refused_by_what_it_is() {
        let why = |bytes: &[u8]| parse(bytes).err().expect("refused");
        for (input, what) in [
            (&b""[..], "it is empty; did the command before it fail?"),
            (b" \r\n", "it is empty;"),
            (b"{\"error\":1}", "it is a body alone; print status and headers with it, as `curl -i` does"),
            (
                b"* Connected\n> GET / HTTP/1.1\n< HTTP/1.1 429 \n",
                "it is what `curl -v` prints; print it with `curl -i`",
            ),
            (b"HTTP/1.1 abc", "it should begin with a line such as `HTTP/2 429`; "),
            (b"HTTP/1.1 42 X\r\n\r\n", "it should begin with a line such as `HTTP/2 429`; "),
            (b"429\n", "it should begin with a line such as `HTTP/2 429`; "),
        ] {
            assert!(why(input).starts_with(&format!("the input is no HTTP response: {what}")), "{}", why(input));
        }
        assert_eq!(parse(b"HTTP/1.1 503 \xdcberlast").map(|(case, _)| case.status), Ok(503));
    }

    #[test]
    fn an_answer_that_is_cut_off_or_odd_is_read_and_told() {
        let (case, doubts) = parse(b"HTTP/1.1 429\r\nretry-after: 20\r\nx-ratel").expect("a response");
        assert_eq!(case.headers["retry-after"], "20");
        assert_eq!(
            doubts,
            [
                "no empty line ends the headers: the answer may be cut off",
                "1 of its header lines have no `:` and were passed over"
            ]
        );
    }
}
