//! The part of `docs/coverage.md` on the ReasonScore, and its figure.

use std::fmt::Write as _;

use rayon::prelude::*;

use crate::score_design::{Coverage, Sampling, ScoreDesign, grid, weak_spots};

const REPEATS: u32 = 2000;

/// The results of the grid and of the weak spots.
pub(crate) struct ScoreStudy {
    grid: Vec<(ScoreDesign, Coverage)>,
    weak_spots: Vec<(&'static str, ScoreDesign, Coverage)>,
}

impl ScoreStudy {
    /// Simulates every design; the seed of a design is its index.
    pub(crate) fn run() -> Self {
        let simulate = |(seed, design): (usize, &ScoreDesign)| design.simulate(REPEATS, seed as u32);
        let designs = grid();
        let grid = designs.par_iter().enumerate().map(simulate).collect::<Vec<_>>();
        let spots = weak_spots();
        let weak_spots = spots
            .par_iter()
            .enumerate()
            .map(|(seed, (name, design))| (*name, *design, simulate((1000 + seed, design))))
            .collect();
        Self { grid: designs.into_iter().zip(grid).collect(), weak_spots }
    }

    /// Rows of the page for every seventh pair of designs, simulated again.
    pub(crate) fn small_grid_rows() -> Vec<String> {
        let designs = grid();
        let pairs: Vec<(usize, &[ScoreDesign])> = designs.chunks(2).enumerate().step_by(7).collect();
        pairs
            .par_iter()
            .map(|(pair, designs)| {
                let simulate = |i: usize| designs[i].simulate(REPEATS, (2 * pair + i) as u32);
                row(&designs[0], &simulate(0), &simulate(1))
            })
            .collect()
    }

    /// Rows of the page for the weak spots, simulated again.
    pub(crate) fn weak_spot_rows() -> Vec<String> {
        let spots = weak_spots();
        let rows = spots.par_iter().enumerate().map(|(seed, (name, design))| {
            weak_spot_row(name, design, &design.simulate(REPEATS, (1000 + seed) as u32))
        });
        rows.collect()
    }

    /// The sections of the page.
    pub(crate) fn markdown(&self) -> String {
        let coverages: Vec<f64> = self.grid.iter().map(|(_, coverage)| coverage.likelihood).collect();
        let outside = coverages.iter().filter(|coverage| !(0.92..=0.99).contains(*coverage)).count();
        let (low, high) =
            coverages.iter().fold((1.0, 0.0), |(low, high): (f64, f64), &x| (low.min(x), high.max(x)));
        let v2_low = self.grid.iter().map(|(_, coverage)| coverage.v2).fold(1.0, f64::min);
        let mut text = format!(
            "## ReasonScore\n\n\
             How often, in percent, the 95 % confidence interval of the ReasonScore contains the true score, and `center ± margin` of\n\
             [v2](statistics.md#reasonscore-v2) on the same trials. {REPEATS} simulated evaluations per cell. `p` is the probability that a\n\
             completed trial knows the answer, `spread` half the range of its log-odds over the points of a task, `width` the mean width of the\n\
             confidence interval in points of the score.\n\n\
             Over {} designs the confidence interval covers {:.1} to {:.1} %, with {outside} outside 92 to 99 %. v2 covers {:.1} % at worst.\n\
             Bold is outside 92 to 99 %.\n\n\
             ![Coverage of the ReasonScore interval and of v2 in every design](images/score_coverage.svg)\n",
            coverages.len(),
            100.0 * low,
            100.0 * high,
            100.0 * v2_low,
        );
        let mut section = String::new();
        for pair in self.grid.chunks(2) {
            let [(design, one), (_, twelve)] = pair else { continue };
            let title = design.sampling.describe();
            if title != section {
                let _ = write!(
                    text,
                    "\n### ReasonScore, {title}\n\n\
                     | p | options | truncation | spread | 1 task | v2 | width | 12 tasks | v2 | width |\n{}|\n",
                    "|---:".repeat(10)
                );
                section = title;
            }
            text += &row(design, one, twelve);
            text.push('\n');
        }
        text += "\n### ReasonScore, weak spots\n\n\
                 Designs in which the interval is too long, or may be too short.\n\n\
                 | design | p | points of a task | tasks | coverage | v2 | width |\n|---|---:|---|---:|---:|---:|---:|\n";
        for (name, design, coverage) in &self.weak_spots {
            let _ = writeln!(text, "{}", weak_spot_row(name, design, coverage));
        }
        text
    }

    /// Every design as a dot: coverage against true p, in one panel for each number of tasks.
    pub(crate) fn svg(&self) -> String {
        const WIDTH: f64 = 380.0;
        const HEIGHT: f64 = 300.0;
        let mut svg = String::from(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 900 440\" font-family=\"sans-serif\" \
             font-size=\"13\" fill=\"#222\" role=\"img\" aria-labelledby=\"title\">\n\
             <title id=\"title\">Coverage of the 95 % confidence interval of the ReasonScore, between 92 and 99 % in nearly all \
             designs, and of v2, which falls to 0 % with twelve tasks.</title>\n\
             <rect width=\"900\" height=\"440\" fill=\"#fff\"/>\n\
             <circle cx=\"70\" cy=\"22\" r=\"4\"/><text x=\"82\" y=\"26.5\">ReasonScore, 95 % confidence interval</text>\n\
             <path d=\"M350 17l5 10h-10z\" fill=\"#D55E00\"/><text x=\"362\" y=\"26.5\">v2, center ± margin</text>\n\
             <path d=\"M530 22h36\" stroke=\"#009E73\" stroke-width=\"1.6\" stroke-dasharray=\"2 3\"/><text x=\"574\" y=\"26.5\">nominal 95 %</text>\n",
        );
        for (panel, tasks) in [1, 12].into_iter().enumerate() {
            let (left, top) = (70.0 + 430.0 * panel as f64, 70.0);
            let y = |coverage: f64| top + HEIGHT * (1.0 - coverage);
            let title = if tasks == 1 { "one task" } else { "twelve tasks" };
            let _ = writeln!(svg, r#"<text x="{left}" y="{}" font-weight="bold">{title}</text>"#, top - 14.0);
            for percent in [0, 20, 40, 60, 80, 100] {
                let y = y(f64::from(percent) / 100.0);
                let _ = writeln!(
                    svg,
                    r##"<path d="M{left} {y:.1}h{WIDTH}" stroke="#ddd"/><text x="{}" y="{:.1}" text-anchor="end">{percent}</text>"##,
                    left - 6.0,
                    y + 4.5
                );
            }
            let _ = writeln!(
                svg,
                r##"<path d="M{left} {:.1}h{WIDTH}" stroke="#009E73" stroke-width="1.6" stroke-dasharray="2 3"/>"##,
                y(0.95)
            );
            for (column, p) in [0.2_f64, 0.5, 0.8, 0.95].into_iter().enumerate() {
                let middle = left + WIDTH * (column as f64 + 0.5) / 4.0;
                let _ = writeln!(
                    svg,
                    r#"<text x="{middle:.1}" y="{}" text-anchor="middle">{p}</text>"#,
                    top + HEIGHT + 18.0
                );
                let chosen: Vec<&Coverage> = self
                    .grid
                    .iter()
                    .filter(|(design, _)| design.tasks == tasks && design.p.to_bits() == p.to_bits())
                    .map(|(_, coverage)| coverage)
                    .collect();
                for (i, coverage) in chosen.iter().enumerate() {
                    let x = middle + 70.0 * ((i as f64 + 0.5) / chosen.len() as f64 - 0.5);
                    let _ = writeln!(
                        svg,
                        r##"<path d="M{x:.1} {:.1}l3.5 7h-7z" fill="#D55E00"/><circle cx="{x:.1}" cy="{:.1}" r="2.6"/>"##,
                        y(coverage.v2) - 4.0,
                        y(coverage.likelihood)
                    );
                }
            }
        }
        svg += "<text x=\"475\" y=\"424\" text-anchor=\"middle\">probability p that a completed trial knows the answer</text>\n\
                <text transform=\"translate(24 220) rotate(-90)\" text-anchor=\"middle\">coverage, %</text>\n</svg>\n";
        svg
    }

    /// One line per sampling rule, for the terminal.
    pub(crate) fn summary(&self) -> String {
        let mut text = format!("ReasonScore, {REPEATS} evaluations per design, coverage in percent\n\n");
        let mut samplings: Vec<Sampling> = Vec::new();
        for (design, _) in &self.grid {
            if !samplings.contains(&design.sampling) {
                samplings.push(design.sampling);
            }
        }
        for sampling in samplings {
            let rows: Vec<&Coverage> = self
                .grid
                .iter()
                .filter(|(design, _)| design.sampling == sampling)
                .map(|(_, row)| row)
                .collect();
            let percent = |value: f64| format!("{:.1}", 100.0 * value);
            let low = rows.iter().map(|row| row.likelihood).fold(1.0, f64::min);
            let high = rows.iter().map(|row| row.likelihood).fold(0.0, f64::max);
            let v2 = rows.iter().map(|row| row.v2).fold(1.0, f64::min);
            let _ = writeln!(
                text,
                "{}: {} to {} in {} designs, v2 at worst {}",
                sampling.describe(),
                percent(low),
                percent(high),
                rows.len(),
                percent(v2)
            );
        }
        text
    }
}

/// The results of a weak spot.
fn weak_spot_row(name: &str, design: &ScoreDesign, coverage: &Coverage) -> String {
    let sampling = design.sampling.describe();
    format!("| {name} | {} | {sampling} | {} | {} |", design.p, design.tasks, cells(coverage))
}

/// The results of a design with one task and with twelve.
fn row(design: &ScoreDesign, one: &Coverage, twelve: &Coverage) -> String {
    let options = if design.guesses == [0.0] { "free-form" } else { "4" };
    let ScoreDesign { p, truncation, spread, .. } = design;
    format!("| {p} | {options} | {truncation} | {spread} | {} | {} |", cells(one), cells(twelve))
}

fn cells(coverage: &Coverage) -> String {
    let percent = |value: f64| {
        let text = format!("{:.1}", 100.0 * value);
        if (0.92..=0.99).contains(&value) { text } else { format!("**{text}**") }
    };
    format!("{} | {} | {:.0}", percent(coverage.likelihood), percent(coverage.v2), coverage.width)
}
