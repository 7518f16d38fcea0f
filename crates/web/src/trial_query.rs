//! Which trials a query selects, page by page.
//!
//! Pages are located by the trial counts of points, without reading trials. Only a text search reads the trials, once for
//! all pages.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use reasonscape_core::Outcome;
use reasonscape_points::{
    Filter, PointSet, PointTrialCount, PointsDb, PointsError, StoredTrial, TestName, TrialFilter, TrialNumber,
};
use reasonscape_stats::Mode;
use serde_json::Value;

use super::error::ApiError;
use super::point_id::point_id;
use super::query_string::Query;

/// Default number of trials per page.
pub(crate) const PAGE_SIZE: usize = 50;
/// Maximum number of trials per page in the API.
pub(crate) const MAX_PAGE_SIZE: usize = 500;

/// The parameters that select trials.
pub(crate) const NAMES: [&str; 6] = ["eval", "task", "status", "text", "params", "filter"];

/// Which trials are selected.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct TrialQuery {
    /// Conditions on points, of the form `COLUMN=VALUE`.
    pub(crate) conditions: Vec<String>,
    pub(crate) which: TrialFilter,
}

impl TrialQuery {
    /// Reads it from a query string.
    pub(crate) fn from_query(query: &Query) -> Result<Self, ApiError> {
        let mut conditions: Vec<String> = Vec::new();
        conditions.extend(query.all("eval").map(|eval| format!("eval_id={eval}")));
        conditions.extend(query.all("task").map(|task| format!("base_task={task}")));
        for params in query.all("params") {
            for item in params.split_whitespace() {
                let item = item.strip_prefix("params.").unwrap_or(item);
                if !item.contains('=') {
                    return Err(ApiError::bad_request(format_args!(
                        "`{item}` is not a condition on a parameter; expected NAME=VALUE, such as `length=8..32`"
                    )));
                }
                conditions.push(format!("params.{item}"));
            }
        }
        conditions.extend(query.all("filter").map(ToOwned::to_owned));
        let mut statuses = query.all("status").map(status).collect::<Result<Vec<_>, _>>()?;
        statuses.sort_unstable();
        statuses.dedup();
        let text = query.get("text").map(ToOwned::to_owned);
        Ok(Self { conditions, which: TrialFilter { statuses, text } })
    }
}

const STATUSES: [Outcome; 3] = [Outcome::Correct, Outcome::Incorrect, Outcome::Truncated];

fn status(name: &str) -> Result<Outcome, ApiError> {
    STATUSES.into_iter().find(|status| status.name() == name).ok_or_else(|| {
        ApiError::bad_request(format_args!(
            "unknown status `{name}`; expected `correct`, `incorrect` or `truncated`"
        ))
    })
}

/// The points with selected trials, in display order: by evaluation, task and parameters. Trials of a point are ordered by
/// index and repeat.
#[derive(Debug)]
pub(crate) struct TrialIndex {
    which: TrialFilter,
    points: Vec<ListedPoint>,
    pub(crate) total: u64,
}

#[derive(Debug)]
struct ListedPoint {
    at: PointTrialCount,
    /// Trials before it.
    start: u64,
}

/// Identifies a trial.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TrialName {
    pub(crate) eval_id: String,
    pub(crate) base_task: String,
    pub(crate) params: String,
    pub(crate) index: u64,
    pub(crate) repeat: u32,
}

impl From<&StoredTrial> for TrialName {
    fn from(trial: &StoredTrial) -> Self {
        Self {
            eval_id: trial.eval_id.clone(),
            base_task: trial.base_task.clone(),
            params: trial.params.clone(),
            index: trial.index,
            repeat: trial.repeat,
        }
    }
}

impl TrialIndex {
    pub(crate) async fn build(db: &PointsDb, query: &TrialQuery) -> Result<Self, PointsError> {
        let filter = Filter::parse(&query.conditions)?;
        let which = query.which.clone();
        let found = if which.text.is_some() {
            db.count_trials(&filter, &which).await?
        } else {
            let points = db.query_points(&filter, Mode::E_I.into()).await?;
            let count = |status| which.statuses.is_empty() || which.statuses.contains(&status);
            points
                .into_iter()
                .map(|point| {
                    let counts = point.counts;
                    let n = [
                        (Outcome::Correct, counts.n_e),
                        (Outcome::Incorrect, counts.n_u().saturating_sub(counts.n_e)),
                        (Outcome::Truncated, counts.n_t),
                    ];
                    PointTrialCount {
                        eval_id: point.eval_id,
                        base_task: point.base_task,
                        params: point.params,
                        n: n.into_iter().filter(|(status, _)| count(*status)).map(|(_, n)| n).sum(),
                    }
                })
                .collect()
        };
        let eval_order: BTreeMap<&str, usize> =
            db.evals().iter().enumerate().map(|(index, eval)| (eval.eval_id.as_str(), index)).collect();
        let mut keyed: Vec<_> = found
            .into_iter()
            .filter(|at| at.n > 0)
            .map(|at| (eval_order.get(at.eval_id.as_str()).copied(), Coordinates::parse(&at.params), at))
            .collect();
        keyed.sort_by(|(place_a, params_a, a), (place_b, params_b, b)| {
            (place_a, &a.base_task).cmp(&(place_b, &b.base_task)).then_with(|| params_a.compare(params_b))
        });
        let mut total = 0;
        let points = keyed
            .into_iter()
            .map(|(_, _, at)| {
                let start = total;
                total += at.n;
                ListedPoint { at, start }
            })
            .collect();
        Ok(Self { which, points, total })
    }

    /// At most `max` trials, after skipping `first`.
    pub(crate) async fn rows(
        &self,
        db: &PointsDb,
        first: u64,
        max: usize,
    ) -> Result<Vec<StoredTrial>, PointsError> {
        let mut found = Vec::new();
        let mut point_index = self.points.partition_point(|point| point.start + point.at.n <= first);
        let mut skip = self.points.get(point_index).map_or(0, |point| first - point.start) as usize;
        while found.len() < max && point_index < self.points.len() {
            let left = (max - found.len()) as u64;
            // Consecutive points of one file are read together if all their trials are shown.
            let mut sum = 0;
            let run = self.points[point_index..]
                .iter()
                .take_while(|point| {
                    sum += point.at.n;
                    self.is_same_file(point_index, point) && sum <= left
                })
                .count();
            let run = if skip > 0 { 1 } else { run.max(1) };
            let points = &self.points[point_index..point_index + run];
            found.extend(self.read(db, points, skip, left as usize).await?);
            (point_index, skip) = (point_index + run, 0);
        }
        Ok(found)
    }

    fn is_same_file(&self, point_index: usize, point: &ListedPoint) -> bool {
        let first = &self.points[point_index].at;
        first.eval_id == point.at.eval_id && first.base_task == point.at.base_task
    }

    async fn read(
        &self,
        db: &PointsDb,
        points: &[ListedPoint],
        skip: usize,
        max: usize,
    ) -> Result<Vec<StoredTrial>, PointsError> {
        let params: Vec<&str> = points.iter().map(|point| point.at.params.as_str()).collect();
        let PointTrialCount { eval_id, base_task, .. } = &points[0].at;
        let of = PointSet { eval_id, base_task, params: &params };
        // Far into a large point, such as that of an import, it is cheaper to sort only the trial numbers.
        if let [params] = params[..]
            && skip >= PAGE_SIZE
        {
            let numbers = db.trial_numbers(of, &self.which).await?;
            let tests = numbers.into_iter().skip(skip).take(max);
            let tests: Vec<_> = tests.map(|number| TestName { base_task, params, number }).collect();
            return Ok(db.trials_on(eval_id, &tests).await?.into_iter().flatten().collect());
        }
        let mut found = db.trials_at(of, &self.which, skip, max).await?;
        found.sort_by_key(|trial| {
            let point = params.iter().position(|params| *params == trial.params);
            (point, trial.index, trial.repeat)
        });
        Ok(found)
    }

    /// The trials before and after this one; `None` if it is not listed.
    pub(crate) async fn neighbors(
        &self,
        db: &PointsDb,
        trial: &TrialName,
    ) -> Result<[Option<TrialName>; 2], PointsError> {
        let is_here = |point: &ListedPoint| {
            point.at.eval_id == trial.eval_id
                && point.at.base_task == trial.base_task
                && point.at.params == trial.params
        };
        let Some(point_index) = self.points.iter().position(is_here) else { return Ok([None, None]) };
        let numbers = self.numbers(db, point_index).await?;
        let here = TrialNumber { index: trial.index, repeat: trial.repeat };
        let Ok(at) = numbers.binary_search(&here) else { return Ok([None, None]) };
        let before = match (at.checked_sub(1), point_index.checked_sub(1)) {
            (Some(before), _) => Some(self.name(point_index, numbers[before])),
            (None, Some(point_index)) => {
                self.numbers(db, point_index).await?.last().map(|number| self.name(point_index, *number))
            }
            (None, None) => None,
        };
        let behind = match numbers.get(at + 1) {
            Some(number) => Some(self.name(point_index, *number)),
            None if point_index + 1 < self.points.len() => self
                .numbers(db, point_index + 1)
                .await?
                .first()
                .map(|number| self.name(point_index + 1, *number)),
            None => None,
        };
        Ok([before, behind])
    }

    /// The selected trials at a point.
    async fn numbers(&self, db: &PointsDb, point_index: usize) -> Result<Vec<TrialNumber>, PointsError> {
        let PointTrialCount { eval_id, base_task, params, .. } = &self.points[point_index].at;
        db.trial_numbers(PointSet { eval_id, base_task, params: &[params] }, &self.which).await
    }

    fn name(&self, point_index: usize, TrialNumber { index, repeat }: TrialNumber) -> TrialName {
        let PointTrialCount { eval_id, base_task, params, .. } = self.points[point_index].at.clone();
        TrialName { eval_id, base_task, params, index, repeat }
    }
}

/// Parameters of a point, ordered numerically: 4 before 16.
#[derive(Debug)]
pub(crate) struct Coordinates {
    values: Vec<(String, Value)>,
    text: String,
}

impl Coordinates {
    pub(crate) fn parse(params: &str) -> Self {
        let values = match serde_json::from_str(params) {
            Ok(Value::Object(members)) => members.into_iter().collect(),
            _ => Vec::new(),
        };
        Self { values, text: params.to_owned() }
    }

    pub(crate) fn compare(&self, other: &Self) -> Ordering {
        let order = |((name_a, a), (name_b, b)): (&(String, Value), &(String, Value))| {
            name_a.cmp(name_b).then_with(|| match (a.as_f64(), b.as_f64()) {
                (Some(a), Some(b)) => a.total_cmp(&b),
                _ => a.to_string().cmp(&b.to_string()),
            })
        };
        let by_values = self.values.iter().zip(&other.values).map(order).find(|order| order.is_ne());
        by_values.unwrap_or_else(|| self.text.cmp(&other.text))
    }
}

/// The parameters of the point with this id, for an evaluation and a task.
pub(crate) async fn params_of_point(
    db: &PointsDb,
    eval_id: &str,
    task: &str,
    name: &str,
) -> Result<Option<String>, PointsError> {
    // A filter would read wildcards in the id, so it must be an exact one.
    if !db.evals().iter().any(|eval| eval.eval_id == eval_id) {
        return Ok(None);
    }
    let points = db.query_points(&Filter::parse([format!("eval_id={eval_id}")])?, Mode::E_I.into()).await?;
    let mut params = points.into_iter().filter(|point| point.base_task == task).map(|point| point.params);
    Ok(params.find(|params| point_id(params) == name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorts_parameters_numerically() {
        let order = |a: &str, b: &str| Coordinates::parse(a).compare(&Coordinates::parse(b));
        assert_eq!(order(r#"{"length": 4}"#, r#"{"length": 16}"#), Ordering::Less);
        assert_eq!(order(r#"{"depth": 1, "length": 4}"#, r#"{"depth": 0, "length": 16}"#), Ordering::Greater);
        assert_eq!(order(r#"{"kind": "b"}"#, r#"{"kind": "a"}"#), Ordering::Greater);
        assert_eq!(order("{}", "{}"), Ordering::Equal);
        assert_eq!(order("not json", "{}"), "not json".cmp("{}"));
    }

    #[test]
    fn parses_or_refuses_trial_queries() {
        let query = |text: &str| TrialQuery::from_query(&Query::from_uri(&text.parse().unwrap()));
        let read =
            query("/trials?eval=a1&task=sort&params=length%3D8..32+depth%3D1&status=truncated&text=42")
                .unwrap();
        assert_eq!(
            read.conditions,
            ["eval_id=a1", "base_task=sort", "params.length=8..32", "params.depth=1"]
        );
        assert_eq!(read.which.statuses, [Outcome::Truncated]);
        assert_eq!(read.which.text.as_deref(), Some("42"));
        assert_eq!(query("/trials?eval=&text=").unwrap(), TrialQuery::default());
        assert!(query("/trials?status=wrong").unwrap_err().message.contains("expected `correct`"));
        assert!(query("/trials?params=length").unwrap_err().message.contains("`length=8..32`"));
    }
}
