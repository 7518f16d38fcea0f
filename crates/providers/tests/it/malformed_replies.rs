//! Replies that are incomplete, almost JSON, or of the wrong types.

use proptest::prelude::*;
use reasonscape_providers::{Finish, Provider, ReplyError};
use serde_json::{Value, json};

use crate::{CHAT, parse_error, parse_ok};

#[test]
fn unreadable_replies_are_retryable() {
    let complete = r#"{"choices": [{"message": {"content": "42"}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 1}}"#;
    for cut in 0..complete.len() {
        let problem = parse_error(CHAT, 200, &complete[..cut]);
        assert!(problem.is_retryable(), "{problem}");
    }
    for (body, says) in [
        ("", "is empty"),
        ("<!DOCTYPE html><html>", "is a page of HTML"),
        ("data: {\"choices\": []}\n\n", "is a stream of events"),
        ("{\"choices\": [", "ends in the middle"),
        ("{\"choices\": ]}", "is not JSON (line 1, column 13)"),
        ("[1, 2]", "is JSON, but no object"),
        ("\"text\"", "is JSON, but no object"),
        ("{}", "has no choices and no error"),
        ("{\"choices\": []}", "has no choices and no error"),
        ("{\"choices\": null, \"error\": null}", "has no choices and no error"),
        ("{\"choices\": [null]}", "has no choices and no error"),
    ] {
        let problem = parse_error(CHAT, 200, body);
        assert!(problem.is_retryable() && problem.to_string().contains(says), "{problem}");
    }
    for body in [
        r#"{"choices": [{}]}"#,
        r#"{"choices": [{"message": {"content": null}, "finish_reason": null}]}"#,
        r#"{"choices": [{"message": {"content": "  "}, "finish_reason": ""}]}"#,
        r#"{"choices": [{"message": null, "finish_reason": 7}]}"#,
    ] {
        assert_eq!(parse_error(CHAT, 200, body), ReplyError::Empty, "{body}");
    }
}

#[test]
fn empty_answer_with_a_finish_reason_is_an_answer() {
    let completion =
        parse_ok(CHAT, &json!({ "choices": [{ "message": { "content": null }, "finish_reason": "stop" }] }));
    assert_eq!((completion.content.as_str(), completion.is_cacheable()), ("", true));
    let completion = parse_ok(CHAT, &json!({ "choices": [{ "message": { "content": "42" } }] }));
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
            assert_eq!(parse_ok(CHAT, &body).content, "42", "{body}");
        }
    }
    for field in ["logprobs", "text", "index"] {
        for wrong in [json!(null), json!(3), json!([1]), json!({ "content": 7, "tokens": "x" }), json!(true)]
        {
            let body = json!({ "choices": [{ "message": { "content": "42" }, "finish_reason": "stop", field: wrong }] });
            assert_eq!(parse_ok(CHAT, &body).content, "42", "{body}");
        }
    }
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

/// Bytes, text, and JSON with known keys and values in unexpected places.
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
        let completion = parse_ok(CHAT, &json!({ "choices": [{ "message": message, "finish_reason": "stop" }] }));
        prop_assert_eq!(completion.content, content);
        prop_assert_eq!(completion.reasoning, Some(reasoning).filter(|reasoning| !reasoning.trim().is_empty()));
    }
}
