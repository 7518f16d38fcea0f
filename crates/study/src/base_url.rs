//! Base URLs of endpoints.

use reasonscape_providers::Provider;
use url::Url;

/// Parses a base URL and removes trailing slashes. A URL that may contain a password is never shown.
pub(crate) fn parse_base_url(address: &str, provider: Provider) -> Result<String, String> {
    const FORM: &str = "expected a URL such as `http://127.0.0.1:8089/v1`";
    // Neither error shows the URL, because it may contain credentials before an `@`.
    let url = Url::parse(address.trim())
        .map_err(|error| format!("`base_url` is not a valid URL ({error}); {FORM}"))?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err("`base_url` holds a user or password; keep it out of files and use `api_key_env` or \
                    `headers = { authorization = { env = \"NAME\" } }`"
            .to_owned());
    }
    if !["http", "https"].contains(&url.scheme()) {
        return Err(format!("`base_url` begins with `{}:`; {FORM}", url.scheme()));
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(format!("`base_url` has a `?` or `#`, but a path is appended to it; {FORM}"));
    }
    let base = url.as_str().trim_end_matches('/');
    match base.strip_suffix(provider.path()) {
        Some(before) if before.ends_with('/') => Err(format!(
            "`base_url` ends with `{}`, which is appended automatically; write `{}`",
            provider.path(),
            before.trim_end_matches('/')
        )),
        _ => Ok(base.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base_urls_lose_their_trailing_slash() {
        for address in
            ["http://127.0.0.1:8089/v1", "http://127.0.0.1:8089/v1/", " http://127.0.0.1:8089/v1// "]
        {
            assert_eq!(parse_base_url(address, Provider::OpenAiChat).unwrap(), "http://127.0.0.1:8089/v1");
        }
        assert_eq!(
            parse_base_url("https://example.com", Provider::OpenAiChat).unwrap(),
            "https://example.com"
        );
    }

    #[test]
    fn rejects_invalid_base_urls() {
        for (address, says) in [
            ("127.0.0.1:8089", "not a valid URL"),
            ("localhost:8089/v1", "begins with `localhost:`"),
            ("ftp://example.com/v1", "begins with `ftp:`"),
            ("https://example.com/v1?key=1", "has a `?`"),
            ("https://example.com/v1/chat/completions", "write `https://example.com/v1`"),
            ("http://", "not a valid URL"),
        ] {
            let error = parse_base_url(address, Provider::OpenAiChat).unwrap_err();
            assert!(error.contains(says), "{address}: {error}");
        }
    }

    #[test]
    fn errors_hide_passwords_in_urls() {
        let error = parse_base_url("https://me:tea4two@example.com/v1", Provider::OpenAiChat).unwrap_err();
        assert!(!error.contains("tea4two"), "{error}");
    }
}
