//! Runs: made, started, watched, cancelled and deleted over a socket, against simulated models.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use reasonscape_core::{Dataset, Suite};
use reasonscape_simulator::{Faults, SimulateOptions, SimulatedServer};
use serde_json::{Value, json};

use super::api::check;
use super::server::{Reply, Server, Study};

const SUITE: &str = r#"
name = "small"
count = 8
[[manifold]]
id = "arithmetic"
task = "arithmetic"
points = [{ length = 3, max_depth = 0 }]
[[manifold]]
id = "sort"
task = "sort"
points = [{ length = 4 }]
"#;

const QUESTIONS: &str = "{\"input\": \"What is 6 * 7?\", \"target\": \"42\"}\n\
                         {\"input\": \"What is 2 + 2?\", \"target\": \"4\"}\n";

/// A study that nobody has asked yet, simulated models, and a server that shows the study.
pub(super) struct World {
    pub(super) models: SimulatedServer,
    pub(super) server: Server,
}

impl World {
    pub(super) fn new() -> Self {
        Self::with("", None, &[])
    }

    /// Faults as `simulate --faults` takes them, the key that models demand, and the environment of the server.
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
        let url = models.base_url();
        let eval = |model: &str, more: &str| {
            format!("[[eval]]\nmodel = \"{model}\"\nbase_url = \"{url}\"\nconcurrency = 2\n{more}\n")
        };
        let key = if api_key.is_some() { "api_key_env = \"PEOPLES_KEY\"" } else { "" };
        let text = format!("suite = \"small.toml\"\n{}{}", eval("sim-p0.9", key), eval("sim-cheap", key));
        let study = Arc::new(Study::of(&[("small.toml", SUITE), ("study.toml", &text)]));
        Self { server: Server::on(study, &[], variables), models }
    }

    fn folder(&self) -> PathBuf {
        PathBuf::from(self.server.study.path())
    }

    pub(super) fn post(&self, path: &str, body: &Value) -> Reply {
        self.server.ask("POST", &format!("/api/v1{path}"), &[], &body.to_string())
    }

    /// A run of the study itself that is made and not started.
    pub(super) fn of_study(&self, more: &Value) -> String {
        let mut wish = json!({ "ask": "study" });
        wish.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.made(&wish)
    }

    /// What a run of its own is asked with.
    pub(super) fn own(&self, more: &Value) -> Value {
        let mut wish = json!({ "ask": "suite", "suite": "study", "models": ["sim-p0.9"],
                               "base_url": self.models.base_url() });
        wish.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        wish
    }

    pub(super) fn made(&self, wish: &Value) -> String {
        let reply = self.post("/runs", wish);
        assert_eq!(reply.status, 201, "{reply:?}");
        let name = reply.json()["name"].as_str().unwrap().to_owned();
        assert_eq!(reply.header("location"), Some(format!("/api/v1/runs/{name}").as_str()));
        name
    }

    pub(super) fn get(&self, name: &str) -> Value {
        self.server.get(&format!("/api/v1/runs/{name}")).json()
    }

    pub(super) fn start(&self, name: &str, keys: &Value) -> Reply {
        self.post(&format!("/runs/{name}/start"), &json!({ "keys": keys }))
    }

    /// Starts a run and waits for its end.
    pub(super) fn done(&self, name: &str) -> Value {
        let reply = self.start(name, &json!({}));
        assert_eq!(reply.status, 202, "{reply:?}");
        self.ended(name)
    }

    pub(super) fn ended(&self, name: &str) -> Value {
        let events = events(&self.server, name);
        assert_eq!(events.last().unwrap().0, "end", "{events:?}");
        self.get(name)
    }

    fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
        for _ in 0..2000 {
            if is_so() {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("20 seconds have passed before {what}");
    }
}

/// Watches a run until it ends: kinds of events and what they say.
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
fn everything(folder: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        bytes.extend(if path.is_dir() { everything(&path) } else { fs::read(&path).unwrap() });
    }
    bytes
}

fn shows(bytes: &[u8], secret: &str) -> bool {
    bytes.windows(secret.len()).any(|window| window == secret.as_bytes())
}

#[test]
fn a_study_without_trials_is_run_from_the_browser() {
    let world = World::new();
    let home = world.server.get("/");
    assert_eq!((home.status, home.header("location")), (303, Some("/runs")), "{home:?}");
    assert_eq!(world.server.get("/api/v1/leaderboard").status, 404);
    assert_eq!(world.server.get("/metrics").status, 200);
    assert!(world.server.get("/runs").body.contains("No runs yet"));

    let name = world.of_study(&json!({}));
    assert_eq!(name, "small-1");
    let plan = world.server.get("/api/v1/runs/small-1/plan").json();
    let to_send: u64 =
        plan["evals"].as_array().unwrap().iter().map(|one| one["to_send"].as_u64().unwrap()).sum();
    assert_eq!(to_send, 32, "{plan}");
    assert_eq!(world.models.stats().requests, 0, "nothing is sent before the start");
    let page = world.server.get("/runs/small-1").body;
    assert!(page.contains("<b>32</b> requests") && page.contains(">Start</button>"), "{page}");

    let run = world.done(&name);
    assert_eq!((&run["state"], &run["reason"]), (&json!("complete"), &Value::Null), "{run}");
    assert_eq!((sum(&run, "answered"), sum(&run, "done"), world.models.stats().answered), (32, 32, 32));
    assert_eq!(run["has_results"], true);
    // Files are looked at once a second.
    std::thread::sleep(Duration::from_millis(1_100));
    let board = world.server.get("/api/v1/leaderboard").json();
    assert_eq!(board["rows"].as_array().unwrap().len(), 2, "{board}");
    assert!(world.server.get("/runs").body.contains("class=\"state complete\""));

    // More tests pay for the difference only.
    let more = world.of_study(&json!({ "count": 12, "evals": [board["rows"][0]["eval_id"]] }));
    let run = world.done(&more);
    assert_eq!((sum(&run, "cached"), sum(&run, "answered")), (16, 8), "{run}");
}

#[test]
fn a_run_of_its_own_is_a_study_of_its_own() {
    let world = World::new();
    let wish = world.own(&json!({ "models": ["sim-p0.9", "sim-cheap"], "count": 4, "price_prompt": 1,
                                  "price_completion": 1000, "template": "zero-shot", "sampler": "greedy-4k" }));
    let name = world.made(&wish);
    let plan = world.server.get(&format!("/api/v1/runs/{name}/plan")).json();
    assert!(plan["evals"][0]["cost"].as_f64().unwrap() > 0.0, "{plan}");
    let run = world.done(&name);
    assert_eq!(run["state"], "complete", "{run}");
    assert!(run["progress"][0]["cost"].as_f64().unwrap() > 0.0, "{run}");
    // The study that is shown is as it was.
    assert!(!world.folder().join("cache.sqlite").exists());
    assert_eq!(world.server.get("/").header("location"), Some("/runs"));

    let view = format!("/runs/{name}/view");
    assert_eq!(world.server.get(&view).header("location"), Some(format!("{view}/").as_str()));
    let page = world.server.get(&format!("{view}/")).body;
    assert!(page.contains("sim-cheap") && page.contains(&format!("› run {name}")), "{page}");
    for part in page.split("href=\"").skip(1) {
        let target = part.split('"').next().unwrap().replace("&#x2f;", "/");
        let is_ours = target.starts_with(&view) || ["/", "/runs", "#main"].contains(&target.as_str());
        assert!(is_ours, "{target}");
    }
    for path in [
        "/trials",
        "/explorer",
        "/compare",
        "/forensics",
        "/api/v1/evals",
        "/leaderboard.csv",
        "/assets/site.css",
    ] {
        assert_eq!(world.server.get(&format!("{view}{path}")).status, 200, "{path}");
    }
    let packed = world.server.ask("GET", &format!("{view}/"), &[("Accept-Encoding", "gzip")], "");
    assert_eq!((packed.status, packed.header("content-encoding")), (200, Some("gzip")));
    for path in ["/runs", "/login", "/no-such"] {
        assert_eq!(world.server.get(&format!("{view}{path}")).status, 404, "{path}");
    }
    // The command line finds nothing left to ask.
    let folder = world.folder().join("runs").join(&name);
    let planned = crate::world::reasonscape(&["plan", folder.to_str().unwrap(), "--format", "json"]);
    let planned: Value = serde_json::from_str(&planned.stdout).unwrap();
    assert_eq!((&planned[0]["to_send"], &planned[0]["trials"]), (&json!(0), &json!(8)), "{planned}");

    let deleted = world.server.ask("DELETE", &format!("/api/v1/runs/{name}"), &[], "");
    assert_eq!(deleted.status, 204, "{deleted:?}");
    assert!(!folder.exists());
    assert_eq!(world.server.get(&format!("{view}/")).status, 404);
    assert!(world.folder().join("study.toml").exists());
}

#[test]
fn a_dataset_is_uploaded_and_asked() {
    let world = World::new();
    let upload = |name: &str, text: &str| {
        world.server.ask("POST", &format!("/api/v1/datasets?name={name}"), &[], text)
    };
    let taken = upload("..%2F..%2FMy%20Questions.jsonl", QUESTIONS);
    assert_eq!(taken.status, 201, "{taken:?}");
    let told = taken.json();
    assert_eq!((&told["name"], &told["rows"]), (&json!("my-questions.jsonl"), &json!(2)), "{told}");
    assert_eq!(told["columns"], json!(["input", "target"]));
    assert_eq!(told["problems"], json!([]));
    let again = upload("my-questions.jsonl", QUESTIONS).json();
    assert_eq!(again["name"], "my-questions-2.jsonl");
    let listed = world.server.get("/api/v1/datasets").json();
    assert_eq!(listed["datasets"].as_array().unwrap().len(), 2, "{listed}");

    // Every wrong line is told, and nothing is kept.
    let broken = upload("broken.jsonl", "{\"input\": 1\n{\"input\": \"a\", \"target\": \"b\"}\n[1]\n");
    let said = broken.json()["error"].as_str().unwrap().to_owned();
    assert!(broken.status == 400 && said.contains("2 lines are wrong"), "{said}");
    assert!(said.contains("\nline 1: ") && said.contains("\nline 3: "), "{said}");
    // Rows that lack something may have it under another name.
    let foreign = upload("foreign.csv", "question,answer\nWhat is 6 * 7?,#### 42\n").json();
    assert_eq!(foreign["columns"], json!(["answer", "question"]), "{foreign}");
    assert!(foreign["problems"][0].as_str().unwrap().starts_with("line "), "{foreign}");
    let wish = |more: &Value| {
        let mut wish =
            json!({ "ask": "dataset", "models": ["sim-p0.9"], "base_url": world.models.base_url() });
        wish.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        wish
    };
    let refused = world.post("/runs", &wish(&json!({ "dataset": "foreign.csv" })));
    assert!(refused.status == 400 && refused.body.contains("line "), "{refused:?}");
    assert_eq!(fs::read_dir(world.folder().join("runs")).map_or(0, Iterator::count), 0);
    let mapped = json!({ "dataset": "foreign.csv", "map": "input=question,target=answer", "target_regex": "#### (.*)" });
    let run = world.done(&world.made(&wish(&mapped)));
    assert_eq!((&run["state"], sum(&run, "answered")), (&json!("complete"), 1), "{run}");
    assert_eq!(run["asks"], "dataset foreign, 1 questions");

    let name = world.made(&wish(&json!({ "dataset": "my-questions.jsonl", "repeats": 3 })));
    let run = world.done(&name);
    assert_eq!((&run["state"], sum(&run, "answered")), (&json!("complete"), 6), "{run}");
    let folder = world.folder().join("runs").join(&name);
    assert!(folder.join("results/metrics.json").exists());
    let gone = world.server.ask("DELETE", "/api/v1/datasets/my-questions.jsonl", &[], "");
    assert_eq!(gone.status, 204, "{gone:?}");
    assert!(folder.join("my-questions.jsonl").exists(), "a run has its own copy");

    let pasted = world.server.ask(
        "POST",
        "/datasets",
        &[],
        "name=p.jsonl&text=%7B%22input%22%3A1%2C%22target%22%3A2%7D",
    );
    assert_eq!(pasted.header("location"), Some("/runs/new?ask=dataset&dataset=p.jsonl"), "{pasted:?}");
    let wrong = world.server.ask("POST", "/datasets", &[], "name=p.jsonl&text=%3Cscript%3E");
    assert!(wrong.status == 400 && wrong.body.contains("a line is wrong"), "{wrong:?}");
    assert!(!wrong.body.contains("<script>") && wrong.body.contains("&lt;script&gt;"), "{wrong:?}");
}

#[test]
fn what_is_too_long_or_not_a_dataset_is_refused() {
    let world = World::new();
    let upload = |name: &str, headers: &[(&str, &str)], body: &str| {
        world.server.ask("PUT", &format!("/api/v1/datasets?name={name}"), headers, body)
    };
    let long = upload("x.jsonl", &[("Content-Length", "67108865")], "");
    assert!(long.status == 413 && long.body.contains("64 MiB"), "{long:?}");
    for wrong in ["", "x", "x.exe", "study.toml", "x.jsonl%00", "%2e%2e%2f.jsonl%2f"] {
        assert_eq!(upload(wrong, &[], "{}").status, 400, "{wrong}");
    }
    assert_eq!(upload("x.parquet", &[], "no parquet").status, 400);
    assert_eq!(upload("x.jsonl", &[], "\n\n").status, 400);
    assert_eq!(fs::read_dir(world.folder().join("datasets")).map_or(0, Iterator::count), 0);
    // Others have the limit that they had.
    assert_eq!(world.server.ask("POST", "/api/v1/runs", &[("Content-Length", "70000")], "").status, 413);

    // A body of pieces says nothing of its length, and is measured as it comes.
    let mut stream = TcpStream::connect(&world.server.address).unwrap();
    let head = format!(
        "POST /api/v1/datasets?name=x.jsonl HTTP/1.1\r\nHost: {}\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n",
        world.server.address
    );
    stream.write_all(head.as_bytes()).unwrap();
    let piece = [b"100000\r\n".as_slice(), &vec![b'x'; 0x10_0000], b"\r\n"].concat();
    let sent = (0..80).take_while(|_| stream.write_all(&piece).is_ok()).count();
    assert!(sent < 80, "all of it was taken");
    assert_eq!(fs::read_dir(world.folder().join("datasets")).map_or(0, Iterator::count), 0);
}

#[test]
fn what_makes_no_sense_is_told_where_it_can_be_mended() {
    let world = World::new();
    for (wish, says) in [
        (json!({}), "missing field `ask`"),
        (json!({ "ask": "all" }), "unknown variant"),
        (json!({ "ask": "study", "evals": ["no-such"] }), "no evaluation is called no-such"),
        (json!({ "ask": "study", "tasks": ["<script>"] }), "the suite has no task"),
        (json!({ "ask": "study", "count": 4_000_000_000_u32 }), "from 1 to 100000"),
        (json!({ "ask": "study", "count": 99_999_999_999_u64 }), "this is no run"),
        (world.own(&json!({ "suite": "../../small.toml" })), "unknown suite"),
        (world.own(&json!({ "models": [] })), "at least one model"),
        (world.own(&json!({ "models": ["a", "a"] })), "again"),
        (world.own(&json!({ "base_url": "file:///etc/passwd" })), "begins with `file:`"),
        (world.own(&json!({ "template": "../x" })), "no name"),
        (world.own(&json!({ "sampler": "none" })), "unknown sampler"),
        (world.own(&json!({ "provider": "none" })), "unknown provider"),
        (world.own(&json!({ "api_key_env": "PATH" })), "ends in `_API_KEY`"),
        (world.own(&json!({ "api_key_env": "REASONSCAPE_TOKEN" })), "not lent"),
        (world.own(&json!({ "price_prompt": 1 })), "go together"),
        (world.own(&json!({ "ask": "dataset", "dataset": "../study.toml" })), "no such dataset"),
        (world.own(&json!({ "ask": "dataset", "dataset": "\0" })), "no such dataset"),
    ] {
        let reply = world.post("/runs", &wish);
        assert!([400, 404].contains(&reply.status), "{wish}: {reply:?}");
        let said = reply.json()["error"].as_str().unwrap().to_owned();
        assert!(said.contains(says), "{wish}: {said}");
        assert!(!said.contains(world.server.study.path()), "{said}");
    }
    let entries = fs::read_dir(world.folder().join("runs")).map_or(0, Iterator::count);
    assert_eq!(entries, 0, "what was refused left nothing");

    // The form comes back as it was filled in.
    let form =
        "ask=suite&suite=r12&models=%3Cscript%3Ealert(1)%3C%2Fscript%3E&base_url=nowhere&sampler=greedy-8k";
    let back = world.server.ask("POST", "/runs", &[], form);
    assert_eq!(back.status, 400);
    assert!(back.body.contains("no address") && back.body.contains("&lt;script&gt;alert(1)"), "{back:?}");
    assert!(!back.body.contains("<script>"));
    assert!(
        back.body.contains("<option value=\"r12\" selected>")
            && back.body.contains("<option value=\"greedy-8k\" selected>")
    );

    for name in
        ["..", "%2e%2e", "..%2f..%2fstudy.toml", "a%00", "%C3%A9", "small-9", "SMALL-1", &"x".repeat(300)]
    {
        for path in ["", "/plan", "/events"] {
            let reply = world.server.get(&format!("/api/v1/runs/{name}{path}"));
            assert_eq!(reply.status, 404, "{name}{path}: {reply:?}");
        }
        for path in ["", "/delete", "/view", "/view/", "/view/trials"] {
            assert_eq!(world.server.get(&format!("/runs/{name}{path}")).status, 404, "{name}{path}");
        }
        for (method, path) in [("POST", "/start"), ("POST", "/cancel"), ("DELETE", "")] {
            assert_eq!(
                world.server.ask(method, &format!("/api/v1/runs/{name}{path}"), &[], "").status,
                404,
                "{name}"
            );
        }
    }
    assert!(world.folder().join("study.toml").exists() && world.folder().join("small.toml").exists());
    // A folder of somebody else is nobody's run.
    fs::create_dir_all(world.folder().join("runs/mine-1")).unwrap();
    fs::write(world.folder().join("runs/mine-1/notes.txt"), "mine").unwrap();
    assert_eq!(world.server.ask("DELETE", "/api/v1/runs/mine-1", &[], "").status, 404);
    assert_eq!(world.server.get("/api/v1/runs").json()["runs"], json!([]));
    assert!(world.folder().join("runs/mine-1/notes.txt").exists());
}

#[test]
fn progress_comes_in_order_and_ends() {
    let world = World::with("kinds=slow,slow-ms=60", None, &[]);
    let name = world.of_study(&json!({}));
    assert_eq!(world.start(&name, &json!({})).status, 202);
    // Two starts at once are one.
    let second = world.start(&name, &json!({}));
    assert!(second.status == 409 && second.body.contains("going on already"), "{second:?}");
    let other = world.of_study(&json!({ "count": 1 }));
    let other = world.start(&other, &json!({}));
    assert!(other.status == 409 && other.body.contains("another run of this study"), "{other:?}");
    let page = world.server.get(&format!("/runs/{name}")).body;
    assert!(page.contains("http-equiv=\"refresh\"") && page.contains(">Cancel</button>"), "{page}");
    let refused = world.server.ask("DELETE", &format!("/api/v1/runs/{name}"), &[], "");
    assert!(refused.status == 409 && refused.body.contains("cancel it first"), "{refused:?}");

    let told = events(&world.server, &name);
    assert!(told.len() > 2, "{told:?}");
    let done: Vec<u64> = told.iter().map(|(_, run)| sum(run, "done")).collect();
    assert!(done.is_sorted() && done.last() == Some(&32), "{done:?}");
    assert!(done.iter().any(|done| (1..32).contains(done)), "{done:?}");
    let (ends, goes): (Vec<_>, Vec<_>) = told.iter().partition(|(kind, _)| kind == "end");
    assert_eq!((ends.len(), told.last().unwrap().0.as_str()), (1, "end"));
    assert!(goes.iter().all(|(kind, run)| kind == "progress" && run["state"] != "complete"));
    assert_eq!(told.last().unwrap().1["state"], "complete");
    // Of what has ended, the end is all there is to tell.
    assert_eq!(events(&world.server, &name).len(), 1);
    assert_eq!(world.models.stats().duplicates, 0);
}

#[test]
fn a_run_is_cancelled_and_goes_on_later() {
    let world = World::with("kinds=slow,slow-ms=60", None, &[]);
    let name = world.made(&world.own(&json!({ "concurrency": 2 })));
    let idle = world.post(&format!("/runs/{name}/cancel"), &json!({}));
    assert!(idle.status == 409 && idle.body.contains("is not going on"), "{idle:?}");
    assert_eq!(world.start(&name, &json!({})).status, 202);
    World::wait_until("answers came", || sum(&world.get(&name), "answered") >= 3);
    assert_eq!(world.post(&format!("/runs/{name}/cancel"), &json!({})).status, 202);
    let run = world.ended(&name);
    let answered = sum(&run, "answered");
    assert_eq!(run["state"], "cancelled", "{run}");
    assert!((3..16).contains(&answered), "{run}");
    // Nothing that was sent is lost, and what was answered can be looked at.
    assert_eq!(world.models.stats().answered, answered);
    assert_eq!(world.server.get(&format!("/runs/{name}/view/")).status, 200);
    let page = world.server.get(&format!("/runs/{name}")).body;
    assert!(page.contains(">Go on</button>") && page.contains("starting again asks the rest"), "{page}");
    let before = run["progress"][0]["completion_tokens"].as_u64().unwrap();

    let run = world.done(&name);
    assert_eq!(
        (&run["state"], sum(&run, "cached"), sum(&run, "answered")),
        (&json!("complete"), answered, 16 - answered)
    );
    assert!(
        run["progress"][0]["completion_tokens"].as_u64().unwrap() > before,
        "tokens are of all starts: {run}"
    );
    assert_eq!(world.models.stats().duplicates, 0);
}

#[test]
fn a_second_cancel_leaves_at_once() {
    let world = World::with("kinds=stall", None, &[]);
    let names = [1, 2, 3].map(|_| world.made(&world.own(&json!({}))));
    for name in &names[..2] {
        assert_eq!(world.start(name, &json!({})).status, 202);
    }
    let third = world.start(&names[2], &json!({}));
    assert!(third.status == 409 && third.body.contains("2 runs are going on already"), "{third:?}");
    World::wait_until("requests were sent", || world.models.stats().requests > 0);
    for name in &names[..2] {
        let cancel = |answer: u16| {
            assert_eq!(world.post(&format!("/runs/{name}/cancel"), &json!({})).status, answer);
        };
        cancel(202);
        World::wait_until("it said so", || {
            world.get(name)["reason"].as_str().is_some_and(|said| said.contains("in flight"))
        });
        let page = world.server.get(&format!("/runs/{name}")).body;
        assert!(page.contains(">Leave at once</button>"), "{page}");
        cancel(202);
        let run = world.ended(name);
        assert_eq!((&run["state"], sum(&run, "answered")), (&json!("cancelled"), 0), "{run}");
    }
}

#[test]
fn history_outlives_the_server() {
    let world = World::with("rate=0.9,kinds=slow,slow-ms=100", None, &[]);
    let complete = world.of_study(&json!({ "count": 1 }));
    world.done(&complete);
    let name = world.made(&world.own(&json!({ "concurrency": 1 })));
    assert_eq!(world.start(&name, &json!({})).status, 202);
    World::wait_until("answers came", || sum(&world.get(&name), "answered") >= 2);
    let study = Arc::clone(&world.server.study);
    let World { models, server } = world;
    // As by a power cut.
    drop(server);
    let world = World { server: Server::on(study, &[], &[]), models };
    let runs = world.server.get("/api/v1/runs").json();
    let states: Vec<&Value> = runs["runs"].as_array().unwrap().iter().map(|run| &run["state"]).collect();
    assert_eq!(states, ["interrupted", "complete"], "{runs}");
    let page = world.server.get(&format!("/runs/{name}")).body;
    assert!(
        page.contains("the server ended before the run did") && page.contains(">Go on</button>"),
        "{page}"
    );
    let run = world.done(&name);
    assert_eq!(run["state"], "complete", "{run}");
    assert!(sum(&run, "cached") >= 1, "{run}");
    assert_eq!(sum(&run, "cached") + sum(&run, "answered"), 16, "{run}");
}

#[cfg(unix)]
#[test]
fn the_end_of_the_server_waits_for_what_is_in_flight() {
    let signal = |server: &Server| {
        let pid = server.child.id().to_string();
        assert!(std::process::Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    };
    let mut world = World::with("kinds=slow,slow-ms=100", None, &[]);
    let name = world.of_study(&json!({}));
    world.start(&name, &json!({}));
    World::wait_until("answers came", || world.models.stats().answered >= 2);
    signal(&world.server);
    assert_eq!(world.server.child.wait().unwrap().code(), Some(0));
    let kept: Value =
        serde_json::from_slice(&fs::read(world.folder().join("runs/small-1/run.json")).unwrap()).unwrap();
    assert_eq!(kept["state"], "interrupted", "{kept}");
    assert_eq!(sum(&kept, "answered"), world.models.stats().answered, "nothing that was sent is lost");

    let mut world = World::with("kinds=stall", None, &[]);
    let name = world.of_study(&json!({}));
    world.start(&name, &json!({}));
    World::wait_until("requests were sent", || world.models.stats().requests > 0);
    signal(&world.server);
    std::thread::sleep(Duration::from_millis(300));
    signal(&world.server);
    assert_eq!(world.server.child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_typed_key_is_nowhere() {
    const SECRET: &str = "sk-Qm3Yd8Ls6Bf1-typed";
    let world = World::with("rate=0.2,kinds=500+429,retry-after=0.01", Some(SECRET), &[]);
    let mut said = Vec::new();
    let mut keep = |reply: Reply| {
        said.extend(reply.body.clone().into_bytes());
        reply
    };
    // The variable of the study is not set, and that is said; nothing begins.
    let name = world.of_study(&json!({}));
    let plan = keep(world.server.get(&format!("/api/v1/runs/{name}/plan"))).json();
    assert_eq!(
        plan["keys"],
        json!([{ "id": "PEOPLES_KEY", "variable": "PEOPLES_KEY", "is_set": false,
                                      "evals": ["sim-p0.9", "sim-cheap"] }])
    );
    let refused = keep(world.start(&name, &json!({})));
    assert!(refused.status == 400 && refused.body.contains("PEOPLES_KEY"), "{refused:?}");
    assert_eq!(world.get(&name)["state"], "planned");
    // A wrong key ends the run with a reason.
    let wrong = keep(world.start(&name, &json!({ "PEOPLES_KEY": format!("{SECRET}-wrong") })));
    assert_eq!(wrong.status, 202, "{wrong:?}");
    let run = world.ended(&name);
    assert_eq!(run["state"], "failed", "{run}");
    assert!(run["reason"].as_str().unwrap().contains("401"), "{run}");
    said.extend(run.to_string().into_bytes());
    // Typed into the form, it works.
    let form = format!("key%3APEOPLES_KEY={SECRET}");
    let started = world.server.ask("POST", &format!("/runs/{name}/start"), &[], &form);
    assert_eq!((started.status, started.header("location")), (303, Some(format!("/runs/{name}").as_str())));
    said.extend(started.body.into_bytes());
    let told = events(&world.server, &name);
    assert_eq!(told.last().unwrap().1["state"], "complete", "{told:?}");
    said.extend(json!(told).to_string().into_bytes());
    // An address that no variable belongs to takes one as well.
    let own = world.made(&world.own(&json!({})));
    let need = world.server.get(&format!("/api/v1/runs/{own}/plan")).json()["keys"][0].clone();
    assert_eq!((&need["id"], &need["variable"]), (&json!(world.models.base_url()), &Value::Null));
    let keys = json!({ need["id"].as_str().unwrap(): SECRET });
    assert_eq!(world.start(&own, &keys).status, 202);
    assert_eq!(world.ended(&own)["state"], "complete");
    for keys in [json!({ "PATH": SECRET }), json!({ "PEOPLES_KEY": format!("{SECRET}\n") }), json!([SECRET])]
    {
        let reply = world.start(&name, &keys);
        said.extend(reply.body.into_bytes());
    }
    World::wait_until("all is over", || world.get(&name)["state"] != "running");
    for path in
        ["/runs", &format!("/runs/{name}"), &format!("/runs/{own}"), "/runs/new", "/api/v1/runs", "/metrics"]
    {
        said.extend(world.server.get(path).body.into_bytes());
    }
    assert!(!shows(&said, SECRET), "{}", String::from_utf8_lossy(&said));
    assert!(!shows(&everything(&world.folder()), SECRET));
    let World { server, .. } = world;
    assert!(!server.end().contains(SECRET));
}

#[test]
fn a_key_of_the_environment_is_named_and_not_shown() {
    const SECRET: &str = "sk-7hJ2kQ9vXw4ZpL0aTn5R";
    let world = World::with("", Some(SECRET), &[("PEOPLES_KEY", SECRET), ("OTHER_API_KEY", "x")]);
    let name = world.of_study(&json!({}));
    let page = world.server.get(&format!("/runs/{name}")).body;
    assert!(page.contains("PEOPLES_KEY, which is set"), "{page}");
    let form = world.server.get("/runs/new").body;
    assert!(
        form.contains("PEOPLES_KEY, which is set") && form.contains("OTHER_API_KEY, which is set"),
        "{form}"
    );
    let run = world.done(&name);
    assert_eq!(run["state"], "complete", "{run}");
    assert!(!shows(&everything(&world.folder()), SECRET));
    assert!(!(page + &form + &run.to_string()).contains(SECRET));
}

#[test]
fn an_endpoint_that_is_not_there_is_told() {
    let world = World::new();
    let file = world.folder().join("study.toml");
    // A port that nobody listens on, and no patience.
    let text = "suite = \"small.toml\"\n[[eval]]\nmodel = \"m\"\nbase_url = \"http://127.0.0.1:9/v1\"\n\
                patience_seconds = 0.2\nmax_retries = 0\n";
    fs::write(&file, text).unwrap();
    let name = world.of_study(&json!({}));
    let run = world.done(&name);
    assert_eq!(run["state"], "failed", "{run}");
    let reason = run["reason"].as_str().unwrap();
    assert!(reason.contains("127.0.0.1:9"), "{reason}");
    let page = world.server.get(&format!("/runs/{name}")).body;
    assert!(page.contains("class=\"state failed\"") && page.contains("127.0.0.1:9"), "{page}");
}

#[test]
fn nobody_changes_anything_where_all_is_for_reading() {
    let world = World::new();
    let name = world.of_study(&json!({ "count": 1 }));
    world.done(&name);
    let study = Arc::clone(&world.server.study);
    let World { models, server } = world;
    drop(server);
    let world = World { server: Server::on(study, &["--read-only"], &[]), models };
    assert!(world.server.get("/runs").body.contains(&name));
    let page = world.server.get(&format!("/runs/{name}")).body;
    assert!(!page.contains("<form method=\"post\"") && !page.contains("Delete"), "{page}");
    assert!(!world.server.get("/runs").body.contains("New run"));
    assert!(world.server.get("/runs/new").body.contains("for reading only"));
    for (method, path) in [
        ("POST", "/runs"),
        ("POST", "/datasets"),
        ("POST", "/api/v1/runs"),
        ("POST", "/api/v1/datasets?name=x.jsonl"),
        ("PUT", "/api/v1/datasets?name=x.jsonl"),
        ("DELETE", "/api/v1/datasets/x.jsonl"),
        ("POST", &format!("/runs/{name}/start")),
        ("POST", &format!("/runs/{name}/cancel")),
        ("POST", &format!("/runs/{name}/delete")),
        ("POST", &format!("/api/v1/runs/{name}/start")),
        ("DELETE", &format!("/api/v1/runs/{name}")),
    ] {
        assert_eq!(world.server.ask(method, path, &[], "ask=study").status, 403, "{method} {path}");
    }
    // Nor does the page of somebody else, where it is not.
    let open = World::new();
    let foreign = [("Origin", "http://evil.example")];
    assert_eq!(open.server.ask("POST", "/api/v1/runs", &foreign, "{\"ask\": \"study\"}").status, 403);
    assert_eq!(open.server.get("/api/v1/runs").json()["runs"], json!([]));
}

#[test]
fn what_is_said_of_runs_is_as_it_is_described() {
    let world = World::with("rate=0.3,kinds=500,retry-after=0.01", None, &[]);
    let document = world.server.get("/api/v1/openapi.json").json();
    let answers = |path: &str, method: &str, status: &str| {
        document["paths"][path][method]["responses"][status]["content"]["application/json"]["schema"].clone()
    };
    let wish = world.own(&json!({ "price_prompt": 1, "price_completion": 1 }));
    let made = world.post("/runs", &wish);
    check(&document, &answers("/runs", "post", "201"), &made.json(), "made");
    for field in wish.as_object().unwrap().keys() {
        assert!(document["components"]["schemas"]["NewRun"]["properties"][field].is_object(), "{field}");
    }
    let name = made.json()["name"].as_str().unwrap().to_owned();
    let plan = world.server.get(&format!("/api/v1/runs/{name}/plan")).json();
    check(&document, &answers("/runs/{name}/plan", "get", "200"), &plan, "plan");
    let started = world.start(&name, &json!({})).json();
    check(&document, &answers("/runs/{name}/start", "post", "202"), &started, "started");
    for (_, run) in events(&world.server, &name) {
        check(&document, &json!({ "$ref": "#/components/schemas/Run" }), &run, "event");
    }
    let run = world.get(&name);
    check(&document, &answers("/runs/{name}", "get", "200"), &run, "run");
    check(&document, &answers("/runs", "get", "200"), &world.server.get("/api/v1/runs").json(), "runs");
    let taken = world.server.ask("POST", "/api/v1/datasets?name=x.csv", &[], "input,target\n1,2\n").json();
    check(&document, &answers("/datasets", "post", "201"), &taken, "taken");
    check(
        &document,
        &answers("/datasets", "get", "200"),
        &world.server.get("/api/v1/datasets").json(),
        "datasets",
    );
}
