//! The points of a study by their parameters: which parameters vary, and counters by some of them.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use reasonscape_core::{Range, tasks};
use reasonscape_points::{Column, EvalInfo, PointsDb, PointsError, TrialCounts, Value};
use reasonscape_stats::Mode;
use serde::Serialize;
use serde_json::Value as Json;

use super::labels::eval_label;
use super::query::PointQuery;
use super::truncation::truncation_is_known;

/// The counters of every selected point, by task.
#[derive(Debug)]
pub(super) struct ParameterGrid {
    /// The evaluations that have a point, ordered by model, template and sampler.
    pub(super) evals: Vec<LabeledEval>,
    /// Their tasks by name.
    pub(super) tasks: Vec<TaskGrid>,
}

/// An evaluation and its name in tables.
#[derive(Debug, Clone)]
pub(super) struct LabeledEval {
    pub(super) info: EvalInfo,
    pub(super) label: String,
    /// Whether the log says which answers were truncated.
    pub(super) truncation_known: bool,
}

/// The points of one task.
#[derive(Debug)]
pub(super) struct TaskGrid {
    pub(super) task: String,
    /// The parameters of its points, those with the most values first.
    pub(super) parameters: Vec<ParamValues>,
    /// For each point, the index of its value of each parameter that it has.
    points: Vec<Vec<Option<usize>>>,
    /// The evaluation, the point, and its counters.
    counted: Vec<(usize, usize, TrialCounts)>,
}

/// A parameter and the values that it takes.
#[derive(Debug, Clone)]
pub(super) struct ParamValues {
    pub(super) name: String,
    /// In ascending order; words in the order of their task, the easiest first.
    pub(super) values: Vec<Value>,
    /// The words that the task knows, in its order.
    words: &'static [&'static str],
}

impl ParamValues {
    fn index_of(&self, value: &Value) -> Option<usize> {
        self.values.binary_search_by(|known| compare_values(known, value, self.words)).ok()
    }

    /// Whether every value is a number.
    pub(super) fn is_numeric(&self) -> bool {
        self.values.iter().all(|value| matches!(value, Value::Number(_)))
    }
}

/// The counters at one value of each chosen parameter.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct GridCell {
    pub(super) points: u64,
    pub(super) counts: TrialCounts,
}

/// The parameters of a task that vary, those with the most values first.
#[derive(Debug, Clone, Serialize)]
pub struct TaskParameters {
    /// The task.
    pub base_task: String,
    /// The same as `base_task`.
    pub task: String,
    /// The manifolds that its points lie on.
    pub manifolds: Vec<String>,
    /// The parameters that vary, those with the most values first.
    pub parameters: Vec<Parameter>,
}

/// A parameter that varies.
#[derive(Debug, Clone, Serialize)]
pub struct Parameter {
    /// The name.
    pub name: String,
    /// In ascending order; words in the order of their task.
    pub values: Vec<Value>,
    /// Whether every value is a number.
    pub is_numeric: bool,
}

/// The parameters that vary, by task; an error if no point is selected.
///
/// # Errors
/// A [`PointsError`] when the study cannot be read or has nothing that matches.
pub async fn parameters(db: &PointsDb, query: &PointQuery) -> Result<Vec<TaskParameters>, PointsError> {
    let groups = db.aggregate(&[Column::BaseTask, Column::Params], &query.filter, Mode::C_P.into()).await?;
    if groups.is_empty() {
        return Err(query.no_match_error(db).await);
    }
    let mut points: BTreeMap<String, Vec<BTreeMap<String, Value>>> = BTreeMap::new();
    for group in groups {
        let [task, params] = &group.key[..] else { unreachable!("grouped by two columns") };
        points.entry(task.to_string()).or_default().push(parse_params(&params.to_string()));
    }
    let mut manifolds: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for group in db.aggregate(&[Column::BaseTask, Column::Manifold], &query.filter, Mode::C_P.into()).await? {
        if let [task, Value::Text(manifold)] = &group.key[..] {
            manifolds.entry(task.to_string()).or_default().push(manifold.clone());
        }
    }
    let of_task = |(task, points): (String, Vec<BTreeMap<String, Value>>)| TaskParameters {
        parameters: param_values(&task, &points)
            .into_iter()
            .filter(|param| param.values.len() > 1)
            .map(|param| Parameter { is_numeric: param.is_numeric(), name: param.name, values: param.values })
            .collect(),
        manifolds: manifolds.remove(&task).unwrap_or_default(),
        base_task: task.clone(),
        task,
    };
    Ok(points.into_iter().map(of_task).collect())
}

impl ParameterGrid {
    /// Loads the points that the query selects; an error if there are none.
    pub(super) async fn load(db: &PointsDb, query: &PointQuery) -> Result<Self, PointsError> {
        let columns = [Column::EvalId, Column::BaseTask, Column::Params];
        let groups = db.aggregate(&columns, &query.filter, Mode::C_P.into()).await?;
        if groups.is_empty() {
            return Err(query.no_match_error(db).await);
        }
        let mut by_task: BTreeMap<String, Vec<(String, String, TrialCounts)>> = BTreeMap::new();
        for group in groups {
            let [eval_id, task, params] = &group.key[..] else { unreachable!("grouped by three columns") };
            let counted = (eval_id.to_string(), params.to_string(), group.counts);
            by_task.entry(task.to_string()).or_default().push(counted);
        }
        let selected: HashSet<&str> = by_task.values().flatten().map(|(id, ..)| id.as_str()).collect();
        let evals: Vec<LabeledEval> = db
            .evals()
            .iter()
            .filter(|info| selected.contains(info.eval_id.as_str()))
            .map(|info| LabeledEval {
                info: info.clone(),
                label: eval_label(db.evals(), info),
                truncation_known: truncation_is_known(db, [&info.eval_id]),
            })
            .collect();
        let indices: HashMap<&str, usize> =
            evals.iter().enumerate().map(|(index, eval)| (eval.info.eval_id.as_str(), index)).collect();
        let tasks =
            by_task.into_iter().map(|(task, counted)| TaskGrid::new(task, counted, &indices)).collect();
        Ok(Self { evals, tasks })
    }

    /// The parameters that some task has, by name.
    pub(super) fn parameter_names(&self) -> Vec<&str> {
        let names = self.tasks.iter().flat_map(|task| &task.parameters).map(|param| param.name.as_str());
        names.collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// Rejects a parameter that no task has, and lists the known ones.
    pub(super) fn check(&self, name: &str) -> Result<(), PointsError> {
        let known = self.parameter_names();
        if known.contains(&name) {
            return Ok(());
        }
        let listed = match known.as_slice() {
            [] => "the points have no parameters".to_owned(),
            known => format!("expected one of {}", known.join(", ")),
        };
        Err(PointsError::InvalidQuery(format!("no point has the parameter `{name}`; {listed}")))
    }
}

impl TaskGrid {
    fn new(task: String, counted: Vec<(String, String, TrialCounts)>, evals: &HashMap<&str, usize>) -> Self {
        let mut indices: HashMap<String, usize> = HashMap::new();
        let mut coordinates: Vec<BTreeMap<String, Value>> = Vec::new();
        let mut rows = Vec::with_capacity(counted.len());
        for (eval_id, params, counts) in counted {
            // An evaluation that the study doesn't list has no name to show.
            let Some(&eval) = evals.get(eval_id.as_str()) else { continue };
            let point = *indices.entry(params).or_insert_with_key(|params| {
                coordinates.push(parse_params(params));
                coordinates.len() - 1
            });
            rows.push((eval, point, counts));
        }
        let parameters = param_values(&task, &coordinates);
        let points = coordinates
            .iter()
            .map(|point| {
                let index = |param: &ParamValues| param.index_of(point.get(&param.name)?);
                parameters.iter().map(index).collect()
            })
            .collect();
        Self { task, parameters, points, counted: rows }
    }

    /// The index of a parameter among those of the task.
    pub(super) fn index_of(&self, name: &str) -> Option<usize> {
        self.parameters.iter().position(|param| param.name == name)
    }

    /// The counters at each value of these parameters, everything else pooled, by evaluation and indices of the values.
    pub(super) fn along(&self, axes: &[usize]) -> BTreeMap<(usize, Vec<usize>), GridCell> {
        let mut sums: BTreeMap<(usize, Vec<usize>), GridCell> = BTreeMap::new();
        for (eval, point, counts) in &self.counted {
            let Some(indices) = self.indices_on(*point, axes) else { continue };
            let sum = sums.entry((*eval, indices)).or_default();
            sum.points += 1;
            sum.counts += *counts;
        }
        sums
    }

    fn indices_on(&self, point: usize, axes: &[usize]) -> Option<Vec<usize>> {
        axes.iter().map(|axis| self.points[point][*axis]).collect()
    }

    /// The other parameters that vary and are pooled.
    pub(super) fn pooled(&self, axes: &[usize]) -> Vec<usize> {
        (0..self.parameters.len())
            .filter(|index| !axes.contains(index) && self.parameters[*index].values.len() > 1)
            .collect()
    }

    /// The pooled parameters whose distribution of values changes along the axes, so that they are confounded with them.
    pub(super) fn mixed(&self, axes: &[usize]) -> Vec<usize> {
        let varies_along_axes = |other: &usize| {
            let mut distributions: BTreeMap<Vec<usize>, BTreeMap<Option<usize>, u64>> = BTreeMap::new();
            for point in 0..self.points.len() {
                let Some(indices) = self.indices_on(point, axes) else { continue };
                *distributions.entry(indices).or_default().entry(self.points[point][*other]).or_default() +=
                    1;
            }
            let mut all = distributions.values();
            let Some(first) = all.next() else { return false };
            all.any(|distribution| !is_proportional(first, distribution))
        };
        self.pooled(axes).into_iter().filter(varies_along_axes).collect()
    }
}

fn is_proportional(a: &BTreeMap<Option<usize>, u64>, b: &BTreeMap<Option<usize>, u64>) -> bool {
    let (total_a, total_b): (u64, u64) = (a.values().sum(), b.values().sum());
    a.len() == b.len()
        && a.iter().all(|(value, count)| b.get(value).is_some_and(|other| count * total_b == other * total_a))
}

/// The parameters in canonical JSON; none if it isn't an object.
fn parse_params(params: &str) -> BTreeMap<String, Value> {
    let Ok(Json::Object(params)) = serde_json::from_str(params) else { return BTreeMap::new() };
    let value = |value: Json| match value {
        Json::Null => None,
        Json::Number(number) => number.as_f64().filter(|number| number.is_finite()).map(Value::Number),
        Json::String(text) => Some(Value::Text(text)),
        other => Some(Value::Text(other.to_string())),
    };
    params.into_iter().filter_map(|(name, json)| Some((name, value(json)?))).collect()
}

/// The parameters of some points, those with the most values first, then in the order of the task.
fn param_values(task: &str, points: &[BTreeMap<String, Value>]) -> Vec<ParamValues> {
    let known = tasks::by_stored_name(task).map_or(&[][..], |task| task.parameters());
    let mut values: BTreeMap<&String, Vec<Value>> = BTreeMap::new();
    for (name, value) in points.iter().flatten() {
        values.entry(name).or_default().push(value.clone());
    }
    let mut param_values: Vec<ParamValues> = values
        .into_iter()
        .map(|(name, mut values)| {
            let words =
                known.iter().find(|parameter| parameter.name == name).map(|parameter| parameter.range);
            let words = if let Some(Range::Word { words, .. }) = words { words } else { &[] };
            values.sort_by(|a, b| compare_values(a, b, words));
            values.dedup();
            ParamValues { name: name.clone(), values, words }
        })
        .collect();
    let listed = |param: &ParamValues| known.iter().position(|parameter| parameter.name == param.name);
    param_values
        .sort_by_key(|param| (std::cmp::Reverse(param.values.len()), listed(param).unwrap_or(usize::MAX)));
    param_values
}

/// Numbers by size and before words, words in the given order, then alphabetically.
fn compare_values(a: &Value, b: &Value, words: &[&str]) -> Ordering {
    let index = |word: &str| words.iter().position(|known| *known == word).unwrap_or(usize::MAX);
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a.total_cmp(b),
        (Value::Number(_), _) => Ordering::Less,
        (_, Value::Number(_)) => Ordering::Greater,
        (Value::Text(a), Value::Text(b)) => (index(a), a).cmp(&(index(b), b)),
        (Value::Missing, Value::Missing) => Ordering::Equal,
        (Value::Missing, _) => Ordering::Less,
        (_, Value::Missing) => Ordering::Greater,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(points: &[&str]) -> TaskGrid {
        let evals = HashMap::from([("a", 0)]);
        let one = TrialCounts { n: 10, n_e: 5, ..TrialCounts::default() };
        let counted = points.iter().map(|params| ("a".to_owned(), (*params).to_owned(), one)).collect();
        TaskGrid::new("tables".to_owned(), counted, &evals)
    }

    #[test]
    fn orders_parameters_by_number_of_values_then_task_order() {
        let found = task(&[
            r#"{"columns": 3, "filters": 1, "rows": 4, "operation": "sum"}"#,
            r#"{"columns": 5, "filters": 1, "rows": 4, "operation": "lookup"}"#,
            r#"{"columns": 5, "filters": 1, "rows": 16.0, "operation": "join"}"#,
        ]);
        let names: Vec<&str> = found.parameters.iter().map(|param| param.name.as_str()).collect();
        assert_eq!(names, ["operation", "rows", "columns", "filters"]);
        assert_eq!(found.parameters[0].values[0], Value::Text("lookup".to_owned()), "the easiest first");
        assert!(!found.parameters[0].is_numeric() && found.parameters[1].is_numeric());
    }

    #[test]
    fn pooling_sums_counts_and_finds_confounded_parameters() {
        let crossed = task(&[
            r#"{"rows": 4, "columns": 3}"#,
            r#"{"rows": 4, "columns": 5}"#,
            r#"{"rows": 8, "columns": 3}"#,
            r#"{"rows": 8, "columns": 5}"#,
        ]);
        let rows = crossed.index_of("rows").unwrap();
        let sums = crossed.along(&[rows]);
        assert_eq!((sums.len(), sums[&(0, vec![1])].counts.n, sums[&(0, vec![1])].points), (2, 20, 2));
        assert_eq!((crossed.pooled(&[rows]).len(), crossed.mixed(&[rows])), (1, vec![]));
        let diagonal = task(&[r#"{"rows": 4, "columns": 3}"#, r#"{"rows": 8, "columns": 5}"#]);
        assert_eq!(diagonal.mixed(&[rows]), diagonal.pooled(&[rows]));
        assert!(task(&["[]", "null"]).parameters.is_empty());
    }
}
