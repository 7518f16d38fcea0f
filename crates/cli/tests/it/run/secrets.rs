//! Keys reach no file and no output, whatever goes wrong.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use super::RunEnv;
use crate::test_env::{assert_rejected, reasonscape};

const SECRET: &str = "sk-7hJ2kQ9vXw4ZpL0aTn5R";

/// Runs the program with a key in its environment, and everything logged that anything cares to log.
fn run_with_key(env: &RunEnv, key: &str, arguments: &[&str]) -> (i32, Vec<u8>) {
    let output = Command::new(assert_cmd::cargo::cargo_bin!("reasonscape"))
        .args(arguments)
        .arg(env.path())
        .env("PEOPLES_KEY", key)
        .env("RUST_LOG", "trace")
        .env("RUST_BACKTRACE", "full")
        .output()
        .unwrap();
    (output.status.code().unwrap(), [output.stdout, output.stderr].concat())
}

/// The bytes of every file under a folder.
fn everything(folder: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        bytes.extend(if path.is_dir() { everything(&path) } else { fs::read(&path).unwrap() });
    }
    bytes
}

fn shows(bytes: &[u8], secret: &str) -> bool {
    bytes.windows(secret.len()).any(|window| window == secret.as_bytes())
}

/// The log is there: what the runner says, and what the HTTP libraries say, which had the key in their hands.
fn is_traced(said: &str) {
    let has = |level: &str, words: &str| {
        said.lines().any(|line| line.contains(&format!(" {level} ")) && line.contains(words))
    };
    for (level, words) in [
        ("TRACE", "reasonscape_runner::client: sending host="),
        ("TRACE", "reasonscape_runner::client: reply host="),
        ("TRACE", "reasonscape_runner::run::attempt: stored trial="),
        ("TRACE", "reasonscape_runner::endpoint_limiter: window host="),
        ("DEBUG", "reasonscape_runner::run::eval_runner: retry trial="),
        ("TRACE", "hyper_util::client::"),
        ("DEBUG", "reqwest::connect: starting new connection"),
    ] {
        assert!(has(level, words), "no `{level} {words}` in {said}");
    }
}

#[test]
fn never_prints_or_stores_the_api_key() {
    let faults = "rate=0.3,kinds=429+500+reset+half+invalid-json+wrong-type+empty+overflow,retry-after=0.01";
    let env = RunEnv::with(faults, Some(SECRET));
    for provider in ["openai-chat", "openai-text", "anthropic"] {
        env.write_study(
            &["sim-cheap"],
            &format!("api_key_env = \"PEOPLES_KEY\"\nprovider = \"{provider}\"\nmax_retries = 20"),
        );
        // A wrong key is a secret as well: most likely it is the right one of something else.
        let wrong = "sk-wrong-Qm3Yd8Ls6Bf1";
        let (code, said) = run_with_key(&env, wrong, &["run", "--format", "json"]);
        let text = String::from_utf8_lossy(&said);
        assert_eq!(code, 1, "{text}");
        assert!(text.contains("401") && text.contains("no request got a response"), "{text}");
        assert!(!shows(&said, wrong) && !shows(&everything(env.path()), wrong), "{text}");

        for arguments in [&["run"][..], &["plan"], &["cache", "verify"], &["cache", "export"]] {
            let (code, said) = run_with_key(&env, SECRET, arguments);
            assert_eq!(code, 0, "{arguments:?}: {}", String::from_utf8_lossy(&said));
            assert!(!shows(&said, SECRET), "{arguments:?}: {}", String::from_utf8_lossy(&said));
            if arguments == ["run"] {
                is_traced(&String::from_utf8_lossy(&said));
            }
        }
        let files = everything(env.path());
        assert!(shows(&files, "SQLite format 3"), "the scan reads the cache");
        assert!(!shows(&files, SECRET));
    }
    // Bodies are compressed in the cache; the export above shows them as they are.
    let (_, exported) = run_with_key(&env, SECRET, &["cache", "export"]);
    assert!(shows(&exported, "sim-cheap"));
    assert!(env.server.stats().by_status[&401] > 0 && env.server.stats().answered > 0);
}

#[test]
fn names_a_missing_key_variable() {
    let env = RunEnv::with("", Some(SECRET));
    env.write_study(&["sim-cheap"], "api_key_env = \"NO_SUCH_KEY_IS_SET\"");
    let run = env.run(&[]);
    assert_rejected(
        &run,
        &["the environment variable `NO_SUCH_KEY_IS_SET` is not set", "export NO_SUCH_KEY_IS_SET="],
    );
    env.assert_is_untouched();
    assert_eq!(env.plan(&[]).code, 0, "a plan needs no key");
    env.write_study(&["sim-cheap"], &format!("api_key_env = \"{SECRET}\""));
    let run = reasonscape(&["run", env.path().to_str().unwrap()]);
    assert_rejected(&run, &["line 5", "api_key_env"]);
    assert!(!run.stderr.contains(SECRET), "a key pasted in the wrong place is not repeated: {run:?}");
    assert_eq!(env.server.stats().requests, 0);
}

#[test]
fn logs_only_on_request_and_to_stderr() {
    let env = RunEnv::new();
    let run = |arguments: &[&str], variable: &str| {
        let output = Command::new(assert_cmd::cargo::cargo_bin!("reasonscape"))
            .args(["run", env.path().to_str().unwrap(), "--format", "json"])
            .args(arguments)
            .env("RUST_LOG", variable)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(0));
        let read: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert!(read.is_array());
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(run(&["--log", "reasonscape_runner=trace", "--count", "2"], "").contains(" stored trial="));
    assert_eq!(run(&["--count", "3"], ""), "");
    assert!(run(&["--count", "4"], "trace").contains(" TRACE hyper_util::"));
    assert_eq!(run(&["--log", "off", "--count", "5"], "trace"), "", "the argument wins");
    let said = run(&["--count", "6"], "a=b=c");
    assert!(said.starts_with("note: logging is off, because `RUST_LOG` is invalid"), "{said}");
}

#[test]
fn closed_stderr_does_not_end_a_run() {
    let env = RunEnv::new();
    let mut run = Command::new(assert_cmd::cargo::cargo_bin!("reasonscape"))
        .args(["run", env.path().to_str().unwrap(), "--format", "json", "--log", "trace"])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(run.stderr.take());
    assert_eq!(run.wait().unwrap().code(), Some(0));
    env.assert_cache_is_sound(48);
}
