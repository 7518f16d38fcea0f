//! The level of the paired score test, the coverage of its interval, and the ranks that follow from it: the tables of
//! `docs/statistics.md`.
//!
//! ```text
//! cargo run --release -p reasonscape-stats --example paired_level                                  # the tables
//!     -- --check docs/statistics.md   # fails if a level is out of range or the page has other tables
//!     -- --only "equal models, strong"   # one row
//! ```
//!
//! Takes some minutes. The tests do a part of it, with other boards.

#[path = "support/paired_design.rs"]
#[expect(dead_code, reason = "another example prints widths")]
mod paired_design;

use std::error::Error;

use paired_design::{RANK_DESIGNS, eleven_models, level_designs, rank_row, ranks_are_within_limits};

const RANK_BOARDS: u32 = 2000;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut only = None;
    let page = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => None,
        ["--check", file] => Some(std::fs::read_to_string(file)?),
        ["--only", name] => {
            only = Some(name.to_owned());
            None
        }
        _ => return Err("expected no argument, `--check FILE` or `--only NAME`".into()),
    };
    let mut wrong = Vec::new();
    let mut show = |row: String, is_within_limits: bool| {
        println!("{row}");
        if let Some(page) = &page {
            if !is_within_limits {
                wrong.push(format!("out of range: {row}"));
            }
            if !page.lines().any(|line| line == row) {
                wrong.push(format!("not on the page: {row}"));
            }
        }
    };
    let is_shown = |name: &str| only.as_ref().is_none_or(|only| only == name);
    println!("| design | p < 5 % | p < 0.1 % | coverage of the ratio |\n|---|---:|---:|---:|");
    for (seed, design) in level_designs().iter().enumerate().filter(|(_, design)| is_shown(design.name)) {
        let level = design.design.level(design.boards, seed as u32);
        show(design.row(&level), design.is_within_limits(&level));
    }
    println!(
        "\n| eleven models, 2000 boards | wrong verdict, % | all true ranks in their ranges, % |\n|---|---:|---:|"
    );
    for (name, step) in RANK_DESIGNS.into_iter().filter(|(name, _)| is_shown(name)) {
        let found = eleven_models(step).ranks(RANK_BOARDS, 100);
        show(rank_row(name, found), ranks_are_within_limits(found));
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) }
}
