//! Replies of Anthropic.

use reasonscape_providers::{Finish, Provider, ReplyError};
use serde_json::{Value, json};

use crate::{parse_error, parse_ok, usage};

#[test]
fn parses_anthropic_messages() {
    let completion = parse_ok(
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
        parse_ok(Provider::Anthropic, &json!({ "type": "message", "content": [], "stop_reason": reason }))
            .finish
    };
    assert_eq!(stopped(json!("max_tokens")), Finish::Length);
    assert_eq!(stopped(json!("model_context_window_exceeded")), Finish::Length);
    assert_eq!(stopped(json!("refusal")), Finish::ContentFilter);
    assert_eq!(stopped(json!("stop_sequence")), Finish::Stop);
    assert_eq!(stopped(json!("pause_turn")), Finish::Other("pause_turn".into()));
    let silent =
        parse_error(Provider::Anthropic, 200, r#"{"type": "message", "content": [], "stop_reason": null}"#);
    assert_eq!(silent, ReplyError::Empty);
}
