//! `reasonscape analyze hazard` on trials whose hazards are known.

use reasonscape_core::Outcome;
use reasonscape_points::Trial;
use serde_json::{Value, json};

use super::number;
use super::outcomes::{Draws, Planted, edges, ended};
use crate::test_env::assert_rejected;

/// Tokens of a bin, and after how many of them trials are cut off.
const WIDTH: u64 = 100;
const LAST: u64 = 20;

/// The chance to answer right and wrong in a bin, of those that come so far.
fn planted(bin: u64) -> (f64, f64) {
    if bin <= 10 { (0.15, 0.03) } else { (0.04, 0.16) }
}

fn trial(draws: &mut Draws) -> Trial {
    for bin in 1..=LAST {
        let (right, wrong) = planted(bin);
        let tokens = (bin - 1) * WIDTH + 1 + draws.below(WIDTH);
        match draws.share() {
            share if share < right => return ended(Outcome::Correct, tokens),
            share if share < right + wrong => return ended(Outcome::Incorrect, tokens),
            _ => {}
        }
    }
    ended(Outcome::Truncated, LAST * WIDTH)
}

fn study() -> Planted {
    let mut draws = Draws(20);
    let worse = (0..4_000).map(|_| trial(&mut draws)).collect();
    // As long, but as often right late as early.
    let steady = (0..2_000).map(|_| {
        let trial = trial(&mut draws);
        let right = draws.share() < 0.7;
        match trial.status {
            Outcome::Truncated => trial,
            _ => Trial { status: if right { Outcome::Correct } else { Outcome::Incorrect }, ..trial },
        }
    });
    Planted::new().with("steady", "sort", steady.collect()).with("worse", "sort", worse)
}

fn within(bounds: &Value, truth: f64) -> bool {
    number(&bounds["low"]) <= truth && truth <= number(&bounds["high"])
}

#[test]
fn finds_planted_hazards_median_and_change_point() {
    let study = study();
    let found = study.json("hazard", &["--width", "100", "--filter", "model=worse"]);
    let row = &found[0];
    assert_eq!((&row["n"], &row["task"], &row["without_tokens"]), (&json!(4_000), &json!("sort"), &json!(0)));
    let bins = row["bins"].as_array().unwrap();
    assert_eq!(bins.len() as u64, LAST);
    let (mut thinking, mut right_so_far, mut inside) = (1.0, 0.0, 0);
    for (bin, number) in bins.iter().zip(1..) {
        let (right, wrong) = planted(number);
        right_so_far += thinking * right;
        thinking *= 1.0 - right - wrong;
        for (key, truth) in [
            ("correct_hazard", right),
            ("incorrect_hazard", wrong),
            ("accuracy", right / (right + wrong)),
            ("survival", thinking),
            ("answered_correct", right_so_far),
        ] {
            inside += u32::from(within(&bin[key], truth));
        }
    }
    // Of a hundred intervals of 95 %, some of which move together.
    assert!(inside >= 88, "{inside}");
    // 0.82 to the power of 3 is above a half, and half of them have answered 52 tokens into the fourth bin.
    let median = &row["median"];
    assert!(within(median, 351.6) && number(&median["high"]) - number(&median["low"]) < 40.0, "{median}");
    let turn = &row["stops_helping"];
    assert_eq!(turn["beyond"], 1_000);
    assert!(within(turn, 0.2 - 0.15 / 0.18) && number(&turn["high"]) < -0.5, "{turn}");

    let steady = study.json("hazard", &["--width", "100", "--filter", "model=steady"]);
    assert_eq!(steady[0]["stops_helping"], Value::Null);
    assert_eq!(steady[0]["finding"], "accuracy does not drop significantly with more tokens");
}

#[test]
fn tables_match_snapshots() {
    let study = study();
    let show = |more: &[&str]| {
        let run = study.ask("hazard", more);
        assert_eq!(run.code, 0, "{run:?}");
        format!("{}{}", run.stdout, run.stderr)
    };
    insta::assert_snapshot!("hazard", show(&[]));
    insta::assert_snapshot!("hazard_bins", show(&["--bins", "--width", "500"]));
    insta::assert_snapshot!("hazard_csv", show(&["--format", "csv"]));
}

#[test]
fn rows_have_documented_keys() {
    let found = study().json("hazard", &["--by", "eval"]);
    let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>().join(" ");
    assert_eq!(found.as_array().unwrap().len(), 2);
    assert_eq!(
        keys(&found[0]),
        "base_task bins censored correct eval_id finding groups incorrect median model n name sampler stops_helping task \
         template without_tokens"
    );
    assert_eq!(
        keys(&found[0]["bins"][0]),
        "above accuracy answered_correct answered_incorrect at_risk censored correct correct_hazard incorrect \
         incorrect_hazard survival up_to"
    );
    assert_eq!(keys(&found[1]["stops_helping"]), "after after_n before before_n beyond difference high low");
    assert_eq!(found[0]["task"], Value::Null);
}

#[test]
fn draws_figures() {
    let study = study();
    study.draws("hazard", &[]);
    let several = ["a", "b", "c"].into_iter().fold(study, |study, task| {
        study.with("more", task, vec![ended(Outcome::Correct, 9), ended(Outcome::Truncated, 12)])
    });
    several.draws("hazard", &[]);
}

#[test]
fn describes_edge_cases() {
    for (name, study) in edges() {
        let run = study.in_every_form("hazard", &["--bins"]);
        let expected = match name {
            "one right" => "cannot tell: every answer (1) is in the same bin",
            "one cut off" => "cannot tell: every trial was truncated (1)",
            "all cut off" => "cannot tell: every trial was truncated (20)",
            "all right" | "all wrong" => "does not drop significantly",
            "uncounted" => "cannot tell: no token counts",
            "no tokens" => "cannot tell: every answer (2) is in the same bin",
            _ => "no scored trials yet",
        };
        assert!(run.stderr.contains(expected), "{name}: {run:?}");
    }
}

#[test]
fn rejects_invalid_arguments_with_a_hint() {
    let study = study();
    assert_rejected(&study.ask("hazard", &["--width", "1"]), &["`--width 1`", "use 2 or more"]);
    assert_rejected(
        &study.ask("hazard", &["--filter", "model=gpt"]),
        &["nothing in the study matches `model=gpt`"],
    );
    assert_eq!(study.ask("hazard", &["--width", "0"]).code, 2);
    assert_rejected(&study.ask("hazard", &["--mode", "E_P"]), &["--mode"]);
}
