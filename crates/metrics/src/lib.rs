//! Answer and reasoning metrics, without a judge model and without reference reasoning.
//!
//! [`measure`] turns one [`SampleRecord`] question into a [`PerTaskResult`], a pure function of the texts. A [`Summary`] collects
//! these, about a hundred bytes each whatever the length of the reasoning, and [`Summary::finish`] turns them into a
//! [`MetricsSummary`], in which every mean has its number of answers and a confidence interval. [`compare`] compares
//! two summaries on the tasks that both have.
//!
//! # Guarantees
//! Pure and synchronous: the same input gives the same numbers. No judge model, no file, no network. This crate does not read files: `ingest` and the front ends do.
//!
//! ```
//! use reasonscape_metrics::{SampleRecord, MetricOptions, Summary, measure};
//!
//! let targets = ["1,000".into()];
//! let row = SampleRecord { id: "q1", targets: &targets, answer: Some("1e3"), ..SampleRecord::default() };
//! let mut summary = Summary::default();
//! summary.add(&measure(&row, &MetricOptions::default()));
//! assert_eq!(summary.finish(10)?.accuracy, Some(1.0));
//! # Ok::<(), reasonscape_stats::StatsError>(())
//! ```

mod compare;
mod confidence;
mod consistency;
mod equations;
mod estimate;
mod grounding;
mod passes;
mod sample;
mod summary;
mod text_stats;

pub use compare::{PairedComparison, compare};
pub use confidence::{answer_probability, stated_confidence};
pub use consistency::majority_vote;
pub use equations::{Step, check_steps, check_truncated_steps};
pub use grounding::{Grounding, Sources, Unsupported, ground};
pub use passes::{PassEstimate, pass_estimates};
pub use sample::{MetricOptions, PerTaskResult, SampleRecord, measure};
pub use summary::{EstimateDetail, MetricsSummary, PassSummary, Summary, TOKENIZER};
pub use text_stats::{TextStats, text_stats, words};
