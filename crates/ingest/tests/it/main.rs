//! Reads files as other tools write them.

#![expect(clippy::unwrap_used, reason = "a helper of a test may fail it")]

mod dataset_layouts;
mod mixed_logs;
mod tabular_reader;
