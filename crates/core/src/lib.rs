//! The domain of ReasonScape, pure and synchronous: the same input gives the same bytes, for ever.
//!
//! A test is a function of its coordinates. Coordinates are a JSON object; its canonical text is hashed
//! ([`cache_key`]), the hash seeds CPython's generator ([`seeded`]), and the generator writes the tests. Anybody
//! with a Python interpreter can check each step.
//!
//! # Promises
//! No file, no network, no clock, no thread. What is written here never changes without a new version.
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
mod dataset;
mod entry_id;
mod extract;
mod json;
mod key;
mod number_words;
mod params;
mod schema;
mod suite;
mod task;
pub mod tasks;
mod trial;
pub mod zeta;

/// Names this state of the sources: tests and judgements that were made under another name may be others.
pub const SOURCES: &str = env!("REASONSCAPE_CORE_SOURCES");

pub use dataset::{Columns, Dataset, Item, LineProblem, Listed, check_items, json_problem, task_name};
pub use entry_id::{CacheKey, EntryId, KeyError, from_hex, to_hex};
pub use extract::{Extraction, Method, Reply, extract};
pub use json::{Json, JsonError};
pub use key::{base_seed, cache_key, canonical_json, seeded};
pub use params::{Dimension, ParamError, ParamValue, Parameter, Params, Range, closest};
pub use reasonscape_stats::random::PyRandom;
pub use schema::json_schema;
pub use suite::{Manifold, Point, Suite, SuiteError, View};
pub use task::{AnswerType, Task, Test, Tests};
pub use trial::{Status, judge};
