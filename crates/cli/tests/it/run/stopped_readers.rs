//! Readers that SIGSTOP stops in the middle, while a run replaces the files that they read.

use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::RunEnv;
use crate::test_env::reasonscape;

/// A command that is running; it is ended whatever the test does.
struct Reader(Child);

impl Reader {
    fn start(arguments: &[&str]) -> Self {
        let child = Command::new(assert_cmd::cargo::cargo_bin!("reasonscape"))
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        Self(child)
    }

    /// Sends a signal, unless the process is over.
    fn signal(&mut self, name: &str) {
        if self.0.try_wait().unwrap().is_none() {
            let id = self.0.id().to_string();
            assert!(Command::new("kill").args([name, &id]).status().unwrap().success());
        }
    }

    /// Stops the process and waits until it has stopped; false if it was over before.
    fn stop(&mut self) -> bool {
        self.signal("-STOP");
        let stat = format!("/proc/{}/stat", self.0.id());
        loop {
            let Ok(text) = std::fs::read_to_string(&stat) else { return false };
            // The state is what follows the name of the program, in parentheses.
            match text.rsplit(')').next().unwrap().trim_start().chars().next() {
                Some('T') => return true,
                Some('Z') => return false,
                _ => std::thread::yield_now(),
            }
        }
    }

    /// Goes on, and returns exit code, output and notes.
    fn finish(mut self) -> (i32, String, String) {
        self.signal("-CONT");
        let mut stderr = self.0.stderr.take().unwrap();
        let notes = std::thread::spawn(move || {
            let mut text = String::new();
            stderr.read_to_string(&mut text).unwrap();
            text
        });
        let mut stdout = String::new();
        self.0.stdout.take().unwrap().read_to_string(&mut stdout).unwrap();
        let code = self.0.wait().unwrap().code().unwrap();
        (code, stdout, notes.join().unwrap())
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_reader_stopped_while_it_writes_goes_on_with_the_state_that_it_opened() {
    let env = RunEnv::new();
    env.run_to_end(&["--count", "96"]);
    let study = env.path().to_str().unwrap();
    let query = "SELECT model, base_task, params, \"index\", status, answer, target FROM trials";
    for (number, arguments) in
        [&["export", study][..], &["sql", study, query, "--format", "csv"]].into_iter().enumerate()
    {
        let before = reasonscape(arguments);
        assert_eq!(before.code, 0, "{before:?}");
        // More than the pipe takes, so that the reader waits in the middle.
        assert!(before.stdout.len() > 1 << 17 || number > 0, "{} bytes", before.stdout.len());
        let mut reader = Reader::start(arguments);
        let mut first = [0; 1];
        reader.0.stdout.as_mut().unwrap().read_exact(&mut first).unwrap();
        assert!(reader.stop());
        // Every file is replaced by one with other trials.
        env.run_to_end(&["--count", &(104 + 8 * number).to_string()]);
        env.command("evaluate", &["--force"]);
        let (code, rest, notes) = reader.finish();
        assert_eq!((code, notes.as_str()), (0, before.stderr.as_str()), "{arguments:?}");
        let read = String::from_utf8(first.to_vec()).unwrap() + &rest;
        let sorted = |text: &str| {
            let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
            lines.sort();
            lines
        };
        assert_eq!(sorted(&read), sorted(&before.stdout), "{arguments:?}");
        assert_ne!(reasonscape(arguments).stdout, before.stdout, "nothing was replaced");
    }
}

#[test]
fn readers_stopped_at_any_moment_see_one_state() {
    const ROUNDS: u64 = 24;
    let env = RunEnv::new();
    let study = env.path().to_str().unwrap();
    env.run_to_end(&["--count", "8"]);
    let query = "SELECT (SELECT sum(n) FROM points) AS counted, (SELECT count(*) FROM trials) AS stored";
    let mut stopped = 0;
    for round in 1..=ROUNDS {
        let mut reader = Reader::start(&["sql", study, query, "--format", "csv"]);
        // From the start of the process to its end, which takes about 100 ms.
        std::thread::sleep(Duration::from_millis(5 * round));
        stopped += u64::from(reader.stop());
        env.run_to_end(&["--count", &(8 + round).to_string()]);
        let (code, found, notes) = reader.finish();
        assert_eq!((code, notes.as_str()), (0, ""), "round {round}: {found}");
        let [old, new] = [7 + round, 8 + round].map(|count| {
            let trials = 2 * 3 * count;
            format!("counted,stored\n{trials},{trials}\n")
        });
        assert!(found == old || found == new, "round {round}: {found}");
    }
    assert!(stopped >= 3, "only {stopped} readers were stopped before they were done");
}
