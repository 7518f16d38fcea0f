//! Shared by all renderers: panels with resolved axes, styles of the series, and the grid of panels.

use crate::axis::ResolvedAxis;
use crate::model::Figure;
use crate::panel::ResolvedPanel;
use crate::style::StyleMap;

/// A figure that is ready to render.
#[derive(Debug)]
pub(crate) struct ResolvedFigure<'f> {
    pub(crate) figure: &'f Figure,
    pub(crate) panels: Vec<ResolvedPanel<'f>>,
    pub(crate) styles: StyleMap,
    /// Panels per row.
    pub(crate) columns: usize,
}

impl<'f> ResolvedFigure<'f> {
    pub(crate) fn new(figure: &'f Figure) -> Self {
        Self {
            figure,
            panels: figure.panels.iter().map(ResolvedPanel::new).collect(),
            styles: StyleMap::new(figure),
            columns: columns(figure),
        }
    }

    /// Whether to show the label of the horizontal axis: not if the panel below has the same one.
    pub(crate) fn shows_x_label(&self, index: usize) -> bool {
        self.shows_label(index, Some(index + self.columns), |panel| &panel.x)
    }

    /// Whether to show the label of the vertical axis: not if the panel to the left has the same one.
    pub(crate) fn shows_y_label(&self, index: usize) -> bool {
        let left = (!index.is_multiple_of(self.columns)).then(|| index - 1);
        self.shows_label(index, left, |panel| &panel.y)
    }

    fn shows_label(
        &self,
        index: usize,
        neighbour: Option<usize>,
        axis: for<'p> fn(&'p ResolvedPanel<'_>) -> &'p ResolvedAxis,
    ) -> bool {
        let label = &axis(&self.panels[index]).label;
        let repeated = neighbour
            .and_then(|neighbour| self.panels.get(neighbour))
            .is_some_and(|other| axis(other).label == *label);
        !label.is_empty() && !repeated
    }
}

/// Panels per row.
fn columns(figure: &Figure) -> usize {
    let count = figure.panels.len();
    let automatic = match count {
        0 | 1 => 1,
        2..=4 => 2,
        _ => 3,
    };
    let wanted = if figure.columns == 0 { automatic } else { figure.columns };
    wanted.clamp(1, 4).min(count.max(1))
}
