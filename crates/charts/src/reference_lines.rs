//! Reference lines, and the placement of the labels of vertical ones.

use crate::model::Direction;
use crate::panel::ResolvedPanel;
use crate::text_layout::{FONT_SIZE, shorten, width};

/// A reference line across a panel, with its label.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ReferenceLine<'f> {
    pub(crate) label: &'f str,
    pub(crate) at: f64,
    pub(crate) direction: Direction,
}

/// The label of a vertical line.
#[derive(Debug)]
pub(crate) struct PlacedReferenceLine {
    pub(crate) text: String,
    pub(crate) full: String,
    /// The center of the label.
    pub(crate) x: f64,
    pub(crate) level: usize,
}

/// Places the labels of vertical lines above a plot that starts at `left` and is `room` wide, each at the lowest level
/// without overlap.
pub(crate) fn place_reference_lines(
    panel: &ResolvedPanel<'_>,
    left: f64,
    room: f64,
) -> Vec<PlacedReferenceLine> {
    let mut placed: Vec<PlacedReferenceLine> = Vec::new();
    let mut reference_lines = panel.reference_lines();
    reference_lines.retain(|reference_line| {
        reference_line.direction == Direction::Vertical && !reference_line.label.is_empty()
    });
    reference_lines.sort_by(|a, b| a.at.total_cmp(&b.at));
    for reference_line in reference_lines {
        let Some(fraction) =
            panel.x.fraction(reference_line.at).filter(|fraction| (-0.001..=1.001).contains(fraction))
        else {
            continue;
        };
        let text = shorten(reference_line.label, FONT_SIZE, room).into_owned();
        let half = width(&text, FONT_SIZE) / 2.0;
        let x = (left + fraction * room).clamp(left + half, (left + room - half).max(left + half));
        let is_free = |level: &usize| {
            placed
                .iter()
                .filter(|other| other.level == *level)
                .all(|other| (other.x - x).abs() >= half + width(&other.text, FONT_SIZE) / 2.0 + 6.0)
        };
        let level = (0..placed.len()).find(is_free).unwrap_or(placed.len());
        placed.push(PlacedReferenceLine { text, full: reference_line.label.to_owned(), x, level });
    }
    placed
}

/// The number of levels of labels above a plot.
pub(crate) fn level_count<'l>(lines: impl IntoIterator<Item = &'l PlacedReferenceLine>) -> usize {
    lines.into_iter().map(|line| line.level + 1).max().unwrap_or(0)
}
