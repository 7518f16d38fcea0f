//! Anthropic's messages.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::lenient::{LenientObject, LenientString, LenientText, LenientU64};
use crate::provider::{parse_finish, parse_object, reject_empty};
use crate::{Completion, Message, ReplyError, Role, Usage, error_body};

/// The version of the API that is spoken here.
pub(crate) const VERSION: &str = "2023-06-01";

/// System messages go into a field of their own, a paragraph each.
pub(crate) fn add_messages(payload: &mut Map<String, Value>, messages: &[Message]) {
    let (system, others): (Vec<&Message>, Vec<&Message>) =
        messages.iter().partition(|message| message.role == Role::System);
    if !system.is_empty() {
        let system: Vec<&str> = system.iter().map(|message| message.content.as_str()).collect();
        payload.insert("system".to_owned(), system.join("\n\n").into());
    }
    payload.insert("messages".to_owned(), others.into_iter().map(Message::to_json).collect());
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Reply {
    /// `message`, or `error`.
    #[serde(rename = "type")]
    kind: LenientString,
    model: LenientString,
    /// Absent from an error.
    content: Option<LenientText>,
    stop_reason: LenientString,
    usage: LenientObject<Counts>,
}

/// Anthropic counts the cached part of a prompt apart from the rest.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Counts {
    #[serde(rename = "input_tokens")]
    uncached: LenientU64,
    #[serde(rename = "cache_creation_input_tokens")]
    cache_written: LenientU64,
    #[serde(rename = "cache_read_input_tokens")]
    cache_read: LenientU64,
    #[serde(rename = "output_tokens")]
    output: LenientU64,
}

pub(crate) fn parse_completion(status: u16, body: &[u8]) -> Result<Completion, ReplyError> {
    let reply: Reply = parse_object(body)?;
    let content = match reply.content {
        Some(content) if reply.kind.0.as_deref() != Some("error") => content,
        _ => return error_body::parse_failure(status, body),
    };
    let (usage, has_implausible_usage) =
        reply.usage.0.map(Usage::from).unwrap_or_default().split_implausible();
    reject_empty(Completion {
        content: content.answer,
        reasoning: Some(content.reasoning_text).filter(|reasoning_text| !reasoning_text.trim().is_empty()),
        finish: parse_finish(reply.stop_reason.0)?,
        usage,
        has_implausible_usage,
        logprobs: None,
        model: reply.model.0,
    })
}

impl From<Counts> for Usage {
    fn from(counts: Counts) -> Self {
        let cached = [counts.cache_written, counts.cache_read];
        let prompt_tokens = counts
            .uncached
            .0
            .map(|uncached| cached.iter().filter_map(|part| part.0).fold(uncached, u64::saturating_add));
        Self { prompt_tokens, completion_tokens: counts.output.0, reasoning_tokens: None }
    }
}
