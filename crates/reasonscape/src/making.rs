//! The front end's names for `study::study_toml`.
// removed when all users name the new crate

use std::path::Path;

pub(crate) use reasonscape_runner::EvalSpec as Asking;
use reasonscape_runner::Study;

use crate::failure::Failure;

/// Writes the file of a study once it is known to be right.
pub(crate) fn write_study(folder: &Path, text: &str) -> Result<Study, Failure> {
    reasonscape_runner::write_study(folder, text)
}
