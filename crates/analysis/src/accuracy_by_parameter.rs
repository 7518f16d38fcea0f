//! Accuracy along one parameter (a projection) or over two (a surface), everything else pooled.

mod figure;
mod findings;

use std::collections::BTreeMap;

use reasonscape_points::{Estimator, EvalInfo, PointsDb, PointsError, Value};
use schemars::JsonSchema;
use serde::Serialize;

use super::IntervalEstimate;
use super::near_chance::calibrated_near_chance;
use super::parameter_grid::{GridCell, ParameterGrid, TaskGrid};
use super::query::PointQuery;
use super::truncation::is_known;

pub use self::figure::{projection_figure, surface_figure};
pub use self::findings::{projection_finding, surface_finding, surface_range};

/// Accuracy on one task by one or two parameters.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "View")]
pub struct AccuracyGrid {
    /// The task.
    pub base_task: String,
    /// The same as `base_task`.
    pub task: String,
    /// The parameters, the horizontal one first.
    pub axes: Vec<AccuracyGridAxis>,
    /// Other parameters that vary and are pooled.
    pub pooled: Vec<String>,
    /// Pooled parameters that also change along the axes and may explain the differences.
    pub mixed: Vec<String>,
    /// Accuracies by evaluation and values of the parameters.
    pub cells: Vec<AccuracyGridCell>,
    /// The estimator.
    pub mode: &'static str,
}

/// A parameter and its values.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct AccuracyGridAxis {
    /// The parameter.
    pub parameter: String,
    /// Its values, in ascending order; words in the order of their task.
    pub values: Vec<Value>,
    /// Whether every value is a number.
    #[serde(skip)]
    pub is_numeric: bool,
}

/// The accuracy of one evaluation at one value of each parameter.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "ViewCell")]
pub struct AccuracyGridCell {
    /// The evaluation.
    #[serde(flatten)]
    pub eval: EvalInfo,
    /// The name of the evaluation in tables.
    #[serde(skip)]
    pub label: String,
    /// The values of the parameters.
    pub at: BTreeMap<String, Value>,
    /// The indices of these values on the axes.
    #[serde(skip)]
    pub value_indices: Vec<usize>,
    /// Points that are pooled here.
    pub points: u64,
    /// Trials that were answered or truncated.
    pub n: u64,
    /// Trials answered correctly.
    pub n_e: u64,
    /// Trials that were not truncated.
    pub n_u: u64,
    /// Truncated trials.
    pub n_t: u64,
    /// Whether it is known which responses were truncated; absent if it is.
    #[serde(skip_serializing_if = "is_known")]
    pub truncation_known: bool,
    /// Sum over completed trials of the chance that a blind guess is correct.
    pub g: f64,
    /// The proportion of correct answers.
    pub estimate: IntervalEstimate,
    /// Whether accuracy is so close to chance that the interval is too narrow.
    #[serde(skip)]
    pub is_near_chance: bool,
}

impl AccuracyGrid {
    /// The values of the axes as text: `length=16 max_depth=2`.
    pub fn coordinates(&self, value_indices: &[usize]) -> String {
        let one = |(axis, index): (&AccuracyGridAxis, &usize)| {
            format!("{}={}", axis.parameter, axis.values[*index])
        };
        self.axes.iter().zip(value_indices).map(one).collect::<Vec<_>>().join(" ")
    }

    /// The cells of each evaluation, in the order of the axes.
    pub fn by_eval(&self) -> Vec<&[AccuracyGridCell]> {
        self.cells.chunk_by(|a, b| a.eval.eval_id == b.eval.eval_id).collect()
    }
}

/// The parameters to use as axes; if none is named, those that vary most.
#[derive(Debug, Clone, Copy)]
pub struct AxisSelection<'a> {
    /// The horizontal parameter.
    pub x: Option<&'a str>,
    /// The vertical parameter, for a surface.
    pub y: Option<&'a str>,
    /// Whether the grid has two parameters.
    pub is_surface: bool,
}

/// The grids of the tasks that have these parameters, and the tasks that don't.
#[derive(Debug, Clone)]
pub struct AccuracyGrids {
    /// The tasks that have such parameters.
    pub grids: Vec<AccuracyGrid>,
    /// Tasks without a grid, and why.
    pub excluded: Vec<(String, String)>,
}

/// Accuracy on each task by one or two parameters.
///
/// # Errors
/// A [`PointsError`] when the study cannot be read or has nothing that matches.
pub async fn accuracy_grids(
    db: &PointsDb,
    query: &PointQuery,
    along: AxisSelection<'_>,
    estimator: Estimator,
) -> Result<AccuracyGrids, PointsError> {
    let parameter_grid = ParameterGrid::load(db, query).await?;
    for name in [along.x, along.y].into_iter().flatten() {
        parameter_grid.check(name)?;
    }
    if along.is_surface && along.x.is_some() && along.x == along.y {
        let name = along.x.unwrap_or_default();
        return Err(PointsError::InvalidQuery(format!(
            "both parameters are `{name}`, but a surface needs two different ones; `reasonscape analyze projection --x {name}` shows one"
        )));
    }
    let mut found = AccuracyGrids { grids: Vec::new(), excluded: Vec::new() };
    for task in &parameter_grid.tasks {
        match axes(task, along) {
            Ok(axes) => found.grids.push(accuracy_grid(&parameter_grid, task, &axes, estimator)?),
            Err(reason) => found.excluded.push((task.task.clone(), reason)),
        }
    }
    if found.grids.is_empty() {
        let reasons = found.excluded.iter().map(|(task, reason)| format!("{task} {reason}"));
        return Err(PointsError::InvalidQuery(format!(
            "no task has the parameters for this analysis: {}; choose other parameters or widen the filter",
            reasons.collect::<Vec<_>>().join(", ")
        )));
    }
    Ok(found)
}

/// The indices of the parameters that become axes, or why there are none.
fn axes(task: &TaskGrid, along: AxisSelection<'_>) -> Result<Vec<usize>, String> {
    let index_of = |name: &str| task.index_of(name).ok_or_else(|| format!("has no parameter `{name}`"));
    let varies = |index: &usize| task.parameters[*index].values.len() > 1;
    let mut selected = [along.x.map(index_of).transpose()?, along.y.map(index_of).transpose()?];
    let needed = if along.is_surface { 2 } else { 1 };
    for slot in 0..needed {
        if selected[slot].is_none() {
            let free =
                (0..task.parameters.len()).filter(varies).find(|index| !selected.contains(&Some(*index)));
            selected[slot] = Some(free.ok_or_else(|| match (needed, slot) {
                (1, _) => "has no parameter that varies".to_owned(),
                _ => "has no two parameters that vary".to_owned(),
            })?);
        }
    }
    Ok(selected.into_iter().take(needed).flatten().collect())
}

fn accuracy_grid(
    parameter_grid: &ParameterGrid,
    task: &TaskGrid,
    axes: &[usize],
    estimator: Estimator,
) -> Result<AccuracyGrid, PointsError> {
    let names = |value_indices: Vec<usize>| {
        value_indices.into_iter().map(|index| task.parameters[index].name.clone()).collect()
    };
    let cell = |((eval, value_indices), cell): ((usize, Vec<usize>), GridCell)| {
        let eval = &parameter_grid.evals[eval];
        let at = axes.iter().zip(&value_indices).map(|(axis, index)| {
            (task.parameters[*axis].name.clone(), task.parameters[*axis].values[*index].clone())
        });
        let counts = cell.counts;
        Ok(AccuracyGridCell {
            eval: eval.info.clone(),
            label: eval.label.clone(),
            at: at.collect(),
            points: cell.points,
            n: counts.n,
            n_e: counts.n_e,
            n_u: counts.n_u(),
            n_t: counts.n_t,
            truncation_known: eval.truncation_known,
            g: counts.g,
            estimate: estimator.estimate(&counts)?.into(),
            is_near_chance: calibrated_near_chance(estimator.mode, &counts.counters()?, estimator.confidence)
                .is_some(),
            value_indices,
        })
    };
    Ok(AccuracyGrid {
        base_task: task.task.clone(),
        task: task.task.clone(),
        axes: axes
            .iter()
            .map(|axis| {
                let param = &task.parameters[*axis];
                AccuracyGridAxis {
                    parameter: param.name.clone(),
                    values: param.values.clone(),
                    is_numeric: param.is_numeric(),
                }
            })
            .collect(),
        pooled: names(task.pooled(axes)),
        mixed: names(task.mixed(axes)),
        cells: task.along(axes).into_iter().map(cell).collect::<Result<_, PointsError>>()?,
        mode: estimator.mode.name(),
    })
}
