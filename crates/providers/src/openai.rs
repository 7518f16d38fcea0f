//! The chat and text completions of OpenAI and of the servers that imitate its API.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::lenient::{LenientF64, LenientObject, LenientString, LenientText, LenientU64, LenientVec};
use crate::provider::{parse_finish, parse_object, reject_empty};
use crate::{Completion, Message, ReplyError, TokenLogprob, Usage, error_body};

pub(crate) fn add_messages(payload: &mut Map<String, Value>, messages: &[Message]) {
    payload.insert("messages".to_owned(), messages.iter().map(Message::to_json).collect());
}

pub(crate) fn add_prompt(payload: &mut Map<String, Value>, messages: &[Message]) {
    let contents: Vec<&str> = messages.iter().map(|message| message.content.as_str()).collect();
    payload.insert("prompt".to_owned(), contents.join("\n\n").into());
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Reply {
    model: LenientString,
    choices: LenientVec<LenientObject<Choice>>,
    usage: LenientObject<Counts>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Choice {
    message: LenientObject<ResponseMessage>,
    /// Text completions have this instead of a message.
    text: LenientText,
    finish_reason: LenientString,
    logprobs: LenientObject<LogprobFields>,
}

/// A message and its reasoning under the names that servers have for it: `reasoning_content` (DeepSeek, vLLM,
/// llama.cpp), `reasoning` (OpenRouter, Ollama, newer vLLM), `thinking`, `reasoning_details` (OpenRouter).
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ResponseMessage {
    content: LenientText,
    reasoning_content: LenientText,
    reasoning: LenientText,
    thinking: LenientText,
    reasoning_details: LenientText,
    refusal: LenientText,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Counts {
    prompt_tokens: LenientU64,
    completion_tokens: LenientU64,
    completion_tokens_details: LenientObject<Details>,
    /// xAI and some gateways count it here.
    reasoning_tokens: LenientU64,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Details {
    reasoning_tokens: LenientU64,
}

/// Log-probabilities in the shape of chat (`content`) or of text (`tokens` beside `token_logprobs`).
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct LogprobFields {
    content: LenientVec<LenientObject<LogprobEntry>>,
    tokens: LenientVec<LenientString>,
    token_logprobs: LenientVec<LenientF64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct LogprobEntry {
    token: LenientString,
    logprob: LenientF64,
}

pub(crate) fn parse_completion(status: u16, body: &[u8]) -> Result<Completion, ReplyError> {
    let reply: Reply = parse_object(body)?;
    let Some(LenientObject(Some(choice))) = reply.choices.0.into_iter().next() else {
        return error_body::parse_failure(status, body);
    };
    let message = choice.message.0.unwrap_or_default();
    let LenientText { answer: content, reasoning_text } = message.content;
    let content = [content, message.refusal.answer, choice.text.answer]
        .into_iter()
        .find(|content| !content.is_empty())
        .unwrap_or_default();
    // The same reasoning may come under two names; the first that has any is enough.
    let reasoning =
        [message.reasoning_content, message.reasoning, message.thinking, message.reasoning_details]
            .into_iter()
            .find_map(LenientText::into_combined)
            .or(Some(reasoning_text).filter(|reasoning_text| !reasoning_text.trim().is_empty()));
    let (usage, has_implausible_usage) =
        reply.usage.0.map(Usage::from).unwrap_or_default().split_implausible();
    reject_empty(Completion {
        content,
        reasoning,
        finish: parse_finish(choice.finish_reason.0)?,
        usage,
        has_implausible_usage,
        logprobs: choice.logprobs.0.and_then(LogprobFields::tokens),
        model: reply.model.0,
    })
}

impl From<Counts> for Usage {
    fn from(counts: Counts) -> Self {
        let details = counts.completion_tokens_details.0.unwrap_or_default();
        Self {
            prompt_tokens: counts.prompt_tokens.0,
            completion_tokens: counts.completion_tokens.0,
            reasoning_tokens: details.reasoning_tokens.0.or(counts.reasoning_tokens.0),
        }
    }
}

impl LogprobFields {
    /// The tokens that have a log-probability, unless none has.
    fn tokens(self) -> Option<Vec<TokenLogprob>> {
        let chat =
            self.content.0.into_iter().filter_map(|entry| entry.0).map(|entry| (entry.token, entry.logprob));
        let text = self.tokens.0.into_iter().zip(self.token_logprobs.0);
        let tokens: Vec<TokenLogprob> = chat
            .chain(text)
            .filter_map(|(token, logprob)| Some(TokenLogprob { token: token.0?, logprob: logprob.0? }))
            .collect();
        Some(tokens).filter(|tokens| !tokens.is_empty())
    }
}
