//! A server on a small study, and raw HTTP requests to it.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::Child;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use reasonscape_cache::{Cache, Entry, Response};
use reasonscape_core::Outcome;
use reasonscape_core::{CacheKey, EntryId};
use reasonscape_points::{PointTrials, Trial, UnitWriter};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::test_env::{self, copy_folder, eval_info, provenance, start_server};

/// The answer and reply of a hostile model.
pub(super) const SCRIPT: &str = "<script>alert('x')</script>\u{1b}[31m\u{202e}\"'&";

/// Trials at each of the two points of a task.
pub(super) const TRIALS: u64 = 60;

/// A study of two evaluations on two tasks. The first trial of each point has [`SCRIPT`] in it.
pub(super) struct Study {
    folder: TempDir,
}

impl Study {
    pub(super) fn new() -> Self {
        Self::new_in(TempDir::new().unwrap())
    }

    /// The same study in an empty folder.
    pub(super) fn new_in(folder: TempDir) -> Self {
        let study = Self { folder };
        let cache = Cache::open(study.folder.path().join("cache.sqlite")).unwrap();
        let mut importer = cache.importer().unwrap();
        importer.add(&Self::entry()).unwrap();
        importer.finish().unwrap();
        study.add("a00001", "good <model>", &["arch:moe", "size:large"], 9);
        study.add("b00002", "poor", &["arch:dense"], 4);
        study
    }

    /// A study of five evaluations: a task with two numeric parameters and a categorical one, which gets harder with both
    /// numbers; a task with one parameter, and one with none.
    pub(super) fn landscape() -> Self {
        let study = Self { folder: TempDir::new().unwrap() };
        let names = ["m1", "m2", "m3 <b>\"&' ${x} %{y}", "m4", "m5"];
        for (place, name) in (0..).zip(names) {
            study.add_grid(
                &format!("e0000{place}"),
                name,
                "maze",
                9 - place,
                &[4, 8, 16],
                &[1, 2],
                &["a b", "c"],
            );
            study.add_grid(&format!("e0000{place}"), name, "line", 9 - place, &[4, 8, 16], &[1], &["a b"]);
            study.add_grid(&format!("e0000{place}"), name, "flat", 9 - place, &[4], &[1], &["a b"]);
        }
        study
    }

    #[expect(clippy::too_many_arguments, reason = "a table of what is tried")]
    fn add_grid(
        &self,
        id: &str,
        name: &str,
        task: &str,
        skill: u64,
        lengths: &[u64],
        depths: &[u64],
        kinds: &[&str],
    ) {
        let eval = eval_info(id, name, &[]);
        let mut writer = UnitWriter::new(self.folder.path(), eval, task).unwrap();
        for (length, depth, kind) in lengths
            .iter()
            .flat_map(|length| depths.iter().map(move |depth| (length, depth)))
            .flat_map(|(length, depth)| kinds.iter().map(move |kind| (length, depth, kind)))
        {
            let tenths = skill.saturating_sub(length / 4 + depth - 2);
            let one = |index: u64| Trial {
                completion_tokens: Some(40 + 37 * (index % 20) * length / 4),
                compressed_size: 60 + 5 * index,
                ..trial(index, tenths, Self::entry().id.key)
            };
            writer
                .write_point(PointTrials {
                    params: format!("{{\"depth\": {depth}, \"kind\": \"{kind}\", \"length\": {length}}}"),
                    manifolds: vec![format!("{task}-{kind}")],
                    planned: 20,
                    trials: (0..20).map(one).collect(),
                    ..PointTrials::default()
                })
                .unwrap();
        }
        writer.finish(&provenance()).unwrap();
    }

    /// A copy of the study in this folder.
    pub(super) fn copy_of(study: &str) -> Self {
        Self::copy_into(study, TempDir::new().unwrap())
    }

    /// A copy of the study in an empty folder.
    pub(super) fn copy_into(study: &str, folder: TempDir) -> Self {
        copy_folder(Path::new(study), folder.path());
        Self { folder }
    }

    /// A study of these files, without responses.
    pub(super) fn with_files(files: &[(&str, &str)]) -> Self {
        let folder = TempDir::new().unwrap();
        for (name, text) in files {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        Self { folder }
    }

    pub(super) fn path(&self) -> &str {
        self.folder.path().to_str().unwrap()
    }

    pub(super) fn add_newcomer(&self) {
        self.add("c00003", "newcomer", &[], 6);
    }

    /// Adds evaluations with increasing accuracy.
    pub(super) fn add_crowd(&self, number: u64) {
        for member in 0..number {
            self.add(&format!("d{member:05}"), &format!("member {member}"), &[], member % 10);
        }
    }

    fn entry() -> Entry {
        let request = format!(
            "{{\"messages\": [{{\"content\": {}, \"role\": \"user\"}}], \"model\": \"m\"}}",
            json!(format!("What is 1 + 1? {}", "<img src=x onerror=alert(1)>"))
        );
        let token = |text: &str| json!({ "token": text, "logprob": -std::f64::consts::LN_2 });
        let body = json!({ "choices": [{
            "finish_reason": "stop",
            "message": { "content": SCRIPT, "reasoning_content": format!("thinking {SCRIPT}") },
            "logprobs": { "content": [token("<script>"), token("answer-4")] },
        }] });
        let response = Response {
            status: 200,
            latency_ms: 1,
            latency_us: None,
            received_ms: 1,
            body: body.to_string().into_bytes(),
        };
        Entry { id: EntryId::new(CacheKey::from_canonical_json(&request)), request, response }
    }

    fn add(&self, id: &str, name: &str, groups: &[&str], tenths: u64) {
        let key = Self::entry().id.key;
        for task in ["add", "sort"] {
            let eval = eval_info(id, name, groups);
            let mut writer = UnitWriter::new(self.folder.path(), eval, task).unwrap();
            for length in [4, 16] {
                let point = PointTrials {
                    params: format!("{{\"depth\": 1, \"length\": {length}}}"),
                    manifolds: vec!["all".to_owned()],
                    planned: TRIALS,
                    trials: (0..TRIALS).map(|index| trial(index, tenths, key)).collect(),
                    ..PointTrials::default()
                };
                writer.write_point(point).unwrap();
            }
            writer.finish(&provenance()).unwrap();
        }
    }
}

fn trial(index: u64, tenths: u64, cache_key: CacheKey) -> Trial {
    let status = match index % 10 {
        9 => Outcome::Truncated,
        rest if rest < tenths => Outcome::Correct,
        _ => Outcome::Incorrect,
    };
    let answer = if index == 0 { SCRIPT.to_owned() } else { format!("answer-{index}") };
    Trial {
        completion_tokens: Some(100 * tenths),
        latency_ms: 1_500,
        answer: (status != Outcome::Truncated).then_some(answer),
        target: "100 % _right_".to_owned(),
        cache_key,
        ..test_env::trial(index, status, 0.0)
    }
}

/// The program as a server; killed when dropped.
pub(super) struct Server {
    pub(super) child: Child,
    pub(super) study: Arc<Study>,
    pub(super) url: String,
    /// Host and port.
    pub(super) address: String,
}

/// An HTTP response.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) status: u16,
    head: String,
    pub(super) body: String,
}

impl Reply {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (known, value) = line.split_once(": ")?;
            known.eq_ignore_ascii_case(name).then_some(value)
        })
    }

    pub(super) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

/// The server shared by read-only tests; it ends with the last of them.
static SHARED: Mutex<Weak<Server>> = Mutex::new(Weak::new());

impl Server {
    /// A shared server without options.
    pub(super) fn shared() -> Arc<Self> {
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        shared.upgrade().unwrap_or_else(|| {
            let server = Arc::new(Self::start(&[]));
            *shared = Arc::downgrade(&server);
            server
        })
    }

    pub(super) fn start(arguments: &[&str]) -> Self {
        Self::on(Arc::new(Study::new()), arguments, &[])
    }

    /// A shared server on [`Study::landscape`].
    pub(super) fn landscape() -> Arc<Self> {
        static LANDSCAPE: Mutex<Weak<Server>> = Mutex::new(Weak::new());
        let mut shared = LANDSCAPE.lock().unwrap_or_else(PoisonError::into_inner);
        shared.upgrade().unwrap_or_else(|| {
            let server = Arc::new(Self::on(Arc::new(Study::landscape()), &[], &[]));
            *shared = Arc::downgrade(&server);
            server
        })
    }

    /// Resident memory of the server.
    #[cfg(target_os = "linux")]
    pub(super) fn resident_bytes(&self) -> u64 {
        let pages = std::fs::read_to_string(format!("/proc/{}/statm", self.child.id())).unwrap();
        pages.split(' ').nth(1).unwrap().parse::<u64>().unwrap() * 4096
    }

    /// A server on this study, with these variables in its environment.
    pub(super) fn on(study: Arc<Study>, arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        let (child, url) =
            start_server(&[&["serve", study.path(), "--port", "0"], arguments].concat(), variables);
        let address = url.strip_prefix("http://").expect("an address").split('/').next().unwrap().to_owned();
        Self { child, study, url, address }
    }

    /// Sends these bytes and reads the whole response.
    pub(super) fn send(&self, request: &[u8]) -> Reply {
        let port = self.address.rsplit(':').next().unwrap();
        let mut stream = TcpStream::connect(format!("127.0.0.1:{port}")).unwrap();
        // The server may close the connection before reading everything.
        let _ = stream.write_all(request);
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        let text = String::from_utf8_lossy(&bytes);
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        Reply { status, head: head.to_owned(), body: body.to_owned() }
    }

    /// A request with these headers and this body.
    pub(super) fn request(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Reply {
        let mut lines = vec![format!("{method} {path} HTTP/1.1"), "Connection: close".to_owned()];
        if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
            lines.push(format!("Host: {}", self.address));
        }
        lines.extend(headers.iter().map(|(name, value)| format!("{name}: {value}")));
        if !body.is_empty() {
            lines.push(format!("Content-Length: {}", body.len()));
        }
        self.send(format!("{}\r\n\r\n{body}", lines.join("\r\n")).as_bytes())
    }

    pub(super) fn get(&self, path: &str) -> Reply {
        self.request("GET", path, &[], "")
    }

    /// Polls until the reply matches: files are checked once a second.
    pub(super) fn wait_until(&self, path: &str, is_so: impl Fn(&Reply) -> bool) {
        for _ in 0..100 {
            if is_so(&self.get(path)) {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
        panic!("{path} stays as it is: {:?}", self.get(path));
    }

    /// Stops the server and returns its standard error.
    pub(super) fn end(mut self) -> String {
        self.child.kill().unwrap();
        let mut said = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        said
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
