//! Folders of logs as they grow: what can be imported is, and the rest is listed with the reason.
//!
//! `tests/logs/make/make.py` made them with the tools themselves.

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use reasonscape_ingest::logs::{Log, LogOptions, Logs, SampleResult, SkippedLog, UNKNOWN_FINISH};
use reasonscape_ingest::{IngestError, Progress};
use tempfile::TempDir;

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/logs").join(name)
}

fn file(path: &Path) -> &str {
    path.file_name().unwrap().to_str().unwrap()
}

/// Files that were not imported, with the reasons.
fn skipped(logs: &Logs) -> Vec<(&str, &str)> {
    logs.skipped().iter().map(|SkippedLog { path, reason }| (file(path), reason.as_str())).collect()
}

/// Scores and finish reasons of a log.
fn read(log: &Log) -> Result<Vec<(f64, String)>, IngestError> {
    let mut found = Vec::new();
    log.read(&Progress::default(), || (), |(), sample| Ok((sample.score, sample.finish)), &mut |batch| {
        found.extend(batch.into_iter().filter_map(|result| match result {
            SampleResult::Mapped(sample) => Some(sample),
            SampleResult::Skipped(_) | SampleResult::OtherFilter => None,
        }));
        ControlFlow::Continue(())
    })?;
    Ok(found)
}

#[test]
fn imports_the_good_logs_of_a_mixed_inspect_folder() {
    let logs = Logs::open_inspect(&[folder("inspect-mixed")], &LogOptions::default()).unwrap();
    let mut opened: Vec<&str> = logs.iter().map(|log| file(log.path())).collect();
    opened.sort_unstable();
    assert_eq!(opened, ["borrowed.json", "full.eval", "sorted.json"]);
    let reasons = skipped(&logs);
    for (name, says) in [
        ("cut.eval", "it is truncated or still being copied"),
        ("listing.json", "an index of logs, and not a log"),
        ("pointer.eval", "run `git lfs pull`"),
        ("unscored.eval", "no scores; run `inspect score`"),
    ] {
        assert!(
            reasons.iter().any(|(file, reason)| *file == name && reason.contains(says)),
            "{name}: {reasons:?}"
        );
    }
    assert_eq!(reasons.len(), 4, "{reasons:?}");
    let [note] = logs.notes() else { panic!("{:?}", logs.notes()) };
    assert!(
        note.contains("short.eval` is skipped: `full.eval` is a fuller run")
            && note.contains("12 samples, this one 2"),
        "{note}"
    );
    for log in logs.iter() {
        let samples = read(log).unwrap();
        assert_eq!(samples.len() as u64, log.expected_samples());
        let mean = samples.iter().map(|(score, _)| score).sum::<f64>() / samples.len() as f64;
        // Also where a reducer other than the mean had one epoch to reduce.
        assert!(
            log.reported_score().is_some_and(|reported| (reported - mean).abs() < 1e-12),
            "{:?}",
            log.path()
        );
        let is_unknown = file(log.path()) == "borrowed.json";
        assert!(samples.iter().all(|(_, finish)| (finish == UNKNOWN_FINISH) == is_unknown), "{samples:?}");
    }
}

#[test]
fn strict_import_fails_at_the_first_log_that_cannot_be_imported() {
    let strict = LogOptions { strict: true, ..LogOptions::default() };
    let error = Logs::open_inspect(&[folder("inspect-mixed")], &strict).unwrap_err().to_string();
    assert!(error.contains("cut.eval"), "{error}");
    let error = Logs::open_lm_eval(
        &[folder("lm-eval-mixed")],
        &LogOptions { filters: vec!["strict-match".to_owned()], ..strict },
    );
    assert!(error.unwrap_err().to_string().contains("small_perplexity"));
}

#[test]
fn a_folder_without_a_good_log_is_an_error() {
    let only = TempDir::new().unwrap();
    fs::copy(folder("inspect-mixed").join("pointer.eval"), only.path().join("pointer.eval")).unwrap();
    let error =
        Logs::open_inspect(&[only.path().to_owned()], &LogOptions::default()).unwrap_err().to_string();
    assert!(error.contains("pointer.eval") && error.contains("git lfs pull"), "{error}");
}

#[test]
fn imports_the_fuller_run_of_an_lm_eval_folder_and_lists_perplexity() {
    let options = LogOptions { filters: vec!["strict-match".to_owned()], ..LogOptions::default() };
    let logs = Logs::open_lm_eval(&[folder("lm-eval-mixed")], &options).unwrap();
    let reasons = skipped(&logs);
    assert!(
        reasons
            .iter()
            .any(|(file, reason)| file.contains("small_perplexity")
                && reason.contains("scores single documents")),
        "{reasons:?}"
    );
    let sums = logs.iter().find(|log| log.info().task == "small_sums").unwrap();
    assert_eq!(read(sums).unwrap().len(), 8);
    assert!(
        logs.notes()[0].contains("fuller run") && logs.notes()[0].contains("8 samples, this one 2"),
        "{:?}",
        logs.notes()
    );
    assert!(
        reasons.iter().any(|(file, reason)| file.contains("small_broken") && reason.contains("line ")),
        "cut in the middle of a line: {reasons:?}"
    );
}

#[test]
fn a_filter_of_the_results_that_no_line_has_is_an_error() {
    let folder = TempDir::new().unwrap();
    let results = r#"{"results": {"t": {"exact_match,strict": 0.5, "exact_match,flexible": 0.5}}, "n-samples": {"t": {"effective": 1}}}"#;
    fs::write(folder.path().join("results_2026-01-01.json"), results).unwrap();
    let line = |filter: &str| {
        format!(
            r#"{{"doc_id": 0, "target": "a", "arguments": [], "resps": [["x"]], "filtered_resps": ["x"], {filter}"exact_match": 1}}"#
        )
    };
    let samples = folder.path().join("samples_t_2026-01-01.jsonl");
    let open = |filter: &str| {
        let options = LogOptions { filters: vec![filter.to_owned()], ..LogOptions::default() };
        Logs::open_lm_eval(&[folder.path().to_owned()], &options)
    };
    fs::write(&samples, line(r#""filter": "flexible", "#)).unwrap();
    let logs = open("strict").unwrap();
    let error = read(logs.iter().next().unwrap()).unwrap_err().to_string();
    assert!(error.contains("no line has the filter `strict`") && error.contains("`flexible`"), "{error}");
    let error = open("strictest").unwrap_err().to_string();
    assert!(error.contains("several filters: `flexible`, `strict`"), "{error}");
    // A preferred name that comes first hides the others without making them unknown.
    let options =
        LogOptions { filters: ["flexible", "strict"].map(str::to_owned).to_vec(), ..LogOptions::default() };
    let logs = Logs::open_lm_eval(&[folder.path().to_owned()], &options).unwrap();
    assert_eq!(read(logs.iter().next().unwrap()).unwrap().len(), 1);

    // Before 0.4.7 lines didn't name their filter.
    fs::write(
        folder.path().join("results_2026-01-01.json"),
        r#"{"results": {"t": {"exact_match,strict": 1.0}}}"#,
    )
    .unwrap();
    fs::write(&samples, line("")).unwrap();
    assert_eq!(read(open("strict").unwrap().iter().next().unwrap()).unwrap().len(), 1);
}

#[test]
fn damaged_json_in_a_folder_is_listed_and_json_of_other_tools_is_not() {
    let mixed = TempDir::new().unwrap();
    fs::copy(folder("inspect").join("add.json"), mixed.path().join("good.json")).unwrap();
    for (name, content) in [
        ("empty.json", ""),
        ("cut.json", r#"{"version": 2, "status": "succ"#),
        ("garbage.json", "<html>"),
        ("pointer.json", "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n"),
        ("list.json", "[1, 2]"),
        ("config.json", r#"{"model": "x"}"#),
        ("config_cut.json", r#"{"model": "#),
    ] {
        fs::write(mixed.path().join(name), content).unwrap();
    }
    let paths = [mixed.path().to_owned()];
    let logs = Logs::open_inspect(&paths, &LogOptions::default()).unwrap();
    assert_eq!(logs.iter().map(|log| file(log.path())).collect::<Vec<_>>(), ["good.json"]);
    let mut listed = skipped(&logs);
    listed.sort_unstable();
    let damaged = "not a log: empty, truncated at the start or not JSON; copy it again";
    assert_eq!(
        listed,
        [
            ("cut.json", damaged),
            ("empty.json", damaged),
            ("garbage.json", damaged),
            ("pointer.json", "a pointer of Git LFS instead of the log; run `git lfs pull`"),
        ]
    );
    let strict = LogOptions { strict: true, ..LogOptions::default() };
    assert!(Logs::open_inspect(&paths, &strict).is_err());
}

#[test]
fn scorers_are_taken_in_the_order_of_preference() {
    let paths = [folder("inspect").join("grade.eval"), folder("inspect").join("pick.eval")];
    let open = |scorers: &[&str]| {
        let scorers = scorers.iter().map(|name| (*name).to_owned()).collect();
        Logs::open_inspect(&paths, &LogOptions { scorers, ..LogOptions::default() })
    };
    let means = |scorers: &[&str]| -> Vec<(String, usize)> {
        let logs = open(scorers).unwrap();
        let scored = |log: &Log| read(log).unwrap().iter().filter(|(score, _)| *score == 1.0).count();
        logs.iter().map(|log| (file(log.path()).to_owned(), scored(log))).collect()
    };
    let near_first = means(&["several.near", "graded", "choice"]);
    let exact_first = means(&["several.exact", "several.near", "choice"]);
    assert_eq!(near_first.len(), 2);
    assert_ne!(near_first[0], exact_first[0], "the first of several that a log has");
    assert_eq!(near_first[1], exact_first[1], "the one that the other log has");
    // A log that has none of them is listed, also if it has only one scorer.
    let logs = open(&["graded"]).unwrap();
    assert_eq!(logs.iter().count(), 1);
    let [(name, reason)] = skipped(&logs)[..] else { panic!("{:?}", logs.skipped()) };
    assert_eq!(name, "pick.eval");
    assert!(
        reason.ends_with(
            "has no `--scorer graded`, only the scorer `choice`; add `--scorer choice` to import it, too"
        ),
        "{reason}"
    );
}

#[test]
fn a_filter_that_a_task_lacks_is_not_replaced_by_another() {
    let folder = TempDir::new().unwrap();
    let write = |task: &str, filter: &str| {
        let line = format!(
            r#"{{"doc_id": 0, "target": "a", "arguments": [], "resps": [["x"]], "filtered_resps": ["x"], "filter": "{filter}", "exact_match": 1}}"#
        );
        fs::write(folder.path().join(format!("samples_{task}_2026-01-01.jsonl")), line).unwrap();
    };
    for (task, filter) in [("a", "strict"), ("b", "flexible"), ("c", "none")] {
        write(task, filter);
    }
    let results = r#"{"results": {"t": {}}, "config": {"model": "m"}}"#;
    fs::write(folder.path().join("results_2026-02-02.json"), results).unwrap();
    let options = LogOptions { filters: vec!["strict".to_owned()], ..LogOptions::default() };
    let logs = Logs::open_lm_eval(&[folder.path().to_owned()], &options).unwrap();
    assert_eq!(logs.iter().map(|log| log.info().task).collect::<Vec<_>>(), ["a", "c"]);
    assert_eq!(
        skipped(&logs),
        [(
            "samples_b_2026-01-01.jsonl",
            "`b` has no `--filter strict`, only the filter `flexible`; add `--filter flexible` to import it, too"
        )]
    );
    let [note] = logs.notes() else { panic!("{:?}", logs.notes()) };
    assert!(note.contains("results_2026-02-02.json` has no samples files"), "{note}");
}
