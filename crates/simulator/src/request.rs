//! Parses requests of all three APIs, as far as a simulated model needs them.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::reply::count_words;
use crate::skill::CONTEXT_TOKENS;
use crate::stats::Api;

/// The fields of a request that are used here; all others are ignored.
#[derive(Debug, Deserialize)]
struct Body<'a> {
    #[serde(borrow)]
    model: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    messages: Vec<Message<'a>>,
    #[serde(borrow)]
    prompt: Option<PromptText<'a>>,
    #[serde(borrow)]
    system: Option<PromptText<'a>>,
    max_tokens: Option<u32>,
    max_completion_tokens: Option<u32>,
    temperature: Option<f64>,
    seed: Option<i64>,
    #[serde(default)]
    stream: Option<bool>,
    #[serde(default)]
    logprobs: Logprobs,
}

#[derive(Debug, Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    role: Cow<'a, str>,
    #[serde(borrow)]
    content: Option<PromptText<'a>>,
}

/// A prompt that contains this label requests a stated confidence.
const CONFIDENCE_LABEL: &str = "Confidence:";

/// Whether log-probabilities are requested: `true` in chat completions, a number in text completions.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(untagged)]
enum Logprobs {
    Enabled(bool),
    Count(u32),
    #[default]
    Absent,
}

/// Text in any of its forms: a string, a list of strings, or a list of parts of type `text`.
#[derive(Debug, Default)]
struct PromptText<'a>(Cow<'a, str>);

/// A valid request.
#[derive(Debug)]
pub(crate) struct Request<'a> {
    pub(crate) model: Cow<'a, str>,
    /// The text to search for a question.
    pub(crate) text: Cow<'a, str>,
    pub(crate) prompt_tokens: u32,
    pub(crate) max_tokens: u32,
    pub(crate) sampling: Sampling,
    pub(crate) logprobs: bool,
    /// Whether any message requests a line `Confidence: …`.
    pub(crate) states_confidence: bool,
}

/// Whether identical requests get the same reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sampling {
    /// Temperature 0: always the same reply.
    Greedy,
    /// A seed in the request: the same reply for the same seed.
    Seeded(i64),
    /// A different reply each time.
    Free,
}

/// Why a request is rejected with status 400.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BadRequest {
    #[error("invalid request body: {0}")]
    NotJson(String),
    #[error("`{0}` is missing")]
    Missing(&'static str),
    #[error("`stream` is true, but the simulated models do not stream; remove it or set it to false")]
    Stream,
    #[error("`max_tokens` is 0, but must be at least 1")]
    NoTokens,
}

impl BadRequest {
    /// The field that caused the error.
    pub(crate) fn param(&self) -> Option<&'static str> {
        match self {
            Self::NotJson(_) => None,
            Self::Missing(name) => Some(name),
            Self::Stream => Some("stream"),
            Self::NoTokens => Some("max_tokens"),
        }
    }
}

impl<'a> Request<'a> {
    pub(crate) fn read(api: Api, body: &'a [u8]) -> Result<Self, BadRequest> {
        let body: Body<'a> =
            serde_json::from_slice(body).map_err(|error| BadRequest::NotJson(error.to_string()))?;
        if body.stream == Some(true) {
            return Err(BadRequest::Stream);
        }
        let model = body.model.ok_or(BadRequest::Missing("model"))?;
        let limit = body.max_completion_tokens.or(body.max_tokens);
        let (mut prompt_tokens, mut states_confidence) = (0, false);
        let mut count_prompt = |PromptText(words): &PromptText<'_>| {
            prompt_tokens += count_words(words);
            states_confidence |= words.contains(CONFIDENCE_LABEL);
        };
        if let Some(system) = &body.system {
            count_prompt(system);
        }
        let text = match (api, body.prompt) {
            (Api::Text, Some(prompt)) => {
                count_prompt(&prompt);
                prompt.0
            }
            (Api::Text, None) => return Err(BadRequest::Missing("prompt")),
            (Api::Messages, _) if limit.is_none() => return Err(BadRequest::Missing("max_tokens")),
            (Api::Chat | Api::Messages, _) => {
                let mut last = None;
                for message in body.messages {
                    let words = message.content.unwrap_or_default();
                    count_prompt(&words);
                    if message.role == "user" {
                        last = Some(words.0);
                    }
                }
                last.ok_or(BadRequest::Missing("messages"))?
            }
        };
        if limit == Some(0) {
            return Err(BadRequest::NoTokens);
        }
        let sampling = match (body.temperature, body.seed) {
            (Some(temperature), _) if temperature <= 0.0 => Sampling::Greedy,
            (_, Some(seed)) => Sampling::Seeded(seed),
            (_, None) => Sampling::Free,
        };
        Ok(Self {
            model,
            text,
            prompt_tokens,
            max_tokens: limit.unwrap_or(CONTEXT_TOKENS),
            sampling,
            logprobs: matches!(body.logprobs, Logprobs::Enabled(true) | Logprobs::Count(1..)),
            states_confidence,
        })
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for PromptText<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(PromptTextVisitor).map(Self)
    }
}

/// Deserializes [`PromptText`] without building a tree of values.
struct PromptTextVisitor;

impl<'de> Visitor<'de> for PromptTextVisitor {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string, or a list of parts such as {\"type\": \"text\", \"text\": …}")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(text))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(text.to_owned()))
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(""))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<Self::Value, A::Error> {
        let mut joined = Cow::Borrowed("");
        while let Some(PromptText(part)) = parts.next_element()? {
            if joined.is_empty() {
                joined = part;
            } else if !part.is_empty() {
                let joined = joined.to_mut();
                joined.push('\n');
                joined.push_str(&part);
            }
        }
        Ok(joined)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut part: A) -> Result<Self::Value, A::Error> {
        let mut text = Cow::Borrowed("");
        while let Some(key) = part.next_key::<Cow<'de, str>>()? {
            if key == "text" {
                text = part.next_value::<PromptText<'de>>()?.0;
            } else {
                part.next_value::<IgnoredAny>()?;
            }
        }
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_every_form_of_content() {
        for (api, body) in [
            (
                Api::Chat,
                r#"{"model": "m", "messages": [{"role": "system", "content": "be brief"}, {"role": "user", "content": "a\nb c"}], "top_k": 5}"#,
            ),
            (
                Api::Chat,
                r#"{"model": "m", "messages": [{"role": "user", "content": "no"}, {"role": "assistant", "content": null}, {"role": "user", "content": [{"type": "text", "text": "a"}, {"text": "b c", "type": "text"}]}]}"#,
            ),
            (Api::Text, r#"{"model": "m", "prompt": "a\nb c"}"#),
            (Api::Text, r#"{"model": "m", "prompt": ["a\nb c"], "logprobs": null}"#),
            (
                Api::Messages,
                r#"{"model": "m", "max_tokens": 9, "system": [{"type": "text", "text": "x"}], "messages": [{"role": "user", "content": "a\nb c"}]}"#,
            ),
        ] {
            let request = Request::read(api, body.as_bytes()).unwrap();
            assert_eq!(request.text, "a\nb c", "{body}");
            assert!(request.prompt_tokens >= 3 && !request.logprobs, "{body}");
        }
    }

    #[test]
    fn bad_requests_name_the_field() {
        let error_of = |api, body: &str| Request::read(api, body.as_bytes()).unwrap_err();
        assert!(matches!(error_of(Api::Chat, "{"), BadRequest::NotJson(_)));
        assert_eq!(error_of(Api::Chat, r#"{"stream": true}"#), BadRequest::Stream);
        assert_eq!(error_of(Api::Chat, "{}"), BadRequest::Missing("model"));
        assert_eq!(error_of(Api::Chat, r#"{"model": "m"}"#), BadRequest::Missing("messages"));
        assert_eq!(error_of(Api::Text, r#"{"model": "m"}"#), BadRequest::Missing("prompt"));
        assert_eq!(error_of(Api::Messages, r#"{"model": "m"}"#), BadRequest::Missing("max_tokens"));
        assert_eq!(
            error_of(Api::Text, r#"{"model": "m", "prompt": "", "max_tokens": 0}"#),
            BadRequest::NoTokens
        );
    }

    #[test]
    fn temperature_and_seed_decide_what_repeats() {
        let sampling = |members: &str| {
            Request::read(Api::Text, format!(r#"{{"model": "m", "prompt": "p"{members}}}"#).as_bytes())
                .unwrap()
                .sampling
        };
        assert_eq!(sampling(r#", "temperature": 0, "seed": 3"#), Sampling::Greedy);
        assert_eq!(sampling(r#", "temperature": 0.7, "seed": 3"#), Sampling::Seeded(3));
        assert_eq!(sampling(r#", "seed": 3"#), Sampling::Seeded(3));
        assert_eq!(sampling(""), Sampling::Free);
    }
}
