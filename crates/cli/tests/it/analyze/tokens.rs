//! `reasonscape analyze tokens` against going through the trials one by one.

use reasonscape_core::Outcome;
use reasonscape_points::Trial;
use reasonscape_stats::{Confidence, Counters, Mode};
use serde_json::{Value, json};

use super::number;
use super::outcomes::{Draws, Planted, edges, ended};
use crate::test_env::assert_rejected;

const LIMIT: u64 = 1_000;

/// Three out of five are right and one is wrong, after any number of tokens up to the limit; one is cut off there.
fn trials(draws: &mut Draws, n: u64) -> Vec<Trial> {
    let one = |_| {
        let tokens = 1 + draws.below(LIMIT);
        let trial = match draws.below(5) {
            0..3 => ended(Outcome::Correct, tokens),
            3 => ended(Outcome::Incorrect, tokens),
            _ => ended(Outcome::Truncated, LIMIT),
        };
        Trial { guess: 0.25, ..trial }
    };
    (0..n).map(one).collect()
}

fn tokens(trial: &Trial) -> u64 {
    trial.completion_tokens.unwrap()
}

#[test]
fn smaller_limits_match_counting() {
    let all = trials(&mut Draws(3), 3_000);
    let study = Planted::new().with("m", "sort", all.clone());
    let limits = [1, 100, 500, 999, 1_000, 4_000];
    let asked: Vec<String> = limits.iter().map(|limit| format!("--budget={limit}")).collect();
    let found = study.json("tokens", &asked.iter().map(String::as_str).collect::<Vec<_>>());
    let row = &found[0];
    assert_eq!((&row["n"], &row["exact_up_to"], &row["mode"]), (&json!(3_000), &json!(LIMIT), &json!("C_P")));
    let budgets = row["budgets"].as_array().unwrap();
    assert_eq!(budgets.len(), limits.len());
    for (point, limit) in budgets.iter().zip(limits) {
        let within: Vec<&Trial> =
            all.iter().filter(|trial| tokens(trial) <= limit && trial.status != Outcome::Truncated).collect();
        let right = within.iter().filter(|trial| trial.status == Outcome::Correct).count() as f64;
        let (n_t, g) = ((3_000 - within.len()) as f64, within.len() as f64 * 0.25);
        let counters = [3_000.0, right, n_t, g];
        assert_eq!(["n", "n_e", "n_t", "g"].map(|key| number(&point[key])), counters, "{limit}");
        let estimate = Mode::C_P.estimate(&Counters::new(3_000.0, right, n_t, g).unwrap(), Confidence::P95);
        let accuracy = &point["accuracy"];
        assert_eq!((number(&accuracy["low"]), number(&accuracy["high"])), (estimate.low, estimate.high));
        let spent: u64 = all.iter().map(|trial| tokens(trial).min(limit)).sum();
        let mean = &point["mean_tokens"];
        assert!((number(&mean["mean"]) - spent as f64 / 3_000.0).abs() < 1e-9, "{limit}");
        let price = number(&point["tokens_per_correct"]["mean"]);
        assert!((price - spent as f64 / right).abs() < 1e-6 * price, "{limit}");
        assert_eq!(point["exact"], limit <= LIMIT);
    }
    // Tokens of right answers are even from 1 to 1000: 95 % of them have come by 950, give or take 13.
    let enough = &row["enough"]["tokens"];
    let [low, high] = ["low", "high"].map(|key| number(&enough[key]));
    assert!(low <= 950.0 && 950.0 <= high && high - low < 40.0, "{enough}");
}

/// One in which longer is better, and one that was never cut off.
fn two() -> Planted {
    let mut draws = Draws(8);
    let quick = (0..200).map(|_| ended(Outcome::Correct, 50 + draws.below(20))).collect();
    Planted::new().with("cut", "sort", trials(&mut Draws(4), 500)).with("quick", "sort", quick)
}

#[test]
fn tables_match_snapshots() {
    let study = two();
    let show = |more: &[&str]| {
        let run = study.ask("tokens", more);
        assert_eq!(run.code, 0, "{run:?}");
        format!("{}{}", run.stdout, run.stderr)
    };
    insta::assert_snapshot!("tokens", show(&[]));
    insta::assert_snapshot!("tokens_limits", show(&["--curve"]));
    insta::assert_snapshot!("tokens_csv", show(&["--format", "csv", "--budget", "2000"]));
}

#[test]
fn rows_have_documented_keys_and_a_figure() {
    let study = two();
    let found = study.json("tokens", &["--by", "eval"]);
    let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>().join(" ");
    assert_eq!(
        keys(&found[0]),
        "base_task budgets enough eval_id exact_up_to finding groups mode model n name now sampler task template \
         without_tokens"
    );
    assert_eq!(
        keys(&found[0]["now"]),
        "accuracy budget exact g mean_tokens n n_e n_t n_u tokens_per_correct"
    );
    assert_eq!((&found[1]["exact_up_to"], &found[1]["task"]), (&Value::Null, &Value::Null));
    study.draws("tokens", &[]);
    study.draws("tokens", &["--filter", "model=cut"]);
}

#[test]
fn describes_edge_cases() {
    for (name, study) in edges() {
        let run = study.in_every_form("tokens", &["--curve"]);
        let expected = match name {
            "one right" => "a limit of 7 tokens (7 to ?) would keep 95 % of the correct answers",
            "all right" => "would keep 95 % of the correct answers",
            "one cut off" | "all cut off" | "all wrong" => "cannot tell: no answer is correct",
            "uncounted" => "cannot tell: no token counts",
            "no tokens" => "a limit of 0 tokens",
            _ => "no scored trials yet",
        };
        assert!(run.stderr.contains(expected), "{name}: {run:?}");
    }
}

#[test]
fn rejects_invalid_arguments_with_a_hint() {
    let study = two();
    for keep in ["0", "1.5", "-1"] {
        assert_rejected(&study.ask("tokens", &["--keep", keep]), &["`--keep ", "0.95 for 95 %"]);
    }
    assert_rejected(&study.ask("tokens", &["--confidence", "95"]), &["`--confidence 95`"]);
}
