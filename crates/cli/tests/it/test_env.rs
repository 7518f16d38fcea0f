//! One way to run the program in tests.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;

use assert_cmd::Command;
use reasonscape_core::{CacheKey, Outcome};
use reasonscape_points::{EvalInfo, Provenance, Trial};
use serde_json::json;

/// What a run left behind.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Runs `reasonscape` with these arguments and this standard input.
pub(crate) fn reasonscape_with(arguments: &[&str], input: impl Into<Vec<u8>>) -> Run {
    run_command(command(arguments).env_remove("COLUMNS").write_stdin(input))
}

/// Runs `reasonscape` where lines have this many columns.
pub(crate) fn reasonscape_at(width: u16, arguments: &[&str]) -> Run {
    run_command(command(arguments).env("COLUMNS", width.to_string()))
}

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::cargo_bin("reasonscape").expect("the binary of this package");
    command.args(arguments).env_remove("NO_COLOR");
    command
}

fn run_command(command: &mut Command) -> Run {
    let output = command.output().expect("the program starts");
    Run {
        code: output.status.code().expect("the program was not killed"),
        stdout: String::from_utf8(output.stdout).expect("UTF-8 on standard output"),
        stderr: String::from_utf8(output.stderr).expect("UTF-8 on standard error"),
    }
}

/// Copies a folder with everything in it.
pub(crate) fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy_folder(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// Runs `reasonscape` for at most two minutes, and returns its highest resident memory in bytes; `None` without Python.
pub(crate) fn reasonscape_measured(arguments: &[&str]) -> Option<(Run, u64)> {
    reasonscape_costs(arguments).map(|(run, peak, _)| (run, peak))
}

/// As [`reasonscape_measured`], and the seconds of processor time that it took.
pub(crate) fn reasonscape_costs(arguments: &[&str]) -> Option<(Run, u64, f64)> {
    let script = r"
import json, resource, subprocess, sys
arguments = json.load(sys.stdin)
done = subprocess.run(arguments, stdin=subprocess.DEVNULL, capture_output=True, timeout=120)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
costs = [used.ru_maxrss * 1024, used.ru_utime + used.ru_stime]
print(json.dumps([done.returncode, done.stdout.decode(), done.stderr.decode()] + costs))
";
    let program = assert_cmd::cargo::cargo_bin!("reasonscape").display().to_string();
    let input = json!([&[program.as_str()], arguments].concat()).to_string();
    let output = reasonscape_test_support::python(script, &input)?;
    let (code, stdout, stderr, peak, seconds) = serde_json::from_str(&output).unwrap();
    Some((Run { code, stdout, stderr }, peak, seconds))
}

/// Runs `reasonscape` on a terminal of 100 columns and returns all that it writes there; `None` without Python.
pub(crate) fn reasonscape_on_terminal(arguments: &[&str]) -> Option<String> {
    let script = r#"
import fcntl, json, os, pty, struct, sys, termios
arguments = json.load(sys.stdin)
child, terminal = pty.fork()
if child == 0:
    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))
    os.environ["TERM"] = "xterm"
    os.environ.pop("COLUMNS", None)
    os.execv(arguments[0], arguments)
drawn = b""
while True:
    try:
        more = os.read(terminal, 65536)
    except OSError:
        break
    if not more:
        break
    drawn += more
os.waitpid(child, 0)
sys.stdout.buffer.write(drawn)
"#;
    let program = assert_cmd::cargo::cargo_bin!("reasonscape").display().to_string();
    let input = json!([&[program.as_str()], arguments].concat()).to_string();
    reasonscape_test_support::python(script, &input)
}

/// Runs `reasonscape` without standard input.
pub(crate) fn reasonscape(arguments: &[&str]) -> Run {
    reasonscape_with(arguments, "")
}

/// Asserts a refusal: exit code 2, nothing on standard output, one line that says this.
pub(crate) fn assert_rejected(run: &Run, says: &[&str]) {
    assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{run:?}");
    assert_eq!(run.stderr.lines().count(), 1, "{run:?}");
    assert!(run.stderr.starts_with("error: "), "{run:?}");
    for words in says {
        assert!(run.stderr.contains(words), "`{words}` is not in: {}", run.stderr);
    }
}

/// Starts `reasonscape` with these arguments and returns it with the address on its first line.
pub(crate) fn start_server(arguments: &[&str], variables: &[(&str, &str)]) -> (Child, String) {
    let mut child = std::process::Command::new(assert_cmd::cargo::cargo_bin!("reasonscape"))
        .args(arguments)
        .env_remove("REASONSCAPE_TOKEN")
        .envs(variables.iter().copied())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut url = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut url).unwrap();
    (child, url.trim().to_owned())
}

/// Polls a condition for up to 20 seconds.
pub(crate) fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    for _ in 0..2000 {
        if is_so() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("20 seconds have passed before {what}");
}

/// The evaluation of the model `org/NAME`.
pub(crate) fn eval_info(eval_id: &str, name: &str, groups: &[&str]) -> EvalInfo {
    EvalInfo {
        eval_id: eval_id.to_owned(),
        model: format!("org/{name}"),
        template: "zeroshot".to_owned(),
        sampler: "greedy".to_owned(),
        name: name.to_owned(),
        groups: groups.iter().map(ToString::to_string).collect(),
    }
}

/// A trial of 100 tokens with this outcome.
pub(crate) fn trial(index: u64, status: Outcome, guess: f64) -> Trial {
    Trial {
        index,
        repeat: 0,
        status,
        guess,
        prompt_tokens: Some(50),
        completion_tokens: Some(100),
        reasoning_tokens: None,
        latency_ms: 10,
        received_ms: 1_700_000_000_000,
        reasoning_chars: 0,
        answer_chars: 10,
        compressed_size: 30,
        finish: "stop".to_owned(),
        method: "boxed".to_owned(),
        answer: None,
        target: "1".to_owned(),
        cache_key: CacheKey([0; 32]),
        latency_us: None,
        prob_correct: None,
    }
}

pub(crate) fn provenance() -> Provenance {
    serde_json::from_value(json!({
        "program": "0.1.0",
        "suite": "small",
        "suite_hash": "0",
        "task_version": 1,
        "seed": 0,
        "evaluated_ms": 1_700_000_000_000_i64,
        "inputs": "0",
        "mark": { "last": 0, "received_ms": 0, "entries": 0 },
    }))
    .unwrap()
}
