//! Suites: which points are run, declared as manifolds over the parameters of tasks.

mod read;

use std::collections::HashMap;
use std::sync::Arc;

use crate::{Params, Task, canonical_json, tasks};

/// A benchmark suite: points on difficulty manifolds, each with a number of problems.
///
/// ```
/// use reasonscape_core::Suite;
///
/// let suite = Suite::parse(r#"
///     name = "tiny"
///     description = "two lengths by three depths"
///     count = 16
///
///     [[manifold]]
///     id = "sums"
///     task = "arithmetic"
///     params = { length = [4, 8], max_depth = { from = 0, to = 2 } }
///     view = [{ x = "length" }, { x = "length", y = "max_depth" }]
/// "#)?;
/// assert_eq!(suite.points().len(), 6);
///
/// let error = Suite::parse("name = \"x\"\ncount = 0").unwrap_err();
/// assert_eq!(error.line, Some(2));
/// # Ok::<(), reasonscape_core::SuiteError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Suite {
    /// Its name.
    pub name: String,
    /// A short description.
    pub description: String,
    /// The global seed: a different seed gives different problems at the same points.
    pub seed: i64,
    /// Parts of the parameter space, in the order of the file.
    pub manifolds: Vec<Manifold>,
}

/// A part of a task's parameter space: the product of its axes and, if listed, its base points.
#[derive(Debug, Clone)]
pub struct Manifold {
    /// Name, unique in its suite.
    pub id: String,
    /// The task.
    pub task: Arc<dyn Task>,
    /// Tests per point.
    pub count: usize,
    /// All points, in the order of the axes, the last one varying fastest.
    pub points: Vec<Params>,
    /// Default views.
    pub views: Vec<View>,
}

/// A view of a manifold: accuracy along one parameter (a projection) or over two (a surface). Parameters that
/// are not named are pooled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View {
    /// The parameter of the horizontal axis.
    pub x: String,
    /// The second one, for a surface.
    pub y: Option<String>,
}

/// One point in parameter space, run once even if several manifolds contain it.
#[derive(Debug, Clone)]
pub struct Point<'a> {
    /// The task.
    pub task: &'a dyn Task,
    /// The parameters.
    pub params: &'a Params,
    /// Number of problems: the maximum over the manifolds that contain it.
    pub count: usize,
    /// The manifolds that contain it.
    pub manifolds: Vec<&'a str>,
}

/// An error in a suite, with its line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{problem}", line.map(|line| format!("line {line}: ")).unwrap_or_default())]
pub struct SuiteError {
    /// Line number from 1, if known.
    pub line: Option<usize>,
    /// What was found and what was expected.
    pub problem: String,
}

/// The built-in suites: a name, and the texts of version 1 and 2.
const BUILT_IN: [(&str, [&str; 2]); 2] = [
    ("quick", [include_str!("../suites/v1/quick.toml"), include_str!("../suites/quick.toml")]),
    ("r12", [include_str!("../suites/v1/r12.toml"), include_str!("../suites/r12.toml")]),
];

impl Suite {
    /// The newest version of the built-in suites and tasks.
    pub const NEWEST_VERSION: u32 = BUILT_IN[0].1.len() as u32;
    /// The version that a name without one means in a new study.
    pub const DEFAULT_VERSION: u32 = tasks::DEFAULT_VERSION;

    /// Reads a suite from TOML. A task that is named without a version is its default one.
    ///
    /// # Errors
    /// A [`SuiteError`] with the line, what was found and what was expected.
    pub fn parse(text: &str) -> Result<Self, SuiteError> {
        Self::parse_for(text, Self::DEFAULT_VERSION)
    }

    /// As [`parse`](Self::parse), with another version of the tasks that are named without one.
    ///
    /// # Errors
    /// As [`parse`](Self::parse).
    pub fn parse_for(text: &str, default_version: u32) -> Result<Self, SuiteError> {
        read::suite(text, default_version)
    }

    /// The names of the built-in suites.
    pub fn built_in_names() -> impl Iterator<Item = &'static str> {
        BUILT_IN.iter().map(|(name, _)| *name)
    }

    /// The text of a built-in suite: `quick` is its default version, `quick@1` and `quick@2` name one.
    pub fn built_in(name: &str) -> Option<&'static str> {
        Self::built_in_for(name, Self::DEFAULT_VERSION)
    }

    /// As [`built_in`](Self::built_in), with another version of a suite that is named without one.
    pub fn built_in_for(name: &str, default_version: u32) -> Option<&'static str> {
        let (name, version) = match name.split_once('@') {
            Some((name, version)) => (name, version.parse().ok()?),
            None => (name, default_version),
        };
        let (_, texts) = BUILT_IN.iter().find(|(known, _)| *known == name)?;
        texts.get((version as usize).checked_sub(1)?).copied()
    }

    /// All distinct points, in the order in which the manifolds first contain them.
    pub fn points(&self) -> Vec<Point<'_>> {
        let mut points: Vec<Point<'_>> = Vec::new();
        let mut index_by_point: HashMap<(&str, String), usize> = HashMap::new();
        for manifold in &self.manifolds {
            for params in &manifold.points {
                let identity = (manifold.task.name(), canonical_json(&params.to_json()));
                let index = *index_by_point.entry(identity).or_insert_with(|| {
                    points.push(Point { task: &*manifold.task, params, count: 0, manifolds: Vec::new() });
                    points.len() - 1
                });
                points[index].count = points[index].count.max(manifold.count);
                points[index].manifolds.push(&manifold.id);
            }
        }
        points
    }
}

impl std::fmt::Debug for dyn Task + '_ {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}@{}", self.family(), self.version())
    }
}
