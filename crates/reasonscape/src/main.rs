//! `reasonscape`: measures how well a language model reasons, and says what the numbers can and cannot support.
//!
//! # Promises
//! Thin: it reads arguments, calls the rooms below, and says things to people. Data goes to standard output, talk to
//! standard error. Exit codes are API: 0 done, 1 failed, 2 wrong input, 130 interrupted.

mod analysis;
mod cli;
mod dataset_results;
mod failure;
mod from_dataset;
mod logging;
mod making;
mod output;
mod questions;
mod report;
mod tally;
mod web;
mod zeta;

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    match cli::run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
