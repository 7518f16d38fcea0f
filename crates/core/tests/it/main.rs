//! Integration tests of the domain: every task against an independent solver, and against Python.

#![expect(clippy::unwrap_used, reason = "a helper of a test may fail it")]

mod check;
mod difficulty;
mod extract;
mod math;
mod python;
mod python_solvers;
mod reply_forms;
mod scaling;
mod scorers;
mod scoring_revision;
mod solve;
mod suites;
mod task_of;
mod tasks;
