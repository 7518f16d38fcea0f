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
mod transcript;
mod transcripts;
mod trial;
mod write;

/// An answer that is worked out when it is awaited.
///
/// Boxed at the border of this crate: the body of an `async fn` is compiled where it is awaited, and with it went half
/// of DataFusion into every program that asks.
pub type Work<'a, T> = std::pin::Pin<Box<dyn Future<Output = T> + Send + 'a>>;

pub use counts::{Counts, Mean};
pub use db::{
    Answer, DifferingPoint, DifferingTest, Estimator, Group, Lookalike, Measure, Outcomes, PairedTask,
    PointEstimate, PointsDb, PointsOf, Source, StoredTrial, TestName, TrialFilter, TrialNumber, TrialPlace,
    TrialsAt, Value,
};
pub use error::PointsError;
pub use evaluate::{Answered, Evaluated, EvaluatedUnit, Options, evaluate, read_answers};
pub use export::{Exported, export_dataset, export_lines};
pub use filter::{Column, Filter};
pub use gzip_size::GzipSizer;
pub use import::{Imported, ImportedUnit, import_logs};
pub use sample_log::{TASK_LOG_COLUMNS, TaskLog, TaskLogRows, sql_of_file};
pub use schema::{FORMAT, POINT_COLUMNS, TRIAL_COLUMNS};
pub use transcript::{Transcript, TranscriptMessage};
pub use transcripts::TranscriptReader;
pub use trial::{EvalInfo, PointTrials, Provenance, Trial, Truncation};
pub use write::UnitWriter;
// removed when all users name the new crate
pub use reasonscape_ingest::{Progress, ROW_EXTENSIONS, RowCallback as OnRow, holds_rows, read_rows};
