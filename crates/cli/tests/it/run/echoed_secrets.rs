//! A server that repeats the headers of requests: in errors, in answers, in reasoning and in lists of models.

use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use reasonscape_test_support::study_toml;
use serde_json::json;
use tempfile::TempDir;

use super::SUITE;
use crate::test_env::start_server;

/// Neither has a prefix by which keys are known, nor the length of one.
const KEY: &str = "zebqua/krossyng<oranj>";
const HEADER: &str = "korrect hoars \"batturi\"";

/// Repeats all headers. The place depends on the number of the request.
struct EchoServer {
    address: SocketAddr,
    /// How often a request had both secrets.
    seen: Arc<AtomicUsize>,
    place: Arc<Mutex<&'static str>>,
}

impl EchoServer {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (seen, place) = (Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::new("content")));
        let (counter, in_place) = (Arc::clone(&seen), Arc::clone(&place));
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (counter, place) = (Arc::clone(&counter), Arc::clone(&in_place));
                std::thread::spawn(move || _ = answer(stream, &counter, *place.lock().unwrap()));
            }
        });
        Self { address, seen, place }
    }
}

fn answer(mut stream: TcpStream, seen: &AtomicUsize, place: &str) -> std::io::Result<()> {
    let mut bytes = Vec::new();
    let mut piece = [0; 4096];
    let head = loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break String::from_utf8_lossy(&bytes[..end]).into_owned();
        }
        match stream.read(&mut piece)? {
            0 => return Ok(()),
            length => bytes.extend_from_slice(&piece[..length]),
        }
    };
    if head.contains(KEY) && head.contains(HEADER) {
        seen.fetch_add(1, Ordering::Relaxed);
    }
    let choice = |content: &str, reasoning: &str| {
        json!({ "choices": [{ "finish_reason": "stop",
                "message": { "content": content, "reasoning_content": reasoning } }] })
    };
    let (status, body) = match place {
        _ if head.starts_with("GET") => (200, json!({ "data": [{ "id": head }] }).to_string()),
        "content" => (200, choice(&head, "").to_string()),
        "reasoning" => (200, choice("\\boxed{1}", &head).to_string()),
        "error" => (400, json!({ "error": { "message": head } }).to_string()),
        "html" => (401, format!("<html><title>{head}</title>")),
        "slashes" => (
            200,
            choice(&head, &head)
                .to_string()
                .replace('/', "\\/")
                .replace('<', "\\u003c")
                .replace('>', "\\u003e"),
        ),
        _ => (500, head.clone()),
    };
    write!(stream, "HTTP/1.1 {status} X\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

/// The bytes of every file under a folder.
fn everything(folder: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        bytes.extend(if path.is_dir() { everything(&path) } else { fs::read(&path).unwrap() });
    }
    bytes
}

fn assert_no_secret(bytes: &[u8], what: &str) {
    let text = String::from_utf8_lossy(bytes);
    // Parts of the secrets, since quotes and slashes have many written forms.
    for secret in ["zebqua", "krossyng", "oranj", "korrect", "hoars", "batturi"] {
        assert!(!text.contains(secret), "`{secret}` in {what}: {text}");
    }
}

#[test]
fn repeated_headers_appear_nowhere() {
    let server = EchoServer::start();
    let folder = TempDir::new().unwrap();
    let path = folder.path().to_str().unwrap();
    let settings = "api_key_env = \"PEOPLES_KEY\"\nmax_retries = 1\noutage_timeout_seconds = 1\n\
                    [eval.headers]\nx-team = { env = \"TEAM_SECRET\" }";
    fs::write(folder.path().join("small.toml"), SUITE).unwrap();
    let study = study_toml("small.toml", &format!("http://{}/v1", server.address), &["m"], settings);
    fs::write(folder.path().join("study.toml"), study).unwrap();
    let run = |arguments: &[&str]| {
        let output = Command::new(assert_cmd::cargo::cargo_bin!("reasonscape"))
            .args(arguments)
            .env("PEOPLES_KEY", KEY)
            .env("TEAM_SECRET", HEADER)
            .env("RUST_LOG", "trace")
            .output()
            .unwrap();
        [output.stdout, output.stderr].concat()
    };
    for (count, place) in (2..).step_by(2).zip(["content", "reasoning", "slashes", "error", "html", "plain"])
    {
        *server.place.lock().unwrap() = place;
        let before = server.seen.load(Ordering::Relaxed);
        let output = run(&["run", path, "--count", &count.to_string()]);
        assert!(
            server.seen.load(Ordering::Relaxed) > before,
            "{place}: {}",
            String::from_utf8_lossy(&output)
        );
        assert_no_secret(&output, &format!("run, {place}"));
        assert_no_secret(&run(&["doctor", path, "--request"]), &format!("doctor, {place}"));
        assert_no_secret(&run(&["doctor", path]), &format!("doctor, {place}"));
        assert_no_secret(&everything(folder.path()), &format!("files, {place}"));
    }
    let report = folder.path().join("report.html");
    run(&["report", path, "--output", report.to_str().unwrap()]);
    assert_no_secret(&fs::read(&report).unwrap_or_default(), "report");
    assert_no_secret(&run(&["export", path]), "export");
    assert_no_secret(&run(&["sql", path, "SELECT * FROM trials"]), "sql");
    // Bodies are compressed in the cache; the export shows them, and which of them were changed.
    let exported = run(&["cache", "export", path]);
    assert_no_secret(&exported, "cache export");
    let exported = String::from_utf8_lossy(&exported);
    assert!(exported.contains("x-team: [redacted]"), "{exported}");
    let bodies = exported.lines().filter(|line| line.contains("choices"));
    assert!(bodies.clone().count() >= 18 && bodies.clone().all(|line| line.contains("reasonscape_redacted")));

    // The same through the web app: a run of it, its record and events, and the pages of trials.
    *server.place.lock().unwrap() = "error";
    let log = "reasonscape_runner=trace,hyper_util::client=trace,reqwest=trace";
    let variables = [("PEOPLES_KEY", KEY), ("TEAM_SECRET", HEADER), ("RUST_LOG", log)];
    let (mut child, url) = start_server(&["serve", path, "--port", "0"], &variables);
    // Read all the time, since the server waits while the pipe is full.
    let mut stderr = child.stderr.take().unwrap();
    let log = std::thread::spawn(move || {
        let mut log = Vec::new();
        stderr.read_to_end(&mut log).map(|_| log)
    });
    let address = url.strip_prefix("http://").unwrap().trim_end_matches('/').to_owned();
    let request = |method: &str, path: &str, body: &str| {
        let mut stream = TcpStream::connect(&address).unwrap();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        let mut reply = Vec::new();
        let _ = stream.read_to_end(&mut reply);
        String::from_utf8_lossy(&reply).into_owned()
    };
    let created = request("POST", "/api/v1/runs", r#"{"source": "study", "count": 20}"#);
    let name = created.split("\"name\":\"").nth(1).and_then(|rest| rest.split('"').next());
    let name = name.unwrap_or_else(|| panic!("{created}")).to_owned();
    let before = server.seen.load(Ordering::Relaxed);
    let started = request("POST", &format!("/api/v1/runs/{name}/start"), "{\"keys\": {}}");
    assert!(started.contains(" 202 "), "{started}");
    let events = request("GET", &format!("/api/v1/runs/{name}/events"), "");
    assert!(server.seen.load(Ordering::Relaxed) > before, "{events}");
    assert_no_secret(events.as_bytes(), "events");
    for page in [
        "/".to_owned(),
        "/trials".to_owned(),
        "/api/v1/trials?limit=100".to_owned(),
        format!("/api/v1/runs/{name}"),
        format!("/runs/{name}"),
        "/runs".to_owned(),
    ] {
        let reply = request("GET", &page, "");
        assert!(reply.contains(" 200 "), "{page}: {reply}");
        assert_no_secret(reply.as_bytes(), &page);
        for link in reply.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next()).take(40) {
            if link.starts_with('/') && !link.contains("/assets/") {
                assert_no_secret(request("GET", &link.replace("&amp;", "&"), "").as_bytes(), link);
            }
        }
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let log = log.join().unwrap().unwrap();
    assert_no_secret(&log, "log of the server");
    assert_no_secret(&everything(folder.path()), "files of the server");
}
