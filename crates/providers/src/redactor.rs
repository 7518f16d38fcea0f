//! Removes the secrets of this process from what endpoints reply.
//!
//! A server may repeat the headers of a request in an error, in an answer or in its reasoning. Whatever it repeats would
//! reach logs, files and pages, so replies are redacted where they arrive, before anything reads them.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::{Arc, PoisonError, RwLock};

use aho_corasick::{AhoCorasick, MatchKind};

use crate::secret::REDACTED;

/// Shorter values, such as `none` or `test`, also occur in texts for other reasons.
const MIN_SECRET_LEN: usize = 12;
/// The key that marks a changed JSON reply, with the number of redactions.
pub const REDACTION_MARK: &str = "reasonscape_redacted";

static SECRETS: RwLock<Option<Redactor>> = RwLock::new(None);

#[derive(Debug, Clone)]
struct Redactor {
    patterns: BTreeSet<String>,
    search: Arc<AhoCorasick>,
}

/// Registers a value that is sent in a header. From now on, it is removed from every reply; values of less than 12
/// characters are not.
pub fn register_secret(value: &str) {
    if value.len() < MIN_SECRET_LEN {
        return;
    }
    let mut secrets = SECRETS.write().unwrap_or_else(PoisonError::into_inner);
    let mut patterns = secrets.as_ref().map_or_else(BTreeSet::new, |known| known.patterns.clone());
    let known = patterns.len();
    patterns.extend(written_forms(value));
    if patterns.len() == known {
        return;
    }
    let search = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(&patterns);
    // Fails only for gigabytes of patterns.
    if let Ok(search) = search {
        *secrets = Some(Redactor { patterns, search: Arc::new(search) });
    }
}

/// A value as JSON encoders write it: most escape quotes and backslashes, some slashes, some what HTML treats specially.
fn written_forms(value: &str) -> [String; 4] {
    let json = value.replace('\\', "\\\\").replace('"', "\\\"");
    let slashes = json.replace('/', "\\/");
    let html = json.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026");
    [value.to_owned(), json, slashes, html]
}

fn search() -> Option<Arc<AhoCorasick>> {
    let secrets = SECRETS.read().unwrap_or_else(PoisonError::into_inner);
    secrets.as_ref().map(|known| Arc::clone(&known.search))
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
    let Some(search) = search() else { return };
    let mut redacted = Vec::new();
    let (mut count, mut from) = (0_usize, 0);
    for found in search.find_iter(body.as_slice()) {
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
        body.splice(start + 1..start + 1, format!("\"{REDACTION_MARK}\":{count}{comma}").into_bytes());
    }
}

/// A text without registered secrets.
pub fn redact_text(text: &str) -> Cow<'_, str> {
    match search() {
        Some(search) if search.is_match(text) => {
            let replacements = vec![REDACTED; search.patterns_len()];
            Cow::Owned(search.replace_all(text, &replacements))
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
            "a/b\\u003cc\\u003e\\u0026\\\"d\\\\efgh",
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
