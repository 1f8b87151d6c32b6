//! Asking a Prometheus over HTTP: one request on one connection, which is all that a few dozen queries need.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use forbear::clock::Clock;
use forbear::diagnose::Question;
use http::header::{CONTENT_TYPE, HOST, LOCATION};
use http::uri::Scheme;
use http::{HeaderMap, Request, Response, StatusCode, Uri};
use http_body_util::{BodyExt, Empty, LengthLimitError, Limited};
use hyper::client::conn::http1::handshake;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::ClientConfig;
use tokio_rustls::rustls::pki_types::ServerName;

use super::Failure;
use super::access::Access;

/// A host that is there takes a connection within milliseconds; one that drops packets never says so.
const LONGEST_CONNECT: Duration = Duration::from_secs(10);
/// A query that takes longer has gone wrong.
const LONGEST_QUERY: Duration = Duration::from_secs(60);
/// A larger answer is none to a question of ours.
const LARGEST_ANSWER: usize = 64 * 1024 * 1024;

/// Where to ask.
pub(crate) struct Source {
    host: String,
    port: u16,
    /// What comes before `/api/v1`.
    path: String,
    headers: HeaderMap,
    tls: Option<Arc<ClientConfig>>,
}

impl Source {
    /// The HTTP API below `url`.
    pub(crate) fn new(url: &str, access: &Access) -> Result<Self, Failure> {
        let refused = |why: &str| format!("{url} is no URL of a Prometheus: {why}");
        let parsed: Uri = url.parse().map_err(|_| refused("it cannot be read"))?;
        let secure = match parsed.scheme() {
            Some(scheme) if *scheme == Scheme::HTTPS => true,
            Some(scheme) if *scheme == Scheme::HTTP => false,
            _ => return Err(refused("it begins with http:// or https://").into()),
        };
        let host = parsed.host().ok_or_else(|| refused("no host is named"))?;
        let mut headers = access.headers()?;
        let authority = parsed.authority().map_or(host, |authority| authority.as_str());
        if authority.contains('@') {
            return Err(refused("names and passwords do not belong into arguments").into());
        }
        headers.insert(HOST, authority.parse()?);
        Ok(Self {
            host: host.trim_matches(['[', ']']).to_owned(),
            port: parsed.port_u16().unwrap_or(if secure { 443 } else { 80 }),
            path: parsed.path().trim_end_matches('/').to_owned(),
            headers,
            tls: if secure { Some(access.tls()?) } else { None },
        })
    }

    /// The answer to one question: its body, whatever the status, as errors are told in it.
    pub(crate) async fn ask(&self, question: &Question) -> Result<Vec<u8>, Failure> {
        Ok(self.body(&target(question)).await?.1)
    }

    /// What is at a path below its root, with the status.
    ///
    /// # Errors
    /// It cannot be reached, lets nobody in, or is a server of pages and no API.
    pub(crate) async fn body(&self, path: &str) -> Result<(StatusCode, Vec<u8>), Failure> {
        let (target, at) = (format!("{}{path}", self.path), format!("{}:{}", self.host, self.port));
        let answer = in_time(LONGEST_QUERY, self.get(&target), || {
            format!("no answer within {LONGEST_QUERY:?}: narrow the question with --selector or --window")
        });
        let answer = answer.await.map_err(|error| format!("{at} could not be asked: {}", told(&*error)))?;
        let (status, is_page) = (answer.status(), is_page(answer.headers()));
        if matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
            return Err(format!("{at} answers {status}: see `forbear diagnose --help` for access").into());
        }
        if status.is_redirection() {
            let to = answer.headers().get(LOCATION).map(|to| String::from_utf8_lossy(to.as_bytes()));
            let to = to.map_or_else(String::new, |to| format!(" to {to}"));
            return Err(format!("{at} answers {status}{to}: give the URL where the API is, behind any login").into());
        }
        if is_page {
            return Err(format!("{at} answers {status} with a web page: is the URL the root of the API?").into());
        }
        Ok((status, answer.into_body()))
    }

    async fn get(&self, target: &str) -> Result<Response<Vec<u8>>, Failure> {
        let connect = async { Ok(TcpStream::connect((self.host.as_str(), self.port)).await?) };
        let stream = in_time(LONGEST_CONNECT, connect, || {
            format!("no connection within {LONGEST_CONNECT:?}: is the host right, and reached from here?")
        });
        let stream = stream.await?;
        let Some(tls) = &self.tls else { return self.get_over(stream, target).await };
        let name = ServerName::try_from(self.host.clone())?;
        let stream = TlsConnector::from(Arc::clone(tls)).connect(name, stream).await?;
        self.get_over(stream, target).await
    }

    async fn get_over<S>(&self, stream: S, target: &str) -> Result<Response<Vec<u8>>, Failure>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let (mut sender, connection) = handshake(TokioIo::new(stream)).await?;
        // It ends with the sender, or with an error that the request sees as well.
        drop(tokio::spawn(connection));
        let mut request = Request::get(target).body(Empty::<Bytes>::new())?;
        *request.headers_mut() = self.headers.clone();
        let (head, body) = sender.send_request(request).await?.into_parts();
        let body = Limited::new(body, LARGEST_ANSWER).collect().await.map_err(|error| match error {
            long if long.is::<LengthLimitError>() => {
                format!("its answer is longer than {} MiB: narrow the question with --selector", LARGEST_ANSWER >> 20)
                    .into()
            }
            error => error as Failure,
        })?;
        Ok(Response::from_parts(head, body.to_bytes().to_vec()))
    }
}

/// What comes of it within this time, or `late`'s words.
async fn in_time<T>(
    longest: Duration,
    of: impl Future<Output = Result<T, Failure>>,
    late: impl Fn() -> String,
) -> Result<T, Failure> {
    let clock = Clock::new();
    tokio::select! {
        done = of => done,
        () = clock.sleep_until(clock.now().after(longest)) => Err(late().into()),
    }
}

/// Whether an answer is made for people: the API answers JSON, errors included.
fn is_page(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    kind.trim_start().get(..9).is_some_and(|kind| kind.eq_ignore_ascii_case("text/html"))
}

/// Path and query of a question.
fn target(question: &Question) -> String {
    let query = encoded(&question.promql);
    let at = question.at;
    match question.range {
        Some((from, step)) => format!("/api/v1/query_range?query={query}&start={from}&end={at}&step={step}"),
        None => format!("/api/v1/query?query={query}&time={at}"),
    }
}

/// Percent-encoded but for the characters that need it nowhere (RFC 3986, section 2.3).
pub(crate) fn encoded(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let spelled = |byte: u8| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    text.bytes().map(spelled).collect()
}

/// An error with what was behind it.
fn told(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text += &format!(": {cause}");
        source = cause.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(url: &str) -> Result<Source, String> {
        Source::new(url, &Access::default()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_path_before_the_api_is_kept_and_ports_have_their_defaults() {
        let plain = source("http://localhost:9090").expect("a URL");
        assert_eq!((plain.host.as_str(), plain.port, plain.path.as_str()), ("localhost", 9090, ""));
        let below = source("https://[::1]/mimir/prometheus/").expect("a URL");
        assert_eq!((below.host.as_str(), below.port, below.path.as_str()), ("::1", 443, "/mimir/prometheus"));
        assert!(below.tls.is_some() && plain.tls.is_none());
    }

    #[test]
    fn what_is_no_url_or_holds_a_password_is_refused() {
        for url in ["localhost:9090", "ftp://host", "", "http://"] {
            assert!(source(url).is_err_and(|refusal| refusal.contains("is no URL of a Prometheus")), "{url}");
        }
        assert!(
            source("http://user:secret@host/").is_err_and(|refusal| refusal.contains("do not belong into arguments"))
        );
    }

    #[test]
    fn a_query_is_encoded_whole() {
        assert_eq!(encoded(r#"a{b="ü"}[1m]"#), "a%7Bb%3D%22%C3%BC%22%7D%5B1m%5D");
    }
}
