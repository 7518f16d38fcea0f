//! One way to run the program in tests.

use assert_cmd::Command;

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
