//! One state of a study: what readers see while files are replaced, after a kill, and when bits rot.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

use datafusion::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use reasonscape_cache::Cache;
use reasonscape_ingest::Progress;
use reasonscape_points::{
    AnswerLines, Column, EvaluateOptions, FileCheck, FileState, Filter, PointsDb, PointsError, StudyPart,
    evaluate, verify_files,
};
use reasonscape_stats::Mode;
use reasonscape_study::{Selection, Study};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::evaluate::TestEnv;
use super::files::{copy_dir, file_names};
use super::test_env::{eval, file, open, point, rows, trials, wait, write};

const MODELS: [&str; 2] = ["model = \"sim-strong\"", "model = \"sim-cheap\""];
/// Points of each model in the suite of [`TestEnv`].
const POINTS: u64 = 4;

fn evaluate_all(study: &Study, cache: &Cache) {
    let options = EvaluateOptions { force: true, ..EvaluateOptions::default() };
    evaluate(study, cache, &options, &Progress::default(), None).unwrap();
}

/// The trials of each model, counted from points and from trials.
fn totals(db: &PointsDb) -> BTreeSet<(String, u64, u64)> {
    let groups = wait(db.aggregate(&[Column::Model], &Filter::default(), Mode::C_P.into())).unwrap();
    let stored = rows(db, "SELECT model, count(*) FROM trials GROUP BY model").unwrap();
    groups
        .iter()
        .map(|group| {
            let model = group.key[0].to_string();
            let row = stored.iter().find(|row| row[0] == model);
            let stored = row.map_or(0, |row| row[1].as_u64().unwrap());
            (model, group.counts.n, stored)
        })
        .collect()
}

/// The totals of both models with this many problems per point.
fn state(problems: u64) -> BTreeSet<(String, u64, u64)> {
    ["sim-cheap", "sim-strong"].map(|model| (model.to_owned(), POINTS * problems, POINTS * problems)).into()
}

/// Hidden files and locks anywhere in a study.
fn hidden(study: &Path) -> Vec<PathBuf> {
    let is_hidden = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().starts_with('.');
    file_names(study).into_iter().filter(is_hidden).collect()
}

#[test]
fn readers_see_one_state_while_files_are_replaced() {
    const ROUNDS: usize = 6;
    let (large, small) = (TestEnv::new(), TestEnv::new());
    let study = large.study("", &MODELS);
    large.fill_to(&study, 8);
    small.fill_to(&small.study("", &MODELS), 5);
    evaluate_all(&study, &large.cache());
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for _ in 0..ROUNDS {
                evaluate_all(&study, &small.cache());
                evaluate_all(&study, &large.cache());
            }
            is_done.store(true, Ordering::Relaxed);
        });
        let mut reads = 0;
        while !is_done.load(Ordering::Relaxed) {
            let db = open(large.path());
            let found = totals(&db);
            assert!(found == state(8) || found == state(5), "{found:?}");
            assert!(db.remarks().is_empty(), "{:?}", db.remarks());
            // The same again, however often files were replaced since.
            assert_eq!(totals(&db), found);
            reads += 1;
        }
        writer.join().unwrap();
        assert!(reads > 0);
    });
    assert_eq!(totals(&open(large.path())), state(8));
    assert!(hidden(large.path()).is_empty(), "{:?}", hidden(large.path()));
}

/// Evaluates and calls `between` when the files of some units are replaced and those of others are not.
fn evaluate_with_a_pause(study: &Study, cache: &Cache, between: &mut dyn FnMut()) {
    let modified = || -> Vec<SystemTime> {
        let dirs = ["points", "trials"].map(|kind| study.dir.join(kind));
        let files = dirs.iter().filter(|dir| dir.exists()).flat_map(|dir| file_names(dir));
        let files = files.filter(|path| path.extension().is_some_and(|extension| extension == "parquet"));
        files.filter_map(|path| fs::metadata(path).ok()?.modified().ok()).collect()
    };
    let before = modified();
    let (mut pieces, mut is_called) = (0, false);
    let mut write = |_: &[u8]| {
        pieces += 1;
        // The pieces of the second model: those of the first have been sent to the writer.
        if pieces == POINTS + 1 {
            let deadline = Instant::now() + Duration::from_mins(1);
            while modified() == before && Instant::now() < deadline {
                std::thread::yield_now();
            }
            assert_ne!(modified(), before, "no file was replaced");
            between();
            is_called = true;
        }
        Ok(())
    };
    let answers = AnswerLines { format: &|_, _, _| (), write: &mut write };
    let options = EvaluateOptions { force: true, selection: Selection::default() };
    evaluate(study, cache, &options, &Progress::default(), Some(answers)).unwrap();
    assert!(is_called, "{pieces} pieces");
}

#[test]
fn a_writer_that_stops_between_two_files_leaves_the_old_state() {
    let env = TestEnv::new();
    let study = env.study("", &MODELS);
    env.fill_to(&study, 5);
    evaluate_all(&study, &env.cache());
    let old = open(env.path());
    env.fill_to(&study, 8);
    let killed = TempDir::new().unwrap();
    evaluate_with_a_pause(&study, &env.cache(), &mut || {
        let db = open(env.path());
        assert_eq!(totals(&db), state(5));
        assert!(db.remarks().is_empty(), "the writer is alive: {:?}", db.remarks());
        assert_eq!(totals(&old), state(5), "what was opened before goes on");
        copy_dir(env.path(), killed.path());
    });
    assert_eq!(totals(&open(env.path())), state(8));
    assert_eq!(totals(&old), state(5), "and after");

    // A copy from in between is what a killed process leaves: nobody holds its lock.
    assert!(!hidden(killed.path()).is_empty());
    let db = open(killed.path());
    assert_eq!(totals(&db), state(5));
    assert!(db.remarks().join("\n").contains("`evaluate` was interrupted"), "{:?}", db.remarks());
    let study = Study::load(killed.path()).unwrap();
    let cache = Cache::open(killed.path().join("cache.sqlite")).unwrap();
    evaluate(&study, &cache, &EvaluateOptions::default(), &Progress::default(), None).unwrap();
    let db = open(killed.path());
    assert_eq!((totals(&db), db.remarks().len()), (state(8), 0));
    assert!(hidden(killed.path()).is_empty(), "{:?}", hidden(killed.path()));
}

#[test]
fn a_first_evaluation_appears_when_it_is_complete() {
    let env = TestEnv::new();
    let study = env.study("", &MODELS);
    env.fill_to(&study, 5);
    evaluate_with_a_pause(&study, &env.cache(), &mut || {
        let error = wait(PointsDb::open(env.path())).unwrap_err();
        assert!(matches!(error, PointsError::Empty { .. }), "{error}");
    });
    let db = open(env.path());
    assert_eq!((totals(&db), db.manifest_generation()), (state(5), Some(2)));
}

#[test]
fn temporary_files_of_dead_processes_are_removed() {
    let env = TestEnv::new();
    let study = env.study("", &MODELS);
    env.fill_to(&study, 5);
    evaluate_all(&study, &env.cache());
    let dir = file_names(&env.path().join("trials"))[0].parent().unwrap().to_owned();
    let write = |name: &str| {
        fs::write(dir.join(name), "left behind").unwrap();
        dir.join(name)
    };
    let dead = write(".reasonscape-1f-2a-0-XyZ123");
    let dead_lock = env.path().join(".reasonscape-1f-2a-0.lock");
    fs::write(&dead_lock, "").unwrap();
    let alive = write(".reasonscape-1f-2b-0-XyZ123");
    let lock = File::create(env.path().join(".reasonscape-1f-2b-0.lock")).unwrap();
    lock.lock().unwrap();
    // Earlier versions did not name the process.
    let [recent, old] = [".reasonscape-aaaaaa", ".reasonscape-bbbbbb"].map(write);
    let days_ago = SystemTime::now() - Duration::from_hours(72);
    File::options().write(true).open(&old).unwrap().set_modified(days_ago).unwrap();
    let foreign = write(".notes-1f-2a-0-XyZ123");
    env.evaluate(&study);
    assert!(!dead.exists() && !dead_lock.exists() && !old.exists(), "{:?}", hidden(env.path()));
    assert!(alive.exists() && recent.exists() && foreign.exists(), "{:?}", hidden(env.path()));
}

/// A study with one unit, and its points, trials and manifest.
fn small_study() -> (TempDir, [PathBuf; 3]) {
    let study = TempDir::new().unwrap();
    let alpha = eval("alpha", "zero-shot", "greedy-2k", &["arch:moe"]);
    write(study.path(), &alpha, "boolean", vec![point(r#"{"length": 8}"#, &["m"], trials("cccit", 0.5))]);
    let [points, trials] = ["points", "trials"].map(|kind| file(study.path(), kind, &alpha, "boolean"));
    let manifest = study.path().join("manifest.json");
    (study, [points, trials, manifest])
}

/// Everything that a study says, and its remarks: counters, evaluations and all columns of points and trials.
type Answers = Result<(Value, Vec<String>), PointsError>;

fn answers(study: &Path) -> Answers {
    let by = [Column::Model, Column::BaseTask];
    let (db, groups) = wait(async {
        let db = PointsDb::open(study).await?;
        let groups = db.aggregate(&by, &Filter::default(), Mode::C_P.into()).await?;
        Ok::<_, PointsError>((db, groups))
    })?;
    let counts: Vec<_> =
        groups.iter().map(|group| format!("{:?}", (&group.key, group.counts, group.estimate))).collect();
    let found = json!([
        counts,
        format!("{:?} {:?}", db.evals(), db.sources()),
        rows(&db, "SELECT * FROM points ORDER BY model, base_task, params")?,
        rows(&db, "SELECT * FROM trials ORDER BY model, base_task, params, \"index\"")?,
    ]);
    Ok((found, db.remarks().to_vec()))
}

/// Flips a bit of every `step`th byte of a file, one at a time, and hands on what the study then says.
fn flip_bytes(study: &Path, path: &Path, step: usize, check: &mut dyn FnMut(usize, Answers)) {
    let whole = fs::read(path).unwrap();
    for place in (0..whole.len()).step_by(step) {
        let mut bytes = whole.clone();
        bytes[place] ^= 1 << (place * 5 % 8);
        fs::write(path, bytes).unwrap();
        check(place, answers(study));
    }
    fs::write(path, whole).unwrap();
}

#[test]
fn every_flipped_bit_is_refused_or_changes_no_number() {
    let (study, files) = small_study();
    let (expected, remarks) = answers(study.path()).unwrap();
    assert!(remarks.is_empty());
    for path in &files {
        let is_manifest = path.ends_with("manifest.json");
        let (mut refused, mut harmless) = (0, 0);
        flip_bytes(study.path(), path, 1, &mut |place, found| match found {
            Err(error) => {
                let text = error.to_string();
                assert!(text.contains(path.to_str().unwrap()) && error.is_input(), "byte {place}: {text}");
                refused += 1;
            }
            Ok((found, remarks)) => {
                // The pair id, by which counters and trials recognize each other: they are counted again.
                let is_recount = remarks.iter().all(|remark| remark.contains("do not match their counters"));
                assert!(is_recount || is_manifest, "byte {place}: {remarks:?}");
                assert_eq!(found, expected, "byte {place} of {} changed a number", path.display());
                harmless += 1;
            }
        });
        assert_eq!(refused == 0, is_manifest, "{}: {refused} refused, {harmless} harmless", path.display());
        // `PAR1` at the beginning, the pair id, and columns with one value, which the footer has.
        assert!(is_manifest || harmless < refused, "{}: {harmless} harmless", path.display());
    }
    assert_eq!(answers(study.path()).unwrap().0, expected);
}

#[test]
fn flipped_bits_in_files_without_hashes_never_panic() {
    let (study, [points, trials, manifest]) = small_study();
    fs::remove_file(manifest).unwrap();
    let mut decoded = 0;
    for path in [points, trials] {
        flip_bytes(study.path(), &path, 5, &mut |_, found| decoded += usize::from(found.is_ok()));
    }
    assert!(decoded > 0);
}

/// Where the data of a column begins in a file.
fn column_start(path: &Path, name: &str) -> usize {
    let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(path).unwrap()).unwrap();
    let columns = reader.metadata().row_group(0).columns();
    let column = columns.iter().find(|column| column.column_path().string() == name).unwrap();
    usize::try_from(column.byte_range().0).unwrap()
}

/// The check of one part of a study that has one unit.
fn check(study: &Path, part: StudyPart) -> FileCheck {
    verify_files(study).unwrap().into_iter().find(|check| check.part == part).unwrap()
}

#[test]
fn verify_finds_every_fault_and_says_how_to_repair_it() {
    let (study, [points, trials, manifest]) = small_study();
    let sound = verify_files(study.path()).unwrap();
    assert_eq!(sound.len(), 4);
    assert!(
        sound.iter().all(|check| check.state == FileState::Sound && check.problem.is_none()),
        "{sound:?}"
    );

    let whole = fs::read(&trials).unwrap();
    let mut bytes = whole.clone();
    bytes[10] ^= 1;
    fs::write(&trials, &bytes).unwrap();
    let found = check(study.path(), StudyPart::Trials);
    assert_eq!(found.state, FileState::Damaged);
    assert!(found.problem.unwrap().contains("does not match its hash in manifest.json"));
    let command = format!("`reasonscape evaluate {} --force`", study.path().display());
    assert!(found.repair.unwrap().contains(&command));
    fs::write(&trials, &whole).unwrap();

    fs::rename(&points, points.with_extension("away")).unwrap();
    assert_eq!(check(study.path(), StudyPart::Points).state, FileState::Missing);
    fs::rename(points.with_extension("away"), &points).unwrap();

    let text = fs::read_to_string(&manifest).unwrap();
    fs::write(&manifest, text.replacen("\"generation\": 2", "\"generation\": 3", 1)).unwrap();
    let found = check(study.path(), StudyPart::Manifest);
    assert_eq!(
        (found.state, found.problem.as_deref()),
        (FileState::Damaged, Some("its hash does not match"))
    );
    let db = open(study.path());
    assert!(db.remarks().join("\n").contains("manifest.json can't be used"), "{:?}", db.remarks());

    fs::remove_file(&manifest).unwrap();
    let found = verify_files(study.path()).unwrap();
    assert!(found.iter().all(|check| !check.state.is_fault()), "{found:?}");
    assert_eq!(check(study.path(), StudyPart::Trials).state, FileState::Unhashed);
    fs::write(&trials, &whole[..whole.len() - 1]).unwrap();
    assert_eq!(check(study.path(), StudyPart::Trials).state, FileState::Damaged);
}

#[test]
fn evaluate_lists_files_of_earlier_versions_and_repairs_damaged_ones() {
    let env = TestEnv::new();
    let study = env.study("", &MODELS);
    env.fill_to(&study, 5);
    evaluate_all(&study, &env.cache());
    let expected = answers(env.path()).unwrap().0;
    fs::remove_file(env.path().join("manifest.json")).unwrap();
    assert_eq!(open(env.path()).manifest_generation(), None);
    assert!(env.evaluate(&study).units.iter().all(|unit| !unit.written));
    assert_eq!(open(env.path()).manifest_generation(), Some(1));
    assert!(verify_files(env.path()).unwrap().iter().all(|check| check.state == FileState::Sound));

    let trials = &file_names(&env.path().join("trials"))[0];
    let mut bytes = fs::read(trials).unwrap();
    let place = column_start(trials, "index");
    bytes[place] ^= 1;
    fs::write(trials, bytes).unwrap();
    // An evaluation that changes nothing does not declare the damage sound.
    env.evaluate(&study);
    let error = answers(env.path()).unwrap_err();
    assert!(matches!(&error, PointsError::Corrupt { path, .. } if path == trials), "{error}");
    evaluate_all(&study, &env.cache());
    let repaired = answers(env.path()).unwrap().0;
    assert_eq!(repaired[3], expected[3]);
    assert!(verify_files(env.path()).unwrap().iter().all(|check| check.state == FileState::Sound));
}
