//! The notes below a figure.

use crate::model::{Figure, Layer};
use crate::panel::undrawn_points;

/// The notes of a figure, and a note on points that can't be shown.
pub(crate) fn notes(figure: &Figure) -> Vec<String> {
    let mut notes = figure.notes.clone();
    match undrawn_points(figure) {
        0 => {}
        1 => notes.push("1 point cannot be shown on these axes.".to_owned()),
        count => notes.push(format!("{count} points cannot be shown on these axes.")),
    }
    notes
}

/// Whether a heat map of the figure has a cell without data.
pub(crate) fn has_missing_cell(figure: &Figure) -> bool {
    let layers = figure.panels.iter().flat_map(|panel| &panel.layers);
    layers.into_iter().any(|layer| matches!(layer, Layer::Heatmap(heatmap) if heatmap.has_missing_cell()))
}
