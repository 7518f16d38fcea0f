//! Oracles for tests: programs that we did not write and whose word we take.
//!
//! Used by tests only. A machine without the program skips the comparison and says so on standard error, past the
//! test runner's capture; with `REASONSCAPE_REQUIRE_ORACLES` set, as in CI, a missing oracle is a failure.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Runs a Python script (standard library only) on some input and gives what it printed; `None` without python3.
///
/// ```
/// let doubled = reasonscape_oracle::python("print(2 * int(input()))", "21");
/// assert!(doubled.is_none_or(|text| text == "42\n"));
/// ```
///
/// # Panics
/// When the script fails, or when python3 is missing and `REASONSCAPE_REQUIRE_ORACLES` is set.
pub fn python(script: &str, input: &str) -> Option<String> {
    let spawned = Command::new("python3")
        .args(["-c", script])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn();
    let mut child = match spawned {
        Ok(child) => child,
        Err(error) => {
            skip(&format!("python3 could not be started ({error})"));
            return None;
        }
    };
    let mut stdin = child.stdin.take().expect("the pipe was asked for");
    let input = input.to_owned();
    let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = child.wait_with_output().expect("a started child can be waited for");
    writer.join().expect("the writer does not panic").expect("python3 reads its input");
    assert!(output.status.success(), "python3 failed on:\n{script}");
    Some(String::from_utf8(output.stdout).expect("python3 prints UTF-8"))
}

/// The program of Chromium: what `REASONSCAPE_CHROMIUM` names, or the first that is on the path; `None` without one.
///
/// # Panics
/// When there is none and `REASONSCAPE_REQUIRE_ORACLES` is set.
pub fn chromium() -> Option<PathBuf> {
    program("REASONSCAPE_CHROMIUM", &["chromium", "chromium-browser", "google-chrome"])
}

/// The program that drives Chromium: what `REASONSCAPE_CHROMEDRIVER` names, or one that is on the path; `None` without.
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
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let found = names
        .iter()
        .flat_map(|name| folders.iter().map(move |folder| folder.join(name)))
        .find(|program| program.is_file());
    if found.is_none() {
        skip(&format!(
            "there is no `{}`; `scripts/chromium.sh` gets it and prints what {variable} is to be",
            names[0]
        ));
    }
    found
}

/// Says that an oracle is missing, past the test runner's capture, or fails where it must be there.
fn skip(problem: &str) {
    let is_required = std::env::var_os("REASONSCAPE_REQUIRE_ORACLES").is_some();
    assert!(!is_required, "an oracle is required: {problem}");
    // `eprintln!` would be captured; whoever runs the tests must see this.
    let _ = writeln!(std::io::stderr(), "SKIPPED: {problem}");
}
