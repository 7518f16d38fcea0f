//! Studies in which every count was put there on purpose.

use reasonscape_core::Outcome;
use reasonscape_points::{PointTrials, Provenance, UnitWriter};
use serde_json::Value;
use tempfile::TempDir;

use crate::test_env::{Run, eval_info, reasonscape_at, trial};

/// What is planted at a point.
#[derive(Debug, Clone)]
pub(super) struct Planted {
    pub(super) params: Value,
    pub(super) n: u64,
    pub(super) right: u64,
    pub(super) truncated: u64,
    pub(super) guess: f64,
}

/// So many trials at these coordinates, of which so many are right; nothing is truncated or guessed.
pub(super) fn point(params: Value, n: u64, right: u64) -> Planted {
    Planted { params, n, right, truncated: 0, guess: 0.0 }
}

pub(super) struct Plot {
    folder: TempDir,
}

impl Plot {
    pub(super) fn new() -> Self {
        Self { folder: TempDir::new().unwrap() }
    }

    pub(super) fn path(&self) -> &str {
        self.folder.path().to_str().unwrap()
    }

    /// Adds the points of an evaluation on a task.
    pub(super) fn sow(&self, name: &str, task: &str, points: &[Planted]) {
        let eval = eval_info(name, name, &[]);
        let mut writer = UnitWriter::new(self.folder.path(), eval, task).unwrap();
        for planted in points {
            let status = |index| match index {
                right if right < planted.right => Outcome::Correct,
                cut if cut < planted.right + planted.truncated => Outcome::Truncated,
                _ => Outcome::Incorrect,
            };
            let trials = (0..planted.n).map(|index| trial(index, status(index), planted.guess));
            writer
                .write_point(PointTrials {
                    params: planted.params.to_string(),
                    manifolds: vec!["all".to_owned()],
                    planned: planted.n,
                    trials: trials.collect(),
                    ..PointTrials::default()
                })
                .unwrap();
        }
        writer.finish(&Provenance::default()).unwrap();
    }

    /// `analyze QUESTION STUDY …` on a terminal of 100 columns.
    pub(super) fn ask(&self, question: &str, more: &[&str]) -> Run {
        let run = reasonscape_at(100, &[&["analyze", question, self.path()], more].concat());
        for bad in ["panicked", "NaN", "inf"] {
            assert!(!format!("{}{}", run.stdout, run.stderr).contains(bad), "{bad} in {run:?}");
        }
        run
    }

    pub(super) fn json(&self, question: &str, more: &[&str]) -> Value {
        let run = self.ask(question, &[more, &["--format", "json"]].concat());
        assert_eq!(run.code, 0, "{run:?}");
        serde_json::from_str(&run.stdout).unwrap()
    }

    /// The question drawn as each of the three kinds of picture, which are read back by something that is not ours.
    pub(super) fn draws(&self, question: &str, more: &[&str], says: &[&str]) {
        self.draws_as(&["svg", "png", "html"], question, more, says);
        let refused = self.ask(question, &[more, &["--plot", "picture.pdf"]].concat());
        crate::test_env::assert_rejected(&refused, &["`picture.pdf`", ".svg, .png or .html"]);
    }

    /// The same as SVG only.
    pub(super) fn draws_svg(&self, question: &str, more: &[&str], says: &[&str]) {
        self.draws_as(&["svg"], question, more, says);
    }

    fn draws_as(&self, endings: &[&str], question: &str, more: &[&str], says: &[&str]) {
        for ending in endings {
            let file = self.folder.path().join(format!("{question}.{ending}"));
            let target = file.to_str().unwrap();
            let run = self.ask(question, &[more, &["--plot", target]].concat());
            assert_eq!(run.code, 0, "{run:?}");
            assert!(run.stderr.contains(&format!("wrote the figure to `{target}`")), "{run:?}");
            let bytes = std::fs::read(&file).unwrap();
            match *ending {
                "png" => assert!(bytes.starts_with(b"\x89PNG\r\n\x1a\n") && bytes.len() > 1000),
                "svg" => {
                    let text = String::from_utf8(bytes).unwrap();
                    for word in says {
                        assert!(text.contains(word), "`{word}` is not in the picture of {question}");
                    }
                    assert!(!text.contains("NaN"), "{text}");
                    let script = "import sys, xml.etree.ElementTree as tree\nprint(tree.parse(sys.stdin).getroot().tag)";
                    if let Some(root) = reasonscape_test_support::python(script, &text) {
                        assert_eq!(root.trim(), "{http://www.w3.org/2000/svg}svg");
                    }
                }
                _ => assert!(String::from_utf8(bytes).unwrap().to_lowercase().contains("</html>")),
            }
        }
    }
}
