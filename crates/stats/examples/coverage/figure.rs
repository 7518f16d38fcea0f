//! The figure: coverage against true correctness with two options.

use std::fmt::Write as _;

use rayon::prelude::*;
use reasonscape_stats::{Assumption, Event, Mode};

use crate::design::{Design, TRIALS};

const WIDTH: f64 = 235.0;
const HEIGHT: f64 = 190.0;
/// Lower end of the coverage axis.
const FLOOR: f64 = 0.2;
const NOMINAL: &str = r##"fill="none" stroke="#009E73" stroke-width="1.6" stroke-dasharray="2 3""##;

/// Line style of a family of modes.
struct Series {
    event: Event,
    label: &'static str,
    /// From the color-blind safe palette of Okabe and Ito.
    color: &'static str,
    width: f64,
    dashes: &'static str,
}

/// Without truncation E and K coincide, so E is a broad line below a thin one.
const SERIES: [Series; 3] = [
    Series {
        event: Event::Equality,
        label: "E: raw proportion",
        color: "#56B4E9",
        width: 5.0,
        dashes: "none",
    },
    Series { event: Event::Calibrated, label: "K: calibrated", color: "#000000", width: 1.4, dashes: "none" },
    Series {
        event: Event::Correctness,
        label: "C: guesses subtracted",
        color: "#D55E00",
        width: 2.2,
        dashes: "7 3",
    },
];

impl Series {
    fn stroke(&self) -> String {
        let Series { color, width, dashes, .. } = self;
        format!(
            r#"fill="none" stroke="{color}" stroke-width="{width}" stroke-dasharray="{dashes}" stroke-linejoin="round""#
        )
    }
}

/// A row of panels, one for each number of trials.
struct Panels {
    truncation: f64,
    assumption: Assumption,
    title: &'static str,
}

const ROWS: [Panels; 2] = [
    Panels {
        truncation: 0.0,
        assumption: Assumption::Independence,
        title: "Two options, nothing truncated: E_I, K_I, C_I",
    },
    Panels {
        truncation: 0.4,
        assumption: Assumption::Pessimism,
        title: "Two options, 40 % truncated: E_P, K_P, C_P",
    },
];

/// Renders the figure.
pub(crate) fn svg() -> String {
    let mut svg = String::from(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 900 640\" font-family=\"sans-serif\" \
         font-size=\"13\" fill=\"#222\" role=\"img\" aria-labelledby=\"title\">\n\
         <title id=\"title\">Coverage of the nominal 95 % intervals against true correctness with two options: C falls \
         far below 95 % near chance, E and K stay close to it.</title>\n<rect width=\"900\" height=\"640\" fill=\"#fff\"/>\n",
    );
    let strokes = SERIES.iter().map(|series| (series.stroke(), series.label));
    let legend = strokes.chain([(NOMINAL.to_owned(), "nominal 95 %")]);
    for ((stroke, label), x) in legend.zip([70.0, 260.0, 450.0, 690.0]) {
        let _ =
            writeln!(svg, r#"<path d="M{x} 22h36" {stroke}/><text x="{}" y="26.5">{label}</text>"#, x + 44.0);
    }
    for (row, panels) in ROWS.iter().enumerate() {
        let top = 100.0 + 270.0 * row as f64;
        let _ =
            writeln!(svg, r#"<text x="70" y="{}" font-weight="bold">{}</text>"#, top - 32.0, panels.title);
        for (column, n) in TRIALS.into_iter().enumerate() {
            panel(&mut svg, panels, n, 70.0 + 285.0 * column as f64, top);
        }
    }
    svg += "<text x=\"472\" y=\"618\" text-anchor=\"middle\">true correctness p (without lucky guesses)</text>\n\
            <text transform=\"translate(24 330) rotate(-90)\" text-anchor=\"middle\">coverage, %</text>\n</svg>\n";
    svg
}

fn panel(svg: &mut String, panels: &Panels, n: u32, left: f64, top: f64) {
    let x = |p: f64| left + WIDTH * p;
    let y = |proportion: f64| top + HEIGHT * (1.0 - proportion) / (1.0 - FLOOR);
    let _ = writeln!(svg, r#"<text x="{left}" y="{}">n = {n}</text>"#, top - 10.0);
    for proportion in [0.2, 0.4, 0.6, 0.8, 1.0] {
        let _ = writeln!(
            svg,
            r##"<path d="M{left} {y:.1}h{WIDTH}" stroke="#ddd"/><text x="{}" y="{:.1}" text-anchor="end">{:.0}</text>"##,
            left - 6.0,
            y(proportion) + 4.5,
            100.0 * proportion,
            y = y(proportion),
        );
    }
    for p in [0.0, 0.2, 0.4, 0.6, 0.8, 1.0] {
        let (x, y) = (x(p), top + HEIGHT + 17.0);
        let _ = writeln!(svg, r#"<text x="{x:.1}" y="{y}" text-anchor="middle">{p}</text>"#);
    }
    let modes = SERIES.each_ref().map(|series| Mode { event: series.event, assumption: panels.assumption });
    let points: Vec<(f64, [f64; 3])> = (0..=200)
        .into_par_iter()
        .map(|step| f64::from(step) / 200.0)
        .map(|p| (p, Design { p, truncation: panels.truncation, options: 2, n }.coverage(modes)))
        .collect();
    for (i, series) in SERIES.iter().enumerate() {
        let points: Vec<String> =
            points.iter().map(|(p, proportions)| format!("{:.1},{:.1}", x(*p), y(proportions[i]))).collect();
        let _ = writeln!(svg, r#"<polyline points="{}" {}/>"#, points.join(" "), series.stroke());
    }
    // Extended beyond the panel on both sides, because the curves cover it inside.
    let (from, length) = (left - 4.0, WIDTH + 14.0);
    let _ = writeln!(svg, r#"<path d="M{from} {:.1}h{length}" {NOMINAL}/>"#, y(0.95));
}
