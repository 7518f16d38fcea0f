//! Survival curves, hazards and histograms as figures.

use std::collections::BTreeMap;

use reasonscape_charts::{Axis, Figure, Layer, Panel, Point};
use reasonscape_stats::{Confidence, Interval};

use super::{Bin, CurvePoint, HazardRow};
use crate::{IntervalEstimate, in_percent};

/// Rows that get both panels: cumulative incidence and hazards.
const MAX_FULL_ROWS: usize = 3;
/// Panels that fit on a page.
const MAX_PANELS: usize = 12;

/// A few rows get curves and hazards; many rows get survival curves, one panel per task.
pub fn hazard_figure(rows: &[HazardRow], confidence: Confidence) -> Figure {
    let drawn: Vec<&HazardRow> = rows.iter().filter(|row| row.n > 0).collect();
    let trials: u64 = drawn.iter().map(|row| row.n).sum();
    let mut figure = Figure::new("Tokens to an answer").subtitle(format!(
        "{trials} trials; {} % confidence intervals; curves: Kaplan-Meier and Aalen-Johansen; hazards: Wilson",
        in_percent(confidence.level())
    ));
    if drawn.len() <= MAX_FULL_ROWS {
        figure = figure.columns(2);
        for row in drawn {
            figure = figure.panel(outcomes_panel(row)).panel(hazards_panel(row));
        }
        return figure.note("Truncated trials are censored at their token limit.");
    }
    let mut tasks: BTreeMap<&str, Vec<&HazardRow>> = BTreeMap::new();
    for row in drawn {
        tasks.entry(row.group.task.as_deref().unwrap_or_default()).or_default().push(row);
    }
    let left_out = tasks.len().saturating_sub(MAX_PANELS);
    for (task, rows) in tasks.into_iter().take(MAX_PANELS) {
        let panel = Panel::new(task, Axis::log("tokens"), Axis::percent("no answer yet"));
        figure = figure.panel(rows.into_iter().fold(panel, |panel, row| {
            panel.layer(Layer::steps(&row.group.label, curve(row, |at| at.thinking)))
        }));
    }
    if left_out > 0 {
        figure = figure
            .note(format!("{left_out} more tasks are not shown; use `--filter base_task=` to select some."));
    }
    figure.note("Truncated trials are censored at their token limit.")
}

fn curve(row: &HazardRow, of: fn(&CurvePoint) -> Interval) -> Vec<Point> {
    let point = |at: &CurvePoint| {
        let interval = of(at);
        Point::between(
            at.tokens.max(1) as f64,
            interval.point.unwrap_or(interval.low),
            interval.low,
            interval.high,
        )
    };
    row.curve.iter().map(point).collect()
}

fn outcomes_panel(row: &HazardRow) -> Panel {
    let mut panel = Panel::new(row.group.title(), Axis::log("tokens"), Axis::percent("proportion of trials"))
        .layer(Layer::steps("no answer yet", curve(row, |at| at.thinking)))
        .layer(Layer::steps("correct", curve(row, |at| at.correct)))
        .layer(Layer::steps("incorrect", curve(row, |at| at.incorrect)));
    if let Some(change) = row.stops_helping.filter(|change| change.beyond > 0) {
        panel = panel.layer(Layer::vertical("accuracy drops", change.beyond as f64));
    }
    panel
}

fn hazards_panel(row: &HazardRow) -> Panel {
    let dots = |of: fn(&Bin) -> IntervalEstimate| {
        let known = row.bins.iter().map(|bin| (bin.up_to as f64, of(bin)));
        let point = |(up_to, interval): (f64, IntervalEstimate)| {
            Some(Point::between(up_to, interval.point?, interval.low, interval.high))
        };
        known.filter_map(point).collect::<Vec<_>>()
    };
    let across = Axis::log("tokens (upper end of bin)");
    Panel::new(row.group.title(), across, Axis::percent("hazard per bin"))
        .layer(Layer::dots("correct", dots(|bin| bin.correct_hazard)))
        .layer(Layer::dots("incorrect", dots(|bin| bin.incorrect_hazard)))
}

/// Histograms of tokens by outcome, one panel per row.
pub fn histogram_figure(rows: &[HazardRow]) -> Figure {
    let drawn: Vec<&HazardRow> = rows.iter().filter(|row| row.n > 0).collect();
    let trials: u64 = drawn.iter().map(|row| row.n).sum();
    let mut figure = Figure::new("Tokens per trial by outcome")
        .subtitle(format!("{trials} trials; bins are labeled with their upper end"));
    for row in drawn.iter().take(MAX_PANELS) {
        let ends = row.bins.iter().map(|bin| bin.up_to.to_string());
        let across = Axis::categories("tokens (upper end of bin)", ends);
        let bars = |of: fn(&Bin) -> u64| {
            let bars = row.bins.iter().enumerate();
            bars.map(|(index, bin)| Point::exact(index as f64, of(bin) as f64)).collect()
        };
        let panel = Panel::new(row.group.title(), across, Axis::linear("trials"))
            .layer(Layer::bars("correct", bars(|bin| bin.correct)))
            .layer(Layer::bars("incorrect", bars(|bin| bin.incorrect)))
            .layer(Layer::bars("truncated", bars(|bin| bin.censored)));
        figure = figure.panel(panel);
    }
    match drawn.len().saturating_sub(MAX_PANELS) {
        0 => figure,
        more => figure.note(format!("{more} more histograms are not shown; use a filter to select some.")),
    }
}
