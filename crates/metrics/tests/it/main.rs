//! Integration tests of the metrics: against python3, and against a labelled corpus of reasoning steps.

#![expect(clippy::unwrap_used, reason = "a helper of a test may fail it")]

mod metrics;
mod steps;
