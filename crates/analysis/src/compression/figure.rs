//! Bits per token or compressed bytes by outcome, as box plots.

use reasonscape_charts::{Axis, Figure, Layer, Panel, Summary};

use super::{Compression, CompressionRow, OutcomeStats, QuartileSummary};

/// Panels that fit on a page.
const MAX_PANELS: usize = 12;

/// Evaluations in one panel.
const MAX_BOXES: usize = 24;

/// One panel per evaluation with a category per task and a box per outcome; if tasks are pooled, one panel with a category
/// per evaluation.
pub fn compression_figure(
    found: &Compression,
    measure: fn(&OutcomeStats) -> Option<QuartileSummary>,
    label: &str,
) -> Figure {
    let trials: u64 = found.rows.iter().map(|row| row.n).sum();
    let mut figure = Figure::new(format!("Compression by outcome: {label}"))
        .subtitle(format!("{trials} trials; boxes are quartiles, whiskers are minimum and maximum"));
    let left_out = if found.rows.iter().all(|row| row.group.task.is_none()) {
        let rows = &found.rows[..found.rows.len().min(MAX_BOXES)];
        figure = figure.panel(panel("", rows, |row| &row.group.label, measure, label));
        found.rows.len() - rows.len()
    } else {
        let panels: Vec<&[CompressionRow]> =
            found.rows.chunk_by(|a, b| a.group.eval.eval_id == b.group.eval.eval_id).collect();
        for rows in panels.iter().take(MAX_PANELS) {
            figure = figure.panel(panel(&rows[0].group.label, rows, task_of, measure, label));
        }
        panels.len().saturating_sub(MAX_PANELS)
    };
    if left_out > 0 {
        figure = figure.note(format!(
            "{left_out} more evaluations are not shown; use `--filter model=` to select some."
        ));
    }
    figure
}

/// One panel, with a category for each row.
fn panel(
    title: &str,
    rows: &[CompressionRow],
    category_of: fn(&CompressionRow) -> &str,
    measure: fn(&OutcomeStats) -> Option<QuartileSummary>,
    label: &str,
) -> Panel {
    let mut panel =
        Panel::new(title, Axis::categories("", rows.iter().map(category_of)), Axis::linear(label));
    for (name, stats_of) in [
        ("correct", (|row| row.correct) as fn(&CompressionRow) -> OutcomeStats),
        ("incorrect", |row| row.incorrect),
        ("truncated", |row| row.truncated),
    ] {
        let boxes = rows.iter().enumerate().filter_map(|(index, row)| {
            let quartiles = measure(&stats_of(row))?;
            Some(Summary {
                at: index as f64,
                low: quartiles.smallest,
                q1: quartiles.lower,
                median: quartiles.median,
                q3: quartiles.upper,
                high: quartiles.largest,
                outliers: None,
            })
        });
        panel = panel.layer(Layer::boxes(name, boxes.collect()));
    }
    panel
}

fn task_of(row: &CompressionRow) -> &str {
    row.group.task.as_deref().unwrap_or("all tasks")
}
