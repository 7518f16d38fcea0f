//! Prompts and answers that do not fit the context.

use reasonscape_providers::Provider;
use serde_json::json;

use crate::{CHAT, parse_error};

#[test]
fn exhausted_context_is_a_truncated_answer() {
    for (provider, status, body) in [
        // llama-cpp-python
        (
            CHAT,
            400,
            json!({ "error": { "message": "This model's maximum context length is 512 tokens, however you requested 740 tokens (484 in the messages, 256 in the completion). Please reduce the length of the messages or completion.", "type": "invalid_request_error", "param": "messages", "code": "context_length_exceeded" } }),
        ),
        // llama-server
        (
            CHAT,
            400,
            json!({ "error": { "code": 400, "message": "request (6001 tokens) exceeds the available context size (4096 tokens), try increasing it", "type": "exceed_context_size_error", "n_prompt_tokens": 6001, "n_ctx": 4096 } }),
        ),
        // vLLM, older and newer
        (
            CHAT,
            400,
            json!({ "object": "error", "message": "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (3000 in the messages, 2000 in the completion). Please reduce the length of the messages or completion.", "type": "BadRequestError", "param": null, "code": 400 }),
        ),
        (
            CHAT,
            400,
            json!({ "error": { "message": "'max_tokens' or 'max_completion_tokens' is too large: 2048. This model's maximum context length is 4096 tokens and your request has 3500 input tokens (2048 > 4096 - 3500).", "type": "BadRequestError", "param": null, "code": 400 } }),
        ),
        (Provider::OpenAiText, 413, json!({ "error": "prompt is too long: 9000 tokens" })),
        (
            Provider::Anthropic,
            400,
            json!({ "type": "error", "error": { "type": "invalid_request_error", "message": "prompt is too long: 210000 tokens > 200000 maximum" } }),
        ),
        (
            Provider::Anthropic,
            400,
            json!({ "type": "error", "error": { "type": "invalid_request_error", "message": "input length and `max_tokens` exceed context limit: 190000 + 16384 > 200000, decrease input length or `max_tokens` and try again" } }),
        ),
    ] {
        let body = body.to_string();
        // The body alone says so too, for whoever stored it without its status.
        for status in [status, 200] {
            let completion =
                provider.parse(status, body.as_bytes()).unwrap_or_else(|problem| panic!("{problem}\n{body}"));
            assert!(completion.is_truncated() && completion.is_cacheable(), "{body}");
            assert_eq!(completion.content, "");
        }
    }
}

#[test]
fn max_tokens_larger_than_the_context_is_refused() {
    for message in [
        "'max_tokens' or 'max_completion_tokens' is too large: 16384. This model's maximum context length is 8192 tokens and your request has 100 input tokens (16384 > 8192 - 100).",
        "This model's maximum context length is 2048 tokens, however you requested 2148 tokens (100 in the messages, 2048 in the completion).",
    ] {
        let body = json!({ "error": { "message": message, "type": "invalid_request_error" } }).to_string();
        let problem = parse_error(CHAT, 400, &body);
        assert!(!problem.is_retryable(), "{problem}");
    }
    let per_minute = json!({ "error": { "message": "Request too large for model `x` on tokens per minute (TPM): Limit 6000, Requested 9000; prompt is too long", "code": "rate_limit_exceeded" } });
    assert!(!parse_error(CHAT, 413, &per_minute.to_string()).is_retryable());
}
