//! Endpoints that will never answer: the evaluation ends early and says why and what to do.

use std::time::{Duration, Instant};

use reasonscape_runner::{EventKind, RunEvent, RunSummary};
use reasonscape_simulator::SimulateOptions;

use super::scripted_server::{ScriptedServer, completion};
use super::{POINTS, TestEnv, count, eval, run_all, serve, server};

/// Runs a study of this eval beside a good one. The bad one ends early with one reason in these words, while the good
/// one is completed.
fn assert_stops_early(bad: String, says: &[&str]) -> (RunSummary, Vec<RunEvent>) {
    let (env, good) = (TestEnv::new(), server(""));
    let study = env.study("", &[bad, eval("sim-p0.9", &good.base_url())]);
    let began = Instant::now();
    let (summary, events) = run_all(&study, &count(64), &env.cache());
    assert!(began.elapsed() < Duration::from_mins(1), "it does not try for ever");
    let [bad, good_summary] = &summary.evals[..] else { panic!("two evals") };
    let stop_reason = bad.stopped.as_deref().unwrap_or_else(|| panic!("not stopped: {bad:?}"));
    for words in says {
        assert!(stop_reason.contains(words), "`{words}` is not in: {stop_reason}");
    }
    let is_stopped = |event: &&RunEvent| matches!(event.kind, EventKind::Stopped { .. });
    assert_eq!(events.iter().filter(is_stopped).count(), 1);
    assert_eq!(bad.answered, 0);
    assert!(bad.sent < 64, "the rest is not asked: {bad:?}");
    assert!(!bad.is_complete() && !summary.is_complete());
    assert!(good_summary.is_complete() && good_summary.stopped.is_none(), "{good_summary:?}");
    assert_eq!(good_summary.answered, 64 * POINTS);
    assert_eq!(env.entries(), 64 * POINTS, "no failure is kept");
    (summary, events)
}

#[test]
fn wrong_key_stops_the_evaluation_and_is_not_shown() {
    let strict =
        serve(SimulateOptions { api_key: Some("the right one".to_owned()), ..SimulateOptions::default() });
    // A variable that is set whenever tests run; what it holds is no key.
    let key = std::env::var("CARGO_MANIFEST_DIR").unwrap();
    let bad = eval("sim-cheap", &strict.base_url()) + "api_key_env = \"CARGO_MANIFEST_DIR\"\n";
    let (summary, events) =
        assert_stops_early(bad, &["HTTP 401", "missing or invalid API key", "api_key_env"]);
    assert!(!format!("{summary:?} {events:?}").contains(&key));
    assert_eq!(strict.stats().unauthorized, strict.stats().requests);
}

#[test]
fn the_target_of_a_redirect_receives_no_request() {
    let target = ScriptedServer::start(|_| completion());
    let location: &'static str = format!("Location: {}/chat/completions\r\n", target.base_url()).leak();
    for status in [301, 302, 303, 307, 308] {
        let redirecting = ScriptedServer::start(move |_| (status, location, String::new()));
        let key = "api_key_env = \"CARGO_PKG_NAME\"\n";
        assert_stops_early(eval("m", &redirecting.base_url()) + key, &[&format!("HTTP {status}")]);
        assert!(!redirecting.seen().is_empty());
    }
    assert!(target.seen().is_empty(), "it would have received the key");
}

#[test]
fn accepts_the_right_key() {
    let key = std::env::var("CARGO_PKG_NAME").unwrap();
    let strict = serve(SimulateOptions { api_key: Some(key), ..SimulateOptions::default() });
    let env = TestEnv::new();
    let study =
        env.study("", &[eval("sim-cheap", &strict.base_url()) + "api_key_env = \"CARGO_PKG_NAME\"\n"]);
    assert!(run_all(&study, &count(4), &env.cache()).0.is_complete());
}

#[test]
fn wrong_model_or_path_stops_the_evaluation() {
    let server = server("");
    assert_stops_early(
        eval("gpt", &server.base_url()),
        &["HTTP 404", "unknown model `gpt`", "check `model`"],
    );
    let url = server.base_url().replace("/v1", "/v2");
    assert_stops_early(eval("sim-cheap", &url), &["HTTP 404", "check `model` and `base_url`"]);
}

#[test]
fn refused_connections_stop_the_evaluation() {
    let address = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let url = format!("http://{address}/v1");
    assert_stops_early(eval("m", &url), &["connection refused by", &address.to_string(), "start the server"]);
}

#[test]
fn unknown_host_stops_the_evaluation() {
    assert_stops_early(
        eval("m", "http://models.invalid:8000/v1"),
        &["unknown host `models.invalid:8000`", "base_url"],
    );
}

#[test]
fn https_to_a_plain_server_stops_the_evaluation() {
    let server = server("");
    let url = server.base_url().replace("http://", "https://");
    assert_stops_early(eval("sim-cheap", &url), &["TLS connection to", "use http://"]);
    assert_eq!(server.stats().requests, 0);
}

#[test]
fn html_replies_stop_the_evaluation() {
    const PAGE: &str = "<!DOCTYPE html><html><head><title>Welcome</title></head></html>";
    let site = ScriptedServer::start(|_| (200, "Content-Type: text/html\r\n", PAGE.to_owned()));
    assert_stops_early(eval("m", &site.base_url()), &["page of HTML", "base_url"]);
    let gateway = ScriptedServer::start(|_| (502, "Content-Type: text/html\r\n", PAGE.to_owned()));
    assert_stops_early(eval("m", &gateway.base_url()), &["HTTP 502", "Welcome", "base_url"]);
    let moved = ScriptedServer::start(|_| (301, "Location: http://127.0.0.1:1/\r\n", String::new()));
    assert_stops_early(eval("m", &moved.base_url()), &["HTTP 301", "write the new address"]);
}

#[test]
fn always_failing_server_stops_the_evaluation() {
    let failing = ScriptedServer::start(|_| (500, "", r#"{"error": {"message": "no GPU"}}"#.to_owned()));
    assert_stops_early(eval("m", &failing.base_url()), &["HTTP 500", "no GPU", "check the server"]);
}
