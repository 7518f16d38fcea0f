//! Sampling until a precision is reached.

use std::fs;

use super::{RunEnv, sum};
use crate::test_env::assert_rejected;

/// Points of the suite.
const POINTS: u64 = 3;

fn env() -> RunEnv {
    let env = RunEnv::new();
    env.write_study(&["sim-p1", "sim-p0.5"], "");
    let study = env.path().join("study.toml");
    let text = fs::read_to_string(&study).unwrap();
    fs::write(&study, format!("precision = 0.1\nmax_count = 80\n{text}")).unwrap();
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
