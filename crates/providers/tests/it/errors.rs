//! Errors: which are retried, what they say, and what they must not show.

use reasonscape_providers::{ApiKey, Finish, Provider};
use serde_json::json;

use crate::{CHAT, parse_error, parse_ok};

#[test]
fn content_filter_replies_are_cacheable_refusals() {
    let completion = parse_ok(
        CHAT,
        &json!({ "choices": [{ "message": { "content": "" }, "finish_reason": "content_filter" }] }),
    );
    assert_eq!(completion.finish, Finish::ContentFilter);
    assert!(completion.is_cacheable() && !completion.is_truncated());
    let azure = json!({ "error": { "message": "The response was filtered", "type": null, "param": "prompt", "code": "content_filter", "status": 400, "innererror": { "code": "ResponsibleAIPolicyViolation" } } });
    let completion = CHAT.parse(400, azure.to_string().as_bytes()).unwrap();
    assert_eq!(completion.finish, Finish::ContentFilter);
}

#[test]
fn statuses_decide_whether_to_retry() {
    for status in [408, 409, 425, 429, 500, 502, 503, 504, 520, 524, 529] {
        let problem = parse_error(CHAT, status, r#"{"error": {"message": "later"}}"#);
        assert!(problem.is_retryable(), "{problem}");
        assert_eq!(problem.is_overload(), [429, 503, 529].contains(&status), "{problem}");
        assert!(problem.to_string().contains(&format!("(HTTP {status}): later")), "{problem}");
    }
    for status in [301, 400, 401, 402, 403, 404, 405, 413, 415, 422, 501, 505] {
        let problem = parse_error(CHAT, status, r#"{"error": {"message": "never"}}"#);
        assert!(!problem.is_retryable() && !problem.is_overload(), "{problem}");
    }
    let quota = r#"{"error": {"message": "You exceeded your current quota", "type": "insufficient_quota", "code": "insufficient_quota"}}"#;
    assert!(!parse_error(CHAT, 429, quota).is_retryable());
    assert!(
        parse_error(CHAT, 400, r#"{"error": {"message": "use 'max_completion_tokens' instead"}}"#)
            .to_string()
            .contains("set `max_tokens_field")
    );
}

#[test]
fn finds_the_message_in_every_shape_of_error_body() {
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
        let shown = parse_error(CHAT, 403, body).to_string();
        assert!(shown.contains(&format!("(HTTP 403): {says};")), "{shown}");
    }
}

#[test]
fn detects_errors_inside_a_200_reply() {
    for (body, retryable) in [
        (r#"{"error": {"message": "Rate limit exceeded", "code": 429}}"#, true),
        (r#"{"error": {"message": "no such model", "code": 404}, "user_id": "u"}"#, false),
        (r#"{"error": {"message": "wrong", "type": "invalid_request_error"}}"#, false),
        (r#"{"error": {"message": "sorry", "type": "server_error"}}"#, true),
        (r#"{"error": "something"}"#, true),
        (r#"{"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}"#, true),
    ] {
        for provider in [CHAT, Provider::OpenAiText, Provider::Anthropic] {
            assert_eq!(parse_error(provider, 200, body).is_retryable(), retryable, "{body}");
        }
    }
    let upstream =
        r#"{"choices": [{"message": {"content": "4"}, "finish_reason": "error", "error": {"code": 502}}]}"#;
    assert!(parse_error(CHAT, 200, upstream).is_retryable());
}

#[test]
fn redacts_keys_repeated_by_the_provider() {
    let body =
        r#"{"error": {"message": "Incorrect API key provided: sk-proj-tea4two4two. Bearer tea4two4you"}}"#;
    let problem = parse_error(CHAT, 401, body).without(&ApiKey::new("tea4two4you"));
    assert!(!format!("{problem} {problem:?}").contains("tea4two"), "{problem}");
    let long = format!(r#"{{"error": {{"message": "{}"}}}}"#, "x ".repeat(1_000_000));
    assert!(CHAT.parse(500, long.as_bytes()).unwrap_err().to_string().len() < 500);
}
