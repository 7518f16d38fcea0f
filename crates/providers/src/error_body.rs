//! Error bodies, in the many shapes that providers have for them.

use serde_json::Value;

use crate::secret::REDACTED;
use crate::{Completion, Finish, ReplyError};

/// More of a provider's message than this helps nobody.
const MAX_MESSAGE_LEN: usize = 300;

/// An error body, taken apart.
#[derive(Debug, Default)]
struct ErrorBody {
    /// `type` and `code`, lower-case: the machine-readable part.
    codes: Vec<String>,
    /// The status that the body names, where it differs from that of the reply.
    status: Option<u16>,
    /// What it says to a person, unshortened.
    message: String,
}

/// What a reply with an error means. An exhausted context and a content filter count as completions.
pub(crate) fn parse_failure(status: u16, body: &[u8]) -> Result<Completion, ReplyError> {
    let error_body = ErrorBody::read(body);
    // A cached body is read again without its status, and some gateways answer 200 whatever happened.
    let status =
        if (200..300).contains(&status) { error_body.implied_status().unwrap_or(status) } else { status };
    let stopped = |finish| Completion { finish, ..Completion::default() };
    if matches!(status, 200..=299 | 400 | 413 | 422 | 500) && error_body.is_overflow() {
        return Ok(stopped(Finish::Length));
    }
    if matches!(status, 200..=299 | 400 | 403 | 422) && error_body.is_filter() {
        return Ok(stopped(Finish::ContentFilter));
    }
    let message = error_body.display_message();
    Err(match status {
        429 | 503 | 529 if !error_body.has_code("insufficient_quota") => {
            ReplyError::Overloaded { status, message }
        }
        200..=299 if error_body.is_empty() => ReplyError::malformed("has no choices and no error"),
        200..=299 | 408 | 409 | 425 | 500 | 502..=504 | 506..=599 => ReplyError::Failed { status, message },
        _ => ReplyError::Refused { status, message },
    })
}

/// Whether a body has an `error` that says something.
pub(crate) fn has_error(body: &[u8]) -> bool {
    #[derive(serde::Deserialize)]
    struct WithError {
        #[serde(default)]
        error: Value,
    }
    // Nearly every reply has none, and is not parsed twice.
    if memchr::memmem::find(body, b"\"error\"").is_none() {
        return false;
    }
    let found = serde_json::from_slice(body).map_or(Value::Null, |WithError { error }| error);
    match found {
        Value::String(message) => !message.trim().is_empty(),
        Value::Object(members) => !members.is_empty(),
        Value::Bool(is_error) => is_error,
        Value::Null | Value::Number(_) | Value::Array(_) => false,
    }
}

impl ErrorBody {
    fn read(body: &[u8]) -> Self {
        match serde_json::from_str::<Value>(&reasonscape_core::python_json::repair(body)) {
            Ok(Value::Object(members)) => Self::from_json(&Value::Object(members)),
            Ok(Value::String(message)) => Self { message, ..Self::default() },
            Ok(_) => Self::default(),
            Err(_) => Self { message: describe_text(&String::from_utf8_lossy(body)), ..Self::default() },
        }
    }

    /// The error may be the whole body, or its `error`; that may be a string or an object.
    fn from_json(body: &Value) -> Self {
        let error = match &body["error"] {
            Value::Null => body,
            error => error,
        };
        let mut error_body = Self::default();
        for value in [&error["type"], &error["code"], &body["error_type"], &error["status"]] {
            match value {
                Value::String(code) => error_body.codes.push(code.to_ascii_lowercase()),
                Value::Number(code) => {
                    let status = code.as_u64().filter(|code| (400..600).contains(code));
                    error_body.status = error_body.status.or(status.map(|status| status as u16));
                }
                _ => {}
            }
        }
        let message =
            [error, &error["message"], &error["detail"], &error["msg"], &error["error"], &error["errors"]]
                .into_iter()
                .find_map(first_text);
        // OpenRouter wraps what the provider behind it said.
        let raw = first_text(&error["metadata"]["raw"]);
        error_body.message = [message, raw].into_iter().flatten().collect::<Vec<_>>().join(": ");
        error_body
    }

    fn has_code(&self, code: &str) -> bool {
        self.codes.iter().any(|known| known == code)
    }

    fn is_empty(&self) -> bool {
        self.message.is_empty() && self.codes.is_empty() && self.status.is_none()
    }

    /// The status that an error inside of a 200 should have had.
    fn implied_status(&self) -> Option<u16> {
        self.status.or_else(|| {
            self.codes.iter().find_map(|code| match code.as_str() {
                "rate_limit_exceeded" | "rate_limit_error" => Some(429),
                "overloaded_error" | "unavailable_error" => Some(529),
                "server_error" | "api_error" | "internal_server_error" | "timeout_error" => Some(500),
                "invalid_request_error" | "badrequesterror" | "bad_request" | "exceed_context_size_error" => {
                    Some(400)
                }
                "authentication_error" | "invalid_api_key" => Some(401),
                "permission_error" => Some(403),
                "not_found_error" | "notfounderror" | "model_not_found" => Some(404),
                _ => None,
            })
        })
    }

    /// Whether prompt and answer did not fit the context together.
    ///
    /// A limit on the answer that alone fills the context is a slip in the sampler: no prompt would ever fit, and
    /// counting every test as truncated would hide it.
    fn is_overflow(&self) -> bool {
        const CODES: [&str; 4] = [
            "context_length_exceeded",
            "exceed_context_size_error",
            "context_window_exceeded",
            "string_above_max_length",
        ];
        const WORDS: [&str; 9] = [
            "maximum context length",
            "maximum model length",
            "context length exceeded",
            "exceeds the available context size",
            "exceed context limit",
            "exceeds the context window",
            "exceed context window",
            "exceeds the maximum number of tokens allowed",
            "prompt is too long",
        ];
        let message = self.message.to_lowercase();
        let is_reported =
            CODES.iter().any(|code| self.has_code(code)) || WORDS.iter().any(|words| message.contains(words));
        is_reported && !message.contains("per minute") && !is_limit_too_large(&message)
    }

    fn is_filter(&self) -> bool {
        [
            "content_filter",
            "content_policy_violation",
            "data_inspection_failed",
            "responsibleaipolicyviolation",
        ]
        .iter()
        .any(|code| self.has_code(code))
    }

    fn display_message(&self) -> String {
        if self.message.is_empty() { "no message".to_owned() } else { sanitize_line(&self.message) }
    }
}

/// Whether the tokens asked for the answer fill the context by themselves.
fn is_limit_too_large(message: &str) -> bool {
    let after = |words: &str| {
        let rest = &message[message.find(words)? + words.len()..];
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        digits.parse::<u64>().ok()
    };
    let before = |words: &str| {
        let head = &message[..message.find(words)?];
        let digits = head.rsplit(|c: char| !c.is_ascii_digit()).next()?;
        digits.parse::<u64>().ok()
    };
    let context = after("maximum context length is ").or_else(|| after("maximum context length of "));
    let requested =
        before(" in the completion").or_else(|| after("is too large: ")).or_else(|| before(" output tokens"));
    matches!((context, requested), (Some(context), Some(requested)) if requested >= context)
}

/// The text of a value: a string, or the first message in a list.
fn first_text(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => {
            let item = |item: &Value| {
                first_text(item).or_else(|| first_text(&item["message"])).or_else(|| first_text(&item["msg"]))
            };
            items.iter().find_map(item)?
        }
        _ => return None,
    };
    Some(text).filter(|text| !text.trim().is_empty())
}

/// What a body that is no JSON says: the title of a page, or its text.
fn describe_text(text: &str) -> String {
    if !text.trim_start().starts_with('<') {
        return text.to_owned();
    }
    let lower = text.to_ascii_lowercase();
    let title = lower.find("<title>").map(|start| start + "<title>".len()).and_then(|start| {
        let end = lower[start..].find("</title>")?;
        Some(text[start..start + end].trim()).filter(|title| !title.is_empty())
    });
    title.map_or_else(|| "a page of HTML or XML".to_owned(), |title| format!("a page of HTML, \"{title}\""))
}

/// A provider's words as one line of bounded length, without what looks like a key.
pub(crate) fn sanitize_line(message: &str) -> String {
    // Far more than is shown, and far less than a body of megabytes.
    let head: String = message.chars().take(8 * MAX_MESSAGE_LEN).collect();
    let head: String = head.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let words: Vec<String> = head.split_whitespace().map(redact_keys).collect();
    let mut line = words.join(" ");
    if let Some((end, _)) = line.char_indices().nth(MAX_MESSAGE_LEN) {
        line.truncate(end);
        line.push('…');
    }
    line
}

/// A word in which a key is blotted out: what begins like the keys of well-known providers, or a long run of letters
/// and digits. The names of models have hyphens and dots and stay.
fn redact_keys(word: &str) -> String {
    const PREFIXES: [&str; 13] =
        ["sk-", "sk_", "gsk_", "hf_", "xai-", "AIza", "pplx-", "r8_", "nvapi-", "fw_", "csk-", "ghp_", "eyJ"];
    let is_key_character =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '*' | '.' | '+' | '=');
    let mut clean = String::with_capacity(word.len());
    let mut rest = word;
    while !rest.is_empty() {
        let end = rest.find(|c| !is_key_character(c)).unwrap_or(rest.len());
        let (run, tail) = rest.split_at(end);
        let known = PREFIXES.iter().any(|prefix| run.starts_with(prefix)) && run.len() >= 12;
        let is_long = run
            .split(['-', '_', '.'])
            .any(|part| part.len() >= 32 && part.contains(|c: char| c.is_ascii_digit()));
        clean.push_str(if known || is_long { REDACTED } else { run });
        let stop = tail.chars().next().map_or(0, char::len_utf8);
        clean.push_str(&tail[..stop]);
        rest = &tail[stop..];
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_redacted_and_model_names_are_not() {
        for key in [
            "sk-proj-abcdefgh1234",
            "\"gsk_Abcdefgh123456789\"",
            "0123456789abcdef0123456789abcdef",
            "key=0123456789abcdef0123456789abcdef0123",
            "sk-ab***************wxyz.",
        ] {
            let shown = sanitize_line(&format!("Incorrect API key provided: {key} (see the docs)"));
            assert!(shown.contains(REDACTED) && shown.contains("see the docs"), "{shown}");
            assert!(
                !shown.contains("0123456789") && !shown.contains("gh1234") && !shown.contains("wxyz"),
                "{shown}"
            );
        }
        let models = "claude-3-5-sonnet-20241022 meta-llama/Meta-Llama-3.1-405B-Instruct-Turbo";
        assert_eq!(sanitize_line(models), models);
    }

    #[test]
    fn messages_become_one_bounded_line() {
        let shown = sanitize_line(&"wörd\r\n\u{1b}[31m ".repeat(100_000));
        assert_eq!(shown.chars().count(), MAX_MESSAGE_LEN + 1);
        assert!(!shown.contains(char::is_control));
    }
}
