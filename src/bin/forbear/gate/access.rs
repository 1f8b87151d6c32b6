//! Which store is meant, and how it is reached.

use std::fs;

use clap::Args;
use forbear::{InvalidSetting, Operator, OperatorError, RedisOptions};
use tokio_rustls::rustls::crypto::ring;

use super::Failure;

const URL: &str = "FORBEAR_REDIS_URL";
const NAMESPACE: &str = "FORBEAR_REDIS_NAMESPACE";
const PASSWORD: &str = "FORBEAR_REDIS_PASSWORD";

#[derive(Args)]
pub(super) struct Store {
    /// The store, as in rediss://user@host:6379; without a password, which everybody on this machine could read.
    #[arg(long, value_name = "URL")]
    redis: Option<String>,
    /// The namespace the replicas were built with.
    #[arg(long, value_name = "NAME")]
    namespace: Option<String>,
    /// Your name, as replicas tell it: 1 to 32 of letters, digits, `.`, `_`, `-`.
    #[arg(long, value_name = "NAME")]
    by: Option<String>,
    /// Allow an unencrypted connection to another machine.
    #[arg(long)]
    allow_plaintext: bool,
}

impl Store {
    /// Who gives the orders.
    pub(super) fn by(&self) -> String {
        let user = || variable("USER").or_else(|| variable("LOGNAME")).map(|user| as_name(&user));
        self.by.clone().or_else(user).unwrap_or_else(|| "operator".to_owned())
    }

    pub(super) fn operator(&self) -> Result<Operator, Failure> {
        // One that is installed already does as well.
        let _ = ring::default_provider().install_default();
        let options = self.options(variable, |path| fs::read_to_string(path).map_err(|error| error.to_string()))?;
        Ok(Operator::new(&options, &self.by()).map_err(OperatorError::Setting)?)
    }

    /// The options that arguments, `variable`s and the file one of them names come to.
    fn options(
        &self,
        variable: impl Fn(&str) -> Option<String>,
        file: impl Fn(&str) -> Result<String, String>,
    ) -> Result<RedisOptions, Failure> {
        let missing = |option: &str, name: &str| Failure(2, format!("give --{option}, or set {name}"));
        if self.redis.as_deref().is_some_and(has_password) {
            let why = format!("everybody on this machine can read an argument: put the password into {PASSWORD}");
            return Err(Failure(2, why));
        }
        let url = self.redis.clone().or_else(|| variable(URL)).ok_or_else(|| missing("redis", URL))?;
        let namespace = self.namespace.clone().or_else(|| variable(NAMESPACE));
        let mut options = RedisOptions::new(url, namespace.ok_or_else(|| missing("namespace", NAMESPACE))?);
        let from_file = || {
            let name = format!("{PASSWORD}_FILE");
            let path = variable(&name)?;
            Some(file(&path).map_err(|error| Failure(2, format!("{name}: {path} cannot be read: {error}"))))
        };
        if let Some(password) = variable(PASSWORD).map(Ok).or_else(from_file).transpose()? {
            options = options.password(password.trim_end_matches(['\r', '\n']));
        }
        Ok(if self.allow_plaintext { options.allow_plaintext() } else { options })
    }
}

/// What stands in the environment, if it is more than nothing.
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Whether a password stands between the scheme and the host.
fn has_password(url: &str) -> bool {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    authority.rsplit_once('@').is_some_and(|(user, _)| user.contains(':'))
}

/// The name of this machine's user, with what a name here cannot hold replaced.
fn as_name(user: &str) -> String {
    let allowed = |char: char| char.is_ascii_alphanumeric() || matches!(char, '.' | '_' | '-');
    user.chars().map(|char| if allowed(char) { char } else { '_' }).take(32).collect()
}

/// A refused setting by the name of its argument.
fn in_arguments(refused: &InvalidSetting) -> String {
    let argument = match refused.field {
        "redis.url" => "--redis",
        "redis.namespace" => "--namespace",
        "redis.password" => return format!("--redis names a user: set {PASSWORD}, or {PASSWORD}_FILE"),
        "operator.name" => "--by",
        "operator (time)" => "--for",
        "operator.pace (every)" => "--every",
        other => other,
    };
    format!(
        "{argument} is {}; allowed: {}",
        refused.value,
        refused.allowed.replace("allow_plaintext()", "--allow-plaintext")
    )
}

impl From<OperatorError> for Failure {
    fn from(error: OperatorError) -> Self {
        match error {
            OperatorError::Setting(refused) => Self(2, in_arguments(&refused)),
            error => Self(1, error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn store(redis: &str) -> Store {
        Store { redis: Some(redis.to_owned()), namespace: Some("prod".to_owned()), by: None, allow_plaintext: false }
    }

    #[test]
    fn a_password_in_an_argument_is_refused_and_not_repeated() {
        for url in ["redis://user:s3cret@127.0.0.1", "rediss://:s3cret@cache:6379/0", "redis://a:b@c:s3cret@127.0.0.1"]
        {
            let Err(Failure(code, why)) = store(url).options(|_| None, |_| Ok(String::new())) else { panic!("{url}") };
            assert!(code == 2 && why.contains(PASSWORD) && !why.contains("s3cret"), "{why}");
        }
        assert!(!has_password("rediss://user@cache:6379/0?x=a:b@c"));
    }

    #[test]
    fn what_is_refused_is_named_by_its_argument_and_a_user_of_a_domain_is_a_name() {
        let far = store("redis://cache.internal").options(|_| None, |_| Ok(String::new())).ok().expect("options");
        let refused = Operator::new(&far, "alice").expect_err("plain text to another machine");
        let Failure(code, why) = OperatorError::Setting(refused).into();
        assert_eq!(code, 2);
        assert!(why.starts_with("--redis is ") && why.ends_with("or --allow-plaintext"), "{why}");
        let user = store("redis://ops@127.0.0.1").options(|_| None, |_| Ok(String::new())).ok().expect("options");
        let refused = Operator::new(&user, "alice").expect_err("no password");
        assert_eq!(in_arguments(&refused), format!("--redis names a user: set {PASSWORD}, or {PASSWORD}_FILE"));
        let refused = Operator::new(&far.allow_plaintext(), "two words").expect_err("no name");
        assert!(in_arguments(&refused).starts_with("--by is \"two words\"; allowed: 1 to 32 of "));
        assert_eq!(as_name("CORP\\jane.doe@example"), "CORP_jane.doe_example");
    }

    #[test]
    fn a_password_comes_from_its_variable_or_from_the_file_one_names() {
        let options = |name: &'static str| {
            let set = move |asked: &str| (asked == name).then(|| "here".to_owned());
            store("redis://127.0.0.1").options(set, |path| Ok(format!("{path}\n"))).ok()
        };
        let expected = RedisOptions::new("redis://127.0.0.1", "prod").password("here");
        assert_eq!(options(PASSWORD).as_ref(), Some(&expected));
        assert_eq!(options("FORBEAR_REDIS_PASSWORD_FILE").as_ref(), Some(&expected));
        assert_eq!(options("OTHER"), Some(RedisOptions::new("redis://127.0.0.1", "prod")));
    }
}
