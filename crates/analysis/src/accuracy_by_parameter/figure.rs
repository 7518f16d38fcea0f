//! Projections as lines with confidence bands, surfaces as heat maps.

use reasonscape_charts::{Axis, Bounds as ChartBounds, Cell, Figure, Heatmap, Layer, Panel, Point};
use reasonscape_points::Value;

use super::{AccuracyGrid, AccuracyGridAxis, AccuracyGridCell};
use crate::{accuracy_interval_name, accuracy_label};

/// Panels that fit on a page.
const MAX_PANELS: usize = 24;

/// A ratio of largest to smallest value from which the axis is logarithmic.
const WIDE: f64 = 20.0;

/// One panel per task, one line with its confidence band per evaluation.
pub fn projection_figure(grids: &[AccuracyGrid], confidence: f64) -> Figure {
    let panel = |grid: &AccuracyGrid| {
        let (axis, positions) = horizontal_axis(&grid.axes[0]);
        let mut panel = Panel::new(grid.task.as_str(), axis, Axis::percent(accuracy_label(grid.mode)));
        for cells in grid.by_eval() {
            let point = |cell: &AccuracyGridCell| {
                Some(between(positions[cell.value_indices[0]], cell, cell.estimate.point?))
            };
            let points: Vec<Point> = cells.iter().filter_map(point).collect();
            if let Some(cell) = cells.first().filter(|_| !points.is_empty()) {
                panel = panel.layer(Layer::line(cell.label.as_str(), points));
            }
        }
        panel
    };
    let panels: Vec<Panel> = grids.iter().map(panel).collect();
    captioned("Accuracy by one parameter", grids, confidence, panels)
}

/// One panel per evaluation and task, colored by accuracy.
pub fn surface_figure(grids: &[AccuracyGrid], confidence: f64) -> Figure {
    let several_tasks = grids.len() > 1;
    let panels: Vec<Panel> = grids
        .iter()
        .flat_map(|grid| grid.by_eval().into_iter().map(move |cells| (grid, cells)))
        .filter_map(|(grid, cells)| {
            let label = &cells.first()?.label;
            let title = if several_tasks { format!("{label}, {}", grid.task) } else { label.clone() };
            let [x, y] = [&grid.axes[0], &grid.axes[1]];
            Some(
                Panel::new(title, Axis::linear(&x.parameter), Axis::linear(&y.parameter))
                    .layer(Layer::Heatmap(heatmap(accuracy_label(grid.mode), x, y, cells))),
            )
        })
        .collect();
    // Three heat maps side by side have no space for a color scale.
    let columns = panels.len().min(2);
    captioned("Accuracy by two parameters", grids, confidence, panels).columns(columns)
}

/// The largest value of the vertical parameter is at the top, as on an axis.
fn heatmap(label: &str, x: &AccuracyGridAxis, y: &AccuracyGridAxis, cells: &[AccuracyGridCell]) -> Heatmap {
    let mut table = vec![Cell::default(); x.values.len() * y.values.len()];
    for cell in cells.iter().filter(|cell| cell.estimate.point.is_some()) {
        let row = y.values.len() - 1 - cell.value_indices[1];
        table[row * x.values.len() + cell.value_indices[0]] = Cell {
            value: cell.estimate.point,
            interval: Some(ChartBounds::new(cell.estimate.low, cell.estimate.high)),
            text: String::new(),
        };
    }
    Heatmap {
        rows: y.values.iter().rev().map(ToString::to_string).collect(),
        columns: x.values.iter().map(ToString::to_string).collect(),
        cells: table,
        range: Some(ChartBounds::new(0.0, 1.0)),
        label: label.to_owned(),
        percent: true,
        ..Heatmap::default()
    }
}

fn between(x: f64, cell: &AccuracyGridCell, y: f64) -> Point {
    Point::between(x, y, cell.estimate.low, cell.estimate.high)
}

/// The axis of a parameter, and the position of each of its values.
fn horizontal_axis(axis: &AccuracyGridAxis) -> (Axis, Vec<f64>) {
    if !axis.is_numeric {
        let names = axis.values.iter().map(ToString::to_string);
        let positions = (0..axis.values.len()).map(|index| index as f64).collect();
        return (Axis::categories(&axis.parameter, names), positions);
    }
    let number = |value: &Value| if let Value::Number(number) = value { *number } else { 0.0 };
    let values: Vec<f64> = axis.values.iter().map(number).collect();
    let is_wide = matches!((values.first(), values.last()), (Some(low), Some(high)) if *low > 0.0 && high / low >= WIDE);
    let axis = if is_wide { Axis::log(&axis.parameter) } else { Axis::linear(&axis.parameter) };
    (axis, values)
}

/// The panels with title, subtitle and notes.
fn captioned(title: &str, grids: &[AccuracyGrid], confidence: f64, mut panels: Vec<Panel>) -> Figure {
    // Grids of one task by different parameters share their trials, which are counted once.
    let is_one_task = grids.windows(2).all(|pair| pair[0].task == pair[1].task);
    let counted = if is_one_task { &grids[..grids.len().min(1)] } else { grids };
    let trials: u64 = counted.iter().flat_map(|grid| &grid.cells).map(|cell| cell.n).sum();
    let mode = grids.first().map_or("", |grid| grid.mode);
    let left_out = panels.len().saturating_sub(MAX_PANELS);
    panels.truncate(MAX_PANELS);
    let title = match grids {
        [grid, ..] if is_one_task => {
            panels.iter_mut().filter(|panel| panel.title == grid.task).for_each(|panel| panel.title.clear());
            format!("{title}: {}", grid.task)
        }
        _ => title.to_owned(),
    };
    let mut figure = Figure::new(title).subtitle(format!(
        "{trials} trials, estimated by {mode}, with its {}",
        accuracy_interval_name(mode, confidence)
    ));
    figure.panels = panels;
    let mut mixed: Vec<&str> =
        grids.iter().filter(|grid| !grid.mixed.is_empty()).map(|grid| grid.task.as_str()).collect();
    mixed.dedup();
    if !mixed.is_empty() {
        figure = figure.note(format!("other parameters vary along with the axes on {}", mixed.join(", ")));
    }
    if left_out > 0 {
        figure = figure.note(format!("{left_out} more panels are not shown; use a filter to select panels"));
    }
    figure
}
