//! `reasonscape verify`: every kind of damage is found, and the repair that it names works.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::TempDir;

use super::RunEnv;
use crate::test_env::{Run, assert_rejected, reasonscape};

/// A study that was run, with 48 trials.
fn studied() -> RunEnv {
    let env = RunEnv::new();
    env.run_to_end(&[]);
    env
}

fn verify(env: &RunEnv) -> Run {
    env.command("verify", &[])
}

fn scores(env: &RunEnv) -> String {
    let run = reasonscape(&["analyze", "scores", env.path().to_str().unwrap(), "--format", "csv"]);
    assert_eq!(run.code, 0, "{run:?}");
    run.stdout
}

/// The files of this kind (`trials` or `points`), in the order of their names.
pub(super) fn files(env: &RunEnv, kind: &str) -> Vec<PathBuf> {
    fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "parquet") {
                found.push(path);
            }
        }
    }
    let mut found = Vec::new();
    walk(&env.path().join(kind), &mut found);
    found.sort();
    found
}

fn flip_bit(path: &Path, place: usize) {
    let mut bytes = fs::read(path).unwrap();
    bytes[place] ^= 4;
    fs::write(path, bytes).unwrap();
}

fn sql(env: &RunEnv, statement: &str) {
    rusqlite::Connection::open(env.cache()).unwrap().execute_batch(statement).unwrap();
}

/// The `problem` of each damaged or missing file in the JSON of `verify`, by part.
fn faults(env: &RunEnv) -> Vec<(String, String)> {
    let run = env.command("verify", &["--format", "json", "--quiet"]);
    let found: Value = serde_json::from_str(&run.stdout).unwrap();
    let files = found["files"].as_array().unwrap().iter();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    files
        .filter(|file| file["state"] == "damaged" || file["state"] == "missing")
        .map(|file| (text(&file["part"]), text(&file["problem"])))
        .collect()
}

/// Runs the commands that a line of `verify` names, in their order.
fn repair(line: &str) {
    let commands: Vec<&str> =
        line.split('`').filter_map(|quoted| quoted.strip_prefix("reasonscape ")).collect();
    assert!(!commands.is_empty(), "no command in: {line}");
    for command in commands {
        let run = reasonscape(&command.split(' ').collect::<Vec<_>>());
        assert_eq!(run.code, 0, "{command}: {run:?}");
    }
}

/// Damages the study, follows the one line of `verify` on it, and asserts that everything is as before.
fn assert_repairable(env: &RunEnv, part: &str, problem: &str, damage: impl FnOnce(&RunEnv)) {
    let before = scores(env);
    damage(env);
    let run = verify(env);
    assert_eq!(run.code, 1, "{part}: {run:?}");
    assert!(run.stderr.contains("error: 1 fault in `"), "{part}: {run:?}");
    let lines: Vec<&str> = run.stderr.lines().filter(|line| line.contains(problem)).collect();
    let [line] = lines[..] else { panic!("{part}: not one line with `{problem}` in {run:?}") };
    assert!(line.contains(part), "{line}");
    repair(line);
    let run = verify(env);
    assert_eq!(run.code, 0, "{part}: repaired by {line}, {run:?}");
    assert!(!run.stderr.contains("error"), "{run:?}");
    assert_eq!(scores(env), before, "{part}");
}

#[test]
fn verifies_a_sound_study() {
    let env = studied();
    let run = env.command("verify", &["--format", "csv"]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{run:?}");
    let expected = "part,checked,damaged,missing,unhashed\ncache entries,48,0,0,0\ncache database,1,0,0,0\nmanifest,1,0,0,0\n\
                    trials files,6,0,0,0\npoints files,6,0,0,0\nprovenance,6,0,0,0\n";
    assert_eq!(run.stdout, expected);
    // It changes nothing, and a study.toml stands for its folder.
    let file = env.path().join("study.toml");
    assert_eq!(reasonscape(&["verify", file.to_str().unwrap(), "--format", "csv"]).stdout, expected);
    let empty = TempDir::new().unwrap();
    assert_rejected(
        &reasonscape(&["verify", empty.path().to_str().unwrap()]),
        &["has no responses, trials or points to verify"],
    );
}

#[test]
fn damaged_cache_entries_are_requested_again() {
    let env = studied();
    let sent = env.server.stats().requests;
    assert_repairable(&env, "cache: entry", "`reasonscape cache prune", |env| {
        sql(env, "UPDATE entries SET exchange = x'00' WHERE id = 7");
    });
    assert_eq!(env.server.stats().requests, sent + 1);
}

#[test]
fn lost_responses_are_requested_again() {
    let env = RunEnv::new();
    env.run_to_end(&["--task", "sort"]);
    let early = fs::read(env.cache()).unwrap();
    env.run_to_end(&[]);
    assert_repairable(&env, "cache: 32 of the responses", "--resend", |env| {
        fs::write(env.cache(), &early).unwrap();
    });
    assert_eq!(env.server.stats().requests, 48 + 32);
    // An empty file holds nothing; a study without the file was published without it.
    assert_repairable(&env, "cache: 48 of the responses", "--resend", |env| {
        fs::write(env.cache(), "").unwrap();
    });
    fs::remove_file(env.cache()).unwrap();
    assert_eq!(verify(&env).code, 0);
}

#[test]
fn a_damaged_database_is_restored() {
    let env = studied();
    let backup = fs::read(env.cache()).unwrap();
    // A page of an index, which no entry is read from.
    let page: usize = rusqlite::Connection::open(env.cache())
        .unwrap()
        .query_row("SELECT rootpage FROM sqlite_schema WHERE name = 'by_model'", [], |row| row.get(0))
        .unwrap();
    let mut bytes = backup.clone();
    let start = (page - 1) * 4096;
    bytes[start + 3000..start + 4096].fill(0);
    fs::write(env.cache(), bytes).unwrap();
    let run = verify(&env);
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.stderr.contains("cache: ") && run.stderr.contains("restore a backup"), "{run:?}");
    fs::write(env.cache(), backup).unwrap();
    assert_eq!(verify(&env).code, 0);

    fs::write(env.cache(), "no database").unwrap();
    let run = verify(&env);
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.stderr.contains("is not a cache") && run.stderr.contains("restore a backup"), "{run:?}");
    let json: Value = serde_json::from_str(&env.command("verify", &["--format", "json"]).stdout).unwrap();
    assert!(json["cache_error"].as_str().unwrap().contains("is not a cache"), "{json}");
}

#[test]
fn damaged_trials_and_points_are_scored_again() {
    let env = studied();
    for kind in ["trials", "points"] {
        for part in ["data", "footer"] {
            assert_repairable(&env, kind, "does not match its hash in manifest.json", |env| {
                let path = &files(env, kind)[1];
                let length = usize::try_from(fs::metadata(path).unwrap().len()).unwrap();
                // The last bytes of a footer are its length and `PAR1`; the text before is the name of the program.
                flip_bit(path, if part == "data" { 10 } else { length - 12 });
                assert_eq!(faults(env).len(), 1);
            });
        }
        assert_repairable(&env, kind, "the manifest lists it, but it is not there", |env| {
            fs::remove_file(&files(env, kind)[2]).unwrap();
            assert_eq!(faults(env)[0].0, kind);
        });
        assert_repairable(&env, kind, "footer", |env| {
            let path = &files(env, kind)[0];
            let bytes = fs::read(path).unwrap();
            fs::write(path, &bytes[..bytes.len() / 2]).unwrap();
        });
    }
}

#[test]
fn a_damaged_manifest_is_written_again() {
    let env = studied();
    let path = env.path().join("manifest.json");
    assert_repairable(&env, "manifest", "its hash does not match", |_| {
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, text.replacen("\"size\": ", "\"size\": 1", 1)).unwrap();
    });
    assert_repairable(&env, "manifest", "EOF while parsing", |_| {
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, &text[..text.len() / 2]).unwrap();
    });
}

#[test]
fn files_that_do_not_belong_together_are_written_together() {
    let env = RunEnv::new();
    env.run_to_end(&["--count", "4"]);
    let early = fs::read(&files(&env, "points")[0]).unwrap();
    env.run_to_end(&[]);
    let before = scores(&env);
    // As an earlier version left them, which wrote no manifest, after a crash between its two replacements.
    fs::remove_file(env.path().join("manifest.json")).unwrap();
    fs::write(&files(&env, "points")[0], early).unwrap();
    let run = verify(&env);
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.stderr.contains("12 files have no hashes"), "{run:?}");
    let line = run.stderr.lines().find(|line| line.contains("were not written together")).unwrap();
    assert_eq!(faults(&env)[0].0, "provenance");
    repair(line);
    let run = verify(&env);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{run:?}");
    assert_eq!(scores(&env), before);
}

#[test]
fn foreign_files_are_to_be_moved_away() {
    let env = studied();
    let foreign = env.path().join("trials").join("table.parquet");
    let out = foreign.to_str().unwrap();
    let study = env.path().to_str().unwrap();
    let made = reasonscape(&["sql", study, "SELECT 1 AS one", "--output", out]);
    assert_eq!(made.code, 0, "{made:?}");
    let run = verify(&env);
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.stderr.contains("trials/table.parquet: "), "{run:?}");
    assert!(run.stderr.contains("move it out of the study directory"), "{run:?}");
    fs::rename(&foreign, env.path().join("table.parquet")).unwrap();
    assert_eq!(verify(&env).code, 0);
}

#[test]
fn imported_files_are_imported_again() {
    let log = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ingest/tests/logs/lm-eval/chat/small");
    let env = RunEnv::new();
    let import = || {
        let arguments = [
            "--into",
            env.path().to_str().unwrap(),
            "--metric",
            "exact_match",
            "--metric",
            "hit",
            "--filter",
            "strict-match",
        ];
        let run = reasonscape(&[&["import", "lm-eval", log.to_str().unwrap()], &arguments[..]].concat());
        assert_eq!(run.code, 0, "{run:?}");
    };
    import();
    let before = scores(&env);
    flip_bit(&files(&env, "trials")[0], 10);
    let run = verify(&env);
    assert_eq!(run.code, 1, "{run:?}");
    let line = run.stderr.lines().find(|line| line.contains("does not match its hash")).unwrap();
    assert!(line.contains("; import `") && line.ends_with("again"), "{line}");
    import();
    assert_eq!(verify(&env).code, 0);
    assert_eq!(scores(&env), before);
}
