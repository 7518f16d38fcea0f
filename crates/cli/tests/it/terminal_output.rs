//! Names and answers of models can't control the terminal.

#![cfg(unix)]

use std::fs;

use reasonscape_core::Outcome;
use reasonscape_points::{PointTrials, Trial, UnitWriter};
use tempfile::TempDir;

use crate::test_env::{eval_info, provenance, reasonscape, reasonscape_on_terminal, trial};

/// Sets the title, clears the screen, writes to the clipboard, and reverses the direction; also as 8-bit controls.
const HOSTILE: &str = "\u{1b}]0;owned\u{7}\u{1b}[2J\u{9b}31m\u{1b}]52;c;eA==\u{7}\u{202e}\r";

/// A study whose model name, task parameters and answers contain control sequences.
fn hostile_study() -> TempDir {
    let folder = TempDir::new().unwrap();
    for (id, name) in [("a00001", "first"), ("b00002", "second")] {
        let mut eval = eval_info(id, name, &["arch:moe"]);
        eval.model = format!("org/{name}{HOSTILE}");
        eval.name = format!("{name}{HOSTILE}");
        let mut writer = UnitWriter::new(folder.path(), eval, "add").unwrap();
        let one = |index: u64| Trial {
            answer: Some(format!("{HOSTILE}{index}")),
            target: HOSTILE.to_owned(),
            ..trial(index, if index.is_multiple_of(3) { Outcome::Correct } else { Outcome::Incorrect }, 0.0)
        };
        writer
            .write_point(PointTrials {
                params: "{\"length\": 4}".to_owned(),
                manifolds: vec!["all".to_owned()],
                planned: 20,
                trials: (0..20).map(one).collect(),
                ..PointTrials::default()
            })
            .unwrap();
        writer.finish(&provenance()).unwrap();
    }
    folder
}

/// Whether a text has a control sequence other than those of colors, which the program uses itself.
fn has_control_sequences(drawn: &str) -> bool {
    let mut rest = drawn;
    while let Some(at) = rest.find('\u{1b}') {
        let after = &rest[at + 1..];
        let is_color = after.strip_prefix('[').is_some_and(|sequence| {
            let end = sequence.find(|c: char| !c.is_ascii_digit() && c != ';');
            end.is_some_and(|end| sequence[end..].starts_with('m') && !sequence.starts_with("31"))
        });
        let is_red = after.starts_with("[1m") || after.starts_with("[31m");
        if !is_color && !is_red {
            return true;
        }
        rest = after;
    }
    // A terminal adds a carriage return to each line break.
    drawn.replace("\r\n", "\n").contains(['\u{7}', '\u{9b}', '\u{202e}', '\r'])
}

#[test]
fn control_sequences_are_visible_on_a_terminal_and_kept_in_pipes() {
    let study = hostile_study();
    let study = study.path().to_str().unwrap();
    let folder = TempDir::new().unwrap();
    let answers = folder.path().join("answers.jsonl");
    let line = serde_json::json!({ "model": HOSTILE, "input": HOSTILE, "target": "1", "answer": HOSTILE });
    fs::write(&answers, format!("{line}\n{line}\n")).unwrap();
    let answers = answers.to_str().unwrap();
    let mut shown = 0;
    for arguments in [
        &["analyze", "scores", study][..],
        &["analyze", "evals", study],
        &["analyze", "points", study],
        &["analyze", "compare", study],
        &["analyze", "pairwise", study],
        &["analyze", "tokens", study],
        &["analyze", "scores", study, "--format", "markdown"],
        &["analyze", "scores", study, "--format", "csv"],
        &["analyze", "scores", study, "--format", "json"],
        &["sql", study, "SELECT model, answer, target FROM trials LIMIT 3"],
        &["sql", study, "SELECT model, answer FROM trials LIMIT 3", "--format", "csv"],
        &["sql", study, "SELECT model, answer FROM trials LIMIT 3", "--format", "json"],
        &["export", study],
        &["metrics", answers],
        &["metrics", answers, "--format", "csv"],
        // Errors and notes repeat arguments and file names.
        &["analyze", "scores", study, "--filter", HOSTILE],
        &["run", HOSTILE],
        &["sql", study, HOSTILE],
    ] {
        let Some(drawn) = reasonscape_on_terminal(arguments) else { return };
        assert!(!has_control_sequences(&drawn), "{arguments:?}: {drawn:?}");
        assert!(!drawn.is_empty() && !drawn.contains("panicked"), "{arguments:?}: {drawn:?}");
        shown += usize::from(drawn.contains('␛'));
    }
    assert!(shown >= 12, "only {shown} outputs show the control characters");

    let piped = reasonscape(&["sql", study, "SELECT answer FROM trials LIMIT 1", "--format", "csv"]);
    assert!(piped.stdout.contains("\u{1b}]0;owned\u{7}"), "{piped:?}");
}
