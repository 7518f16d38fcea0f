//! The provider APIs from outside: requests as they are sent, replies as servers send them.

mod anthropic_replies;
mod context_overflow;
mod errors;
mod malformed_replies;
mod openai_replies;
mod requests;

use reasonscape_providers::{Completion, Provider, ReplyError, Usage};
use serde_json::Value;

const CHAT: Provider = Provider::OpenAiChat;

fn parse_ok(provider: Provider, body: &Value) -> Completion {
    provider.parse(200, body.to_string().as_bytes()).unwrap_or_else(|problem| panic!("{problem}\n{body}"))
}

fn parse_error(provider: Provider, status: u16, body: &str) -> ReplyError {
    provider.parse(status, body.as_bytes()).expect_err(body)
}

fn usage(prompt: u64, completion: u64, reasoning: Option<u64>) -> Usage {
    Usage { prompt_tokens: Some(prompt), completion_tokens: Some(completion), reasoning_tokens: reasoning }
}
