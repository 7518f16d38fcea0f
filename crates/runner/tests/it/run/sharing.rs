//! Plans that are divided into shards, and evaluations with the same requests.

use reasonscape_study::{Selection, Shard};

use super::{POINTS, TestEnv, assert_counts_add_up, count, eval, run_all, server};

const SAMPLER: &str = "[params]\ntemperature = 0\nmax_tokens = 2048\n";

#[test]
fn shards_partition_the_plan() {
    let (together, server) = (TestEnv::new(), server(""));
    let mut sum = 0;
    for number in 1..=3 {
        let selection = Selection { shard: Shard { number, total: 3 }, ..count(32) };
        let alone = TestEnv::new();
        for env in [&together, &alone] {
            let study = env.study("", &[eval("sim-cheap", &server.base_url())]);
            let (summary, _) = run_all(&study, &selection, &env.cache());
            assert_counts_add_up(&summary.evals[0]);
            assert!(summary.is_complete());
            assert_eq!(summary.evals[0].cached, 0, "no two shards ask the same");
        }
        assert!(alone.entries() > 0);
        sum += alone.entries();
    }
    assert_eq!((together.entries(), sum), (32 * POINTS, 32 * POINTS));
    let study = together.study("", &[eval("sim-cheap", &server.base_url())]);
    let (summary, _) = run_all(&study, &count(32), &together.cache());
    assert_eq!(summary.evals[0].sent, 0);
}

/// What one evaluation gives up, the other may try; neither waits for the other for ever.
#[test]
fn identical_evaluations_share_answers() {
    for (faults, retries) in [("", 8), ("rate=0.3,kinds=500", 0)] {
        let (env, server) = (TestEnv::new(), server(faults));
        let samplers = env.dir.path().join("samplers");
        std::fs::create_dir(&samplers).unwrap();
        std::fs::write(samplers.join("mine.toml"), SAMPLER).unwrap();
        std::fs::write(samplers.join("same.toml"), SAMPLER).unwrap();
        let evals = ["mine", "same"].map(|sampler| {
            let lines = format!("sampler = \"{sampler}\"\nmax_retries = {retries}\n");
            eval("sim-cheap", &server.base_url()) + &lines
        });
        let study = env.study("", &evals);
        let (summary, _) = run_all(&study, &count(96), &env.cache());
        let answered: u64 = summary.evals.iter().map(|eval| eval.answered).sum();
        summary.evals.iter().for_each(assert_counts_add_up);
        assert_eq!((env.entries(), server.stats().duplicates), (answered, 0));
        assert!(retries == 0 || (summary.is_complete() && answered == 96 * POINTS));
    }
}
