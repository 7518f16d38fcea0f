//! Zeta: metrics of answers to anybody's questions, without a judge model and without gold reasoning.
//!
//! An [`Answered`] question becomes a [`PerTask`] by [`measure`], a pure function of the texts; a [`Summary`] takes
//! these up, a hundred bytes each whatever the length of the reasoning, and [`Summary::finish`] makes of them a
//! [`MetricsSummary`] in which every mean has its number of answers and an interval. [`compare`] says which of two
//! summaries is better on the tasks that both have.
//!
//! ```
//! use reasonscape_core::zeta::{Answered, Rules, Summary, measure};
//!
//! let targets = ["1,000".into()];
//! let row = Answered { id: "q1", targets: &targets, answer: Some("1e3"), ..Answered::default() };
//! let mut summary = Summary::default();
//! summary.add(&measure(&row, &Rules::default()));
//! assert_eq!(summary.finish(10)?.accuracy, Some(1.0));
//! # Ok::<(), reasonscape_stats::StatsError>(())
//! ```

mod answered;
mod compare;
mod confidence;
mod equations;
mod estimate;
mod grounding;
mod repeats;
mod row;
mod shape;
mod summary;

pub use answered::{Answered, PerTask, Rules, measure};
pub use compare::{Paired, compare};
pub use confidence::{answer_probability, stated_confidence};
pub use equations::{Step, check_steps};
pub use grounding::{Grounding, Sources, Unsupported, ground};
pub use shape::{Shape, shape, words};
pub use summary::{Detail, MetricsSummary, Summary, TOKENIZER};
