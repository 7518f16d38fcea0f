//! Metrics of answers, from JSON Lines files or the trials of a study: one summary per group.
//!
//! `reasonscape-ingest` reads the rows and `reasonscape-metrics` measures them; the measures of each answer can be written
//! to a log.

mod group;
mod log;
mod model_comparison;
mod read;
mod reliability;
mod summarize;
mod table;

pub use self::group::GroupColumn;
pub use self::log::{Log, LogKind};
pub use self::model_comparison::Difference;
pub use self::read::{AnswerOptions, Example, Model, Results};
pub use self::reliability::reliability_figure;
pub use self::summarize::{AnswerSummary, DEFAULT_BINS, DEFAULT_EXAMPLES, summarize, summarize_stream};
pub use self::table::{display_tables, export_table};
