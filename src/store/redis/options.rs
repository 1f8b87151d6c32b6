//! What a store on Redis is told.

use std::fmt;
use std::net::IpAddr;

use redis::IntoConnectionInfo;

use crate::core::setting::InvalidSetting;

/// Where the shared gate's Redis (or Valkey) is, and under which name this fleet meets there.
///
/// ```
/// use forbear::{Forbear, Gate, RedisOptions};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), forbear::InvalidSetting> {
/// let options = RedisOptions::new("redis://127.0.0.1:6379", "prod");
/// let forbear = Forbear::builder().gate(Gate::redis(options)).build()?;
/// # Ok(())
/// # }
/// ```
///
/// | field | default | allowed | why |
/// |---|---|---|---|
/// | URL | required | `redis://`, `rediss://`, `valkey://`, `valkeys://`, with user and password where the server wants them | `rediss` is TLS: the application installs rustls' provider, and the machine's certificate authorities are trusted, or those `SSL_CERT_FILE` names |
/// | namespace | required | 1 to 64 printable ASCII characters | staging and production must not throttle each other by accident |
/// | `replica` | random | 1 to 32 of letters, digits, `.`, `_`, `-` | names this process in the entries operators read |
/// | `password` | the URL's | | one that comes from a file or a vault need not be put into a URL |
/// | `paced` | off | | asks the store while calls come back: a trip for up to four of them |
/// | `allow_plaintext` | off | | a password would cross the network readable |
///
/// Debug shows neither user nor password.
#[derive(Clone, PartialEq, Eq)]
pub struct RedisOptions {
    pub(super) url: String,
    pub(super) namespace: String,
    pub(super) replica: Option<String>,
    password: Option<String>,
    paced: bool,
    allow_plaintext: bool,
}

impl RedisOptions {
    /// A store at `url` for the fleet named `namespace`. Checked when the engine is built.
    #[must_use]
    pub fn new(url: impl Into<String>, namespace: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            namespace: namespace.into(),
            replica: None,
            password: None,
            paced: false,
            allow_plaintext: false,
        }
    }

    /// The name of this process among its replicas; must differ from the others'.
    #[must_use]
    pub fn replica(mut self, name: impl Into<String>) -> Self {
        self.replica = Some(name.into());
        self
    }

    /// The password, in the place of one in the URL. The user, if the server wants one, stands in the URL, and is refused
    /// without a password: the client would take part as the server's default user.
    #[must_use]
    pub fn password(mut self, password: impl Into<String>) -> Self {
        self.password = Some(password.into());
        self
    }

    /// Shares one pace, besides news: after a shut one request tests the pool for the whole fleet, and calls come back one
    /// after another over all replicas, as fast as the whole pool's limit allows. Without it each replica paces its own part.
    ///
    /// A call that waits for its slot anyway waits at most 100 ms for the store; where no answer comes, each replica goes on
    /// with its part of the pace. Limits that come back in windows are divided among the replicas either way.
    #[must_use]
    pub fn paced(mut self) -> Self {
        self.paced = true;
        self
    }

    /// Whether replicas share one pace.
    pub(crate) fn is_paced(&self) -> bool {
        self.paced
    }

    /// Allows an unencrypted connection to another machine.
    #[must_use]
    pub fn allow_plaintext(mut self) -> Self {
        self.allow_plaintext = true;
        self
    }

    /// The client for these options, if they are in order. Opens no connection.
    pub(crate) fn client(&self) -> Result<redis::Client, InvalidSetting> {
        const URL: &str = "redis://, rediss://, valkey:// or valkeys:// and a host, as in redis://127.0.0.1:6379";
        let namespace_fits =
            (1..=64).contains(&self.namespace.len()) && self.namespace.bytes().all(|byte| (0x20..0x7f).contains(&byte));
        if !namespace_fits {
            let allowed = "1 to 64 printable ASCII characters";
            return Err(InvalidSetting::new("redis.namespace", &self.namespace, allowed));
        }
        if let Some(name) = &self.replica
            && !is_name(name)
        {
            return Err(InvalidSetting::new("redis.replica", name, NAMES));
        }
        // Neither the URL nor what its parser says of it is shown: a password may stand in it.
        let hidden = || InvalidSetting::new("redis.url", Unshown, URL);
        let mut info = self.url.as_str().into_connection_info().map_err(|_| hidden())?;
        if let Some(password) = &self.password {
            let settings = info.redis_settings().clone().set_password(password);
            info = info.set_redis_settings(settings);
        }
        // The client would take part as the server's default user, and nobody would know.
        if info.redis_settings().username().is_some() && info.redis_settings().password().is_none() {
            let allowed = "password() for the user that the URL names; an empty one where it has none";
            return Err(InvalidSetting::new("redis.password", Missing, allowed));
        }
        let client = redis::Client::open(info).map_err(|_| hidden())?;
        match client.get_connection_info().addr() {
            redis::ConnectionAddr::Tcp(host, _) if !self.allow_plaintext && !is_loopback(host) => {
                let allowed = "rediss:// beyond this machine, or allow_plaintext()";
                Err(InvalidSetting::new("redis.url", Plain { host }, allowed))
            }
            redis::ConnectionAddr::TcpTls { .. } if !has_crypto_provider() => {
                let allowed =
                    "after rustls::crypto::CryptoProvider::install_default(), or with one provider in the build";
                Err(InvalidSetting::new("redis.url", Unencryptable, allowed))
            }
            _ => Ok(client),
        }
    }
}

/// Whether rustls can encrypt. Where nothing was installed it takes the provider that was built in, if it is one, and else
/// panics: better now, and caught, than in the task that connects.
fn has_crypto_provider() -> bool {
    rustls::crypto::CryptoProvider::get_default().is_some()
        || std::panic::catch_unwind(|| drop(rustls::ClientConfig::builder())).is_ok()
}

impl fmt::Debug for RedisOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisOptions")
            .field("url", &Hidden)
            .field("namespace", &self.namespace)
            .field("replica", &self.replica)
            .field("password", &self.password.as_ref().map(|_| Hidden))
            .field("paced", &self.paced)
            .field("allow_plaintext", &self.allow_plaintext)
            .finish()
    }
}

/// Stands for a URL with a secret in it.
struct Hidden;

impl fmt::Debug for Hidden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(hidden)")
    }
}

/// Stands for a URL that cannot be read, so that nobody knows where in it a secret is.
struct Unshown;

impl fmt::Debug for Unshown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no such URL (not shown: a password may stand in it)")
    }
}

/// A password that is not there.
struct Missing;

impl fmt::Debug for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("missing")
    }
}

/// A URL that asks for TLS where rustls has no provider, or several.
struct Unencryptable;

impl fmt::Debug for Unencryptable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("rediss:// without a crypto provider of rustls")
    }
}

/// What may be shown of a URL.
struct Plain<'a> {
    host: &'a str,
}

impl fmt::Debug for Plain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "plain redis:// to {:?}", self.host)
    }
}

/// What a replica or an operator may be called.
pub(super) const NAMES: &str = "1 to 32 of letters, digits, `.`, `_`, `-`";

/// Whether a replica or an operator may be called so.
pub(super) fn is_name(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    (1..=32).contains(&name.len()) && name.bytes().all(allowed)
}

fn is_loopback(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(options: &RedisOptions) -> String {
        options.client().err().map(|refused| refused.to_string()).unwrap_or_default()
    }

    #[test]
    fn a_password_is_shown_nowhere() {
        let options = RedisOptions::new("redis://user:s3cret@example.org", "prod");
        assert!(!format!("{options:?}{}", refused(&options)).contains("s3cret"));
        let apart = RedisOptions::new("redis://user@127.0.0.1", "prod").password("s3cret");
        assert!(!format!("{apart:?}{}", refused(&apart)).contains("s3cret"));
        let client = apart.client().expect("in order");
        assert_eq!(client.get_connection_info().redis_settings().password(), Some("s3cret"));
        let nonsense = RedisOptions::new("no-url s3cret", "prod");
        assert!(!format!("{nonsense:?}{}", refused(&nonsense)).contains("s3cret"));
        assert!(refused(&nonsense).starts_with("redis.url is no such URL (not shown: "), "{}", refused(&nonsense));
    }

    #[test]
    fn a_user_without_a_password_is_not_taken_for_the_default_user() {
        let options = RedisOptions::new("redis://forbear@127.0.0.1", "prod");
        assert!(
            refused(&options).starts_with("redis.password is missing; allowed: password()"),
            "{}",
            refused(&options)
        );
        assert_eq!(refused(&options.password("")), "");
    }

    #[test]
    fn plain_text_leaves_the_machine_only_when_allowed() {
        let far = RedisOptions::new("redis://cache.example.org:6379", "prod");
        assert!(refused(&far).contains("allow_plaintext"), "{}", refused(&far));
        assert_eq!(refused(&far.allow_plaintext()), "");
        for near in ["redis://127.0.0.1:1", "redis://localhost", "redis://[::1]:1"] {
            assert_eq!(refused(&RedisOptions::new(near, "prod")), "", "{near}");
        }
    }

    #[test]
    fn a_namespace_is_required_and_printable() {
        for namespace in ["", "line\nbreak", &"x".repeat(65)] {
            assert!(refused(&RedisOptions::new("redis://127.0.0.1", namespace)).starts_with("redis.namespace is "));
        }
        let options = RedisOptions::new("redis://127.0.0.1", "prod").replica("two words");
        assert!(refused(&options).starts_with("redis.replica is "));
    }
}
