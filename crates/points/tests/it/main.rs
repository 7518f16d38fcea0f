//! Points from outside: real files, a real cache, and counts made by other means.

#![expect(clippy::unwrap_used, reason = "a helper of a test may fail it")]

mod counters;
mod coverage;
mod derived;
mod disagreements;
mod evaluate;
mod export;
mod files;
mod filter;
mod gzip_size;
mod import;
mod manifest;
mod outcomes;
mod paired;
mod queries;
mod test_env;
