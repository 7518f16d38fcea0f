//! Thresholds: the value of a parameter at which guess-corrected accuracy is 50 %.

mod figure;

use std::collections::BTreeMap;
use std::fmt;

use rayon::prelude::*;
use reasonscape_points::{Estimator, EvalInfo, PointsDb, PointsError, TrialCounts, Value};
use reasonscape_stats::logistic::{Crossing, LackOfFit, LogisticFit, Row, Trend, fit};
use reasonscape_stats::{Assumption, Event, Mode};
use schemars::JsonSchema;
use serde::Serialize;

use super::parameter_grid::{ParameterGrid, TaskGrid};
use super::query::PointQuery;

pub use self::figure::{threshold_figure, threshold_lines};

/// One evaluation on one task.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "FrontierRow")]
pub struct ThresholdRow {
    /// The evaluation.
    #[serde(flatten)]
    pub eval: EvalInfo,
    /// The name of the evaluation in tables.
    #[serde(skip)]
    pub label: String,
    /// The task.
    pub base_task: String,
    /// The same as `base_task`.
    pub task: String,
    /// The parameter.
    pub parameter: String,
    /// Other parameters that change along with this one and may explain the threshold.
    pub mixed: Vec<String>,
    /// The values that have trials, in ascending order.
    pub tested: Vec<f64>,
    /// Trials that the curve is fitted to.
    pub n: u64,
    /// The fitted curve; null without trials to fit.
    pub curve: Option<ThresholdCurve>,
    /// The result as a sentence.
    pub finding: String,
    /// The estimator.
    pub mode: &'static str,
}

impl ThresholdRow {
    /// The threshold with its confidence interval, as tables show it: `12.30 (10.10 to 14.90)`, `not reached (above 64)`
    /// or `cannot tell`. A bound outside of the tested values is shown as such: `12.30 (below 2 to 14.90)`.
    pub fn threshold_text(&self) -> String {
        let (Some(curve), [first, .., last]) = (&self.curve, self.tested.as_slice()) else {
            return "cannot tell".to_owned();
        };
        let low = curve.low.map_or_else(|| format!("below {first}"), |low| format!("{low:.2}"));
        let high = curve.high.map_or_else(|| format!("above {last}"), |high| format!("{high:.2}"));
        match (curve.x50, curve.not_reached) {
            (Some(x50), _) => format!("{x50:.2} ({low} to {high})"),
            (None, Some(side)) => not_reached_text(side, &self.tested),
            (None, None) => "cannot tell".to_owned(),
        }
    }

    /// Whether the curve crosses 50 % and fits, so that the numbers need no explanation.
    pub fn crosses_and_fits(&self) -> bool {
        let crosses_and_fits = |curve: &ThresholdCurve| {
            curve.crossing == Crossing::Crosses && !curve.lack_of_fit.is_overdispersed
        };
        self.curve.as_ref().is_some_and(crosses_and_fits)
    }
}

/// A fitted logistic curve.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ThresholdCurve {
    /// Whether and how the curve crosses one half.
    #[serde(serialize_with = "serialize_name")]
    #[schemars(with = "String", extend("enum" = ["crosses", "always_above", "always_below", "unclear"]))]
    pub crossing: Crossing,
    /// Whether the curve rises or falls.
    #[serde(serialize_with = "serialize_name")]
    #[schemars(with = "String", extend("enum" = ["falling", "rising", "flat"]))]
    pub trend: Trend,
    /// The value of the parameter at which accuracy is one half; null if it is not within the tested values.
    pub x50: Option<f64>,
    /// Lower end of the confidence interval, at most the largest tested value; null if it is below the tested values.
    pub low: Option<f64>,
    /// Upper end of the confidence interval, at least the smallest tested value; null if it is above the tested values.
    pub high: Option<f64>,
    /// The side of the tested values on which the threshold lies if they don't reach it; null if they do, or if neither a
    /// slope nor a difference from one half is significant.
    #[serde(serialize_with = "serialize_optional_name")]
    #[schemars(with = "Option<String>", extend("enum" = ["above", "below", null]))]
    pub not_reached: Option<Side>,
    /// Intercept on the logit scale.
    pub intercept: f64,
    /// Slope on the logit scale.
    pub slope: f64,
    /// Whether intercept and slope have finite estimates; otherwise they only describe a steep curve.
    pub is_finite: bool,
    /// The p-value of the slope.
    pub slope_p: f64,
    /// How well the curve fits.
    pub lack_of_fit: CurveFit,
}

/// Goodness of fit of the curve.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct CurveFit {
    /// Deviance.
    pub g2: f64,
    /// Pearson's statistic.
    pub pearson: f64,
    /// Degrees of freedom.
    pub degrees: u64,
    /// The p-value of the lack of fit.
    pub p: Option<f64>,
    /// Dispersion: the statistic divided by the degrees of freedom.
    pub dispersion: Option<f64>,
    /// Whether the points scatter more than the curve and chance explain.
    pub is_overdispersed: bool,
}

/// A side of the tested values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Above the largest.
    Above,
    /// Below the smallest.
    Below,
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Above => "above",
            Self::Below => "below",
        })
    }
}

/// `not reached (above 64)`.
fn not_reached_text(side: Side, tested: &[f64]) -> String {
    let edge = match side {
        Side::Above => tested.last(),
        Side::Below => tested.first(),
    };
    edge.map_or_else(|| "not reached".to_owned(), |edge| format!("not reached ({side} {edge})"))
}

#[expect(clippy::ref_option, reason = "the signature that serde calls")]
fn serialize_optional_name<S: serde::Serializer>(
    word: &Option<impl ToString>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match word {
        Some(word) => serialize_name(word, serializer),
        None => serializer.serialize_none(),
    }
}

fn serialize_name<S: serde::Serializer>(word: &impl ToString, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&word.to_string().replace(' ', "_"))
}

impl From<LackOfFit> for CurveFit {
    fn from(fit: LackOfFit) -> Self {
        Self {
            g2: fit.g2,
            pearson: fit.pearson,
            degrees: fit.degrees,
            p: fit.p,
            dispersion: fit.dispersion(),
            is_overdispersed: fit.is_overdispersed(),
        }
    }
}

impl ThresholdCurve {
    /// The curve as far as it was tested, in ascending order: the fit extrapolates a threshold and its bounds beyond that,
    /// where nothing supports the logistic form.
    fn within(tested: &[f64], fit: LogisticFit) -> Self {
        let (first, last) = (
            tested.first().copied().unwrap_or(f64::NEG_INFINITY),
            tested.last().copied().unwrap_or(f64::INFINITY),
        );
        let not_reached = match (fit.crossing, fit.x50) {
            (Crossing::Crosses | Crossing::Unclear, _) => None,
            (_, Some(x50)) => Some(if x50 > last { Side::Above } else { Side::Below }),
            // Without a slope, larger values are taken to be harder.
            (Crossing::AlwaysAbove, None) => Some(Side::Above),
            (Crossing::AlwaysBelow, None) => Some(Side::Below),
        };
        Self {
            crossing: fit.crossing,
            trend: fit.trend,
            x50: fit.x50.filter(|_| not_reached.is_none()).map(|x50| x50.clamp(first, last)),
            low: fit.low.filter(|low| *low >= first).map(|low| low.min(last)),
            high: fit.high.filter(|high| *high <= last).map(|high| high.max(first)),
            not_reached,
            intercept: fit.intercept,
            slope: fit.slope,
            is_finite: fit.is_finite,
            slope_p: fit.slope_p,
            lack_of_fit: fit.lack_of_fit.into(),
        }
    }
}

/// The thresholds, and the tasks that can't have one.
#[derive(Debug, Clone)]
pub struct Thresholds {
    /// One row for each evaluation and task.
    pub rows: Vec<ThresholdRow>,
    /// Tasks without a threshold, and why.
    pub excluded: Vec<(String, String)>,
}

/// Fits a curve to each evaluation and task by a numeric parameter: the given one, or the one that varies most.
///
/// # Errors
/// A [`PointsError`] when the study cannot be read or has nothing that matches.
pub async fn thresholds(
    db: &PointsDb,
    query: &PointQuery,
    parameter: Option<&str>,
    estimator: Estimator,
) -> Result<Thresholds, PointsError> {
    let grid = ParameterGrid::load(db, query).await?;
    if let Some(name) = parameter {
        grid.check(name)?;
    }
    let mut found = Thresholds { rows: Vec::new(), excluded: Vec::new() };
    for task in &grid.tasks {
        match axis(task, parameter) {
            Ok(axis) => found.rows.extend(task_rows(&grid, task, axis, estimator)),
            Err(reason) => found.excluded.push((task.task.clone(), reason)),
        }
    }
    if found.rows.is_empty() {
        let reasons = found.excluded.iter().map(|(task, reason)| format!("{task} {reason}"));
        return Err(PointsError::InvalidQuery(format!(
            "no task has a parameter for a threshold: {}; choose another parameter or widen the filter",
            reasons.collect::<Vec<_>>().join(", ")
        )));
    }
    Ok(found)
}

fn axis(task: &TaskGrid, parameter: Option<&str>) -> Result<usize, String> {
    let Some(name) = parameter else {
        let is_usable = |index: &usize| {
            let param = &task.parameters[*index];
            param.is_numeric() && param.values.len() > 1
        };
        let index = (0..task.parameters.len()).find(is_usable);
        return index.ok_or_else(|| "has no numeric parameter that varies".to_owned());
    };
    let index = task.index_of(name).ok_or_else(|| format!("has no parameter `{name}`"))?;
    if task.parameters[index].is_numeric() {
        Ok(index)
    } else {
        Err(format!("has text values for `{name}`, but a threshold needs numbers"))
    }
}

fn task_rows(grid: &ParameterGrid, task: &TaskGrid, axis: usize, estimator: Estimator) -> Vec<ThresholdRow> {
    let param = &task.parameters[axis];
    let mixed: Vec<String> =
        task.mixed(&[axis]).into_iter().map(|index| task.parameters[index].name.clone()).collect();
    let mut rows_by_eval: BTreeMap<usize, Vec<(Row, u64)>> = BTreeMap::new();
    for ((eval, value_indices), cell) in task.along(&[axis]) {
        let Value::Number(x) = param.values[value_indices[0]] else { continue };
        rows_by_eval.entry(eval).or_default().push(outcomes(x, &cell.counts, estimator.mode));
    }
    rows_by_eval
        .into_par_iter()
        .map(|(eval, rows)| {
            // Where a random guess is always correct, trials carry no information.
            let (rows, trials): (Vec<Row>, Vec<u64>) =
                rows.into_iter().filter(|(row, _)| row.n > 0.0 && row.guess < 0.999_999).unzip();
            let tested: Vec<f64> = rows.iter().map(|row| row.x).collect();
            let (curve, problem) = match fit(&rows, estimator.confidence) {
                _ if tested.len() < 2 => (None, None),
                Ok(fit) => (Some(ThresholdCurve::within(&tested, fit)), None),
                Err(problem) => (None, Some(problem.to_string())),
            };
            let finding = match (&curve, problem) {
                (Some(curve), _) => describe(&param.name, &tested, curve),
                (None, Some(problem)) => format!("cannot tell: {problem}"),
                (None, None) => match tested.as_slice() {
                    [] => "cannot tell: no trials".to_owned(),
                    [only, ..] => format!("cannot tell: trials only at {}={only}", param.name),
                },
            };
            ThresholdRow {
                eval: grid.evals[eval].info.clone(),
                label: grid.evals[eval].label.clone(),
                base_task: task.task.clone(),
                task: task.task.clone(),
                parameter: param.name.clone(),
                mixed: mixed.clone(),
                n: trials.iter().sum(),
                tested,
                curve,
                finding,
                mode: estimator.mode.name(),
            }
        })
        .collect()
}

/// Trials and successes as a mode counts them, and the number of trials. Samples of one problem count as the independent
/// trials that they are worth. The guess rate is relative to the counted trials, and 0 for the E modes, which don't correct
/// for guessing.
fn outcomes(x: f64, counts: &TrialCounts, mode: Mode) -> (Row, u64) {
    let (n, successes) = match mode.assumption {
        Assumption::Independence => (counts.n_u(), counts.n_e),
        Assumption::Pessimism => (counts.n, counts.n_e),
        Assumption::Optimism => (counts.n, counts.n_e + counts.n_t),
    };
    let (trials, n) = (n, n as f64);
    let guess = if n > 0.0 && mode.event != Event::Equality { (counts.g / n).clamp(0.0, 1.0) } else { 0.0 };
    let design_effect = counts.design_effect();
    let n = n / design_effect;
    (Row { x, n, successes: (successes as f64 / design_effect).min(n), guess }, trials)
}

/// The finding for a fitted curve.
fn describe(parameter: &str, tested: &[f64], curve: &ThresholdCurve) -> String {
    let range = match tested {
        [first, .., last] => format!("{parameter} from {first} to {last}"),
        _ => parameter.to_owned(),
    };
    let mut text = match (curve.x50, curve.not_reached, curve.crossing) {
        (Some(x50), ..) => {
            let bounds = match (curve.low, curve.high) {
                (Some(low), Some(high)) => format!(" ({} to {})", format_rounded(low), format_rounded(high)),
                (Some(low), None) => format!(" ({} or more)", format_rounded(low)),
                (None, Some(high)) => format!(" ({} or less)", format_rounded(high)),
                (None, None) => " (anywhere within the tested values or beyond)".to_owned(),
            };
            let trend = if curve.trend == Trend::Rising { ", rising" } else { "" };
            format!("threshold at {parameter}={}{bounds}{trend}", format_rounded(x50))
        }
        (None, Some(side), crossing) => {
            let level = if crossing == Crossing::AlwaysBelow { "below" } else { "above" };
            format!("threshold {}: accuracy {level} 50 % everywhere, {range}", not_reached_text(side, tested))
        }
        (None, None, _) => {
            format!("cannot tell: neither a slope nor a difference from 50 % is significant, {range}")
        }
    };
    if curve.lack_of_fit.is_overdispersed {
        text += "; the curve fits poorly, so the confidence interval is too narrow";
    }
    text
}

/// A number with about three significant digits.
fn format_rounded(number: f64) -> String {
    let decimals = match number.abs() {
        small if small < 1.0 => 3,
        middle if middle < 10.0 => 2,
        large if large < 1000.0 => 1,
        _ => 0,
    };
    format!("{number:.decimals$}")
}
