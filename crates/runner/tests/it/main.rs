
#![expect(clippy::unwrap_used, reason = "a helper of a test may fail it")]
//! Integration tests of the runner.
//! The runner as other crates meet it.
mod provider;
mod simulate;
mod study;
mod template;
