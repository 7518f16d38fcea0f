//! Coverage of the nominal 95 % intervals of the nine modes, and of the ReasonScore by both methods.
//!
//! The nine modes: a trial is truncated with rate `t`; otherwise it knows the answer with probability `p`, and if it doesn't, it
//! guesses correctly with probability `1/options`. So truncated trials are binomial, correct ones are binomial among the
//! completed, and coverage is a sum over both counts, exact up to rounding. `--check` simulates trial by trial from a
//! seeded stream and compares.
//!
//! The ReasonScore is simulated: [`score_design`] has the designs.
//!
//! ```text
//! cargo run --release --example coverage                # the summary
//!     -- --markdown docs/images/score_coverage.svg                           # docs/coverage.md and its figure
//!     -- --compare docs/coverage.md                                          # a part of it, simulated again
//!     -- --paired                                                            # the part on differences of two scores
//!     -- --score                                                             # the summary of the ReasonScore
//!     -- --svg docs/images/coverage.svg                                      # the figure
//!     -- --check                                                             # simulation against exact sums
//! ```

mod design;
mod figure;
#[path = "../support/paired_design.rs"]
#[expect(dead_code, reason = "another example tests levels and ranks")]
mod paired_design;
mod paired_page;
mod score_design;
mod score_page;

use std::error::Error;
use std::fmt::Write as _;

use rayon::prelude::*;
use reasonscape_stats::{Assumption, Mode};

use design::{Design, TRUE_P};
use score_page::ScoreStudy;

/// A design with the coverage of the nine modes.
struct Row {
    design: Design,
    coverage: [f64; 9],
}

fn study() -> Vec<Row> {
    let designs = Design::all().into_par_iter();
    designs.map(|design| Row { design, coverage: design.coverage(Mode::ALL) }).collect()
}

/// The tables of `docs/statistics.md`.
fn summary(rows: &[Row]) -> String {
    let percent = |proportion: f64| format!("{:.1}", 100.0 * proportion);
    let line = |name: &str, cells: &[String]| format!("| {name} | {} |\n", cells.join(" | "));
    let rule = |columns: usize| format!("|---|{}\n", "---:|".repeat(columns));
    let mut text = String::from("All 252 designs, in percent\n\n");
    text += "| mode | lowest | mean | highest | designs under 93 % | over 97 % |\n";
    text += &rule(5);
    for (i, mode) in Mode::ALL.into_iter().enumerate() {
        let proportions: Vec<f64> = rows.iter().map(|row| row.coverage[i]).collect();
        let count = |test: fn(f64) -> bool| {
            proportions.iter().filter(|&&proportion| test(proportion)).count().to_string()
        };
        let cells = [
            percent(proportions.iter().copied().fold(1.0, f64::min)),
            percent(proportions.iter().sum::<f64>() / proportions.len() as f64),
            percent(proportions.iter().copied().fold(0.0, f64::max)),
            count(|proportion| proportion < 0.93),
            count(|proportion| proportion > 0.97),
        ];
        text += &line(mode.name(), &cells);
    }
    for truncation in [0.0_f64, 0.4] {
        let _ = write!(text, "\nTwo options, n = 512, truncation {truncation}, in percent\n\n");
        text += &line("true p", &TRUE_P.map(|p| p.to_string()));
        text += &rule(TRUE_P.len());
        let chosen = |design: &Design| {
            (design.options, design.n) == (2, 512) && design.truncation.to_bits() == truncation.to_bits()
        };
        for (i, mode) in Mode::ALL.into_iter().enumerate() {
            // Without truncation the three assumptions coincide.
            if truncation > 0.0 || mode.assumption == Assumption::Independence {
                let rows = rows.iter().filter(|row| chosen(&row.design));
                let cells: Vec<String> = rows.map(|row| percent(row.coverage[i])).collect();
                text += &line(mode.name(), &cells);
            }
        }
    }
    text += "\nThe worst true p for C_I, nothing truncated: coverage in percent (at which p)\n\n";
    text += "| n | 2 options | 4 options | 10 options | K_I, 2 options |\n";
    text += &rule(4);
    for n in [32, 128, 512, 2048, 8192] {
        let worst = |options, mode| {
            let (proportion, p) = (0..=1000)
                .into_par_iter()
                .map(|thousandth| f64::from(thousandth) / 1000.0)
                .map(|p| (Design { p, truncation: 0.0, options, n }.coverage([mode])[0], p))
                .min_by(|a, b| a.0.total_cmp(&b.0))
                .expect("a grid of p");
            format!("{} ({p})", percent(proportion))
        };
        let cells = [worst(2, Mode::C_I), worst(4, Mode::C_I), worst(10, Mode::C_I), worst(2, Mode::K_I)];
        text += &line(&n.to_string(), &cells);
    }
    text
}

const ESTIMATORS: &str = "## Estimators";

/// Measured by a test of the program, which prints the table.
const END_TO_END: &str = include_str!("end_to_end.md");

/// Compares `docs/coverage.md` with the exact sums and with a part of the simulation: the small grid and all weak spots.
fn compare(file: &str) -> Result<String, Box<dyn Error>> {
    let page = std::fs::read_to_string(file)?;
    let (score, rest) = page.split_once(ESTIMATORS).ok_or("the page has no section on estimators")?;
    if format!("{ESTIMATORS}{rest}") != estimators(&study()) {
        return Err(format!("the estimators in `{file}` are out of date; see the command in it").into());
    }
    if !score.contains(END_TO_END) {
        return Err(format!("`{file}` lacks the section in end_to_end.md; see the command in it").into());
    }
    let mut rows = ScoreStudy::small_grid_rows();
    rows.extend(ScoreStudy::weak_spot_rows());
    let paired = paired_page::small_grid_rows();
    for row in rows.iter().chain(&paired) {
        if !score.lines().any(|line| line == row) {
            return Err(format!("`{file}` lacks the row\n{row}\nsee the command in it").into());
        }
    }
    Ok(format!("`{file}` has the estimators and {} simulated rows", rows.len() + paired.len()))
}

/// Renders `docs/coverage.md`: every design.
fn page(rows: &[Row], score: &ScoreStudy) -> String {
    let mut text = String::from(
        "# Coverage of the confidence intervals\n\n\
         How often nominal 95 % confidence intervals contain the true value: first those of the ReasonScore and of the difference of two\n\
         ReasonScores, by simulation, then those of the [estimators](statistics.md#estimators-guess-correction-and-truncation), as exact sums over all outcomes. [Statistical\n\
         methods](statistics.md#coverage-of-the-confidence-intervals) explains the designs and the results. This page and its figure are\n\
         generated by\n\n\
         ```text\n\
         cargo run --release -p reasonscape-stats --example coverage -- --markdown docs/images/score_coverage.svg > docs/coverage.md\n\
         ```\n\n",
    );
    text += &score.markdown();
    text += &paired_page::markdown();
    text.push('\n');
    text += END_TO_END;
    text.push('\n');
    text += &estimators(rows);
    text
}

/// The section of `docs/coverage.md` on the nine modes.
fn estimators(rows: &[Row]) -> String {
    let mut text = format!(
        "{ESTIMATORS}\n\n\
         How often, in percent, the nominal 95 % confidence interval of each estimator contains the true value. `p` is the probability\n\
         that the model knows the answer, `n` the number of trials. Bold is under 93 %.\n",
    );
    let mut title = String::new();
    for Row { design, coverage } in rows {
        let options =
            if design.options == 0 { "Free-form".to_owned() } else { format!("{} options", design.options) };
        let new_title = format!("{options}, truncation {}", design.truncation);
        if new_title != title {
            let names = Mode::ALL.map(Mode::name).join(" | ");
            let _ = write!(text, "\n## {new_title}\n\n| n | p | {names} |\n{}|\n", "|---:".repeat(11));
            title = new_title;
        }
        let cells = coverage.map(|proportion| {
            let percent = format!("{:.1}", 100.0 * proportion);
            if proportion < 0.93 { format!("**{percent}**") } else { percent }
        });
        let _ = writeln!(text, "| {} | {} | {} |", design.n, design.p, cells.join(" | "));
    }
    text
}

/// Compares the exact sums with a simulation, in standard errors of the simulation.
fn check(rows: &[Row]) -> Result<String, String> {
    const REPEATS: u32 = 4000;
    /// Among 2268 comparisons, a deviation of five standard errors means a mistake.
    const ALLOWED: f64 = 5.0;
    let largest = rows
        .par_iter()
        .enumerate()
        .map(|(seed, row)| {
            let simulated = row.design.simulated(REPEATS, seed as u32);
            let deviations = row.coverage.iter().zip(simulated).map(|(exact, found)| {
                // Where misses are rare, a few more or less aren't evidence: the variance has a floor.
                let variance = (exact * (1.0 - exact)).max(10.0 / f64::from(REPEATS));
                (exact - found).abs() / (variance / f64::from(REPEATS)).sqrt()
            });
            deviations.fold(0.0, f64::max)
        })
        .reduce(|| 0.0, f64::max);
    let message = format!("largest of {} deviations: {largest:.2} standard errors", 9 * rows.len());
    if largest < ALLOWED { Ok(message) } else { Err(message) }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => print!("{}", summary(&study())),
        ["--paired"] => print!("{}", paired_page::markdown()),
        ["--score"] => print!("{}", ScoreStudy::run().summary()),
        ["--markdown", figure] => {
            let score = ScoreStudy::run();
            print!("{}", page(&study(), &score));
            std::fs::write(figure, score.svg())?;
        }
        ["--compare", file] => println!("{}", compare(file)?),
        ["--check"] => println!("{}", check(&study())?),
        ["--svg", file] => std::fs::write(file, figure::svg())?,
        _ => {
            return Err(
                "expected no argument, `--score`, `--paired`, `--markdown FIGURE`, `--compare FILE`, `--check` or `--svg FILE`".into()
            );
        }
    }
    Ok(())
}
