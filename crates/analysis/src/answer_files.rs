//! Metrics of answers that were collected elsewhere: files of JSON lines to one summary a model.
//!
//! Rows are read by `blocks`, `names` and `row`, measured by the metrics of `reasonscape-core`, and what was measured on
//! each answer can be written to a log.

mod blocks;
mod log;
mod model_comparison;
mod names;
mod read;
mod reliability;
mod row;
mod summarize;
mod table;

pub use self::log::{Log, LogKind};
pub use self::model_comparison::Difference;
pub use self::names::Names;
pub use self::read::{Example, Model, Options, Results};
pub use self::reliability::reliability_figure;
pub use self::summarize::{AnswerSummary, DEFAULT_BINS, DEFAULT_EXAMPLES, summarize};
pub use self::table::{display_tables, export_table};
