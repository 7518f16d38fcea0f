//! The level of the paired score test, the coverage of its interval, and the ranks that follow from it.
//!
//! ```text
//! cargo run --release -p reasonscape-stats --example paired_level
//! ```
//!
//! Takes a minute or two. The tests do the same on fewer boards.

#[path = "support/paired_design.rs"]
mod paired_design;

use paired_design::{MIXED, PairedDesign, eleven_models};

fn main() {
    const BOARDS: u32 = 200_000;
    println!(
        "| design | p < 5 % | p < 0.1 % | coverage of the difference | of the ratio | width |\n|---|---:|---:|---:|---:|---:|"
    );
    let reversed = |task: usize| 11 - task;
    let one_high = |task: usize| (task + 1) % 12;
    let designs = [
        ("equal models, free-form", PairedDesign::two_models(&MIXED, |task| task, 0.0, 0.0, (3, 8))),
        (
            "equal models, 4 options, truncation 0.1",
            PairedDesign::two_models(&MIXED, |task| task, 0.25, 0.1, (3, 8)),
        ),
        ("equal models, strong", PairedDesign::two_models(&[0.95; 12], |task| task, 0.0, 0.0, (3, 8))),
        (
            "equal scores, reversed profiles, free-form",
            PairedDesign::two_models(&MIXED, reversed, 0.0, 0.0, (3, 8)),
        ),
        (
            "equal scores, reversed profiles, 4 options",
            PairedDesign::two_models(&MIXED, reversed, 0.25, 0.1, (8, 12)),
        ),
        (
            "equal scores, shifted profiles, 4 options",
            PairedDesign::two_models(&MIXED, one_high, 0.25, 0.1, (3, 8)),
        ),
    ];
    for (seed, (name, design)) in designs.iter().enumerate() {
        let level = design.level(BOARDS, seed as u32);
        println!(
            "| {name} | {:.2} | {:.3} | {:.1} | {:.1} | {:.0} |",
            100.0 * level.at_5_percent,
            100.0 * level.at_01_percent,
            100.0 * level.difference,
            100.0 * level.ratio,
            level.width
        );
    }
    println!(
        "\n| eleven models, 2000 boards | wrong verdict, % | all true ranks in their ranges, % |\n|---|---:|---:|"
    );
    for (name, step) in
        [("all equal", 0.0), ("pairs of equals, small steps", 0.03), ("pairs of equals, large steps", 0.1)]
    {
        let [wrong, contained] = eleven_models(step).ranks(2000, 100);
        println!("| {name} | {:.2} | {:.2} |", 100.0 * wrong, 100.0 * contained);
    }
}
