//! `reasonscape analyze compression` on sizes that were planted, and on simulated models that go round in circles.

use reasonscape_cache::{Cache, CacheError};
use reasonscape_core::{Outcome, Suite};
use reasonscape_points::Trial;
use reasonscape_simulator::{SimulateOptions, SimulatedServer};
use reasonscape_test_support::study_toml;
use serde_json::{Value, json};

use super::number;
use super::outcomes::{Draws, Planted, edges, ended};
use crate::test_env::{assert_rejected, reasonscape};

/// A trial with so many bits per token.
fn weighing(status: Outcome, tokens: u64, bits: f64) -> Trial {
    Trial { compressed_size: (bits * tokens as f64 / 8.0) as u64, ..ended(status, tokens) }
}

/// Right answers have 6 to 10 bits per token and wrong ones 5 to 9; one trial in twenty is a loop.
fn study() -> Planted {
    let mut draws = Draws(6);
    let trials = (0..2_000).map(|number| match number % 20 {
        0 => weighing(Outcome::Truncated, 4_096, 0.2),
        1..11 => weighing(Outcome::Correct, 2_000, 6.0 + 4.0 * draws.share()),
        11..18 => weighing(Outcome::Incorrect, 2_000, 5.0 + 4.0 * draws.share()),
        _ => weighing(Outcome::Truncated, 4_096, 4.0 + draws.share()),
    });
    Planted::new().with("loopy", "sort", trials.collect())
}

#[test]
fn finds_planted_effect_and_loop_rate() {
    let study = study();
    let found = study.json("compression", &[]);
    let row = &found["rows"][0];
    // P(right > wrong) of two even distributions of width 4, one 1 higher: 1 - (3/4)² / 2.
    let effect = &row["bits_effect"];
    let delta = 2.0 * (1.0 - 0.5 * 0.75 * 0.75) - 1.0;
    assert!(number(&effect["low"]) <= delta && delta <= number(&effect["high"]), "{effect}");
    assert!(number(&effect["high"]) - number(&effect["low"]) < 0.12, "{effect}");
    assert!((2.0 * number(&effect["auc"]) - 1.0 - number(&effect["delta"])).abs() < 1e-12);
    assert_eq!((&effect["n_correct"], &effect["n_incorrect"]), (&json!(1_000), &json!(700)));
    let correct = &row["correct"]["bits_per_token"];
    assert!(number(&correct["median_low"]) <= 8.0 && 8.0 <= number(&correct["median_high"]), "{correct}");
    assert!((number(&correct["lower"]) - 7.0).abs() < 0.3 && (number(&correct["upper"]) - 9.0).abs() < 0.3);

    let loops = &row["loops"];
    assert_eq!((&loops["count"], &loops["of"]), (&json!(100), &json!(2_000)));
    assert!(number(&loops["share"]["low"]) < 0.05 && 0.05 < number(&loops["share"]["high"]));
    // A quarter of the median of the answers.
    assert!((number(&loops["rule"]["bits_below"]) - 1.9).abs() < 0.1, "{loops}");
    let example = &found["examples"][0];
    assert_eq!(
        (&example["task"], &example["index"], &example["status"], &example["words"]),
        (&json!("sort"), &json!(0), &json!("truncated"), &Value::Null)
    );
    assert_eq!(study.json("compression", &["--loop-bits", "0.1"])["rows"][0]["loops"]["count"], 0);
    assert_eq!(study.json("compression", &["--examples", "0"])["examples"], json!([]));
}

#[test]
fn tokens_match_the_compressed_text() {
    // 800 bytes of reasoning: by its own tokens, by its share of the characters, and hidden so that only the answer
    // was compressed.
    let base = Trial { compressed_size: 800, ..ended(Outcome::Correct, 1_000) };
    let counted =
        Trial { reasoning_chars: 10, answer_chars: 90, reasoning_tokens: Some(800), ..base.clone() };
    let shared = Trial { reasoning_chars: 40, answer_chars: 60, ..base.clone() };
    let hidden = Trial { reasoning_chars: 0, reasoning_tokens: Some(500), ..base.clone() };
    let empty = Trial { reasoning_chars: 0, compressed_size: 20, ..base };
    for (name, trial, bits) in [
        ("counted", counted, Some(8.0)),
        ("shared", shared, Some(16.0)),
        ("hidden", hidden, Some(12.8)),
        ("empty", empty, None),
    ] {
        let found = Planted::new().with("m", "sort", vec![trial]).json("compression", &[]);
        let median = &found["rows"][0]["correct"]["bits_per_token"]["median"];
        assert_eq!(median.as_f64(), bits, "{name}");
    }
}

#[test]
fn tables_match_snapshots() {
    let study = study();
    let show = |more: &[&str]| {
        let run = study.ask("compression", more);
        assert_eq!(run.code, 0, "{run:?}");
        format!("{}{}", run.stdout, run.stderr)
    };
    insta::assert_snapshot!("compression", show(&[]));
    insta::assert_snapshot!("compression_sizes", show(&["--measure", "size", "--by", "eval"]));
    let header = show(&["--format", "csv"]);
    insta::assert_snapshot!("compression_csv_header", header.lines().next().unwrap());
}

#[test]
fn rows_have_documented_keys_and_a_figure() {
    let study = study();
    let found = study.json("compression", &[]);
    let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>().join(" ");
    assert_eq!(
        keys(&found["rows"][0]),
        "base_task bits_effect correct equal_length_effect eval_id finding groups incorrect loops model n name sampler size_effect task template \
         truncated"
    );
    assert_eq!(
        keys(&found["examples"][0]),
        "base_task bits_per_token cache_key completion_tokens compressed_size eval_id index params repeat status task words"
    );
    study.draws("compression", &[]);
    study.draws("compression", &["--measure", "size"]);
}

#[test]
fn describes_edge_cases() {
    for (name, study) in edges() {
        let run = study.in_every_form("compression", &[]);
        let expected = match name {
            // Seven tokens compress to no more than gzip's header.
            "one right" | "one cut off" | "uncounted" | "no tokens" => "cannot tell: no token counts",
            "all right" => "no comparison of correct and incorrect answers: no answer is incorrect",
            "all wrong" => "no comparison of correct and incorrect answers: no answer is correct",
            "all cut off" => "no comparison of correct and incorrect answers: every trial was truncated",
            _ => "no scored trials yet",
        };
        assert!(run.stderr.contains(expected), "{name}: {run:?}");
    }
}

#[test]
fn rejects_invalid_arguments_with_a_hint() {
    let study = study();
    for bits in ["0", "-1"] {
        assert_rejected(&study.ask("compression", &["--loop-bits", bits]), &["`--loop-bits ", "e.g. 1.5"]);
    }
}

#[test]
fn shows_the_text_of_repetition_loops() {
    const SUITE: &str = r#"
        name = "small"
        count = 150
        [[manifold]]
        id = "dates"
        task = "dates@1"
        points = [{}]
    "#;
    const LOOP: &[u8] = b"Wait, let me check that again. Wait, let me check that again.";
    let server = SimulatedServer::start(SimulateOptions {
        suites: vec![Suite::parse(SUITE).unwrap()],
        count: Some(150),
        threads: 1,
        ..SimulateOptions::default()
    })
    .unwrap();
    let study = Planted::new();
    let folder = study.folder.path();
    std::fs::write(folder.join("small.toml"), SUITE).unwrap();
    let text = study_toml("small.toml", &server.base_url(), &["sim-specialist"], "sampler = \"greedy-2k\"");
    std::fs::write(folder.join("study.toml"), text).unwrap();
    let run = reasonscape(&["run", study.path()]);
    assert_eq!(run.code, 0, "{run:?}");

    // What the replies themselves say.
    let mut looping = 0;
    let reader = Cache::open_read_only(folder.join("cache.sqlite")).unwrap().reader().unwrap();
    reader
        .for_each(|entry| {
            looping += u64::from(entry.response.body.windows(LOOP.len()).any(|window| window == LOOP));
            Ok::<(), CacheError>(())
        })
        .unwrap();
    assert!(looping > 3, "{looping}");
    let found = study.json("compression", &[]);
    assert_eq!(found["rows"][0]["loops"]["count"], looping);
    let example = &found["examples"][0];
    assert!(example["words"].as_str().unwrap().contains("let me check that again. Wait,"), "{example}");
}
