//! Reliability diagram: stated probabilities against accuracy.

use reasonscape_charts::{Axis, Figure, Layer, Panel, Point};
use reasonscape_stats::calibration::Bin;

/// Panels that fit on a page.
const MAX_PANELS: usize = 12;

/// A panel a model: how often answers were right beside how probable they were said to be. On the diagonal both agree.
pub fn reliability_figure(models: &[(String, Vec<Bin>)]) -> Figure {
    let answers: u64 = models.iter().flat_map(|(_, bins)| bins).map(|bin| bin.n).sum();
    let mut figure = Figure::new("Whether models know what they know")
        .subtitle(format!("{answers} answers with a stated probability; 95 % intervals by Wilson"));
    if models.len() > 1 {
        figure = figure.columns(2);
    }
    for (name, bins) in models.iter().take(MAX_PANELS) {
        let seen = bins
            .iter()
            .map(|bin| Point::between(bin.confidence, bin.accuracy, bin.interval.low, bin.interval.high));
        let agreed = [0.0, 1.0].map(|share| Point::between(share, share, share, share)).to_vec();
        figure = figure.panel(
            Panel::new(name, Axis::percent("said to be right"), Axis::percent("right"))
                .layer(Layer::line("as said", agreed))
                .layer(Layer::dots("answers in a bin", seen.collect())),
        );
    }
    match models.len().saturating_sub(MAX_PANELS) {
        0 => figure,
        more => figure.note(format!("{more} more models are not drawn.")),
    }
}
