//! Metrics of answers: files of JSON lines, or the trials of a study, to one summary per group.
//!
//! Rows are read by `reasonscape-ingest` and measured by `reasonscape-metrics`; what was measured on each answer can be
//! written to a log.

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
