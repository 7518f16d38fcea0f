//! A study as its `study.toml` describes it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use reasonscape_core::{Dataset, Point, Suite};

use crate::toml_document::{quoted_path, read};
use crate::{Eval, Selection, StudyError, validate};

/// A validated `study.toml` with the suite, templates and samplers it refers to.
///
/// ```
/// use std::path::Path;
/// use reasonscape_study::Study;
///
/// let study = Study::parse(r#"
///     suite = "quick"
///
///     [[eval]]
///     model = "smollm2-135m-instruct"
///     base_url = "http://127.0.0.1:8089/v1"
///     groups = ["family:smollm", "size:tiny"]
/// "#, Path::new("."))?;
/// assert_eq!(study.evals[0].facets["family"], "smollm");
/// assert_eq!(study.evals[0].template.name, "zero-shot-cot");
///
/// let error = Study::parse("suite = \"quick\"\nrepaets = 2", Path::new(".")).unwrap_err();
/// assert!(error.to_string().contains("line 2: unknown key `repaets` (did you mean `repeats`?)"));
/// # Ok::<(), reasonscape_study::StudyError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Study {
    /// The study directory.
    pub dir: PathBuf,
    /// The points, and the tests at each.
    pub suite: Suite,
    /// Source text of the suite; empty if it was built from a dataset.
    pub suite_text: String,
    /// The dataset that the suite was built from, if any.
    pub dataset: Option<Dataset>,
    /// Tests per point; overrides the suite.
    pub count: Option<usize>,
    /// Adaptive sampling: sample each point until it reaches this precision.
    pub precision: Option<Precision>,
    /// The global seed: the study's, or else the suite's.
    pub seed: i64,
    /// Samples per test.
    pub repeats: u32,
    /// Budget of a run.
    pub budget: Budget,
    /// The evaluations: models and their request settings.
    pub evals: Vec<Eval>,
    /// The version of tasks and suites that is meant where `study.toml` and its suite name none; `None` if a version is
    /// named, and for datasets.
    pub implied_version: Option<u32>,
    /// Notes for the user, such as deprecated keys, each with its file and line.
    pub notices: Vec<String>,
}

/// Target precision of each point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Precision {
    /// Target half-width of the `C_P` confidence interval.
    pub margin: f64,
    /// Maximum number of tests per point.
    pub max_count: usize,
}

impl Precision {
    /// Default of `max_count`. A margin of 0.05 at an accuracy of one half takes about 380 tests.
    pub const MAX_COUNT: usize = 512;
}

/// Limits on what a study may use; `None` means unlimited.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Budget {
    /// Tokens of prompts and completions together.
    pub tokens: Option<u64>,
    /// Requests sent.
    pub requests: Option<u64>,
    /// Cost, in the currency of the prices of the evals.
    pub money: Option<f64>,
    /// Wall-clock time.
    pub time: Option<Duration>,
}

impl Study {
    /// Name of the study file in the study directory.
    pub const FILE: &'static str = "study.toml";

    /// Name of the response cache in the study directory.
    pub const CACHE_FILE: &'static str = "cache.sqlite";

    /// A study file with every key explained: what `reasonscape init` writes, and the manual.
    pub const COMMENTED: &'static str = include_str!("commented.toml");

    /// Reads a study from its directory or its `study.toml`.
    ///
    /// # Errors
    /// A [`StudyError`] that names the file, the line and the expected value.
    pub fn load(path: &Path) -> Result<Self, StudyError> {
        let file = if path.is_dir() { path.join(Self::FILE) } else { path.to_owned() };
        let dir = match file.parent() {
            Some(dir) if dir != Path::new("") => dir,
            _ => Path::new("."),
        };
        let text = read(&file)?.ok_or_else(|| {
            let dir = if path.extension().is_some() { dir } else { path };
            StudyError::Missing { origin: quoted_path(&file), dir: dir.display().to_string() }
        })?;
        validate::study(&text, &quoted_path(&file), dir)
    }

    /// Reads a study from text, as if it were in `dir`.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub fn parse(text: &str, dir: &Path) -> Result<Self, StudyError> {
        validate::study(text, &quoted_path(&dir.join(Self::FILE)), dir)
    }

    /// Path of the response cache.
    pub fn cache_path(&self) -> PathBuf {
        self.dir.join(Self::CACHE_FILE)
    }

    /// Tests per point before adaptive sampling: from the selection, else the study, else the suite; at most the number of
    /// questions of a dataset.
    pub fn count_at(&self, point: &Point<'_>, selection: &Selection) -> usize {
        let count = selection.count.or(self.count).unwrap_or(point.count);
        point.task.listed().map_or(count, |items| count.min(items.len()))
    }
}
