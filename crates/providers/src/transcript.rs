//! The prompt and reply of a stored exchange, whichever API it was sent through.

use crate::{Provider, TokenLogprob};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// The prompt of a request and its reply.
#[derive(Debug, Clone, PartialEq)]
pub struct Transcript {
    /// The prompt.
    pub messages: Vec<TranscriptMessage>,
    /// The reasoning, if the API returned it apart from the reply.
    pub reasoning: Option<String>,
    /// The reply.
    pub reply: String,
    /// Log-probabilities of the tokens of the reply, if they were requested.
    pub logprobs: Option<Vec<TokenLogprob>>,
    /// The temperature of the request, if it sets one.
    pub temperature: Option<f64>,
}

/// A message of a prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Message")]
pub struct TranscriptMessage {
    /// The speaker: `system`, `user` or `assistant`.
    pub role: String,
    /// The text.
    pub content: String,
}

impl Transcript {
    /// Parses a stored request (JSON) and its HTTP response. `None` if they are of no known API.
    pub fn parse(request: &str, status: u16, body: &[u8]) -> Option<Self> {
        let request: Value = serde_json::from_str(request).ok()?;
        let (messages, providers) = if let Some(prompt) = request.get("prompt") {
            let message = TranscriptMessage { role: "user".to_owned(), content: plain_text(prompt) };
            (vec![message], vec![Provider::OpenAiText])
        } else {
            let system = request
                .get("system")
                .map(|system| TranscriptMessage { role: "system".to_owned(), content: plain_text(system) });
            let message = |message: &Value| {
                let member = |name: &str| message.get(name).map(plain_text).unwrap_or_default();
                TranscriptMessage { role: member("role"), content: member("content") }
            };
            let messages =
                request.get("messages").and_then(Value::as_array).into_iter().flatten().map(message);
            (system.into_iter().chain(messages).collect(), vec![Provider::OpenAiChat, Provider::Anthropic])
        };
        let completion =
            providers.into_iter().find_map(|provider: Provider| provider.parse(status, body).ok())?;
        Some(Self {
            messages,
            reasoning: completion.reasoning,
            reply: completion.content,
            logprobs: completion.logprobs,
            temperature: request.get("temperature").and_then(Value::as_f64),
        })
    }
}

/// A string as it is, the texts of a message with several parts, anything else as JSON.
fn plain_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        Value::Array(parts) if parts.iter().all(|part| part.get("text").is_some()) => {
            parts.iter().map(|part| plain_text(&part["text"])).collect::<Vec<_>>().join("\n")
        }
        other => other.to_string(),
    }
}
