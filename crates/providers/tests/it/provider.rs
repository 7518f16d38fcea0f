//! Providers: requests as they are sent, and replies in the shapes that servers really send.

use proptest::prelude::*;
use reasonscape_providers::{
    ApiKey, Completion, Finish, Message, Provider, ReplyError, Role, TokenLogprob, Usage,
};
use serde_json::{Value, json};

const CHAT: Provider = Provider::OpenAiChat;

fn ok(provider: Provider, body: &Value) -> Completion {
    provider.parse(200, body.to_string().as_bytes()).unwrap_or_else(|problem| panic!("{problem}\n{body}"))
}

fn problem(provider: Provider, status: u16, body: &str) -> ReplyError {
    provider.parse(status, body.as_bytes()).expect_err(body)
}

fn usage(prompt: u64, completion: u64, reasoning: Option<u64>) -> Usage {
    Usage { prompt_tokens: Some(prompt), completion_tokens: Some(completion), reasoning_tokens: reasoning }
}

fn talk() -> Vec<Message> {
    let message = |role, content: &str| Message { role, content: content.to_owned() };
    vec![
        message(Role::System, "Be brief."),
        message(Role::User, "6 x 7 < \"50\"?"),
        message(Role::Assistant, "It"),
    ]
}

#[test]
fn payloads_are_complete_requests() {
    let params = json!({ "temperature": 0.7, "top_p": 0.95, "max_tokens": 2048 });
    let params = params.as_object().unwrap().clone();
    assert_eq!(
        CHAT.payload("m", &talk(), &params),
        json!({
            "model": "m", "temperature": 0.7, "top_p": 0.95, "max_tokens": 2048,
            "messages": [
                { "role": "system", "content": "Be brief." },
                { "role": "user", "content": "6 x 7 < \"50\"?" },
                { "role": "assistant", "content": "It" },
            ],
        })
    );
    assert_eq!(
        Provider::OpenAiText.payload("m", &talk(), &params),
        json!({
            "model": "m", "temperature": 0.7, "top_p": 0.95, "max_tokens": 2048,
            "prompt": "Be brief.\n\n6 x 7 < \"50\"?\n\nIt",
        })
    );
    assert_eq!(
        Provider::Anthropic.payload("m", &talk(), &params),
        json!({
            "model": "m", "temperature": 0.7, "top_p": 0.95, "max_tokens": 2048, "system": "Be brief.",
            "messages": [
                { "role": "user", "content": "6 x 7 < \"50\"?" },
                { "role": "assistant", "content": "It" },
            ],
        })
    );
    let no_system = Provider::Anthropic.payload("m", &talk()[1..], &params);
    assert_eq!(no_system.get("system"), None);
}

#[test]
fn endpoints_and_headers_match_the_api() {
    for base_url in ["http://h/v1", "http://h/v1/"] {
        assert_eq!(CHAT.endpoint(base_url), "http://h/v1/chat/completions");
        assert_eq!(Provider::OpenAiText.endpoint(base_url), "http://h/v1/completions");
        assert_eq!(Provider::Anthropic.endpoint(base_url), "http://h/v1/messages");
    }
    let key = ApiKey::new("tea4two");
    let value = |provider: Provider, name: &str| {
        let headers = provider.headers(Some(&key));
        assert!(!format!("{headers:?}").contains("tea4two"));
        headers.into_iter().find(|header| header.name == name).map(|header| header.value.expose().to_owned())
    };
    assert_eq!(value(CHAT, "authorization").as_deref(), Some("Bearer tea4two"));
    assert_eq!(value(Provider::Anthropic, "x-api-key").as_deref(), Some("tea4two"));
    assert_eq!(value(Provider::Anthropic, "authorization"), None);
    assert_eq!(CHAT.headers(None).len(), 1);
}

#[test]
fn openai() {
    let completion = ok(
        CHAT,
        &json!({
            "id": "chatcmpl-1", "object": "chat.completion", "created": 1_741_569_952, "model": "gpt-5-mini-2025-08-07",
            "choices": [{
                "index": 0,
                "message": { "role": "assistant", "content": "Answer: 42", "refusal": null, "annotations": [] },
                "logprobs": null, "finish_reason": "stop",
            }],
            "usage": {
                "prompt_tokens": 19, "completion_tokens": 210, "total_tokens": 229,
                "prompt_tokens_details": { "cached_tokens": 0, "audio_tokens": 0 },
                "completion_tokens_details": { "reasoning_tokens": 192, "accepted_prediction_tokens": 0 },
            },
            "service_tier": "default", "system_fingerprint": null,
        }),
    );
    assert_eq!(
        completion,
        Completion {
            content: "Answer: 42".into(),
            reasoning: None,
            finish: Finish::Stop,
            usage: usage(19, 210, Some(192)),
            logprobs: None,
            model: Some("gpt-5-mini-2025-08-07".into()),
        }
    );
}

#[test]
fn openai_with_logprobs_and_a_refusal() {
    let completion = ok(
        CHAT,
        &json!({ "choices": [{
            "message": { "role": "assistant", "content": "42" },
            "logprobs": { "content": [
                { "token": "4", "logprob": -0.25, "bytes": [52], "top_logprobs": [{ "token": "5", "logprob": -2 }] },
                { "token": "2", "logprob": -1, "bytes": null, "top_logprobs": [] },
            ], "refusal": null },
            "finish_reason": "stop",
        }] }),
    );
    let token = |token: &str, logprob| TokenLogprob { token: token.to_owned(), logprob };
    assert_eq!(completion.logprobs, Some(vec![token("4", -0.25), token("2", -1.0)]));
    assert_eq!(completion.usage, Usage::default());

    let message = json!({ "role": "assistant", "content": null, "refusal": "I cannot help with that." });
    let refusal = ok(CHAT, &json!({ "choices": [{ "message": message, "finish_reason": "stop" }] }));
    assert_eq!((refusal.content.as_str(), refusal.finish), ("I cannot help with that.", Finish::Stop));
}

/// The same thoughts under the names that servers have for them.
#[test]
fn reads_reasoning_under_every_field_name() {
    let message = |name: &str, value: Value| {
        let message = json!({ "role": "assistant", "content": "42", name: value });
        ok(CHAT, &json!({ "choices": [{ "index": 0, "message": message, "finish_reason": "stop" }] }))
    };
    for (name, value) in [
        ("reasoning_content", json!("six sevens")), // DeepSeek, vLLM, llama.cpp
        ("reasoning", json!("six sevens")),         // OpenRouter, Ollama
        ("thinking", json!("six sevens")),
        ("reasoning_details", json!([{ "type": "reasoning.text", "text": "six sevens", "signature": null }])),
        ("reasoning_details", json!([{ "type": "reasoning.summary", "summary": "six sevens" }])),
        ("reasoning", json!([{ "type": "text", "text": "six sevens" }])),
        ("reasoning", json!({ "text": "six sevens" })),
    ] {
        let completion = message(name, value);
        assert_eq!(completion.reasoning.as_deref(), Some("six sevens"), "{name}");
        assert_eq!(completion.content, "42");
    }
    for blank in [
        json!(null),
        json!(""),
        json!(" \n"),
        json!([]),
        json!(7),
        json!([{ "type": "reasoning.encrypted", "data": "x" }]),
    ] {
        assert_eq!(message("reasoning", blank).reasoning, None);
    }
}

#[test]
fn vllm_duplicated_reasoning_is_read_once() {
    let completion = ok(
        CHAT,
        &json!({
            "id": "chatcmpl-2", "object": "chat.completion", "created": 1, "model": "Qwen/Qwen3-8B",
            "choices": [{
                "index": 0,
                "message": {
                    "role": "assistant", "content": null, "refusal": null, "annotations": null, "audio": null,
                    "function_call": null, "tool_calls": [],
                    "reasoning": "Six times seven is", "reasoning_content": "Six times seven is",
                },
                "logprobs": null, "finish_reason": "length", "stop_reason": null, "token_ids": null,
            }],
            "service_tier": null, "system_fingerprint": null,
            "usage": { "prompt_tokens": 33, "total_tokens": 2081, "completion_tokens": 2048, "prompt_tokens_details": null },
            "prompt_logprobs": null, "prompt_token_ids": null, "kv_transfer_params": null,
        }),
    );
    assert_eq!(
        (completion.content.as_str(), completion.reasoning.as_deref()),
        ("", Some("Six times seven is"))
    );
    assert!(completion.is_truncated() && completion.is_cacheable());
    assert_eq!(completion.usage, usage(33, 2048, None));
}

#[test]
fn llama_cpp_in_both_dialects() {
    let server = ok(
        CHAT,
        &json!({
            "choices": [{ "finish_reason": "stop", "index": 0, "message": { "role": "assistant", "content": "14" } }],
            "created": 1, "model": "smollm2", "system_fingerprint": "b6900-abc", "object": "chat.completion",
            "usage": { "completion_tokens": 3, "prompt_tokens": 40, "total_tokens": 43 }, "id": "chatcmpl-x",
            "timings": { "cache_n": 0, "prompt_n": 40, "prompt_ms": 70.1, "predicted_n": 3, "predicted_ms": 40.5 },
        }),
    );
    assert_eq!((server.content.as_str(), server.usage), ("14", usage(40, 3, None)));
    let python = ok(
        Provider::OpenAiText,
        &json!({
            "id": "cmpl-x", "object": "text_completion", "created": 1, "model": "smollm2",
            "choices": [{ "text": " 14", "index": 0, "logprobs": {
                "tokens": [" ", "14"], "text_offset": [0, 1], "token_logprobs": [null, -0.5], "top_logprobs": [null, {}],
            }, "finish_reason": "length" }],
            "usage": { "prompt_tokens": 12, "completion_tokens": 2, "total_tokens": 14 },
        }),
    );
    assert_eq!((python.content.as_str(), python.finish.clone()), (" 14", Finish::Length));
    assert_eq!(python.logprobs, Some(vec![TokenLogprob { token: "14".into(), logprob: -0.5 }]));
}

#[test]
fn other_openai_compatible_servers() {
    let reply = |message: Value, finish: &str, usage: Value| {
        ok(
            CHAT,
            &json!({ "choices": [{ "index": 0, "message": message, "finish_reason": finish }], "usage": usage }),
        )
    };
    let openrouter = ok(
        CHAT,
        &json!({
            "id": "gen-1", "provider": "Groq", "model": "openai/gpt-oss-20b", "object": "chat.completion", "created": 1,
            "choices": [{
                "logprobs": null, "finish_reason": "stop", "native_finish_reason": "stop", "index": 0,
                "message": {
                    "role": "assistant", "content": "42", "refusal": null, "reasoning": "six sevens",
                    "reasoning_details": [{ "type": "reasoning.text", "text": "six sevens", "format": "unknown", "index": 0 }],
                },
            }],
            "usage": {
                "prompt_tokens": 80, "completion_tokens": 40, "total_tokens": 120, "cost": 0.000_02, "is_byok": false,
                "completion_tokens_details": { "reasoning_tokens": 30, "image_tokens": 0 },
            },
        }),
    );
    assert_eq!(
        (openrouter.reasoning.as_deref(), openrouter.usage),
        (Some("six sevens"), usage(80, 40, Some(30)))
    );

    let deepseek = reply(
        json!({ "role": "assistant", "content": "42", "reasoning_content": "six sevens" }),
        "stop",
        json!({
            "prompt_tokens": 20, "completion_tokens": 90, "total_tokens": 110, "prompt_cache_hit_tokens": 0,
            "prompt_cache_miss_tokens": 20, "completion_tokens_details": { "reasoning_tokens": 80 },
        }),
    );
    assert_eq!(deepseek.usage, usage(20, 90, Some(80)));

    let ollama = reply(
        json!({ "role": "assistant", "content": "<think>\nsix sevens\n</think>\n\n42" }),
        "stop",
        json!({ "prompt_tokens": 26, "completion_tokens": 9, "total_tokens": 35 }),
    );
    assert_eq!((ollama.content.as_str(), ollama.reasoning), ("<think>\nsix sevens\n</think>\n\n42", None));

    let lm_studio = reply(
        json!({ "role": "assistant", "content": "42", "reasoning_content": "", "tool_calls": [] }),
        "stop",
        json!({ "prompt_tokens": 5.0, "completion_tokens": "9", "completion_tokens_details": null }),
    );
    assert_eq!((lm_studio.reasoning, lm_studio.usage.prompt_tokens), (None, Some(5)));
    assert_eq!(lm_studio.usage.completion_tokens, None);

    let mistral = reply(
        json!({ "role": "assistant", "content": [
            { "type": "thinking", "thinking": [{ "type": "text", "text": "six sevens" }], "closed": true },
            { "type": "text", "text": "42" },
        ] }),
        "model_length",
        json!(null),
    );
    assert_eq!((mistral.content.as_str(), mistral.reasoning.as_deref()), ("42", Some("six sevens")));
    assert!(mistral.is_truncated());

    let tgi = ok(
        CHAT,
        &json!({ "choices": [{ "message": { "role": "assistant", "content": "42" }, "finish_reason": "eos_token" }] }),
    );
    assert_eq!(tgi.finish, Finish::Stop);
}

#[test]
fn anthropic() {
    let completion = ok(
        Provider::Anthropic,
        &json!({
            "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5-20250929",
            "content": [
                { "type": "thinking", "thinking": "six sevens", "signature": "EqQB..." },
                { "type": "redacted_thinking", "data": "EmwKAhgB..." },
                { "type": "text", "text": "Answer: " }, { "type": "text", "text": "42", "citations": null },
            ],
            "stop_reason": "end_turn", "stop_sequence": null,
            "usage": {
                "input_tokens": 10, "cache_creation_input_tokens": 5, "cache_read_input_tokens": 100,
                "output_tokens": 60, "service_tier": "standard",
            },
        }),
    );
    assert_eq!(
        (completion.content.as_str(), completion.reasoning.as_deref()),
        ("Answer: 42", Some("six sevens"))
    );
    assert_eq!((completion.finish, completion.usage), (Finish::Stop, usage(115, 60, None)));

    let stopped = |reason: Value| {
        ok(Provider::Anthropic, &json!({ "type": "message", "content": [], "stop_reason": reason })).finish
    };
    assert_eq!(stopped(json!("max_tokens")), Finish::Length);
    assert_eq!(stopped(json!("model_context_window_exceeded")), Finish::Length);
    assert_eq!(stopped(json!("refusal")), Finish::ContentFilter);
    assert_eq!(stopped(json!("stop_sequence")), Finish::Stop);
    assert_eq!(stopped(json!("pause_turn")), Finish::Other("pause_turn".into()));
    let silent =
        problem(Provider::Anthropic, 200, r#"{"type": "message", "content": [], "stop_reason": null}"#);
    assert_eq!(silent, ReplyError::Empty);
}

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
        let problem = problem(CHAT, 400, &body);
        assert!(!problem.is_retryable(), "{problem}");
    }
    let per_minute = json!({ "error": { "message": "Request too large for model `x` on tokens per minute (TPM): Limit 6000, Requested 9000; prompt is too long", "code": "rate_limit_exceeded" } });
    assert!(!problem(CHAT, 413, &per_minute.to_string()).is_retryable());
}

#[test]
fn content_filter_replies_are_not_cacheable() {
    let completion = ok(
        CHAT,
        &json!({ "choices": [{ "message": { "content": "" }, "finish_reason": "content_filter" }] }),
    );
    assert_eq!(completion.finish, Finish::ContentFilter);
    assert!(!completion.is_cacheable());
    let azure = json!({ "error": { "message": "The response was filtered", "type": null, "param": "prompt", "code": "content_filter", "status": 400, "innererror": { "code": "ResponsibleAIPolicyViolation" } } });
    let completion = CHAT.parse(400, azure.to_string().as_bytes()).unwrap();
    assert_eq!(completion.finish, Finish::ContentFilter);
}

#[test]
fn statuses_decide_whether_to_retry() {
    for status in [408, 409, 425, 429, 500, 502, 503, 504, 520, 524, 529] {
        let problem = problem(CHAT, status, r#"{"error": {"message": "later"}}"#);
        assert!(problem.is_retryable(), "{problem}");
        assert_eq!(problem.is_overload(), [429, 503, 529].contains(&status), "{problem}");
        assert!(problem.to_string().contains(&format!("(HTTP {status}): later")), "{problem}");
    }
    for status in [301, 400, 401, 402, 403, 404, 405, 413, 415, 422, 501, 505] {
        let problem = problem(CHAT, status, r#"{"error": {"message": "never"}}"#);
        assert!(!problem.is_retryable() && !problem.is_overload(), "{problem}");
    }
    let quota = r#"{"error": {"message": "You exceeded your current quota", "type": "insufficient_quota", "code": "insufficient_quota"}}"#;
    assert!(!problem(CHAT, 429, quota).is_retryable());
    assert!(
        problem(CHAT, 400, r#"{"error": {"message": "use 'max_completion_tokens' instead"}}"#)
            .to_string()
            .contains("set `max_tokens_field")
    );
}

#[test]
fn errors_come_in_many_shapes() {
    for (body, says) in [
        (r#"{"error": {"message": "bad", "type": "x"}}"#, "bad"),
        (r#"{"error": "bad"}"#, "bad"),
        (r#"{"object": "error", "message": "bad", "code": 40301}"#, "bad"),
        (r#"{"detail": "bad"}"#, "bad"),
        (r#"{"detail": [{"loc": ["body", "x"], "msg": "bad", "type": "missing"}]}"#, "bad"),
        (r#"{"type": "error", "error": {"type": "invalid_request_error", "message": "bad"}}"#, "bad"),
        (
            r#"{"error": {"message": "Provider returned error", "code": 400, "metadata": {"raw": "bad", "provider_name": "x"}}}"#,
            "Provider returned error: bad",
        ),
        ("bad", "bad"),
        ("\"bad\"", "bad"),
        ("<html><head><title>403 Forbidden</title></head></html>", "a page of HTML, \"403 Forbidden\""),
        ("<html></html>", "a page of HTML or XML"),
        ("", "no message"),
        ("[]", "no message"),
        ("null", "no message"),
        ("\u{1}\u{2}bad\r\n\tworse", "bad worse"),
    ] {
        let shown = problem(CHAT, 403, body).to_string();
        assert!(shown.contains(&format!("(HTTP 403): {says};")), "{shown}");
    }
}

#[test]
fn errors_inside_a_200_reply() {
    for (body, retryable) in [
        (r#"{"error": {"message": "Rate limit exceeded", "code": 429}}"#, true),
        (r#"{"error": {"message": "no such model", "code": 404}, "user_id": "u"}"#, false),
        (r#"{"error": {"message": "wrong", "type": "invalid_request_error"}}"#, false),
        (r#"{"error": {"message": "sorry", "type": "server_error"}}"#, true),
        (r#"{"error": "something"}"#, true),
        (r#"{"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}"#, true),
    ] {
        for provider in [CHAT, Provider::OpenAiText, Provider::Anthropic] {
            assert_eq!(problem(provider, 200, body).is_retryable(), retryable, "{body}");
        }
    }
    let upstream =
        r#"{"choices": [{"message": {"content": "4"}, "finish_reason": "error", "error": {"code": 502}}]}"#;
    assert!(problem(CHAT, 200, upstream).is_retryable());
}

#[test]
fn unreadable_replies_are_retryable() {
    let whole = r#"{"choices": [{"message": {"content": "42"}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 1}}"#;
    for cut in 0..whole.len() {
        let problem = problem(CHAT, 200, &whole[..cut]);
        assert!(problem.is_retryable(), "{problem}");
    }
    for (body, says) in [
        ("", "is empty"),
        ("<!DOCTYPE html><html>", "is a page of HTML"),
        ("data: {\"choices\": []}\n\n", "is a stream of events"),
        ("{\"choices\": [", "breaks off in the middle"),
        ("{\"choices\": ]}", "is not JSON (line 1, column 13)"),
        ("[1, 2]", "is JSON, but no object"),
        ("\"text\"", "is JSON, but no object"),
        ("{}", "has no choices and no error"),
        ("{\"choices\": []}", "has no choices and no error"),
        ("{\"choices\": null, \"error\": null}", "has no choices and no error"),
        ("{\"choices\": [null]}", "has no choices and no error"),
    ] {
        let problem = problem(CHAT, 200, body);
        assert!(problem.is_retryable() && problem.to_string().contains(says), "{problem}");
    }
    for body in [
        r#"{"choices": [{}]}"#,
        r#"{"choices": [{"message": {"content": null}, "finish_reason": null}]}"#,
        r#"{"choices": [{"message": {"content": "  "}, "finish_reason": ""}]}"#,
        r#"{"choices": [{"message": null, "finish_reason": 7}]}"#,
    ] {
        assert_eq!(problem(CHAT, 200, body), ReplyError::Empty, "{body}");
    }
}

#[test]
fn empty_answer_with_a_finish_reason_is_an_answer() {
    let completion =
        ok(CHAT, &json!({ "choices": [{ "message": { "content": null }, "finish_reason": "stop" }] }));
    assert_eq!((completion.content.as_str(), completion.is_cacheable()), ("", true));
    let completion = ok(CHAT, &json!({ "choices": [{ "message": { "content": "42" } }] }));
    assert_eq!((completion.finish.clone(), completion.is_cacheable()), (Finish::Missing, true));
}

#[test]
fn repairs_almost_json() {
    let body = br#"{"choices": [{"message": {"content": "done \ud83d"}, "finish_reason": "length",
        "logprobs": {"content": [{"token": "a", "logprob": -Infinity}, {"token": "b", "logprob": -1.5}]}}],
        "usage": {"prompt_tokens": NaN}}"#;
    let completion = CHAT.parse(200, body).unwrap();
    assert_eq!((completion.content.as_str(), completion.is_truncated()), ("done \u{fffd}", true));
    assert_eq!(completion.logprobs.unwrap().len(), 1);
    let completion =
        CHAT.parse(200, b"{\"choices\": [{\"text\": \"4\xff\", \"finish_reason\": \"stop\"}]}").unwrap();
    assert_eq!(completion.content, "4\u{fffd}");
}

#[test]
fn fields_of_the_wrong_type_do_not_lose_the_answer() {
    for field in ["model", "usage", "created"] {
        for wrong in
            [json!(null), json!(3), json!(-1.5), json!("x"), json!([1]), json!({ "a": [] }), json!(true)]
        {
            let body = json!({ "choices": [{ "message": { "content": "42" }, "finish_reason": "stop" }], field: wrong });
            assert_eq!(ok(CHAT, &body).content, "42", "{body}");
        }
    }
    for field in ["logprobs", "text", "index"] {
        for wrong in [json!(null), json!(3), json!([1]), json!({ "content": 7, "tokens": "x" }), json!(true)]
        {
            let body = json!({ "choices": [{ "message": { "content": "42" }, "finish_reason": "stop", field: wrong }] });
            assert_eq!(ok(CHAT, &body).content, "42", "{body}");
        }
    }
}

#[test]
fn redacts_keys_repeated_by_the_provider() {
    let body =
        r#"{"error": {"message": "Incorrect API key provided: sk-proj-tea4two4two. Bearer tea4two4you"}}"#;
    let problem = problem(CHAT, 401, body).without(&ApiKey::new("tea4two4you"));
    assert!(!format!("{problem} {problem:?}").contains("tea4two"), "{problem}");
    let long = format!(r#"{{"error": {{"message": "{}"}}}}"#, "x ".repeat(1_000_000));
    assert!(CHAT.parse(500, long.as_bytes()).unwrap_err().to_string().len() < 500);
}

#[test]
fn rejects_deep_nesting() {
    for body in [
        "[".repeat(100_000),
        "{\"a\":".repeat(100_000),
        format!("{{\"choices\":[{{\"text\":{}", "[".repeat(100_000)),
    ] {
        for status in [200, 400] {
            assert!(CHAT.parse(status, body.as_bytes()).is_err());
        }
    }
}

/// Bytes, text, and JSON of the right words in the wrong places.
fn bodies() -> impl Strategy<Value = Vec<u8>> {
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "\\PC{0,8}".prop_map(Value::from),
        prop::sample::select(vec![
            "stop",
            "length",
            "error",
            "thinking",
            "text",
            "message",
            "content_filter"
        ])
        .prop_map(Value::from),
    ];
    let key = prop::sample::select(vec![
        "choices",
        "message",
        "content",
        "text",
        "finish_reason",
        "usage",
        "error",
        "code",
        "type",
        "stop_reason",
        "reasoning",
        "logprobs",
        "tokens",
        "token_logprobs",
        "prompt_tokens",
        "completion_tokens_details",
        "thinking",
    ]);
    let json = leaf.prop_recursive(6, 48, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((key.clone(), inner), 0..6).prop_map(|members| members
                .into_iter()
                .map(|(key, value)| (key.to_owned(), value))
                .collect()),
        ]
    });
    prop_oneof![
        prop::collection::vec(any::<u8>(), 0..200),
        "\\PC{0,200}".prop_map(String::into_bytes),
        "[\\\\\"uDdNaI8-]{0,60}".prop_map(String::into_bytes),
        json.prop_map(|json| json.to_string().into_bytes()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn parsing_never_panics(status in prop_oneof![Just(200_u16), 100..600_u16], body in bodies()) {
        for provider in [CHAT, Provider::OpenAiText, Provider::Anthropic] {
            match provider.parse(status, &body) {
                Ok(completion) => prop_assert!(completion.finish != Finish::Missing || completion.is_cacheable()),
                Err(problem) => prop_assert!(problem.to_string().chars().count() < 700, "{}", problem),
            }
        }
    }

    #[test]
    fn any_answer_round_trips(content in "\\PC{1,40}", reasoning in "\\PC{0,20}") {
        let message = json!({ "content": content, "reasoning_content": reasoning });
        let completion = ok(CHAT, &json!({ "choices": [{ "message": message, "finish_reason": "stop" }] }));
        prop_assert_eq!(completion.content, content);
        prop_assert_eq!(completion.reasoning, Some(reasoning).filter(|reasoning| !reasoning.trim().is_empty()));
    }
}
