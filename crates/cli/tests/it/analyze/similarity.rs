//! `analyze similarity` and `spectrum` on planted families of models and kinds of prompts.

use serde_json::{Value, json};

use super::number;
use super::planted::{Planted, Plot, point};
use crate::test_env::assert_rejected;

const TASKS: [&str; 4] = ["arithmetic", "boolean", "dates", "sort"];

/// Two families of two; within a family the counts differ by what chance gives.
fn families() -> Plot {
    let plot = Plot::new();
    let family: [(&str, [u64; 4]); 4] = [
        ("oak", [360, 160, 240, 80]),
        ("pine", [200, 320, 120, 280]),
        ("acorn", [364, 152, 247, 84]),
        ("cone", [195, 326, 124, 271]),
    ];
    for (name, right) in family {
        for (task, right) in TASKS.iter().zip(right) {
            plot.sow(name, task, &[point(json!({"length": 4}), 400, right)]);
        }
    }
    plot
}

fn groups(found: &Value) -> Vec<(String, u64)> {
    let member =
        |member: &Value| (member["name"].as_str().unwrap().to_owned(), member["group"].as_u64().unwrap());
    found["members"].as_array().unwrap().iter().map(member).collect()
}

#[test]
fn groups_planted_families_with_a_gap_beyond_noise() {
    let plot = families();
    let found = plot.json("similarity", &[]);
    let named = |name: &str| groups(&found).iter().find(|(known, _)| known == name).unwrap().1;
    assert_eq!((named("oak"), named("pine")), (named("acorn"), named("cone")));
    assert_ne!(named("oak"), named("pine"));
    let merges = found["merges"].as_array().unwrap();
    assert_eq!(merges.len(), 3);
    for (place, merge) in merges.iter().enumerate() {
        let [height, chance, stability] = ["height", "by_chance", "stability"].map(|key| number(&merge[key]));
        assert_eq!(height > chance, place == 2, "{merge}");
        assert_eq!(stability, 1.0, "{merge}");
    }
    // The gap is the mean over four pairs of the root mean square of differences of shares.
    let shares = [[360, 160, 240, 80], [364, 152, 247, 84], [200, 320, 120, 280], [195, 326, 124, 271]]
        .map(|right| right.map(|right| f64::from(right) / 400.0));
    let apart =
        |a: [f64; 4], b: [f64; 4]| (a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>() / 4.0).sqrt();
    let gap: f64 =
        shares[..2].iter().flat_map(|a| shares[2..].iter().map(|b| apart(*a, *b))).sum::<f64>() / 4.0;
    assert!((number(&merges[2]["height"]) - gap).abs() < 1e-12);
    let run = plot.ask("similarity", &[]);
    insta::assert_snapshot!("similarity", format!("{}{}", run.stdout, run.stderr));
    let csv = plot.ask("similarity", &["--format", "csv"]).stdout;
    assert!(csv.lines().next().unwrap().ends_with("sort,sort_error") && csv.lines().count() == 5, "{csv}");
    plot.draws("similarity", &[], &["Similar models", "acorn", "dates"]);
}

#[test]
fn shape_ignores_level_and_linkages_agree_on_distant_families() {
    let plot = Plot::new();
    for (name, level) in [("large", 0), ("small", 120)] {
        for (task, right) in TASKS.iter().zip([380, 300, 340, 260]) {
            plot.sow(name, task, &[point(json!({"length": 4}), 400, right - level)]);
        }
    }
    let level = plot.json("similarity", &[]);
    let shape = plot.json("similarity", &["--shape"]);
    assert!((number(&level["merges"][0]["height"]) - 0.3).abs() < 1e-12);
    assert!(number(&shape["merges"][0]["height"]) < 1e-12);
    assert_eq!(groups(&shape)[0].1, groups(&shape)[1].1);
    assert_ne!(groups(&level)[0].1, groups(&level)[1].1);
    let families = families();
    for linkage in ["average", "complete", "single", "ward"] {
        let found = families.json("similarity", &["--linkage", linkage]);
        let names: Vec<String> = groups(&found).into_iter().map(|(name, _)| name).collect();
        assert_eq!(
            names.iter().position(|name| name == "oak").unwrap() / 2,
            names.iter().position(|name| name == "acorn").unwrap() / 2
        );
    }
}

#[test]
fn excludes_evals_without_a_task_and_needs_two() {
    let plot = families();
    plot.sow("seed", "sort", &[point(json!({"length": 4}), 1, 1)]);
    let run = plot.ask("similarity", &[]);
    assert!(
        run.stderr.contains("seed has no trials of arithmetic, boolean, dates and is excluded"),
        "{run:?}"
    );
    assert_eq!(
        plot.json("similarity", &["--filter", "base_task=sort"])["members"].as_array().unwrap().len(),
        5
    );
    assert_rejected(
        &plot.ask("similarity", &["--filter", "model=org/oak"]),
        &["at least two evaluations", "1 has every task"],
    );
    assert_rejected(
        &plot.ask("similarity", &["--shape", "--filter", "base_task=sort"]),
        &["1 task has no shape"],
    );
    assert_rejected(&plot.ask("similarity", &["--filter", "model=gpt"]), &["nothing in the study matches"]);
    let cut = Plot::new();
    for name in ["a", "b"] {
        cut.sow(name, "sort", &[Planted { truncated: 9, ..point(json!({"length": 4}), 9, 0) }]);
    }
    assert_eq!(number(&cut.json("similarity", &[])["merges"][0]["height"]), 0.0);
    assert_rejected(
        &cut.ask("similarity", &["--mode", "C_I"]),
        &["0 have every task", "a has no estimate on sort"],
    );
}

/// Points that the generators know.
fn prompts() -> Plot {
    let plot = Plot::new();
    let points = [4, 48].map(|length| point(json!({"length": length, "max_depth": 1}), 8, 4));
    plot.sow("only", "arithmetic", &points);
    plot.sow("only", "imported", &[point(json!({"id": 7}), 8, 4)]);
    plot
}

#[test]
fn spectra_match_across_seeds_and_differ_across_points() {
    let plot = prompts();
    let short = ["--filter", "base_task=arithmetic", "--filter", "params.length=48"];
    let more = |more: &[&'static str]| [&short[..], more].concat();
    for series in ["words", "classes"] {
        let same = plot.json("spectrum", &more(&["--series", series]));
        assert_eq!(
            (&same["verdict"], &same["b"]["seed"]),
            (&json!("no difference seen"), &json!(1)),
            "{same}"
        );
        assert!(number(&same["p"]) > 0.05 && number(&same["distance_db"]) <= number(&same["chance_db"]));
        assert_eq!((number(&same["a"]["prompts"]), number(&same["b"]["prompts"])), (32.0, 32.0));
        let other = plot.json(
            "spectrum",
            &more(&["--series", series, "--against", "base_task=arithmetic", "--against", "params.length=4"]),
        );
        assert_eq!((&other["verdict"], &other["b"]["seed"]), (&json!("different"), &json!(0)), "{series}");
        assert!(number(&other["p"]) <= 0.001 && number(&other["distance_db"]) > number(&other["chance_db"]));
    }
    let itself = plot.json("spectrum", &more(&["--against-seed", "0"]));
    assert_eq!((number(&itself["distance_db"]), number(&itself["p"])), (0.0, 1.0));
    let run = plot.ask("spectrum", &more(&["--bins", "4"]));
    insta::assert_snapshot!("spectrum", format!("{}{}", run.stdout, run.stderr));
    plot.draws("spectrum", &short, &["no significant difference", "cycles per word"]);
}

#[test]
fn mean_spectrum_matches_generated_prompts() {
    let plot = prompts();
    let filter = ["--filter", "base_task=arithmetic", "--filter", "params.length=48"];
    let found = plot.json("spectrum", &[&filter[..], &["--bins", "1", "--count", "8"]].concat());
    let point = "{\"length\": 48, \"max_depth\": 1}";
    let tests =
        crate::test_env::reasonscape(&["generate", "arithmetic@1", "--params", point, "--count", "8"]);
    // With one cell from 0 to one half the density is twice the variance of the windowed series.
    let script = "
import json, math, sys
powers = []
for line in sys.stdin:
    x = [len(word) for word in json.loads(line)['prompt'].split()]
    n, mean = len(x), sum(x) / len(x)
    w = [0.5 - 0.5 * math.cos(2 * math.pi * i / n) for i in range(n)]
    powers.append(sum((wi * (xi - mean)) ** 2 for wi, xi in zip(w, x)) / sum(wi * wi for wi in w))
print(2 * sum(powers) / len(powers))";
    let Some(printed) = reasonscape_test_support::python(script, &tests.stdout) else { return };
    let expected: f64 = printed.trim().parse().unwrap();
    let mean = number(&found["a"]["mean"][0]);
    assert!((mean - expected).abs() < 1e-9 * expected, "{mean} {expected}");
}

#[test]
fn names_prompts_that_cannot_be_regenerated() {
    let plot = prompts();
    assert_rejected(
        &plot.ask("spectrum", &[]),
        &["`imported` is not a built-in task", "--filter base_task="],
    );
    assert_rejected(
        &plot.ask("spectrum", &["--filter", "model=gpt"]),
        &["nothing in the study matches `model=gpt`"],
    );
    assert_rejected(&plot.ask("spectrum", &["--count", "0"]), &["--count"]);
    let few = plot.json("spectrum", &["--filter", "base_task=arithmetic", "--count", "1"]);
    assert_eq!((number(&few["a"]["prompts"]), &few["verdict"]), (2.0, &json!("cannot tell")));
    plot.sow("only", "sort", &[point(json!({"lenght": 4}), 8, 4)]);
    assert_rejected(
        &plot.ask("spectrum", &["--filter", "base_task=sort"]),
        &["cannot be generated again", "did you mean `length`?"],
    );
}
