//! Python's standard library as an oracle.

use std::io::Write;
use std::process::{Command, Stdio};

/// What python3 prints when it runs `script` with `stdin` as its input; `None`, loudly, when there is no python3.
///
/// With `REASONSCAPE_REQUIRE_ORACLES` set, a missing python3 fails the test instead.
pub(crate) fn python(script: &str, stdin: &str) -> Option<String> {
    let spawned = Command::new("python3")
        .args(["-c", script])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn();
    let mut child = match spawned {
        Ok(child) => child,
        Err(error) => {
            assert!(
                std::env::var_os("REASONSCAPE_REQUIRE_ORACLES").is_none(),
                "python3 is required as an oracle: {error}"
            );
            // Not `eprintln`, which the test harness would swallow.
            writeln!(
                std::io::stderr(),
                "SKIPPED: a comparison with python3, which could not be run: {error}"
            )
            .expect("stderr can be written to");
            return None;
        }
    };
    child.stdin.take().expect("stdin is piped").write_all(stdin.as_bytes()).expect("python3 reads its input");
    let output = child.wait_with_output().expect("python3 ends");
    assert!(output.status.success(), "python3 failed: {}", output.status);
    Some(String::from_utf8(output.stdout).expect("python3 prints UTF-8"))
}
