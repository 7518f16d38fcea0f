//! `reasonscape analyze` on a study whose counters are known.

mod browser;
mod cluster;
mod compression;
mod hazard;
mod landscape;
mod outcomes;
mod planted;
mod point_estimates;
mod report;
mod similarity;
mod small;
mod tokens;
mod variance;

use std::collections::BTreeMap;
use std::path::Path;

use reasonscape_stats::pairwise::{Method, win_rates};
use reasonscape_stats::{Confidence, Counters, Interval, Mode};
use serde_json::{Value, json};
use tempfile::TempDir;

pub(crate) use self::browser::draws_alone;
use self::small::{PLANNED, STRONG, Skill, Small, TWIN, WEAK};
use crate::serve::get_pages;
use crate::test_env::{assert_rejected, copy_folder, reasonscape, reasonscape_at};

const QUESTIONS: [&str; 6] = ["evals", "tasks", "points", "scores", "pairwise", "modes"];

fn rows(board: &Value) -> &Vec<Value> {
    board.as_array().expect("an array")
}

fn named<'a>(board: &'a Value, name: &str) -> &'a Value {
    rows(board).iter().find(|row| row["name"] == name).unwrap_or_else(|| panic!("no {name} in {board}"))
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

#[test]
fn tables_match_snapshots() {
    let small = Small::new();
    for question in QUESTIONS {
        let run = small.ask(question, &[]);
        assert_eq!(run.code, 0, "{run:?}");
        insta::assert_snapshot!(question, format!("{}{}", run.stdout, run.stderr));
    }
}

#[test]
fn tables_fit_sixty_columns() {
    let small = Small::new();
    let fits = |run: crate::test_env::Run| {
        assert_eq!(run.code, 0, "{run:?}");
        for line in run.stdout.lines().filter(|line| line.starts_with(['│', '┌', '╞', '└'])) {
            assert!(line.chars().count() <= 60, "{line}");
        }
    };
    for question in QUESTIONS {
        fits(small.at(60, question, &[]));
    }
    fits(small.at(60, "modes", &["--by", "task"]));
    fits(small.at(60, "compare", &["strong", "weak"]));
    insta::assert_snapshot!("scores_in_60_columns", small.at(60, "scores", &[]).stdout);
}

#[test]
fn score_rows_have_documented_keys() {
    let board = Small::new().json("scores", &[]);
    let row = named(&board, "strong").as_object().unwrap();
    for key in [
        "rank",
        "rank_best",
        "rank_worst",
        "eval_id",
        "model",
        "template",
        "sampler",
        "complete",
        "score",
        "tasks",
        "tokens_mean",
    ] {
        assert!(row.contains_key(key), "{key} is not in {row:?}");
    }
    let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys(&row["score"]), ["center", "ci_high", "ci_low", "margin"]);
    assert_eq!(keys(&row["tasks"]), ["arithmetic", "boolean", "sort"]);
    assert_eq!(keys(&row["tasks"]["sort"]), ["accuracy", "g", "high", "low", "n", "n_e", "n_t", "n_u"]);
    assert_eq!(
        (&row["eval_id"], &row["model"], &row["template"], &row["sampler"]),
        (&json!("a00001"), &json!("org/strong"), &json!("zeroshot"), &json!("greedy"))
    );
    assert_eq!(
        (&row["tokens_mean"], &row["mode"], &row["complete"]),
        (&json!(130.0), &json!("C_P"), &json!(true))
    );
}

#[test]
fn counters_match_trials_and_bounds_match_counters() {
    let board = Small::new().json("scores", &[]);
    for row in rows(&board) {
        for task in row["tasks"].as_object().unwrap().values() {
            let [n, n_e, n_u, n_t, g] = ["n", "n_e", "n_u", "n_t", "g"].map(|key| number(&task[key]));
            assert_eq!(n_u, n - n_t);
            let estimate = Mode::C_P.estimate(&Counters::new(n, n_e, n_t, g).unwrap(), Confidence::P95);
            assert_eq!(
                (number(&task["low"]), number(&task["high"])),
                (estimate.low.max(0.01), estimate.high)
            );
        }
    }
    let boolean = &named(&board, "weak")["tasks"]["boolean"];
    assert_eq!(number(&boolean["n"]), f64::from(2 * PLANNED));
    assert_eq!(number(&boolean["g"]), number(&boolean["n_u"]) / 2.0);
    assert!(number(&named(&board, "weak")["truncation_rate"]) > 0.05);
}

#[test]
fn scores_match_documented_formula() {
    let page = format!("{}/../../docs/statistics.md", env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(page).unwrap();
    let start = page.find("# reasonscore.py").expect("the page has the lines");
    let script = &page[start..start + page[start..].find("```").expect("a fence closes the block")];
    let board = Small::new().json("scores", &[]);
    for row in rows(&board) {
        let bounds: BTreeMap<&String, [&Value; 2]> = row["tasks"]
            .as_object()
            .unwrap()
            .iter()
            .map(|(name, task)| (name, [&task["low"], &task["high"]]))
            .collect();
        let Some(printed) = reasonscape_test_support::python(script, &json!(bounds).to_string()) else {
            return;
        };
        let expected: Value = serde_json::from_str(&printed).unwrap();
        for key in ["center", "margin", "ci_low", "ci_high"] {
            let (found, expected) = (number(&row["score"][key]), number(&expected[key]));
            assert!((found - expected).abs() < 1e-9, "{}: {key}: {found} {expected}", row["name"]);
        }
    }
}

/// The paired test of every pair from single trials, Holm's correction, and the ranks that follow.
const RANKS: &str = r#"
import json, sys
by_point = {}
for trial in json.load(sys.stdin):
    odds = trial["guess"] / (1 - trial["guess"])
    value = {0: -odds, 1: 1.0, 2: 0.0}[trial["status"]]
    evals = by_point.setdefault((trial["base_task"], trial["params"]), {})
    evals.setdefault(trial["eval_id"], {})[trial["index"]] = value
ids = sorted({eval_id for evals in by_point.values() for eval_id in evals})
def test(a, b):
    tasks = {}
    for (task, _), evals in by_point.items():
        of_a, of_b = evals.get(a, {}), evals.get(b, {})
        shared = [(of_a[index], of_b[index]) for index in sorted(of_a.keys() & of_b.keys())]
        tasks.setdefault(task, []).append((1.0, shared))
    return paired_test([points for points in tasks.values() if any(shared for _, shared in points)])
tests = {(a, b): test(a, b) for a in ids for b in ids if a < b}
ordered = sorted(tests, key=lambda pair: tests[pair][1])
better, largest = set(), 0.0
for place, (a, b) in enumerate(ordered):
    difference, p = tests[a, b]
    largest = max(largest, (len(ordered) - place) * p)
    if largest <= 0.05:
        better.add((a, b) if difference > 0 else (b, a))
ranges = {a: [1 + sum((b, a) in better for b in ids), len(ids) - sum((a, b) in better for b in ids)] for a in ids}
print(json.dumps({"p": [[a, b, p] for (a, b), (_, p) in tests.items()], "ranges": ranges}))
"#;

#[test]
fn ranks_follow_paired_tests_and_show_ties() {
    let small = Small::new();
    let board = small.json("scores", &[]);
    let query = "SELECT eval_id, base_task, params, \"index\", status, guess FROM trials";
    let trials = reasonscape(&["sql", small.path(), query, "--format", "json"]);
    assert_eq!(trials.code, 0, "{trials:?}");
    let reference = concat!(include_str!("../../../stats/tests/reference/reason_score.py"), "\n");
    let Some(output) = reasonscape_test_support::python(&format!("{reference}{RANKS}"), &trials.stdout)
    else {
        return;
    };
    let expected: Value = serde_json::from_str(&output).unwrap();
    for row in rows(&board) {
        let estimate = |row: &Value| number(&row["reason_score"]["estimate"]);
        let higher = rows(&board).iter().filter(|other| estimate(other) > estimate(row)).count();
        assert_eq!((&row["rank"], &row["ties"]), (&json!(1 + higher), &json!("paired")));
        let range = json!([row["rank_best"], row["rank_worst"]]);
        assert_eq!(range, expected["ranges"][row["eval_id"].as_str().unwrap()], "{}", row["name"]);
    }
    for pair in expected["p"].as_array().unwrap() {
        let [a, b] = [0, 1].map(|side| pair[side].as_str().unwrap());
        let found = small.json("compare", &[a, b]);
        let (p, expected) = (number(&found["test"]["p"]), number(&pair[2]));
        assert!((p / expected - 1.0).abs() < 1e-9, "{a} {b}: {p}, expected {expected}");
    }
    let (strong, twin, weak) = (named(&board, "strong"), named(&board, "twin"), named(&board, "weak"));
    assert_eq!((&strong["rank_best"], &twin["rank_best"]), (&json!(1), &json!(1)));
    assert!(number(&strong["rank_worst"]) >= 2.0 && number(&weak["rank_best"]) >= 3.0);
    let run = small.ask("scores", &[]);
    assert!(run.stdout.contains("=1-"), "{}", run.stdout);
    assert!(run.stderr.contains("= is a tie"), "{}", run.stderr);
}

#[test]
fn ties_v2_follow_overlapping_intervals() {
    let small = Small::new();
    let board = small.json("scores", &["--ties", "v2"]);
    let end = |row: &Value, key: &str| number(&row["score"][key]);
    for a in rows(&board) {
        let count = |test: &dyn Fn(&Value) -> bool| rows(&board).iter().filter(|b| test(b)).count();
        assert_eq!(a["ties"], "v2");
        assert_eq!(a["rank_best"], 1 + count(&|b| end(b, "ci_low") > end(a, "ci_high")));
        assert_eq!(a["rank_worst"], count(&|b| end(b, "ci_high") >= end(a, "ci_low")));
    }
}

#[test]
fn marks_incomplete_evaluations() {
    let small = Small::new();
    let board = small.json("scores", &[]);
    let partial = named(&board, "partial");
    assert_eq!(
        (&partial["complete"], &partial["missing"], &partial["missing_tasks"]),
        (&json!(false), &json!(300), &json!(["sort"]))
    );
    assert!(partial["tasks"].get("sort").is_none());
    let run = small.ask("scores", &[]);
    assert!(
        run.stderr.contains("* partial lacks every trial of sort and 300 planned trials"),
        "{}",
        run.stderr
    );
    // Alone it is no more complete than among others: its suite is that of the study.
    let alone = small.json("scores", &["--filter", "eval_id=d00004"]);
    assert_eq!((rows(&alone).len(), &alone[0]["complete"]), (1, &json!(false)));
    let evals = small.ask("evals", &[]);
    assert!(
        evals.stdout.contains("2 of 3") && evals.stderr.contains("partial has no trials of sort"),
        "{evals:?}"
    );
}

#[test]
fn notes_near_chance_and_other_modes() {
    let small = Small::new();
    let run = small.ask("scores", &[]);
    assert!(run.stderr.contains("boolean") && run.stderr.contains("--mode K_P"), "{}", run.stderr);
    let calibrated = small.ask("scores", &["--mode", "K_P"]);
    assert!(calibrated.stderr.contains("estimated by K_P"), "{}", calibrated.stderr);
    assert!(!calibrated.stderr.contains("near chance"), "{}", calibrated.stderr);
    let (c, k) = (small.json("scores", &[]), small.json("scores", &["--mode", "K_P"]));
    assert_eq!(named(&k, "weak")["mode"], "K_P");
    let width = |board: &Value| {
        let boolean = &named(board, "weak")["tasks"]["boolean"];
        number(&boolean["high"]) - number(&boolean["low"])
    };
    assert!(width(&c) < width(&k));
}

#[test]
fn filters_select_evaluations_tests_and_labels() {
    let small = Small::new();
    let names = |filters: &[&str]| -> Vec<String> {
        let evals = small.json("evals", filters);
        rows(&evals).iter().map(|row| row["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&["--filter", "model=org/strong"]), ["partial", "strong"]);
    assert_eq!(names(&["--filter", "groups=arch:dense"]), ["twin", "weak"]);
    assert_eq!(names(&["--filter", "groups=arch:dense,size:small"]), ["weak"]);
    let board = small.json("scores", &["--filter", "base_task=sort,boolean"]);
    let tasks: Vec<&String> = named(&board, "strong")["tasks"].as_object().unwrap().keys().collect();
    assert_eq!(tasks, ["boolean", "sort"]);
    let points = small.json("points", &["--filter", "params.length=5..", "--filter", "eval_id=a00001"]);
    assert_eq!(rows(&points).len(), 3);
    assert!(
        rows(&points)
            .iter()
            .all(|point| point["params"] == json!({ "depth": 1, "length": 8 }) && point["mode"] == "C_I")
    );
}

#[test]
fn point_on_two_manifolds_counts_once() {
    // Asked for two manifolds that share its points, a task once had twice the trials.
    let small = Small::new();
    for filter in ["manifold=all,arithmetic-length", "manifold=a*"] {
        let tasks = small.json("tasks", &["--filter", filter, "--filter", "base_task=arithmetic"]);
        assert_eq!((rows(&tasks).len(), &tasks[0]["n"], &tasks[0]["points"]), (1, &json!(700), &json!(2)));
        let points = small.json("points", &["--filter", filter, "--filter", "base_task=arithmetic"]);
        assert_eq!(rows(&points).len(), 8);
    }
    let sort = small.json("tasks", &["--filter", "manifold=sort-length"]);
    assert_eq!((rows(&sort).len(), &sort[0]["task"]), (1, &json!("sort")));
}

#[test]
fn reports_points_without_trials() {
    let small = Small::new();
    let run = small.ask("points", &["--filter", "eval_id=d00004"]);
    assert!(run.stderr.contains("300 trials missing, 2 points without any"), "{}", run.stderr);
    let points = small.json("points", &["--filter", "eval_id=d00004", "--filter", "base_task=sort"]);
    for point in rows(&points) {
        assert_eq!(
            (&point["n"], &point["missing"], &point["estimate"]["point"]),
            (&json!(0), &json!(100), &json!(null))
        );
    }
}

#[test]
fn marks_scores_of_points_whose_trials_are_missing() {
    let fixture = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/v1/study");
    let folder = TempDir::new().unwrap();
    let path = folder.path().to_str().unwrap();
    copy_folder(Path::new(fixture), folder.path());
    let board = || {
        let run = reasonscape_at(200, &["analyze", "scores", path]);
        assert_eq!(run.code, 0, "{run:?}");
        run
    };
    // Its points have no sums over problems, but they are computed from its trials.
    assert!(!board().stdout.contains('‡'), "{:?}", board());
    std::fs::remove_dir_all(folder.path().join("trials")).unwrap();
    let run = board();
    let rows = run.stdout.lines().filter(|line| line.contains(" ± ")).count();
    assert!(rows >= 3 && run.stdout.matches('‡').count() == rows, "{run:?}");
    assert!(run.stderr.contains("‡ the trials of ") && run.stderr.contains("by their counters"), "{run:?}");
    let json = reasonscape(&["analyze", "scores", path, "--format", "json"]).stdout;
    let json: Value = serde_json::from_str(&json).unwrap();
    for row in json.as_array().unwrap() {
        assert_eq!((&row["from_counters"], &row["ties"]), (&json!(true), &json!("v2")), "{row}");
    }
    let [page] = get_pages(path, ["/"]);
    assert_eq!(page.matches(">‡</abbr>").count(), rows);
    let file = folder.path().join("report.md");
    assert_eq!(reasonscape(&["report", path, "-o", file.to_str().unwrap()]).code, 0);
    assert!(std::fs::read_to_string(file).unwrap().contains('‡'));
}

#[test]
fn higher_confidence_widens_intervals() {
    let small = Small::new();
    for question in ["tasks", "points"] {
        let margin = |more: &[&str]| {
            let rows = small.json(question, more);
            let row = &rows[0];
            number(row.get("correct").or(row.get("estimate")).map(|bounds| &bounds["margin"]).unwrap())
        };
        assert!(margin(&["--confidence", "0.99"]) > margin(&[]));
    }
    assert_rejected(&small.ask("tasks", &["--confidence", "95"]), &["`--confidence 95`", "0.95 for 95 %"]);
}

#[test]
fn pairwise_matches_statistics() {
    let small = Small::new();
    let found = small.json("pairwise", &[]);
    let ids: Vec<&str> = rows(&found["evals"]).iter().map(|eval| eval["eval_id"].as_str().unwrap()).collect();
    assert_eq!((ids.len(), ids[3]), (4, "c00003"));

    // The same from the counters of the leaderboard.
    let board = small.json("scores", &[]);
    let share = |id: &&str| -> Vec<Option<Interval>> {
        let row = rows(&board).iter().find(|row| row["eval_id"] == *id).unwrap();
        ["arithmetic", "boolean", "sort"]
            .map(|task| {
                let task = row["tasks"].get(task)?;
                let [n, n_e, n_t, g] = ["n", "n_e", "n_t", "g"].map(|key| number(&task[key]));
                Some(Mode::C_P.estimate(&Counters::new(n, n_e, n_t, g).unwrap(), Confidence::P95))
            })
            .to_vec()
    };
    let shares: Vec<_> = ids.iter().map(share).collect();
    let expected = win_rates(&shares, Confidence::P95, Method::Exact).unwrap();
    for a in 0..4 {
        for b in 0..4 {
            let rate = found["win_rates"][a][b].as_f64();
            assert_eq!(rate.is_some(), a != b);
            assert!((rate.unwrap_or(0.0) - expected.rate(a, b).unwrap_or(0.0)).abs() < 1e-9, "{a} {b}");
        }
        let eval = &found["evals"][a];
        let wins: f64 = (0..4).filter_map(|b| found["win_rates"][a][b].as_f64()).sum();
        assert!((number(&eval["expected_wins"]) - wins).abs() < 1e-9);
        assert!(number(&eval["elo_low"]) <= number(&eval["elo_high"]));
    }
}

#[test]
fn monte_carlo_matches_quadrature_and_is_reproducible() {
    let small = Small::new();
    let drawn = |seed: &str| small.json("pairwise", &["--method", "monte-carlo", "--seed", seed]);
    let (exact, one) = (small.json("pairwise", &[]), drawn("1"));
    assert_eq!((&one["method"], &exact["method"]), (&json!("monte-carlo"), &json!("exact")));
    assert_eq!(one, drawn("1"));
    assert_ne!(one, drawn("2"));
    let wins = |found: &Value, id: &str| {
        let eval = rows(&found["evals"]).iter().find(|eval| eval["eval_id"] == id).unwrap().clone();
        number(&eval["expected_wins"])
    };
    for id in ["a00001", "b00002", "c00003", "d00004"] {
        assert!((wins(&exact, id) - wins(&one, id)).abs() < 0.05);
    }
}

#[test]
fn reports_unbeaten_model_without_finite_rating() {
    const PERFECT: Skill = Skill { tasks: &[("arithmetic", 100, 0, 100), ("sort", 100, 0, 100)], ..STRONG };
    const HOPELESS: Skill = Skill { tasks: &[("arithmetic", 0, 0, 100), ("sort", 0, 0, 100)], ..WEAK };
    let small = Small::of(&[PERFECT, HOPELESS]);
    let run = small.ask("pairwise", &[]);
    assert!(
        run.stderr.contains("ratings did not converge: strong never loses to the others"),
        "{}",
        run.stderr
    );
    let found = small.json("pairwise", &[]);
    assert_eq!((&found["converged"], &found["unbeaten"]), (&json!(false), &json!(["a00001"])));
}

#[test]
fn one_task_has_ratings_without_intervals() {
    let small = Small::new();
    let run = small.ask("pairwise", &["--filter", "base_task=sort"]);
    assert!(run.stderr.contains("ratings have no confidence interval"), "{}", run.stderr);
    assert!(run.stderr.contains("partial has no trials yet and is excluded"), "{}", run.stderr);
    assert_rejected(&small.ask("pairwise", &["--filter", "eval_id=a00001"]), &["fewer than two evaluations"]);
}

#[test]
fn describes_a_clear_difference_overall_and_by_task() {
    let small = Small::new();
    let run = small.ask("compare", &["strong", "weak"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(run.stdout.starts_with("strong is better than weak by "), "{}", run.stdout);
    insta::assert_snapshot!("compare", format!("{}{}", run.stdout, run.stderr));
    let (found, back) =
        (small.json("compare", &["strong", "weak"]), small.json("compare", &["c00003", "a00001"]));
    assert_eq!((&found["verdict"], &back["verdict"]), (&json!("better"), &json!("worse")));
    assert_eq!(number(&found["score"]["difference"]), -number(&back["score"]["difference"]));
    assert!(back["sentence"].as_str().unwrap().starts_with("weak is worse than strong by "));
    for (task, mirrored) in rows(&found["tasks"]).iter().zip(rows(&back["tasks"])) {
        assert_eq!((&task["b"], &task["c"]), (&mirrored["c"], &mirrored["b"]));
        assert_eq!((&task["pairs"], &task["verdict"]), (&json!(200), &json!("better")));
        let (p, adjusted) = (number(&task["p"]), number(&task["p_adjusted"]));
        assert!(p <= adjusted && adjusted <= 3.0 * p);
        let difference = (number(&task["b"]) - number(&task["c"])) / 200.0;
        assert!((number(&task["difference"]) - difference).abs() < 1e-12);
    }
}

#[test]
fn stored_pairs_are_used_for_the_same_files_only() {
    let small = Small::of(&[STRONG, WEAK]);
    let ranks = || {
        let board = small.json("scores", &[]);
        ["strong", "weak"].map(|name| {
            let row = named(&board, name);
            (row["rank_best"].as_u64().unwrap(), row["rank_worst"].as_u64().unwrap())
        })
    };
    assert_eq!(ranks(), [(1, 1), (2, 2)]);
    // What is stored is what is shown: with another p-value the two are tied.
    let path = std::path::Path::new(small.path()).join("points/.pairs.json");
    let mut stored: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    let pair = &mut stored["value"]["pairs"]["a00001"]["c00003"];
    assert!(number(&pair["p"]) < 0.001, "{stored}");
    pair["p"] = json!(1.0);
    std::fs::write(&path, stored.to_string()).unwrap();
    assert_eq!(ranks(), [(1, 2), (1, 2)]);
    // What another version of the test has stored is not read.
    let mut other = stored.clone();
    other["value"]["version"] = json!(1);
    std::fs::write(&path, other.to_string()).unwrap();
    assert_eq!(ranks(), [(1, 1), (2, 2)]);
    // Once a file was written again, even with the same trials, the stored pairs are those of other files.
    small.rewrite(&STRONG);
    assert_eq!(ranks(), [(1, 1), (2, 2)]);
    std::fs::write(&path, stored.to_string()).unwrap();
    assert_eq!(ranks(), [(1, 1), (2, 2)]);
}

#[test]
fn a_study_is_found_through_its_parent() {
    let small = Small::new();
    let path = format!("{}/points/..", small.path());
    let run = reasonscape_at(100, &["analyze", "compare", &path, "strong", "weak", "--format", "json"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(
        serde_json::from_str::<Value>(&run.stdout).unwrap(),
        small.json("compare", &["strong", "weak"])
    );
}

#[test]
fn difference_is_that_of_the_shown_scores() {
    let small = Small::new();
    let board = small.json("scores", &[]);
    let estimate = |name: &str| number(&named(&board, name)["reason_score"]["estimate"]);
    let found = small.json("compare", &["strong", "weak"]);
    let gap = &found["reason_score"];
    assert_eq!(
        (number(&gap["a"]["estimate"]), number(&gap["b"]["estimate"])),
        (estimate("strong"), estimate("weak"))
    );
    let difference = estimate("strong") - estimate("weak");
    assert!((number(&gap["difference"]) - difference).abs() < 1e-9, "{gap}");
    assert!(
        (number(&found["test"]["ratio"]) - estimate("strong") / estimate("weak")).abs() < 1e-9,
        "{found}"
    );
    let (low, high) = (number(&gap["ci_low"]), number(&gap["ci_high"]));
    assert!(low < difference && difference < high && gap["level"] == 0.95, "{gap}");
    let finding = found["finding"].as_str().unwrap();
    assert_eq!(
        finding,
        format!("strong is better than weak by {difference:.0} (95 % CI {low:.0} to {high:.0})")
    );
    // v2's difference keeps its keys, and has a row of its own.
    let run = small.ask("compare", &["strong", "weak", "--format", "markdown"]);
    let v2 = format!(
        "| v2 | - | {:+.0} ± {:.0} |",
        number(&found["score"]["difference"]),
        number(&found["score"]["margin"])
    );
    assert!(run.stdout.contains(&v2), "`{v2}` is not in\n{}", run.stdout);
    assert!(
        run.stdout.contains(&format!("| {difference:+.0} | {low:+.0} to {high:+.0} |")),
        "{}",
        run.stdout
    );
    // Where one lacks a task, both are scored on what they have in common.
    let found = small.json("compare", &["strong", "partial"]);
    let common = small.json("scores", &["--filter", "base_task=arithmetic,boolean"]);
    let strong = number(&named(&common, "strong")["reason_score"]["estimate"]);
    assert!((number(&found["reason_score"]["a"]["estimate"]) - strong).abs() < 1e-9, "{found}");
    // Another estimator has no likelihood.
    let found = small.json("compare", &["strong", "weak", "--mode", "K_P"]);
    assert_eq!((&found["reason_score"], &found["test"]), (&Value::Null, &Value::Null));
    assert_eq!(found["finding"], found["sentence"]);
}

#[test]
fn ties_say_how_many_trials_would_resolve_them() {
    let small = Small::of(&[STRONG, TWIN]);
    let found = small.json("compare", &["strong", "twin"]);
    assert_eq!((&found["verdict"], &found["pairs"]), (&json!("cannot tell"), &json!(600)));
    let sentence = found["sentence"].as_str().unwrap();
    assert!(sentence.starts_with("no significant difference between strong and twin: "), "{sentence}");
    assert!(sentence.contains("more trials per task would detect a difference of this size"), "{sentence}");
    assert!(number(&found["more_trials_a_task"]) >= 1.0);
    let low = number(&found["score"]["ci_low"]);
    assert!(low <= 0.0 && number(&found["score"]["ci_high"]) >= 0.0);
}

#[test]
fn counts_and_excludes_unpaired_tests() {
    let small = Small::new();
    let run = small.ask("compare", &["strong", "partial"]);
    let excluded = "300 problems that only strong answered count in its ReasonScore, but not in the tests";
    assert!(run.stderr.contains(excluded), "{}", run.stderr);
    let found = small.json("compare", &["strong", "partial"]);
    assert_eq!(
        (&found["pairs"], &found["unpaired_a"], &found["unpaired_b"]),
        (&json!(300), &json!(300), &json!(0))
    );
}

#[test]
fn explains_unknown_evaluation() {
    let small = Small::new();
    assert_rejected(
        &small.ask("compare", &["strong", "nobody"]),
        &["unknown evaluation `nobody`", "b00002 (twin"],
    );
    assert_rejected(
        &small.ask("compare", &["org/strong", "weak"]),
        &["`org/strong` is ambiguous", "a00001", "d00004", "use the id"],
    );
    assert_rejected(&small.ask("compare", &["weak", "c00003"]), &["the same evaluation c00003", "needs two"]);
    // A filter tells them apart.
    let filtered = ["org/strong", "weak", "--filter", "template=zeroshot"];
    assert_eq!(small.json("compare", &filtered)["a"]["eval_id"], "a00001");
}

#[test]
fn shows_nine_modes_side_by_side() {
    let small = Small::new();
    let modes = small.json("modes", &[]);
    let strong = named(&modes, "strong");
    assert_eq!(strong["scores"].as_object().unwrap().len(), 9);
    assert_eq!(strong["tasks"]["boolean"].as_object().unwrap().len(), 9);
    let board = small.json("scores", &[]);
    assert_eq!(named(&board, "weak")["score"], named(&modes, "weak")["scores"]["C_P"]);
    let center = |mode: &str| number(&named(&modes, "weak")["scores"][mode]["center"]);
    assert!(center("C_P") < center("E_P") && center("E_P") < center("E_O"));
    let one = small.json("modes", &["--mode", "K_P"]);
    assert_eq!(named(&one, "weak")["scores"].as_object().unwrap().len(), 1);
}

#[test]
fn csv_is_flat_with_every_digit() {
    let small = Small::new();
    let board = small.json("scores", &[]);
    let run = small.ask("scores", &["--format", "csv"]);
    let mut reader = csv_rows(&run.stdout);
    let header = reader.remove(0);
    assert_eq!(reader.len(), 4);
    for row in reader {
        let cell = |name: &str| &row[header.iter().position(|column| column == name).unwrap()];
        let expected = named(&board, cell("name"));
        assert_eq!(cell("center").parse::<f64>().unwrap(), number(&expected["score"]["center"]));
        let low = expected["tasks"].get("sort").map(|task| number(&task["low"]));
        assert_eq!(cell("sort_low").parse::<f64>().ok(), low);
    }
    for question in QUESTIONS {
        let run = small.ask(question, &["--format", "csv"]);
        let rows = csv_rows(&run.stdout);
        assert!(rows.len() > 1 && rows.iter().all(|row| row.len() == rows[0].len()), "{run:?}");
        let markdown = small.ask(question, &["--format", "markdown"]).stdout;
        assert!(markdown.starts_with("| ") && markdown.lines().nth(1).unwrap().contains("---"), "{markdown}");
    }
}

fn csv_rows(text: &str) -> Vec<Vec<String>> {
    // No cell of these tables has a line break, and quotes only around coordinates and lists.
    text.lines()
        .map(|line| {
            let (mut cells, mut quoted) = (vec![String::new()], false);
            for letter in line.chars() {
                match letter {
                    '"' => quoted = !quoted,
                    ',' if !quoted => cells.push(String::new()),
                    other => cells.last_mut().expect("there is one").push(other),
                }
            }
            cells
        })
        .collect()
}

#[test]
fn rejects_invalid_arguments_with_a_hint() {
    let small = Small::new();
    for question in QUESTIONS {
        assert_rejected(
            &small.ask(question, &["--filter", "modle=strong"]),
            &["unknown column `modle`", "did you mean `model`?"],
        );
        assert_rejected(
            &small.ask(question, &["--filter", "model=gpt"]),
            &["nothing in the study matches `model=gpt`", "`model` is org/strong, org/twin or org/weak"],
        );
        assert_rejected(&small.ask(question, &["--mode", "Q"]), &["unknown mode `Q`"]);
        assert_rejected(
            &small.ask(question, &["--filter", "params.lenght=4"]),
            &["no point has `params.lenght`"],
        );
        assert_rejected(
            &small.ask(question, &["--filter", "groups=arch:none"]),
            &["`groups` is arch:dense, arch:moe"],
        );
        assert_rejected(&reasonscape(&["analyze", question, "/nowhere"]), &["no study at `/nowhere`"]);
        let empty = TempDir::new().unwrap();
        let empty = empty.path().to_str().unwrap();
        assert_rejected(
            &reasonscape(&["analyze", question, empty]),
            &["has no trials yet", "reasonscape evaluate"],
        );
    }
}
