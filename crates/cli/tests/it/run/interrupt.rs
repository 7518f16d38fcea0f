//! Ctrl-C.

#![cfg(unix)]

use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use super::{RunEnv, sum};
use crate::test_env::wait_until;

/// A run that goes on; it is ended whatever the test does.
struct Running(Child);

impl Running {
    fn start(env: &RunEnv, arguments: &[&str]) -> Self {
        let child = Command::new(assert_cmd::cargo::cargo_bin!("reasonscape"))
            .args(["run", env.path().to_str().unwrap(), "--format", "json"])
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        Self(child)
    }

    fn signal(&self, name: &str) {
        let id = self.0.id().to_string();
        assert!(Command::new("kill").args([name, &id]).status().unwrap().success());
    }

    /// Exit code, what it says to programs, and to people.
    fn end(mut self) -> (i32, Value, String) {
        let (mut stdout, mut stderr) = (String::new(), String::new());
        self.0.stdout.take().unwrap().read_to_string(&mut stdout).unwrap();
        self.0.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        let code = self.0.wait().unwrap().code().unwrap();
        assert!(!stderr.contains("panicked"), "{stderr}");
        (code, serde_json::from_str(&stdout).unwrap(), stderr)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn first_signal_drains_and_next_run_sends_the_rest() {
    for (signal, arguments) in [("-INT", &[][..]), ("-TERM", &["--quiet"])] {
        let env = RunEnv::with("kinds=slow,slow-ms=100", None);
        env.write_study(&["sim-p0.9"], "concurrency = 2");
        let running = Running::start(&env, arguments);
        wait_until("answers came", || env.server.stats().answered >= 4);
        running.signal(signal);
        let (code, json, said) = running.end();
        let answered = sum(&json, "answered");
        assert_eq!(code, 130, "{said}");
        assert!((3..24).contains(&answered) && sum(&json, "planned") == 24, "{json}");
        // Nothing that was sent is lost.
        assert_eq!((sum(&json, "sent"), env.server.stats().answered), (answered, answered));
        if arguments.is_empty() {
            assert!(said.starts_with("note: stopping: waiting for the requests in flight"), "{said}");
            assert!(said.ends_with("running again sends the rest\n"), "{said}");
        } else {
            assert_eq!(said, "");
        }
        let rest = env.run_to_end(&[]);
        assert_eq!((sum(&rest, "cached"), sum(&rest, "answered")), (answered, 24 - answered));
        assert_eq!(env.server.stats().duplicates, 0);
        env.assert_cache_is_sound(24);
    }
}

#[test]
fn second_signal_exits_at_once() {
    let env = RunEnv::with("kinds=stall", None);
    let running = Running::start(&env, &[]);
    wait_until("requests were sent", || env.server.stats().requests > 0);
    running.signal("-INT");
    // Two signals of one kind that are pending at once are one signal.
    std::thread::sleep(Duration::from_millis(300));
    running.signal("-INT");
    let (code, json, said) = running.end();
    assert_eq!((code, sum(&json, "answered")), (130, 0), "{said}");
    env.assert_cache_is_sound(0);
}
