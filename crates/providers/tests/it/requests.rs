//! Requests as they are sent.

use reasonscape_providers::{ApiKey, Message, Provider, Role};
use serde_json::json;

use crate::CHAT;

fn conversation() -> Vec<Message> {
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
        CHAT.payload("m", &conversation(), &params),
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
        Provider::OpenAiText.payload("m", &conversation(), &params),
        json!({
            "model": "m", "temperature": 0.7, "top_p": 0.95, "max_tokens": 2048,
            "prompt": "Be brief.\n\n6 x 7 < \"50\"?\n\nIt",
        })
    );
    assert_eq!(
        Provider::Anthropic.payload("m", &conversation(), &params),
        json!({
            "model": "m", "temperature": 0.7, "top_p": 0.95, "max_tokens": 2048, "system": "Be brief.",
            "messages": [
                { "role": "user", "content": "6 x 7 < \"50\"?" },
                { "role": "assistant", "content": "It" },
            ],
        })
    );
    let no_system = Provider::Anthropic.payload("m", &conversation()[1..], &params);
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
