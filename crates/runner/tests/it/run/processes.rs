//! Several processes on one study.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use reasonscape_cache::Cache;
use reasonscape_study::Study;

use super::{POINTS, TestEnv, assert_counts_add_up, count, eval, run_all, server};

const STUDY_DIR: &str = "REASONSCAPE_TEST_STUDY";
const TEST_COUNT: &str = "REASONSCAPE_TEST_COUNT";

/// Starts another process that runs the study of this environment.
fn spawn_child(env: &TestEnv, tests: usize) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["run::processes::child_process", "--exact", "--ignored", "--nocapture"])
        .env(STUDY_DIR, env.dir.path())
        .env(TEST_COUNT, tests.to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// What it printed at its end: planned, cached, answered and missing.
fn final_counts(mut child: Child) -> [u64; 4] {
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let last_line = lines.filter_map(|line| Some(line.split_once("child: ")?.1.to_owned())).last();
    assert!(child.wait().unwrap().success(), "{last_line:?}");
    let numbers: Vec<u64> = last_line.unwrap().split(' ').map(|number| number.parse().unwrap()).collect();
    numbers.try_into().unwrap()
}

#[test]
#[ignore = "played by other tests in a process of its own"]
fn child_process() {
    let Some(dir) = std::env::var_os(STUDY_DIR) else { return };
    let tests = std::env::var(TEST_COUNT).unwrap().parse().unwrap();
    let study = Study::load(dir.as_ref()).unwrap();
    let cache = Cache::open(study.dir.join("cache.sqlite")).unwrap();
    let (summary, _) = run_all(&study, &count(tests), &cache);
    let eval = &summary.evals[0];
    assert_counts_add_up(eval);
    println!("\nchild: {} {} {} {}", eval.planned, eval.cached, eval.answered, eval.missing);
}

#[test]
fn three_processes_send_each_request_once() {
    let (env, server) = (TestEnv::new(), server("rate=1,kinds=slow,slow-ms=5"));
    env.study("", &[eval("sim-cheap", &server.base_url())]);
    let children: Vec<Child> = (0..3).map(|_| spawn_child(&env, 64)).collect();
    let ends: Vec<[u64; 4]> = children.into_iter().map(final_counts).collect();
    for [planned, cached, answered, missing] in &ends {
        assert_eq!((*planned, cached + answered, *missing), (64 * POINTS, 64 * POINTS, 0), "{ends:?}");
    }
    assert_eq!(ends.iter().map(|[_, _, answered, _]| answered).sum::<u64>(), 64 * POINTS);
    let stats = server.stats();
    assert_eq!((stats.requests, stats.duplicates), (64 * POINTS, 0));
    assert_eq!(env.entries(), 64 * POINTS);
    assert!(!env.dir.path().join("cache.sqlite.owners").exists(), "no claim is left behind");
}

/// What one process gives up, the other may try; neither waits for the other for ever.
#[test]
fn processes_that_abandon_trials_terminate() {
    let (env, server) = (TestEnv::new(), server("rate=0.3,kinds=500"));
    env.study("", &[eval("sim-cheap", &server.base_url()) + "max_retries = 0\n"]);
    let children: Vec<Child> = (0..2).map(|_| spawn_child(&env, 48)).collect();
    let ends: Vec<[u64; 4]> = children.into_iter().map(final_counts).collect();
    let answered: u64 = ends.iter().map(|[_, _, answered, _]| answered).sum();
    assert_eq!(env.entries(), answered, "{ends:?}");
    assert_eq!(server.stats().duplicates, 0);
    assert!(ends.iter().all(|[planned, cached, answered, missing]| cached + answered + missing == *planned));
}
