//! How a request is written and what a reply means, for each API that models are served by.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use reasonscape_core::closest;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::lenient::LenientObject;
use crate::{ApiKey, Completion, Finish, Header, Message, ReplyError, anthropic, error_body, openai};

/// An API that models are served by.
///
/// ```
/// use reasonscape_providers::{Finish, Provider};
///
/// let provider: Provider = "openai-chat".parse()?;
/// assert_eq!(provider.endpoint("http://127.0.0.1:8089/v1/"), "http://127.0.0.1:8089/v1/chat/completions");
///
/// let reply = br#"{"choices": [{"message": {"content": "Answer: 42"}, "finish_reason": "length"}]}"#;
/// let completion = provider.parse(200, reply)?;
/// assert_eq!((completion.content.as_str(), completion.finish), ("Answer: 42", Finish::Length));
///
/// assert!(provider.parse(429, b"slow down").unwrap_err().is_retryable());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Provider {
    /// OpenAI's chat completions, which nearly every server speaks.
    #[default]
    OpenAiChat,
    /// OpenAI's text completions: the messages are joined into one prompt.
    OpenAiText,
    /// Anthropic's messages.
    Anthropic,
}

/// A provider that there is not.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown provider `{name}`{}; there are {}", nearest.map(|name| format!(" (did you mean `{name}`?)")).unwrap_or_default(), Provider::NAMES.join(", "))]
pub struct UnknownProvider {
    name: String,
    nearest: Option<&'static str>,
}

impl Provider {
    const ALL: [Self; 3] = [Self::OpenAiChat, Self::OpenAiText, Self::Anthropic];
    /// The names that studies call them by.
    pub const NAMES: [&'static str; 3] = ["openai-chat", "openai-text", "anthropic"];

    /// The name that a study calls it by.
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    /// What is added to a base URL.
    pub fn path(self) -> &'static str {
        match self {
            Self::OpenAiChat => "chat/completions",
            Self::OpenAiText => "completions",
            Self::Anthropic => "messages",
        }
    }

    /// Where requests go, whether or not the base URL ends with a slash.
    pub fn endpoint(self, base_url: &str) -> String {
        format!("{}/{}", base_url.trim_end_matches('/'), self.path())
    }

    /// The complete body of a request. The parameters go in untouched.
    ///
    /// [`Provider::OpenAiText`] joins the contents of the messages, in their order, by blank lines; it adds no word
    /// of its own, so that a template decides how a base model sees its question.
    /// [`Provider::Anthropic`] moves system messages into `system`.
    ///
    /// ```
    /// use reasonscape_providers::{Message, Provider, Role};
    ///
    /// let params = [("max_tokens".to_owned(), 2048.into())].into_iter().collect();
    /// let messages = [Message { role: Role::User, content: "What is 6 x 7?".into() }];
    /// let payload = Provider::OpenAiText.payload("base", &messages, &params);
    /// assert_eq!(payload["prompt"], "What is 6 x 7?");
    /// assert_eq!(payload["max_tokens"], 2048);
    /// ```
    pub fn payload(self, model: &str, messages: &[Message], params: &Map<String, Value>) -> Value {
        let mut payload = params.clone();
        payload.insert("model".to_owned(), model.into());
        match self {
            Self::OpenAiChat => openai::add_messages(&mut payload, messages),
            Self::OpenAiText => openai::add_prompt(&mut payload, messages),
            Self::Anthropic => anthropic::add_messages(&mut payload, messages),
        }
        Value::Object(payload)
    }

    /// The headers that the API asks for.
    pub fn headers(self, key: Option<&ApiKey>) -> Vec<Header> {
        let mut headers = vec![Header::new("content-type", "application/json")];
        match self {
            Self::OpenAiChat | Self::OpenAiText => {
                headers
                    .extend(key.map(|key| Header::new("authorization", format!("Bearer {}", key.expose()))));
            }
            Self::Anthropic => {
                headers.push(Header::new("anthropic-version", anthropic::VERSION));
                headers.extend(key.map(|key| Header::new("x-api-key", key.expose())));
            }
        }
        headers
    }

    /// What a reply that just arrived means: as [`parse`](Self::parse), but an `error` beside an answer makes it a failure. A
    /// gateway that lost its backend sends both; a reply that is stored already was accepted, and stays what it was.
    ///
    /// # Errors
    /// A [`ReplyError`] that says whether a retry may help.
    pub fn parse_received(self, status: u16, body: &[u8]) -> Result<Completion, ReplyError> {
        let completion = self.parse(status, body)?;
        if (200..300).contains(&status) && error_body::has_error(body) {
            error_body::parse_failure(status, body)?;
        }
        Ok(completion)
    }

    /// What a reply means. A context that was used up is a truncated answer, whichever way the provider says so.
    ///
    /// # Errors
    /// A [`ReplyError`] that says whether a retry may help.
    pub fn parse(self, status: u16, body: &[u8]) -> Result<Completion, ReplyError> {
        if !(200..300).contains(&status) {
            return error_body::parse_failure(status, body);
        }
        match self {
            Self::OpenAiChat | Self::OpenAiText => openai::parse_completion(status, body),
            Self::Anthropic => anthropic::parse_completion(status, body),
        }
    }
}

impl FromStr for Provider {
    type Err = UnknownProvider;

    fn from_str(name: &str) -> Result<Self, UnknownProvider> {
        Self::ALL
            .into_iter()
            .find(|provider| provider.name() == name)
            .ok_or_else(|| UnknownProvider { name: name.to_owned(), nearest: closest(name, &Self::NAMES) })
    }
}

impl fmt::Display for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Parses a reply that is a JSON object; what is almost JSON is repaired.
pub(crate) fn parse_object<T: DeserializeOwned>(body: &[u8]) -> Result<T, ReplyError> {
    let error = match serde_json::from_slice::<LenientObject<T>>(body) {
        Ok(LenientObject(Some(reply))) => return Ok(reply),
        Ok(LenientObject(None)) => return Err(ReplyError::malformed("is JSON, but no object")),
        Err(error) => error,
    };
    match serde_json::from_str::<LenientObject<T>>(&reasonscape_core::python_json::repair(body)) {
        Ok(LenientObject(Some(reply))) => Ok(reply),
        _ => Err(ReplyError::malformed(describe_invalid(body, &error))),
    }
}

/// What a body that is no JSON looks like.
fn describe_invalid(body: &[u8], error: &serde_json::Error) -> Cow<'static, str> {
    let text = String::from_utf8_lossy(&body[..body.len().min(256)]);
    let start = text.trim_start();
    if start.is_empty() {
        "is empty".into()
    } else if start.starts_with('<') {
        "is a page of HTML or XML; check `base_url`, which usually ends with `/v1`".into()
    } else if start.starts_with("data:") || start.starts_with("event:") {
        "is a stream of events, which the request didn't ask for".into()
    } else if error.is_eof() {
        "ends in the middle".into()
    } else {
        format!("is not JSON (line {}, column {})", error.line(), error.column()).into()
    }
}

/// The finish reason, under any of the names that providers have for it.
///
/// # Errors
/// A [`ReplyError`] when the provider interrupted its answer: a retry may help.
pub(crate) fn parse_finish(reason: Option<String>) -> Result<Finish, ReplyError> {
    let Some(reason) = reason.filter(|reason| !reason.is_empty()) else { return Ok(Finish::Missing) };
    Ok(match reason.to_ascii_lowercase().as_str() {
        "stop" | "end_turn" | "stop_sequence" | "eos" | "eos_token" | "end" | "complete" | "completed" => {
            Finish::Stop
        }
        "length"
        | "max_tokens"
        | "max_output_tokens"
        | "max_completion_tokens"
        | "max_new_tokens"
        | "model_length"
        | "model_context_window_exceeded"
        | "context_length_exceeded" => Finish::Length,
        "content_filter" | "content-filter" | "refusal" | "safety" | "recitation" | "blocklist"
        | "prohibited_content" | "sensitive" => Finish::ContentFilter,
        "error" | "abort" | "aborted" | "cancelled" | "insufficient_system_resource" => {
            return Err(ReplyError::Interrupted { reason: error_body::sanitize_line(&reason) });
        }
        _ => Finish::Other(reason),
    })
}

/// The completion, unless it has neither text nor a finish reason.
pub(crate) fn reject_empty(completion: Completion) -> Result<Completion, ReplyError> {
    let is_empty = completion.content.trim().is_empty() && completion.reasoning.is_none();
    if is_empty && completion.finish == Finish::Missing { Err(ReplyError::Empty) } else { Ok(completion) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        for provider in Provider::ALL {
            assert_eq!(provider.to_string().parse(), Ok(provider));
        }
        let error = "openai".parse::<Provider>().unwrap_err().to_string();
        assert_eq!(error, "unknown provider `openai`; there are openai-chat, openai-text, anthropic");
        let error = "antropic".parse::<Provider>().unwrap_err().to_string();
        assert!(error.contains("did you mean `anthropic`?"), "{error}");
    }

    #[test]
    fn finish_reasons_ignore_case() {
        assert_eq!(parse_finish(Some("STOP".into())), Ok(Finish::Stop));
        assert_eq!(parse_finish(Some("MAX_TOKENS".into())), Ok(Finish::Length));
        assert_eq!(parse_finish(Some("tool_calls".into())), Ok(Finish::Other("tool_calls".into())));
        assert_eq!(parse_finish(Some(String::new())), Ok(Finish::Missing));
        assert!(parse_finish(Some("abort".into())).unwrap_err().is_retryable());
    }
}
