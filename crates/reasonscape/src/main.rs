//! `reasonscape`: measures how well a language model reasons, and says what the numbers can and cannot support.
//!
//! # Promises
//! Thin: it reads arguments, calls the rooms below, and says things to people. Data goes to standard output, talk to
//! standard error. Exit codes are API: 0 done, 1 failed, 2 wrong input, 130 interrupted.

mod cli;
mod failure;
mod logging;
mod making;
mod output;
mod questions;
mod tally;
mod web;

use std::process::ExitCode;

// removed when all users name the new crate
pub(crate) use reasonscape_analysis as analysis;
pub(crate) use reasonscape_analysis::report;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    match cli::run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
