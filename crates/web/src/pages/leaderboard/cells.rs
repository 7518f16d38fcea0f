//! Scores with their margins on an axis, and accuracies as colored cells.

use std::fmt::Write;

use reasonscape_analysis::{ReasonScoreEstimate, ScoreRow, TaskScore, accuracy_interval_name};
use serde::Serialize;

use crate::chart::{percent_interval, percent_text};
use crate::query_string::encoded;

/// Steps of the color scale.
const STEPS: f64 = 10.0;
/// Width of the axis, in pixels.
const WIDTH: f64 = 120.0;
/// A task with a smaller proportion of truncated responses is not marked.
const MIN_TRUNCATION_RATE: f64 = 0.005;

/// The axis of the scores.
#[derive(Serialize)]
pub(super) struct Axis {
    low: f64,
    high: f64,
    middle: f64,
    width: f64,
}

/// From the hundred below the lowest end to the hundred above the highest.
pub(super) fn axis(rows: &[ScoreRow]) -> Axis {
    let lowest = rows.iter().map(|row| row.reason_score.ci_low).fold(f64::INFINITY, f64::min);
    let highest = rows.iter().map(|row| row.reason_score.ci_high).fold(f64::NEG_INFINITY, f64::max);
    let (low, high) = if lowest <= highest {
        ((lowest / 100.0).floor() * 100.0, ((highest / 100.0).ceil() * 100.0).min(1000.0))
    } else {
        (0.0, 1000.0)
    };
    let high = high.max(low + 100.0);
    Axis { low, high, middle: f64::midpoint(low, high), width: WIDTH }
}

/// An interval on the axis, in pixels.
#[derive(Serialize)]
pub(super) struct IntervalBar {
    from: String,
    length: String,
    center: String,
    description: String,
}

impl IntervalBar {
    pub(super) fn new(axis: &Axis, score: &ReasonScoreEstimate) -> Self {
        let (low, center, high) = (score.ci_low, score.estimate, score.ci_high);
        let at = |score: f64| (score - axis.low) / (axis.high - axis.low) * WIDTH;
        Self {
            from: format!("{:.1}", at(low)),
            // A narrower bar would be invisible.
            length: format!("{:.1}", (at(high) - at(low)).max(2.0)),
            center: format!("{:.1}", at(center)),
            description: format!("{center:.0}, {} {}", score.interval_name(), score.interval_label()),
        }
    }
}

/// The accuracy on a task, by color.
#[derive(Serialize)]
pub(super) struct HeatCell {
    step: u8,
    estimate: String,
    interval: String,
    value: String,
    tooltip: String,
    href: String,
    /// The proportion of truncated responses, if it is marked.
    truncated: Option<String>,
}

/// The cell of a task; `None` without an estimate.
pub(super) fn heat_cell(
    name: &str,
    task: &TaskScore,
    mode: &str,
    truncation_known: bool,
    trials: &str,
) -> Option<HeatCell> {
    let point = task.accuracy.point?;
    let truncation_rate = task.n_t as f64 / task.n.max(1) as f64;
    let truncated = (truncation_known && truncation_rate >= MIN_TRUNCATION_RATE)
        .then(|| format!("{:.0} % truncated", 100.0 * truncation_rate));
    let mut tooltip = format!(
        "{name}: {:.1} %, {} from {:.1} to {:.1}; {} of {} correct",
        100.0 * point,
        accuracy_interval_name(mode, 0.95),
        100.0 * task.accuracy.low,
        100.0 * task.accuracy.high,
        task.n_e,
        task.n
    );
    if task.n_t > 0 {
        let _ = write!(tooltip, ", {} truncated", task.n_t);
    }
    Some(HeatCell {
        step: (point * STEPS).round().clamp(0.0, STEPS) as u8,
        estimate: percent_text(point),
        interval: percent_interval(&task.accuracy),
        value: format!("{point:.4}"),
        tooltip,
        href: format!("{trials}&task={}", encoded(name)),
        truncated,
    })
}
