//! `reasonscape plan` and `reasonscape run`, against simulated models on a real socket.

mod coverage;
mod damaged_responses;
mod datasets;
mod echoed_secrets;
#[cfg(target_os = "linux")]
mod full_disk;
mod interrupt;
mod kills;
mod lost_cache;
mod order;
mod precision;
mod scored;
mod secrets;
#[cfg(target_os = "linux")]
mod stopped_readers;
mod terminal;
mod unusable_paths;
mod verified;
mod versions;

use std::fs;
use std::path::{Path, PathBuf};

use reasonscape_core::Suite;
use reasonscape_simulator::{Faults, SimulateOptions, SimulatedServer};
use reasonscape_test_support::study_toml;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::test_env::{Run, assert_rejected, reasonscape};

/// A small suite: three points of three tasks, eight tests each.
const SUITE: &str = r#"
name = "small"
count = 8
[[manifold]]
id = "arithmetic"
task = "arithmetic@1"
points = [{ length = 3, max_depth = 0 }]
[[manifold]]
id = "boolean"
task = "boolean@1"
points = [{ length = 4, max_depth = 1 }]
[[manifold]]
id = "sort"
task = "sort@1"
points = [{ length = 4 }]
"#;

/// A study of two models, the server that simulates them, and a folder for the study.
struct RunEnv {
    server: SimulatedServer,
    folder: TempDir,
}

impl RunEnv {
    fn new() -> Self {
        Self::with("", None)
    }

    /// Faults as `--faults` takes them, and the key that the server demands.
    fn with(faults: &str, api_key: Option<&str>) -> Self {
        Self::with_options(SimulateOptions {
            faults: if faults.is_empty() { Faults::default() } else { faults.parse().unwrap() },
            api_key: api_key.map(str::to_owned),
            ..SimulateOptions::default()
        })
    }

    fn with_options(options: SimulateOptions) -> Self {
        let server = SimulatedServer::start(SimulateOptions {
            suites: vec![Suite::parse(SUITE).unwrap()],
            count: Some(256),
            threads: 1,
            ..options
        })
        .unwrap();
        let folder = TempDir::new().unwrap();
        let env = Self { server, folder };
        fs::write(env.path().join("small.toml"), SUITE).unwrap();
        env.write_study(&["sim-p0.9", "sim-cheap"], "");
        env
    }

    /// Writes the study anew, with these models and these settings for each.
    fn write_study(&self, models: &[&str], settings: &str) {
        let text = study_toml("small.toml", &self.server.base_url(), models, settings);
        fs::write(self.path().join("study.toml"), text).unwrap();
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn cache(&self) -> PathBuf {
        self.path().join("cache.sqlite")
    }

    fn command(&self, command: &str, arguments: &[&str]) -> Run {
        let run = reasonscape(&[&[command, self.path().to_str().unwrap()], arguments].concat());
        assert!(!run.stderr.contains("panicked"), "{run:?}");
        run
    }

    fn plan(&self, arguments: &[&str]) -> Run {
        self.command("plan", arguments)
    }

    fn run(&self, arguments: &[&str]) -> Run {
        self.command("run", arguments)
    }

    /// Runs to the end and gives what it says to programs.
    fn run_to_end(&self, arguments: &[&str]) -> Value {
        let run = self.run(&[arguments, &["--format", "json"]].concat());
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{run:?}");
        serde_json::from_str(&run.stdout).unwrap()
    }

    /// Nothing is in the folder but what the test put there: no cache, nor what stands beside one.
    fn assert_is_untouched(&self) {
        let files = fs::read_dir(self.path()).unwrap().map(|file| file.unwrap().file_name());
        let mut names: Vec<_> = files.map(|name| name.into_string().unwrap()).collect();
        names.sort();
        assert_eq!(names, ["small.toml", "study.toml"]);
    }

    fn assert_cache_is_sound(&self, entries: u64) {
        let verified = reasonscape(&["cache", "verify", self.path().to_str().unwrap(), "--format", "json"]);
        assert_eq!(verified.code, 0, "{verified:?}");
        let found: Value = serde_json::from_str(&verified.stdout).unwrap();
        assert_eq!((&found["entries"], &found["damaged"]), (&json!(entries), &json!([])), "{found}");
    }
}

fn sum(evals: &Value, key: &str) -> u64 {
    evals.as_array().unwrap().iter().map(|eval| eval[key].as_u64().unwrap()).sum()
}

fn keys(object: &Value) -> Vec<&str> {
    object.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn plan_counts_requests_before_and_after_a_run() {
    let env = RunEnv::new();
    let before = env.plan(&[]);
    assert_eq!((before.code, before.stderr.lines().count()), (0, 2), "{before:?}");
    assert!(before.stderr.contains("a quarter of the limit") && before.stderr.contains("set `price_prompt`"));
    insta::assert_snapshot!(before.stdout);
    assert!(!env.cache().exists(), "a plan writes nothing");

    env.run_to_end(&["--eval", "sim-cheap"]);
    assert_eq!(env.server.stats().requests, 24);
    let after: Value = serde_json::from_str(&env.plan(&["--format", "json"]).stdout).unwrap();
    assert_eq!(
        keys(&after[0]),
        [
            "cached",
            "completion_tokens",
            "cost",
            "eval_id",
            "most_completion_tokens",
            "name",
            "points",
            "prompt_tokens",
            "to_send",
            "trials"
        ]
    );
    let counts = |eval: &Value| [&eval["trials"], &eval["cached"], &eval["to_send"]].map(Value::as_u64);
    assert_eq!(counts(&after[0]), [Some(24), Some(0), Some(24)]);
    assert_eq!(counts(&after[1]), [Some(24), Some(24), Some(0)]);
    assert_eq!(env.server.stats().requests, 24, "a plan sends nothing");
}

#[test]
fn reports_in_four_formats_and_sends_no_request_twice() {
    let env = RunEnv::new();
    let first = env.run(&[]);
    assert_eq!((first.code, first.stderr.lines().count()), (0, 2), "{first:?}");
    assert!(first.stderr.starts_with("note: scored; `reasonscape analyze scores "), "{first:?}");
    assert!(first.stdout.lines().all(|line| line.chars().count() <= 100), "{}", first.stdout);
    insta::assert_snapshot!(first.stdout);
    assert_eq!((env.server.stats().requests, env.server.stats().duplicates), (48, 0));

    let csv = env.run(&["--format", "csv"]);
    let mut lines = csv.stdout.lines();
    assert_eq!(lines.next(), Some("eval,name,planned,cached,answered,truncated,missing,tokens,cost"));
    assert!(lines.next().unwrap().ends_with(",sim-p0.9,24,24,0,0,0,0,"), "{csv:?}");
    let markdown = env.run(&["--format", "markdown"]);
    assert_eq!(markdown.stdout.lines().count(), 4);
    assert!(markdown.stdout.lines().all(|line| line.starts_with("| ") && line.ends_with(" |")));
    let json = env.run_to_end(&[]);
    assert_eq!(
        keys(&json[0]),
        [
            "answered",
            "cached",
            "complete",
            "completion_tokens",
            "cost",
            "eval_id",
            "missing",
            "missing_trials",
            "name",
            "planned",
            "prompt_tokens",
            "saved_completion_tokens",
            "saved_cost",
            "saved_prompt_tokens",
            "saved_requests",
            "sent",
            "stopped",
            "truncated"
        ]
    );
    assert_eq!((sum(&json, "cached"), sum(&json, "sent"), &json[0]["complete"]), (48, 0, &json!(true)));
    assert_eq!(env.server.stats().requests, 48);
    env.assert_cache_is_sound(48);
}

#[test]
fn reports_what_the_cache_saved_per_run_and_per_study() {
    let env = RunEnv::new();
    env.write_study(&["sim-p0.9"], "price_prompt = 1000.0\nprice_completion = 2000.0");
    let paid = &env.run_to_end(&["--count", "4"])[0];
    let count = |key: &str| paid[key].as_u64().unwrap();
    let (requests, tokens) = (count("sent"), count("prompt_tokens") + count("completion_tokens"));
    let cost = paid["cost"].as_f64().unwrap();
    assert!(requests > 0 && tokens > 1_000 && tokens < 1_000_000 && cost > 1.0, "{paid}");
    let stats =
        |format: &str| reasonscape(&["cache", "stats", env.path().to_str().unwrap(), "--format", format]);
    let saved: Value = serde_json::from_str(&stats("json").stdout).unwrap();
    assert_eq!((&saved["saved_requests"], &saved["saved_cost"]), (&json!(0), &Value::Null));
    assert!(!stats("table").stderr.contains("saved over all runs"));

    let thousands = |n: u64| format!("{},{:03}", n / 1_000, n % 1_000);
    for repeat in 1..=2 {
        let again = env.run(&["--count", "4"]);
        let note = format!(
            "note: cache: {requests} of {requests} requests answered from the cache; saved {} tokens, cost {cost:.2}\n",
            thousands(tokens)
        );
        assert!(again.stderr.contains(&note), "{note}: {again:?}");
        let saved: Value = serde_json::from_str(&stats("json").stdout).unwrap();
        for (key, once) in [
            ("saved_requests", requests),
            ("saved_prompt_tokens", count("prompt_tokens")),
            ("saved_completion_tokens", count("completion_tokens")),
        ] {
            assert_eq!(saved[key], json!(repeat * once), "{key}: {saved}");
        }
        assert!((saved["saved_cost"].as_f64().unwrap() - repeat as f64 * cost).abs() < 1e-9, "{saved}");
        let note = format!(
            "note: saved over all runs: {} requests, {} tokens, cost {:.2}\n",
            repeat * requests,
            thousands(repeat * tokens),
            repeat as f64 * cost
        );
        let table = stats("table");
        assert!(table.stderr.contains(&note), "{note}: {table:?}");
    }
}

#[test]
fn runs_part_of_a_study_and_the_rest_later() {
    let env = RunEnv::new();
    let some = env.run_to_end(&["--eval", "sim-cheap", "--task", "sort", "--count", "4"]);
    assert_eq!((some.as_array().unwrap().len(), sum(&some, "sent")), (1, 4));
    assert_eq!(sum(&env.run_to_end(&["--eval", "sim-cheap", "--task", "sort", "--count", "16"]), "sent"), 12);
    let rest = env.run_to_end(&[]);
    assert_eq!((sum(&rest, "cached"), sum(&rest, "sent")), (8, 40));
    assert_eq!(env.server.stats().duplicates, 0);
    // By the six digits of its id, too.
    let id = rest[0]["eval_id"].as_str().unwrap();
    assert_eq!(env.run_to_end(&["--eval", id])[0]["name"], "sim-p0.9");
}

#[test]
fn shards_share_a_study_without_overlap() {
    let env = RunEnv::new();
    let (first, second) = (env.run_to_end(&["--shard", "1/2"]), env.run_to_end(&["--shard", "2/2"]));
    assert!(sum(&first, "sent") > 0 && sum(&second, "sent") > 0);
    assert_eq!(sum(&first, "planned") + sum(&second, "planned"), 48);
    assert_eq!((env.server.stats().requests, env.server.stats().duplicates), (48, 0));
    assert_eq!(sum(&env.run_to_end(&[]), "cached"), 48);
}

#[test]
fn token_budget_ends_a_run_early() {
    let env = RunEnv::new();
    env.write_study(&["sim-p0.9"], "concurrency = 1");
    let run = env.run(&["--budget-tokens", "1000", "--format", "json"]);
    assert_eq!(run.code, 1, "{run:?}");
    assert!(
        run.stderr.contains("note: sim-p0.9 ended early: the budget of 1000 tokens is used up"),
        "{run:?}"
    );
    let json: Value = serde_json::from_str(&run.stdout).unwrap();
    let answered = sum(&json, "answered");
    let error = format!("error: {} of 24 requests got no response; the others are cached", 24 - answered);
    assert!(run.stderr.contains(&error), "{run:?}");
    // One in flight at a time, of less than 200 tokens each: it goes over by one answer at most.
    let tokens = sum(&json, "prompt_tokens") + sum(&json, "completion_tokens");
    assert!((1000..1200).contains(&tokens), "{json}");
    assert!((1..24).contains(&answered) && json[0]["complete"] == json!(false), "{json}");
    assert_eq!(sum(&json, "planned"), 24, "the whole plan, although it ended early");
    assert_eq!(sum(&env.run_to_end(&[]), "cached"), answered);
}

#[test]
fn precision_samples_each_point_until_reached() {
    let env = RunEnv::new();
    env.write_study(&["sim-p0.9"], "");
    let note = env.plan(&["--precision", "0.08"]).stderr;
    assert!(note.contains("an upper bound"), "{note}");
    let coarse = env.run_to_end(&["--precision", "0.2"]);
    let fine = env.run_to_end(&["--precision", "0.08"]);
    // One round of 16 tests is enough for 0.2; nine in ten needs about 55 for 0.08, and never 256.
    assert_eq!(sum(&coarse, "answered"), 48);
    let asked = sum(&fine, "cached") + sum(&fine, "answered");
    assert!(sum(&fine, "cached") == 48 && (96..768).contains(&asked), "{fine}");
    assert_eq!(sum(&env.run_to_end(&["--precision", "0.08"]), "sent"), 0, "it is reached");
}

#[test]
fn rejects_unknown_names_listing_known_ones() {
    let env = RunEnv::new();
    for command in ["plan", "run"] {
        let refused =
            |arguments: &[&str], says: &[&str]| assert_rejected(&env.command(command, arguments), says);
        refused(&["--eval", "sim-cheep"], &["no evaluation is called sim-cheep", "sim-p0.9, sim-cheap"]);
        refused(&["--task", "sorting"], &["no task sorting", "it has arithmetic, boolean, sort"]);
        // One that there is does not excuse one that there is not.
        refused(&["--eval", "sim-cheap", "--eval", "b"], &["no evaluation is called b;"]);
        refused(&["--task", "sort", "--task", "dates"], &["the suite has no task dates;"]);
        refused(&["--precision", "7"], &["invalid margin `--precision 7`", "e.g. 0.05"]);
        refused(&["--precision", "NaN"], &["invalid margin"]);
        refused(&["--precision", "0.1", "--count", "8"], &["--precision", "--count"]);
        refused(&["--shard", "3/2"], &["invalid shard `3/2`", "`1/4` to `4/4`"]);
        refused(&["--count", "0"], &["--count"]);
        refused(&["--log", "loud"], &["invalid level `--log loud`", "trace"]);
        env.assert_is_untouched();
    }
    assert_eq!(env.server.stats().requests, 0);
}

#[test]
fn retries_faults_or_reports_them() {
    let env = RunEnv::with("rate=0.3,kinds=429+500+reset+half+invalid-json+empty,retry-after=0.01", None);
    let json = env.run_to_end(&[]);
    assert_eq!((sum(&json, "answered"), sum(&json, "missing")), (48, 0));
    assert!(sum(&json, "sent") > 48, "{json}");
    env.assert_cache_is_sound(48);

    let env = RunEnv::with("rate=1,kinds=500", None);
    env.write_study(&["sim-p0.9"], "max_retries = 1");
    // Few enough that the endpoint is not given up as a whole.
    let run = env.run(&["--task", "sort", "--count", "5", "--format", "json"]);
    assert_eq!(run.code, 1, "{run:?}");
    // Five trials with one problem are one line.
    assert_eq!(run.stderr.lines().count(), 2, "{run:?}");
    assert!(run.stderr.starts_with("note: sim-p0.9: missing sort {\"case_mutation\": 0.0"), "{run:?}");
    assert!(run.stderr.contains(" and 4 more: the provider failed (HTTP 500)"), "{run:?}");
    let json: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!((&json[0]["missing"], json[0]["missing_trials"].as_array().unwrap().len()), (&json!(5), 5));
    env.assert_cache_is_sound(0);
    let quiet = env.run(&["--task", "sort", "--count", "5", "--quiet"]);
    assert_eq!((quiet.code, quiet.stderr.lines().count()), (1, 1), "{quiet:?}");
}

#[test]
fn reports_unreachable_endpoint_once_with_a_hint() {
    let env = RunEnv::new();
    let file = env.path().join("study.toml");
    env.write_study(&["sim-cheap"], "");
    let study = fs::read_to_string(&file).unwrap();
    let address = env.server.base_url();
    let free = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}/v1", listener.local_addr().unwrap())
    };
    for (url, says) in [
        (free, "connection refused by `127.0.0.1:"),
        (
            "http://no-such-host.invalid/v1".to_owned(),
            "unknown host `no-such-host.invalid`; check the host name",
        ),
        (address.replace("http:", "https:"), "use http:// for a server without TLS"),
        (address.replace("/v1", "/v2"), "check `model` and `base_url`, which usually ends with `/v1`"),
    ] {
        fs::write(&file, study.replace(&address, &url)).unwrap();
        let run = env.run(&["--format", "json"]);
        assert_eq!((run.code, run.stderr.lines().count()), (1, 1), "{run:?}");
        assert!(run.stderr.starts_with("error: no request got a response: "), "{run:?}");
        assert!(run.stderr.contains(says), "{run:?}");
        let json: Value = serde_json::from_str(&run.stdout).unwrap();
        assert_eq!((sum(&json, "planned"), sum(&json, "answered")), (24, 0), "{json}");
        env.assert_cache_is_sound(0);
    }
    // What could not be reached is no answer: the right address asks it all.
    fs::write(&file, study).unwrap();
    assert_eq!(sum(&env.run_to_end(&[]), "answered"), 24);
}
