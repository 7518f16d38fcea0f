//! `reasonscape metrics STUDY`, and of what `reasonscape export` writes of it.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use reasonscape_core::{Dataset, Suite};
use reasonscape_simulator::{SimulateOptions, SimulatedServer};
use reasonscape_test_support::python;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{ORACLE, assert_matches, same};
use crate::test_env::{Run, assert_rejected, reasonscape};

const SUITE: &str = r#"
name = "small"
count = 12
[[manifold]]
id = "arithmetic"
task = "arithmetic@1"
points = [{ length = 3, max_depth = 0 }, { length = 6, max_depth = 1 }]
[[manifold]]
id = "boolean"
task = "boolean@1"
points = [{ length = 4, max_depth = 1 }]
"#;

/// A server that simulates models, and a folder with the study that they answered.
struct StudyEnv {
    _server: SimulatedServer,
    folder: TempDir,
}

impl StudyEnv {
    /// A suite study of these evaluations, each given as lines of TOML.
    fn suite(settings: &str, evals: &[&str]) -> Self {
        let server = SimulatedServer::start(SimulateOptions {
            suites: vec![Suite::parse(SUITE).unwrap()],
            count: Some(64),
            threads: 1,
            ..SimulateOptions::default()
        })
        .unwrap();
        let folder = TempDir::new().unwrap();
        let mut text = format!("suite = \"small.toml\"\n{settings}\n");
        for eval in evals {
            let _ = writeln!(text, "[[eval]]\nbase_url = \"{}\"\n{eval}", server.base_url());
        }
        fs::write(folder.path().join("small.toml"), SUITE).unwrap();
        fs::write(folder.path().join("study.toml"), text).unwrap();
        let env = Self { _server: server, folder };
        let run = env.command("run", &["--quiet"]);
        assert_eq!(run.code, 0, "{run:?}");
        env
    }

    /// A dataset study with questions that have several targets, options and contexts.
    fn dataset(models: &[&str], arguments: &[&str]) -> Self {
        let mut lines = String::new();
        for number in 0..24 {
            let item = match number % 3 {
                0 => json!({ "input": format!("What is {number} + 1?"), "target": (number + 1).to_string() }),
                1 => json!({
                    "input": format!("Which city is number {number}?"), "target": ["Lyon", "Lyons"],
                    "context": format!("Anna went to Lyon in {}.", 1900 + number),
                }),
                _ => json!({
                    "input": format!("Question {number}: which one?"), "target": "B",
                    "options": [format!("{number} red"), format!("{number} blue"), format!("{number} green")],
                }),
            };
            let mut item = item;
            item["category"] = json!(if number % 2 == 0 { "even" } else { "odd" });
            let _ = writeln!(lines, "{item}");
        }
        let dataset = Dataset::parse("questions", &lines).unwrap();
        let server = SimulatedServer::start(SimulateOptions {
            suites: vec![dataset.suite()],
            threads: 1,
            ..SimulateOptions::default()
        })
        .unwrap();
        let folder = TempDir::new().unwrap();
        let file = folder.path().join("questions.jsonl");
        fs::write(&file, lines).unwrap();
        let (url, study) = (server.base_url(), folder.path().join("study"));
        let mut all =
            vec!["run", file.to_str().unwrap(), "--base-url", &url, "--into", study.to_str().unwrap()];
        for model in models {
            all.extend(["--model", model]);
        }
        all.extend(arguments);
        let run = reasonscape(&all);
        assert_eq!(run.code, 0, "{run:?}");
        let inner = TempDir::new().unwrap();
        fs::rename(&study, inner.path().join("study")).unwrap();
        Self { _server: server, folder: inner }
    }

    fn path(&self) -> PathBuf {
        let inner = self.folder.path().join("study");
        if inner.exists() { inner } else { self.folder.path().to_owned() }
    }

    fn command(&self, command: &str, arguments: &[&str]) -> Run {
        let run = reasonscape(&[&[command, self.path().to_str().unwrap()], arguments].concat());
        assert!(!run.stderr.contains("panicked"), "{run:?}");
        run
    }

    fn export(&self) -> PathBuf {
        let file = self.folder.path().join("exported.jsonl");
        let run = self.command("export", &["-o", file.to_str().unwrap(), "--quiet"]);
        assert_eq!(run.code, 0, "{run:?}");
        file
    }

    fn metrics(&self, arguments: &[&str]) -> Value {
        metrics_of(&self.path(), arguments)
    }

    fn rows(&self, query: &str) -> Vec<Value> {
        let run = self.command("sql", &[query, "--format", "json"]);
        assert_eq!(run.code, 0, "{run:?}");
        serde_json::from_str(&run.stdout).unwrap()
    }
}

fn metrics_of(path: &Path, arguments: &[&str]) -> Value {
    let run = reasonscape(&[&["metrics", path.to_str().unwrap(), "--format", "json"], arguments].concat());
    assert_eq!(run.code, 0, "{run:?}");
    serde_json::from_str(&run.stdout).unwrap()
}

/// Evaluations whose models say how confident they are, in both ways; one model is asked in two.
const CONFIDENT: [&str; 4] = [
    "model = \"sim-p0.7\"\nsampler = \"greedy-2k-logprobs\"",
    "model = \"sim-p0.7\"\ntemplate = \"cot-confidence\"",
    "model = \"sim-cheap\"\ntemplate = \"cot-confidence\"",
    "model = \"sim-p0.5-t0.3\"",
];

#[test]
fn suite_study_and_its_export_have_equal_metrics() {
    let env = StudyEnv::suite("repeats = 2", &CONFIDENT);
    let exported = env.export();
    let by_model = env.metrics(&[]);
    assert_eq!((&by_model["scorer"], by_model["models"].as_array().unwrap().len()), (&"stored".into(), 3));
    for arguments in [
        &[][..],
        &["--scorer", "stored"],
        &["--scorer", "exact"],
        &["--by", "base_task"],
        &["--by", "model,base_task"],
        &["--by", "eval_id,template,sampler"],
        &["--bins", "5"],
    ] {
        assert_eq!(env.metrics(arguments), metrics_of(&exported, arguments), "{arguments:?}");
    }
    assert_eq!(metrics_of(&env.path().join("study.toml"), &[]), by_model);
    let both = metrics_of(&exported, &["--by", "model,base_task"]);
    assert_eq!(both["models"][0]["group"], json!({ "model": "sim-p0.5-t0.3", "base_task": "arithmetic" }));
    // Tasks have no problem in common, so that only models are compared.
    assert_eq!(both["differences"].as_array().unwrap().len(), 2 * 3);

    // The counters that the study has anyway.
    for row in
        env.rows("SELECT model, sum(n) AS n, sum(n_e) AS n_e, sum(n_t) AS n_t FROM points GROUP BY model")
    {
        let found =
            by_model["models"].as_array().unwrap().iter().find(|found| found["model"] == row["model"]);
        let found = found.unwrap();
        assert_eq!((&found["n"], &found["truncated"]), (&row["n"], &row["n_t"]));
        let share = row["n_e"].as_f64().unwrap() / row["n"].as_f64().unwrap();
        same(&found["accuracy"], &json!(share), 1e-15, "accuracy");
    }
    let lines = fs::read_to_string(&exported).unwrap();
    let Some(expected) = python(ORACLE, &lines) else { return };
    let expected: Vec<(String, Value)> = serde_json::from_str(&expected).unwrap();
    assert_matches(&by_model, &expected);
}

#[test]
fn dataset_study_and_its_export_have_equal_metrics() {
    let env = StudyEnv::dataset(
        &["sim-p0.6", "sim-p0.8-t0.2"],
        &["--repeats", "2", "--template", "cot-confidence"],
    );
    let exported = env.export();
    let found = env.metrics(&[]);
    for arguments in [&[][..], &["--scorer", "exact"], &["--by", "base_task"], &["--by", "model,base_task"]] {
        assert_eq!(env.metrics(arguments), metrics_of(&exported, arguments), "{arguments:?}");
    }
    // The answers that the run wrote have the same metrics, compared with their targets instead.
    let answers = metrics_of(&env.path().join("results/answers.jsonl"), &[]);
    let by_model = |found: &Value| -> BTreeMap<String, Value> {
        let mut models: Vec<Value> = found["models"].as_array().unwrap().clone();
        for model in &mut models {
            model["scorer"].take();
        }
        models.into_iter().map(|model| (model["model"].as_str().unwrap().to_owned(), model)).collect()
    };
    assert_eq!(by_model(&found), by_model(&answers));
    for model in by_model(&found).values() {
        assert!(model["sentences_checked"].as_u64() > Some(0) && model["brier"].is_number(), "{model}");
    }
    let Some(expected) = python(ORACLE, &fs::read_to_string(&exported).unwrap()) else { return };
    let expected: Vec<(String, Value)> = serde_json::from_str(&expected).unwrap();
    assert_matches(&found, &expected);
}

/// Brier score and ECE of each evaluation, from the raw responses of the cache: nothing that the program derived from them
/// is read but the verdicts and the answers.
const CALIBRATION: &str = r#"
import collections, json, math, re, sys
given = json.load(sys.stdin)
replies = {(line["key"], line["repeat"]): line["response"] for line in given["cache"] if "kind" not in line}
def probability(trial):
    if trial["answer"] is None:
        return None
    choice = replies[trial["cache_key"], trial["repeat"]]["choices"][0]
    if choice.get("logprobs"):
        tokens = [(token["token"], token["logprob"]) for token in choice["logprobs"]["content"]]
        text = "".join(token for token, _ in tokens)
        start = text.rindex(trial["answer"])
        place, total = 0, 0.0
        for token, logprob in tokens:
            if place < start + len(trial["answer"]) and start < place + len(token):
                total += logprob
            place += len(token)
        return math.exp(total)
    stated = re.findall(r"Confidence: (\d+)%", choice["message"]["content"])
    return int(stated[-1]) / 100 if stated else None
evals = collections.defaultdict(list)
for trial in given["trials"]:
    p = probability(trial)
    assert (p is None) == (trial["prob_correct"] is None), trial
    if p is not None:
        assert abs(p - trial["prob_correct"]) < 1e-12, trial
        evals[trial["eval_id"]].append((p, int(trial["status"] == 1)))
result = {}
for name, pairs in evals.items():
    bins = collections.defaultdict(list)
    for p, c in pairs:
        bins[min(9, math.floor(p * 10))].append((p, c))
    ece = sum(abs(sum(c for _, c in held) - math.fsum(p for p, _ in held)) for held in bins.values()) / len(pairs)
    result[name] = [len(pairs), sum((p - c) ** 2 for p, c in pairs) / len(pairs), ece, len(bins)]
print(json.dumps(result))
"#;

#[test]
fn calibration_of_a_suite_matches_python_on_raw_responses() {
    let env = StudyEnv::suite("", &CONFIDENT);
    let trials = env.rows("SELECT eval_id, cache_key, repeat, status, answer, prob_correct FROM trials");
    assert!(trials.iter().any(|trial| trial["status"] == 2 && trial["prob_correct"].is_null()));
    let cache = reasonscape(&["cache", "export", env.path().to_str().unwrap()]);
    let cache: Vec<Value> = cache.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let found = env.metrics(&["--by", "eval_id"]);
    let figure = env.folder.path().join("reliability.svg");
    let drawn = env.command("metrics", &["--by", "eval_id", "--reliability", figure.to_str().unwrap()]);
    assert!(drawn.code == 0 && fs::metadata(&figure).unwrap().len() > 1_000, "{drawn:?}");
    let Some(expected) = python(CALIBRATION, &json!({ "trials": trials, "cache": cache }).to_string()) else {
        return;
    };
    let expected: serde_json::Map<String, Value> = serde_json::from_str(&expected).unwrap();
    assert_eq!(expected.len(), 3, "three of four say how confident they are");
    for model in found["models"].as_array().unwrap() {
        let eval_id = model["group"]["eval_id"].as_str().unwrap();
        let Some(expected) = expected.get(eval_id) else {
            assert!(model["brier"].is_null() && model["ece"].is_null());
            continue;
        };
        assert_eq!(model["details"]["brier"]["n"], expected[0]);
        same(&model["brier"], &expected[1], 1e-12, eval_id);
        same(&model["ece"], &expected[2], 1e-12, eval_id);
    }
}

#[test]
fn latencies_of_a_study_have_microseconds() {
    let env = StudyEnv::suite("", &["model = \"sim-p0.7\""]);
    let trials = env.rows("SELECT latency_ms, latency_us FROM trials");
    let mut micros = Vec::new();
    for trial in &trials {
        let us = trial["latency_us"].as_u64().unwrap();
        assert_eq!(trial["latency_ms"], us / 1000);
        micros.push(us);
    }
    assert!(micros.iter().any(|us| us % 1000 != 0));
    let mean = micros.iter().map(|us| *us as f64 / 1000.0).sum::<f64>() / micros.len() as f64;
    same(&env.metrics(&[])["latency_mean_ms"], &json!(mean), 1e-12, "latency_mean_ms");
}

#[test]
fn log_of_a_study_reproduces_its_metrics() {
    let env = StudyEnv::suite("repeats = 2", &CONFIDENT);
    let log = env.folder.path().join("log.jsonl");
    let found = env.metrics(&["--per-task", log.to_str().unwrap()]);
    assert_eq!(metrics_of(&log, &[]), found);
    let parquet = env.folder.path().join("log.parquet");
    env.metrics(&["--per-task", parquet.to_str().unwrap()]);
    let query = "SELECT DISTINCT scorer, base_task FROM results ORDER BY base_task";
    let run = reasonscape(&["sql", parquet.to_str().unwrap(), query, "--format", "csv"]);
    assert_eq!(run.stdout, "scorer,base_task\nstored,arithmetic\nstored,boolean\n", "{run:?}");
}

#[test]
fn study_without_cache_has_metrics_without_reasoning() {
    let env = StudyEnv::suite("", &["model = \"sim-p0.7\""]);
    let found = env.metrics(&[]);
    fs::remove_file(env.path().join("cache.sqlite")).unwrap();
    let run = env.command("metrics", &["--format", "json"]);
    assert!(run.stderr.contains("36 of 36 trials have no prompt and reply in the cache"), "{run:?}");
    let without: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!((&without["accuracy"], &without["sce"]), (&found["accuracy"], &found["sce"]));
    assert!(found["cot_tokens_mean"].is_number() && without["cot_tokens_mean"].is_null());
    assert_eq!(without, metrics_of(&env.export(), &[]));
}

#[test]
fn rejects_a_study_with_options_for_files() {
    let env = StudyEnv::suite("", &["model = \"sim-p0.7\""]);
    assert_rejected(&env.command("metrics", &["other.jsonl"]), &["cannot be combined with other inputs"]);
    assert_rejected(&env.command("metrics", &["--skip-bad"]), &["only apply to files"]);
    let empty = TempDir::new().unwrap();
    assert_rejected(&reasonscape(&["metrics", empty.path().to_str().unwrap()]), &["evaluate"]);
}
