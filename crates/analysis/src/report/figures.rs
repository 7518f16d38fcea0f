//! The figures of a report.

use reasonscape_charts::{Axis, Bounds, Cell, Figure, Heatmap, Layer, Palette, Panel, Point};

use crate::{
    IntervalEstimate, Leaderboard, Pairwise, ScoreMethod, TaskScore, accuracy_interval_name, accuracy_label,
};

/// ReasonScores with their intervals, the best at the top.
pub(super) fn scores(board: &Leaderboard, max: usize) -> Figure {
    let rows = first_rows(&board.rows, max);
    let names = rows.iter().map(|row| row.label.as_str());
    let points = rows
        .iter()
        .enumerate()
        .map(|(index, row)| {
            let score = row.reason_score;
            Point::between(score.estimate, index as f64, score.ci_low, score.ci_high)
        })
        .collect();
    let subtitle = match board.method {
        ScoreMethod::Likelihood => "estimate with its 95 % confidence interval",
        ScoreMethod::Bootstrap => "with the v2 margin, which is not a 95 % CI (see docs/coverage.md)",
    };
    let figure = Figure::new("ReasonScore").subtitle(subtitle).panel(
        Panel::new("", Axis::linear("ReasonScore"), Axis::categories("", names))
            .layer(Layer::dots("", points)),
    );
    with_left_out_note(figure, board.rows.len(), max)
}

/// Accuracy by model and task.
pub(super) fn accuracy_by_task(board: &Leaderboard, max: usize) -> Figure {
    let rows = first_rows(&board.rows, max);
    let cells = rows
        .iter()
        .flat_map(|row| {
            board.tasks.iter().map(|task| match row.tasks.get(task) {
                Some(TaskScore {
                    accuracy: IntervalEstimate { low, high, point: Some(point), .. }, ..
                }) => Cell {
                    value: Some(*point),
                    interval: Some(Bounds::new(*low, *high)),
                    text: format!("{:.1}", 100.0 * point),
                },
                _ => Cell::default(),
            })
        })
        .collect();
    let heatmap = Heatmap {
        rows: rows.iter().map(|row| row.label.clone()).collect(),
        columns: board.tasks.clone(),
        cells,
        palette: Palette::Sequential,
        range: Some(Bounds::new(0.0, 1.0)),
        label: accuracy_label(board.mode.name()).to_owned(),
        percent: true,
    };
    let figure = Figure::new("Accuracy by model and task")
        .subtitle(format!(
            "in percent, estimated by {}, with its {}",
            board.mode,
            accuracy_interval_name(board.mode.name(), 0.95)
        ))
        .panel(Panel::new("", Axis::linear("task"), Axis::linear("")).layer(Layer::Heatmap(heatmap)));
    with_left_out_note(figure, board.rows.len(), max)
}

/// Win rates among the evaluations with the highest ratings.
pub(super) fn head_to_head(pairwise: &Pairwise, max: usize) -> Figure {
    let names: Vec<String> =
        first_rows(&pairwise.evals, max).iter().map(|model| model.label.clone()).collect();
    let cells = first_rows(&pairwise.win_rates, max)
        .iter()
        .flat_map(|row| first_rows(row, max))
        .map(|rate| Cell {
            value: *rate,
            interval: None,
            text: rate.map(|rate| format!("{:.0}", 100.0 * rate)).unwrap_or_default(),
        })
        .collect();
    let heatmap = Heatmap {
        rows: names.clone(),
        columns: names,
        cells,
        palette: Palette::Sequential,
        range: Some(Bounds::new(0.0, 1.0)),
        label: "win rate of the row".to_owned(),
        percent: true,
    };
    Figure::new("Win rates")
        .subtitle("row against column, averaged over tasks; exact")
        .panel(Panel::new("", Axis::linear("against"), Axis::linear("")).layer(Layer::Heatmap(heatmap)))
}

/// The first rows, which are the best.
fn first_rows<T>(rows: &[T], max: usize) -> &[T] {
    &rows[..rows.len().min(max)]
}

/// Notes how many rows are only in the table.
fn with_left_out_note(figure: Figure, rows: usize, max: usize) -> Figure {
    match rows.saturating_sub(max) {
        0 => figure,
        more => figure.note(format!("{more} more evaluations with lower scores are only in the table")),
    }
}
