//! Accuracy against tokens as a picture.

use std::collections::BTreeMap;

use reasonscape_charts::{Axis, Figure, Layer, Panel, Point};
use reasonscape_stats::Confidence;

use super::{BudgetOutcome, TokensRow};
use crate::in_percent;

/// Panels that fit on a page.
const MAX_PANELS: usize = 12;

/// Accuracy against the limit, a panel a task; of one task also against the tokens that were spent.
pub fn tokens_figure(rows: &[TokensRow], confidence: Confidence) -> Figure {
    let mut tasks: BTreeMap<&str, Vec<&TokensRow>> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.n > 0) {
        tasks.entry(row.group.task.as_deref().unwrap_or_default()).or_default().push(row);
    }
    let trials: u64 = rows.iter().map(|row| row.n).sum();
    let mode = rows.first().map_or("", |row| row.mode);
    let mut figure = Figure::new("What tokens buy").subtitle(format!(
        "{trials} trials; accuracy by {mode}, {} % intervals",
        in_percent(confidence.level())
    ));
    let (is_one, left_out) = (tasks.len() == 1, tasks.len().saturating_sub(MAX_PANELS));
    for (task, rows) in tasks.into_iter().take(MAX_PANELS) {
        let mut panel = Panel::new(task, Axis::log("token limit"), Axis::percent("accuracy"));
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
                Panel::new(task, Axis::log("mean tokens spent a trial"), Axis::percent("accuracy"));
            figure = figure.columns(2).panel(rows.iter().fold(spent_panel, |panel, row| {
                panel.layer(Layer::line(&row.group.label, curve(row, |outcome| outcome.mean_tokens.mean)))
            }));
        }
    }
    if left_out > 0 {
        figure =
            figure.note(format!("{left_out} more tasks are not drawn; `--filter base_task=` chooses some."));
    }
    figure.note("A smaller limit cuts off the trials that used more and leaves the others as they are: this is counted.")
}

fn curve(row: &TokensRow, x: fn(&BudgetOutcome) -> f64) -> Vec<Point> {
    let point = |outcome: &BudgetOutcome| {
        let accuracy = outcome.accuracy;
        // The estimate of some modes has no point where nothing was completed.
        let middle = accuracy.point.unwrap_or(accuracy.center);
        (x(outcome) > 0.0).then(|| {
            let (low, high) = (accuracy.low.min(middle), accuracy.high.max(middle));
            Point::between(x(outcome), middle, low, high)
        })
    };
    row.budgets.iter().filter_map(point).collect()
}
