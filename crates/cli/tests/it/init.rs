//! `reasonscape init`.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;

use reasonscape_simulator::{SimulateOptions, SimulatedServer};
use reasonscape_study::{Eval, Study};
use serde_json::json;
use tempfile::TempDir;

use crate::test_env::{Run, assert_rejected, reasonscape};

#[test]
fn writes_a_valid_study() {
    let world = TempDir::new().unwrap();
    let folder = world.path().join("new/deep");
    let run = reasonscape(&["init", folder.to_str().unwrap(), "--no-probe"]);
    assert_eq!((run.code, run.stdout.as_str()), (0, ""), "{run:?}");
    assert!(run.stderr.contains("study.toml`; its `model` and `base_url` are examples"), "{run:?}");
    assert!(run.stderr.contains("`reasonscape doctor "), "{run:?}");
    let study = Study::load(&folder).unwrap();
    assert_eq!((study.suite.name.as_str(), study.evals.len()), ("quick", 1));
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "nothing else is written");
}

#[test]
fn never_overwrites_a_study() {
    let world = TempDir::new().unwrap();
    let file = world.path().join("study.toml");
    fs::write(&file, "mine").unwrap();
    let run = reasonscape(&["init", world.path().to_str().unwrap(), "--no-probe"]);
    assert_rejected(&run, &["study.toml` already exists"]);
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
}

#[test]
fn names_a_folder_that_cannot_be_created() {
    let world = TempDir::new().unwrap();
    let file = world.path().join("file");
    fs::write(&file, "").unwrap();
    assert_rejected(
        &reasonscape(&["init", file.join("in").to_str().unwrap(), "--no-probe"]),
        &["failed to create the directory `", "file/in`"],
    );
}

/// Nothing listens here.
const CLOSED: &str = "http://127.0.0.1:1/v1";
/// Long enough for a server on a busy machine.
const PATIENT: [&str; 2] = ["--probe-timeout", "20000"];

/// Initialises a study in a new folder, checks that `plan` accepts it, and returns it as text and its eval.
fn init(arguments: &[&str]) -> (Run, String, Eval) {
    let folder = TempDir::new().unwrap();
    let path = folder.path().to_str().unwrap();
    let run = reasonscape(&[&["init", path], arguments].concat());
    assert_eq!((run.code, run.stdout.as_str()), (0, ""), "{run:?}");
    let plan = reasonscape(&["plan", path]);
    assert_eq!(plan.code, 0, "{plan:?}");
    let text = fs::read_to_string(folder.path().join("study.toml")).unwrap();
    let mut evals = Study::load(folder.path()).unwrap().evals;
    assert_eq!(evals.len(), 1);
    (run, text, evals.remove(0))
}

/// Initialises a study with these servers as the list to probe.
fn init_probing(servers: &[(&str, &str)]) -> (Run, String, Eval) {
    let targets: Vec<String> = servers.iter().map(|(name, url)| format!("{name}={url}")).collect();
    let probes = targets.iter().flat_map(|target| ["--probe", target]);
    init(&PATIENT.into_iter().chain(probes).collect::<Vec<_>>())
}

fn simulator(api_key: Option<&str>) -> SimulatedServer {
    let api_key = api_key.map(ToOwned::to_owned);
    SimulatedServer::start(SimulateOptions { api_key, ..SimulateOptions::default() }).unwrap()
}

/// A server that replies to one request with this body, and its address.
fn serve_once(body: &str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
    let reply =
        format!("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = Vec::new();
        let mut buffer = [0; 1024];
        while !request.ends_with(b"\r\n\r\n") {
            let count = stream.read(&mut buffer).unwrap();
            request.extend_from_slice(&buffer[..count]);
            assert!(count > 0, "the request ends early");
        }
        assert!(request.starts_with(b"GET /v1/models HTTP/1.1\r\n"));
        stream.write_all(reply.as_bytes()).unwrap();
    });
    base_url
}

/// The lines that differ from the template.
fn changed_lines(text: &str) -> Vec<&str> {
    text.lines().filter(|line| !Study::COMMENTED.lines().any(|known| known == *line)).collect()
}

#[test]
fn writes_the_first_model_of_a_running_server() {
    let server = simulator(None);
    let base_url = server.base_url();
    let (run, text, eval) = init_probing(&[("Nothing", CLOSED), ("My server", &base_url)]);
    assert_eq!((eval.model.as_str(), &eval.base_urls), ("sim-strong", &vec![base_url.clone()]));
    let written = format!("base_url = \"{base_url}\"");
    assert_eq!(changed_lines(&text), ["model = \"sim-strong\"", &written]);
    assert_eq!(text.lines().count(), Study::COMMENTED.lines().count());
    assert!(
        run.stderr.contains(&format!(
            "found a server at {base_url} (the default address of My server): `sim-strong`, `"
        )),
        "{run:?}"
    );
    assert!(run.stderr.contains(&format!("for the model `sim-strong` at {base_url}\n")), "{run:?}");
    assert!(!run.stderr.contains("Nothing"), "{run:?}");
    assert_eq!(server.stats().answered, 0, "nothing but the list of models is requested");
}

#[test]
fn lists_all_servers_and_prefers_the_first() {
    let servers = [simulator(None), simulator(None)];
    let urls = [servers[0].base_url(), servers[1].base_url()];
    for (first, second) in [(0, 1), (1, 0)] {
        let (run, _, eval) = init_probing(&[("First", &urls[first]), ("Second", &urls[second])]);
        assert_eq!(eval.base_urls, [urls[first].clone()]);
        for (name, url) in [("First", &urls[first]), ("Second", &urls[second])] {
            assert!(
                run.stderr.contains(&format!(
                    "found a server at {url} (the default address of {name}): `sim-strong`"
                )),
                "{run:?}"
            );
        }
    }
}

#[test]
fn skips_a_server_that_does_not_reply() {
    // It accepts connections, by its backlog, and never replies.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", silent.local_addr().unwrap());
    let (run, _, eval) = init(&["--probe", &format!("Silent={url}")]);
    assert_eq!(eval.base_urls, ["http://127.0.0.1:8089/v1"]);
    assert!(run.stderr.contains("found no server with a model on this machine"), "{run:?}");
    let server = simulator(None);
    let targets = [format!("Silent={url}"), format!("Live={}", server.base_url())];
    let (run, _, eval) = init(&["--probe-timeout", "2000", "--probe", &targets[0], "--probe", &targets[1]]);
    assert_eq!(eval.base_urls, [server.base_url()], "{run:?}");
}

#[test]
fn writes_examples_when_no_server_runs() {
    let (run, text, eval) = init_probing(&[("One", CLOSED), ("Two", "http://127.0.0.1:2/v1")]);
    assert_eq!(eval.model, "smollm2-135m-instruct");
    for part in [
        "found no server with a model on this machine (tried One at http://127.0.0.1:1/v1, Two at ",
        "--provider",
        "study.toml`; its `model` and `base_url` are examples",
    ] {
        assert!(run.stderr.contains(part), "{part}: {run:?}");
    }
    assert_eq!(init(&["--no-probe"]).1, text);
    // Each example is a study when it is uncommented instead of the two lines above it.
    let (before, rest) = text.split_once("model = \"smollm2-135m-instruct\"").unwrap();
    let examples = rest.split_once("above:\n").unwrap().1.split_once("\n\n").unwrap().0;
    let examples: Vec<&str> = examples.split("#\n").filter(|example| !example.is_empty()).collect();
    assert_eq!(examples.len(), 7, "{examples:?}");
    for (example, name, base_url) in [
        (0, Some("ollama"), "http://127.0.0.1:11434/v1"),
        (1, None, "http://127.0.0.1:1234/v1"),
        (2, None, "http://127.0.0.1:8000/v1"),
        (3, None, "http://127.0.0.1:8080/v1"),
        (4, Some("openai"), "https://api.openai.com/v1"),
        (5, Some("anthropic"), "https://api.anthropic.com/v1"),
        (6, Some("openrouter"), "https://openrouter.ai/api/v1"),
    ] {
        let example = examples[example];
        let lines: String =
            example.lines().skip(1).map(|line| format!("{}\n", line.strip_prefix("# ").unwrap())).collect();
        let study = Study::parse(&format!("{before}{lines}"), std::path::Path::new(".")).unwrap();
        assert_eq!(study.evals[0].base_urls, [base_url], "{example}");
        if let Some(name) = name {
            let (_, _, expected) = init(&["--provider", name]);
            assert_eq!(study.evals[0].base_urls, expected.base_urls);
            assert_eq!(study.evals[0].model, expected.model);
        }
    }
}

#[test]
fn provider_option_writes_its_settings() {
    for (name, base_url, api, key) in [
        ("openai", "https://api.openai.com/v1", "openai-chat", Some("OPENAI_API_KEY")),
        ("anthropic", "https://api.anthropic.com/v1", "anthropic", Some("ANTHROPIC_API_KEY")),
        ("openrouter", "https://openrouter.ai/api/v1", "openai-chat", Some("OPENROUTER_API_KEY")),
        ("ollama", "http://127.0.0.1:11434/v1", "openai-chat", None),
    ] {
        let (run, text, eval) = init(&["--provider", name, "--seed", "7"]);
        assert_eq!(eval.base_urls, [base_url]);
        assert_eq!((eval.api_key_env.as_deref(), eval.provider.to_string().as_str()), (key, api), "{name}");
        assert!(text.contains(&format!("\nprovider = \"{api}\"\n")), "{text}");
        assert!(text.contains("\nseed = 7\n"), "{text}");
        assert!(!run.stderr.contains("found"), "nothing is probed: {run:?}");
        assert!(run.stderr.contains("is an example"), "{run:?}");
        assert_eq!(run.stderr.contains("into the environment variable `"), key.is_some(), "{run:?}");
    }
    let folder = TempDir::new().unwrap();
    let path = folder.path().to_str().unwrap();
    assert_rejected(&reasonscape(&["init", path, "--provider", "other"]), &["openrouter"]);
}

#[test]
fn reports_servers_without_usable_models() {
    let locked = simulator(Some("secret-key"));
    let empty = serve_once(r#"{"object": "list", "data": null}"#);
    let (run, _, eval) = init_probing(&[("Locked", &locked.base_url()), ("Empty", &empty)]);
    assert_eq!(eval.model, "smollm2-135m-instruct");
    let locked = format!(
        "found a server at {} (the default address of Locked), but it needs an API key",
        locked.base_url()
    );
    let empty = format!("a server responds at {empty} (the default address of Empty), but lists no models");
    for part in [locked.as_str(), &empty, "found no server with a model"] {
        assert!(run.stderr.contains(part), "{part}: {run:?}");
    }
}

#[test]
fn writes_only_usable_model_names() {
    let odd = r#"a "quoted" \ name"#;
    let list = |names: &[&str]| {
        let models: Vec<_> = names.iter().map(|name| json!({ "id": name })).collect();
        json!({ "data": models }).to_string()
    };
    let base_url = serve_once(&list(&["text-embedding-small", "bad\n\u{1b}[31m", odd, "other"]));
    let (run, _, eval) = init_probing(&[("Server", &base_url)]);
    assert_eq!(eval.model, odd);
    assert!(!run.stderr.contains("[31m"), "{run:?}");
    let base_url = serve_once(&list(&["text-embedding-small"]));
    assert_eq!(init_probing(&[("Server", &base_url)]).2.model, "text-embedding-small");
}

#[test]
fn probes_only_this_machine_and_without_a_proxy() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().to_str().unwrap();
    for target in ["A=http://192.0.2.1/v1", "A=http://example.com/v1", "A=http://localhost.example.com/v1"] {
        assert_rejected(&reasonscape(&["init", path, "--probe", target]), &["is not on this machine"]);
    }
    assert_rejected(&reasonscape(&["init", path, "--probe", CLOSED]), &["expected NAME=URL"]);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "no study is written");
    let server = simulator(None);
    let probe = format!("A={}", server.base_url());
    let output = assert_cmd::Command::cargo_bin("reasonscape")
        .unwrap()
        .args(["init", path, "--probe", &probe])
        .args(PATIENT)
        .env("http_proxy", "http://127.0.0.1:1")
        .env("HTTP_PROXY", "http://127.0.0.1:1")
        .env_remove("NO_PROXY")
        .env_remove("no_proxy")
        .output()
        .unwrap();
    assert!(String::from_utf8_lossy(&output.stderr).contains("(the default address of A)"), "{output:?}");
}
