//! Helpers for tests: python3 and Chromium as references, a browser to drive, the text of a study, and the growth of work.
//!
//! # Promises
//! Used by tests only. Without python3 or Chromium a comparison is skipped and reported on standard error, past the capture
//! of the test runner; with `REASONSCAPE_REQUIRE_ORACLES` set, as in CI, a missing program is a failure.

mod chromium;
mod growth;
mod python;
mod study;
pub mod webdriver;

use std::io::Write;

pub use chromium::{chromedriver, chromium};
pub use growth::assert_linear;
pub use python::python;
pub use study::study_toml;

/// Reports that a program or a right is missing, past the test runner's capture, or fails where it is required.
///
/// # Panics
/// With `REASONSCAPE_REQUIRE_ORACLES`.
pub fn skip(problem: &str) {
    let is_required = std::env::var_os("REASONSCAPE_REQUIRE_ORACLES").is_some();
    assert!(!is_required, "an oracle is required: {problem}");
    // Not `eprintln!`, which the test runner captures.
    let _ = writeln!(std::io::stderr(), "SKIPPED: {problem}");
}
