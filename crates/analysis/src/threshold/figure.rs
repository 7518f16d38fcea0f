//! Thresholds as dots with confidence intervals, one panel per task.

use reasonscape_charts::{Axis, Figure, Layer, Panel, Point};

use reasonscape_stats::logistic::Crossing;

use super::{Side, ThresholdCurve, ThresholdRow};

/// Panels that fit on a page.
const MAX_PANELS: usize = 24;

/// Lines that can be distinguished in one panel.
const MAX_LINES: usize = 4;

/// Length of a name from which three panels don't fit side by side.
const LONG_NAME_LEN: usize = 16;

/// One panel per task, one dot per evaluation; an interval with an unknown end extends to the edge.
pub fn threshold_figure(rows: &[ThresholdRow], confidence: f64) -> Figure {
    // Thresholds for several parameters of a task share their trials, which are counted once.
    let is_first = |row: &&ThresholdRow| {
        rows.iter().find(|other| other.task == row.task).is_some_and(|other| other.parameter == row.parameter)
    };
    let trials: u64 = rows.iter().filter(is_first).map(|row| row.n).sum();
    let mode = rows.first().map_or("", |row| row.mode);
    let by_task: Vec<&[ThresholdRow]> =
        rows.chunk_by(|a, b| a.task == b.task && a.parameter == b.parameter).collect();
    let mut figure = Figure::new("Thresholds: parameter value at 50 % accuracy").subtitle(format!(
        "{trials} trials, estimated by {mode}, {} % confidence intervals (profile likelihood)",
        (confidence * 1e6).round() / 1e4
    ));
    for rows in by_task.iter().take(MAX_PANELS) {
        figure = figure.panel(panel(rows));
    }
    if by_task.len() > 2 && rows.iter().any(|row| row.label.chars().count() > LONG_NAME_LEN) {
        figure = figure.columns(2);
    }
    if rows.iter().any(is_one_sided) {
        figure = figure.note(
            "an interval without a cap extends beyond the edge; a dot at its end is a bound, not an estimate",
        );
    }
    let not_drawn = by_task.iter().map(|rows| rows.len() - dots(rows).len()).sum::<usize>();
    if not_drawn > 0 {
        figure = figure.note(format!("not shown because unknown: {not_drawn}"));
    }
    if rows.iter().any(|row| row.curve.as_ref().is_some_and(|curve| curve.lack_of_fit.is_overdispersed)) {
        figure = figure.note("* the curve fits poorly, so the confidence interval is too narrow");
    }
    if by_task.len() > MAX_PANELS {
        let more = by_task.len() - MAX_PANELS;
        figure = figure.note(format!("{more} more panels are not shown; use a filter to select panels"));
    }
    figure
}

fn panel(rows: &[ThresholdRow]) -> Panel {
    let first = &rows[0];
    let names = rows.iter().map(|row| {
        let fits_poorly = row.curve.as_ref().is_some_and(|curve| curve.lack_of_fit.is_overdispersed);
        if fits_poorly { format!("{}*", row.label) } else { row.label.clone() }
    });
    let (low, high) = tested(rows);
    let axis_range = axis_range(rows);
    let mut panel = Panel::new(
        first.task.as_str(),
        Axis::linear(first.parameter.as_str()).range(axis_range.0, axis_range.1),
        Axis::categories("", names.collect::<Vec<_>>()),
    );
    if low < high {
        panel = panel.layer(Layer::vertical("tested from", low)).layer(Layer::vertical("to", high));
    }
    panel.layer(Layer::dots("", dots(rows)))
}

/// The smallest and the largest value with trials.
fn tested(rows: &[ThresholdRow]) -> (f64, f64) {
    let tested = rows.iter().flat_map(|row| &row.tested);
    tested.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(*x), high.max(*x)))
}

/// The range of the axis: the tested range with a margin, so that dots at its ends are whole.
fn axis_range(rows: &[ThresholdRow]) -> (f64, f64) {
    match tested(rows) {
        (low, high) if low < high => (low - 0.1 * (high - low), high + 0.1 * (high - low)),
        (only, _) if only.is_finite() => (only - 1.0, only + 1.0),
        _ => (0.0, 1.0),
    }
}

/// The thresholds. One that isn't reached is drawn at its bound, or at the end of the tested values.
fn dots(rows: &[ThresholdRow]) -> Vec<Point> {
    let dot = |(name, row): (usize, &ThresholdRow)| {
        let curve = row.curve.as_ref()?;
        let x = match curve.not_reached {
            Some(Side::Above) => curve.low.or(row.tested.last().copied()),
            Some(Side::Below) => curve.high.or(row.tested.first().copied()),
            None => curve.x50,
        };
        let low = curve.low.unwrap_or(f64::NEG_INFINITY);
        let high = curve.high.unwrap_or(f64::INFINITY);
        Some(Point::between(x?, name as f64, low, high))
    };
    rows.iter().enumerate().filter_map(dot).collect()
}

fn is_one_sided(row: &ThresholdRow) -> bool {
    let is_open = |curve: &ThresholdCurve| {
        curve.not_reached.is_some() || curve.x50.is_some() && (curve.low.is_none() || curve.high.is_none())
    };
    row.curve.as_ref().is_some_and(is_open)
}

/// Adds a line at each threshold to the panels of a figure of projections. `along` names the task and the parameter of each
/// panel.
pub fn threshold_lines(mut figure: Figure, along: &[(&str, &str)], rows: &[ThresholdRow]) -> Figure {
    let mut has_lines = false;
    for (panel, (task, parameter)) in figure.panels.iter_mut().zip(along) {
        let rows_here = rows.iter().filter(|row| row.task == *task && row.parameter == *parameter);
        if rows_here.clone().count() > MAX_LINES {
            continue;
        }
        for row in rows_here {
            let curve = row.curve.as_ref().filter(|curve| curve.crossing == Crossing::Crosses);
            let (low, high) = tested(std::slice::from_ref(row));
            let is_tested = |x: &f64| (low..=high).contains(x);
            if let Some(x50) = curve.and_then(|curve| curve.x50).filter(is_tested) {
                has_lines = true;
                panel.layers.push(Layer::vertical(row.label.as_str(), x50));
            }
        }
    }
    if has_lines {
        figure.note("dashed lines are thresholds: 50 % accuracy by a logistic curve")
    } else {
        figure
    }
}
