//! Studies whose trials are planted one by one.

use reasonscape_core::Outcome;
use reasonscape_points::{EvalInfo, PointTrials, Trial, UnitWriter};
use serde_json::Value;
use tempfile::TempDir;

use crate::test_env::{Run, provenance, reasonscape_at, trial};

/// `SplitMix64`: numbers that nothing in the program draws.
pub(super) struct Draws(pub(super) u64);

impl Draws {
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ bits >> 31
    }

    pub(super) fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    /// From 0 to 1.
    pub(super) fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// A trial that ended so after so many tokens.
pub(super) fn ended(status: Outcome, tokens: u64) -> Trial {
    Trial {
        completion_tokens: Some(tokens),
        answer_chars: 4 * tokens,
        compressed_size: tokens,
        finish: if status == Outcome::Truncated { "length" } else { "stop" }.to_owned(),
        ..trial(0, status, 0.0)
    }
}

pub(super) struct Planted {
    pub(super) folder: TempDir,
}

impl Planted {
    pub(super) fn new() -> Self {
        Self { folder: TempDir::new().unwrap() }
    }

    /// The same with these trials of this model on this task, all at one point.
    pub(super) fn with(self, model: &str, task: &str, trials: Vec<Trial>) -> Self {
        self.with_points(model, task, vec![(r#"{"length": 8}"#, trials)])
    }

    /// The same with the trials of this model at these points of a task, each of another problem.
    pub(super) fn with_points(self, model: &str, task: &str, points: Vec<(&str, Vec<Trial>)>) -> Self {
        let numbered = |trials: Vec<Trial>| -> Vec<Trial> {
            trials.into_iter().zip(0..).map(|(trial, index)| Trial { index, ..trial }).collect()
        };
        self.with_samples(
            model,
            task,
            points.into_iter().map(|(at, trials)| (at, numbered(trials))).collect(),
        )
    }

    /// The same with these trials, which say of which problem and sample they are.
    pub(super) fn with_samples(self, model: &str, task: &str, points: Vec<(&str, Vec<Trial>)>) -> Self {
        let eval = EvalInfo {
            eval_id: reasonscape_study::EvalId::new(model, "zeroshot", "greedy").to_string(),
            model: model.to_owned(),
            template: "zeroshot".to_owned(),
            sampler: "greedy".to_owned(),
            name: model.to_owned(),
            groups: Vec::new(),
        };
        let mut writer = UnitWriter::new(self.folder.path(), eval, task).unwrap();
        for (params, trials) in points {
            writer
                .write_point(PointTrials {
                    params: params.to_owned(),
                    manifolds: vec!["all".to_owned()],
                    planned: trials.len().max(1) as u64,
                    trials,
                    ..PointTrials::default()
                })
                .unwrap();
        }
        writer.finish(&provenance()).unwrap();
        self
    }

    pub(super) fn path(&self) -> &str {
        self.folder.path().to_str().unwrap()
    }

    pub(super) fn ask(&self, question: &str, more: &[&str]) -> Run {
        let run = reasonscape_at(130, &[&["analyze", question, self.path()], more].concat());
        assert!(!run.stderr.contains("panicked"), "{run:?}");
        for bad in ["NaN", "inf "] {
            assert!(!run.stdout.contains(bad) && !run.stderr.contains(bad), "{run:?}");
        }
        run
    }

    pub(super) fn json(&self, question: &str, more: &[&str]) -> Value {
        let run = self.ask(question, &[more, &["--format", "json"]].concat());
        assert_eq!(run.code, 0, "{run:?}");
        serde_json::from_str(&run.stdout).unwrap()
    }

    /// Runs the analysis in every format and returns the table output with a figure.
    pub(super) fn in_every_form(&self, question: &str, more: &[&str]) -> Run {
        self.json(question, &[]);
        assert_eq!(self.ask(question, &[more, &["--format", "csv"]].concat()).code, 0);
        let path = self.folder.path().join("picture.svg");
        let run = self.ask(question, &["--plot", path.to_str().unwrap()]);
        assert_eq!(run.code, 0, "{run:?}");
        is_drawing(&std::fs::read(&path).unwrap());
        run
    }

    /// Asserts that every figure format is written.
    pub(super) fn draws(&self, question: &str, more: &[&str]) {
        for (kind, start) in [("svg", &b"<svg"[..]), ("png", b"\x89PNG"), ("html", b"<!")] {
            let path = self.folder.path().join(format!("picture.{kind}"));
            let run = self.ask(question, &[more, &["--plot", path.to_str().unwrap()]].concat());
            assert_eq!(run.code, 0, "{run:?}");
            let bytes = std::fs::read(&path).unwrap();
            assert!(bytes.starts_with(start), "{kind}: {:?}", &bytes[..20]);
            if kind == "svg" {
                is_drawing(&bytes);
            }
        }
        let refused = self.ask(question, &[more, &["--plot", "picture.bmp"]].concat());
        assert_eq!((refused.code, refused.stdout.as_str()), (2, ""), "{refused:?}");
        assert!(refused.stderr.contains("svg"), "{refused:?}");
    }
}

fn is_drawing(bytes: &[u8]) {
    let text = str::from_utf8(bytes).unwrap();
    assert!(text.starts_with("<svg") && text.trim_end().ends_with("</svg>"), "{text}");
    assert!(!text.contains("NaN"), "{text}");
}

/// Studies on the edge: one trial, nothing cut off, everything cut off, no tokens counted, nothing answered.
pub(super) fn edges() -> Vec<(&'static str, Planted)> {
    let many = |status, count| (0..count).map(|tokens| ended(status, 10 + tokens)).collect::<Vec<_>>();
    let uncounted = many(Outcome::Correct, 5)
        .into_iter()
        .map(|trial| Trial { completion_tokens: None, ..trial })
        .collect();
    let nowhere = vec![ended(Outcome::Correct, 0), ended(Outcome::Incorrect, 0)];
    vec![
        ("one right", Planted::new().with("m", "sort", vec![ended(Outcome::Correct, 7)])),
        ("one cut off", Planted::new().with("m", "sort", vec![ended(Outcome::Truncated, 7)])),
        ("all right", Planted::new().with("m", "sort", many(Outcome::Correct, 30))),
        ("all wrong", Planted::new().with("m", "sort", many(Outcome::Incorrect, 30))),
        ("all cut off", Planted::new().with("m", "sort", vec![ended(Outcome::Truncated, 64); 20])),
        ("uncounted", Planted::new().with("m", "sort", uncounted)),
        ("no tokens", Planted::new().with("m", "sort", nowhere)),
        ("nothing", Planted::new().with("m", "sort", Vec::new())),
    ]
}
