//! The domain of ReasonScape: parameters, tasks, suites, datasets, answer extraction and checking.
//!
//! A problem is a function of its parameters. Parameters are a JSON object; its canonical text is hashed
//! ([`cache_key`]), the hash seeds CPython's generator ([`seeded`]), and the generator writes the problems. Anyone
//! with a Python interpreter can check each step.
//!
//! # Guarantees
//! Pure and synchronous: no files, network, clock or threads. The same input always gives the same bytes; generated text
//! changes only with a task's version.
//!
//! ```
//! use reasonscape_core::{Json, cache_key, seeded};
//!
//! let coordinates = Json::parse(r#"{"length": 16, "depth": 3}"#)?;
//! assert!(cache_key(&coordinates).starts_with("814011ef"));
//! assert_eq!(seeded(&coordinates, 0).random(), 0.46270868789986597);
//! # Ok::<(), reasonscape_core::JsonError>(())
//! ```

mod answer;
pub mod check;
mod dataset;
mod extract;
mod json;
mod key;
mod math;
pub mod number_words;
mod params;
pub mod python_json;
mod schema;
mod scorer;
mod scoring;
mod suggest;
mod suite;
mod task;
pub mod tasks;
mod visible;

/// Raised manually whenever extraction or checking changes a score: trials scored under another revision are
/// scored again. A test with a corpus of replies fails if a score changes and this doesn't.
pub const SCORING_REVISION: u32 = 4;

pub use answer::{is_correct, is_space, normalize};
pub use dataset::{
    ColumnMap, Dataset, DatasetTask, Item, LineError, check_items, describe_json_error, parse_renames,
    task_name, valid_items,
};
pub use extract::{Extraction, Method, Reply, extract, last_boxed};
pub use json::{Json, JsonError};
pub use key::{CacheKey, EntryId, KeyError, base_seed, cache_key, canonical_json, from_hex, seeded, to_hex};
pub use params::{Dimension, ParamError, ParamValue, Parameter, Params, Range};
pub use reasonscape_stats::Outcome;
pub use reasonscape_stats::random::PyRandom;
pub use schema::json_schema;
pub(crate) use scorer::clean;
pub use scorer::{DetectedScorer, Scorer, ScorerVerdict, Tolerance, detect_scorer, detect_scorer_of};
pub use scoring::score;
pub use suggest::{closest, closest_within};
pub use suite::{Manifold, Point, Suite, SuiteError, View};
pub use task::{AnswerType, Ineffective, Task, Test, TestStream};
pub use visible::escape_invisible;
