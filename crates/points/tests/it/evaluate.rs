//! From a cache to trials: a study whose cache is filled in process, evaluated, and looked at from outside.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::SystemTime;

use reasonscape_cache::{Cache, Entry, EntryFilter, Response};
use reasonscape_core::{CacheKey, EntryId};
use reasonscape_core::{Json, Outcome, Point, Reply, Test, TestStream, canonical_json, score};
use reasonscape_ingest::Progress;
use reasonscape_points::{Column, EvaluateOptions, Evaluated, Filter, PointsDb, evaluate};
use reasonscape_providers::{Completion, Finish};
use reasonscape_simulator::{ResolvedPrompt, SimulatedModel, Simulator};
use reasonscape_stats::Mode;
use reasonscape_study::{Eval, Examples, Selection, Study, TemplateInput};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::files::{file_names, rewrite, set};
use super::test_env::{open, rows, wait};

/// Four points of three tasks: two that are written in, one to choose from.
const SUITE: &str = r#"
name = "small"
description = "four points"
count = 8

[[manifold]]
id = "arithmetic"
task = "arithmetic@1"
points = [{ length = 8, max_depth = 2 }, { length = 24, max_depth = 4, max_number = 99 }]
view = [{ x = "length" }]

[[manifold]]
id = "brackets"
task = "brackets@1"
points = [{ length = 20, max_depth = 6 }]

[[manifold]]
id = "boolean"
task = "boolean@1"
points = [{ length = 8 }]
"#;

/// Tests at each point that the simulated models know.
const KNOWN: usize = 64;

pub(crate) struct TestEnv {
    pub(crate) folder: TempDir,
    simulator: Simulator,
}

/// A test that was asked, and what came back.
struct Exchange {
    index: usize,
    repeat: u32,
    test: Test,
    task: &'static dyn reasonscape_core::Task,
    params: String,
    key: CacheKey,
    completion: Completion,
    latency_ms: u64,
}

impl TestEnv {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("small.toml"), SUITE).unwrap();
        let suite = reasonscape_core::Suite::parse(SUITE).unwrap();
        let simulator = Simulator::new(&[suite], Some(KNOWN), 7);
        Self { folder, simulator }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn cache(&self) -> Cache {
        Cache::open(self.cache_path()).unwrap()
    }

    fn cache_path(&self) -> PathBuf {
        self.path().join("cache.sqlite")
    }

    pub(crate) fn study(&self, top: &str, evals: &[&str]) -> Study {
        let evals: String = evals
            .iter()
            .map(|lines| format!("[[eval]]\nbase_url = \"http://127.0.0.1:1/v1\"\n{lines}\n"))
            .collect();
        fs::write(self.path().join(Study::FILE), format!("suite = \"small.toml\"\n{top}\n{evals}")).unwrap();
        Study::load(self.path()).unwrap()
    }

    /// Puts the answers to the tests that are wanted into the cache.
    fn fill(&self, study: &Study, eval: &Eval, wanted: impl Fn(&Point<'_>, usize) -> bool) -> Vec<Exchange> {
        let model = SimulatedModel::by_name(&eval.model).unwrap();
        let mut importer = self.cache().importer().unwrap();
        let mut exchanges = Vec::new();
        for point in study.suite.points() {
            let examples = Examples::new(point.task, point.params, study.seed, eval.template.shots);
            let tests = TestStream::new(point.task, point.params, study.seed).take(KNOWN).enumerate();
            for (index, test) in tests.filter(|(index, _)| wanted(&point, *index)) {
                let input = TemplateInput { task: point.task, test: &test, examples: &examples };
                let payload = eval.payload(&eval.template.render(&input).unwrap());
                let request = canonical_json(&Json::from(&payload));
                let key = CacheKey::from_canonical_json(&request);
                for repeat in 0..study.repeats {
                    let max_tokens = 300;
                    let asked = ResolvedPrompt {
                        max_tokens,
                        repeat: repeat.into(),
                        ..ResolvedPrompt::new(&test.prompt)
                    };
                    let completion = self.simulator.complete(&model, &asked);
                    let latency_ms = 10 + index as u64;
                    let response = Response {
                        status: 200,
                        latency_ms,
                        latency_us: (index % 2 == 0).then(|| 1_000 * latency_ms + 345),
                        received_ms: 1_700_000_000_000 + index as i64,
                        body: body(&completion),
                    };
                    let namespace = Arc::from(eval.cache_namespace.as_str());
                    let id = EntryId { key, namespace, repeat };
                    importer.add(&Entry { id, request: request.clone(), response }).unwrap();
                    exchanges.push(Exchange {
                        index,
                        repeat,
                        test: test.clone(),
                        task: reasonscape_core::tasks::by_stored_name(point.task.name()).unwrap(),
                        params: canonical_json(&point.params.to_json()),
                        key,
                        completion,
                        latency_ms,
                    });
                }
            }
        }
        importer.finish().unwrap();
        exchanges
    }

    fn fill_planned(&self, study: &Study) {
        self.fill_to(study, 8);
    }

    /// Answers the first tests of every point for every evaluation.
    pub(crate) fn fill_to(&self, study: &Study, count: usize) {
        for eval in &study.evals {
            self.fill(study, eval, |_, index| index < count);
        }
    }

    pub(crate) fn evaluate(&self, study: &Study) -> Evaluated {
        evaluate(study, &self.cache(), &EvaluateOptions::default(), &Progress::default(), None).unwrap()
    }

    /// Every file of trials and points, with when it was written and what is in it.
    pub(crate) fn files(&self) -> BTreeMap<PathBuf, (SystemTime, Vec<u8>)> {
        let mut found = BTreeMap::new();
        let mut folders = vec![self.path().join("trials"), self.path().join("points")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).into_iter().flatten() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let written = fs::metadata(&path).unwrap().modified().unwrap();
                    found.insert(path.clone(), (written, fs::read(&path).unwrap()));
                }
            }
        }
        found
    }
}

/// A reply as OpenAI writes it.
fn body(completion: &Completion) -> Vec<u8> {
    let finish = if completion.finish == Finish::Length { "length" } else { "stop" };
    let mut message = json!({ "role": "assistant", "content": completion.content });
    if let Some(reasoning) = &completion.reasoning {
        message["reasoning_content"] = reasoning.as_str().into();
    }
    let usage = json!({
        "prompt_tokens": completion.usage.prompt_tokens,
        "completion_tokens": completion.usage.completion_tokens,
        "completion_tokens_details": { "reasoning_tokens": completion.usage.reasoning_tokens },
    });
    let choice = json!({ "index": 0, "message": message, "finish_reason": finish });
    json!({ "choices": [choice], "usage": usage }).to_string().into_bytes()
}

const STRONG: &str = "model = \"sim-strong\"\ngroups = [\"arch:moe\"]";
const CHEAP: &str = "model = \"sim-cheap\"";

fn written(evaluated: &Evaluated) -> Vec<(&str, &str)> {
    let units = evaluated.units.iter().filter(|unit| unit.written);
    units.map(|unit| (unit.name.as_str(), unit.base_task.as_str())).collect()
}

/// (planned, n, missing) of an evaluation in all.
fn counted(db: &PointsDb, eval: &Eval) -> (u64, u64, u64) {
    let filter = Filter::parse([format!("eval_id={}", eval.id)]).unwrap();
    let counts = wait(db.aggregate(&[], &filter, Mode::C_P.into())).unwrap()[0].counts;
    (counts.planned, counts.n, counts.missing())
}

#[test]
fn trials_match_direct_scoring() {
    let env = TestEnv::new();
    let names = ["sim-strong", "sim-truncating", "sim-cheap", "sim-guessing", "sim-p0.6-t0.3"];
    let evals = names.map(|name| format!("model = \"{name}\""));
    let study = env.study("", &evals.each_ref().map(String::as_str));
    let (mut compressed_texts, mut sizes) = (Vec::new(), Vec::new());
    let mut ends = BTreeMap::new();
    for eval in &study.evals {
        let exchanges = env.fill(&study, eval, |_, index| index < 8);
        assert_eq!(exchanges.len(), 4 * 8);
        let evaluated = env.evaluate(&study);
        assert_eq!((evaluated.stopped, evaluated.damage), (false, None));
        let db = open(env.path());
        let found = rows(
            &db,
            &format!(
                "SELECT model, template, sampler, base_task, params, \"index\", repeat, status, guess, prompt_tokens, \
                 completion_tokens, reasoning_tokens, latency_ms, received_ms, reasoning_chars, answer_chars, finish, \
                 method, answer, target, cache_key, latency_us, prob_correct, compressed_size FROM trials WHERE eval_id = '{}'",
                eval.id
            ),
        )
        .unwrap();
        assert_eq!(found.len(), exchanges.len());
        for Exchange { index, repeat, test, task, params, key, completion, latency_ms } in exchanges {
            let mut row = found
                .iter()
                .find(|row| row[3] == task.name() && row[4] == *params && row[5] == index)
                .unwrap()
                .clone();
            sizes.push(row.pop().unwrap().as_u64().unwrap());
            let reply = Reply { content: &completion.content, reasoning: completion.reasoning.as_deref() };
            let truncated = completion.finish == Finish::Length;
            let (status, extraction) = score(task, &test, &reply, truncated);
            *ends.entry((status, test.options.is_empty())).or_insert(0) += 1;
            let reasoning = extraction.reasoning.as_deref();
            compressed_texts.push(reasoning.unwrap_or(&completion.content).to_owned());
            let answer = if status == Outcome::Truncated { Value::Null } else { json!(extraction.answer) };
            let expected = json!([
                eval.model,
                eval.template.name,
                eval.sampler.name,
                task.name(),
                params,
                index,
                repeat,
                status.code(),
                test.guess(),
                completion.usage.prompt_tokens,
                completion.usage.completion_tokens,
                completion.usage.reasoning_tokens,
                latency_ms,
                1_700_000_000_000_u64 + index as u64,
                reasoning.unwrap_or_default().chars().count(),
                extraction.text.chars().count(),
                if truncated { "length" } else { "stop" },
                extraction.method.name(),
                answer,
                test.target,
                key.to_string(),
                (index % 2 == 0).then(|| 1_000 * latency_ms + 345),
                Value::Null,
            ]);
            assert_eq!(json!(row), expected);
        }
    }
    // A test that cannot fail would be one in which nobody was wrong, or nobody was cut off.
    for status in [Outcome::Incorrect, Outcome::Correct, Outcome::Truncated] {
        assert!(ends.contains_key(&(status, true)) && ends.contains_key(&(status, false)), "{ends:?}");
    }
    let script = "import gzip, json, sys\nfor text in json.load(sys.stdin): print(len(gzip.compress(text.encode(), 9)))";
    let Some(extraction) = reasonscape_test_support::python(script, &json!(compressed_texts).to_string())
    else {
        return;
    };
    let extraction: Vec<u64> = extraction.lines().map(|line| line.parse().unwrap()).collect();
    assert_eq!(sizes, extraction);
}

/// Makes the files of a study what the program before format 3 wrote.
fn downgrade_to_format_2(study: &Path) {
    let files = ["trials", "points"].map(|kind| file_names(&study.join(kind)));
    for path in files.iter().flatten() {
        rewrite(
            path,
            |metadata| {
                set(metadata, "reasonscape.format", "2");
                let pair = metadata.iter_mut().find(|pair| pair.key == "reasonscape.provenance").unwrap();
                let mut provenance: Value = serde_json::from_str(pair.value.as_ref().unwrap()).unwrap();
                provenance["inputs"] = "of format 2".into();
                pair.value = Some(provenance.to_string());
            },
            |batch| {
                let schema = batch.schema();
                let is_kept = |name: &str| !["latency_us", "prob_correct"].contains(&name);
                let kept = (0..batch.num_columns()).filter(|place| is_kept(schema.field(*place).name()));
                batch.project(&kept.collect::<Vec<_>>()).unwrap()
            },
        );
    }
}

#[test]
fn files_of_format_2_stay_valid_and_are_filled_when_they_are_scored_again() {
    const COUNTS: &str = "SELECT count(*), count(latency_us), sum(status) FROM trials";
    let env = TestEnv::new();
    let study = env.study("", &[STRONG, CHEAP]);
    env.fill_planned(&study);
    env.evaluate(&study);
    let filled = rows(&open(env.path()), COUNTS).unwrap();
    assert_eq!((&filled[0][0], &filled[0][1]), (&json!(64), &json!(32)));
    downgrade_to_format_2(env.path());
    let db = open(env.path());
    assert!(db.remarks().is_empty(), "{:?}", db.remarks());
    assert_eq!(rows(&db, COUNTS).unwrap(), [[json!(64), json!(0), filled[0][2].clone()]]);
    let evaluated = env.evaluate(&study);
    assert!(evaluated.units.iter().all(|unit| unit.written && unit.kept.is_none()));
    assert_eq!(rows(&open(env.path()), COUNTS).unwrap(), filled);

    // Trials whose responses are gone are not given up for a new column.
    downgrade_to_format_2(env.path());
    Cache::open(study.cache_path()).unwrap().prune(&EntryFilter::default()).unwrap();
    let evaluated = env.evaluate(&study);
    assert!(evaluated.units.iter().all(|unit| !unit.written && unit.kept.is_some()));
    assert_eq!(rows(&open(env.path()), COUNTS).unwrap(), [[json!(64), json!(0), filled[0][2].clone()]]);
}

#[test]
fn unanswered_tests_are_missing_and_not_counted() {
    let env = TestEnv::new();
    let study = env.study("", &[STRONG, CHEAP]);
    let third = |_: &Point<'_>, index: usize| index < 8 && index.is_multiple_of(3);
    assert_eq!(env.fill(&study, &study.evals[0], third).len(), 12);
    let evaluated = env.evaluate(&study);
    let db = open(env.path());
    assert_eq!(counted(&db, &study.evals[0]), (32, 12, 20));
    assert_eq!(counted(&db, &study.evals[1]), (32, 0, 32));
    let summed: u64 = evaluated.units.iter().map(|unit| unit.counts.missing()).sum();
    assert_eq!(summed, 52);
    assert!(evaluated.units.iter().all(|unit| unit.damaged == 0 && unit.written));
    let groups = wait(db.aggregate(&[Column::Model], &Filter::default(), Mode::C_P.into())).unwrap();
    let nothing = &groups[0];
    assert_eq!((nothing.key[0].to_string().as_str(), nothing.estimate.point), ("sim-cheap", None));
}

#[test]
fn reports_damaged_entries_and_counts_them_as_missing() {
    let env = TestEnv::new();
    let study = env.study("", &[STRONG]);
    let exchanges = env.fill(&study, &study.evals[0], |_, index| index < 8);
    let lost = |exchange: &Exchange| exchange.task.name() == "brackets" && exchange.index < 2;
    let connection = rusqlite::Connection::open(env.cache_path()).unwrap();
    for exchange in exchanges.iter().filter(|exchange| lost(exchange)) {
        let changed = connection.execute(
            "UPDATE entries SET exchange = substr(exchange, 1, length(exchange) - 3) WHERE key = ?1",
            [exchange.key.0],
        );
        assert_eq!(changed, Ok(1));
    }
    // An error page that got into the cache of some other program, and a reply that is none.
    let bodies = [(200, "<html>busy</html>"), (500, "{}")];
    for (exchange, (status, body)) in
        exchanges.iter().filter(|exchange| exchange.task.name() == "boolean").zip(bodies)
    {
        connection.execute("DELETE FROM entries WHERE key = ?1", [exchange.key.0]).unwrap();
        let mut importer = env.cache().importer().unwrap();
        let examples = Examples::new(exchange.task, study.suite.points()[3].params, study.seed, 0);
        let input = TemplateInput { task: exchange.task, test: &exchange.test, examples: &examples };
        let payload = study.evals[0].payload(&study.evals[0].template.render(&input).unwrap());
        let request = canonical_json(&Json::from(&payload));
        let response = Response {
            status,
            latency_ms: 0,
            latency_us: None,
            received_ms: 0,
            body: body.as_bytes().to_vec(),
        };
        importer.add(&Entry { id: EntryId::new(exchange.key), request, response }).unwrap();
        importer.finish().unwrap();
    }
    let evaluated = env.evaluate(&study);
    let units: Vec<_> = evaluated
        .units
        .iter()
        .map(|unit| (unit.base_task.as_str(), unit.counts.n, unit.counts.missing(), unit.damaged))
        .collect();
    assert_eq!(units, [("arithmetic", 16, 0, 0), ("boolean", 6, 2, 2), ("brackets", 6, 2, 2)]);
    let damage = evaluated.damage.unwrap();
    assert!(exchanges.iter().any(|exchange| damage.contains(&exchange.key.to_string())), "{damage}");
}

#[test]
fn does_not_rewrite_unchanged_files() {
    let env = TestEnv::new();
    let study = env.study("", &[STRONG, CHEAP]);
    env.fill_planned(&study);
    let first = env.evaluate(&study);
    assert_eq!(written(&first).len(), 6);
    let before = env.files();
    assert_eq!(before.len(), 12);

    let second = env.evaluate(&study);
    assert_eq!(written(&second), []);
    assert_eq!(env.files(), before, "no file was touched");
    let counts = |evaluated: &Evaluated| evaluated.units.iter().map(|unit| unit.counts).collect::<Vec<_>>();
    assert_eq!(counts(&second), counts(&first), "what was skipped is counted all the same");

    // New answers of one model concern that one alone.
    env.fill(&study, &study.evals[1], |_, index| index == 9);
    let third = env.evaluate(&study);
    assert!(written(&third).iter().all(|(name, _)| *name == "sim-cheap"), "{third:?}");
    assert_eq!(written(&third).len(), 3);
    assert_eq!(written(&env.evaluate(&study)), []);

    let progress = Progress::default();
    let options = EvaluateOptions { force: true, ..EvaluateOptions::default() };
    let forced = evaluate(&study, &env.cache(), &options, &progress, None).unwrap();
    assert_eq!(written(&forced).len(), 6);
    assert_eq!(counts(&forced), counts(&third));
    let (total, done) = (progress.total.load(Ordering::Relaxed), progress.done.load(Ordering::Relaxed));
    // The cache has no marks, so the answers beyond the plan take a second walk over the points of their model.
    assert_eq!((total, done), (96, 96));
    assert!(progress.bytes.load(Ordering::Relaxed) > 1000);
    assert!(open(env.path()).remarks().is_empty());
}

#[test]
fn rewrites_files_when_their_inputs_change() {
    let env = TestEnv::new();
    let study = env.study("", &[STRONG, CHEAP]);
    env.fill_planned(&study);
    env.evaluate(&study);

    let study = env.study("", &[&STRONG.replace("moe", "dense"), CHEAP]);
    let evaluated = env.evaluate(&study);
    assert_eq!(written(&evaluated).len(), 3, "{evaluated:?}");
    let db = open(env.path());
    let by_arch =
        wait(db.aggregate(&["facets.arch".parse().unwrap()], &Filter::default(), Mode::C_P.into())).unwrap();
    assert_eq!(by_arch.iter().map(|group| group.key[0].to_string()).collect::<Vec<_>>(), ["-", "dense"]);

    let study = env.study("count = 12", &[&STRONG.replace("moe", "dense"), CHEAP]);
    assert_eq!(written(&env.evaluate(&study)).len(), 6, "more is planned");
    assert_eq!(counted(&open(env.path()), &study.evals[0]), (48, 32, 16));

    // A file that is lost, damaged, or not of its pair.
    let files: Vec<PathBuf> = env.files().into_keys().collect();
    fs::remove_file(&files[0]).unwrap();
    assert_eq!(written(&env.evaluate(&study)).len(), 1);
    fs::write(&files[0], "no Parquet").unwrap();
    assert_eq!(written(&env.evaluate(&study)).len(), 1);
    let (points, trials): (Vec<_>, Vec<_>) =
        files.into_iter().partition(|file| file.ends_with("points.parquet"));
    let stale = fs::read(&points[0]).unwrap();
    let options = EvaluateOptions { force: true, ..EvaluateOptions::default() };
    evaluate(&study, &env.cache(), &options, &Progress::default(), None).unwrap();
    fs::write(&points[0], stale).unwrap();
    assert_eq!(open(env.path()).remarks().len(), 1);
    assert_eq!(written(&env.evaluate(&study)).len(), 1);
    assert!(open(env.path()).remarks().is_empty());
    assert_eq!(trials.len(), 6);

    // Entries that went may have been anybody's.
    let connection = rusqlite::Connection::open(env.cache_path()).unwrap();
    assert_eq!(connection.execute("DELETE FROM entries WHERE id = (SELECT min(id) FROM entries)", []), Ok(1));
    let evaluated = env.evaluate(&study);
    assert_eq!(written(&evaluated).len(), 5);
    let kept: Vec<_> = evaluated.units.iter().filter_map(|unit| unit.kept.as_ref()).collect();
    let [kept] = &kept[..] else { panic!("one unit has lost a trial: {evaluated:?}") };
    assert_eq!((kept.trials - kept.found, kept.reason.as_str()), (1, "the cache holds fewer entries now"));
    assert_eq!(counted(&open(env.path()), &study.evals[0]).1, 32, "what would be lost stays");
    let forced = evaluate(&study, &env.cache(), &options, &Progress::default(), None).unwrap();
    assert_eq!(written(&forced).len(), 6);
    assert_eq!(counted(&open(env.path()), &study.evals[0]).1, 31);
}

#[test]
fn evaluates_only_the_selection() {
    let env = TestEnv::new();
    let study = env.study("", &[STRONG, CHEAP]);
    env.fill_planned(&study);
    let selection = Selection {
        evals: vec!["sim-cheap".to_owned()],
        tasks: vec!["boolean".to_owned()],
        ..Selection::default()
    };
    let options = EvaluateOptions { selection, force: false };
    let evaluated = evaluate(&study, &env.cache(), &options, &Progress::default(), None).unwrap();
    assert_eq!(written(&evaluated), [("sim-cheap", "boolean")]);
    assert_eq!(env.files().len(), 2);
}

#[test]
fn scores_responses_beyond_the_plan() {
    let env = TestEnv::new();
    let study = env.study("count = 4", &[STRONG]);
    // Twelve, and one after a gap.
    env.fill(&study, &study.evals[0], |_, index| index < 12 || index == 17);
    let evaluated = env.evaluate(&study);
    assert!(evaluated.units.iter().all(|unit| unit.counts.missing() == 0), "{evaluated:?}");
    assert_eq!(counted(&open(env.path()), &study.evals[0]), (52, 52, 0));
    let last =
        rows(&open(env.path()), "SELECT DISTINCT \"index\" FROM trials WHERE \"index\" > 10 ORDER BY 1");
    assert_eq!(last.unwrap(), [[json!(11)], [json!(17)]]);
}

#[test]
fn keeps_repeats_and_namespaces_apart() {
    let env = TestEnv::new();
    let apart = format!("{CHEAP}\nsampler = \"sampled-2k\"\ncache_namespace = \"q4\"");
    let study = env.study("repeats = 3", &[&format!("{CHEAP}\nsampler = \"sampled-2k\""), &apart]);
    env.fill_planned(&study);
    env.evaluate(&study);
    let db = open(env.path());
    for eval in &study.evals {
        assert_eq!(counted(&db, eval), (96, 96, 0));
    }
    let models: Vec<&str> = db.evals().iter().map(|eval| eval.model.as_str()).collect();
    assert_eq!(models, ["sim-cheap", "sim-cheap#q4"]);
    let repeats = rows(&db, "SELECT repeat, count(*) FROM trials GROUP BY repeat ORDER BY repeat").unwrap();
    assert_eq!(json!(repeats), json!([[0, 64], [1, 64], [2, 64]]));
}

#[test]
fn stopping_leaves_the_old_files_unchanged() {
    let env = TestEnv::new();
    let study = env.study("", &[STRONG, CHEAP]);
    env.fill_planned(&study);
    env.evaluate(&study);
    let before = env.files();

    let options = EvaluateOptions { force: true, ..EvaluateOptions::default() };
    let progress = Progress::default();
    progress.stop.store(true, Ordering::Relaxed);
    let evaluated = evaluate(&study, &env.cache(), &options, &progress, None).unwrap();
    assert!(evaluated.stopped && written(&evaluated).is_empty(), "{evaluated:?}");
    assert_eq!(env.files(), before, "nothing was touched, and nothing is left beside it");

    // Stopped on the way: what was finished is new, the rest is old, and every pair is a pair.
    let progress = Progress::default();
    let evaluated = std::thread::scope(|scope| {
        scope.spawn(|| {
            while progress.done.load(Ordering::Relaxed) < 40 {
                std::hint::spin_loop();
            }
            progress.stop.store(true, Ordering::Relaxed);
        });
        evaluate(&study, &env.cache(), &options, &progress, None).unwrap()
    });
    let after = env.files();
    assert_eq!(after.keys().collect::<Vec<_>>(), before.keys().collect::<Vec<_>>());
    let changed = after.iter().filter(|(path, file)| before[*path] != **file).count();
    assert_eq!(changed, 2 * written(&evaluated).len());
    let db = open(env.path());
    assert!(db.remarks().is_empty(), "{:?}", db.remarks());
    assert_eq!(counted(&db, &study.evals[0]), (32, 32, 0));
}
