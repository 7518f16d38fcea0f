//! A cache that has lost responses beside trials that were scored from them.

use std::fs;

use super::{RunEnv, sum};
use crate::test_env::reasonscape;

const TRIALS: u64 = 48;

#[test]
fn stops_when_the_cache_lost_responses() {
    let env = RunEnv::new();
    env.run_to_end(&[]);
    let sent = env.server.stats().requests;
    assert_eq!(sent, TRIALS);
    for is_empty in [false, true] {
        fs::remove_file(env.cache()).unwrap();
        if is_empty {
            fs::write(env.cache(), "").unwrap();
        }
        let run = env.run(&[]);
        assert_eq!(run.code, 1, "{run:?}");
        for part in
            ["has lost 48 of the responses", "restore the cache from a backup", "`reasonscape run --resend`"]
        {
            assert!(run.stderr.contains(part), "{part}: {run:?}");
        }
        assert_eq!(env.server.stats().requests, sent, "nothing is sent again without a word");
    }

    let again = env.run_to_end(&["--resend"]);
    assert_eq!((sum(&again, "cached"), sum(&again, "sent")), (0, TRIALS));
}

#[test]
fn stops_when_points_files_are_damaged_as_well() {
    let env = RunEnv::new();
    env.run_to_end(&[]);
    for file in super::verified::files(&env, "points") {
        fs::write(file, "not a Parquet file").unwrap();
    }
    fs::remove_file(env.cache()).unwrap();
    let run = env.run(&[]);
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.stderr.contains("has lost 48 of the responses"), "{run:?}");
    assert_eq!(env.server.stats().requests, TRIALS, "nothing is sent again without a word");
}

#[test]
fn stops_when_the_log_of_the_cache_is_lost() {
    let env = RunEnv::new();
    env.run_to_end(&["--task", "sort"]);
    let early = fs::read(env.cache()).unwrap();
    env.run_to_end(&[]);
    // As if the write-ahead log of the second run had never been copied along.
    fs::write(env.cache(), early).unwrap();
    let run = env.run(&[]);
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.stderr.contains("has lost 32 of the responses"), "{run:?}");
    assert_eq!(env.server.stats().requests, TRIALS);
}

#[test]
fn runs_after_entries_were_pruned_on_purpose() {
    let env = RunEnv::new();
    env.run_to_end(&[]);
    let study = env.path().to_str().unwrap();
    let pruned = reasonscape(&["cache", "prune", study, "--model", "sim-cheap"]);
    assert_eq!(pruned.code, 0, "{pruned:?}");
    let run = env.run_to_end(&[]);
    assert_eq!((sum(&run, "cached"), sum(&run, "sent")), (TRIALS / 2, TRIALS / 2));
    // Scored again, nothing is missing any more.
    assert_eq!(sum(&env.run_to_end(&[]), "cached"), TRIALS);
}
