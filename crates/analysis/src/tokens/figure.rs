//! Accuracy by token limit as a figure.

use std::collections::BTreeMap;

use reasonscape_charts::{Axis, Figure, Layer, Panel, Point};
use reasonscape_stats::Confidence;

use super::{BudgetOutcome, TokensRow};
use crate::{accuracy_interval_name, accuracy_label};

/// Panels that fit on a page.
const MAX_PANELS: usize = 12;

/// Accuracy by token limit, one panel per task; for a single task also by mean tokens used.
pub fn tokens_figure(rows: &[TokensRow], confidence: Confidence) -> Figure {
    let mut tasks: BTreeMap<&str, Vec<&TokensRow>> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.n > 0) {
        tasks.entry(row.group.task.as_deref().unwrap_or_default()).or_default().push(row);
    }
    let trials: u64 = rows.iter().map(|row| row.n).sum();
    let mode = rows.first().map_or("", |row| row.mode);
    let mut figure = Figure::new("Accuracy by token limit").subtitle(format!(
        "{trials} trials; accuracy by {mode}, with its {}",
        accuracy_interval_name(mode, confidence.level())
    ));
    let (is_one, left_out) = (tasks.len() == 1, tasks.len().saturating_sub(MAX_PANELS));
    for (task, rows) in tasks.into_iter().take(MAX_PANELS) {
        let mut panel = Panel::new(task, Axis::log("token limit"), Axis::percent(accuracy_label(mode)));
        for row in &rows {
            panel = panel.layer(Layer::line(&row.group.label, curve(row, |outcome| outcome.budget as f64)));
        }
        if let [row] = rows[..]
            && let Some(limit) = row.exact_up_to
        {
            panel = panel.layer(Layer::vertical("exact up to here", limit as f64));
        }
        figure = figure.panel(panel);
        if is_one {
            let spent_panel =
                Panel::new(task, Axis::log("mean tokens per trial"), Axis::percent(accuracy_label(mode)));
            figure = figure.columns(2).panel(rows.iter().fold(spent_panel, |panel, row| {
                panel.layer(Layer::line(&row.group.label, curve(row, |outcome| outcome.mean_tokens.mean)))
            }));
        }
    }
    if left_out > 0 {
        figure = figure
            .note(format!("{left_out} more tasks are not shown; use `--filter base_task=` to select some."));
    }
    figure.note("Counted, not modeled: a smaller limit truncates the trials that used more tokens and doesn't change the others.")
}

fn curve(row: &TokensRow, x: fn(&BudgetOutcome) -> f64) -> Vec<Point> {
    let point = |outcome: &BudgetOutcome| {
        let accuracy = outcome.accuracy;
        // Some modes have no estimate where nothing was completed.
        let estimate = accuracy.point.filter(|_| x(outcome) > 0.0)?;
        Some(Point::between(x(outcome), estimate, accuracy.low, accuracy.high))
    };
    row.budgets.iter().filter_map(point).collect()
}
