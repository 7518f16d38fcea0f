//! What must not be seen: it can be sent, and neither printed nor logged.

use std::fmt;

/// An environment variable that does not hold a secret. It carries nothing of the variable's value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the environment variable `{name}` {problem}; set it, as in `export {name}=…`, and try again")]
pub struct SecretError {
    /// The variable.
    pub name: String,
    /// What is wrong with it, without its value.
    pub problem: &'static str,
}

/// Text that its `Debug` and `Display` do not show.
///
/// ```
/// use reasonscape_providers::Secret;
///
/// let secret = Secret::new("Bearer 1234");
/// assert_eq!(format!("{secret} {secret:?}"), "[redacted] [redacted]");
/// assert_eq!(secret.expose(), "Bearer 1234");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Hides a text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// What an environment variable holds, without the white space around it.
    ///
    /// # Errors
    /// When the variable is not set, is empty, or holds what no HTTP header can carry. The error names the variable
    /// and shows nothing of its value.
    pub fn from_env(name: &str) -> Result<Self, SecretError> {
        let problem = |problem| SecretError { name: name.to_owned(), problem };
        let value = std::env::var_os(name).ok_or_else(|| problem("is not set"))?;
        let value = value.to_str().ok_or_else(|| problem("is not text"))?.trim();
        if value.is_empty() {
            return Err(problem("is empty"));
        }
        if !value.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
            return Err(problem("holds a character that no HTTP header can carry, such as a line break"));
        }
        Ok(Self::new(value))
    }

    /// The text itself, to send it.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// A text in which this secret, should it occur, is blotted out.
    ///
    /// ```
    /// # use reasonscape_providers::Secret;
    /// assert_eq!(Secret::new("tea4two").redact("no such key: tea4two"), "no such key: [redacted]");
    /// ```
    pub fn redact(&self, text: &str) -> String {
        if self.0.is_empty() { text.to_owned() } else { text.replace(&self.0, REDACTED) }
    }
}

/// Replaces a secret.
pub(crate) const REDACTED: &str = "[redacted]";

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(REDACTED)
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(REDACTED)
    }
}

/// The key that a provider knows us by.
///
/// ```
/// use reasonscape_providers::ApiKey;
///
/// let key = ApiKey::new("tea4two");
/// assert_eq!(format!("{key:?}"), "ApiKey([redacted])");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiKey(Secret);

impl ApiKey {
    /// A key that is already at hand.
    pub fn new(key: impl Into<String>) -> Self {
        Self(Secret::new(key))
    }

    /// The key in an environment variable.
    ///
    /// # Errors
    /// As [`Secret::from_env`].
    pub fn from_env(name: &str) -> Result<Self, SecretError> {
        Secret::from_env(name).map(Self)
    }

    /// The key itself, to send it.
    pub fn expose(&self) -> &str {
        self.0.expose()
    }

    /// A text in which the key, should it occur, is blotted out.
    pub fn redact(&self, text: &str) -> String {
        self.0.redact(text)
    }
}

impl fmt::Display for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// One line of a request's head. The value is taken for a secret, whatever it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// Lower-case name.
    pub name: String,
    /// What to send.
    pub value: Secret,
}

impl Header {
    /// A header of this name and value.
    pub fn new(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self { name: name.into(), value: Secret::new(value) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_names_the_unset_variable() {
        let error = ApiKey::from_env("REASONSCAPE_NO_SUCH_VARIABLE").unwrap_err().to_string();
        assert!(error.contains("`REASONSCAPE_NO_SUCH_VARIABLE` is not set"), "{error}");
    }

    #[test]
    fn reads_a_set_variable() {
        // Cargo sets this one for every test.
        assert_eq!(ApiKey::from_env("CARGO_PKG_NAME").unwrap().expose(), "reasonscape-providers");
    }

    #[test]
    fn keys_are_never_formatted() {
        let header = Header::new("authorization", "Bearer tea4two");
        assert!(
            !format!("{:?} {} {header:?}", ApiKey::new("tea4two"), ApiKey::new("tea4two")).contains("tea")
        );
    }
}
