//! `PointsDB`: the points of a study, its trials, and SQL over both.

mod columns;
mod disagreements;
mod open;
mod outcomes;
mod paired;
mod query_result;
mod scan;
mod tables;
mod trials;
mod trials_page;

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use datafusion::arrow::array::{Array, ArrayRef, AsArray};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::DataType;
use datafusion::functions_aggregate::sum::sum;
use datafusion::logical_expr::{col, lit, when};
use datafusion::prelude::{DataFrame, SessionContext, array_empty};
use datafusion::scalar::ScalarValue;
use reasonscape_stats::{Confidence, Interval, Mode};
use serde::Serialize;

pub(crate) use self::columns::CountColumns;
use self::columns::{COUNT_COLUMNS, IntColumn, TextColumn, collect_batch, column};
pub use self::disagreements::{PointDisagreements, TestDisagreement};
pub use self::outcomes::{Measure, TrialColumns, TrialLocation, TrialMatch};
pub use self::paired::PairedTask;
pub use self::query_result::QueryResult;
pub use self::trials_page::{PointSet, PointTrialCount, StoredTrial, TestName, TrialFilter, TrialNumber};

use crate::{BoxFuture, Column, EvalInfo, Filter, PointsError, Provenance, TrialCounts};

/// The trials and counters of a study, open for questions.
///
/// Points are in memory: a question that counters can answer reads no file. A trial that is stored twice, in one file
/// or in two, counts once.
pub struct PointsDb {
    study: PathBuf,
    evals: Vec<EvalInfo>,
    sources: Vec<UnitProvenance>,
    /// Evaluations of which nobody wrote down why answers ended.
    truncation_unknown: BTreeSet<String>,
    /// Evaluations that were imported, with the log that each of their tasks comes from.
    imported: BTreeMap<String, BTreeMap<String, String>>,
    remarks: Vec<String>,
    /// Adds up points on one thread, so that the same question gives the same bits.
    points: SessionContext,
    /// Everything, on all threads.
    session: SessionContext,
}

impl std::fmt::Debug for PointsDb {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PointsDb")
            .field("study", &self.study)
            .field("evals", &self.evals)
            .finish_non_exhaustive()
    }
}

/// Where the numbers of an evaluation on a task come from.
#[derive(Debug, Clone, PartialEq)]
pub struct UnitProvenance {
    /// The evaluation.
    pub eval_id: String,
    /// The task.
    pub task: String,
    /// Versions, seed, hashes and dates.
    pub provenance: Provenance,
}

/// How estimates are made.
#[derive(Debug, Clone, Copy)]
pub struct Estimator {
    /// What is estimated.
    pub mode: Mode,
    /// How sure.
    pub confidence: Confidence,
}

impl From<Mode> for Estimator {
    fn from(mode: Mode) -> Self {
        Self { mode, confidence: Confidence::P95 }
    }
}

impl Estimator {
    /// The interval that these counts support.
    ///
    /// # Errors
    /// A [`PointsError`] when the counts contradict each other.
    pub fn estimate(&self, counts: &TrialCounts) -> Result<Interval, PointsError> {
        Ok(self.mode.estimate(&counts.counters()?, self.confidence))
    }
}

/// One point and what is known there.
#[derive(Debug, Clone, PartialEq)]
pub struct PointEstimate {
    /// The evaluation.
    pub eval_id: String,
    /// The model.
    pub model: String,
    /// How it was asked.
    pub template: String,
    /// How its tokens were chosen.
    pub sampler: String,
    /// The task.
    pub base_task: String,
    /// The coordinates, as canonical JSON.
    pub params: String,
    /// The manifolds that run through it.
    pub manifolds: Vec<String>,
    /// What was counted.
    pub counts: TrialCounts,
    /// What it supports.
    pub estimate: Interval,
}

/// The value of a column that points are grouped by.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Value {
    /// None: the point has no such coordinate, the evaluation no such label.
    Missing,
    /// A number.
    Number(f64),
    /// Anything else.
    Text(String),
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Missing => f.write_str("-"),
            Self::Number(number) => write!(f, "{number}"),
            Self::Text(text) => f.write_str(text),
        }
    }
}

/// Points that share the values of some columns.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// The values, one for each column.
    pub key: Vec<Value>,
    /// Number of points.
    pub points: u64,
    /// What was counted.
    pub counts: TrialCounts,
    /// What it supports.
    pub estimate: Interval,
}

impl PointsDb {
    /// Opens what `evaluate` wrote in the folder of a study.
    ///
    /// # Errors
    /// A [`PointsError`] that names the file that is damaged or not ours, or says that nothing has been evaluated.
    pub fn open(study: &Path) -> BoxFuture<'_, Result<Self, PointsError>> {
        Box::pin(open::open(study))
    }

    /// The folder of the study.
    pub fn study(&self) -> &Path {
        &self.study
    }

    /// The evaluations, by model, template and sampler.
    pub fn evals(&self) -> &[EvalInfo] {
        &self.evals
    }

    /// Where the numbers come from, by evaluation and task.
    pub fn sources(&self) -> &[UnitProvenance] {
        &self.sources
    }

    /// The ids of evaluations of which it is not known which answers were cut off. Their truncated counts are zero
    /// because nobody counted; whoever shows them says so.
    pub fn truncation_unknown(&self) -> &BTreeSet<String> {
        &self.truncation_unknown
    }

    /// The ids of evaluations that were imported from logs of other tools, with the log of each of their tasks, as in
    /// `inspect: add.eval`.
    pub fn imported(&self) -> &BTreeMap<String, BTreeMap<String, String>> {
        &self.imported
    }

    /// What was found odd and put right when the files were opened.
    pub fn remarks(&self) -> &[String] {
        &self.remarks
    }

    /// The points that a filter means, each with its estimate; `C_I` is what the seed takes here.
    ///
    /// # Errors
    /// A [`PointsError`] when the counters of a file contradict each other.
    pub fn query_points<'a>(
        &'a self,
        filter: &'a Filter,
        estimator: impl Into<Estimator>,
    ) -> BoxFuture<'a, Result<Vec<PointEstimate>, PointsError>> {
        self.estimated(filter, estimator.into())
    }

    fn estimated<'a>(
        &'a self,
        filter: &'a Filter,
        estimator: Estimator,
    ) -> BoxFuture<'a, Result<Vec<PointEstimate>, PointsError>> {
        Box::pin(async move {
            let batch = collect_batch(self.filtered(filter, false).await?).await?;
            let read = CountColumns::new(&batch)?;
            let [eval_id, model, template, sampler, base_task, params] =
                ["eval_id", "model", "template", "sampler", "base_task", "params"]
                    .map(|name| TextColumn::new(&batch, name));
            let manifolds = column(&batch, "manifolds");
            let manifolds = manifolds.as_list::<i32>();
            let mut points = (0..batch.num_rows())
                .map(|row| {
                    let counts = read.row(row);
                    let on = cast(&manifolds.value(row), &DataType::Utf8)?;
                    Ok(PointEstimate {
                        eval_id: eval_id.value(row).to_owned(),
                        model: model.value(row).to_owned(),
                        template: template.value(row).to_owned(),
                        sampler: sampler.value(row).to_owned(),
                        base_task: base_task.value(row).to_owned(),
                        params: params.value(row).to_owned(),
                        manifolds: on.as_string::<i32>().iter().flatten().map(ToOwned::to_owned).collect(),
                        estimate: estimator.estimate(&counts)?,
                        counts,
                    })
                })
                .collect::<Result<Vec<_>, PointsError>>()?;
            points.sort_by(|a, b| {
                (&a.model, &a.template, &a.sampler, &a.base_task, &a.params).cmp(&(
                    &b.model,
                    &b.template,
                    &b.sampler,
                    &b.base_task,
                    &b.params,
                ))
            });
            Ok(points)
        })
    }

    /// The points that a filter means, added up by some columns; `C_P` is what the seed takes here. Groups come in the
    /// order of their keys.
    ///
    /// # Errors
    /// A [`PointsError`] when the counters of a file contradict each other.
    pub fn aggregate<'a>(
        &'a self,
        group_by: &'a [Column],
        filter: &'a Filter,
        estimator: impl Into<Estimator>,
    ) -> BoxFuture<'a, Result<Vec<Group>, PointsError>> {
        self.sums(group_by, filter, estimator.into())
    }

    fn sums<'a>(
        &'a self,
        group_by: &'a [Column],
        filter: &'a Filter,
        estimator: Estimator,
    ) -> BoxFuture<'a, Result<Vec<Group>, PointsError>> {
        Box::pin(async move {
            let points = self.filtered(filter, group_by.contains(&Column::Manifold)).await?;
            let keys: Vec<_> = group_by
                .iter()
                .enumerate()
                .map(|(index, column)| column.expression().alias(format!("key {index}")))
                .collect();
            let mut sums: Vec<_> = COUNT_COLUMNS.iter().map(|name| sum(col(*name)).alias(*name)).collect();
            sums.push(sum(col("g")).alias("g"));
            sums.push(datafusion::functions_aggregate::count::count_all().alias("points"));
            let batch = collect_batch(points.aggregate(keys, sums)?).await?;
            let read = CountColumns::new(&batch)?;
            let keys = (0..group_by.len())
                .map(|index| Ok(cast(&column(&batch, &format!("key {index}")), &DataType::Utf8)?))
                .collect::<Result<Vec<ArrayRef>, PointsError>>()?;
            let points = IntColumn::new(&batch, "points");
            let mut groups = Vec::new();
            for row in 0..batch.num_rows() {
                // Without columns there is always one row, even if nothing was added up.
                if points.value(row) == 0 {
                    continue;
                }
                let counts = read.row(row);
                let key = group_by.iter().zip(&keys).map(|(column, key)| value(column, key, row)).collect();
                let estimate = estimator.estimate(&counts)?;
                groups.push(Group { key, points: points.value(row) as u64, counts, estimate });
            }
            groups.sort_by(|a, b| compare_keys(&a.key, &b.key));
            merge_equal(groups, &estimator)
        })
    }

    async fn filtered(&self, filter: &Filter, by_manifold: bool) -> Result<DataFrame, PointsError> {
        let mut points = self.points.table("points").await?;
        if by_manifold {
            // A list without items would take its point with it.
            let some =
                when(array_empty(col("manifolds")), lit(ScalarValue::Null)).otherwise(col("manifolds"))?;
            points = points.with_column("manifold", some)?.unnest_columns(&["manifold"])?;
        }
        if let Some(condition) = filter.expression(by_manifold) {
            points = points.filter(condition)?;
        }
        Ok(points)
    }
}

/// A coordinate that reads as a number is one.
fn value(column: &Column, key: &ArrayRef, row: usize) -> Value {
    if key.is_null(row) {
        return Value::Missing;
    }
    let text = key.as_string::<i32>().value(row);
    match (column, text.parse::<f64>()) {
        (Column::Param(_), Ok(number)) if number.is_finite() => Value::Number(number),
        _ => Value::Text(text.to_owned()),
    }
}

/// Tasks write one number in two ways (1 and 1.0), which the engine takes for two.
fn merge_equal(groups: Vec<Group>, estimator: &Estimator) -> Result<Vec<Group>, PointsError> {
    let mut merged: Vec<Group> = Vec::with_capacity(groups.len());
    for group in groups {
        match merged.last_mut().filter(|last| last.key == group.key) {
            Some(last) => {
                last.points += group.points;
                last.counts += group.counts;
                last.estimate = estimator.estimate(&last.counts)?;
            }
            None => merged.push(group),
        }
    }
    Ok(merged)
}

fn kind(value: &Value) -> u8 {
    match value {
        Value::Missing => 0,
        Value::Number(_) => 1,
        Value::Text(_) => 2,
    }
}

fn compare_keys(a: &[Value], b: &[Value]) -> Ordering {
    let order = |a: &Value, b: &Value| match (a, b) {
        (Value::Number(a), Value::Number(b)) => a.total_cmp(b),
        (Value::Text(a), Value::Text(b)) => a.cmp(b),
        (a, b) => kind(a).cmp(&kind(b)),
    };
    a.iter().zip(b).map(|(a, b)| order(a, b)).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
}
