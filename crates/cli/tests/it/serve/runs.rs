//! Runs that are started from the web app, against simulated models.

mod api_keys;
#[cfg(target_os = "linux")]
mod bombs;
mod cancel;
mod datasets;
mod front_ends;
mod invalid_requests;
mod lifecycle;
#[cfg(target_os = "linux")]
mod memory;
mod openapi;
mod progress;
mod read_only;
mod shutdown;
mod without_trials;

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use reasonscape_core::{Dataset, Suite};
use reasonscape_simulator::{Faults, SimulateOptions, SimulatedServer};
use reasonscape_test_support::study_toml;
use serde_json::{Value, json};

use super::server::{Reply, Server, Study};

const SUITE: &str = r#"
name = "small"
count = 8
[[manifold]]
id = "arithmetic"
task = "arithmetic@1"
points = [{ length = 3, max_depth = 0 }]
[[manifold]]
id = "sort"
task = "sort@1"
points = [{ length = 4 }]
"#;

const QUESTIONS: &str = "{\"input\": \"What is 6 * 7?\", \"target\": \"42\"}\n\
                         {\"input\": \"What is 2 + 2?\", \"target\": \"4\"}\n";

/// A study without responses, simulated models, and a server for the study.
pub(super) struct RunsEnv {
    pub(super) models: SimulatedServer,
    pub(super) server: Server,
}

impl RunsEnv {
    pub(super) fn new() -> Self {
        Self::with("", None, &[])
    }

    /// The same environment, with a new server that has these options.
    pub(super) fn restart(self, arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        let Self { models, server } = self;
        let study = Arc::clone(&server.study);
        drop(server);
        Self { models, server: Server::on(study, arguments, variables) }
    }

    /// `faults` as for `simulate --faults`, the API key that the models require, and the environment of the server.
    pub(super) fn with(faults: &str, api_key: Option<&str>, variables: &[(&str, &str)]) -> Self {
        let dataset = Dataset::parse("questions", QUESTIONS).unwrap();
        let models = SimulatedServer::start(SimulateOptions {
            faults: if faults.is_empty() { Faults::default() } else { faults.parse().unwrap() },
            api_key: api_key.map(str::to_owned),
            suites: vec![Suite::parse(SUITE).unwrap(), dataset.suite()],
            count: Some(64),
            threads: 1,
            ..SimulateOptions::default()
        })
        .unwrap();
        let key = if api_key.is_some() { "api_key_env = \"PEOPLES_KEY\"" } else { "" };
        let settings = format!("concurrency = 2\n{key}");
        let text = study_toml("small.toml", &models.base_url(), &["sim-p0.9", "sim-cheap"], &settings);
        let study = Arc::new(Study::with_files(&[("small.toml", SUITE), ("study.toml", &text)]));
        Self { server: Server::on(study, &[], variables), models }
    }

    fn folder(&self) -> PathBuf {
        PathBuf::from(self.server.study.path())
    }

    pub(super) fn post(&self, path: &str, body: &Value) -> Reply {
        self.server.request("POST", &format!("/api/v1{path}"), &[], &body.to_string())
    }

    /// Creates a run of the study without starting it.
    pub(super) fn create_study_run(&self, more: &Value) -> String {
        let mut request = json!({ "source": "study" });
        request.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.create(&request)
    }

    /// The request for a run with a study of its own.
    pub(super) fn own_run_request(&self, more: &Value) -> Value {
        let mut request = json!({ "source": "suite", "suite": "study", "models": ["sim-p0.9"],
                               "base_url": self.models.base_url() });
        request.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        request
    }

    pub(super) fn create(&self, request: &Value) -> String {
        let reply = self.post("/runs", request);
        assert_eq!(reply.status, 201, "{reply:?}");
        let name = reply.json()["name"].as_str().unwrap().to_owned();
        assert_eq!(reply.header("location"), Some(format!("/api/v1/runs/{name}").as_str()));
        name
    }

    pub(super) fn get_run(&self, name: &str) -> Value {
        self.server.get(&format!("/api/v1/runs/{name}")).json()
    }

    pub(super) fn start(&self, name: &str, keys: &Value) -> Reply {
        self.post(&format!("/runs/{name}/start"), &json!({ "keys": keys }))
    }

    /// Starts a run and waits for its end.
    pub(super) fn run_to_end(&self, name: &str) -> Value {
        let reply = self.start(name, &json!({}));
        assert_eq!(reply.status, 202, "{reply:?}");
        self.wait_for_end(name)
    }

    pub(super) fn wait_for_end(&self, name: &str) -> Value {
        let events = events(&self.server, name);
        assert_eq!(events.last().unwrap().0, "end", "{events:?}");
        self.get_run(name)
    }
}

/// The events of a run until it ends, with their types.
fn events(server: &Server, name: &str) -> Vec<(String, Value)> {
    let mut stream = TcpStream::connect(&server.address).unwrap();
    let request = format!(
        "GET /api/v1/runs/{name}/events HTTP/1.1\r\nHost: {}\r\nAccept-Encoding: gzip\r\nConnection: close\r\n\r\n",
        server.address
    );
    stream.write_all(request.as_bytes()).unwrap();
    let (mut events, mut kind, mut number) = (Vec::new(), String::new(), 0);
    for line in BufReader::new(stream).lines().map_while(Result::ok) {
        if let Some(value) = line.strip_prefix("event: ") {
            value.clone_into(&mut kind);
        } else if let Some(value) = line.strip_prefix("id: ") {
            assert_eq!(value, number.to_string(), "events come in order");
            number += 1;
        } else if let Some(value) = line.strip_prefix("data: ") {
            events.push((kind.clone(), serde_json::from_str(value).unwrap()));
        }
    }
    events
}

fn sum(run: &Value, field: &str) -> u64 {
    run["progress"].as_array().unwrap().iter().map(|one| one[field].as_u64().unwrap()).sum()
}

/// The bytes of every file under a folder.
fn bytes_of_all_files(folder: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        bytes.extend(if path.is_dir() { bytes_of_all_files(&path) } else { fs::read(&path).unwrap() });
    }
    bytes
}

fn contains_bytes(bytes: &[u8], secret: &str) -> bool {
    bytes.windows(secret.len()).any(|window| window == secret.as_bytes())
}
