//! A study as its `study.toml` describes it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use reasonscape_core::{Dataset, Point, Suite};

use crate::toml_document::{quoted_path, read};
use crate::{Eval, Selection, StudyError, validate};

/// A study: everything that its `study.toml` says, checked, with the suite, templates and samplers that it names.
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
    /// The folder that holds everything of the study.
    pub dir: PathBuf,
    /// The points, and the tests at each.
    pub suite: Suite,
    /// The suite as it is written; nothing where it was made of a dataset.
    pub suite_text: String,
    /// The dataset that the suite was made of, if it was.
    pub dataset: Option<Dataset>,
    /// Tests at every point, instead of what the suite says.
    pub count: Option<usize>,
    /// How closely every point is to be measured, where that decides how many tests it gets.
    pub precision: Option<Precision>,
    /// The global seed: the study's, or else the suite's.
    pub seed: i64,
    /// Samples per test.
    pub repeats: u32,
    /// What the study may use up.
    pub budget: Budget,
    /// The models, and how they are queried.
    pub evals: Vec<Eval>,
}

/// How closely a point is measured before it is left alone.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Precision {
    /// Half the width that its `C_P` interval should reach.
    pub margin: f64,
    /// The tests after which a point is left alone anyway.
    pub max_count: usize,
}

impl Precision {
    /// `max_count` unless the study says otherwise. A margin of 0.05 at an accuracy of one half takes about 380 tests.
    pub const MAX_COUNT: usize = 512;
}

/// What a study may use up; nothing is limited that is not given.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Budget {
    /// Tokens of prompts and completions together.
    pub tokens: Option<u64>,
    /// Requests sent.
    pub requests: Option<u64>,
    /// Money, in whatever the prices of the evals are in.
    pub money: Option<f64>,
    /// Time on the clock.
    pub time: Option<Duration>,
}

impl Study {
    /// The name of the file in a study's folder.
    pub const FILE: &'static str = "study.toml";

    /// The name of the response cache in a study's folder.
    pub const CACHE_FILE: &'static str = "cache.sqlite";

    /// A study file with every key explained: what `reasonscape init` writes, and the manual.
    pub const COMMENTED: &'static str = include_str!("commented.toml");

    /// Reads a study, given its folder or its file.
    ///
    /// # Errors
    /// A [`StudyError`] that names the file, the line and what would be right.
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

    /// Reads a study from text, as if it stood in `dir`.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub fn parse(text: &str, dir: &Path) -> Result<Self, StudyError> {
        validate::study(text, &quoted_path(&dir.join(Self::FILE)), dir)
    }

    /// Where the study keeps its responses.
    pub fn cache_path(&self) -> PathBuf {
        self.dir.join(Self::CACHE_FILE)
    }

    /// How many tests a point of the suite gets, before any precision asks for more: what is selected, or else what
    /// the study or the suite says, and never more than there are.
    pub fn count_at(&self, point: &Point<'_>, selection: &Selection) -> usize {
        let count = selection.count.or(self.count).unwrap_or(point.count);
        point.task.listed().map_or(count, |items| count.min(items.len()))
    }
}
