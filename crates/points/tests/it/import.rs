//! Logs that lm-eval and Inspect really wrote, and what must not be taken for one.
//!
//! `tests/logs/make/make.py` of crates/ingest made them. The oracle is what the tools themselves say in `results_*.json` and
//! `header.json`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use reasonscape_cache::Cache;
use reasonscape_ingest::Progress;
use reasonscape_ingest::logs::{LogOptions, Logs, Renames};
use reasonscape_points::{Column, Filter, Imported, ImportedUnit, PointsDb, PointsError, import_logs};
use reasonscape_stats::Mode;
use serde_json::{Value, json};
use tempfile::TempDir;
use zip::CompressionMethod;

use super::test_env::{open, rows, wait};

pub(crate) fn logs(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../ingest/tests/logs").join(path)
}

fn log_options(metrics: &[&str], filters: &[&str], scorers: &[&str]) -> LogOptions {
    let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    LogOptions {
        metrics: owned(metrics),
        filters: owned(filters),
        scorers: owned(scorers),
        ..LogOptions::default()
    }
}

fn cache(study: &Path) -> Cache {
    Cache::open(study.join("cache.sqlite")).unwrap()
}

pub(crate) fn lm_eval(study: &Path, path: &Path, options: &LogOptions) -> Result<Imported, PointsError> {
    let logs = Logs::open_lm_eval(&[path.to_owned()], options)?;
    import_logs(&logs, study, &cache(study), &Progress::default())
}

pub(crate) fn inspect(study: &Path, path: &Path, options: &LogOptions) -> Result<Imported, PointsError> {
    let logs = Logs::open_inspect(&[path.to_owned()], options)?;
    import_logs(&logs, study, &cache(study), &Progress::default())
}

/// What the only `results_*.json` of a folder says.
fn results(folder: &Path) -> Value {
    let mut files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let path = files.find(|path| path.extension().is_some_and(|extension| extension == "json")).unwrap();
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

fn is_close(a: Option<f64>, b: Option<f64>) -> bool {
    matches!((a, b), (Some(a), Some(b)) if (a - b).abs() < 1e-12)
}

/// Counters as the database has them, by task.
fn stored(db: &PointsDb) -> BTreeMap<String, (u64, u64, u64, f64, u64)> {
    let groups = wait(db.aggregate(&[Column::BaseTask], &Filter::default(), Mode::C_P.into())).unwrap();
    let counts = groups.into_iter().map(|group| {
        let counts = group.counts;
        (group.key[0].to_string(), (counts.n, counts.n_e, counts.n_t, counts.g, counts.missing()))
    });
    counts.collect()
}

#[test]
fn lm_eval_accuracies_match_its_results() {
    for (folder, model, task, metric, filter) in [
        ("chat/small", "small", "small_sums", "exact_match", "strict-match"),
        ("chat/small", "small", "small_sums", "exact_match", "flexible-extract"),
        ("chat/large", "large", "small_sums", "exact_match", "strict-match"),
        ("chat/large", "large", "small_sums", "exact_match", "flexible-extract"),
        ("votes/small", "small", "small_votes", "exact_match", "first"),
        ("votes/small", "small", "small_votes", "exact_match", "majority"),
        ("picks/dummy__one", "dummy/one", "small_picks", "acc", "none"),
        ("picks/dummy__one", "dummy/one", "small_picks", "acc_norm", "none"),
        ("chat/small", "small", "small_gaps", "share", "none"),
        ("chat/small", "small", "small_gaps", "hit", "none"),
        ("chat/large", "large", "small_gaps", "hit", "none"),
    ] {
        let study = TempDir::new().unwrap();
        let folder = logs("lm-eval").join(folder);
        let theirs = results(&folder)["results"][task][format!("{metric},{filter}")].as_f64();
        let mut files = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
        let samples =
            files.find(|path| path.display().to_string().contains(&format!("samples_{task}_"))).unwrap();
        let imported = lm_eval(study.path(), &samples, &log_options(&[metric], &[filter], &[])).unwrap();
        let [unit] = imported.units.as_slice() else { panic!("{imported:?}") };
        let name = format!("{model} {task} {metric},{filter}");
        assert!(theirs.is_some() && is_close(unit.log_score, theirs), "{name}: {unit:?}");
        assert!(is_close(unit.mean_score, theirs), "{name}: {theirs:?} is not {:?}", unit.mean_score);
        assert_eq!((unit.eval.model.as_str(), unit.task.as_str()), (model, task));
        if metric != "share" {
            assert!(is_close(unit.accuracy, theirs) && unit.partial == 0, "{name}: {unit:?}");
        }
        let (n, n_e, n_t, g, missing) = stored(&open(study.path()))[task];
        assert_eq!((n, n_t), (20 - missing, 0), "{name}");
        assert!(is_close(Some(n_e as f64 / n as f64), unit.accuracy), "{name}");
        assert_eq!(g, if task == "small_picks" { 5.0 } else { 0.0 }, "{name}");
        assert_eq!(missing, if task == "small_gaps" { unit.skipped["no score"] } else { 0 }, "{name}");
        let db = open(study.path());
        let is_unknown = db.truncation_unknown().contains(&unit.eval.eval_id);
        assert_eq!(
            (is_unknown, unit.truncation_known),
            (task != "small_picks", task == "small_picks"),
            "{name}"
        );
    }
}

#[test]
fn imports_all_fields_of_an_lm_eval_line() {
    let study = TempDir::new().unwrap();
    lm_eval(study.path(), &logs("lm-eval/picks"), &log_options(&["acc"], &[], &[])).unwrap();
    let db = open(study.path());
    let first = rows(
        &db,
        "SELECT template, sampler, params, \"index\", repeat, status, guess, prompt_tokens, finish, method, answer, \
         target FROM trials ORDER BY \"index\" LIMIT 1",
    );
    let expected = json!([[
        "lm-eval:2-shot",
        "task-defaults",
        "{}",
        0,
        0,
        0,
        0.25,
        null,
        "weighed",
        "lm-eval:acc,none",
        "25",
        "0"
    ]]);
    assert_eq!(json!(first.unwrap()), expected);
    assert_eq!(db.evals()[0].groups, ["source:lm-eval"]);

    let study = TempDir::new().unwrap();
    lm_eval(study.path(), &logs("lm-eval/votes"), &log_options(&[], &["first"], &[])).unwrap();
    let question =
        "SELECT count(*), count(answer), min(finish), max(latency_ms), count(DISTINCT cache_key) FROM trials";
    let found = rows(&open(study.path()), question).unwrap();
    assert_eq!(found[0][0], 20);
    assert!(found[0][1].as_u64().unwrap() < 20, "`[invalid]` is no answer");
    assert_eq!(found[0][2..], [json!("unknown"), json!(0), json!(20)]);
}

#[test]
fn pairs_models_by_document() {
    let study = TempDir::new().unwrap();
    let options = log_options(&["exact_match", "hit"], &["strict-match"], &[]);
    let imported = lm_eval(study.path(), &logs("lm-eval/chat"), &options).unwrap();
    assert_eq!(imported.units.len(), 4);
    let db = open(study.path());
    let id = |model: &str| &db.evals().iter().find(|eval| eval.model == model).unwrap().eval_id;
    let paired = wait(db.paired(id("small"), id("large"), &Filter::default())).unwrap();
    let sums = paired.iter().find(|task| task.base_task == "small_sums").unwrap();
    let (a, b) = sums.discordant();
    let pairs: u64 = sums.cells.iter().map(|cell| cell.count).sum();
    assert_eq!(pairs, 20);
    // Counted from the lines themselves.
    let lines = |model: &str| -> BTreeMap<u64, bool> {
        let folder = logs("lm-eval/chat").join(model);
        let mut files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let path = files.find(|path| path.display().to_string().contains("samples_small_sums")).unwrap();
        let text = fs::read_to_string(path).unwrap();
        let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let strict = lines.filter(|line| line["filter"] == "strict-match");
        strict.map(|line| (line["doc_id"].as_u64().unwrap(), line["exact_match"] == 1.0)).collect()
    };
    let (small, large) = (lines("small"), lines("large"));
    let only = |only_unit: &BTreeMap<u64, bool>, other: &BTreeMap<u64, bool>| {
        only_unit.iter().filter(|(id, right)| **right && !other[id]).count() as u64
    };
    assert_eq!((a, b), (only(&small, &large), only(&large, &small)));
}

/// What Inspect says a score's mean is.
fn header(path: &Path) -> Value {
    let mut zip = zip::ZipArchive::new(fs::File::open(path).unwrap()).unwrap();
    let header = std::io::read_to_string(zip.by_name("header.json").unwrap()).unwrap();
    serde_json::from_str(&header).unwrap()
}

fn reported_mean(header: &Value, name: &str) -> Option<f64> {
    let scores = header["results"]["scores"].as_array().unwrap();
    let score = scores.iter().find(|score| score["name"] == name).unwrap();
    let metrics = &score["metrics"];
    metrics.get("accuracy").or(metrics.get("mean")).unwrap()["value"].as_f64()
}

/// Samples that got half a point, read one by one.
fn partial_scores(path: &Path) -> u64 {
    let mut zip = zip::ZipArchive::new(fs::File::open(path).unwrap()).unwrap();
    let names: Vec<String> = zip.file_names().map(|name| name.unwrap().into_owned()).collect();
    let samples = names.iter().filter(|name| name.starts_with("samples/"));
    let is_half = |name: &&String| {
        let text = std::io::read_to_string(zip.by_name(name).unwrap()).unwrap();
        text.contains(r#""scores":{"graded":{"value":"P""#)
    };
    samples.filter(is_half).count() as u64
}

fn only_unit(imported: &Imported) -> &ImportedUnit {
    let [unit] = imported.units.as_slice() else { panic!("{imported:?}") };
    unit
}

#[test]
fn inspect_accuracies_match_its_headers() {
    for (file, scorer, n) in [
        ("add-small.eval", "match", 18),
        ("add-large.eval", "match", 18),
        ("pick.eval", "choice", 12),
        ("deflated.eval", "choice", 12),
        ("grade.eval", "graded", 9),
        ("grade.eval", "several.exact", 12),
        ("grade.eval", "several.near", 12),
        ("fall.eval", "match", 6),
        ("huge.eval", "match", 4),
    ] {
        let study = TempDir::new().unwrap();
        let path = logs("inspect").join(file);
        let imported = inspect(study.path(), &path, &log_options(&[], &[], &[scorer])).unwrap();
        let unit = only_unit(&imported);
        let theirs = reported_mean(&header(&path), scorer.rsplit('.').next().unwrap());
        assert!(is_close(unit.log_score, theirs), "{file} {scorer}: {unit:?}");
        assert!(
            is_close(unit.mean_score, theirs),
            "{file} {scorer}: {theirs:?} is not {:?}",
            unit.mean_score
        );
        assert_eq!((unit.counts.n, unit.truncation_known, unit.unfinished), (n, true, false), "{file}");
        if scorer == "graded" {
            assert_eq!(unit.partial, partial_scores(&path));
            assert!(unit.partial > 0);
        } else {
            assert!(is_close(unit.accuracy, theirs) && unit.partial == 0, "{file}: {unit:?}");
        }
        let db = open(study.path());
        assert!(db.truncation_unknown().is_empty());
        let from = &db.imported()[&unit.eval.eval_id][&unit.task];
        assert_eq!(*from, format!("inspect: {file}"));
    }
}

#[test]
fn fixtures_include_both_zip_compressions() {
    for (file, method) in
        [("add-small.eval", CompressionMethod::Zstd), ("deflated.eval", CompressionMethod::Deflated)]
    {
        let mut zip = zip::ZipArchive::new(fs::File::open(logs("inspect").join(file)).unwrap()).unwrap();
        let place = zip.index_for_name("header.json").unwrap();
        assert_eq!(zip.by_index(place).unwrap().compression(), method, "{file}");
    }
}

#[test]
fn truncated_answers_are_truncated_whatever_their_score() {
    let study = TempDir::new().unwrap();
    let path = logs("inspect/add-large.eval");
    let imported = inspect(study.path(), &path, &LogOptions::default()).unwrap();
    let unit = only_unit(&imported);
    // Read by other means: the samples one by one.
    let mut zip = zip::ZipArchive::new(fs::File::open(&path).unwrap()).unwrap();
    let names: Vec<String> = zip.file_names().map(|name| name.unwrap().into_owned()).collect();
    let (mut cut, mut lucky, mut right) = (0, 0, 0);
    for name in names.iter().filter(|name| name.starts_with("samples/")) {
        let text = std::io::read_to_string(zip.by_name(name).unwrap()).unwrap();
        let sample: Value = serde_json::from_str(&text).unwrap();
        let is_cut = sample["output"]["choices"][0]["stop_reason"] == "max_tokens";
        let is_right = sample["scores"]["match"]["value"] == "C";
        cut += u64::from(is_cut);
        lucky += u64::from(is_cut && is_right);
        right += u64::from(!is_cut && is_right);
    }
    assert!(cut > 0 && lucky > 0, "the fixture has both");
    assert_eq!((unit.counts.n_t, unit.truncated_correct, unit.counts.n_e), (cut, lucky, right));
}

#[test]
fn imports_all_fields_of_an_inspect_sample() {
    let study = TempDir::new().unwrap();
    inspect(study.path(), &logs("inspect/add-small.eval"), &LogOptions::default()).unwrap();
    let db = open(study.path());
    let question = "SELECT min(\"index\"), max(\"index\"), min(repeat), max(repeat), count(DISTINCT cache_key), \
                    min(sampler), min(template), min(prompt_tokens), max(guess) FROM trials";
    let expected = json!([[1, 6, 0, 2, 6, "temperature=0.0,max_tokens=64", "inspect", 9, 0.0]]);
    assert_eq!(json!(rows(&db, question).unwrap()), expected);
    let question =
        "SELECT count(*) FROM trials WHERE reasoning_chars > 0 AND reasoning_tokens > 0 AND received_ms > 0";
    assert!(rows(&db, question).unwrap()[0][0].as_u64().unwrap() > 0);

    let study = TempDir::new().unwrap();
    inspect(study.path(), &logs("inspect/pick.eval"), &LogOptions::default()).unwrap();
    let question = "SELECT count(DISTINCT \"index\"), min(guess), max(guess), min(\"index\") > 1000, \
                    max(\"index\") < 9007199254740992 FROM trials";
    assert_eq!(json!(rows(&open(study.path()), question).unwrap()), json!([[12, 0.25, 0.25, true, true]]));
}

#[test]
fn json_and_zip_logs_give_the_same_trials() {
    let of = |file: &str| {
        let study = TempDir::new().unwrap();
        let imported = inspect(study.path(), &logs("inspect").join(file), &LogOptions::default()).unwrap();
        let question = "SELECT \"index\", repeat, target, answer_chars > 0 FROM trials ORDER BY 1, 2";
        (rows(&open(study.path()), question).unwrap(), imported)
    };
    let (trials, imported) = of("add.json");
    let unit = only_unit(&imported);
    let log: Value = serde_json::from_str(&fs::read_to_string(logs("inspect/add.json")).unwrap()).unwrap();
    assert!(
        is_close(unit.mean_score, reported_mean(&log, "match")) && is_close(unit.log_score, unit.mean_score)
    );
    let (of_zip, _) = of("add-large.eval");
    let first: Vec<_> = of_zip.into_iter().filter(|row| row[1] == 0 && row[0].as_u64() <= Some(3)).collect();
    assert_eq!(trials, first);
}

#[test]
fn imports_unfinished_logs_partially() {
    let study = TempDir::new().unwrap();
    let imported = inspect(study.path(), &logs("inspect/killed.eval"), &LogOptions::default()).unwrap();
    let unit = only_unit(&imported);
    assert!(unit.unfinished && unit.log_score.is_none());
    assert_eq!((unit.counts.n, unit.counts.missing()), (16, 20), "of 12 samples in 3 epochs");
}

#[test]
fn reports_why_samples_are_skipped() {
    let study = TempDir::new().unwrap();
    let imported = inspect(study.path(), &logs("inspect/fall.eval"), &LogOptions::default()).unwrap();
    assert_eq!(only_unit(&imported).skipped, BTreeMap::from([("ended in an error", 2)]));
    assert_eq!(only_unit(&imported).counts.missing(), 2);
    let imported =
        inspect(study.path(), &logs("inspect/grade.eval"), &log_options(&[], &[], &["graded"])).unwrap();
    assert_eq!(only_unit(&imported).skipped, BTreeMap::from([("no score", 3)]));
}

#[test]
fn partial_scores_count_by_the_threshold() {
    let with = |threshold| {
        let study = TempDir::new().unwrap();
        let options = LogOptions { threshold, ..log_options(&[], &[], &["graded"]) };
        let imported = inspect(study.path(), &logs("inspect/grade.eval"), &options).unwrap();
        (only_unit(&imported).counts.n_e, only_unit(&imported).partial)
    };
    let (strict, partial) = with(None);
    assert_eq!(with(Some(0.5)), (strict + partial, partial));
    assert_eq!(with(Some(1.0)), (strict, partial));
}

#[test]
fn lists_the_choices_of_scores() {
    let study = TempDir::new().unwrap();
    let none = LogOptions::default();
    for (error, words) in [
        (lm_eval(study.path(), &logs("lm-eval/picks"), &none), ["`acc`, `acc_norm`", "--metric acc"]),
        (lm_eval(study.path(), &logs("lm-eval/votes"), &none), ["`first`, `majority`", "--filter first"]),
        (
            inspect(study.path(), &logs("inspect/grade.eval"), &none),
            ["`graded`, `several.exact`, `several.near`", "--scorer graded"],
        ),
        (
            inspect(study.path(), &logs("inspect/pick.eval"), &log_options(&[], &[], &["match"])),
            ["`--scorer match`", "`choice`"],
        ),
        (
            lm_eval(study.path(), &logs("lm-eval/votes"), &log_options(&["f1"], &["first"], &[])),
            ["`--metric f1`", "`exact_match`"],
        ),
    ] {
        let error = error.unwrap_err();
        assert!(error.is_input());
        for words in words {
            assert!(error.to_string().contains(words), "`{words}` is not in: {error}");
        }
    }
    assert!(!study.path().join("trials").exists());
}

#[test]
fn renames_models_and_keeps_runs_apart() {
    let study = TempDir::new().unwrap();
    let path = logs("inspect/add-small.eval");
    for name in ["first run", "second run"] {
        let options = LogOptions {
            models: Renames::parse([name]).unwrap(),
            tasks: Renames::parse(["add=sums/easy"]).unwrap(),
            ..LogOptions::default()
        };
        inspect(study.path(), &path, &options).unwrap();
    }
    let db = open(study.path());
    let names: Vec<&str> = db.evals().iter().map(|eval| eval.name.as_str()).collect();
    assert_eq!(names, ["first run", "second run"]);
    assert_eq!(stored(&db)["sums-easy"].0, 36);
    // Importing again replaces, and counts nothing twice.
    let options = LogOptions {
        models: Renames::parse(["first run"]).unwrap(),
        tasks: Renames::parse(["sums/easy"]).unwrap(),
        ..LogOptions::default()
    };
    inspect(study.path(), &path, &options).unwrap();
    assert_eq!(stored(&open(study.path()))["sums-easy"].0, 36);
}

#[test]
fn imports_the_latest_run_and_reports_the_others() {
    let folder = TempDir::new().unwrap();
    fs::copy(logs("inspect/add-small.eval"), folder.path().join("a.eval")).unwrap();
    fs::copy(logs("inspect/add-small.eval"), folder.path().join("b.eval")).unwrap();
    let found = Logs::open_inspect(&[folder.path().to_owned()], &LogOptions::default()).unwrap();
    let [remark] = found.notes() else { panic!("{:?}", found.notes()) };
    assert!(remark.contains("is skipped") && remark.contains("--model"), "{remark}");
}

const START: &str = r#"{"version": 2, "eval": {"task": "t", "model": "m", "run_id": "r"}, "plan": {}}"#;

fn sample(value: &str, text: &str) -> String {
    format!(
        r#"{{"id": 1, "epoch": 1, "input": "q", "target": "a", "scores": {{"s": {{"value": {value}}}}},
        "output": {{"completion": "{text}", "choices": [{{"message": {{"role": "assistant", "content": "{text}"}},
        "stop_reason": "stop"}}]}}}}"#
    )
}

#[test]
fn last_zip_member_of_a_name_wins() {
    let folder = TempDir::new().unwrap();
    let members = [
        ("_journal/start.json", START),
        ("samples/1_epoch_1.json", &sample("\"I\"", "first")),
        ("samples/1_epoch_1.json", &sample("\"C\"", "last")),
    ];
    let path = folder.path().join("twice.eval");
    fs::write(&path, stored_zip(&members)).unwrap();
    let study = TempDir::new().unwrap();
    let imported = inspect(study.path(), &path, &LogOptions::default()).unwrap();
    assert_eq!((only_unit(&imported).counts.n, only_unit(&imported).counts.n_e), (1, 1));
}

/// What a zip says of a member, and its bytes.
struct ZipMember {
    checksum: u32,
    length: u32,
    method: u16,
    bytes: Vec<u8>,
}

fn checksum(bytes: &[u8]) -> u32 {
    let mut sum = 0xffff_ffff_u32;
    for byte in bytes {
        sum ^= u32::from(*byte);
        for _ in 0..8 {
            sum = sum >> 1 ^ (0xedb8_8320 & (sum & 1).wrapping_neg());
        }
    }
    !sum
}

/// A zip of members that are stored as they are.
fn stored_zip(members: &[(&str, &str)]) -> Vec<u8> {
    let stored = members.iter().map(|(name, text)| {
        let bytes = text.as_bytes().to_vec();
        (*name, ZipMember { checksum: checksum(&bytes), length: bytes.len() as u32, method: 0, bytes })
    });
    zip_of(&stored.collect::<Vec<_>>())
}

/// A zip in the plainest form that the format has. Libraries that write zips refuse a name twice.
fn zip_of(members: &[(&str, ZipMember)]) -> Vec<u8> {
    let (mut file, mut directory) = (Vec::new(), Vec::new());
    for (name, member) in members {
        let start = file.len() as u32;
        let mut common = vec![20, 0, 0, 0];
        common.extend(member.method.to_le_bytes());
        common.extend([0, 0, 0x21, 0x5a]);
        common.extend(member.checksum.to_le_bytes());
        common.extend((member.bytes.len() as u32).to_le_bytes());
        common.extend(member.length.to_le_bytes());
        common.extend((name.len() as u16).to_le_bytes());
        common.extend([0, 0]);
        file.extend(b"PK\x03\x04");
        file.extend(&common);
        file.extend(name.as_bytes());
        file.extend(&member.bytes);
        directory.extend(b"PK\x01\x02\x14\x00");
        directory.extend(&common);
        directory.extend([0; 10]);
        directory.extend(start.to_le_bytes());
        directory.extend(name.as_bytes());
    }
    let start = file.len() as u32;
    let many = (members.len() as u16).to_le_bytes();
    let mut end = b"PK\x05\x06\0\0\0\0".to_vec();
    end.extend([many, many].concat());
    end.extend([(directory.len() as u32).to_le_bytes(), start.to_le_bytes()].concat());
    end.extend([0, 0]);
    [file, directory, end].concat()
}

/// Bytes as zstd frames of a hundred bytes each, in blocks that are not compressed (RFC 8878, 3.1.1).
fn frames(text: &str) -> Vec<u8> {
    let frame = |part: &[u8]| {
        let block = ((part.len() as u32) << 3 | 1).to_le_bytes();
        let head = [&[0x28, 0xb5, 0x2f, 0xfd, 0x20, part.len() as u8], &block[..3]].concat();
        [&head, part].concat()
    };
    text.as_bytes().chunks(100).flat_map(frame).collect()
}

#[test]
fn reads_members_with_several_zstd_frames() {
    let text = sample("\"C\"", "so it ends");
    assert!(text.len() > 200, "several frames");
    let packed = frames(&text);
    let member = |text: &str, packed: Option<&[u8]>| ZipMember {
        checksum: checksum(text.as_bytes()),
        length: text.len() as u32,
        method: if packed.is_some() { 93 } else { 0 },
        bytes: packed.unwrap_or(text.as_bytes()).to_vec(),
    };
    let bytes = zip_of(&[
        ("_journal/start.json", member(START, None)),
        ("samples/1_epoch_1.json", member(&text, Some(&packed))),
    ]);
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("frames.eval");
    fs::write(&path, bytes).unwrap();
    let study = TempDir::new().unwrap();
    let imported = inspect(study.path(), &path, &LogOptions::default()).unwrap();
    assert_eq!((only_unit(&imported).counts.n, only_unit(&imported).counts.n_e), (1, 1));
}

#[test]
fn scores_outside_0_to_1_need_a_threshold() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("grades.eval");
    let members = [("_journal/start.json", START), ("samples/1_epoch_1.json", &sample("7", "x"))];
    fs::write(&path, stored_zip(&members)).unwrap();
    let study = TempDir::new().unwrap();
    let error = inspect(study.path(), &path, &LogOptions::default()).unwrap_err().to_string();
    assert!(error.contains("score 7") && error.contains("--threshold"), "{error}");
    assert!(!study.path().join("trials/eval=").exists());
    let options = LogOptions { threshold: Some(5.0), ..LogOptions::default() };
    assert_eq!(only_unit(&inspect(study.path(), &path, &options).unwrap()).counts.n_e, 1);
}

/// Says that these are refused, in these words, and that nothing came of it.
fn assert_import_fails(import: impl FnOnce(&Path) -> Result<Imported, PointsError>, words: &[&str]) {
    let study = TempDir::new().unwrap();
    let error = import(study.path()).expect_err(&format!("{words:?}"));
    assert!(error.is_input(), "{error}");
    for words in words {
        assert!(error.to_string().contains(words), "`{words}` is not in: {error}");
    }
    let found: Vec<PathBuf> = files_below(study.path());
    assert!(
        found.iter().all(|path| path.extension().is_none_or(|extension| extension != "parquet")),
        "{found:?}"
    );
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}

#[test]
fn rejects_malformed_zips_with_a_remedy() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("log.eval");
    let none = LogOptions::default();
    let whole = fs::read(logs("inspect/add-small.eval")).unwrap();
    let given = |bytes: &[u8], words: &[&str]| {
        fs::write(&path, bytes).unwrap();
        assert_import_fails(|study| inspect(study, &path, &none), &[words, &["log.eval"]].concat());
    };
    for end in [100, whole.len() / 2, whole.len() - 1] {
        given(&whole[..end], &["copy it again"]);
    }
    given(b"", &["not an Inspect log", "`.eval`"]);
    given(b"PK", &["not an Inspect log"]);
    given(b"Once upon a time", &["not an Inspect log"]);
    given(&stored_zip(&[("a.txt", "hello")]), &["neither `header.json`"]);
    given(&stored_zip(&[("header.json", "{")]), &["`header.json`", "damaged"]);
    given(&stored_zip(&[("header.json", "{\"eval\": {}}")]), &["no `eval.task`"]);
    given(
        &stored_zip(&[("header.json", START), ("samples/1_epoch_1.json", "[1")]),
        &["1_epoch_1.json", "damaged"],
    );
    given(
        &stored_zip(&[("header.json", START), ("samples/1_epoch_1.json", "{\"id\": 1}")]),
        &["no scores", "inspect score"],
    );
    given(
        &stored_zip(&[("header.json", START), ("samples/a_epoch_1/sample.json", "{}")]),
        &["in chunks", "inspect log convert"],
    );
    let long = START.replace("\"m\"", &format!("\"{}\"", "m".repeat(513)));
    given(
        &stored_zip(&[("header.json", &long), ("samples/1_epoch_1.json", &sample("1", "a"))]),
        &["the model's name has 513 characters; expected at most 512"],
    );
    let mut flipped = whole.clone();
    let middle = flipped.len() / 3;
    flipped[middle..middle + 64].fill(0x55);
    given(&flipped, &["copy it again"]);
    fs::remove_file(&path).unwrap();
    assert_import_fails(|study| inspect(study, &path, &none), &["log.eval", "expected a file or directory"]);
    assert_import_fails(
        |study| inspect(study, folder.path(), &none),
        &["no Inspect logs found", "--log-dir"],
    );
    assert_import_fails(
        |study| inspect(study, &logs("inspect/chunked.eval"), &none),
        &["chunked.eval", "in chunks"],
    );
}

#[test]
fn rejects_truncated_json_logs() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("log.json");
    let whole = fs::read(logs("inspect/add.json")).unwrap();
    for end in [whole.len() / 2, whole.len() - 3] {
        fs::write(&path, &whole[..end]).unwrap();
        assert_import_fails(
            |study| inspect(study, &path, &LogOptions::default()),
            &["log.json", "copy it again"],
        );
    }
}

#[test]
fn rejects_malformed_lines_with_a_remedy() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("samples_t_2026-01-01T00-00-00.jsonl");
    let none = LogOptions::default();
    let line = r#"{"doc_id": 0, "target": "a", "arguments": [], "resps": [["x"]], "filtered_resps": ["x"], "acc": 1}"#;
    let given = |text: &str, words: &[&str]| {
        fs::write(&path, text).unwrap();
        assert_import_fails(|study| lm_eval(study, folder.path(), &none), &[words, &["samples_t_"]].concat());
    };
    given("", &["is empty"]);
    given("{", &["line 1", "fix or remove the line"]);
    given("[]", &["line 1"]);
    given("\u{0}\u{1}", &["line 1"]);
    given(&format!("{line}\n\n{{\"doc_id\": 1}}\n"), &["line 3", "missing field `resps`"]);
    given(&line.replace("\"doc_id\": 0", "\"doc_id\": -1"), &["line 1", "`doc_id` is -1"]);
    given(&line.replace("\"acc\": 1", "\"f1\": [0, 1]"), &["none of its metrics"]);
    fs::write(&path, line).unwrap();
    let study = TempDir::new().unwrap();
    let imported = lm_eval(study.path(), folder.path(), &none).unwrap();
    assert_eq!((only_unit(&imported).counts.n_e, only_unit(&imported).log_score), (1, None));

    fs::remove_file(&path).unwrap();
    assert_import_fails(
        |study| lm_eval(study, folder.path(), &none),
        &["no lm-eval logs found", "--output_path"],
    );
    assert_import_fails(
        |study| lm_eval(study, &logs("lm-eval/no-samples"), &none),
        &["results_", "`--log_samples`"],
    );
    let other = folder.path().join("notes.txt");
    fs::write(&other, "hello").unwrap();
    assert_import_fails(|study| lm_eval(study, &other, &none), &["notes.txt", "not an lm-eval log"]);
    fs::write(&path, line).unwrap();
    fs::write(folder.path().join("results_2026-01-01T00-00-00.json"), "{\"results\": 1}").unwrap();
    assert_import_fails(|study| lm_eval(study, folder.path(), &none), &["results_2026", "move it away"]);
}

#[test]
fn counts_duplicate_documents_once() {
    let folder = TempDir::new().unwrap();
    let line = |id: u32, acc: &str| {
        format!(
            r#"{{"doc_id": {id}, "target": "a", "arguments": [], "resps": [["x"]], "filtered_resps": ["x"], "filter": "none", "metrics": ["acc"], "acc": {acc}}}"#
        )
    };
    let text = [line(0, "1.0"), line(0, "1.0"), line(1, "NaN"), line(2, "true"), line(3, "false")].join("\n");
    fs::write(folder.path().join("samples_t_2026-01-01T00-00-00.jsonl"), text).unwrap();
    let study = TempDir::new().unwrap();
    let imported = lm_eval(study.path(), folder.path(), &LogOptions::default()).unwrap();
    let unit = only_unit(&imported);
    assert_eq!((unit.counts.n, unit.counts.n_e, unit.counts.missing()), (3, 2, 1));
    assert_eq!(unit.skipped, BTreeMap::from([("given twice", 1), ("no score", 1)]));
}
