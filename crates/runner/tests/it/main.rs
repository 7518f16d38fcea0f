//! Integration tests of the runner.
#![expect(clippy::unwrap_used, reason = "a helper of a test may fail it")]

mod simulate;
