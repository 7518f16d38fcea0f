//! Reads files as other tools write them.

#![expect(clippy::unwrap_used, reason = "a helper of a test may fail it")]

mod tabular_reader;
