//! Questions in SQL with their answers, as text files that people read: `tests/queries/*.txt`.
//!
//! A question is the lines that begin with `> `, its answer the lines after it up to an empty one; lines that begin with
//! `#` are for the reader. With `REASONSCAPE_REWRITE_QUERIES` set, the answers are written anew: read them before you
//! commit them.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use reasonscape_points::{PointTrials, PointsDb};
use reasonscape_stats::paired::mcnemar;
use reasonscape_stats::score::Band;
use reasonscape_stats::{Confidence, Counters, Mode, wilson};
use serde_json::Value;
use tempfile::TempDir;

use super::test_env::{eval, file, open, point, rows, trials, wait, write};

/// Three evaluations of two tasks. Whoever changes it changes every answer.
fn study() -> TempDir {
    let study = TempDir::new().unwrap();
    let evals = [
        (
            eval("alpha", "zero-shot", "greedy-2k", &["arch:moe", "size:small"]),
            ["cccccccit", "ccciiitt", "cccci"],
        ),
        (
            eval("beta", "zero-shot", "greedy-2k", &["arch:dense", "size:small"]),
            ["cccciiiit", "ciiiiiii", "cciii"],
        ),
        (eval("beta", "few-shot", "greedy-2k", &[]), ["ccccccccc", "cccccccc", "ccccc"]),
    ];
    for (eval, ends) in evals {
        let points = vec![
            point(r#"{"length": 8, "word": "up"}"#, &["line"], trials(ends[0], 0.5)),
            point(r#"{"length": 16, "rate": 0.5}"#, &["line", "deep"], trials(ends[1], 0.5)),
        ];
        write(study.path(), &eval, "boolean", points);
        let unanswered = PointTrials { planned: 3, ..point(r#"{"length": 64}"#, &["sorting"], Vec::new()) };
        let points = vec![point(r#"{"length": 8}"#, &["sorting"], trials(ends[2], 0.0)), unanswered];
        write(study.path(), &eval, "sort", points);
    }
    study
}

/// The answer as the files have it.
fn answer(db: &PointsDb, question: &str) -> String {
    let columns = wait(async { db.sql(question).await.map(|answer| answer.columns()) });
    let found = columns.and_then(|columns| Ok((columns, rows(db, question)?)));
    match found {
        Err(error) => {
            assert!(error.is_input(), "{error}");
            // The engine lists every function and column that there is, release after release.
            let message = error.to_string();
            format!("error: {}\n", message.lines().next().unwrap_or_default())
        }
        Ok((columns, rows)) => {
            let mut text = columns.join(" | ") + "\n";
            for row in rows {
                text += &row.iter().map(cell).collect::<Vec<_>>().join(" | ");
                text.push('\n');
            }
            text
        }
    }
}

fn cell(value: &Value) -> String {
    match value {
        Value::Null => "NULL".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// A file of questions with their answers made anew.
fn with_answers(db: &PointsDb, text: &str) -> String {
    let mut made = String::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let Some(first) = line.strip_prefix("> ") else {
            assert!(line.is_empty() || line.starts_with('#'), "neither a question nor a remark: {line}");
            made += line;
            made.push('\n');
            continue;
        };
        let mut question = first.to_owned();
        writeln!(made, "{line}").unwrap();
        while let Some(line) = lines.next_if(|line| line.starts_with("> ")) {
            question = question + "\n" + &line[2..];
            writeln!(made, "{line}").unwrap();
        }
        while lines.next_if(|line| !line.is_empty()).is_some() {}
        made += &answer(db, &question);
    }
    made
}

fn check(db: &PointsDb, name: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/queries").join(name);
    let expected = fs::read_to_string(&path).unwrap();
    let found = with_answers(db, &expected);
    if std::env::var_os("REASONSCAPE_REWRITE_QUERIES").is_some() {
        fs::write(&path, found).unwrap();
        return;
    }
    for (number, (found, expected)) in found.lines().zip(expected.lines()).enumerate() {
        assert_eq!(found, expected, "{name}, line {}", number + 1);
    }
    assert_eq!(found, expected, "{name}");
}

#[test]
fn runs_every_query_file() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/queries");
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| Path::new(name).extension().is_some_and(|extension| extension == "txt"))
        .collect();
    names.sort();
    assert_eq!(names, ["counters.txt", "duplicates.txt", "errors.txt", "functions.txt", "missing.txt"]);
}

#[test]
fn counters() {
    check(&open(study().path()), "counters.txt");
}

#[test]
fn functions() {
    check(&open(study().path()), "functions.txt");
}

#[test]
fn missing_values() {
    check(&open(study().path()), "missing.txt");
}

#[test]
fn errors() {
    check(&open(study().path()), "errors.txt");
}

#[test]
fn duplicates() {
    let study = study();
    let eval = eval("alpha", "zero-shot", "greedy-2k", &[]);
    let original = file(study.path(), "trials", &eval, "boolean");
    fs::copy(&original, original.with_file_name("again.parquet")).unwrap();
    check(&open(study.path()), "duplicates.txt");
}

/// The one number that a question is answered with.
fn number(db: &PointsDb, question: &str) -> f64 {
    rows(db, question).unwrap()[0][0].as_f64().unwrap()
}

#[test]
fn sql_functions_match_stats() {
    let study = study();
    let db = open(study.path());
    let levels = [None, Some(0.8), Some(0.99)];
    let argument = |level: Option<f64>| level.map(|level| format!(", {level}")).unwrap_or_default();
    let confidence =
        |level: Option<f64>| level.map_or(Confidence::P95, |level| Confidence::new(level).unwrap());
    for (k, n) in [(0.0, 0.0), (0.0, 10.0), (10.0, 10.0), (7.0, 10.0), (2.5, 7.25), (-1.0, 5.0), (9.0, 5.0)] {
        for level in levels {
            let expected = wilson(k, n, confidence(level)).unwrap();
            let level = argument(level);
            assert_eq!(
                number(&db, &format!("SELECT wilson_low({k}, {n}{level})")),
                expected.low,
                "{k} {n}{level}"
            );
            assert_eq!(
                number(&db, &format!("SELECT wilson_high({k}, {n}{level})")),
                expected.high,
                "{k} {n}{level}"
            );
        }
    }
    for mode in Mode::ALL {
        for (n, n_e, n_t, g) in
            [(20, 9, 3, 8.5), (20, 20, 0, 0.0), (20, 0, 20, 0.0), (128, 100, 5, 12.3), (0, 0, 0, 0.0)]
        {
            for level in levels {
                let counters = Counters::new(f64::from(n), f64::from(n_e), f64::from(n_t), g).unwrap();
                let expected = mode.estimate(&counters, confidence(level));
                let arguments = format!("('{mode}', {n}, {n_e}, {n_t}, {g}{})", argument(level));
                for (function, value) in [
                    ("estimate_low", expected.low),
                    ("estimate_high", expected.high),
                    ("estimate_center", expected.center()),
                    ("estimate_margin", expected.margin()),
                ] {
                    let question = format!("SELECT {function}{arguments}");
                    assert_eq!(number(&db, &question), value, "{question}");
                }
            }
        }
    }
    for (b, c) in [(0, 0), (1, 7), (7, 1), (45, 21), (300, 300)] {
        assert_eq!(number(&db, &format!("SELECT mcnemar_p({b}, {c})")), mcnemar(b, c).mid_p);
    }
    for score in [0.0, 10.0, 299.9, 300.0, 512.5, 700.0, 899.0, 1000.0] {
        let found = rows(&db, &format!("SELECT score_band({score})")).unwrap();
        assert_eq!(found[0][0], Band::from_score(score).name(), "{score}");
    }
}

#[test]
fn sql_functions_agree_on_columns_and_scalars() {
    let study = study();
    let db = open(study.path());
    let question = "SELECT n, n_e, n_t, g, estimate_low('K_P', n, n_e, n_t, g), wilson_high(n_e, n_u) FROM points \
                    WHERE n > 0";
    let found = rows(&db, question).unwrap();
    assert_eq!(found.len(), 9);
    for row in found {
        let value = |place: usize| row[place].as_f64().unwrap();
        let counters = Counters::new(value(0), value(1), value(2), value(3)).unwrap();
        assert_eq!(value(4), Mode::K_P.estimate(&counters, Confidence::P95).low);
        assert_eq!(value(5), wilson(counters.n_e(), counters.n_u(), Confidence::P95).unwrap().high);
    }
}

#[test]
fn writes_query_results_as_parquet() {
    let study = study();
    let db = open(study.path());
    let path = study.path().join("answer.parquet");
    let written = wait(async {
        let answer =
            db.sql("SELECT model, params, status, guess, answer FROM trials ORDER BY 1, 2").await.unwrap();
        answer.write_parquet(&mut fs::File::create(&path).unwrap(), &path).await.unwrap()
    });
    assert_eq!(written, 66);
    let bytes = fs::read(&path).unwrap();
    assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"));
    let error = wait(async {
        let answer = db.sql("SELECT status_name(status + 1) FROM trials").await.unwrap();
        answer.write_parquet(&mut Vec::new(), &path).await.unwrap_err()
    });
    assert!(error.to_string().contains("3 is not a status"), "{error}");
}
