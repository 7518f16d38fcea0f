//! From requests to places: the leaderboard has models in the order of the skill that they were given.

use reasonscape_simulator::SimulateOptions;
use serde_json::Value;

use super::RunEnv;
use crate::test_env::reasonscape;

/// Models by what they know, in an order that says nothing.
const MODELS: [&str; 5] = ["sim-p0.55", "sim-p0.95", "sim-p0.25", "sim-p0.85", "sim-p0.4"];
const BEST_FIRST: [&str; 5] = ["sim-p0.95", "sim-p0.85", "sim-p0.55", "sim-p0.4", "sim-p0.25"];

#[test]
fn leaderboard_orders_models_by_skill() {
    // Each seed is another draw of luck.
    for seed in [1, 2, 3] {
        let env = RunEnv::with_options(SimulateOptions { seed, ..SimulateOptions::default() });
        env.write_study(&MODELS, "");
        env.run_to_end(&["--count", "128"]);
        let run = reasonscape(&["analyze", "scores", env.path().to_str().unwrap(), "--format", "json"]);
        assert_eq!(run.code, 0, "{run:?}");
        let board: Vec<Value> = serde_json::from_str(&run.stdout).unwrap();
        let found: Vec<&str> = board.iter().map(|row| row["model"].as_str().unwrap()).collect();
        assert_eq!(found, BEST_FIRST, "seed {seed}");
        for (place, row) in (1..).zip(&board) {
            let within = row["rank_best"].as_u64().unwrap()..=row["rank_worst"].as_u64().unwrap();
            assert!(within.contains(&place), "seed {seed}: {row}");
        }
    }
}
