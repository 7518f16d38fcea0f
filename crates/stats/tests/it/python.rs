//! python3 as an oracle.

use std::io::Write;
use std::process::{Command, Stdio};

/// What `script` prints when given `stdin`, or nothing on a machine without python3.
///
/// A skipped test says so on the real standard error, which the test harness does not capture. With
/// `REASONSCAPE_REQUIRE_ORACLES` set it fails instead.
pub(crate) fn python(script: &str, stdin: &str) -> Option<String> {
    let spawned = Command::new("python3")
        .args(["-c", script])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = match spawned {
        Ok(child) => child,
        Err(error) => {
            assert!(
                std::env::var_os("REASONSCAPE_REQUIRE_ORACLES").is_none(),
                "python3 is required, but did not start: {error}"
            );
            writeln!(std::io::stderr(), "SKIPPED: a test that needs python3, which did not start: {error}")
                .expect("standard error takes a line");
            return None;
        }
    };
    child.stdin.take().expect("stdin is piped").write_all(stdin.as_bytes()).expect("python3 reads its input");
    let output = child.wait_with_output().expect("python3 ends");
    assert!(output.status.success(), "python3 failed:\n{}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).expect("python3 prints UTF-8"))
}
