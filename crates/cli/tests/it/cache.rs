//! `reasonscape cache`, on caches that are made by importing.

use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::test_env::{Run, assert_rejected, reasonscape, reasonscape_with};

/// A line that can be imported.
fn line(model: &str, number: u64) -> String {
    json!({
        "status": 200,
        "latency_ms": 12,
        "received_ms": 1_700_000_000_000_u64 + 1000 * number,
        "request": { "model": model, "prompt": format!("What is {number} + {number}?") },
        "response": { "choices": [{ "text": (number * 2).to_string(), "finish_reason": "stop" }] },
    })
    .to_string()
}

/// A study with three entries of one model and two of another.
fn study() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let lines: Vec<String> =
        (0..3).map(|n| line("small", n)).chain((0..2).map(|n| line("large", n))).collect();
    let run = cache("import", folder.path(), &[], &lines.join("\n"));
    assert_eq!((run.code, run.stderr.as_str()), (0, "note: imported 5 entries\n"));
    folder
}

fn cache(action: &str, study: &Path, arguments: &[&str], input: &str) -> Run {
    let mut all = vec!["cache", action, study.to_str().unwrap()];
    all.extend(arguments);
    reasonscape_with(&all, input)
}

fn json_of(run: &Run) -> Value {
    serde_json::from_str(&run.stdout).unwrap()
}

fn sql(study: &Path, statement: &str) {
    rusqlite::Connection::open(study.join("cache.sqlite")).unwrap().execute_batch(statement).unwrap();
}

#[test]
fn groups_stats_by_model() {
    let study = study();
    let run = cache("stats", study.path(), &[], "");
    assert!(run.stderr.starts_with("note: file size: "), "{run:?}");
    insta::assert_snapshot!(run.stdout);
    let stats = json_of(&cache("stats", study.path(), &["--format", "json"], ""));
    assert_eq!((&stats["entries"], &stats["models"][1]["model"]), (&json!(5), &json!("small")));
    assert_eq!(stats["newest"], "2023-11-14T22:13:22Z");
}

#[test]
fn accepts_study_folder_or_file() {
    let study = study();
    let file = study.path().join("study.toml");
    std::fs::write(&file, "this is not read").unwrap();
    assert_eq!(cache("stats", &file, &[], "").stdout, cache("stats", study.path(), &[], "").stdout);
    assert_rejected(&cache("stats", &study.path().join("nowhere"), &[], ""), &["no study at", "study.toml"]);
    let empty = tempfile::tempdir().unwrap();
    for (action, arguments) in
        [("stats", &[] as &[&str]), ("verify", &[]), ("export", &[]), ("prune", &["--damaged"])]
    {
        assert_rejected(&cache(action, empty.path(), arguments, ""), &["no cache at", "reasonscape run"]);
    }
    assert_eq!(std::fs::read_dir(empty.path()).unwrap().count(), 0, "looking makes no file");
}

#[test]
fn imports_an_export_repeatedly() {
    let study = study();
    let exported = cache("export", study.path(), &[], "");
    assert_eq!((exported.code, exported.stdout.lines().count()), (0, 5));
    let first: Value = serde_json::from_str(exported.stdout.lines().next().unwrap()).unwrap();
    assert_eq!(first["request"]["model"], "small");
    assert_eq!(first["response"]["choices"][0]["text"], "0");

    let file = study.path().join("out.jsonl");
    std::fs::write(&file, "what stood there").unwrap();
    let run = cache("export", study.path(), &["-o", file.to_str().unwrap()], "");
    assert_eq!((run.code, run.stdout.as_str()), (0, ""), "{run:?}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), exported.stdout);

    let other = tempfile::tempdir().unwrap();
    let run = cache("import", other.path(), &[file.to_str().unwrap()], "");
    assert_eq!(run.stderr, "note: imported 5 entries\n");
    let run = cache("import", other.path(), &[], &exported.stdout);
    assert_eq!(run.stderr, "note: imported 0 entries; 5 already existed\n");
    assert_eq!(cache("export", other.path(), &[], "").stdout, exported.stdout);
}

#[test]
fn failed_export_keeps_existing_file() {
    let study = study();
    sql(study.path(), "UPDATE entries SET exchange = x'00' WHERE id = 4");
    let file = study.path().join("out.jsonl");
    std::fs::write(&file, "what stood there").unwrap();
    let run = cache("export", study.path(), &["-o", file.to_str().unwrap()], "");
    assert_rejected(&run, &["is damaged", "prune --damaged"]);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "what stood there");
    let run = cache("export", study.path(), &["-o", study.path().join("no/out.jsonl").to_str().unwrap()], "");
    assert_eq!(run.code, 1);
    assert!(run.stderr.contains("failed to write `"), "{run:?}");
}

#[test]
fn reports_invalid_line_and_keeps_earlier_ones() {
    let study = study();
    let lines = [line("new", 1), String::new(), line("new", 2).replace("status", "state"), line("new", 3)];
    let run = cache("import", study.path(), &[], &lines.join("\n"));
    assert_rejected(
        &run,
        &["standard input: line 3: ", "unknown field `state`", "1 entry before it imported", "import again"],
    );
    assert_eq!(json_of(&cache("stats", study.path(), &["--format", "json"], ""))["entries"], 6);

    let exported = cache("export", study.path(), &[], "").stdout;
    let run = cache("import", study.path(), &[], &exported.replacen("small", "smell", 1));
    assert_rejected(&run, &["line 1: `key` is ", "the request has the key", "leave `key` out"]);
    assert_rejected(&cache("import", study.path(), &["none.jsonl"], ""), &["failed to read `none.jsonl`"]);
    let nested = "[".repeat(100_000);
    assert_rejected(&cache("import", study.path(), &[], &nested), &["line 1: not an entry"]);
}

#[test]
fn verify_finds_damage_and_prune_removes_it() {
    let study = study();
    let run = cache("verify", study.path(), &[], "");
    assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{run:?}");
    insta::assert_snapshot!(run.stdout);

    sql(study.path(), "UPDATE entries SET exchange = x'00' WHERE id = 2");
    let run = cache("verify", study.path(), &["--format", "json"], "");
    assert_eq!(run.code, 1);
    assert!(run.stderr.contains("1 of 5 entries damaged") && run.stderr.contains("--damaged"), "{run:?}");
    let found = json_of(&run);
    assert_eq!((&found["entries"], found["damaged"].as_array().unwrap().len()), (&json!(5), 1));

    let run = cache("prune", study.path(), &["--damaged"], "");
    assert_eq!(run.code, 0);
    assert!(run.stderr.starts_with("note: removed 1 entry\n"), "{run:?}");
    assert_eq!(cache("verify", study.path(), &[], "").code, 0);
}

#[test]
fn prune_combines_conditions() {
    let study = study();
    assert_rejected(
        &reasonscape(&["cache", "prune", study.path().to_str().unwrap()]),
        &["--older-than", "--damaged"],
    );
    let conditions = ["--model", "large", "--older-than", "30"];
    let dry =
        cache("prune", study.path(), &[&conditions[..], &["--dry-run", "--format", "json"]].concat(), "");
    assert_eq!(dry.stderr, "note: would remove 2 entries\n");
    assert_eq!((&json_of(&dry)["removed"], &json_of(&dry)["entries"]), (&json!(false), &json!(2)));
    let run = cache("prune", study.path(), &[&conditions[..], &["--format", "json"]].concat(), "");
    assert_eq!((&json_of(&run)["removed"], &json_of(&run)["entries"]), (&json!(true), &json!(2)));
    let run = cache("prune", study.path(), &["--namespace", "elsewhere"], "");
    assert_eq!(run.stderr, "note: removed 0 entries\n");
    assert_eq!(json_of(&cache("stats", study.path(), &["--format", "json"], ""))["entries"], 3);
}

#[test]
fn rejects_files_that_are_no_cache() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("cache.sqlite"), "x".repeat(5000)).unwrap();
    assert_rejected(&cache("stats", folder.path(), &[], ""), &["not a SQLite database", "move it away"]);
    assert_rejected(&cache("import", folder.path(), &[], &line("m", 1)), &["not a SQLite database"]);
    assert_eq!(std::fs::read(folder.path().join("cache.sqlite")).unwrap(), "x".repeat(5000).as_bytes());
}
