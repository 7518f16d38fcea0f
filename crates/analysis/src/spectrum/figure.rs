//! Mean spectra with the spread of both populations.

use reasonscape_charts::{Axis, Figure, Layer, Panel, Point};

use super::{PopulationSummary, Spectra};

/// Both populations in one panel, with power on a log axis.
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
        "different" => "Spectra of prompts: significantly different",
        "cannot tell" => "Spectra of prompts: too few prompts to decide",
        _ => "Spectra of prompts: no significant difference",
    })
    .subtitle(format!(
        "distance {:.2} dB; equal populations exceed {:.2} dB in 5 % of cases; p = {:.3}, {} permutations; {} and {} prompts",
        spectra.distance_db,
        spectra.chance_db,
        spectra.p,
        spectra.permutations,
        spectra.a.prompts,
        spectra.b.prompts
    ))
    .note("lines are means; bands are the 10th to 90th percentile of prompts")
    .panel(
        Panel::new("", Axis::linear(format!("cycles per {step}")), Axis::log("power density"))
            .layer(line("A", &spectra.a))
            .layer(line("B", &spectra.b)),
    )
}
