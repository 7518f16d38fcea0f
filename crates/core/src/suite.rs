//! Suites: which points are asked, declared as manifolds over the parameters of tasks.

mod read;

use std::collections::HashMap;
use std::sync::Arc;

use crate::{Params, Task, canonical_json};

/// What a model is asked: points on difficulty manifolds, each with a number of tests.
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
    /// Name by which it is called.
    pub name: String,
    /// One or two sentences for a person.
    pub description: String,
    /// The global seed: another one is another set of tests on the same points.
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
    /// Every point, in the order of the axes, the last one moving fastest.
    pub points: Vec<Params>,
    /// How people like to look at it.
    pub views: Vec<View>,
}

/// A way to look at a manifold: accuracy along one parameter (a projection) or over two (a surface). Parameters that
/// are not named are pooled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View {
    /// The parameter along which to look.
    pub x: String,
    /// The second one, for a surface.
    pub y: Option<String>,
}

/// One place in parameter space, asked once however many manifolds run through it.
#[derive(Debug, Clone)]
pub struct Point<'a> {
    /// The task.
    pub task: &'a dyn Task,
    /// The coordinates.
    pub params: &'a Params,
    /// Number of tests: the most that any manifold wants here.
    pub count: usize,
    /// The manifolds that run through it.
    pub manifolds: Vec<&'a str>,
}

/// Why a suite is refused, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{problem}", line.map(|line| format!("line {line}: ")).unwrap_or_default())]
pub struct SuiteError {
    /// Line, from 1, where there is one to name.
    pub line: Option<usize>,
    /// What was found and what was expected.
    pub problem: String,
}

/// The suites that are built in, by name.
const BUILT_IN: [(&str, &str); 2] =
    [("quick", include_str!("../suites/quick.toml")), ("r12", include_str!("../suites/r12.toml"))];

impl Suite {
    /// Reads a suite from TOML.
    ///
    /// # Errors
    /// A [`SuiteError`] that names the line, what is wrong with it and what would be right.
    pub fn parse(text: &str) -> Result<Self, SuiteError> {
        read::suite(text)
    }

    /// The names of the built-in suites.
    pub fn built_in_names() -> impl Iterator<Item = &'static str> {
        BUILT_IN.iter().map(|(name, _)| *name)
    }

    /// The text of a built-in suite.
    pub fn built_in(name: &str) -> Option<&'static str> {
        BUILT_IN.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
    }

    /// Every point once, in the order in which the manifolds first reach it.
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
        write!(f, "{}@{}", self.name(), self.version())
    }
}
