//! Studies: which models are queried with which problems, how many samples, through which endpoint, and with which budget.
//!
//! A [`Study`] is read from its `study.toml` with the suite, templates and samplers it refers to. It determines the plan:
//! [`walk_trials`] generates the requests of an evaluation one at a time, each with the id of its response.
//!
//! # Promises
//! No network and no database: study files are read, and written only through [`write_file`], [`temp_file`] and [`write_study`]. The same study
//! yields the same requests, byte for byte. Errors name the file, the line and the expected value.

mod base_url;
mod builtins;
mod error;
mod eval;
mod from_dataset;
mod fs;
mod key_address;
mod keys;
mod plan;
mod raw;
mod sampler;
mod selection;
mod study;
mod study_toml;
mod template;
mod toml_document;
mod validate;
mod versions;

pub use error::StudyError;
pub use eval::{Eval, EvalId, HeaderSource, Limits, Prices};
pub use from_dataset::{DatasetStudy, FromDatasetError};
pub use fs::{TempDir, temp_file, write_file};
pub use key_address::KeyAddress;
pub use plan::{PlannedRequest, PlannedTrial, TestRanges, planned_requests, walk_trials};
pub use sampler::Sampler;
pub use selection::{
    Selection, SelectionError, Shard, check_selection, is_selected, matches_name, selected_points,
};
pub use study::{Budget, Precision, Study};
pub use study_toml::{EvalSpec, StudyText, write_study};
pub use template::{Examples, Template, TemplateInput};
pub use validate::MAX_NAME_LENGTH;
pub use versions::record_version;
