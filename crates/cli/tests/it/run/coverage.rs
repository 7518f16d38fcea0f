//! Whether confidence intervals contain the true score, from the simulator through runner, cache and scoring to the
//! leaderboard.
//!
//! `REASONSCAPE_COVERAGE_REPEATS=300 cargo test --workspace --test it -- run::coverage --nocapture` repeats it more often than
//! CI does and prints a table.

use std::fs;

use reasonscape_core::Suite;
use reasonscape_simulator::{SimulateOptions, SimulatedModel, SimulatedServer};
use reasonscape_study::Study;
use reasonscape_test_support::study_toml;
use serde_json::Value;
use tempfile::TempDir;

use crate::test_env::reasonscape;

/// Points of different difficulty, with and without guessing; the second point of `sort` has twice the weight.
const SUITE: &str = r#"
name = "coverage"
count = 16
[[manifold]]
id = "arithmetic"
task = "arithmetic@1"
points = [{ length = 3, max_depth = 0 }, { length = 24, max_depth = 4, max_number = 99 }]
[[manifold]]
id = "boolean"
task = "boolean@1"
points = [{ length = 4, max_depth = 1 }, { length = 32, max_depth = 6 }]
[[manifold]]
id = "shapes"
task = "shapes@1"
points = [{}]
[[manifold]]
id = "sort"
task = "sort@1"
points = [{ length = 4 }]
[[manifold]]
id = "sort-long"
task = "sort@1"
count = 32
points = [{ length = 24 }]
"#;

const MODELS: [&str; 2] = ["sim-strong", "sim-cheap"];

/// How many problems each point gets: as the suite plans, adaptively, and three times as many.
const DESIGNS: [(&str, &[&str]); 3] = [
    ("equal counts", &[]),
    ("--precision 0.05", &["--precision", "0.05"]),
    ("raised count", &["--count", "48"]),
];

/// Problems per point that the simulator knows: as many as a precision target may ask for.
const MAX_COUNT: usize = 512;

fn repeats() -> u64 {
    std::env::var("REASONSCAPE_COVERAGE_REPEATS").ok().and_then(|text| text.parse().ok()).unwrap_or(20)
}

/// 1000 times the geometric mean over tasks of the probability of a completed and known answer, with the suite's weights.
fn true_score(study: &Study, model: &str) -> f64 {
    let eval = study.evals.iter().find(|eval| eval.model == model).unwrap();
    let max_tokens = u32::try_from(eval.sampler.max_tokens().unwrap()).unwrap();
    let simulated = SimulatedModel::by_name(model).unwrap();
    let points = study.suite.points();
    let mut tasks: Vec<&str> = points.iter().map(|point| point.task.name()).collect();
    tasks.sort_unstable();
    tasks.dedup();
    let ln_task = |task: &str| {
        let (mut sum, mut weights) = (0.0, 0.0);
        for point in points.iter().filter(|point| point.task.name() == task) {
            let truth = simulated.truth(point.task, point.params, max_tokens);
            sum += point.count as f64 * truth.knows * (1.0 - truth.cut);
            weights += point.count as f64;
        }
        (sum / weights).max(0.01).ln()
    };
    1000.0 * (tasks.iter().map(|task| ln_task(task)).sum::<f64>() / tasks.len() as f64).exp()
}

/// Results of a design and a model over the repeats.
#[derive(Default)]
struct Coverage {
    covered: u64,
    bias: f64,
    width: f64,
    trials: u64,
}

#[test]
fn intervals_contain_the_true_score_under_every_sampling_rule() {
    let mut found: Vec<[Coverage; 2]> = DESIGNS.iter().map(|_| <[Coverage; 2]>::default()).collect();
    let mut truths = [0.0; 2];
    for seed in 0..repeats() {
        let suites = vec![Suite::parse(SUITE).unwrap()];
        let options = SimulateOptions { suites, count: Some(MAX_COUNT), seed, ..SimulateOptions::default() };
        let server = SimulatedServer::start(options).unwrap();
        for ((_, arguments), found) in DESIGNS.iter().zip(&mut found) {
            let folder = TempDir::new().unwrap();
            let path = folder.path().to_str().unwrap();
            fs::write(folder.path().join("suite.toml"), SUITE).unwrap();
            let text = study_toml("suite.toml", &server.base_url(), &MODELS, "");
            fs::write(folder.path().join("study.toml"), text).unwrap();
            let run = reasonscape(&[&["run", path, "--quiet"], *arguments].concat());
            assert_eq!(run.code, 0, "{run:?}");
            let board = reasonscape(&["analyze", "scores", path, "--format", "json"]);
            let board: Value = serde_json::from_str(&board.stdout).unwrap();
            let study = Study::load(folder.path()).unwrap();
            for (index, model) in MODELS.iter().enumerate() {
                truths[index] = true_score(&study, model);
                let row = board.as_array().unwrap().iter().find(|row| row["model"] == *model).unwrap();
                assert_eq!(row["complete"], true, "{row}");
                let score = |key: &str| row["reason_score"][key].as_f64().unwrap();
                let found = &mut found[index];
                found.covered += u64::from((score("ci_low")..=score("ci_high")).contains(&truths[index]));
                found.bias += score("estimate") - truths[index];
                found.width += score("ci_high") - score("ci_low");
                let tasks = row["tasks"].as_object().unwrap().values();
                found.trials += tasks.map(|task| task["n"].as_u64().unwrap()).sum::<u64>();
            }
        }
    }
    let total = repeats();
    let mean = |sum: f64| sum / total as f64;
    for ((design, _), found) in DESIGNS.iter().zip(&found) {
        for ((model, truth), found) in MODELS.iter().zip(truths).zip(found) {
            println!(
                "{design:18} {model:12} true {truth:5.1}  covered {:3} of {total}  bias {:+5.1}  width {:5.1}  trials {:6.0}",
                found.covered,
                mean(found.bias),
                mean(found.width),
                mean(found.trials as f64)
            );
        }
    }
    for ((design, _), found) in DESIGNS.iter().zip(&found) {
        let covered: u64 = found.iter().map(|found| found.covered).sum();
        assert!(covered * 100 >= 92 * 2 * total, "{design}: {covered} of {} intervals", 2 * total);
    }
}
