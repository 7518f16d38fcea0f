//! Datasets: the user's own questions with answers, run like a suite.
//!
//! A dataset is JSONL, one item per line: `input` and `target`, and optionally `id`, `options`, `category`, `context`,
//! `metadata` and `scorer`. Each category is a task with a single point, whose tests are the items in their order; a dataset
//! without categories is one task of its own name. From there on they are treated like generated problems.

mod columns;
mod item;
mod options;
mod prompt;
mod row;

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::Arc;

pub use self::columns::{ColumnMap, parse_renames};
pub use self::item::Item;

use crate::{AnswerType, Json, Manifold, Parameter, Params, PyRandom, Scorer, Suite, Task, Test, cache_key};

/// An error in one line of a dataset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineError {
    /// Line number, from 1; row number for tables.
    pub line: usize,
    /// What was found and what was expected.
    pub problem: String,
}

/// A validated dataset.
///
/// ```
/// use reasonscape_core::{Dataset, TestStream};
///
/// let lines = r#"{"id": "a", "input": "What is 6 * 7?", "target": "42", "category": "products"}
/// {"id": "b", "input": "Which is a fruit?", "target": "pear", "options": ["pear", "spade"], "category": "things"}"#;
/// let dataset = Dataset::parse("mine", lines).expect("both lines are right");
/// assert_eq!(dataset.len(), 2);
///
/// let suite = dataset.suite();
/// let point = &suite.points()[1];
/// let test = TestStream::new(point.task, point.params, suite.seed).next().expect("its only test");
/// assert_eq!((point.task.name(), test.guess()), ("things", 0.5));
/// assert!(point.task.check("A", &test));
///
/// let problems = Dataset::parse("mine", r#"{"id": "a", "input": "?"}"#).unwrap_err();
/// assert_eq!(problems[0].line, 1);
/// ```
#[derive(Debug, Clone)]
pub struct Dataset {
    name: String,
    /// The tasks, in the order in which the lines first name them.
    tasks: Vec<Arc<DatasetTask>>,
    /// How answers are compared, where the rows don't say.
    scorer: Option<Scorer>,
}

/// A category of a dataset: a task with a fixed list of tests.
#[derive(Debug)]
pub struct DatasetTask {
    name: String,
    version: u32,
    items: Vec<Item>,
}

impl Dataset {
    /// Parses JSONL with the default field names.
    ///
    /// # Errors
    /// Every invalid line with the reason.
    pub fn parse(name: &str, lines: &str) -> Result<Self, Vec<LineError>> {
        let lines = lines.strip_prefix('\u{feff}').unwrap_or(lines);
        let lines = (1..).zip(lines.split('\n')).filter(|(_, text)| !text.trim().is_empty());
        let items = lines.map(|(line, text)| {
            let item = match serde_json::from_str(text.trim()) {
                Ok(serde_json::Value::Object(row)) => Item::read(&row, &ColumnMap::default(), None),
                Ok(_) => Err("expected an object, `{…}`".to_owned()),
                Err(error) => Err(describe_json_error(&error)),
            };
            (line, item)
        });
        Ok(Self::new(name, check_items(items)?))
    }

    /// Creates a dataset from validated items.
    pub fn new(name: &str, items: Vec<Item>) -> Self {
        let mut groups: Vec<(String, Vec<Item>)> = Vec::new();
        let mut group_index: HashMap<String, usize> = HashMap::new();
        for item in items {
            let task = task_name(item.category.as_deref().unwrap_or(name));
            let index = *group_index.entry(task.clone()).or_insert_with(|| {
                groups.push((task, Vec::new()));
                groups.len() - 1
            });
            groups[index].1.push(item);
        }
        let tasks = groups.into_iter().map(|(name, items)| Arc::new(DatasetTask::new(name, items))).collect();
        Self { name: name.to_owned(), tasks, scorer: None }
    }

    /// The same questions with a scorer, for all rows that don't name one themselves. Where only some questions have
    /// options, those are scored by `choice`, unless `exact` is wanted.
    #[must_use]
    pub fn with_scorer(self, scorer: Scorer) -> Self {
        let is_mixed = self.items().any(|item| item.test.options.is_empty());
        let of_options = if is_mixed && scorer != Scorer::Exact { Scorer::Choice } else { scorer };
        let score = |task: &Arc<DatasetTask>| {
            let mut items = task.items.clone();
            for item in &mut items {
                item.set_scorer(if item.test.options.is_empty() { scorer } else { of_options });
            }
            // The version identifies the questions; how they are scored isn't part of it.
            Arc::new(DatasetTask { name: task.name.clone(), version: task.version, items })
        };
        Self { tasks: self.tasks.iter().map(score).collect(), scorer: Some(scorer), ..self }
    }

    /// How answers are compared, where the rows don't say; `None` for the comparison of studies without a `scorer`.
    pub fn scorer(&self) -> Option<Scorer> {
        self.scorer
    }

    /// All items.
    pub fn items(&self) -> impl Iterator<Item = &Item> {
        self.tasks.iter().flat_map(|task| &task.items)
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Number of items.
    pub fn len(&self) -> usize {
        self.tasks.iter().map(|task| task.items.len()).sum()
    }

    /// Whether it has no items; a parsed dataset has at least one.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The categories.
    pub fn tasks(&self) -> &[Arc<DatasetTask>] {
        &self.tasks
    }

    /// The item that a test of a task comes from.
    pub fn item(&self, task: &str, index: usize) -> Option<&Item> {
        self.tasks.iter().find(|listed| listed.name == task)?.items.get(index)
    }

    /// The items as JSONL, as read by [`parse`](Self::parse).
    pub fn to_lines(&self) -> String {
        let mut lines = String::new();
        for item in self.items() {
            writeln!(lines, "{}", item.to_json()).expect("a string takes everything");
        }
        lines
    }

    /// The dataset as a suite: one manifold with a single point per category.
    pub fn suite(&self) -> Suite {
        let manifold = |task: &Arc<DatasetTask>| Manifold {
            id: task.name.clone(),
            task: Arc::clone(task) as Arc<dyn Task>,
            count: task.items.len(),
            points: vec![
                Params::new(&**task, &Json::Object([].into()))
                    .expect("a list has no parameters that could be invalid"),
            ],
            views: Vec::new(),
        };
        Suite {
            name: self.name.clone(),
            description: format!("{} items of a dataset", self.len()),
            seed: 0,
            manifolds: self.tasks.iter().map(manifold).collect(),
        }
    }
}

/// Validates items that were read line by line: there is at least one, ids are unique, and no two categories
/// map to the same task. Items without ids get their line numbers as ids.
///
/// # Errors
/// Every invalid line with the reason.
pub fn check_items(
    lines: impl IntoIterator<Item = (usize, Result<Item, String>)>,
) -> Result<Vec<Item>, Vec<LineError>> {
    let (items, problems) = valid_items(lines);
    if problems.is_empty() { Ok(items) } else { Err(problems) }
}

/// The valid items, and every invalid line with the reason; see [`check_items`].
///
/// An item without an id gets its line number as id, as `line-7` if other items have ids of their own.
pub fn valid_items(
    lines: impl IntoIterator<Item = (usize, Result<Item, String>)>,
) -> (Vec<Item>, Vec<LineError>) {
    let mut problems = Vec::new();
    let mut read: Vec<(usize, Item)> = Vec::new();
    for (line, item) in lines {
        match item {
            Ok(item) => read.push((line, item)),
            Err(problem) => problems.push(LineError { line, problem }),
        }
    }
    if read.is_empty() && problems.is_empty() {
        let example = r#"{"id": "1", "input": "What is 6 * 7?", "target": "42"}"#;
        problems.push(LineError {
            line: 1,
            problem: format!("the file is empty; expected lines such as {example}"),
        });
    }
    let has_ids = read.iter().any(|(_, item)| !item.id.is_empty());
    let mut ids: HashMap<String, usize> = HashMap::new();
    let mut categories: HashMap<String, String> = HashMap::new();
    let mut items = Vec::with_capacity(read.len());
    for (line, mut item) in read {
        item.line = line;
        let before = problems.len();
        let mut wrong = |problem| problems.push(LineError { line, problem });
        if item.id.is_empty() {
            item.id = if has_ids { format!("line-{line}") } else { line.to_string() };
        }
        if let Some(first) = ids.get(&item.id) {
            wrong(format!("`id` `{}` is also used in line {first}; ids must be unique", item.id));
        }
        if let Some(category) = &item.category {
            let task = task_name(category);
            let first = categories.entry(task.clone()).or_insert_with(|| category.clone());
            if first != category {
                wrong(format!(
                    "categories `{first}` and `{category}` would both be the task `{task}`; rename one"
                ));
            }
        }
        if problems.len() == before {
            ids.insert(item.id.clone(), line);
            items.push(item);
        }
    }
    problems.sort_by_key(|problem| problem.line);
    (items, problems)
}

impl DatasetTask {
    fn new(name: String, items: Vec<Item>) -> Self {
        let content = items.iter().map(|item| Json::String(item.to_json().to_string())).collect();
        let digest = cache_key(&Json::Array(content));
        // The version identifies the list of items; 24 bits are enough to notice a change.
        let version = u32::from_str_radix(&digest[..6], 16).expect("a digest is hexadecimal");
        Self { name, version, items }
    }

    /// The items, in the order of the dataset.
    pub fn items(&self) -> &[Item] {
        &self.items
    }
}

impl Task for DatasetTask {
    fn name(&self) -> &str {
        &self.name
    }

    fn family(&self) -> &str {
        &self.name
    }

    fn version(&self) -> u32 {
        self.version
    }

    fn description(&self) -> &'static str {
        "questions from a dataset, in its own words"
    }

    fn parameters(&self) -> &'static [Parameter] {
        &[]
    }

    fn answer_type(&self) -> AnswerType {
        AnswerType::Text
    }

    fn listed(&self) -> Option<&[Item]> {
        Some(&self.items)
    }

    fn check(&self, answer: &str, test: &Test) -> bool {
        if let Some(scorer) = test.scorer {
            return scorer.score(answer, test).is_correct;
        }
        let targets = std::iter::once(&test.target).chain(&test.alternative_targets);
        crate::is_correct(answer, targets, &test.options, true)
    }

    fn generate(&self, _params: &Params, rng: &mut PyRandom) -> Test {
        rng.choice(&self.items).test.clone()
    }
}

/// A name that is valid for a directory: `suite/task` becomes `suite-task`.
///
/// ```
/// use reasonscape_core::task_name;
///
/// assert_eq!(task_name("high school/physics"), "high-school-physics");
/// assert_eq!(task_name("../../etc"), "-..-..-etc");
/// ```
pub fn task_name(name: &str) -> String {
    let plain = |c: char| if c.is_alphanumeric() || "_-.+@".contains(c) { c } else { '-' };
    let name: String = name.chars().map(plain).collect();
    match name.chars().next() {
        None => "task".to_owned(),
        Some('.') => format!("-{name}"),
        Some(_) => name,
    }
}

/// A JSON error message without the line number, which is always 1 here.
pub fn describe_json_error(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let message = text.split(" at line ").next().unwrap_or(&text);
    format!("not JSON: {message} at character {}", error.column())
}
