//! The part of `docs/coverage.md` on the difference of two ReasonScores.

use std::fmt::Write as _;

use rayon::prelude::*;

use crate::paired_design::{Level, MIXED, PairedDesign};

const BOARDS: u32 = 2000;

/// A pair of models on one task and on twelve.
struct Row {
    /// The first columns.
    name: String,
    designs: Vec<PairedDesign>,
}

/// Two models on the same problems: B knows a part of what A knows.
fn grid() -> Vec<Row> {
    let mut rows = Vec::new();
    for size @ (points, problems) in [(3, 8), (8, 12)] {
        for guess in [0.0, 0.25] {
            for (profile, one) in [("weak", 0.2), ("mixed", 0.6), ("strong", 0.95)] {
                for part in [1.0, 0.9, 0.5] {
                    let twelve = match profile {
                        "weak" => MIXED.map(|known| known / 3.0),
                        "mixed" => MIXED,
                        _ => [one; 12],
                    };
                    let pair = |known: &[f64]| {
                        let mut design = PairedDesign::two_models(known, |task| task, guess, 0.0, size);
                        design.known[1].iter_mut().for_each(|known| *known *= part);
                        design
                    };
                    let options = if guess == 0.0 { "free-form" } else { "4" };
                    rows.push(Row {
                        name: format!("{profile} | {part} | {options} | {points} of {problems}"),
                        designs: vec![pair(&[one]), pair(&twelve)],
                    });
                }
            }
        }
    }
    rows
}

/// Pairs with other differences than one of degree, twelve tasks each.
fn special() -> Vec<Row> {
    let reversed =
        |guess, truncation, size| PairedDesign::two_models(&MIXED, |task| 11 - task, guess, truncation, size);
    let equal = |guess, truncation| PairedDesign::two_models(&MIXED, |task| task, guess, truncation, (3, 8));
    let designs = [
        ("reversed profiles, free-form, 3 points of 8", reversed(0.0, 0.0, (3, 8))),
        ("reversed profiles, 4 options, truncation 0.1, 8 points of 12", reversed(0.25, 0.1, (8, 12))),
        ("equal models, 4 options, truncation 0.1, 3 points of 8", equal(0.25, 0.1)),
        ("4 samples per problem, 3 points of 8", PairedDesign { samples: 4, ..reversed(0.0, 0.1, (3, 8)) }),
        ("A has 8 more problems per point, 3 points of 8", PairedDesign { only_first: 8, ..equal(0.0, 0.0) }),
        (
            "A has 24 more problems per point, 3 points of 8",
            PairedDesign { only_first: 24, ..equal(0.0, 0.0) },
        ),
    ];
    designs.map(|(name, design)| Row { name: name.to_owned(), designs: vec![design] }).into()
}

/// Simulates a row and renders it; the seed of a design is its place.
fn rendered(index: usize, row: &Row, first_seed: usize) -> String {
    let cells = |level: &Level| {
        let percent = |value: f64| {
            let text = format!("{:.1}", 100.0 * value);
            if (0.92..=0.99).contains(&value) { text } else { format!("**{text}**") }
        };
        format!("{} | {} | {:.0}", percent(level.difference), percent(level.ratio), level.width)
    };
    let levels = row
        .designs
        .iter()
        .enumerate()
        .map(|(i, design)| cells(&design.level(BOARDS, (first_seed + 2 * index + i) as u32)));
    format!("| {} | {} |", row.name, levels.collect::<Vec<_>>().join(" | "))
}

fn rendered_rows(rows: &[Row], first_seed: usize) -> Vec<String> {
    rows.par_iter().enumerate().map(|(index, row)| rendered(index, row, first_seed)).collect()
}

/// Every ninth row of the grid and all special ones, simulated again.
pub(crate) fn small_grid_rows() -> Vec<String> {
    let rows = grid();
    let mut small: Vec<String> =
        rows.par_iter().enumerate().step_by(9).map(|(index, row)| rendered(index, row, 2000)).collect();
    small.extend(rendered_rows(&special(), 3000));
    small
}

/// The section of the page.
pub(crate) fn markdown() -> String {
    let mut text = format!(
        "\n## Difference of two ReasonScores\n\n\
         How often, in percent, the 95 % confidence intervals of the difference and of the ratio of two ReasonScores contain the true\n\
         one. Both models get the same problems, half of which are easier for both. {BOARDS} simulated pairs per cell. `B` is the\n\
         proportion of what A knows that B knows, `width` the mean width of the interval of the difference in points of the score. Bold\n\
         is outside 92 to 99 %. Verdicts come from the [paired test](statistics.md#paired-test-of-two-reasonscores).\n\n\
         | A | B | options | points | 1 task, difference | ratio | width | 12 tasks, difference | ratio | width |\n\
         |---|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n",
    );
    for row in rendered_rows(&grid(), 2000) {
        let _ = writeln!(text, "{row}");
    }
    text += "\n| twelve tasks | difference | ratio | width |\n|---|---:|---:|---:|\n";
    for row in rendered_rows(&special(), 3000) {
        let _ = writeln!(text, "{row}");
    }
    text
}
