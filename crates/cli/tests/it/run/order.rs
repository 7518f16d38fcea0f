//! From requests to places: the leaderboard has models in the order of the skill that they were given.

use reasonscape_simulator::SimulateOptions;
use serde_json::Value;

use super::World;
use crate::world::reasonscape;

/// Models by what they know, in an order that says nothing.
const MODELS: [&str; 5] = ["sim-p0.55", "sim-p0.95", "sim-p0.25", "sim-p0.85", "sim-p0.4"];
const BEST_FIRST: [&str; 5] = ["sim-p0.95", "sim-p0.85", "sim-p0.55", "sim-p0.4", "sim-p0.25"];

#[test]
fn the_leaderboard_orders_models_as_their_skills_do() {
    // Each seed is another draw of luck.
    for seed in [1, 2, 3] {
        let world = World::of(SimulateOptions { seed, ..SimulateOptions::default() });
        world.study(&MODELS, "");
        world.done(&["--count", "128"]);
        let run = reasonscape(&["analyze", "scores", world.path().to_str().unwrap(), "--format", "json"]);
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
