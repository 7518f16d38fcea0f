//! Whether confidence intervals contain the true score, from the simulator through runner, cache and scoring to the
//! leaderboard.
//!
//! `REASONSCAPE_COVERAGE_REPEATS=300 cargo test -p reasonscape --test it -- run::coverage --nocapture` repeats it more often
//! than CI does and prints the table of `docs/coverage.md`.

use std::fs;

use reasonscape_core::Suite;
use reasonscape_simulator::{SimulateOptions, SimulatedModel, SimulatedServer};
use reasonscape_study::Study;
use reasonscape_test_support::study_toml;
use serde_json::Value;
use tempfile::TempDir;

use crate::test_env::{reasonscape, reasonscape_at};

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
    truth: f64,
    repeats: u64,
    covered: u64,
    bias: f64,
    width: f64,
    trials: u64,
}

impl Coverage {
    /// The row of `docs/coverage.md`.
    fn row(&self, design: &str, model: &str) -> String {
        let mean = |sum: f64| sum / self.repeats as f64;
        format!(
            "| {design} | `{model}` | {:.0} | {:.1} | {:+.1} | {:.0} | {:.0} |",
            self.truth,
            100.0 * mean(self.covered as f64),
            mean(self.bias),
            mean(self.width),
            mean(self.trials as f64),
        )
    }
}

/// Prints the table of `docs/coverage.md`.
fn print_table(found: &[[Coverage; 2]]) {
    println!(
        "\n{} repeats\n\n| sampling | model | true score | coverage, % | bias | width | trials |\n|---|---|---:|---:|---:|---:|---:|",
        found[0][0].repeats
    );
    for ((design, _), found) in DESIGNS.iter().zip(found) {
        for (model, found) in MODELS.iter().zip(found) {
            println!("{}", found.row(design, model));
        }
    }
}

/// Asserts that v2 is marked wherever it is shown if points were sampled unequally, and nowhere otherwise.
fn assert_marks(study: &str, board: &Value, is_unequal: bool) {
    for row in board.as_array().unwrap() {
        assert_eq!(row["unequal_sampling"], is_unequal, "{row}");
    }
    for arguments in [&["scores"][..], &["modes"], &["compare", MODELS[0], MODELS[1]]] {
        let run = reasonscape_at(200, &[&["analyze", arguments[0], study], &arguments[1..]].concat());
        assert_eq!(run.code, 0, "{run:?}");
        for text in [&run.stdout, &run.stderr] {
            assert_eq!(text.contains('†'), is_unequal, "{arguments:?}: {run:?}");
        }
    }
}

#[test]
fn intervals_contain_the_true_score_under_every_sampling_rule() {
    let mut found: Vec<[Coverage; 2]> = DESIGNS.iter().map(|_| <[Coverage; 2]>::default()).collect();
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
            if seed == 0 {
                // A raised count is the same for all points, whatever their weights.
                assert_marks(path, &board, !arguments.is_empty());
            }
            let study = Study::load(folder.path()).unwrap();
            for (index, model) in MODELS.iter().enumerate() {
                let row = board.as_array().unwrap().iter().find(|row| row["model"] == *model).unwrap();
                assert_eq!(row["complete"], true, "{row}");
                let score = |key: &str| row["reason_score"][key].as_f64().unwrap();
                let found = &mut found[index];
                found.truth = true_score(&study, model);
                found.repeats += 1;
                found.covered += u64::from((score("ci_low")..=score("ci_high")).contains(&found.truth));
                found.bias += score("estimate") - found.truth;
                found.width += score("ci_high") - score("ci_low");
                let tasks = row["tasks"].as_object().unwrap().values();
                found.trials += tasks.map(|task| task["n"].as_u64().unwrap()).sum::<u64>();
            }
        }
        if (seed + 1).is_multiple_of(25) {
            print_table(&found);
        }
    }
    print_table(&found);
    let total = repeats();
    for ((design, _), found) in DESIGNS.iter().zip(&found) {
        for (model, found) in MODELS.iter().zip(found) {
            assert!(
                found.covered * 100 >= 92 * total,
                "{design}, {model}: {} of {total} intervals",
                found.covered
            );
        }
    }
}
