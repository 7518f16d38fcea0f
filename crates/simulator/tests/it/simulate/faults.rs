//! Every fault as a client sees it.

use std::io::ErrorKind;
use std::time::{Duration, Instant};

use reasonscape_simulator::SimulatedServer;
use serde_json::{Value, json};

use super::{TIMEOUT, WireResponse, chat, exchange, request, send, server_with, some_tests};

const CHAT: &str = "/v1/chat/completions";

/// A server with this fault at rate 1, and a request to it.
fn faulty_server(fault: &str) -> (SimulatedServer, String) {
    let server = server_with(&format!("kinds={fault},retry-after=0.25,slow-ms=150"));
    (server, chat("sim-p1", &some_tests()[0].prompt, &json!({})).to_string())
}

/// What comes back from a server with this fault.
fn send_to_faulty_server(fault: &str) -> (SimulatedServer, WireResponse) {
    let (server, body) = faulty_server(fault);
    let wire = send(server.address(), "POST", CHAT, "", &body);
    let stats = server.stats();
    assert_eq!(stats.by_fault.get(fault), Some(&1), "{stats:?}");
    (server, wire)
}

fn error_of(wire: &WireResponse) -> Value {
    assert_eq!(wire.header("content-type"), Some("application/json"));
    wire.json()["error"].clone()
}

#[test]
fn too_many_requests_has_retry_after() {
    let wire = send_to_faulty_server("429").1;
    assert_eq!((wire.status, wire.header("retry-after")), (429, Some("0.25")));
    assert_eq!(error_of(&wire)["code"], "rate_limit_exceeded");
}

#[test]
fn server_errors_are_json() {
    for (fault, status) in [("500", 500), ("503", 503)] {
        let (server, wire) = send_to_faulty_server(fault);
        assert_eq!(wire.status, status);
        assert!(error_of(&wire)["message"].is_string());
        assert_eq!((server.stats().answered, server.stats().by_status[&status]), (0, 1));
    }
    let server = server_with("kinds=503");
    let wire = send(server.address(), "POST", "/v1/messages", "", "{}");
    assert_eq!(wire.json()["type"], "error");
    assert_eq!(wire.json()["error"]["type"], "overloaded_error");
}

#[test]
fn slow_replies_are_late_but_complete() {
    let start = Instant::now();
    let (server, wire) = send_to_faulty_server("slow");
    assert!(start.elapsed().as_millis() >= 150);
    assert_eq!(wire.json()["choices"][0]["finish_reason"], "stop");
    assert_eq!(server.stats().answered, 1);
}

#[test]
fn stall_ends_when_the_client_disconnects() {
    let (server, body) = faulty_server("stall");
    let timeout = Duration::from_millis(300);
    let (bytes, end) = exchange(server.address(), &request("POST", CHAT, "", &body), timeout);
    assert!(bytes.is_empty() && end.is_err(), "{end:?}");
    let ended = (0..6000).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        server.stats().in_flight == 0
    });
    assert!(ended, "the request is still at work a minute after its client has left");
    assert_eq!((server.stats().answered, server.stats().by_fault["stall"]), (0, 1));
}

#[test]
fn reset_closes_without_a_reply() {
    let (server, body) = faulty_server("reset");
    let (bytes, end) = exchange(server.address(), &request("POST", CHAT, "", &body), TIMEOUT);
    let closed = end.is_ok() || end.is_err_and(|error| error.kind() == ErrorKind::ConnectionReset);
    assert!(bytes.is_empty() && closed);
    let stats = server.stats();
    assert_eq!((stats.answered, stats.by_status.len(), stats.by_fault["reset"]), (0, 0, 1));
}

#[test]
fn half_body_is_shorter_than_content_length() {
    let (server, wire) = send_to_faulty_server("half");
    let promised: usize = wire.header("content-length").unwrap().parse().unwrap();
    assert_eq!((wire.status, wire.body.len()), (200, promised / 2));
    assert!(!wire.body.is_empty());
    assert_eq!(server.stats().answered, 0);
}

#[test]
fn invalid_json_has_a_complete_body() {
    let wire = send_to_faulty_server("invalid-json").1;
    let promised: usize = wire.header("content-length").unwrap().parse().unwrap();
    assert_eq!((wire.status, wire.body.len()), (200, promised));
    assert!(serde_json::from_slice::<Value>(&wire.body).is_err());
}

#[test]
fn html_page_with_either_status() {
    let server = server_with("kinds=wrong-type");
    let body = chat("sim-p1", "?", &json!({})).to_string();
    let wires: Vec<WireResponse> = (0..2).map(|_| send(server.address(), "POST", CHAT, "", &body)).collect();
    let mut statuses: Vec<u16> = wires.iter().map(|wire| wire.status).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 502]);
    for wire in wires {
        assert_eq!(wire.header("content-type"), Some("text/html; charset=utf-8"));
        assert!(wire.body.starts_with(b"<!DOCTYPE html>"));
    }
}

#[test]
fn empty_reply_has_no_finish_reason() {
    let (server, wire) = send_to_faulty_server("empty");
    let reply = wire.json();
    assert_eq!(reply["choices"][0]["message"]["content"], "");
    assert!(reply["choices"][0]["finish_reason"].is_null());
    assert_eq!(server.stats().answered, 0);

    let server = server_with("kinds=empty");
    let request =
        json!({ "model": "sim-strong", "max_tokens": 5, "messages": [{ "role": "user", "content": "?" }] });
    let reply = send(server.address(), "POST", "/v1/messages", "", &request.to_string()).json();
    assert_eq!((&reply["content"], &reply["stop_reason"]), (&json!([]), &Value::Null));
}

#[test]
fn usage_can_be_absent() {
    let (server, wire) = send_to_faulty_server("no-usage");
    let reply = wire.json();
    assert_eq!(reply.get("usage"), None);
    assert_eq!(reply["choices"][0]["finish_reason"], "stop");
    assert_eq!(server.stats().answered, 1);
}

#[test]
fn overflow_errors_follow_three_servers() {
    let server = server_with("kinds=overflow");
    let send_prompt = |path: &str, body: &Value| send(server.address(), "POST", path, "", &body.to_string());
    let replies: Vec<WireResponse> =
        ["?", "??"].map(|prompt| send_prompt(CHAT, &chat("sim-p1", prompt, &json!({})))).into();
    assert!(replies.iter().all(|wire| wire.status == 400));
    let errors: Vec<Value> = replies.iter().map(error_of).collect();
    assert!(errors.iter().any(|error| error["code"] == "context_length_exceeded"), "{errors:?}");
    assert!(errors.iter().any(|error| error["type"] == "exceed_context_size_error"), "{errors:?}");
    let request =
        json!({ "model": "sim-p1", "max_tokens": 5, "messages": [{ "role": "user", "content": "?" }] });
    let error = error_of(&send_prompt("/v1/messages", &request));
    assert!(error["message"].as_str().unwrap().starts_with("prompt is too long"), "{error}");
}

#[test]
fn overflow_depends_on_the_prompt_and_other_faults_on_the_attempt() {
    let server = server_with("rate=0.5,kinds=overflow");
    let send_prompt = |server: &SimulatedServer, prompt: &str| {
        let body = chat("sim-p1", prompt, &json!({})).to_string();
        send(server.address(), "POST", CHAT, "", &body).status
    };
    let tests = some_tests();
    let first: Vec<u16> = tests.iter().map(|test| send_prompt(&server, &test.prompt)).collect();
    let second: Vec<u16> = tests.iter().map(|test| send_prompt(&server, &test.prompt)).collect();
    assert_eq!(first, second);
    assert!(first.contains(&200) && first.contains(&400), "{first:?}");

    let server = server_with("rate=0.5,kinds=500");
    let attempts: Vec<u16> = (0..30).map(|_| send_prompt(&server, &tests[0].prompt)).collect();
    assert!(attempts.contains(&200) && attempts.contains(&500), "{attempts:?}");
}
