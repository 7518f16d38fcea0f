//! `reasonscape`: measures how well a language model reasons, and says what the numbers can and cannot support.
//!
//! # Promises
//! Thin: it reads arguments, calls the rooms below, and says things to people. Data goes to standard output, talk to
//! standard error. Exit codes are API: 0 done, 1 failed, 2 wrong input, 130 interrupted.

mod cli;
mod dataset_results;
mod failure;
mod from_dataset;
mod logging;
mod making;
mod output;
mod questions;
mod tally;
mod web;

use std::process::ExitCode;

/// The new crate under the names that it had as a module.
// removed when all users name the new crate
pub(crate) mod analysis {
    pub(crate) use reasonscape_analysis::*;
    pub(crate) use reasonscape_analysis::{
        AccuracyGrid as View, AccuracyGridAxis as ViewAxis, AccuracyGridCell as ViewCell,
        AccuracyGrids as Views, AxisSelection as Along, GroupBy as By, LogprobStats as Surprise,
        PointQuery as Asked, RatedModel as Contestant, ThresholdRow as FrontierRow, Thresholds as Frontiers,
        accuracy_grids as views, eval_label as label, find_eval as evaluation, logprob_stats as surprise,
        threshold_figure as frontier_figure, threshold_lines as frontier_lines, thresholds as frontiers,
        verdict_name as word,
    };
}

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    match cli::run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
