//! Scores cached responses into trials and counters, stores them as Parquet files, and queries them.
//!
//! [`evaluate`](evaluate()) scores the responses in the cache and writes two Parquet files for each evaluation and task: one
//! row per trial, and one row per point with its counters. [`PointsDb`] opens them: queries on counters are sums over the
//! small files, all others are SQL over the large ones. Other tools' logs are imported, and trials exported, here too.
//!
//! # Promises
//! The only crate that sees DataFusion. A file is replaced whole or not at all. A trial that is stored twice counts
//! once. Everything can be rebuilt from the cache without sending a request: there is no HTTP client below this crate.

mod conditions;
mod counts;
mod db;
mod error;
mod evaluate;
mod export;
mod file_source;
mod files;
mod filter;
mod functions;
mod gzip_size;
mod import;
mod lost_responses;
mod manifest;
mod publish;
mod query_threads;
mod sample_log;
mod sampling;
mod schema;
mod scoring;
mod sql_size;
mod study_files;
mod transcripts;
mod trial;
mod verify;
mod write;

/// The future that asynchronous methods return.
///
/// Boxed at the border of this crate: the body of an `async fn` is compiled where it is awaited, and with it half of
/// DataFusion would be compiled again into every program that queries.
pub use futures_util::future::BoxFuture;

pub use counts::{Mean, TrialCounts};
pub use db::{
    Estimator, Group, Measure, PairedTask, PointDisagreements, PointEstimate, PointSet, PointTrialCount,
    PointsDb, ProblemSamples, ProblemValues, QueryResult, ResponseCounts, StoredTrial, StoredTrials,
    TestDisagreement, TestName, TrialColumns, TrialFilter, TrialLocation, TrialMatch, TrialNumber,
    UnitProblems, UnitProvenance, Value,
};
pub use error::PointsError;
pub use evaluate::{
    AnswerLines, EntryAccount, EvaluateOptions, Evaluated, EvaluatedUnit, KeptUnit, evaluate,
};
pub use export::{Exported, export_dataset, export_lines};
pub use filter::{Column, Filter};
pub use gzip_size::GzipSizer;
pub use import::{Imported, ImportedUnit, import_logs};
pub use lost_responses::count_lost_responses;
pub use sample_log::{SAMPLE_LOG_COLUMNS, SampleLog, SampleLogRows, query_parquet_file};
pub use sampling::SamplingRule;
pub use schema::{FORMAT, POINT_COLUMNS, TRIAL_COLUMNS};
pub use scoring::{ScoredTrial, score_responses};
pub use transcripts::TranscriptReader;
pub use trial::{EvalInfo, PointTrials, Provenance, Trial, Truncation};
pub use verify::{FileCheck, FileState, StudyPart, verify_files};
pub use write::UnitWriter;
