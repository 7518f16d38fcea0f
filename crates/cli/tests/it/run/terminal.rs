//! What a run looks like while it goes on.

#![cfg(unix)]

use super::RunEnv;
use crate::test_env::reasonscape_on_terminal;

#[test]
fn prints_plain_lines_without_a_terminal() {
    // Nothing comes for longer than there is between two lines.
    let env = RunEnv::with("kinds=slow,slow-ms=12500", None);
    env.write_study(&["sim-p0.9"], "");
    let run = env.run(&["--task", "sort", "--count", "2"]);
    assert_eq!(run.code, 0, "{run:?}");
    let lines: Vec<&str> = run.stderr.lines().filter(|line| !line.starts_with("note: scored")).collect();
    assert!(!lines.is_empty() && lines.iter().all(|line| line.starts_with("sim-p0.9: ")), "{run:?}");
    assert!(lines[0].contains(" 0/2 ") && lines[0].contains(" tokens/s"), "{run:?}");
    assert!(lines[0].contains(", waiting for 2 answers, none for 1"), "{run:?}");
    assert!(!run.stderr.contains(['\u{1b}', '\r']), "{run:?}");
}

#[test]
fn names_of_models_cannot_control_the_terminal() {
    const HOSTILE: &str = "\u{1b}]0;owned\u{7}\u{1b}[2J\u{9b}31m\u{1b}]52;c;eA==\u{7}\u{202e}";
    let env = RunEnv::new();
    let escaped = r"\u001b]0;owned\u0007\u001b[2J\u009b31m\u001b]52;c;eA==\u0007\u202e";
    env.write_study(&["sim-p0.9"], &format!("name = \"model {escaped}\""));
    let study = env.path().to_str().unwrap();
    let mut shown = 0;
    for arguments in [
        &["plan", study][..],
        &["doctor", study],
        &["run", study],
        &["run", study, "--count", "12"],
        &["evaluate", study, "--force"],
        &["verify", study],
        &["cache", "stats", study],
        &["cache", "prune", study, "--model", HOSTILE],
        &["import", "inspect", HOSTILE, "--into", study],
        &["import", "lm-eval", HOSTILE, "--into", study],
    ] {
        let Some(drawn) = reasonscape_on_terminal(arguments) else { return };
        // Bars move the cursor themselves, but write neither titles nor the clipboard, and clear no screen.
        for sequence in ["\u{1b}]", "\u{1b}[2J", "\u{9b}", "\u{7}", "\u{202e}"] {
            assert!(!drawn.contains(sequence), "{sequence:?} of {arguments:?}: {drawn:?}");
        }
        assert!(!drawn.is_empty() && !drawn.contains("panicked"), "{arguments:?}: {drawn:?}");
        shown += usize::from(drawn.contains('␛'));
    }
    assert!(shown >= 5, "only {shown} outputs show the control characters");
}

/// Everything that a run of the study draws on a terminal of so many columns; none without Python.
fn drawn(env: &RunEnv, columns: u16, arguments: &str) -> Option<String> {
    let script = r#"
import fcntl, os, pty, struct, sys, termios
program, study, columns, arguments = sys.stdin.read().split("\n")
child, terminal = pty.fork()
if child == 0:
    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 24, int(columns), 0, 0))
    os.environ["TERM"] = "xterm"
    os.environ.pop("COLUMNS", None)
    os.execv(program, [program, "run", study, *arguments.split()])
drawn = b""
while True:
    try:
        more = os.read(terminal, 65536)
    except OSError:
        break
    if not more:
        break
    drawn += more
_, status = os.waitpid(child, 0)
sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
sys.stdout.flush()
sys.stdout.buffer.write(drawn)
"#;
    let program = assert_cmd::cargo::cargo_bin!("reasonscape");
    let input = format!("{}\n{}\n{columns}\n{arguments}", program.display(), env.path().display());
    let output = reasonscape_test_support::python(script, &input)?;
    let (code, drawn) = output.split_once('\n').unwrap();
    assert_eq!(code, "0", "{drawn}");
    Some(drawn.to_owned())
}

#[test]
fn bar_updates_while_waiting() {
    let env = RunEnv::with("kinds=slow,slow-ms=7800", None);
    env.write_study(&["sim-p0.9"], "");
    let Some(drawn) = drawn(&env, 100, "--task sort --count 2") else { return };
    let seconds = |second: u8| drawn.contains(&format!("waiting for 2 answers, none for {second} s"));
    assert!((5..8).filter(|second| seconds(*second)).count() >= 2, "{drawn}");
}

#[test]
fn log_replaces_bars() {
    let env = RunEnv::with("kinds=slow,slow-ms=250", None);
    env.write_study(&["sim-p0.9"], "");
    let Some(drawn) = drawn(&env, 100, "--log trace") else { return };
    assert!(drawn.contains(" TRACE reasonscape_runner::client: sending host="), "{drawn}");
    assert!(!drawn.contains('━'), "{drawn}");
}

#[test]
fn fits_a_narrow_terminal() {
    let env = RunEnv::with("kinds=slow,slow-ms=250", None);
    env.write_study(&["sim-p0.9"], "name = \"a model with quite a long name, such as they have\"");
    let Some(drawn) = drawn(&env, 60, "") else { return };
    assert!(drawn.contains(" 24/24 ") && drawn.contains("/s, "), "a bar: {drawn:?}");
    assert!(drawn.contains("\n┌"), "a table, which begins on a line of its own: {drawn:?}");
    // A sentence may go on in the next line; a bar or a table may not.
    let lines = drawn.split(['\n', '\r']).map(without_escapes);
    let is_sentence =
        |line: &String| line.starts_with("Not shown in 60 columns: ") || line.starts_with("note: ");
    for line in lines.filter(|line| !is_sentence(line)) {
        assert!(line.chars().count() <= 60, "{line:?} of {drawn}");
    }
}

/// A text without the sequences that move the cursor or change the colour.
fn without_escapes(text: &str) -> String {
    let mut plain = String::new();
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        if character == '\u{1b}' {
            // ESC [ parameters, up to a letter.
            let _ = characters.by_ref().skip(1).find(char::is_ascii_alphabetic);
        } else {
            plain.push(character);
        }
    }
    plain
}
