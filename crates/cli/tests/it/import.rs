//! `reasonscape import` and `reasonscape export`, on logs that the tools themselves wrote.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::TempDir;

use crate::world::{Run, reasonscape, refuses};

fn logs(path: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../ingest/tests/logs").join(path).display().to_string()
}

/// A folder with room for a study.
struct World {
    folder: TempDir,
}

impl World {
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
        let world = Self::new();
        let logs = logs("lm-eval/chat");
        let run = world.import(&[
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
        world
    }
}

fn data(run: &Run) -> Value {
    assert_eq!(run.code, 0, "{run:?}");
    serde_json::from_str(&run.stdout).unwrap()
}

#[test]
fn an_import_says_what_it_took_and_what_the_log_says() {
    let world = World::new();
    let logs = logs("lm-eval/chat/small");
    let run = world.import(&[
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
    assert!(fs::read_to_string(world.study().join("study.toml")).unwrap().contains("imported"));
}

#[test]
fn every_table_says_that_truncation_is_unknown() {
    let world = World::of_lm_eval();
    for question in ["evals", "tasks", "points", "scores"] {
        let run = world.ask(&["analyze", question], &[]);
        assert_eq!(run.code, 0, "{run:?}");
        let note = "note: nobody wrote down which answers of large, small were cut off";
        assert!(run.stderr.contains(note), "{question}: {}", run.stderr);
        assert!(run.stdout.contains(" ? "), "{question}: {}", run.stdout);
        let rows = data(&world.ask(&["analyze", question], &["--format", "json"]));
        assert!(rows.as_array().unwrap().iter().all(|row| row["truncation_known"] == false), "{rows}");
        assert!(
            rows.as_array().unwrap().iter().all(|row| row.get("truncation_rate").is_none_or(Value::is_null))
        );
        let run = world.ask(&["analyze", question], &["--format", "csv", "--quiet"]);
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{question}");
    }
    let run = world.ask(&["analyze", "compare"], &["small", "large"]);
    assert!(run.code == 0 && run.stdout.contains("small_sums"), "{run:?}");
    assert!(
        run.stderr.contains("20 tests that both answered") || run.stderr.contains("tests that both answered")
    );
}

#[test]
fn analyses_of_trials_say_that_truncation_is_unknown() {
    let world = World::of_lm_eval();
    for question in ["hazard", "tokens", "compression"] {
        let run = world.ask(&["analyze", question], &[]);
        assert_eq!(run.code, 0, "{run:?}");
        assert!(
            run.stderr.contains("nobody wrote down which answers of large, small were cut off"),
            "{run:?}"
        );
        // Where no tokens were counted there is no limit to speak of.
        assert!(question == "tokens" || run.stdout.contains(" ? "), "{question}: {}", run.stdout);
        let found = data(&world.ask(&["analyze", question], &["--format", "json"]));
        let rows = found.get("rows").unwrap_or(&found).as_array().unwrap();
        assert!(!rows.is_empty() && rows.iter().all(|row| row["truncation_known"] == false), "{found}");
        let run = world.ask(&["analyze", question], &["--format", "csv"]);
        let mut lines = run.stdout.lines().map(|line| line.split(',').collect::<Vec<_>>());
        let place = lines.next().unwrap().iter().position(|name| *name == "truncation_known").unwrap();
        assert!(lines.all(|line| line[place] == "false"), "{}", run.stdout);
    }
}

#[test]
fn what_is_known_is_shown() {
    let world = World::new();
    let log = logs("inspect/add-large.eval");
    let run = world.import(&["inspect", &log]);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(run.stderr.contains("cut off and yet scored as correct"), "{run:?}");
    let run = world.ask(&["analyze", "evals"], &[]);
    assert!(run.stdout.contains('%') && !run.stderr.contains("nobody wrote down"), "{run:?}");
    let rows = data(&world.ask(&["analyze", "evals"], &["--format", "json"]));
    assert!(rows[0].get("truncation_known").is_none());
}

#[test]
fn a_study_of_imports_is_treated_kindly() {
    let world = World::of_lm_eval();
    let before = files(&world.study());
    for command in ["run", "plan", "evaluate"] {
        refuses(&world.ask(&[command], &[]), &["no [[eval]]", "study.toml"]);
    }
    let run = world.ask(&["sql"], &["SELECT count(*) AS n FROM trials", "--format", "json"]);
    assert_eq!(data(&run)[0]["n"].as_u64().unwrap(), 40 + 2 * gaps());
    assert_eq!(files(&world.study()), before);

    // With a model to ask as well, evaluating leaves what was imported alone.
    let file = world.study().join("study.toml");
    let text = fs::read_to_string(&file)
        .unwrap()
        .replace("# [[", "[[")
        .replace("# model", "model")
        .replace("# base", "base");
    fs::write(&file, text).unwrap();
    let run = world.ask(&["evaluate"], &[]);
    assert_eq!(run.code, 0, "{run:?}");
    let after = files(&world.study());
    assert!(before.iter().all(|path| after.contains(path)), "{after:?}");
    let run = world.ask(&["cache", "verify"], &[]);
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
fn what_is_no_log_is_refused_and_no_study_is_made() {
    let world = World::new();
    let broken = world.folder.path().join("cut.eval");
    let whole = fs::read(logs("inspect/pick.eval")).unwrap();
    fs::write(&broken, &whole[..whole.len() / 2]).unwrap();
    let broken = broken.display().to_string();
    let empty = world.folder.path().join("empty");
    fs::create_dir(&empty).unwrap();
    let empty = empty.display().to_string();
    refuses(&world.import(&["inspect", &broken]), &["cut.eval", "copy it again"]);
    refuses(&world.import(&["inspect", &empty]), &["no log of Inspect in it"]);
    refuses(&world.import(&["lm-eval", &empty]), &["no log of lm-eval in it"]);
    refuses(&world.import(&["lm-eval", &logs("lm-eval/no-samples")]), &["`--log_samples`"]);
    refuses(&world.import(&["inspect", &logs("inspect/chunked.eval")]), &["in chunks"]);
    refuses(&world.import(&["inspect", &logs("inspect/grade.eval")]), &["--scorer graded"]);
    refuses(&world.import(&["inspect", "/nowhere/log.eval"]), &["/nowhere/log.eval"]);
    refuses(&world.import(&["inspect", &logs("inspect/pick.eval"), "--threshold", "nan"]), &["is no score"]);
    assert!(!world.study().exists());

    // A log whose damage shows late: the study that was made for it goes again.
    let damaged = world.folder.path().join("samples_t_2026-01-01T00-00-00.jsonl");
    let line = r#"{"doc_id": 0, "target": "a", "arguments": [], "resps": [["x"]], "filtered_resps": ["x"], "acc": 1}"#;
    fs::write(&damaged, format!("{line}\n{{\"doc_id\": 1, \"resps\": [], \"doc")).unwrap();
    let damaged = damaged.display().to_string();
    refuses(&world.import(&["lm-eval", &damaged]), &["line 2", "mend or remove"]);
    assert!(!world.study().exists());
}

#[test]
fn trials_are_exported_with_what_was_said() {
    let world = World::of_lm_eval();
    let path = world.folder.path().join("trials.jsonl");
    let file = path.display().to_string();
    let run =
        world.ask(&["export"], &["-o", &file, "--filter", "base_task=small_sums", "--filter", "model=small"]);
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

    let all = world.ask(&["export"], &["--quiet"]);
    assert_eq!((all.code, all.stderr.as_str()), (0, ""));
    assert!(all.stdout.lines().count() > 60);
    refuses(&world.ask(&["export"], &["--filter", "model=nobody"]), &["nothing in the study matches"]);

    let dataset = world.folder.path().join("dataset");
    let folder = dataset.display().to_string();
    let run = world.ask(&["export"], &["--dataset", &folder]);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(fs::read_to_string(dataset.join("README.md")).unwrap().contains("| ? |"));
    refuses(&world.ask(&["export"], &["--dataset", &folder]), &["is there already"]);
}
