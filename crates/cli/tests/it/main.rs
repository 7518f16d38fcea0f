//! The program as people and scripts meet it: arguments in, text and exit codes out.

#![expect(clippy::unwrap_used, reason = "a helper of a test may fail it")]

mod analyze;
mod cache;
mod demo;
mod doctor;
mod estimate;
mod generate;
mod import;
mod init;
mod key;
mod limits;
mod logging;
mod manual;
mod metrics;
mod mutations;
mod option_effects;
mod run;
mod score;
mod serve;
mod simulate;
mod source_documents;
mod source_statements;
mod suite;
mod tasks;
mod terminal_output;
mod test_env;
