//! Horizontal dendrograms.

use super::PanelContext;
use super::canvas::{Canvas, Paint, path};
use crate::brackets::{Bracket, brackets};
use crate::model::Dendrogram;
use crate::number::short;

pub(super) fn draw(canvas: &mut Canvas, context: &PanelContext<'_, '_>, dendrogram: &Dendrogram) {
    for Bracket { rows, from, height } in brackets(dendrogram) {
        // Merges within noise are drawn in gray.
        let is_noise = dendrogram.noise.is_some_and(|noise| height <= noise);
        let paint =
            if is_noise { Paint::dashed("#777777", 1.2, "3 2") } else { Paint::stroke("#0072b2", 1.6) };
        let corners = [(from.0, rows.0), (height, rows.0), (height, rows.1), (from.1, rows.1)]
            .map(|(distance, row)| Some((context.x(distance)?, context.y_between(row))));
        if let [Some(first), Some(second), Some(third), Some(fourth)] = corners {
            canvas.titled(&format!("merged at {}", short(height)), |canvas| {
                canvas.path(&path(&[first, second, third, fourth]), &paint);
            });
        }
    }
}

impl PanelContext<'_, '_> {
    /// The y coordinate of a row, which may be between two leaves.
    fn y_between(&self, row: f64) -> f64 {
        let count = self.panel.y.names().map_or(1, <[String]>::len).max(1) as f64;
        self.down((row + 0.5) / count)
    }
}
