//! How the Prometheus is reached: secrets come from the environment or from files it names, never from arguments, which
//! everybody on the machine can read.

use std::fs;
use std::sync::Arc;

use http::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use super::Failure;

/// What all the variables begin with.
const PREFIX: &str = "FORBEAR_PROMETHEUS_";

/// What is shown to the Prometheus, and whom to trust.
#[derive(Default)]
pub(crate) struct Access {
    token: Option<String>,
    tenant: Option<String>,
    /// Certificate and key, as PEM.
    identity: Option<(Vec<u8>, Vec<u8>)>,
    authority: Option<Vec<u8>>,
}

impl Access {
    /// What the environment says.
    pub(crate) fn from_environment() -> Result<Self, Failure> {
        Self::from_variables(|name| std::env::var(format!("{PREFIX}{name}")).ok().filter(|value| !value.is_empty()))
    }

    fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Result<Self, Failure> {
        let file = |name: &str| {
            let read = |path: String| {
                fs::read(&path).map_err(|error| format!("{PREFIX}{name}: {path} cannot be read: {error}"))
            };
            variable(name).map(read).transpose()
        };
        let secret = |name: &str| -> Result<Option<String>, Failure> {
            if let Some(value) = variable(name) {
                return Ok(Some(value));
            }
            let name = format!("{name}_FILE");
            let Some(bytes) = file(&name)? else { return Ok(None) };
            let text = String::from_utf8(bytes).map_err(|_| format!("{PREFIX}{name} names a file that is no text"))?;
            Ok(Some(text.trim().to_owned()))
        };
        let identity = match (file("CERT_FILE")?, file("KEY_FILE")?) {
            (Some(certificate), Some(key)) => Some((certificate, key)),
            (None, None) => None,
            _ => return Err(format!("{PREFIX}CERT_FILE and {PREFIX}KEY_FILE are set together or not at all").into()),
        };
        Ok(Self { token: secret("TOKEN")?, tenant: secret("TENANT")?, identity, authority: file("CA_FILE")? })
    }

    /// The headers of every request.
    pub(crate) fn headers(&self) -> Result<HeaderMap, Failure> {
        let mut headers = HeaderMap::new();
        let mut show = |name: HeaderName, value: &str| -> Result<(), Failure> {
            let mut value = HeaderValue::from_str(value).map_err(|_| format!("the value for {name} is no header's"))?;
            value.set_sensitive(true);
            headers.insert(name, value);
            Ok(())
        };
        if let Some(token) = &self.token {
            show(AUTHORIZATION, &format!("Bearer {token}"))?;
        }
        if let Some(tenant) = &self.tenant {
            show(HeaderName::from_static("x-scope-orgid"), tenant)?;
        }
        Ok(headers)
    }

    /// How TLS is spoken: whom to trust, and the certificate to show.
    pub(crate) fn tls(&self) -> Result<Arc<ClientConfig>, Failure> {
        let mut roots = RootCertStore::empty();
        match &self.authority {
            Some(authority) => certificates("CA_FILE", authority)?.into_iter().try_for_each(|root| roots.add(root))?,
            // What cannot be used of the machine's own is left out, as browsers do.
            None => drop(roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs)),
        }
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots);
        Ok(Arc::new(match &self.identity {
            Some((certificate, key)) => {
                let refused = |error| format!("{PREFIX}KEY_FILE holds no key in PEM: {error}");
                let key = PrivateKeyDer::from_pem_slice(key).map_err(refused)?;
                config.with_client_auth_cert(certificates("CERT_FILE", certificate)?, key)?
            }
            None => config.with_no_client_auth(),
        }))
    }
}

/// The certificates of a file; one at least.
fn certificates(name: &str, pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, Failure> {
    let found: Vec<_> = CertificateDer::pem_slice_iter(pem).collect::<Result<_, _>>().unwrap_or_default();
    if found.is_empty() { Err(format!("{PREFIX}{name} holds no certificate in PEM").into()) } else { Ok(found) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(set: &[(&str, &str)]) -> Result<Access, String> {
        let variable = |name: &str| set.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
        Access::from_variables(variable).map_err(|error| error.to_string())
    }

    #[test]
    fn a_secret_is_read_from_its_variable_or_from_the_file_one_names() {
        let path = std::env::temp_dir().join(format!("forbear-token-{}", std::process::id()));
        fs::write(&path, "from a file\n").expect("written");
        let path = path.to_str().expect("a plain path");
        let token = |set: &[(&str, &str)]| access(set).expect("read").token;
        assert_eq!(token(&[("TOKEN_FILE", path)]).as_deref(), Some("from a file"));
        assert_eq!(token(&[("TOKEN", "given"), ("TOKEN_FILE", path)]).as_deref(), Some("given"));
        assert_eq!(token(&[]), None);
        fs::remove_file(path).expect("removed");
    }

    #[test]
    fn what_cannot_be_used_is_refused_by_the_name_of_its_variable() {
        let refusal = |set: &[(&str, &str)]| access(set).err().expect("refused");
        assert!(
            refusal(&[("CA_FILE", "no/such/file")]).starts_with("FORBEAR_PROMETHEUS_CA_FILE: no/such/file cannot be")
        );
        let alone = refusal(&[("CERT_FILE", "/dev/null")]);
        assert!(alone.ends_with("are set together or not at all"), "{alone}");
        let empty = access(&[("CA_FILE", "/dev/null")]).expect("read").tls().expect_err("refused").to_string();
        assert_eq!(empty, "FORBEAR_PROMETHEUS_CA_FILE holds no certificate in PEM");
    }

    #[test]
    fn a_secret_does_not_show_where_headers_are_printed() {
        let headers = access(&[("TOKEN", "s3cret"), ("TENANT", "team")]).expect("read").headers().expect("headers");
        assert_eq!(headers.len(), 2);
        assert!(!format!("{headers:?}").contains("s3cret"), "{headers:?}");
    }
}
