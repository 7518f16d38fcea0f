//! OpenAI's chat and text completions, as OpenAI and those who imitate it speak them.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::lenient::{List, Object, Real, Text, Whole, Word};
use crate::provider::{finish, read, unless_empty};
use crate::{Completion, Message, ReplyProblem, TokenLogprob, Usage, error_body};

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
    model: Word,
    choices: List<Object<Choice>>,
    usage: Object<Counts>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Choice {
    message: Object<Said>,
    /// Text completions have this instead of a message.
    text: Text,
    finish_reason: Word,
    logprobs: Object<Likelihoods>,
}

/// A message and its reasoning under the names that servers have for it: `reasoning_content` (DeepSeek, vLLM,
/// llama.cpp), `reasoning` (OpenRouter, Ollama, newer vLLM), `thinking`, `reasoning_details` (OpenRouter).
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Said {
    content: Text,
    reasoning_content: Text,
    reasoning: Text,
    thinking: Text,
    reasoning_details: Text,
    refusal: Text,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Counts {
    prompt_tokens: Whole,
    completion_tokens: Whole,
    completion_tokens_details: Object<Details>,
    /// xAI and some gateways count it here.
    reasoning_tokens: Whole,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Details {
    reasoning_tokens: Whole,
}

/// Log-probabilities in the shape of chat (`content`) or of text (`tokens` beside `token_logprobs`).
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Likelihoods {
    content: List<Object<Entry>>,
    tokens: List<Word>,
    token_logprobs: List<Real>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Entry {
    token: Word,
    logprob: Real,
}

pub(crate) fn completion(status: u16, body: &[u8]) -> Result<Completion, ReplyProblem> {
    let reply: Reply = read(body)?;
    let Some(Object(Some(choice))) = reply.choices.0.into_iter().next() else {
        return error_body::failure(status, body);
    };
    let said = choice.message.0.unwrap_or_default();
    let Text { said: content, thought } = said.content;
    let content = [content, said.refusal.said, choice.text.said]
        .into_iter()
        .find(|content| !content.is_empty())
        .unwrap_or_default();
    // The same thoughts may come under two names; the first that has any is enough.
    let reasoning = [said.reasoning_content, said.reasoning, said.thinking, said.reasoning_details]
        .into_iter()
        .find_map(Text::whole)
        .or(Some(thought).filter(|thought| !thought.trim().is_empty()));
    unless_empty(Completion {
        content,
        reasoning,
        finish: finish(choice.finish_reason.0)?,
        usage: reply.usage.0.map(Usage::from).unwrap_or_default(),
        logprobs: choice.logprobs.0.and_then(Likelihoods::tokens),
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

impl Likelihoods {
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
