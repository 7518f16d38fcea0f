//! Sampling until a precision is reached.

use std::fs;

use serde_json::{Value, json};

use super::{RunEnv, sum};
use crate::test_env::assert_rejected;

/// Points of the suite.
const POINTS: u64 = 3;

fn env() -> RunEnv {
    let env = RunEnv::new();
    env.write_study(&["sim-p1", "sim-p0.5"], "");
    let study = env.path().join("study.toml");
    let text = fs::read_to_string(&study).unwrap();
    fs::write(&study, format!("precision = 0.08\nmax_count = 80\n{text}")).unwrap();
    env
}

#[test]
fn precision_is_reached_or_max_count_is_used() {
    let env = env();
    let summary = env.run_to_end(&[]);
    let planned = |index: usize| summary[index]["planned"].as_u64().unwrap();
    assert!(planned(0) < 64 * POINTS, "what is always right is soon known: {summary}");
    assert_eq!(planned(1), 80 * POINTS, "a half takes more than the most: {summary}");
    assert_eq!(sum(&summary, "answered"), planned(0) + planned(1));
    assert_eq!(env.server.stats().duplicates, 0);
    let requests = env.server.stats().requests;
    assert_eq!(sum(&env.run_to_end(&[]), "cached"), requests);
    assert_eq!(env.server.stats().requests, requests, "a precision that is reached costs nothing more");
}

/// A shard sees only part of the trials of a point, so it cannot tell when a margin is reached.
#[test]
fn precision_with_shards_is_refused() {
    let env = env();
    assert_rejected(
        &env.run(&["--shard", "1/2"]),
        &["a precision cannot be combined with a shard", "`count`"],
    );
    let run = env.run(&["--shard", "1/2", "--count", "8"]);
    assert_eq!(run.code, 0, "a count takes the place of the precision: {run:?}");
}

/// The rows of a query, as JSON.
fn sql(env: &RunEnv, query: &str) -> Value {
    let run = env.command("sql", &[query, "--format", "json"]);
    assert_eq!(run.code, 0, "{run:?}");
    serde_json::from_str(&run.stdout).unwrap()
}

const COUNTED: &str =
    "SELECT model, params, n, problems, planned, weight, stop_rule FROM points ORDER BY model, params";

/// The rule that a run used is known afterwards, without the option.
#[test]
fn stop_rule_is_recorded_and_used_by_later_evaluations() {
    let env = RunEnv::new();
    env.run_to_end(&["--precision", "0.1"]);
    let sampled = sql(&env, COUNTED);
    for row in sampled.as_array().unwrap() {
        assert_eq!(row["stop_rule"], "rounds=16 margin=0.1 max=512", "{row}");
        assert_eq!(row["weight"], 8, "the count of the suite: {row}");
        assert_eq!((&row["n"], &row["problems"]), (&row["planned"], &row["planned"]), "{row}");
        assert_eq!(row["n"].as_u64().unwrap() % 16, 0, "{row}");
    }
    assert_eq!(env.command("evaluate", &["--force"]).code, 0);
    assert_eq!(sql(&env, COUNTED), sampled);

    // A plain run plans fewer problems, which are there already.
    env.run_to_end(&[]);
    assert_eq!(sql(&env, COUNTED), sampled);
}

/// What a stop rule leaves out is still a trial.
#[test]
fn trials_beyond_the_stop_rule_are_stored_but_not_counted() {
    let env = RunEnv::new();
    env.run_to_end(&["--count", "60"]);
    let all = sql(&env, COUNTED);
    assert!(all.as_array().unwrap().iter().all(|row| row["stop_rule"].is_null() && row["problems"] == 60));

    env.run_to_end(&["--precision", "0.2"]);
    for row in sql(&env, COUNTED).as_array().unwrap() {
        assert_eq!((&row["n"], &row["planned"]), (&json!(60), &json!(60)), "{row}");
        assert!(row["problems"].as_u64().unwrap() < 60, "{row}");
    }
    // As many problems as the rule could ever ask for: all count again.
    env.run_to_end(&["--count", "512"]);
    for row in sql(&env, COUNTED).as_array().unwrap() {
        assert_eq!((&row["problems"], &row["stop_rule"]), (&json!(512), &Value::Null), "{row}");
    }
}
