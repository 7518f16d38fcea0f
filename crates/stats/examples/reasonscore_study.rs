//! ReasonScore's bootstrap on a synthetic leaderboard: its margin compared with the min/max method, and the number of
//! draws it needs.
//!
//! ```text
//! cargo run --release -p reasonscape-stats --example reasonscore_study
//! ```

#[path = "support/board.rs"]
mod board;

use reasonscape_stats::StatsError;
use reasonscape_stats::score::{
    Bootstrap, ReasonScore, TaskBounds, min_max_score, ranks, reason_scores, stability,
};

fn main() -> Result<(), StatsError> {
    let board = board::synthetic();
    let scores = reason_scores(&board, Bootstrap::default())?;
    methods(&board, &scores)?;
    let ranks = ranks(&scores);
    let middling = ranks.iter().position(|rank| rank.rank == 22).expect("there are 37 models");
    draws(&board[middling], &scores[middling])
}

/// Prints the comparison of bootstrap and min/max.
fn methods(board: &[Vec<TaskBounds>], scores: &[ReasonScore]) -> Result<(), StatsError> {
    let extremes = board.iter().map(|tasks| min_max_score(tasks)).collect::<Result<Vec<_>, _>>()?;
    let mean_margin =
        |scores: &[ReasonScore]| scores.iter().map(ReasonScore::margin).sum::<f64>() / scores.len() as f64;
    let (wide, narrow) = (mean_margin(&extremes), mean_margin(scores));
    let centers = scores.iter().map(ReasonScore::center);
    let (lowest, highest) = (centers.clone().fold(f64::MAX, f64::min), centers.fold(f64::MIN, f64::max));
    println!("37 models, 12 tasks, scores from {lowest:.0} to {highest:.0}\n");
    println!("| method | mean margin | mean width | ratio |\n|---|---:|---:|---:|");
    for (method, margin) in [("min/max", wide), ("bootstrap", narrow)] {
        println!("| {method} | ±{margin:.1} | {:.1} | {:.2} |", 2.0 * margin, margin / wide);
    }
    Ok(())
}

/// Prints how the margin varies with the seed.
fn draws(tasks: &[TaskBounds], score: &ReasonScore) -> Result<(), StatsError> {
    println!("\nThe model at rank 22, {score}, over seeds 0 to 9\n");
    println!("| draws | margin, mean ± sd | max - min | under 0.5 |\n|---:|---:|---:|---|");
    for row in stability(tasks, &[100, 500, 1000, 5000, 10_000], 0..10)? {
        println!(
            "| {} | {:.2} ± {:.2} | {:.2} | {} |",
            row.draws,
            row.margin_mean,
            row.margin_sd,
            row.margin_range,
            if row.margin_range < 0.5 { "yes" } else { "no" }
        );
    }
    Ok(())
}
