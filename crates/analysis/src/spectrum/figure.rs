//! Mean spectra with the spread of their populations.

use reasonscape_charts::{Axis, Figure, Layer, Panel, Point};

use super::{PopulationSummary, Spectra};

/// Both populations in one panel, power by its logarithm.
pub fn spectrum_figure(spectra: &Spectra) -> Figure {
    let line = |name: &str, population: &PopulationSummary| {
        let points = spectra.frequencies.iter().enumerate().filter(|(cell, _)| population.mean[*cell] > 0.0);
        let points = points.map(|(cell, frequency)| {
            // Zero power has no position on a logarithmic axis.
            let low = population.low[cell].max(1e-3 * population.mean[cell]);
            Point::between(*frequency, population.mean[cell], low, population.high[cell].max(low))
        });
        Layer::line(name, points.collect())
    };
    let step = spectra.series.step();
    Figure::new(match spectra.verdict {
        "different" => "Two populations of different kinds",
        "cannot tell" => "Two populations, too small to tell apart",
        _ => "Two populations, and no difference seen",
    })
    .subtitle(format!(
        "{:.2} dB apart, chance alone exceeds {:.2} dB in 5% of cases; p = {:.3} by {} permutations; {} and {} prompts",
        spectra.distance_db,
        spectra.chance_db,
        spectra.p,
        spectra.permutations,
        spectra.a.prompts,
        spectra.b.prompts
    ))
    .note("lines are means; a band holds the middle 80% of the prompts")
    .panel(
        Panel::new("", Axis::linear(format!("cycles a {step}")), Axis::log("power density"))
            .layer(line("A", &spectra.a))
            .layer(line("B", &spectra.b)),
    )
}
