//! `reasonscape import` and `reasonscape export`, on logs that the tools themselves wrote.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::TempDir;

use crate::test_env::{Run, assert_rejected, reasonscape};

fn logs(path: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../ingest/tests/logs").join(path).display().to_string()
}

/// A folder with room for a study.
struct ImportEnv {
    folder: TempDir,
}

impl ImportEnv {
    fn new() -> Self {
        Self { folder: TempDir::new().unwrap() }
    }

    fn study(&self) -> PathBuf {
        self.folder.path().join("study")
    }

    fn import(&self, arguments: &[&str]) -> Run {
        let study = self.study().display().to_string();
        reasonscape(&[&["import"], arguments, &["--into", &study]].concat())
    }

    fn ask(&self, before: &[&str], after: &[&str]) -> Run {
        let study = self.study().display().to_string();
        reasonscape(&[before, &[&study], after].concat())
    }

    /// A study of two models that lm-eval asked.
    fn of_lm_eval() -> Self {
        let env = Self::new();
        let logs = logs("lm-eval/chat");
        let run = env.import(&[
            "lm-eval",
            &logs,
            "--metric",
            "exact_match",
            "--metric",
            "hit",
            "--filter",
            "strict-match",
        ]);
        assert_eq!(run.code, 0, "{run:?}");
        env
    }
}

fn data(run: &Run) -> Value {
    assert_eq!(run.code, 0, "{run:?}");
    serde_json::from_str(&run.stdout).unwrap()
}

#[test]
fn reports_imported_samples_and_scores_of_the_log() {
    let env = ImportEnv::new();
    let logs = logs("lm-eval/chat/small");
    let run = env.import(&[
        "lm-eval",
        &logs,
        "--metric",
        "exact_match",
        "--metric",
        "share",
        "--filter",
        "strict-match",
        "--format",
        "json",
    ]);
    let said = data(&run);
    let units = said["units"].as_array().unwrap();
    assert_eq!(units.len(), 2);
    for unit in units {
        let (mean, log) = (unit["mean_score"].as_f64().unwrap(), unit["log_score"].as_f64().unwrap());
        assert!((mean - log).abs() < 1e-12, "{unit}");
        assert_eq!(unit["truncation_known"], false);
    }
    let gaps = &units[0];
    assert_eq!(gaps["task"], "small_gaps");
    assert!(gaps["partial"].as_u64().unwrap() > 0 && gaps["skipped"]["no score"].as_u64().unwrap() > 0);
    for words in ["truncation is unknown", "neither 0 nor 1", "skipped: no score", "analyze evals"] {
        assert!(run.stderr.contains(words), "`{words}` is not in: {}", run.stderr);
    }
    assert!(fs::read_to_string(env.study().join("study.toml")).unwrap().contains("imported"));
}

#[test]
fn tables_note_unknown_truncation() {
    let env = ImportEnv::of_lm_eval();
    for question in ["evals", "tasks", "points", "scores"] {
        let run = env.ask(&["analyze", question], &[]);
        assert_eq!(run.code, 0, "{run:?}");
        let note = "note: the logs of large, small don't record which responses were truncated";
        assert!(run.stderr.contains(note), "{question}: {}", run.stderr);
        assert!(run.stdout.contains(" ? "), "{question}: {}", run.stdout);
        let rows = data(&env.ask(&["analyze", question], &["--format", "json"]));
        assert!(rows.as_array().unwrap().iter().all(|row| row["truncation_known"] == false), "{rows}");
        assert!(
            rows.as_array().unwrap().iter().all(|row| row.get("truncation_rate").is_none_or(Value::is_null))
        );
        let run = env.ask(&["analyze", question], &["--format", "csv", "--quiet"]);
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{question}");
    }
    let run = env.ask(&["analyze", "compare"], &["small", "large"]);
    assert!(run.code == 0 && run.stdout.contains("small_sums"), "{run:?}");
    assert!(
        run.stderr.contains("20 problems that both answered")
            || run.stderr.contains("problems that both answered")
    );
}

#[test]
fn trial_analyses_note_unknown_truncation() {
    let env = ImportEnv::of_lm_eval();
    for question in ["hazard", "tokens", "compression"] {
        let run = env.ask(&["analyze", question], &[]);
        assert_eq!(run.code, 0, "{run:?}");
        assert!(
            run.stderr.contains("the logs of large, small don't record which responses were truncated"),
            "{run:?}"
        );
        // Where no tokens were counted there is no limit to speak of.
        assert!(question == "tokens" || run.stdout.contains(" ? "), "{question}: {}", run.stdout);
        let found = data(&env.ask(&["analyze", question], &["--format", "json"]));
        let rows = found.get("rows").unwrap_or(&found).as_array().unwrap();
        assert!(!rows.is_empty() && rows.iter().all(|row| row["truncation_known"] == false), "{found}");
        let run = env.ask(&["analyze", question], &["--format", "csv"]);
        let mut lines = run.stdout.lines().map(|line| line.split(',').collect::<Vec<_>>());
        let place = lines.next().unwrap().iter().position(|name| *name == "truncation_known").unwrap();
        assert!(lines.all(|line| line[place] == "false"), "{}", run.stdout);
    }
}

#[test]
fn shows_known_truncation() {
    let env = ImportEnv::new();
    let log = logs("inspect/add-large.eval");
    let run = env.import(&["inspect", &log]);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(run.stderr.contains("truncated but scored as correct"), "{run:?}");
    let run = env.ask(&["analyze", "evals"], &[]);
    assert!(run.stdout.contains('%') && !run.stderr.contains("nobody wrote down"), "{run:?}");
    let rows = data(&env.ask(&["analyze", "evals"], &["--format", "json"]));
    assert!(rows[0].get("truncation_known").is_none());
}

#[test]
fn other_commands_accept_an_imported_study() {
    let env = ImportEnv::of_lm_eval();
    let before = files(&env.study());
    for command in ["run", "plan", "evaluate"] {
        assert_rejected(&env.ask(&[command], &[]), &["no [[eval]]", "study.toml"]);
    }
    let run = env.ask(&["sql"], &["SELECT count(*) AS n FROM trials", "--format", "json"]);
    assert_eq!(data(&run)[0]["n"].as_u64().unwrap(), 40 + 2 * gaps());
    assert_eq!(files(&env.study()), before);

    // With a model to ask as well, evaluating leaves what was imported alone.
    let file = env.study().join("study.toml");
    let text = fs::read_to_string(&file)
        .unwrap()
        .replace("# [[", "[[")
        .replace("# model", "model")
        .replace("# base", "base");
    fs::write(&file, text).unwrap();
    let run = env.ask(&["evaluate"], &[]);
    assert_eq!(run.code, 0, "{run:?}");
    let after = files(&env.study());
    assert!(before.iter().all(|path| after.contains(path)), "{after:?}");
    let run = env.ask(&["cache", "verify"], &[]);
    assert_eq!(run.code, 0, "{run:?}");
}

/// Documents of `small_gaps` that have a score, counted from the data that made them.
fn gaps() -> u64 {
    let numbers = (0..20).map(|i| (11 * i + 4) + (3 * i * i % 97 + 20));
    numbers.filter(|number| number % 7 != 0).count() as u64
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<PathBuf> =
        entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect();
    found.retain(|path| path.extension().is_some_and(|extension| extension == "parquet"));
    found.sort();
    found
}

#[test]
fn rejects_other_files_and_creates_no_study() {
    let env = ImportEnv::new();
    let broken = env.folder.path().join("cut.eval");
    let whole = fs::read(logs("inspect/pick.eval")).unwrap();
    fs::write(&broken, &whole[..whole.len() / 2]).unwrap();
    let broken = broken.display().to_string();
    let empty = env.folder.path().join("empty");
    fs::create_dir(&empty).unwrap();
    let empty = empty.display().to_string();
    assert_rejected(&env.import(&["inspect", &broken]), &["cut.eval", "copy it again"]);
    assert_rejected(&env.import(&["inspect", &empty]), &["no Inspect logs found"]);
    assert_rejected(&env.import(&["lm-eval", &empty]), &["no lm-eval logs found"]);
    assert_rejected(&env.import(&["lm-eval", &logs("lm-eval/no-samples")]), &["`--log_samples`"]);
    assert_rejected(&env.import(&["inspect", &logs("inspect/chunked.eval")]), &["in chunks"]);
    assert_rejected(&env.import(&["inspect", &logs("inspect/grade.eval")]), &["--scorer graded"]);
    assert_rejected(&env.import(&["inspect", "/nowhere/log.eval"]), &["/nowhere/log.eval"]);
    assert_rejected(
        &env.import(&["inspect", &logs("inspect/pick.eval"), "--threshold", "nan"]),
        &["invalid score"],
    );
    assert!(!env.study().exists());

    // A log whose damage shows late: the study that was made for it goes again.
    let damaged = env.folder.path().join("samples_t_2026-01-01T00-00-00.jsonl");
    let line = r#"{"doc_id": 0, "target": "a", "arguments": [], "resps": [["x"]], "filtered_resps": ["x"], "acc": 1}"#;
    fs::write(&damaged, format!("{line}\n{{\"doc_id\": 1, \"resps\": [], \"doc")).unwrap();
    let damaged = damaged.display().to_string();
    assert_rejected(&env.import(&["lm-eval", &damaged]), &["line 2", "fix or remove"]);
    assert!(!env.study().exists());
}

#[test]
fn imports_what_it_can_of_a_mixed_folder() {
    let env = ImportEnv::new();
    let run = env.import(&["inspect", &logs("inspect-mixed"), "--format", "json"]);
    let said = data(&run);
    let unit = |name: &str| {
        let units = said["units"].as_array().unwrap();
        units
            .iter()
            .find(|unit| unit["log"].as_str().unwrap().ends_with(name))
            .unwrap_or_else(|| panic!("{said}"))
    };
    assert_eq!(said["units"].as_array().unwrap().len(), 3, "{said}");
    for (name, is_known) in [("full.eval", true), ("sorted.json", true), ("borrowed.json", false)] {
        let unit = unit(name);
        assert_eq!(unit["truncation_known"], is_known, "{unit}");
        let (mean, log) = (unit["mean_score"].as_f64().unwrap(), unit["log_score"].as_f64().unwrap());
        assert!((mean - log).abs() < 1e-12, "{unit}");
    }
    assert_eq!(said["skipped_logs"].as_array().unwrap().len(), 4, "{said}");
    for words in ["cut.eval` was not imported", "git lfs pull", "an index of logs", "no scores", "fuller run"]
    {
        assert!(run.stderr.contains(words), "`{words}` is not in: {}", run.stderr);
    }
    let evals = data(&env.ask(&["analyze", "tasks"], &["--format", "json"]));
    let unknown = evals.as_array().unwrap().iter().filter(|row| row["truncation_known"] == false);
    assert_eq!(
        unknown.map(|row| row["task"].as_str().unwrap_or_default()).collect::<Vec<_>>(),
        ["borrowed"],
        "{evals}"
    );

    let strict = ImportEnv::new();
    assert_rejected(
        &strict.import(&["inspect", &logs("inspect-mixed"), "--strict"]),
        &["cut.eval", "copy it again"],
    );
    assert!(!strict.study().exists());
}

#[test]
fn lists_damage_that_shows_while_a_log_is_read() {
    let env = ImportEnv::new();
    let folder = logs("lm-eval-mixed");
    let arguments = ["lm-eval", &folder, "--filter", "strict-match"];
    let run = env.import(&[&arguments[..], &["--format", "json"]].concat());
    let said = data(&run);
    let tasks: Vec<&str> =
        said["units"].as_array().unwrap().iter().map(|unit| unit["task"].as_str().unwrap()).collect();
    assert_eq!(tasks, ["small_sums"]);
    let reasons: Vec<&str> =
        said["skipped_logs"].as_array().unwrap().iter().map(|log| log["reason"].as_str().unwrap()).collect();
    assert!(
        reasons.len() == 2 && reasons[0].contains("perplexity") && reasons[1].contains("line "),
        "{reasons:?}"
    );
    let trials = env.ask(&["sql"], &["SELECT count(*) AS n FROM trials", "--format", "json"]);
    assert_eq!(data(&trials)[0]["n"], 8);
    let strict = ImportEnv::new();
    assert_rejected(&strict.import(&[&arguments[..], &["--strict"]].concat()), &["small_perplexity"]);
}

#[test]
fn exports_trials_with_transcripts() {
    let env = ImportEnv::of_lm_eval();
    let path = env.folder.path().join("trials.jsonl");
    let file = path.display().to_string();
    let run =
        env.ask(&["export"], &["-o", &file, "--filter", "base_task=small_sums", "--filter", "model=small"]);
    assert_eq!((run.code, run.stdout.as_str()), (0, ""), "{run:?}");
    assert!(run.stderr.contains("exported 20 trials"), "{run:?}");
    let text = fs::read_to_string(&path).unwrap();
    let first: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    assert_eq!(first["messages"][0]["content"], "What is 4 + 20? End with the number.");
    assert!(
        first["reply"].as_str().unwrap().contains("4 + 20 makes")
            || first["reply"].as_str().unwrap().contains("4 and 20 make"),
        "{first}"
    );
    assert!(first["params"].is_object() && first["finish"] == "unknown");

    let all = env.ask(&["export"], &["--quiet"]);
    assert_eq!((all.code, all.stderr.as_str()), (0, ""));
    assert!(all.stdout.lines().count() > 60);
    assert_rejected(&env.ask(&["export"], &["--filter", "model=nobody"]), &["nothing in the study matches"]);

    let dataset = env.folder.path().join("dataset");
    let folder = dataset.display().to_string();
    let run = env.ask(&["export"], &["--dataset", &folder]);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(fs::read_to_string(dataset.join("README.md")).unwrap().contains("| ? |"));
    assert_rejected(&env.ask(&["export"], &["--dataset", &folder]), &["already exists"]);
}
