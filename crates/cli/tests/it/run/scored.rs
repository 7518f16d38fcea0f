//! Every response in the cache that belongs to the study is scored, however the indices are distributed.

use std::fs;
use std::path::Path;
use std::time::Duration;

use reasonscape_cache::Cache;
use serde_json::Value;

use super::RunEnv;
use super::kills::Victim;
use crate::test_env::reasonscape;

/// Entries in the cache of a study.
fn entries(study: &Path) -> u64 {
    Cache::open_read_only(study.join("cache.sqlite")).unwrap().reader().unwrap().count().unwrap()
}

/// Trials that the study's files hold after everything is scored, and its account of the entries.
fn evaluate(study: &Path) -> (u64, Value) {
    let run = reasonscape(&["evaluate", study.to_str().unwrap(), "--format", "json"]);
    assert_eq!(run.code, 0, "{run:?}");
    let units: Value = serde_json::from_str(&run.stdout).unwrap();
    let trials = units.as_array().unwrap().iter().map(|unit| unit["n"].as_u64().unwrap()).sum();
    (trials, units[0]["entries"].clone())
}

fn assert_all_scored(study: &Path) -> u64 {
    let held = entries(study);
    let (trials, account) = evaluate(study);
    assert_eq!(trials, held, "trials and responses");
    assert_eq!(
        account["matched"].as_u64().unwrap() + account["unmatched"].as_u64().unwrap(),
        account["held"].as_u64().unwrap(),
        "{account}"
    );
    assert_eq!(account["unmatched"], 0, "{account}");
    held
}

fn one_model() -> RunEnv {
    let env = RunEnv::new();
    env.write_study(&["sim-p0.9"], "");
    env
}

/// A copy of a study whose cache came through an export and an import.
fn transferred(env: &RunEnv, export: &[&str], import_into: &Path) {
    fs::create_dir_all(import_into).unwrap();
    for file in ["small.toml", "study.toml"] {
        fs::copy(env.path().join(file), import_into.join(file)).unwrap();
    }
    let lines = env.path().join("export.jsonl");
    let target = lines.to_str().unwrap();
    let study = env.path().to_str().unwrap();
    let exported = reasonscape(&[&["cache", "export", study, "--output", target], export].concat());
    assert_eq!(exported.code, 0, "{exported:?}");
    let imported = reasonscape(&["cache", "import", import_into.to_str().unwrap(), target]);
    assert_eq!(imported.code, 0, "{imported:?}");
}

#[test]
fn one_shard_of_a_larger_run() {
    let env = one_model();
    env.run_to_end(&["--count", "64", "--shard", "1/4"]);
    let held = assert_all_scored(env.path());
    assert!((20..90).contains(&held), "{held}");
}

#[test]
fn raised_and_then_lowered_count() {
    let env = one_model();
    env.run_to_end(&["--count", "40"]);
    assert_eq!(assert_all_scored(env.path()), 120);
    env.run_to_end(&["--count", "4"]);
    assert_eq!(assert_all_scored(env.path()), 120);
}

#[test]
fn merged_shards_and_a_cache_without_marks() {
    let env = one_model();
    let merged = tempfile::TempDir::new().unwrap();
    let unmarked = tempfile::TempDir::new().unwrap();
    for shard in ["1/4", "2/4", "4/4"] {
        fs::remove_file(env.cache()).unwrap_or_default();
        env.run_to_end(&["--count", "100", "--shard", shard, "--no-evaluate"]);
        transferred(&env, &[], merged.path());
        transferred(&env, &["--entries-only"], unmarked.path());
    }
    let held = assert_all_scored(merged.path());
    assert!(held > 150, "{held}");
    assert_eq!(assert_all_scored(unmarked.path()), held, "entries without marks are searched for");
    // A later, smaller run writes marks; what came without stays scored.
    let study = unmarked.path().to_str().unwrap();
    assert_eq!(reasonscape(&["run", study, "--count", "2"]).code, 0);
    assert_all_scored(unmarked.path());
}

#[test]
fn repeats_beyond_the_study() {
    let env = one_model();
    let study = env.path().join("study.toml");
    let text = fs::read_to_string(&study).unwrap();
    fs::write(&study, format!("repeats = 3\n{text}")).unwrap();
    env.run_to_end(&[]);
    fs::write(&study, text).unwrap();
    assert_eq!(assert_all_scored(env.path()), 72);
}

#[test]
fn twenty_random_kills() {
    let env = RunEnv::with("kinds=slow,slow-ms=10", None);
    env.write_study(&["sim-p0.9"], "concurrency = 8");
    for kill in 0..20_u64 {
        let before = env.server.stats().answered;
        let mut victim = Victim::start(&env);
        // A different number of responses each time, as the machine has it.
        let until = before + 1 + kill * 7 % 25;
        for _ in 0..1000 {
            if env.server.stats().answered >= until || !victim.is_running() {
                break;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        // Kills it.
        drop(victim);
        if env.cache().exists() {
            assert_all_scored(env.path());
        }
    }
    let held = entries(env.path());
    assert!(held > 50, "{held}");
}

#[test]
fn files_are_not_replaced_by_ones_with_fewer_trials() {
    let env = one_model();
    env.run_to_end(&[]);
    assert_eq!(assert_all_scored(env.path()), 24);
    let study = env.path().join("study.toml");
    let text = fs::read_to_string(&study).unwrap();
    fs::write(&study, format!("seed = 7\n{text}")).unwrap();
    let path = env.path().to_str().unwrap();
    let refused = reasonscape(&["evaluate", path]);
    assert_eq!(refused.code, 1, "{refused:?}");
    for expected in [
        "kept the 8 stored trials",
        "now give 0, 8 fewer",
        "the seed of the study was 0 and is now 7",
        "the cache has 24 responses; 0 belong to problems of the current study, 24 do not",
        "evaluate --force",
    ] {
        assert!(refused.stderr.contains(expected), "{expected}: {}", refused.stderr);
    }
    let trials = || {
        let counted = reasonscape(&["sql", path, "SELECT count(*) AS n FROM trials", "--format", "json"]);
        assert_eq!(counted.code, 0, "{counted:?}");
        serde_json::from_str::<Value>(&counted.stdout).unwrap()[0]["n"].as_u64().unwrap()
    };
    assert_eq!(trials(), 24);
    assert_eq!(reasonscape(&["evaluate", path, "--force"]).code, 0);
    assert_eq!(trials(), 0);
    fs::write(&study, text).unwrap();
    assert_eq!(assert_all_scored(env.path()), 24);
}

/// Which machine requested a problem makes no difference to any number.
#[test]
fn merged_shards_equal_one_run() {
    let env = RunEnv::new();
    let merged = tempfile::TempDir::new().unwrap();
    for shard in ["1/2", "2/2"] {
        fs::remove_file(env.cache()).unwrap_or_default();
        env.run_to_end(&["--count", "20", "--shard", shard, "--no-evaluate"]);
        transferred(&env, &[], merged.path());
    }
    let merged_study = merged.path().to_str().unwrap();
    assert_eq!(reasonscape(&["evaluate", merged_study]).code, 0);
    fs::remove_file(env.cache()).unwrap();
    env.run_to_end(&["--count", "20"]);
    let json = |arguments: &[&str]| -> Value {
        let run = reasonscape(&[arguments, &["--format", "json"]].concat());
        assert_eq!(run.code, 0, "{run:?}");
        serde_json::from_str(&run.stdout).unwrap()
    };
    let counted =
        "SELECT eval_id, base_task, params, n, n_e, n_t, g, problems, q, c, gm, a, b, yy, weight, stop_rule
         FROM points ORDER BY eval_id, base_task, params";
    let study = env.path().to_str().unwrap();
    let points = json(&["sql", study, counted]);
    assert_eq!(points.as_array().unwrap().len(), 6);
    assert!(points.as_array().unwrap().iter().all(|point| point["problems"] == 20), "{points}");
    assert_eq!(json(&["sql", merged_study, counted]), points);
    let scores = json(&["analyze", "scores", study]);
    let merged_scores = json(&["analyze", "scores", merged_study]);
    for (row, merged) in scores.as_array().unwrap().iter().zip(merged_scores.as_array().unwrap()) {
        for key in ["eval_id", "rank", "rank_best", "rank_worst", "reason_score", "score", "tasks"] {
            assert_eq!(row[key], merged[key], "{key}");
        }
    }
}
