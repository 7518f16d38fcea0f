//! Reliability diagram: accuracy by stated probability.

use reasonscape_charts::{Axis, Figure, Layer, Panel, Point};
use reasonscape_stats::calibration::Bin;

/// Panels that fit on a page.
const MAX_PANELS: usize = 12;

/// One panel per model: accuracy by stated probability. A calibrated model is on the diagonal.
pub fn reliability_figure(models: &[(String, Vec<Bin>)]) -> Figure {
    let answers: u64 = models.iter().flat_map(|(_, bins)| bins).map(|bin| bin.n).sum();
    let mut figure = Figure::new("Reliability diagram").subtitle(format!(
        "{answers} answers with a stated probability; 95 % confidence intervals (Wilson, clustered by task)"
    ));
    if models.len() > 1 {
        figure = figure.columns(2);
    }
    for (name, bins) in models.iter().take(MAX_PANELS) {
        let seen = bins
            .iter()
            .map(|bin| Point::between(bin.confidence, bin.accuracy, bin.interval.low, bin.interval.high));
        let diagonal = [0.0, 1.0].map(|p| Point::between(p, p, p, p)).to_vec();
        figure = figure.panel(
            Panel::new(name, Axis::percent("stated probability"), Axis::percent("accuracy"))
                .layer(Layer::line("perfect calibration", diagonal))
                .layer(Layer::dots("answers in a bin", seen.collect())),
        );
    }
    match models.len().saturating_sub(MAX_PANELS) {
        0 => figure,
        more => figure.note(format!("{more} more models are not shown.")),
    }
}
