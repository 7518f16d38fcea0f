//! From responses to trials to counters, and the questions that are asked of them.
//!
//! [`evaluate`](evaluate()) judges what the cache holds and writes two Parquet files for each evaluation and task: its
//! trials, one row each, and its points, one row each with their counters. [`PointsDb`] opens them: every question that
//! counters can answer is a sum over the small files, every other one is SQL over the large ones.
//!
//! # Promises
//! The only crate that sees DataFusion. A file is replaced whole or not at all. A trial that is stored twice counts
//! once. Everything here can be made again from the cache, with no request sent.

mod counts;
mod db;
mod error;
mod evaluate;
mod export;
mod files;
mod filter;
mod functions;
mod gzip_size;
mod import;
mod sample_log;
mod schema;
mod transcripts;
mod trial;
mod write;

/// The future that asynchronous methods return.
///
/// Boxed at the border of this crate: the body of an `async fn` is compiled where it is awaited, and with it half of
/// DataFusion would be compiled again into every program that queries.
pub use futures_util::future::BoxFuture;

pub use counts::{Mean, TrialCounts};
pub use db::{
    Estimator, Group, Measure, PairedTask, PointDisagreements, PointEstimate, PointSet, PointTrialCount,
    PointsDb, QueryResult, StoredTrial, StoredTrials, TestDisagreement, TestName, TrialColumns, TrialFilter,
    TrialLocation, TrialMatch, TrialNumber, UnitProvenance, Value,
};
pub use error::PointsError;
pub use evaluate::{EvaluateOptions, Evaluated, EvaluatedUnit, ScoredResponse, evaluate, read_answers};
pub use export::{Exported, export_dataset, export_lines};
pub use filter::{Column, Filter};
pub use gzip_size::GzipSizer;
pub use import::{Imported, ImportedUnit, import_logs};
pub use sample_log::{SAMPLE_LOG_COLUMNS, SampleLog, SampleLogRows, query_parquet_file};
pub use schema::{FORMAT, POINT_COLUMNS, TRIAL_COLUMNS};
pub use transcripts::TranscriptReader;
pub use trial::{EvalInfo, PointTrials, Provenance, Trial, Truncation};
pub use write::UnitWriter;
