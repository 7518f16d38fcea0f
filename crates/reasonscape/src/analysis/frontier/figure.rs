//! Frontiers as dots with their intervals, one panel a task.

use reasonscape_figures::{Axis, Figure, Layer, Panel, Point};

use super::FrontierRow;

/// More panels than these cannot be read on one page.
const MOST_PANELS: usize = 24;

/// One panel a task, one dot an evaluation; the end of a bar that is not known runs to the edge.
pub(crate) fn frontier_figure(rows: &[FrontierRow], confidence: f64) -> Figure {
    let trials: u64 = rows.iter().map(|row| row.n).sum();
    let mode = rows.first().map_or("", |row| row.mode);
    let by_task: Vec<&[FrontierRow]> = rows.chunk_by(|a, b| a.task == b.task).collect();
    let mut figure = Figure::new("Where half of the answers are known").subtitle(format!(
        "{trials} trials counted as {mode} does, {}% intervals by profile likelihood",
        (confidence * 1e6).round() / 1e4
    ));
    for rows in by_task.iter().take(MOST_PANELS) {
        figure = figure.panel(panel(rows));
    }
    if rows.iter().any(is_one_sided) {
        figure = figure.note(
            "a bar that runs to the edge has one bound only: the frontier lies beyond the values that were tested",
        );
    }
    let without = rows.iter().filter(|row| place(row).is_none()).count();
    if without > 0 {
        figure = figure.note(format!("of {without} evaluations and tasks a frontier cannot be told"));
    }
    if rows.iter().any(|row| row.curve.as_ref().is_some_and(|curve| curve.lack_of_fit.is_overdispersed)) {
        figure = figure.note("* the curve fits badly, so the interval is too narrow");
    }
    if by_task.len() > MOST_PANELS {
        let more = by_task.len() - MOST_PANELS;
        figure = figure.note(format!("{more} more panels are left out; a filter chooses which are shown"));
    }
    figure
}

fn panel(rows: &[FrontierRow]) -> Panel {
    let first = &rows[0];
    let names = rows.iter().map(|row| {
        let is_bad = row.curve.as_ref().is_some_and(|curve| curve.lack_of_fit.is_overdispersed);
        if is_bad { format!("{}*", row.label) } else { row.label.clone() }
    });
    let dots: Vec<Point> = rows
        .iter()
        .enumerate()
        .filter_map(|(name, row)| {
            let (x, low, high) = place(row)?;
            Some(Point::between(x, name as f64, low, high))
        })
        .collect();
    let tested = rows.iter().flat_map(|row| &row.tested);
    let (low, high) =
        tested.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(*x), high.max(*x)));
    let mut panel = Panel::new(
        first.task.as_str(),
        Axis::linear(first.parameter.as_str()),
        Axis::categories("", names.collect::<Vec<_>>()),
    );
    if low < high {
        panel = panel.layer(Layer::vertical("tested from", low)).layer(Layer::vertical("to", high));
    }
    panel.layer(Layer::dots("", dots))
}

/// The dot and the ends of its bar; a frontier of which only a bound is known stands at that bound.
fn place(row: &FrontierRow) -> Option<(f64, f64, f64)> {
    let curve = row.curve.as_ref()?;
    let x = curve.x50.or(curve.low).or(curve.high)?;
    Some((x, curve.low.unwrap_or(f64::NEG_INFINITY), curve.high.unwrap_or(f64::INFINITY)))
}

fn is_one_sided(row: &FrontierRow) -> bool {
    row.curve.as_ref().is_some_and(|curve| curve.low.is_some() != curve.high.is_some())
}
