//! Counters, against counts that were made another way.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::path::Path;

use rayon::prelude::*;
use reasonscape_core::Outcome;
use reasonscape_points::{
    Column, EvalInfo, Filter, Group, PointTrials, PointsDb, PointsError, Trial, TrialCounts, UnitWriter,
    Value,
};
use reasonscape_stats::{Confidence, Counters, Mode};
use tempfile::TempDir;

use super::test_env::{Draws, eval, file, open, point, provenance, rows, trial, trials, wait, write};

/// Shares that add up without rounding, so that sums can be compared to the bit.
const GUESSES: [f64; 4] = [0.0, 0.5, 0.25, 0.125];

/// A count that knows nothing of the program's.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct ExpectedCounts {
    points: u64,
    planned: u64,
    n: u64,
    correct: u64,
    truncated: u64,
    luck: f64,
    prompt_tokens: u64,
    completion_tokens: u64,
    with_completion_tokens: u64,
    latency_ms: u64,
    compressed_size: u64,
}

impl ExpectedCounts {
    fn add_trial(&mut self, trial: &Trial) {
        self.n += 1;
        match trial.status.code() {
            0 => self.luck += trial.guess,
            1 => {
                self.correct += 1;
                self.luck += trial.guess;
            }
            _ => self.truncated += 1,
        }
        self.prompt_tokens += trial.prompt_tokens.unwrap_or(0);
        self.completion_tokens += trial.completion_tokens.unwrap_or(0);
        self.with_completion_tokens += u64::from(trial.completion_tokens.is_some());
        self.latency_ms += trial.latency_ms;
        self.compressed_size += trial.compressed_size;
    }

    fn add(&mut self, other: &Self) {
        self.points += other.points;
        self.planned += other.planned;
        self.n += other.n;
        self.correct += other.correct;
        self.truncated += other.truncated;
        self.luck += other.luck;
        self.prompt_tokens += other.prompt_tokens;
        self.completion_tokens += other.completion_tokens;
        self.with_completion_tokens += other.with_completion_tokens;
        self.latency_ms += other.latency_ms;
        self.compressed_size += other.compressed_size;
    }

    fn of(points: u64, counts: &TrialCounts) -> Self {
        Self {
            points,
            planned: counts.planned,
            n: counts.n,
            correct: counts.n_e,
            truncated: counts.n_t,
            luck: counts.g,
            prompt_tokens: counts.prompt_tokens.sum,
            completion_tokens: counts.completion_tokens.sum,
            with_completion_tokens: counts.completion_tokens.n,
            latency_ms: counts.latency_ms,
            compressed_size: counts.compressed_size,
        }
    }

    fn counters(&self) -> Counters {
        Counters::new(self.n as f64, self.correct as f64, self.truncated as f64, self.luck).unwrap()
    }
}

/// A point of the large study.
#[derive(Debug)]
struct StudyPoint {
    eval: EvalInfo,
    task: &'static str,
    length: u64,
    kind: &'static str,
    manifolds: Vec<&'static str>,
    /// Trials that are answered here.
    n: u64,
}

impl StudyPoint {
    fn params(&self) -> String {
        format!(r#"{{"kind": "{}", "length": {}}}"#, self.kind, self.length)
    }

    /// The last place is the label's value: `arch:moe` is `moe`.
    fn facet(&self, name: &str) -> Option<&str> {
        self.eval.groups.iter().find_map(|group| group.strip_prefix(name)?.strip_prefix(':'))
    }
}

/// Evaluations that share models, and one that has no label.
fn evals() -> Vec<EvalInfo> {
    vec![
        eval("alpha", "zero-shot", "greedy-2k", &["arch:moe", "size:small"]),
        eval("alpha", "zero-shot", "greedy-4k", &["arch:moe", "size:small"]),
        eval("alpha", "few-shot", "greedy-2k", &["arch:moe"]),
        eval("beta", "zero-shot", "greedy-2k", &["arch:dense", "size:large"]),
        eval("a \"model\" \\ of's\u{e9}", "zero-shot", "greedy-2k", &["size:large", "plain"]),
        eval("gamma", "zero-shot", "greedy-2k", &[]),
    ]
}

/// Every point, with a million trials thrown at them by chance.
fn study_points() -> Vec<StudyPoint> {
    let mut draws = Draws(1);
    let mut study_points = Vec::new();
    for eval in evals() {
        for task in ["arithmetic", "boolean", "cars", "dates"] {
            for length in [4, 8, 16, 100] {
                for kind in ["a", "b", "c"] {
                    let mut manifolds = vec!["all"];
                    if length == 8 {
                        manifolds.push("eight");
                    }
                    study_points.push(StudyPoint { eval: eval.clone(), task, length, kind, manifolds, n: 0 });
                }
            }
        }
    }
    for _ in 0..1_000_000 {
        // Two draws, of which the smaller counts: some points have many trials and some have few.
        let end = study_points.len() as u64;
        let study_point = draws.below(end).min(draws.below(end));
        study_points[study_point as usize].n += 1;
    }
    study_points
}

fn random_trial(index: u64, draws: &mut Draws) -> Trial {
    let bits = draws.next();
    let status =
        [Outcome::Correct, Outcome::Correct, Outcome::Incorrect, Outcome::Truncated][(bits & 3) as usize];
    let mut trial = trial(index, status, GUESSES[(bits >> 2 & 3) as usize]);
    trial.prompt_tokens = Some(bits >> 8 & 0xff);
    trial.completion_tokens = (bits >> 4 & 1 == 0).then_some(bits >> 16 & 0xfff);
    trial.latency_ms = bits >> 32 & 0xfff;
    trial.compressed_size = bits >> 48 & 0xfff;
    trial
}

/// Writes the large study and counts it on the way, trial by trial.
fn write_large(
    study: &Path,
    study_points: &[StudyPoint],
) -> HashMap<(String, &'static str, String), ExpectedCounts> {
    let units: BTreeMap<(&EvalInfo, &'static str), Vec<&StudyPoint>> =
        study_points.iter().fold(BTreeMap::new(), |mut units, study_point| {
            units.entry((&study_point.eval, study_point.task)).or_insert_with(Vec::new).push(study_point);
            units
        });
    let units: Vec<_> = units.into_iter().collect();
    units
        .into_par_iter()
        .enumerate()
        .flat_map_iter(|(number, ((eval, task), study_points))| {
            let mut draws = Draws(number as u64 + 1000);
            let mut writer = UnitWriter::new(study, eval.clone(), task).unwrap();
            let mut tallies = Vec::new();
            for study_point in study_points {
                // A few were never answered.
                let mut tally = ExpectedCounts {
                    points: 1,
                    planned: study_point.n + study_point.length % 3,
                    ..ExpectedCounts::default()
                };
                let trials: Vec<Trial> =
                    (0..study_point.n).map(|index| random_trial(index, &mut draws)).collect();
                for trial in &trials {
                    tally.add_trial(trial);
                }
                let params = study_point.params();
                let manifolds = study_point.manifolds.iter().map(|id| (*id).to_owned()).collect();
                let point = PointTrials {
                    params: params.clone(),
                    manifolds,
                    planned: tally.planned,
                    trials,
                    ..PointTrials::default()
                };
                writer.write_point(point).unwrap();
                tallies.push(((eval.eval_id.clone(), task, params), tally));
            }
            writer.finish(&provenance(1)).unwrap();
            tallies
        })
        .collect()
}

/// Leaves the million trials where `tests/duckdb/check.py` can read them.
#[test]
#[ignore = "makes a study for another program; name the folder in REASONSCAPE_STUDY"]
fn writes_a_large_study() {
    let folder = std::env::var_os("REASONSCAPE_STUDY").expect("REASONSCAPE_STUDY names a folder");
    write_large(Path::new(&folder), &study_points());
}

/// The keys that a point has in a grouping.
type Keys = fn(&StudyPoint) -> Vec<Vec<Value>>;

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

#[test]
fn counters_of_a_million_trials_match_a_direct_count() {
    let study = TempDir::new().unwrap();
    let study_points = study_points();
    let counted = write_large(study.path(), &study_points);
    assert_eq!(counted.values().map(|tally| tally.n).sum::<u64>(), 1_000_000);
    let db = open(study.path());
    assert!(db.remarks().is_empty(), "{:?}", db.remarks());

    let groupings: [(&[&str], Keys); 7] = [
        (&[], |_| vec![vec![]]),
        (&["model"], |study_point| vec![vec![text(&study_point.eval.model)]]),
        (&["model", "base_task"], |study_point| {
            vec![vec![text(&study_point.eval.model), text(study_point.task)]]
        }),
        (&["base_task", "params.length"], |study_point| {
            vec![vec![text(study_point.task), Value::Number(study_point.length as f64)]]
        }),
        (&["facets.size"], |study_point| vec![vec![study_point.facet("size").map_or(Value::Missing, text)]]),
        (&["manifold"], |study_point| study_point.manifolds.iter().map(|id| vec![text(id)]).collect()),
        (&["model", "template", "sampler", "base_task", "params"], |study_point| {
            let EvalInfo { model, template, sampler, .. } = &study_point.eval;
            vec![vec![
                text(model),
                text(template),
                text(sampler),
                text(study_point.task),
                text(&study_point.params()),
            ]]
        }),
    ];
    for (columns, keys) in groupings {
        let mut expected: HashMap<String, ExpectedCounts> = HashMap::new();
        for study_point in &study_points {
            let tally = &counted[&(study_point.eval.eval_id.clone(), study_point.task, study_point.params())];
            for key in keys(study_point) {
                expected.entry(format!("{key:?}")).or_default().add(tally);
            }
        }
        let columns: Vec<Column> = columns.iter().map(|name| name.parse().unwrap()).collect();
        for mode in Mode::ALL {
            let groups = wait(db.aggregate(&columns, &Filter::default(), mode.into())).unwrap();
            assert_eq!(groups.len(), expected.len(), "{columns:?}");
            for Group { key, points, counts, estimate } in groups {
                let tally = &expected[&format!("{key:?}")];
                assert_eq!(ExpectedCounts::of(points, &counts), *tally, "{columns:?} {key:?}");
                assert_eq!(estimate, mode.estimate(&tally.counters(), Confidence::P95), "{mode} {key:?}");
            }
        }
    }

    for mode in Mode::ALL {
        let points = wait(db.query_points(&Filter::default(), mode.into())).unwrap();
        assert_eq!(points.len(), counted.len());
        let mut seen = HashSet::new();
        for point in points {
            let key = (
                point.eval_id,
                *["arithmetic", "boolean", "cars", "dates"]
                    .iter()
                    .find(|task| **task == point.base_task)
                    .unwrap(),
                point.params,
            );
            let tally = &counted[&key];
            assert_eq!(ExpectedCounts::of(1, &point.counts), *tally, "{key:?}");
            assert_eq!(point.estimate, mode.estimate(&tally.counters(), Confidence::P95), "{mode} {key:?}");
            assert!(seen.insert(key), "every point comes once");
        }
    }

    // The trials themselves, counted by the engine.
    let question = "SELECT model, base_task, count(*), sum(CASE WHEN status = 1 THEN 1 ELSE 0 END), \
                    sum(CASE WHEN status = 2 THEN 1 ELSE 0 END), sum(CASE WHEN status < 2 THEN guess ELSE 0 END) \
                    FROM trials GROUP BY model, base_task";
    let by_engine = rows(&db, question).unwrap();
    let groups =
        wait(db.aggregate(&[Column::Model, Column::BaseTask], &Filter::default(), Mode::C_P.into())).unwrap();
    assert_eq!(by_engine.len(), groups.len());
    for row in by_engine {
        let key = [text(row[0].as_str().unwrap()), text(row[1].as_str().unwrap())];
        let TrialCounts { n, n_e, n_t, g, .. } = groups.iter().find(|group| group.key == key).unwrap().counts;
        assert_eq!(serde_json::json!(row[2..]), serde_json::json!([n, n_e, n_t, g]), "{key:?}");
    }
}

/// What a study comes to in all.
fn total(db: &PointsDb) -> TrialCounts {
    let groups = wait(db.aggregate(&[], &Filter::default(), Mode::C_P.into())).unwrap();
    assert_eq!(groups.len(), 1);
    groups[0].counts
}

const SHORT: &str = r#"{"length": 8}"#;
const LONG: &str = r#"{"length": 16}"#;

/// A study of two points, and the evaluation that it is of.
fn small_study() -> (TempDir, EvalInfo) {
    let study = TempDir::new().unwrap();
    let eval = eval("alpha", "zero-shot", "greedy-2k", &["arch:moe"]);
    let points =
        vec![point(SHORT, &["m"], trials("cccit", 0.5)), point(LONG, &["m", "o"], trials("ciit", 0.5))];
    write(study.path(), &eval, "boolean", points);
    (study, eval)
}

fn copy(study: &Path, kind: &str, eval: &EvalInfo, task: &str, name: &str) {
    let from = file(study, kind, eval, task);
    fs::copy(&from, from.with_file_name(name)).unwrap();
}

fn sql_total(db: &PointsDb) -> u64 {
    rows(db, "SELECT count(*) FROM trials").unwrap()[0][0].as_u64().unwrap()
}

#[test]
fn counts_duplicate_trials_once() {
    let (study, eval) = small_study();
    let before = total(&open(study.path()));
    let twice = |ends: &str| [trials(ends, 0.5), trials(ends, 0.5)].concat();
    let points = vec![
        PointTrials { planned: 5, ..point(SHORT, &["m"], twice("cccit")) },
        PointTrials { planned: 4, ..point(LONG, &["m", "o"], twice("ciit")) },
    ];
    let written = write(study.path(), &eval, "boolean", points);
    assert_eq!(written, before);
    let db = open(study.path());
    assert_eq!(total(&db), before);
    assert_eq!(sql_total(&db), 9);
    assert!(db.remarks().is_empty(), "{:?}", db.remarks());
}

#[test]
fn counts_repeats_as_trials() {
    let (study, eval) = small_study();
    let again = trials("ccc", 0.5).into_iter().map(|trial| Trial { repeat: 1, ..trial });
    let all = trials("ccc", 0.5).into_iter().chain(again).collect();
    write(study.path(), &eval, "boolean", vec![point(SHORT, &["m"], all)]);
    assert_eq!(total(&open(study.path())).n, 6);
}

#[test]
fn merges_duplicate_points() {
    let (study, eval) = small_study();
    let points = vec![
        point(SHORT, &["m"], trials("cccit", 0.5)),
        point(LONG, &["m", "o"], trials("ciit", 0.5)),
        point(SHORT, &["o"], trials("cccitc", 0.5)),
    ];
    let written = write(study.path(), &eval, "boolean", points);
    assert_eq!((written.n, written.n_e, written.planned), (10, 5, 10));
    let db = open(study.path());
    assert_eq!(total(&db), written);
    assert_eq!(sql_total(&db), 10);
    let points = wait(db.query_points(&Filter::default(), Mode::C_I.into())).unwrap();
    assert_eq!(points.len(), 2);
    assert!(points.iter().all(|point| point.manifolds == ["m", "o"]), "{points:?}");
}

#[test]
fn ignores_and_reports_copied_trial_files() {
    let (study, eval) = small_study();
    let before = total(&open(study.path()));
    copy(study.path(), "trials", &eval, "boolean", "copy.parquet");
    let db = open(study.path());
    assert_eq!(total(&db), before);
    assert_eq!(sql_total(&db), 9);
    let remarks = db.remarks().join("\n");
    assert!(remarks.contains("9 trials are stored more than once and count once"), "{remarks}");
    assert!(remarks.contains("`alpha` on boolean"), "{remarks}");
    let points = wait(db.query_points(&Filter::default(), Mode::C_I.into())).unwrap();
    let manifolds: Vec<usize> = points.iter().map(|point| point.manifolds.len()).collect();
    assert_eq!(manifolds, [2, 1], "what trials do not say is still known: {points:?}");

    // Both files of the pair, as somebody might keep an old folder beside the new one.
    copy(study.path(), "points", &eval, "boolean", "copy.parquet");
    let db = open(study.path());
    assert_eq!((total(&db), sql_total(&db)), (before, 9));

    // And in another folder.
    let elsewhere = study.path().join("trials/backup/2026");
    fs::create_dir_all(&elsewhere).unwrap();
    fs::copy(file(study.path(), "trials", &eval, "boolean"), elsewhere.join("old.parquet")).unwrap();
    let db = open(study.path());
    assert_eq!((total(&db), sql_total(&db)), (before, 9));
}

#[test]
fn counts_the_union_of_overlapping_files() {
    let (study, eval) = small_study();
    copy(study.path(), "trials", &eval, "boolean", "first.parquet");
    // Later trials of one point, of which the first five are known, and one that was answered anew and worse.
    let mut more = trials("cccitcc", 0.5);
    more[0].status = Outcome::Incorrect;
    more[0].received_ms += 1_000_000;
    write(study.path(), &eval, "boolean", vec![point(SHORT, &["m"], more)]);
    let db = open(study.path());
    let counts = total(&db);
    assert_eq!((counts.n, counts.n_e, counts.n_t, counts.g), (11, 6, 2, 4.5));
    assert_eq!(sql_total(&db), 11);
}

#[test]
fn recounts_counters_that_do_not_match_their_trials() {
    let (study, eval) = small_study();
    let points = file(study.path(), "points", &eval, "boolean");
    let stale = fs::read(&points).unwrap();
    let new =
        vec![point(SHORT, &["m"], trials("cccccc", 0.5)), point(LONG, &["m", "o"], trials("iiii", 0.5))];
    let after = write(study.path(), &eval, "boolean", new);
    assert_eq!(total(&open(study.path())), after);
    fs::write(&points, stale).unwrap();
    let db = open(study.path());
    assert_eq!(total(&db), after);
    let remarks = db.remarks().join("\n");
    assert!(
        remarks.contains("`alpha` on boolean do not match their counters and were counted again"),
        "{remarks}"
    );
    assert!(remarks.contains("`reasonscape evaluate` repairs the counters"), "{remarks}");
    assert!(!remarks.contains("stored more than once"), "{remarks}");

    fs::remove_file(&points).unwrap();
    let db = open(study.path());
    assert_eq!(total(&db), after, "trials alone are counted too");
    assert_eq!(db.remarks().len(), 1, "{:?}", db.remarks());
    let groups =
        wait(db.aggregate(&["facets.arch".parse().unwrap()], &Filter::default(), Mode::C_P.into())).unwrap();
    assert_eq!(groups[0].key, [text("moe")], "labels are in either file");
}

#[test]
fn unanswered_points_stay_missing_after_a_recount() {
    let (study, eval) = small_study();
    let unanswered = PointTrials { planned: 7, ..point(r#"{"length": 32}"#, &["m"], Vec::new()) };
    write(study.path(), &eval, "boolean", vec![point(SHORT, &["m"], trials("cccit", 0.5)), unanswered]);
    let missing = |db: &PointsDb| {
        let points = wait(db.query_points(&Filter::default(), Mode::C_I.into())).unwrap();
        points
            .iter()
            .map(|point| (point.params.clone(), point.counts.n, point.counts.missing()))
            .collect::<Vec<_>>()
    };
    let db = open(study.path());
    let before = missing(&db);
    assert_eq!(before, [(r#"{"length": 32}"#.to_owned(), 0, 7), (SHORT.to_owned(), 5, 0)]);
    let points = wait(db.query_points(&Filter::default(), Mode::C_I.into())).unwrap();
    let nothing = &points[0].estimate;
    assert_eq!((nothing.low, nothing.high, nothing.point), (0.0, 1.0, None));
    copy(study.path(), "trials", &eval, "boolean", "copy.parquet");
    assert_eq!(missing(&open(study.path())), before);
}

#[test]
fn uses_counters_without_trials() {
    let (study, eval) = small_study();
    let before = total(&open(study.path()));
    fs::remove_dir_all(study.path().join("trials")).unwrap();
    let db = open(study.path());
    assert_eq!(total(&db), before);
    assert!(db.remarks().is_empty());
    assert_eq!(sql_total(&db), 0);

    copy(study.path(), "points", &eval, "boolean", "copy.parquet");
    let error = wait(PointsDb::open(study.path())).unwrap_err();
    assert!(error.is_input());
    let words = error.to_string();
    assert!(words.contains("copy.parquet") && words.contains("points.parquet"), "{words}");
    assert!(words.contains("remove one"), "{words}");
}

#[test]
fn reports_a_study_without_trials() {
    let study = TempDir::new().unwrap();
    let error = wait(PointsDb::open(study.path())).unwrap_err();
    assert!(matches!(error, PointsError::Empty { .. }) && error.is_input());
    assert!(error.to_string().contains("`reasonscape run` sends"), "{error}");
}

#[test]
fn groups_params_that_differ_only_in_number_format() {
    let study = TempDir::new().unwrap();
    let eval = eval("alpha", "zero-shot", "greedy-2k", &[]);
    let at = |params: &str, ends: &str| point(params, &["m"], trials(ends, 0.0));
    write(study.path(), &eval, "boolean", vec![at(r#"{"x": 1}"#, "cc"), at(r#"{"x": 10}"#, "c")]);
    write(
        study.path(),
        &eval,
        "cars",
        vec![at(r#"{"x": 1.0}"#, "ci"), at(r#"{"x": 9}"#, "c"), at("{}", "i")],
    );
    let db = open(study.path());
    let groups =
        wait(db.aggregate(&["params.x".parse().unwrap()], &Filter::default(), Mode::E_I.into())).unwrap();
    let found: Vec<_> =
        groups.iter().map(|group| (group.key[0].to_string(), group.points, group.counts.n)).collect();
    let expected = [("-", 1, 1), ("1", 2, 4), ("9", 1, 1), ("10", 1, 1)];
    assert_eq!(found, expected.map(|(key, points, n)| (key.to_owned(), points, n)));
    let four = Counters::new(4.0, 3.0, 0.0, 0.0).unwrap();
    assert_eq!(groups[1].estimate, Mode::E_I.estimate(&four, Confidence::P95));
}
