//! The three APIs as a client sees them.

use reasonscape_simulator::{SimulateOptions, SimulatedServer};
use serde_json::{Value, json};

use super::{chat, get, post, quick, send, server_with, some_tests};

const CHAT: &str = "/v1/chat/completions";
const TEXT: &str = "/v1/completions";
const MESSAGES: &str = "/v1/messages";

fn text_request(model: &str, prompt: &str) -> Value {
    json!({ "model": model, "prompt": format!("Question: {prompt}\nAnswer:"), "temperature": 0, "max_tokens": 4000 })
}

fn messages_request(model: &str, prompt: &str) -> Value {
    json!({ "model": model, "messages": [{ "role": "user", "content": prompt }], "max_tokens": 4000, "temperature": 0 })
}

#[test]
fn three_apis_give_the_same_answer() {
    let server = server_with("");
    for test in some_tests() {
        let sentence = format!("The answer is {}.", test.target);
        let reply = post(&server, CHAT, &chat("sim-p1", &test.prompt, &json!({}))).json();
        assert!(reply["choices"][0]["message"]["content"].as_str().unwrap().ends_with(&sentence), "{reply}");
        assert_eq!(reply["choices"][0]["finish_reason"], "stop");
        let reply = post(&server, TEXT, &text_request("sim-p1", &test.prompt)).json();
        assert!(reply["choices"][0]["text"].as_str().unwrap().ends_with(&sentence), "{reply}");
        assert_eq!(reply["choices"][0]["finish_reason"], "stop");
        let reply = post(&server, MESSAGES, &messages_request("sim-p1", &test.prompt)).json();
        assert!(reply["content"][0]["text"].as_str().unwrap().ends_with(&sentence), "{reply}");
        assert_eq!(reply["stop_reason"], "end_turn");
    }
}

#[test]
fn reasoning_is_in_the_field_of_each_api() {
    let server = server_with("");
    let prompt = &some_tests()[0].prompt;
    let reply = post(&server, CHAT, &chat("sim-strong", prompt, &json!({}))).json();
    let message = &reply["choices"][0]["message"];
    let reasoning = message["reasoning_content"].as_str().unwrap();
    let content = message["content"].as_str().unwrap();
    assert!(content.starts_with(r"The answer is \boxed{"), "{content}");

    let usage = &reply["usage"];
    let words = |text: &str| json!(text.split_whitespace().count());
    assert_eq!(usage["completion_tokens_details"]["reasoning_tokens"], words(reasoning));
    assert_eq!(usage["completion_tokens"], words(&format!("{reasoning} {content}")));
    assert_eq!(usage["prompt_tokens"], words(&format!("Be careful. {prompt} End with: The answer is X.")));
    let total = usage["prompt_tokens"].as_u64().unwrap() + usage["completion_tokens"].as_u64().unwrap();
    assert_eq!(usage["total_tokens"], total);

    let reply = post(&server, TEXT, &text_request("sim-strong", prompt)).json();
    assert_eq!(reply["choices"][0]["text"], format!("<think>\n{reasoning}\n</think>\n\n{content}"));

    let reply = post(&server, MESSAGES, &messages_request("sim-strong", prompt)).json();
    assert_eq!(reply["content"][0]["thinking"], reasoning);
    assert_eq!(reply["content"][1]["text"], content);
    assert_eq!(reply["usage"]["output_tokens"], words(&format!("{reasoning} {content}")));
}

#[test]
fn token_limit_only_truncates_the_reply() {
    let server = server_with("");
    for test in some_tests() {
        for model in ["sim-strong", "sim-cheap", "sim-truncating", "sim-specialist"] {
            let complete = post(&server, CHAT, &chat(model, &test.prompt, &json!({}))).json();
            let cut = post(&server, CHAT, &chat(model, &test.prompt, &json!({ "max_tokens": 7 }))).json();
            assert_eq!(cut["choices"][0]["finish_reason"], "length", "{cut}");
            assert_eq!(cut["usage"]["completion_tokens"], 7);
            let text = |reply: &Value| {
                let message = &reply["choices"][0]["message"];
                let reasoning = message["reasoning_content"].as_str().unwrap_or_default().to_owned();
                reasoning + message["content"].as_str().unwrap()
            };
            let (complete, cut) = (text(&complete), text(&cut));
            assert_eq!(cut.split(' ').count(), 7, "{cut}");
            // Those who say little may have come to an end where the others are cut.
            let is_verbose = ["sim-strong", "sim-truncating"].contains(&model);
            assert!(!is_verbose || complete.starts_with(&cut), "{cut}\n{complete}");
            assert!(!cut.to_lowercase().contains("answer"), "{cut}");
        }
    }
    let prompt = &some_tests()[0].prompt;
    let limit = json!({ "max_completion_tokens": 9, "max_tokens": 500 });
    let cut = post(&server, CHAT, &chat("sim-strong", prompt, &limit)).json();
    assert_eq!(cut["usage"]["completion_tokens"], 9, "the newer name of the limit wins");
    let mut request = messages_request("sim-strong", prompt);
    request["max_tokens"] = json!(9);
    let cut = post(&server, MESSAGES, &request).json();
    assert_eq!((&cut["stop_reason"], &cut["usage"]["output_tokens"]), (&json!("max_tokens"), &json!(9)));
}

#[test]
fn replies_vary_only_by_repeat_and_seed() {
    let (server, again) = (server_with(""), server_with(""));
    let prompt = &some_tests()[4].prompt;
    let send_prompt =
        |server: &SimulatedServer, more: &Value| post(server, CHAT, &chat("sim-cheap", prompt, more)).body;

    let greedy = send_prompt(&server, &json!({}));
    assert_eq!(greedy, send_prompt(&server, &json!({})));
    assert_eq!(greedy, send_prompt(&again, &json!({})));

    let sampled: Vec<_> = (0..5).map(|_| send_prompt(&server, &json!({ "temperature": 0.7 }))).collect();
    let sampled_again: Vec<_> = (0..5).map(|_| send_prompt(&again, &json!({ "temperature": 0.7 }))).collect();
    assert_eq!(sampled, sampled_again);
    assert_eq!(sampled[0], greedy);
    assert_ne!(sampled[0], sampled[1]);
    assert_ne!(sampled[1], sampled[2]);

    let seeded = |seed: i64| send_prompt(&server, &json!({ "temperature": 0.7, "seed": seed }));
    assert_eq!(seeded(3), seeded(3));
    assert_ne!(seeded(3), seeded(4));

    let options = SimulateOptions { suites: vec![quick()], seed: 1, ..SimulateOptions::default() };
    assert_ne!(send_prompt(&SimulatedServer::start(options).unwrap(), &json!({})), greedy);
}

#[test]
fn logprob_of_the_answer_is_its_probability() {
    let server = server_with("");
    let test = &some_tests()[0];
    let reply = post(&server, CHAT, &chat("sim-p0.6", &test.prompt, &json!({ "logprobs": true }))).json();
    let tokens = reply["choices"][0]["logprobs"]["content"].as_array().unwrap();
    let text: String = tokens.iter().map(|token| token["token"].as_str().unwrap()).collect();
    let content = reply["choices"][0]["message"]["content"].as_str().unwrap();
    assert_eq!(text.replace(' ', ""), content.replace(char::is_whitespace, ""));
    let last = tokens.last().unwrap()["logprob"].as_f64().unwrap();
    // Whoever doesn't know the answer guesses it with the stated probability.
    let correct = (0.6 + 0.4 * test.guess()).ln();
    assert!(test.guess() > 0.0 && (last - correct).abs() < 1e-9, "a write-in of one word: {last}");

    let mut request = text_request("sim-p0.6", &test.prompt);
    request["logprobs"] = json!(1);
    let reply = post(&server, TEXT, &request).json();
    let logprobs = reply["choices"][0]["logprobs"]["token_logprobs"].as_array().unwrap();
    assert!((logprobs.last().unwrap().as_f64().unwrap() - correct).abs() < 1e-9);
    let silent = post(&server, TEXT, &text_request("sim-p0.6", &test.prompt)).json();
    assert!(silent["choices"][0]["logprobs"].is_null());
}

#[test]
fn states_confidence_on_request() {
    let server = server_with("");
    let send_prompt = |model: &str, system: &str| {
        let more = json!({ "messages": [
            { "role": "system", "content": system }, { "role": "user", "content": some_tests()[0].prompt },
        ] });
        let reply = post(&server, CHAT, &chat(model, "", &more)).json();
        reply["choices"][0]["message"]["content"].as_str().unwrap().to_owned()
    };
    let asking = "End with a line that says \"Confidence: \" followed by how sure you are.";
    let sure = 100.0 * (0.6 + 0.4 * some_tests()[0].guess());
    assert!(send_prompt("sim-p0.6", asking).ends_with(&format!(".\nConfidence: {sure:.0}%")));
    assert!(send_prompt("sim-guessing", asking).ends_with("\nConfidence: 95%"), "this one boasts");
    assert!(!send_prompt("sim-p0.6", "Be brief.").contains("Confidence"));
}

#[test]
fn errors_have_the_format_of_the_api() {
    let server = server_with("");
    let prompt = &some_tests()[0].prompt;

    let reply = post(&server, CHAT, &chat("sim-cheap", prompt, &json!({ "stream": true })));
    assert_eq!((reply.status, reply.json()["error"]["param"].clone()), (400, json!("stream")));
    let reply = post(&server, CHAT, &chat("gpt-5", prompt, &json!({})));
    assert_eq!((reply.status, reply.json()["error"]["code"].clone()), (404, json!("model_not_found")));
    let reply = post(&server, MESSAGES, &json!({ "model": "sim-cheap", "messages": [] }));
    assert_eq!(reply.status, 400);
    assert_eq!(reply.json()["error"]["type"], "invalid_request_error");
    assert!(reply.json()["error"]["message"].as_str().unwrap().contains("`max_tokens` is missing"));
    let reply = send(server.address(), "POST", TEXT, "", "{\"model\":");
    assert_eq!(reply.status, 400);
    assert_eq!(get(&server, "/v2/models").status, 404);
    assert_eq!(get(&server, CHAT).status, 405);

    let reply = post(&server, CHAT, &chat("sim-strong", "Who wrote Faust?", &json!({}))).json();
    assert_eq!(reply["choices"][0]["message"]["content"], "I do not know this question.");
    assert_eq!(server.stats().unknown_questions, 1);
}

#[test]
fn lists_models() {
    let models = get(&server_with(""), "/v1/models").json();
    let names: Vec<&str> =
        models["data"].as_array().unwrap().iter().map(|model| model["id"].as_str().unwrap()).collect();
    assert_eq!(
        names,
        [
            "sim-strong",
            "sim-cheap",
            "sim-truncating",
            "sim-guessing",
            "sim-specialist",
            "sim-p0.85",
            "sim-p0.85-t0.1"
        ]
    );
}

#[test]
fn requires_the_configured_key() {
    let options = SimulateOptions {
        suites: vec![quick()],
        api_key: Some("open-sesame".to_owned()),
        ..SimulateOptions::default()
    };
    let server = SimulatedServer::start(options).unwrap();
    assert!(!format!("{server:?}").contains("sesame"));
    let body = chat("sim-cheap", &some_tests()[0].prompt, &json!({})).to_string();
    for (headers, status) in [
        ("", 401),
        ("Authorization: Bearer wrong\r\n", 401),
        ("Authorization: open-sesame\r\n", 401),
        ("Authorization: Bearer open-sesame\r\n", 200),
        ("X-Api-Key: open-sesame\r\n", 200),
    ] {
        let reply = send(server.address(), "POST", CHAT, headers, &body);
        assert_eq!(reply.status, status, "{headers}");
        assert!(!String::from_utf8_lossy(&reply.body).contains("sesame"));
    }
    assert_eq!(get(&server, "/v1/models").status, 401);
    let stats = server.stats();
    assert_eq!((stats.unauthorized, stats.answered, stats.duplicates), (3, 2, 1));
}

#[test]
fn counts_requests() {
    let server = server_with("");
    let tests = some_tests();
    for test in &tests[..3] {
        post(&server, CHAT, &chat("sim-cheap", &test.prompt, &json!({})));
    }
    post(&server, CHAT, &chat("sim-cheap", &tests[0].prompt, &json!({})));
    post(&server, TEXT, &text_request("sim-cheap", &tests[0].prompt));
    post(&server, CHAT, &chat("stranger", &tests[0].prompt, &json!({})));
    post(&server, CHAT, &chat("stranger", &tests[0].prompt, &json!({})));

    let stats = get(&server, "/stats").json();
    assert_eq!(stats["requests"], 7);
    assert_eq!(stats["by_path"], json!({ CHAT: 6, TEXT: 1, MESSAGES: 0 }));
    assert_eq!(stats["by_status"], json!({ "200": 5, "404": 2 }));
    let counts =
        ["answered", "distinct", "duplicates", "in_flight"].map(|name| stats[name].as_u64().unwrap());
    assert_eq!(counts, [5, 5, 1, 0], "{stats}");

    assert_eq!(send(server.address(), "POST", "/stats/reset", "", "").status, 200);
    let stats = server.stats();
    assert_eq!((stats.requests, stats.distinct, stats.answered), (0, 0, 0));
}

#[test]
fn stops_when_dropped_within_a_runtime() {
    let address = tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
        let server = server_with("");
        server.address()
    });
    let gone = (0..100).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(10));
        std::net::TcpStream::connect(address).is_err()
    });
    assert!(gone, "the port is still open a second after the server was dropped");
}

#[test]
fn port_in_use_error_names_the_address() {
    let server = server_with("");
    let options = SimulateOptions { port: server.address().port(), ..SimulateOptions::default() };
    let error = SimulatedServer::start(options).unwrap_err().to_string();
    assert!(error.contains(&server.address().to_string()) && error.contains("another port"), "{error}");
}
