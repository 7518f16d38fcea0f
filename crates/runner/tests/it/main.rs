//! The runner as other crates meet it.

#![expect(clippy::unwrap_used, reason = "a helper of a test may fail it")]

mod provider;
mod simulate;
mod study;
mod template;
