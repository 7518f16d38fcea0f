//! Which API key may be sent to which address.

use reasonscape_providers::Provider;

use crate::base_url::parse_base_url;

/// An environment variable that holds an API key, and an address that the key may be sent to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyAddress {
    /// The environment variable.
    pub variable: String,
    /// The base URL, without a trailing slash.
    pub base_url: String,
}

impl KeyAddress {
    /// The variable and the address of OpenAI.
    pub const OPENAI: (&'static str, &'static str) = ("OPENAI_API_KEY", "https://api.openai.com/v1");
    /// The variable and the address of Anthropic.
    pub const ANTHROPIC: (&'static str, &'static str) = ("ANTHROPIC_API_KEY", "https://api.anthropic.com/v1");
    /// The variable and the address of OpenRouter.
    pub const OPENROUTER: (&'static str, &'static str) =
        ("OPENROUTER_API_KEY", "https://openrouter.ai/api/v1");

    /// The variables of well-known providers.
    pub fn of_providers() -> Vec<Self> {
        [Self::OPENAI, Self::ANTHROPIC, Self::OPENROUTER]
            .into_iter()
            .map(|(variable, base_url)| Self { variable: variable.to_owned(), base_url: base_url.to_owned() })
            .collect()
    }

    /// Parses `NAME=URL`.
    ///
    /// ```
    /// use reasonscape_study::KeyAddress;
    ///
    /// let gateway = KeyAddress::parse("GATEWAY_KEY=https://llm.example/team-a/")?;
    /// assert!(gateway.allows("GATEWAY_KEY", "https://llm.example/team-a/v1"));
    /// assert!(!gateway.allows("GATEWAY_KEY", "https://llm.example/team-b/v1"));
    /// assert!(KeyAddress::parse("GATEWAY_KEY").is_err());
    /// # Ok::<(), String>(())
    /// ```
    ///
    /// # Errors
    /// What is wrong with the text.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (variable, address) = text
            .split_once('=')
            .ok_or("expected `NAME=URL`, such as `GATEWAY_API_KEY=https://llm.example/v1`")?;
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if variable.is_empty() || !variable.chars().all(is_name) {
            return Err(format!("`{variable}` is not the name of an environment variable"));
        }
        let base_url = parse_base_url(address, Provider::OpenAiChat)?;
        Ok(Self { variable: variable.to_owned(), base_url })
    }

    /// Whether the key of this variable may be sent to a base URL: the address itself, or one below its path.
    pub fn allows(&self, variable: &str, base_url: &str) -> bool {
        // Both were written by the same URL parser, so that equal addresses are equal texts.
        let below = base_url.strip_prefix(self.base_url.as_str());
        self.variable == variable && below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn allows_only_the_address_and_paths_below_it() {
        let allowed = KeyAddress::parse("OPENAI_API_KEY=https://API.openai.com:443/v1/").unwrap();
        let allows = |address: &str| {
            let base_url = parse_base_url(address, Provider::OpenAiChat).unwrap();
            allowed.allows("OPENAI_API_KEY", &base_url)
        };
        for address in
            ["https://api.openai.com/v1", "https://api.openai.com/v1/x", "HTTPS://api.OpenAI.com:443/a/../v1"]
        {
            assert!(allows(address), "{address}");
        }
        for address in [
            "http://api.openai.com/v1",
            "https://api.openai.com",
            "https://api.openai.com/v10",
            "https://api.openai.com/v1/../v2",
            "https://api.openai.com/v1/%2e%2e/v2",
            "https://api.openai.com:444/v1",
            "https://api.openai.com.evil.example/v1",
            "https://evil.example/https://api.openai.com/v1",
            "http://127.0.0.1:9/v1",
        ] {
            assert!(!allows(address), "{address}");
        }
        assert!(!allowed.allows("OTHER_API_KEY", "https://api.openai.com/v1"));
        let host = KeyAddress::parse("K=https://llm.example").unwrap();
        assert!(host.allows("K", "https://llm.example/v1"));
        assert!(!host.allows("K", "https://llm.example.evil/v1"));
    }

    #[test]
    fn explains_invalid_texts() {
        for (text, says) in [
            ("OPENAI_API_KEY", "expected `NAME=URL`"),
            ("=https://x/v1", "not the name of an environment variable"),
            ("A B=https://x/v1", "not the name of an environment variable"),
            ("A=llm.example/v1", "not a valid URL"),
            ("A=ftp://llm.example", "begins with `ftp:`"),
            ("A=https://user:secret@llm.example", "user or password"),
        ] {
            let error = KeyAddress::parse(text).unwrap_err();
            assert!(error.contains(says) && !error.contains("secret"), "{text}: {error}");
        }
    }
}
