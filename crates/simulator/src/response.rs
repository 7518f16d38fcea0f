//! Writes replies and errors in the format of each API.

use std::io::Write;

use serde_json::json;

use crate::reply::{Reply, Text};
use crate::request::Request;
use crate::skill::CONTEXT_TOKENS;
use crate::stats::Api;

/// Fixed creation time, so that the bytes of a reply do not depend on the clock.
const CREATED: u64 = 1_700_000_000;

/// What a fault removes from a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Missing {
    Nothing,
    Usage,
    /// Both the text and the finish reason.
    Text,
}

/// A reply as JSON.
pub(crate) fn write(api: Api, request: &Request<'_>, reply: &Reply, missing: Missing) -> Vec<u8> {
    let mut out = Vec::with_capacity(reply.text.reasoning.len() + reply.text.closing.len() + 512);
    let written = match api {
        Api::Chat => chat(&mut out, request, reply, missing),
        Api::Text => text(&mut out, request, reply, missing),
        Api::Messages => messages(&mut out, request, reply, missing),
    };
    written.expect("writing to memory does not fail");
    out
}

fn chat(out: &mut Vec<u8>, request: &Request<'_>, reply: &Reply, missing: Missing) -> std::io::Result<()> {
    write!(
        out,
        r#"{{"id":"chatcmpl-{:016x}","object":"chat.completion","created":{CREATED},"model":"#,
        reply.id
    )?;
    serde_json::to_writer(&mut *out, &request.model)?;
    out.extend_from_slice(br#","choices":[{"index":0,"message":{"role":"assistant","content":"#);
    write_content(out, reply, missing)?;
    if reply.thinks && missing != Missing::Text {
        write!(out, r#","reasoning_content":"{}""#, reply.text.reasoning)?;
    }
    out.extend_from_slice(br#"},"logprobs":"#);
    if request.logprobs && missing != Missing::Text {
        out.extend_from_slice(br#"{"content":["#);
        for (i, token) in tokens(reply).iter().enumerate() {
            out.extend_from_slice(if i == 0 { br#"{"token":"# } else { br#",{"token":"# });
            serde_json::to_writer(&mut *out, &token.text)?;
            write!(out, r#","logprob":{},"bytes":null,"top_logprobs":[]}}"#, token.logprob)?;
        }
        out.extend_from_slice(b"]}");
    } else {
        out.extend_from_slice(b"null");
    }
    write_finish(out, reply, missing);
    write_usage(out, request, reply, missing)
}

fn text(out: &mut Vec<u8>, request: &Request<'_>, reply: &Reply, missing: Missing) -> std::io::Result<()> {
    write!(
        out,
        r#"{{"id":"cmpl-{:016x}","object":"text_completion","created":{CREATED},"model":"#,
        reply.id
    )?;
    serde_json::to_writer(&mut *out, &request.model)?;
    out.extend_from_slice(br#","choices":[{"index":0,"text":"#);
    if reply.thinks && missing != Missing::Text {
        // This API has no field for reasoning, so it is put between tags. A truncated reply has no closing tag.
        let end = if reply.truncated { "" } else { "\\n</think>\\n\\n" };
        write!(out, r#""<think>\n{}{end}"#, reply.text.reasoning)?;
        write_escaped(out, &reply.text.closing)?;
        out.push(b'"');
    } else {
        write_content(out, reply, missing)?;
    }
    out.extend_from_slice(br#","logprobs":"#);
    if request.logprobs && missing != Missing::Text {
        let tokens = tokens(reply);
        let texts: Vec<&str> = tokens.iter().map(|token| token.text).collect();
        let logprobs: Vec<f64> = tokens.iter().map(|token| token.logprob).collect();
        let logprobs = json!({ "tokens": texts, "token_logprobs": logprobs, "top_logprobs": null });
        serde_json::to_writer(&mut *out, &logprobs)?;
    } else {
        out.extend_from_slice(b"null");
    }
    write_finish(out, reply, missing);
    write_usage(out, request, reply, missing)
}

fn messages(
    out: &mut Vec<u8>,
    request: &Request<'_>,
    reply: &Reply,
    missing: Missing,
) -> std::io::Result<()> {
    write!(out, r#"{{"id":"msg_{:016x}","type":"message","role":"assistant","model":"#, reply.id)?;
    serde_json::to_writer(&mut *out, &request.model)?;
    out.extend_from_slice(br#","content":["#);
    if missing != Missing::Text {
        let thinks = reply.thinks && !reply.text.reasoning.is_empty();
        if thinks {
            write!(out, r#"{{"type":"thinking","thinking":"{}","signature":""}}"#, reply.text.reasoning)?;
        }
        if !(reply.thinks && reply.text.closing.is_empty()) {
            out.extend_from_slice(if thinks { b"," } else { b"" });
            out.extend_from_slice(br#"{"type":"text","text":"#);
            write_content(out, reply, missing)?;
            out.push(b'}');
        }
    }
    let stop = match (missing, reply.truncated) {
        (Missing::Text, _) => "null",
        (_, true) => r#""max_tokens""#,
        (_, false) => r#""end_turn""#,
    };
    write!(out, r#"],"stop_reason":{stop},"stop_sequence":null"#)?;
    if missing != Missing::Usage {
        let (input, output) = (request.prompt_tokens, completion_tokens(reply, missing));
        write!(out, r#","usage":{{"input_tokens":{input},"output_tokens":{output}}}"#)?;
    }
    out.push(b'}');
    Ok(())
}

/// The text content of the reply: the closing, preceded by the reasoning if the API has no separate field for it.
fn write_content(out: &mut Vec<u8>, reply: &Reply, missing: Missing) -> std::io::Result<()> {
    out.push(b'"');
    if missing != Missing::Text {
        let Text { reasoning, closing } = &reply.text;
        if !reply.thinks && !reasoning.is_empty() {
            out.extend_from_slice(reasoning.as_bytes());
            out.extend_from_slice(if closing.is_empty() { b"" } else { br"\n\n" });
        }
        write_escaped(out, closing)?;
    }
    out.push(b'"');
    Ok(())
}

/// Text escaped for a JSON string, without the quotes.
fn write_escaped(out: &mut Vec<u8>, text: &str) -> std::io::Result<()> {
    let start = out.len();
    serde_json::to_writer(&mut *out, text)?;
    out.remove(start);
    out.pop();
    Ok(())
}

fn write_finish(out: &mut Vec<u8>, reply: &Reply, missing: Missing) {
    let finish: &[u8] = match (missing, reply.truncated) {
        (Missing::Text, _) => b"null",
        (_, true) => br#""length""#,
        (_, false) => br#""stop""#,
    };
    out.extend_from_slice(br#","finish_reason":"#);
    out.extend_from_slice(finish);
    out.extend_from_slice(b"}]");
}

fn write_usage(
    out: &mut Vec<u8>,
    request: &Request<'_>,
    reply: &Reply,
    missing: Missing,
) -> std::io::Result<()> {
    if missing != Missing::Usage {
        let (prompt, completion) = (request.prompt_tokens, completion_tokens(reply, missing));
        let reasoning = reply.reasoning_tokens.min(completion);
        write!(
            out,
            r#","usage":{{"prompt_tokens":{prompt},"completion_tokens":{completion},"total_tokens":{},"completion_tokens_details":{{"reasoning_tokens":{reasoning}}}}}"#,
            prompt + completion,
        )?;
    }
    out.push(b'}');
    Ok(())
}

fn completion_tokens(reply: &Reply, missing: Missing) -> u32 {
    if missing == Missing::Text { 0 } else { reply.completion_tokens }
}

/// A word of the content and its log-probability.
struct Token<'a> {
    text: &'a str,
    logprob: f64,
}

/// The tokens of the content, each with the white space before it.
///
/// The first token of the answer has the model's confidence as its probability and the others have probability 1, so
/// that the probability of the whole answer is the probability that it is correct.
fn tokens(reply: &Reply) -> Vec<Token<'_>> {
    const TEXT_LOGPROB: f64 = -0.05;
    let mut tokens = Vec::new();
    if !reply.thinks {
        tokens.extend(words(&reply.text.reasoning).map(|(_, text)| Token { text, logprob: TEXT_LOGPROB }));
    }
    let mut started = false;
    tokens.extend(words(&reply.text.closing).map(|(end, text)| {
        let in_answer = end > reply.answer.start && end - text.len() < reply.answer.end;
        let first = in_answer && !std::mem::replace(&mut started, in_answer);
        let logprob = match (in_answer, first) {
            (true, true) => reply.confidence.ln(),
            (true, false) => 0.0,
            (false, _) => TEXT_LOGPROB,
        };
        Token { text, logprob }
    }));
    tokens
}

/// The words of a text, each with the white space before it, and the position where it ends.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let ends = text.match_indices([' ', '\n']).map(|(end, _)| end).chain([text.len()]);
    ends.scan(0, |start, end| {
        let word = &text[*start..end];
        *start = end;
        Some((end, word))
    })
    .filter(|(_, word)| !word.is_empty())
}

/// An error, written in the format of the requested API.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ErrorBody<'a> {
    pub(crate) message: &'a str,
    /// The error type in OpenAI's format.
    pub(crate) kind: &'static str,
    /// The error type in Anthropic's format.
    pub(crate) anthropic_kind: &'static str,
    pub(crate) param: Option<&'static str>,
    pub(crate) code: Option<&'static str>,
}

impl ErrorBody<'_> {
    pub(crate) fn write(&self, api: Api) -> Vec<u8> {
        let body = match api {
            Api::Messages => {
                json!({ "type": "error", "error": { "type": self.anthropic_kind, "message": self.message } })
            }
            Api::Chat | Api::Text => json!({ "error": {
                "message": self.message, "type": self.kind, "param": self.param, "code": self.code,
            } }),
        };
        body.to_string().into_bytes()
    }
}

/// The error of a content filter, as worded by Azure.
pub(crate) fn filtered(api: Api) -> Vec<u8> {
    ErrorBody {
        message: "The response was filtered due to the prompt triggering the content management policy.",
        kind: "invalid_request_error",
        anthropic_kind: "invalid_request_error",
        param: Some("prompt"),
        code: Some("content_filter"),
    }
    .write(api)
}

/// The error for a prompt that does not fit the context, as worded by OpenAI, llama.cpp and Anthropic.
pub(crate) fn overflow(api: Api, tokens: u32, as_llama_cpp: bool) -> Vec<u8> {
    // The fault is injected whatever the length of the prompt, so report a length that exceeds the context.
    let tokens = tokens + CONTEXT_TOKENS;
    if api == Api::Messages {
        let message = format!("prompt is too long: {tokens} tokens > {CONTEXT_TOKENS} maximum");
        let kind = "invalid_request_error";
        return ErrorBody { message: &message, kind, anthropic_kind: kind, param: None, code: None }
            .write(api);
    }
    if as_llama_cpp {
        let error = json!({
            "code": 400,
            "message": "the request exceeds the available context size, try increasing it",
            "type": "exceed_context_size_error",
            "n_prompt_tokens": tokens,
            "n_ctx": CONTEXT_TOKENS,
        });
        return json!({ "error": error }).to_string().into_bytes();
    }
    let message = format!(
        "This model's maximum context length is {CONTEXT_TOKENS} tokens. However, your messages resulted in {tokens} \
         tokens. Please reduce the length of the messages."
    );
    ErrorBody {
        message: &message,
        kind: "invalid_request_error",
        anthropic_kind: "invalid_request_error",
        param: Some("messages"),
        code: Some("context_length_exceeded"),
    }
    .write(api)
}
