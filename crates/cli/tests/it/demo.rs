//! `reasonscape demo`: what a newcomer sees.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use reasonscape_core::Suite;
use reasonscape_simulator::SimulatedModel;
use serde_json::Value;
use tempfile::TempDir;

use crate::analyze::draws_alone;
use crate::test_env::{Run, assert_rejected, reasonscape, reasonscape_at};

const MODELS: [&str; 5] = ["strong", "cheap", "truncating", "guessing", "specialist"];

/// What a model's score is after: the geometric mean over tasks of how often it completes an answer that it knew.
fn skill(name: &str) -> f64 {
    let model = SimulatedModel::by_name(&format!("sim-{name}")).unwrap();
    let suite = Suite::parse(Suite::built_in("quick").unwrap()).unwrap();
    let mut tasks: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for point in suite.points() {
        let truth = model.truth(point.task, point.params, 2_048);
        tasks.entry(point.task.name()).or_default().push((1.0 - truth.cut) * truth.knows);
    }
    let means = tasks.values().map(|task| task.iter().sum::<f64>() / task.len() as f64);
    (means.map(f64::ln).sum::<f64>() / tasks.len() as f64).exp()
}

fn demo(folder: &Path, arguments: &[&str]) -> Run {
    reasonscape(&[&["demo", "--dir", folder.to_str().unwrap()], arguments].concat())
}

#[test]
fn recovers_known_skills_and_sends_requests_once() {
    let folder = TempDir::new().unwrap();
    let study = folder.path().join("demo");
    let first = demo(&study, &[]);
    assert_eq!(first.code, 0, "{first:?}");
    for part in
        ["running 5 simulated models on 1152 problems each", "finding: truncating: ", "reports/report.html`"]
    {
        assert!(first.stderr.contains(part), "{part}: {}", first.stderr);
    }
    assert_eq!(first.stderr.matches("note: next: ").count(), 3);
    assert!(first.stdout.contains("ReasonScore") && first.stdout.contains("vs 5"), "{}", first.stdout);
    // A second time nothing is asked, and the numbers are the same.
    let again = demo(&study, &["--format", "json", "-q"]);
    assert_eq!((again.code, again.stderr.as_str()), (0, ""), "{again:?}");
    let said: Value = serde_json::from_str(&again.stdout).unwrap();
    let rows = said["leaderboard"].as_array().unwrap();
    let names: Vec<&str> = rows.iter().map(|row| row["name"].as_str().unwrap()).collect();
    let mut order = MODELS.to_vec();
    order.sort_by(|a, b| skill(b).total_cmp(&skill(a)));
    assert_eq!(names, order);
    for row in rows {
        let (name, score) = (row["name"].as_str().unwrap(), &row["score"]);
        let truth = 1_000.0 * skill(name);
        let [low, high] = ["ci_low", "ci_high"].map(|end| score[end].as_f64().unwrap());
        // Intervals of 95 %, widened by half: five of them have to hold at once.
        let (center, margin) = (f64::midpoint(low, high), 0.75 * (high - low));
        assert!((truth - center).abs() < margin, "{name}: {truth} is far from {low} to {high}");
    }
    assert_eq!(said["pairwise"]["evals"].as_array().unwrap().len(), 5);
    assert!(said["finding"].as_str().unwrap().starts_with("truncating: "), "{}", said["finding"]);
    let entries: Vec<_> = fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(entries.len(), 1, "it writes into its folder and nowhere else: {entries:?}");
    draws_alone(&study.join("reports/report.html"), 9);

    // The second demo sent nothing: the cache answered every request, and saved exactly the tokens of the first.
    let folder = study.to_str().unwrap();
    let stats = reasonscape(&["cache", "stats", folder, "--format", "json"]);
    let stats: Value = serde_json::from_str(&stats.stdout).unwrap();
    assert_eq!((&stats["entries"], &stats["saved_requests"]), (&5_760.into(), &5_760.into()), "{stats}");
    let completion: f64 = rows.iter().map(|row| 1_152.0 * row["tokens_mean"].as_f64().unwrap()).sum();
    let saved = stats["saved_completion_tokens"].as_f64().unwrap();
    assert!((saved - completion).abs() < 1e-6 * completion, "{saved} is not {completion}");
    let third = demo(&study, &[]);
    let tokens = saved + stats["saved_prompt_tokens"].as_f64().unwrap();
    let line = third.stderr.lines().find(|line| line.starts_with("note: cache: ")).unwrap();
    let digits: String = line.rsplit_once("saved ").unwrap().1.chars().filter(char::is_ascii_digit).collect();
    assert!(
        line.starts_with("note: cache: 5,760 of 5,760 requests answered from the cache; saved "),
        "{line}"
    );
    assert_eq!(digits, format!("{tokens:.0}"), "{line}");
}

#[test]
fn refuses_existing_folder() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("thesis.tex"), "\\begin").unwrap();
    assert_rejected(&demo(folder.path(), &[]), &["contains other files", "--dir other"]);
    fs::write(folder.path().join("study.toml"), "suite = \"quick\"").unwrap();
    assert_rejected(&demo(folder.path(), &[]), &["contains another study", "--dir other"]);
    let file = folder.path().join("thesis.tex");
    let run = reasonscape_at(60, &["demo", "--dir", file.to_str().unwrap()]);
    assert_eq!(run.code, 2, "{run:?}");
}
