//! Removes the secrets of this process from what endpoints reply.
//!
//! A server may repeat the headers of a request in an error, in an answer or in its reasoning. Whatever it repeats would
//! reach logs, files and pages, so replies are redacted where they arrive, before anything reads them.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::{PoisonError, RwLock};

use regex::bytes::Regex;

use crate::secret::REDACTED;

/// Shorter values, such as `none` or `test`, also occur in texts for other reasons.
const MIN_SECRET_LEN: usize = 12;
/// The key that marks a changed JSON reply, with the number of redactions.
pub const REDACTION_MARK: &str = "reasonscape_redacted";

static SECRETS: RwLock<Secrets> = RwLock::new(Secrets { values: BTreeSet::new(), pattern: None });

struct Secrets {
    values: BTreeSet<String>,
    /// Matches any of the values.
    pattern: Option<Regex>,
}

/// Registers a value that is sent in a header. From now on, it is removed from every reply; values of less than 12
/// characters are not.
pub fn register_secret(value: &str) {
    let is_known = |secrets: &Secrets| secrets.values.contains(value);
    if value.len() < MIN_SECRET_LEN || is_known(&SECRETS.read().unwrap_or_else(PoisonError::into_inner)) {
        return;
    }
    let mut secrets = SECRETS.write().unwrap_or_else(PoisonError::into_inner);
    secrets.values.insert(value.to_owned());
    // The longest first, since one may be the beginning of another.
    let mut values: Vec<&String> = secrets.values.iter().collect();
    values.sort_by_key(|value| std::cmp::Reverse(value.len()));
    let pattern = values.into_iter().map(|value| written_forms(value)).collect::<Vec<_>>().join("|");
    // Fails only for megabytes of secrets.
    secrets.pattern = Regex::new(&pattern).ok().or_else(|| secrets.pattern.take());
}

/// A pattern for a value as JSON encoders write it: any character may be escaped, by a backslash or by its number.
fn written_forms(value: &str) -> String {
    let mut pattern = String::from("(?-u)");
    for byte in value.bytes() {
        let plain = regex::escape(char::from(byte).encode_utf8(&mut [0; 4]));
        let escape = if matches!(byte, b'"' | b'\\' | b'/') { "\\\\?" } else { "" };
        let _ = write!(pattern, "(?:{escape}{plain}|\\\\u00(?i:{byte:02x}))");
    }
    format!("(?:{pattern})")
}

/// The pattern of all secrets; cloning one is cheap.
fn pattern() -> Option<Regex> {
    SECRETS.read().unwrap_or_else(PoisonError::into_inner).pattern.clone()
}

/// Replaces registered secrets in the body of a reply. A JSON object that was changed says so in
/// [`REDACTION_MARK`]; any other body is not touched.
///
/// ```
/// use reasonscape_providers::{redact_body, register_secret};
///
/// register_secret("correct-horse-battery");
/// let mut body = br#"{"error": "no such key: correct-horse-battery"}"#.to_vec();
/// redact_body(&mut body);
/// assert_eq!(body, br#"{"reasonscape_redacted":1,"error": "no such key: [redacted]"}"#);
/// ```
pub fn redact_body(body: &mut Vec<u8>) {
    let Some(pattern) = pattern() else { return };
    let mut redacted = Vec::new();
    let (mut count, mut from) = (0_usize, 0);
    for found in pattern.find_iter(body) {
        redacted.extend_from_slice(&body[from..found.start()]);
        redacted.extend_from_slice(REDACTED.as_bytes());
        (count, from) = (count + 1, found.end());
    }
    if count == 0 {
        return;
    }
    redacted.extend_from_slice(&body[from..]);
    *body = redacted;
    let start = body.iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or(0);
    if body.get(start) == Some(&b'{') {
        let is_empty = body[start + 1..].trim_ascii_start().starts_with(b"}");
        let comma = if is_empty { "" } else { "," };
        let at = start + 1;
        body.splice(at..at, format!("\"{REDACTION_MARK}\":{count}{comma}").into_bytes());
    }
}

/// A text without registered secrets.
pub fn redact_text(text: &str) -> Cow<'_, str> {
    match pattern() {
        Some(pattern) if pattern.is_match(text.as_bytes()) => {
            let redacted = pattern.replace_all(text.as_bytes(), REDACTED.as_bytes());
            Cow::Owned(String::from_utf8_lossy(&redacted).into_owned())
        }
        _ => Cow::Borrowed(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redacts_every_written_form_and_leaves_other_replies_alone() {
        register_secret("a/b<c>&\"d\\efgh");
        register_secret("a/b<c>&\"d\\efgh-and-longer");
        register_secret("short");
        for form in [
            "a/b<c>&\"d\\efgh",
            "a/b<c>&\\\"d\\\\efgh",
            "a\\/b<c>&\\\"d\\\\efgh",
            "a\\/b\\u003Cc\\u003e\\u0026\\\"d\\\\efgh",
            "a/b<c>&\"d\\efgh-and-longer",
        ] {
            assert_eq!(redact_text(&format!("<{form}> short")), "<[redacted]> short", "{form}");
            let mut body = format!(" {{\"x\": \"{form}\"}}").into_bytes();
            redact_body(&mut body);
            assert_eq!(body, br#" {"reasonscape_redacted":1,"x": "[redacted]"}"#);
        }
        let mut other = br#"{"x": "short a/b"}"#.to_vec();
        redact_body(&mut other);
        assert_eq!(other, br#"{"x": "short a/b"}"#);
    }
}
