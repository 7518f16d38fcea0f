//! Finds Chromium and its driver.

use std::path::PathBuf;

use crate::skip;

/// Path of Chromium: `REASONSCAPE_CHROMIUM`, or the first one on `PATH`; `None` without one.
///
/// # Panics
/// When there is none and `REASONSCAPE_REQUIRE_ORACLES` is set.
pub fn chromium() -> Option<PathBuf> {
    program("REASONSCAPE_CHROMIUM", &["chromium", "chromium-browser", "google-chrome"])
}

/// Path of `chromedriver`: `REASONSCAPE_CHROMEDRIVER`, or the one on `PATH`; `None` without one.
///
/// # Panics
/// When there is none and `REASONSCAPE_REQUIRE_ORACLES` is set.
pub fn chromedriver() -> Option<PathBuf> {
    program("REASONSCAPE_CHROMEDRIVER", &["chromedriver"])
}

fn program(variable: &str, names: &[&str]) -> Option<PathBuf> {
    if let Some(named) = std::env::var_os(variable).filter(|named| !named.is_empty()) {
        return Some(named.into());
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let dirs: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let found = names
        .iter()
        .flat_map(|name| dirs.iter().map(move |dir| dir.join(name)))
        .find(|program| program.is_file());
    if found.is_none() {
        skip(&format!(
            "there is no `{}`; `scripts/chromium.sh` gets it and prints what {variable} is to be",
            names[0]
        ));
    }
    found
}
