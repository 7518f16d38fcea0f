//! The notes below a figure.

use crate::model::{Figure, Layer};
use crate::panel::undrawn_points;

/// The notes of a figure, and those that the drawing itself makes necessary.
pub(crate) fn notes(figure: &Figure) -> Vec<String> {
    let mut notes = figure.notes.clone();
    match undrawn_points(figure) {
        0 => {}
        1 => notes.push("One point has no place on these axes and is not drawn.".to_owned()),
        count => notes.push(format!("{count} points have no place on these axes and are not drawn.")),
    }
    notes
}

/// Whether a heat map of the figure has a cell without a number.
pub(crate) fn has_missing_cell(figure: &Figure) -> bool {
    let layers = figure.panels.iter().flat_map(|panel| &panel.layers);
    layers.into_iter().any(|layer| matches!(layer, Layer::Heatmap(heatmap) if heatmap.has_missing_cell()))
}
