//! Query strings: reading, changing and writing them.

use std::fmt::Write;

use axum::http::Uri;
use url::form_urlencoded;

/// A query string as pairs, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Query {
    pairs: Vec<(String, String)>,
}

impl Query {
    /// The query of a URL; empty values count as absent, because browsers send empty form fields.
    pub(crate) fn from_uri(uri: &Uri) -> Self {
        let pairs = form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes());
        let pairs = pairs.map(|(name, value)| (name.into_owned(), value.trim().to_owned()));
        Self { pairs: pairs.filter(|(_, value)| !value.is_empty()).collect() }
    }

    /// A query of these names and values.
    pub(crate) fn from_pairs(pairs: &[(&str, &str)]) -> Self {
        Self { pairs: pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect() }
    }

    /// The first value of a name.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        let found = self.pairs.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    /// All values of a name.
    pub(crate) fn all<'q>(&'q self, name: &'q str) -> impl Iterator<Item = &'q str> {
        self.pairs.iter().filter(move |(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The query with this value as the only one of its name, or without the name.
    #[must_use]
    pub(crate) fn with(&self, name: &str, value: Option<&str>) -> Self {
        let mut pairs = self.pairs.clone();
        pairs.retain(|(known, _)| known != name);
        pairs.extend(value.map(|value| (name.to_owned(), value.to_owned())));
        Self { pairs }
    }

    /// The query with only these names.
    #[must_use]
    pub(crate) fn only(&self, names: &[&str]) -> Self {
        let pairs = self.pairs.iter().filter(|(name, _)| names.contains(&name.as_str()));
        Self { pairs: pairs.cloned().collect() }
    }
}

impl std::fmt::Display for Query {
    /// Writes `?a=b&c=d`, or nothing if empty.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (index, (name, value)) in self.pairs.iter().enumerate() {
            let mark = if index == 0 { '?' } else { '&' };
            write!(f, "{mark}{}={}", encoded(name), encoded(value))?;
        }
        Ok(())
    }
}

/// Percent-encodes text for a path segment or a query string.
pub(crate) fn encoded(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~:,".contains(&byte) {
            shown.push(char::from(byte));
        } else {
            let _ = write!(shown, "%{byte:02X}");
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_changes_and_writes_query_strings() {
        let query = Query::from_uri(&"/x?a=1&b=%22%26+x&a=2&empty=&mode=K_P".parse().unwrap());
        assert_eq!(query.all("a").collect::<Vec<_>>(), ["1", "2"]);
        assert_eq!((query.get("b"), query.get("empty")), (Some("\"& x"), None));
        assert_eq!(query.with("a", Some("é")).to_string(), "?b=%22%26%20x&mode=K_P&a=%C3%A9");
        assert_eq!(query.only(&["mode"]).to_string(), "?mode=K_P");
        assert_eq!(query.only(&[]).to_string(), "");
        assert_eq!(Query::from_uri(&format!("/{query}").parse().unwrap()), query);
    }
}
