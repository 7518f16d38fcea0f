//! Filters that select points, and the columns points are grouped by.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

use datafusion::logical_expr::{Expr, col, lit};
use datafusion::scalar::ScalarValue;

use reasonscape_core::{Task, tasks};

use crate::PointsError;
use crate::conditions::{all_of, any_of};
use crate::functions::{facet_of, has_label, param_number_of, param_of};

/// Maximum number of values of a filter. The query engine plans more of them too slowly to answer a request.
const MAX_FILTER_VALUES: usize = 1_000;
/// Maximum number of columns with a condition.
const MAX_FILTER_COLUMNS: usize = 100;

/// A column that points can be grouped or filtered by.
///
/// ```
/// use reasonscape_points::Column;
///
/// assert_eq!("params.length".parse::<Column>()?, Column::Param("length".to_owned()));
/// assert!("modle".parse::<Column>().unwrap_err().to_string().contains("did you mean `model`?"));
/// # Ok::<(), reasonscape_points::PointsError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Column {
    /// The evaluation.
    EvalId,
    /// The model.
    Model,
    /// The prompt template.
    Template,
    /// The sampling parameters.
    Sampler,
    /// The task.
    BaseTask,
    /// All parameters of the point, as canonical JSON.
    Params,
    /// The manifold; a point on two manifolds is in both groups.
    Manifold,
    /// The value of a label: `facets.arch` is `moe` for the label `arch:moe`.
    Facet(String),
    /// One parameter of the point: `params.length`.
    Param(String),
}

impl Column {
    const NAMES: [(&'static str, Self); 7] = [
        ("eval_id", Self::EvalId),
        ("model", Self::Model),
        ("template", Self::Template),
        ("sampler", Self::Sampler),
        ("base_task", Self::BaseTask),
        ("params", Self::Params),
        ("manifold", Self::Manifold),
    ];

    /// The column as an expression over the `points` table.
    pub(crate) fn expression(&self) -> Expr {
        match self {
            Self::EvalId => col("eval_id"),
            Self::Model => col("model"),
            Self::Template => col("template"),
            Self::Sampler => col("sampler"),
            Self::BaseTask => col("base_task"),
            Self::Params => col("params"),
            Self::Manifold => col("manifold"),
            Self::Facet(name) => facet_of(col("groups"), name),
            Self::Param(name) => param_of(col("params"), name),
        }
    }
}

impl fmt::Display for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Facet(name) => write!(f, "facets.{name}"),
            Self::Param(name) => write!(f, "params.{name}"),
            plain => {
                let (name, _) = Self::NAMES
                    .iter()
                    .find(|(_, column)| column == plain)
                    .expect("every plain column has a name");
                f.write_str(name)
            }
        }
    }
}

impl FromStr for Column {
    type Err = PointsError;

    fn from_str(text: &str) -> Result<Self, PointsError> {
        match text.split_once('.') {
            Some(("params", name)) if !name.is_empty() => return Ok(Self::Param(name.to_owned())),
            Some(("facets", name)) if !name.is_empty() => return Ok(Self::Facet(name.to_owned())),
            _ => {}
        }
        if let Some((_, column)) = Self::NAMES.iter().find(|(name, _)| *name == text) {
            return Ok(column.clone());
        }
        let names: Vec<&'static str> = Self::NAMES.iter().map(|(name, _)| *name).collect();
        let suggestion = reasonscape_core::closest(text, &names)
            .map(|name| format!(" (did you mean `{name}`?)"))
            .unwrap_or_default();
        Err(PointsError::InvalidQuery(format!(
            "unknown column `{text}`{suggestion}; expected one of {}, facets.NAME, params.NAME",
            names.join(", ")
        )))
    }
}

/// The conditions on one column, of which one must hold.
#[derive(Debug, Clone, Default, PartialEq)]
struct ColumnConditions {
    /// Equal to one of these values; `*` is a wildcard.
    values: BTreeSet<String>,
    /// Within one of these closed ranges.
    ranges: Vec<(f64, f64)>,
}

/// Selects points by the values of their columns; the default selects all.
///
/// Conditions on different columns are combined with AND, several conditions on one column with OR. `groups` takes
/// labels that must all be present (`groups=arch:moe,size:small`); several `groups` items are combined with OR.
///
/// ```
/// use reasonscape_points::Filter;
///
/// let filter = Filter::parse(["model=qwen*", "params.length=8..32", "groups=arch:moe,size:small"])?;
/// assert!(!filter.matches_all());
/// assert!(Filter::parse(["length=8"]).is_err());
/// # Ok::<(), reasonscape_points::PointsError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Filter {
    columns: BTreeMap<Column, ColumnConditions>,
    /// Sets of labels, of which one must be present.
    groups: BTreeSet<BTreeSet<String>>,
}

impl Filter {
    /// Parses conditions of the form `COLUMN=VALUE`.
    ///
    /// Values are separated by commas and may contain `*`; parameters also take ranges: `8..32`, `8..`, `..32`.
    ///
    /// # Errors
    /// A [`PointsError`] if a condition is invalid, or there are more than 1,000 different values or 100
    /// columns.
    pub fn parse<T: AsRef<str>>(items: impl IntoIterator<Item = T>) -> Result<Self, PointsError> {
        let mut filter = Self::default();
        for item in items {
            filter.add(item.as_ref())?;
        }
        Ok(filter)
    }

    /// Adds a condition of the form `COLUMN=VALUE`.
    ///
    /// # Errors
    /// A [`PointsError`] if it is invalid.
    pub fn add(&mut self, item: &str) -> Result<(), PointsError> {
        let invalid =
            |problem: &str| PointsError::InvalidQuery(format!("invalid filter `{item}`: {problem}"));
        let (name, value) = item.split_once('=').ok_or_else(|| {
            invalid("expected `COLUMN=VALUE`, as in `model=gpt-4o` or `params.length=8..32`")
        })?;
        let (name, value) = (name.trim(), value.trim());
        if value.is_empty() {
            return Err(invalid("the value after `=` is empty"));
        }
        let values = value.split(',').map(|value| value.trim().to_owned());
        if name == "groups" {
            self.groups.insert(values.collect());
            return self.check_size();
        }
        let column: Column = name.parse()?;
        let range = match &column {
            Column::Param(_) => parse_range(value).map_err(|problem| invalid(&problem))?,
            _ => None,
        };
        let conditions = self.columns.entry(column).or_default();
        match range {
            Some(range) if conditions.ranges.contains(&range) => {}
            Some(range) => conditions.ranges.push(range),
            None => conditions.values.extend(values),
        }
        self.check_size()
    }

    fn check_size(&self) -> Result<(), PointsError> {
        let columns = self.columns.values().map(|one| one.values.len() + one.ranges.len());
        let values = columns.sum::<usize>() + self.groups.iter().map(BTreeSet::len).sum::<usize>();
        if values > MAX_FILTER_VALUES {
            return Err(PointsError::InvalidQuery(format!(
                "too many filter values; expected at most {MAX_FILTER_VALUES} different ones; use a wildcard, such as \
                 `model=qwen*`, or a range, such as `params.length=8..32`"
            )));
        }
        if self.columns.len() > MAX_FILTER_COLUMNS {
            return Err(PointsError::InvalidQuery(format!(
                "conditions on too many columns; expected at most {MAX_FILTER_COLUMNS}"
            )));
        }
        Ok(())
    }

    /// Whether the filter selects every point.
    pub fn matches_all(&self) -> bool {
        self.columns.is_empty() && self.groups.is_empty()
    }

    /// The same filter limited to these evaluation ids, replacing any condition on `eval_id`.
    ///
    /// ```
    /// use reasonscape_points::Filter;
    ///
    /// let filter = Filter::parse(["eval_id=a*", "base_task=sort"])?;
    /// assert_eq!(filter.for_evals(&["a1", "a2"]), Filter::parse(["base_task=sort", "eval_id=a1,a2"])?);
    /// # Ok::<(), reasonscape_points::PointsError>(())
    /// ```
    #[must_use]
    pub fn for_evals<T: AsRef<str>>(&self, eval_ids: &[T]) -> Self {
        let mut filter = self.clone();
        let values = eval_ids.iter().map(|id| id.as_ref().to_owned()).collect();
        filter.columns.insert(Column::EvalId, ColumnConditions { values, ranges: Vec::new() });
        filter
    }

    /// The same filter with the parameter fixed to this value, replacing any condition on that parameter.
    ///
    /// ```
    /// use reasonscape_points::Filter;
    ///
    /// let filter = Filter::parse(["params.length=8..32"])?;
    /// assert_eq!(filter.with_param("length", 8.0), Filter::parse(["params.length=8..8"])?);
    /// # Ok::<(), reasonscape_points::PointsError>(())
    /// ```
    #[must_use]
    pub fn with_param(&self, name: &str, value: f64) -> Self {
        let mut filter = self.clone();
        let conditions = ColumnConditions { values: BTreeSet::new(), ranges: vec![(value, value)] };
        filter.columns.insert(Column::Param(name.to_owned()), conditions);
        filter
    }

    /// Only the conditions on problems (task, parameters, manifold), without those on evaluations.
    ///
    /// ```
    /// use reasonscape_points::Filter;
    ///
    /// let filter = Filter::parse(["model=qwen*", "base_task=sort", "groups=arch:moe"])?;
    /// assert_eq!(filter.for_tests(), Filter::parse(["base_task=sort"])?);
    /// # Ok::<(), reasonscape_points::PointsError>(())
    /// ```
    #[must_use]
    pub fn for_tests(&self) -> Self {
        let describes_problems = |column: &Column| {
            matches!(column, Column::BaseTask | Column::Params | Column::Manifold | Column::Param(_))
        };
        let columns = self.columns.iter().filter(|(column, _)| describes_problems(column));
        Self {
            columns: columns.map(|(column, conditions)| (column.clone(), conditions.clone())).collect(),
            groups: BTreeSet::new(),
        }
    }

    /// The filter as a DataFusion expression, or `None` if it selects everything. With `by_manifold` each row is a point
    /// on one manifold; otherwise each row is a point with a list of its manifolds.
    pub(crate) fn expression(&self, by_manifold: bool) -> Option<Expr> {
        let columns =
            self.columns.iter().filter_map(|(column, conditions)| conditions.expression(column, by_manifold));
        let groups = self.groups.iter().filter_map(|labels| {
            all_of(labels.iter().map(|label| has_label(col("groups"), label)).collect())
        });
        let mut all: Vec<Expr> = columns.collect();
        all.extend(any_of(groups.collect()));
        all_of(all)
    }
}

/// Parses `8..32`, `8..` or `..32`; `None` if the text is not a range.
fn parse_range(text: &str) -> Result<Option<(f64, f64)>, String> {
    let Some((low, high)) = text.split_once("..") else { return Ok(None) };
    let bound = |text: &str, open: f64| match text.trim() {
        "" => Ok(open),
        number => number.parse::<f64>().map_err(|_| format!("`{number}` is not a number")),
    };
    let (low, high) = (bound(low, f64::NEG_INFINITY)?, bound(high, f64::INFINITY)?);
    if low <= high { Ok(Some((low, high))) } else { Err(format!("the range from {low} to {high} is empty")) }
}

impl ColumnConditions {
    fn expression(&self, column: &Column, by_manifold: bool) -> Option<Expr> {
        let text = column.expression();
        let number = |name: &str| param_number_of(col("params"), name);
        let literal = |text: &str| lit(ScalarValue::Utf8(Some(text.to_owned())));
        let mut any: Vec<Expr> = Vec::new();
        if *column == Column::Manifold && !by_manifold {
            any.extend(self.values.iter().map(|wanted| has_label(col("manifolds"), wanted)));
        } else {
            let (patterns, exact): (Vec<&String>, Vec<&String>) =
                self.values.iter().partition(|wanted| wanted.contains('*'));
            let versions: Vec<String> = match column {
                Column::BaseTask => exact.iter().flat_map(|wanted| task_names(wanted)).collect(),
                _ => Vec::new(),
            };
            let exact = if *column == Column::BaseTask { versions.iter().collect() } else { exact };
            any.extend(patterns.iter().map(|wanted| text.clone().like(literal(&like_pattern(wanted)))));
            let list: Vec<Expr> = exact.iter().map(|wanted| literal(wanted)).collect();
            any.extend((!list.is_empty()).then(|| text.in_list(list, false)));
            if let Column::Param(name) = column {
                // Tasks write one number in two ways: 1 and 1.0 are the same parameter value.
                let numbers: Vec<Expr> =
                    exact.iter().filter_map(|wanted| wanted.parse::<f64>().ok()).map(lit).collect();
                any.extend((!numbers.is_empty()).then(|| number(name).in_list(numbers, false)));
            }
        }
        if let Column::Param(name) = column {
            any.extend(self.ranges.iter().map(|(low, high)| number(name).between(lit(*low), lit(*high))));
        }
        any_of(any)
    }
}

/// The names under which trials of a task are stored: those of all versions of `sort`, and one of `sort@1` or `sort@2`.
fn task_names(wanted: &str) -> Vec<String> {
    let is_wanted = |task: &&dyn Task| {
        task.family() == wanted || wanted == format!("{}@{}", task.family(), task.version())
    };
    let known: Vec<String> =
        tasks::all_versions().filter(is_wanted).map(|task| task.name().to_owned()).collect();
    if known.is_empty() { vec![wanted.to_owned()] } else { known }
}

/// Translates a `*` wildcard pattern to a SQL LIKE pattern.
fn like_pattern(text: &str) -> String {
    text.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_").replace('*', "%")
}

#[cfg(test)]
mod version_tests {
    use super::task_names;

    #[test]
    fn a_task_without_version_means_all_of_its_versions() {
        assert_eq!(task_names("sort"), ["sort", "sort@2"]);
        assert_eq!(task_names("sort@1"), ["sort"]);
        assert_eq!(task_names("sort@2"), ["sort@2"]);
        assert_eq!(task_names("my-category"), ["my-category"]);
    }
}
