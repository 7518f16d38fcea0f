//! Runs Python scripts, whose standard library is the reference for our numbers.

use std::io::Write;
use std::process::{Command, Stdio};

use crate::skip;

/// Runs a Python script (standard library only) and returns what it printed; `None` without python3.
///
/// ```
/// let doubled = reasonscape_test_support::python("print(2 * int(input()))", "21");
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
