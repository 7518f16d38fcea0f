//! Replies of OpenAI and of the servers that imitate its API.

use reasonscape_providers::{Completion, Finish, Provider, TokenLogprob, Usage};
use serde_json::{Value, json};

use crate::{CHAT, parse_ok, usage};

#[test]
fn parses_openai_chat_completions() {
    let completion = parse_ok(
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
            has_implausible_usage: false,
        }
    );
}

#[test]
fn parses_openai_logprobs_and_refusals() {
    let completion = parse_ok(
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
    let refusal = parse_ok(CHAT, &json!({ "choices": [{ "message": message, "finish_reason": "stop" }] }));
    assert_eq!((refusal.content.as_str(), refusal.finish), ("I cannot help with that.", Finish::Stop));
}

/// The same reasoning under the names that servers have for it.
#[test]
fn reads_reasoning_under_every_field_name() {
    let message = |name: &str, value: Value| {
        let message = json!({ "role": "assistant", "content": "42", name: value });
        parse_ok(CHAT, &json!({ "choices": [{ "index": 0, "message": message, "finish_reason": "stop" }] }))
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
    let completion = parse_ok(
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
fn parses_llama_server_and_llama_cpp_python_replies() {
    let server = parse_ok(
        CHAT,
        &json!({
            "choices": [{ "finish_reason": "stop", "index": 0, "message": { "role": "assistant", "content": "14" } }],
            "created": 1, "model": "smollm2", "system_fingerprint": "b6900-abc", "object": "chat.completion",
            "usage": { "completion_tokens": 3, "prompt_tokens": 40, "total_tokens": 43 }, "id": "chatcmpl-x",
            "timings": { "cache_n": 0, "prompt_n": 40, "prompt_ms": 70.1, "predicted_n": 3, "predicted_ms": 40.5 },
        }),
    );
    assert_eq!((server.content.as_str(), server.usage), ("14", usage(40, 3, None)));
    let python = parse_ok(
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
fn parses_replies_of_other_openai_compatible_servers() {
    let reply = |message: Value, finish: &str, usage: Value| {
        parse_ok(
            CHAT,
            &json!({ "choices": [{ "index": 0, "message": message, "finish_reason": finish }], "usage": usage }),
        )
    };
    let openrouter = parse_ok(
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

    let tgi = parse_ok(
        CHAT,
        &json!({ "choices": [{ "message": { "role": "assistant", "content": "42" }, "finish_reason": "eos_token" }] }),
    );
    assert_eq!(tgi.finish, Finish::Stop);
}

#[test]
fn implausible_token_counts_are_absent() {
    let reply = |prompt: Value, completion: Value, reasoning: Value| {
        let details = json!({ "reasoning_tokens": reasoning });
        let usage = json!({ "prompt_tokens": prompt, "completion_tokens": completion, "completion_tokens_details": details });
        let choice = json!({ "message": { "content": "42" }, "finish_reason": "stop" });
        parse_ok(CHAT, &json!({ "choices": [choice], "usage": usage }))
    };
    let most = Usage::MAX_TOKENS;
    let completion = reply(json!(7), json!(most), json!(most));
    assert_eq!((completion.usage, completion.has_implausible_usage), (usage(7, most, Some(most)), false));
    for absurd in [json!(most + 1), json!(9_000_000_000_000_000_000_u64), json!(u64::MAX), json!(1e12)] {
        let completion = reply(json!(7), absurd.clone(), json!(3));
        let expected = Usage { prompt_tokens: Some(7), completion_tokens: None, reasoning_tokens: Some(3) };
        assert_eq!((completion.usage, completion.has_implausible_usage), (expected, true), "{absurd}");
        assert_eq!(completion.content, "42", "the answer counts");
    }
}

#[test]
fn an_error_beside_choices_is_an_error_when_it_arrives() {
    let choice = json!({ "message": { "content": "42" }, "finish_reason": "stop" });
    let body = |error: Value| json!({ "choices": [choice], "error": error }).to_string().into_bytes();
    for (error, is_retryable) in [
        (json!({ "message": "upstream lost", "code": 502 }), true),
        (json!({ "message": "slow down", "type": "rate_limit_exceeded" }), true),
        (json!("the backend is gone"), true),
        (json!({ "message": "no such key", "code": 401 }), false),
    ] {
        let problem = CHAT.parse_received(200, &body(error.clone())).unwrap_err();
        assert_eq!(problem.is_retryable(), is_retryable, "{error}: {problem}");
        // What is stored already was accepted, and keeps its verdict.
        assert_eq!(CHAT.parse(200, &body(error)).unwrap().content, "42");
    }
    for nothing in [json!(null), json!(""), json!({}), json!(false)] {
        assert_eq!(CHAT.parse_received(200, &body(nothing)).unwrap().content, "42");
    }
}
