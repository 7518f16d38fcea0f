//! Files that are half-written, damaged, foreign, old or from the future.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, Int64Array, RecordBatch};
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use datafusion::parquet::file::metadata::KeyValue;
use datafusion::parquet::file::properties::WriterProperties;
use reasonscape_points::{
    Column, EvalInfo, FORMAT, Filter, POINT_COLUMNS, PointTrials, PointsDb, PointsError, SamplingRule,
    TRIAL_COLUMNS, UnitWriter,
};
use reasonscape_stats::Mode;
use serde_json::json;
use tempfile::TempDir;

use super::test_env::{Draws, eval, file, open, point, provenance, rows, trials, wait, write};

fn alpha() -> EvalInfo {
    eval("alpha", "zero-shot", "greedy-2k", &["arch:moe"])
}

fn small_study() -> TempDir {
    let study = TempDir::new().unwrap();
    write_small_study(study.path());
    study
}

fn write_small_study(study: &Path) {
    let points = vec![point(r#"{"length": 8}"#, &["m"], trials("cccit", 0.5))];
    write(study, &alpha(), "boolean", points);
}

/// The names of all files below a folder.
pub(crate) fn file_names(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(file_names(&path)) } else { found.push(path) }
    }
    found.sort();
    found
}

/// A file of the small study; `kind` is `trials` or `points`.
fn unit_file(study: &TempDir, kind: &str) -> PathBuf {
    file(study.path(), kind, &alpha(), "boolean")
}

/// Asserts that opening is refused in these words, with the name of the file.
fn assert_open_fails(study: &TempDir, path: &Path, words: &[&str]) -> PointsError {
    let error = wait(PointsDb::open(study.path())).expect_err(&format!("{words:?}"));
    let message = error.to_string();
    assert!(message.contains(&format!("`{}`", path.display())), "{} is not named: {message}", path.display());
    for words in words {
        assert!(message.contains(words), "`{words}` is not in: {message}");
    }
    assert!(error.is_input(), "{message}");
    assert!(!message.contains("called `") && !message.contains("External"), "{message}");
    error
}

/// Removes the manifest of the study that a file belongs to, as another tool that writes the file would have to.
fn remove_manifest(path: &Path) {
    for dir in path.ancestors().skip(1) {
        let _ = fs::remove_file(dir.join("manifest.json"));
    }
}

/// Writes a file again with other metadata, or with other columns.
pub(crate) fn rewrite(
    path: &Path,
    edit_metadata: impl Fn(&mut Vec<KeyValue>),
    columns: impl Fn(&RecordBatch) -> RecordBatch,
) {
    remove_manifest(path);
    let builder = ParquetRecordBatchReaderBuilder::try_new(File::open(path).unwrap()).unwrap();
    let mut metadata = builder.metadata().file_metadata().key_value_metadata().cloned().unwrap();
    metadata.retain(|pair| pair.key.starts_with("reasonscape."));
    assert_eq!(metadata.len(), 6);
    edit_metadata(&mut metadata);
    let batches: Vec<RecordBatch> = builder.build().unwrap().map(|batch| columns(&batch.unwrap())).collect();
    let properties = WriterProperties::builder().set_key_value_metadata(Some(metadata)).build();
    let file = File::create(path).unwrap();
    let mut writer = ArrowWriter::try_new(file, batches[0].schema(), Some(properties)).unwrap();
    for batch in batches {
        writer.write(&batch).unwrap();
    }
    writer.close().unwrap();
}

pub(crate) fn set(metadata: &mut [KeyValue], key: &str, value: &str) {
    let pair = metadata.iter_mut().find(|pair| pair.key == key).unwrap();
    pair.value = Some(value.to_owned());
}

#[test]
fn dropping_a_writer_changes_nothing() {
    let study = small_study();
    let before: Vec<_> =
        file_names(study.path()).into_iter().map(|path| (fs::read(&path).unwrap(), path)).collect();
    assert_eq!(before.len(), 3, "trials, points and the manifest");
    let mut writer = UnitWriter::new(study.path(), alpha(), "boolean").unwrap();
    // Enough to be on the disk already.
    writer.write_point(point(r#"{"length": 8}"#, &["m"], trials(&"i".repeat(20_000), 0.5))).unwrap();
    assert_eq!(open(study.path()).remarks().len(), 0, "what is being written is not seen");
    drop(writer);
    let after: Vec<_> =
        file_names(study.path()).into_iter().map(|path| (fs::read(&path).unwrap(), path)).collect();
    assert_eq!(after, before);

    // A process that was killed could not tidy up.
    for kind in ["trials", "points"] {
        let left = unit_file(&study, kind).with_file_name(".reasonscape-k1lLed");
        fs::write(left, "PAR1 and then the lights went out").unwrap();
    }
    assert_eq!(rows(&open(study.path()), "SELECT count(*) FROM trials").unwrap(), [[json!(5)]]);
    write_small_study(study.path());
    assert_eq!(rows(&open(study.path()), "SELECT count(*) FROM trials").unwrap(), [[json!(5)]]);
}

#[test]
fn dropping_the_first_writer_leaves_an_empty_study() {
    let study = TempDir::new().unwrap();
    let mut writer = UnitWriter::new(study.path(), alpha(), "boolean").unwrap();
    writer.write_point(point(r#"{"length": 8}"#, &["m"], trials("ccc", 0.5))).unwrap();
    drop(writer);
    assert!(file_names(study.path()).is_empty());
    assert!(matches!(wait(PointsDb::open(study.path())), Err(PointsError::Empty { .. })));
}

#[test]
fn reports_files_that_are_not_parquet() {
    for kind in ["trials", "points"] {
        for bytes in ["", "P", "PAR1", "Once upon a time there was a file that was no Parquet at all."] {
            let study = small_study();
            let path = unit_file(&study, kind);
            fs::write(&path, bytes).unwrap();
            let remedy = "delete it and run `reasonscape evaluate` to rebuild it";
            let error = assert_open_fails(&study, &path, &["is not a valid Parquet file", remedy]);
            assert!(matches!(error, PointsError::Damaged { .. }));
        }
    }
}

#[test]
fn reports_truncated_files_as_damaged() {
    for kind in ["trials", "points"] {
        let study = small_study();
        let path = unit_file(&study, kind);
        let whole = fs::read(&path).unwrap();
        for end in (0..whole.len()).step_by(97).chain([whole.len() - 1]) {
            fs::write(&path, &whole[..end]).unwrap();
            assert_open_fails(&study, &path, &["is not a valid Parquet file"]);
        }
    }
}

#[test]
fn flipped_bits_never_panic() {
    let mut draws = Draws(5);
    let study = small_study();
    remove_manifest(&unit_file(&study, "trials"));
    for kind in ["trials", "points"] {
        let path = unit_file(&study, kind);
        let whole = fs::read(&path).unwrap();
        for _ in 0..150 {
            let mut bytes = whole.clone();
            for _ in 0..=draws.below(3) {
                let place = draws.below(bytes.len() as u64) as usize;
                bytes[place] ^= 1 << draws.below(8);
            }
            fs::write(&path, bytes).unwrap();
            if let Ok(db) = wait(PointsDb::open(study.path())) {
                let _ = wait(db.aggregate(&[Column::Model], &Filter::default(), Mode::C_P.into()));
                let _ = rows(&db, "SELECT * FROM trials");
            }
        }
        fs::write(&path, whole).unwrap();
    }
    assert_eq!(rows(&open(study.path()), "SELECT count(*) FROM trials").unwrap(), [[json!(5)]]);
}

#[test]
fn rejects_foreign_parquet_files() {
    for kind in ["trials", "points"] {
        let study = small_study();
        let path = unit_file(&study, kind).with_file_name("prices.parquet");
        let column: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 3]));
        let batch = RecordBatch::try_from_iter([("price", column)]).unwrap();
        let mut writer = ArrowWriter::try_new(File::create(&path).unwrap(), batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        let words =
            ["was not written by reasonscape", "`reasonscape.format`", "move it out of the study directory"];
        let error = assert_open_fails(&study, &path, &words);
        assert!(matches!(error, PointsError::Foreign { .. }));
    }
}

#[test]
fn reports_unsupported_formats_with_a_remedy() {
    for kind in ["trials", "points"] {
        for (format, words) in [
            (
                "0",
                vec!["has format 0, but this version reads formats from 1 on", "run `reasonscape evaluate`"],
            ),
            ("999", vec!["has format 999, but this version reads formats up to 4", "update reasonscape"]),
            ("one", vec!["invalid format `one`"]),
            ("-1", vec!["invalid format `-1`"]),
            ("99999999999", vec!["invalid format"]),
        ] {
            let study = small_study();
            let path = unit_file(&study, kind);
            rewrite(&path, |metadata| set(metadata, "reasonscape.format", format), Clone::clone);
            assert_open_fails(&study, &path, &words);
        }
    }
    assert_eq!(FORMAT, 4, "another format keeps a sample of this one in tests/samples");
}

#[test]
fn checks_file_metadata() {
    for kind in ["trials", "points"] {
        for (key, value, words) in [
            ("reasonscape.eval", "{}", "invalid metadata"),
            ("reasonscape.eval", "[", "invalid metadata"),
            ("reasonscape.provenance", "nonsense", "invalid metadata"),
            ("reasonscape.kind", "pictures", "it contains pictures, not"),
        ] {
            let study = small_study();
            let path = unit_file(&study, kind);
            rewrite(&path, |metadata| set(metadata, key, value), Clone::clone);
            assert_open_fails(&study, &path, &[words, "move it out"]);
        }
        for key in ["eval", "task", "pair", "provenance", "kind", "format"] {
            let study = small_study();
            let path = unit_file(&study, kind);
            let key = format!("reasonscape.{key}");
            rewrite(&path, |metadata| metadata.retain(|pair| pair.key != key), Clone::clone);
            assert_open_fails(&study, &path, &[&format!("no `{key}` in its metadata")]);
        }
    }
}

#[test]
fn rejects_files_in_the_wrong_folder() {
    let study = small_study();
    let wrong = unit_file(&study, "trials").with_file_name("other.parquet");
    fs::copy(unit_file(&study, "points"), &wrong).unwrap();
    assert_open_fails(&study, &wrong, &["it contains points, not trials"]);
    fs::remove_file(&wrong).unwrap();
    let wrong = unit_file(&study, "points");
    fs::copy(unit_file(&study, "trials"), &wrong).unwrap();
    assert_open_fails(&study, &wrong, &["it contains trials, not points"]);
}

#[test]
fn names_missing_and_mistyped_columns() {
    for (kind, columns) in [("trials", &TRIAL_COLUMNS[..]), ("points", &POINT_COLUMNS[..])] {
        for column in columns {
            let study = small_study();
            let path = unit_file(&study, kind);
            rewrite(
                &path,
                |_| (),
                |batch| {
                    let kept = (0..batch.num_columns())
                        .filter(|place| batch.schema().field(*place).name() != column);
                    batch.project(&kept.collect::<Vec<_>>()).unwrap()
                },
            );
            assert_open_fails(&study, &path, &[&format!("it has no column `{column}`")]);
        }
        let study = small_study();
        let path = unit_file(&study, kind);
        rewrite(
            &path,
            |_| (),
            |batch| {
                let schema = batch.schema();
                let columns = schema.fields().iter().zip(batch.columns()).map(|(field, column)| {
                    let numbers: ArrayRef = Arc::new(Int64Array::from(vec![7; batch.num_rows()]));
                    let wrong = field.name() == "model";
                    (field.name().clone(), if wrong { numbers } else { Arc::clone(column) })
                });
                RecordBatch::try_from_iter(columns).unwrap()
            },
        );
        assert_open_fails(&study, &path, &["column `model` has type Int64, not Utf8"]);
    }
}

#[test]
fn accepts_extra_and_reordered_columns() {
    let study = small_study();
    for kind in ["trials", "points"] {
        rewrite(
            &unit_file(&study, kind),
            |_| (),
            |batch| {
                let schema = batch.schema();
                let mut columns: Vec<(String, ArrayRef)> = schema
                    .fields()
                    .iter()
                    .map(|field| field.name().clone())
                    .zip(batch.columns().to_vec())
                    .collect();
                columns.push(("weather".to_owned(), Arc::new(Int64Array::from(vec![1; batch.num_rows()]))));
                columns.reverse();
                let nullable = columns.into_iter().map(|(name, column)| {
                    let nullable = [
                        "answer",
                        "prompt_tokens",
                        "completion_tokens",
                        "reasoning_tokens",
                        "latency_us",
                        "prob_correct",
                        "weight",
                        "stop_rule",
                    ];
                    let nullable = nullable.contains(&name.as_str());
                    (name, column, nullable)
                });
                RecordBatch::try_from_iter_with_nullable(nullable).unwrap()
            },
        );
    }
    let db = open(study.path());
    assert!(db.remarks().is_empty(), "{:?}", db.remarks());
    let groups = wait(db.aggregate(&[], &Filter::default(), Mode::C_P.into())).unwrap();
    assert_eq!((groups[0].counts.n, groups[0].counts.n_e), (5, 3));
    let found = rows(&db, "SELECT model, count(*), sum(status) FROM trials GROUP BY model").unwrap();
    assert_eq!(json!(found), json!([["alpha", 5, 5]]));
}

#[test]
fn accepts_any_folder_name() {
    let dir = TempDir::new().unwrap();
    for name in
        ["plain", "with blanks", "a[1]", "all*?", "100%20", "caf\u{e9} #1", "it's \"quoted\"", "a=b,c"]
    {
        let study = dir.path().join(name);
        write_small_study(&study);
        let db = open(&study);
        assert_eq!(rows(&db, "SELECT count(*) FROM trials").unwrap(), [[json!(5)]], "{name}");
        // The same where trials are read to be counted again.
        fs::remove_dir_all(study.join("points")).unwrap();
        let groups = wait(open(&study).aggregate(&[], &Filter::default(), Mode::C_P.into())).unwrap();
        assert_eq!(groups[0].counts.n, 5, "{name}");
    }
}

/// A sample of a format, which is never to be made again.
fn sample(format: u32) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/samples/format-{format}"))
}

/// Makes the sample; run once for each format, before the format is left behind.
#[test]
#[ignore = "the samples are kept, not made again"]
fn writes_the_sample() {
    let sample = sample(FORMAT);
    assert!(!sample.exists(), "it is there already");
    let moe = eval("alpha", "zero-shot", "greedy-2k", &["arch:moe", "size:small"]);
    let plain = eval("beta \u{3b2}", "few-shot", "sampled-2k", &[]);
    let short = r#"{"length": 8}"#;
    let unanswered = PointTrials { planned: 4, ..point(r#"{"length": 64}"#, &["l"], vec![]) };
    // Every other trial has a latency in microseconds, and those with an answer a probability.
    let trials = |ends: &str, guess: f64| {
        let mut all = trials(ends, guess);
        for trial in &mut all {
            trial.latency_us = (trial.index % 2 == 0).then_some(50_000 + trial.index);
            trial.prob_correct = trial.answer.is_some().then_some(0.5);
        }
        all
    };
    let mut points = vec![
        point(short, &["l", "m"], trials("cccccit", 0.5)),
        point(r#"{"length": 16}"#, &["l"], trials("ciittt", 0.5)),
        unanswered,
    ];
    for (point, weight) in points.iter_mut().zip(6..) {
        point.weight = Some(weight);
    }
    points[1].rule = Some(SamplingRule::First(5));
    write(&sample, &moe, "boolean", points);
    write(&sample, &plain, "sort", vec![point(short, &["s"], trials("cici", 0.0))]);
}

#[test]
fn opens_files_of_every_earlier_format() {
    for format in 1..=FORMAT {
        let db = open(&sample(format));
        assert_sample_contents(&db);
        // Columns that came with format 3 are null before it.
        let question = "SELECT count(latency_us), sum(latency_us), count(prob_correct), sum(prob_correct), \
                        arrow_typeof(max(latency_us)), arrow_typeof(max(prob_correct)) FROM trials";
        let expected = match format {
            1 | 2 => json!([[0, null, 0, null, "Int64", "Float64"]]),
            _ => json!([[9, 450_020, 13, 6.5, "Int64", "Float64"]]),
        };
        assert_eq!(json!(rows(&db, question).unwrap()), expected, "format {format}");
        // Sums over problems came with format 4; before it they are computed from the trials. The points of this unit have 7, 6
        // and 4 planned trials, which may be due to an unknown stop rule: 4 problems of each count.
        let question = "SELECT param_number(params, 'length') AS length, problems, q, c, gm, a, b, yy, weight, stop_rule \
                        FROM points WHERE model = 'alpha' ORDER BY length";
        let expected = match format {
            1..=3 => json!([
                [8.0, 4, 4.0, 4.0, 2.0, 0.0, 0.0, 4.0, null, "first 4"],
                [16.0, 4, 1.0, 3.0, 1.5, 2.0, 4.0, 3.0, null, "first 4"],
                [64.0, 0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, null, "first 4"],
            ]),
            _ => json!([
                [8.0, 7, 5.0, 6.0, 3.0, 1.0, 2.0, 6.0, 6, null],
                [16.0, 5, 1.0, 3.0, 1.5, 2.0, 4.0, 3.0, 7, "first 5"],
                [64.0, 0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 8, null],
            ]),
        };
        assert_eq!(json!(rows(&db, question).unwrap()), expected, "format {format}");
        let question = "SELECT problems, q, weight, stop_rule FROM points WHERE base_task = 'sort'";
        assert_eq!(json!(rows(&db, question).unwrap()), json!([[4, 2.0, null, null]]), "format {format}");
        let trials = wait(async {
            let eval = db.evals()[0].eval_id.clone();
            let mut batches = db.trials(&eval, "boolean", &Filter::default()).await.unwrap();
            batches.next().await.unwrap().unwrap()
        });
        assert_eq!(trials.len(), 13);
        assert!(trials.iter().all(|trial| (trial.latency_us.is_some() && trial.latency_ms == 50)
            || format < 3
            || trial.index % 2 == 1));
    }
}

#[test]
fn counts_trials_of_earlier_formats_anew() {
    for format in 1..=FORMAT {
        // Counters that are gone are made of the trials, also where a file of another format is beside them.
        let study = TempDir::new().unwrap();
        copy_dir(&sample(format).join("trials"), &study.path().join("trials"));
        write(
            study.path(),
            &eval("gamma", "zero-shot", "greedy-2k", &[]),
            "sort",
            vec![point("{}", &[], trials("cc", 0.0))],
        );
        let db = open(study.path());
        let found = rows(&db, "SELECT count(*), count(latency_us) FROM trials").unwrap();
        assert_eq!(json!(found), json!([[19, if format < 3 { 0 } else { 9 }]]), "format {format}");
        let groups = wait(db.aggregate(&[], &Filter::default(), Mode::C_P.into())).unwrap();
        assert_eq!(groups[0].counts.n, 19);
    }
}

/// Without trials, points of earlier formats have counters only.
#[test]
fn sums_are_null_in_earlier_formats_without_trials() {
    for format in 1..=FORMAT {
        let study = TempDir::new().unwrap();
        copy_dir(&sample(format).join("points"), &study.path().join("points"));
        let db = open(study.path());
        let points = wait(db.query_points(&Filter::default(), Mode::C_I.into())).unwrap();
        assert_eq!(points.len(), 4, "format {format}");
        assert!(points.iter().all(|point| point.sums.is_some() == (format >= 4)), "format {format}");
    }
}

/// The same sums whether they were written, are computed from the trials, or from a part of them.
#[test]
fn recounts_sums_with_the_recorded_rule() {
    let study = TempDir::new().unwrap();
    let rule: SamplingRule = "rounds=4 margin=0.3 max=40".parse().unwrap();
    let adaptive = PointTrials {
        weight: Some(8),
        rule: Some(rule),
        ..point(r#"{"length": 8}"#, &["m"], trials("cccccccccccc", 0.25))
    };
    let first = PointTrials {
        weight: Some(4),
        rule: Some(SamplingRule::First(3)),
        ..point(r#"{"length": 16}"#, &["m"], trials("cititi", 0.25))
    };
    write(study.path(), &alpha(), "boolean", vec![adaptive, first]);
    let question = "SELECT problems, q, c, gm, a, b, yy, weight, stop_rule FROM points ORDER BY params DESC";
    let written = rows(&open(study.path()), question).unwrap();
    assert_eq!(json!([written[0][0], written[1][0]]), json!([4, 3]), "{written:?}");

    // A second copy of the trials makes the counters untrusted.
    let path = unit_file(&study, "trials");
    fs::copy(&path, path.with_file_name("copy.parquet")).unwrap();
    assert_eq!(rows(&open(study.path()), question).unwrap(), written);
    fs::remove_file(path.with_file_name("copy.parquet")).unwrap();

    let db = wait(PointsDb::open_first(study.path(), Some(2))).unwrap();
    assert_eq!(json!(rows(&db, "SELECT problems FROM points").unwrap()), json!([[2], [2]]));
}

pub(crate) fn copy_dir(from: &Path, to: &Path) {
    for path in file_names(from) {
        let copy = to.join(path.strip_prefix(from).unwrap());
        fs::create_dir_all(copy.parent().unwrap()).unwrap();
        fs::copy(&path, copy).unwrap();
    }
}

fn assert_sample_contents(db: &PointsDb) {
    assert!(db.truncation_unknown().is_empty() && db.imported().is_empty());
    assert!(db.remarks().is_empty(), "{:?}", db.remarks());
    let evals: Vec<_> = db.evals().iter().map(|eval| (eval.model.as_str(), eval.name.as_str())).collect();
    assert_eq!(evals, [("alpha", "ALPHA"), ("beta \u{3b2}", "BETA \u{392}")]);
    let groups =
        wait(db.aggregate(&[Column::Model, Column::BaseTask], &Filter::default(), Mode::C_P.into())).unwrap();
    let found: Vec<_> = groups
        .iter()
        .map(|group| {
            let key = group.key.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
            let counts = group.counts;
            let estimate = format!("{:.4} {:.4}", group.estimate.low, group.estimate.high);
            (key, counts.planned, counts.n, counts.n_e, counts.n_t, counts.g, estimate)
        })
        .collect();
    let expected = [
        ("alpha boolean", 17, 13, 6, 4, 4.5, "0.0344 0.6454"),
        ("beta \u{3b2} sort", 4, 4, 2, 0, 0.0, "0.1500 0.8500"),
    ];
    let expected = expected.map(|(key, planned, n, n_e, n_t, g, estimate)| {
        (key.to_owned(), planned, n, n_e, n_t, g, estimate.to_owned())
    });
    assert_eq!(found, expected);
    let question = "SELECT model, base_task, status_name(status) AS status, count(*) AS trials, \
                    sum(completion_tokens) AS tokens, min(finish) AS finish, count(answer) AS answers, \
                    min(cache_key) = repeat('0', 64) AS first FROM trials WHERE param_number(params, 'length') = 8 \
                    GROUP BY 1, 2, 3 ORDER BY 1, 2, 3";
    let expected = json!([
        ["alpha", "boolean", "correct", 5, 20 + 21 + 22 + 23 + 24, "stop", 5, true],
        ["alpha", "boolean", "incorrect", 1, 25, "stop", 1, false],
        ["alpha", "boolean", "truncated", 1, 26, "length", 0, false],
        ["beta \u{3b2}", "sort", "correct", 2, 20 + 22, "stop", 2, true],
        ["beta \u{3b2}", "sort", "incorrect", 2, 21 + 23, "stop", 2, false],
    ]);
    assert_eq!(json!(rows(db, question).unwrap()), expected);
    // In the first format an index had 32 bits. It is compared, sorted and added up as one of 64.
    let question = "SELECT count(*), sum(\"index\"), max(\"index\"), arrow_typeof(max(\"index\")) FROM trials \
                    WHERE \"index\" >= 2 AND \"index\" < 5000000000";
    assert_eq!(json!(rows(db, question).unwrap()), json!([[11, 39, 6, "Int64"]]));
}

#[test]
fn stores_the_provenance() {
    let study = small_study();
    for kind in ["trials", "points"] {
        let builder =
            ParquetRecordBatchReaderBuilder::try_new(File::open(unit_file(&study, kind)).unwrap()).unwrap();
        let metadata = builder.metadata().file_metadata();
        let value_of = |key: &str| {
            let pair = metadata.key_value_metadata().unwrap().iter().find(|pair| pair.key == key).unwrap();
            pair.value.clone().unwrap()
        };
        assert_eq!(value_of("reasonscape.format"), "4");
        assert_eq!(value_of("reasonscape.kind"), kind);
        assert_eq!(value_of("reasonscape.task"), "boolean");
        let eval: EvalInfo = serde_json::from_str(&value_of("reasonscape.eval")).unwrap();
        assert_eq!(eval, alpha());
        let from: reasonscape_points::Provenance =
            serde_json::from_str(&value_of("reasonscape.provenance")).unwrap();
        assert_eq!(from, provenance(1));
        assert!(metadata.created_by().unwrap().starts_with("reasonscape "));
    }
}
