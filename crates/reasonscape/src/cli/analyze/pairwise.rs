//! `reasonscape analyze pairwise`: everybody against everybody.

use reasonscape_stats::Mode;
use reasonscape_stats::pairwise::Method;

use super::{Selected, cells, count, eval_cells, named};
use crate::analysis;
use crate::cli::Global;
use crate::failure::Failure;
use crate::output::{Cell, Format, Table, print};

/// Compare all evaluations head to head: win rates, expected wins, Bradley-Terry ratings
///
/// A win rate is the probability that one is better than the other on a task, averaged over the tasks that both have.
/// The interval of a rating says how far it would move with other tasks of the kind.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  reasonscape analyze pairwise my-study\n  \
    reasonscape analyze pairwise my-study --method monte-carlo --seed 7")]
pub(super) struct Pairwise {
    #[command(flatten)]
    selected: Selected,
    /// How the probability is found: by quadrature, or by 10,000 draws a side as Python would draw them.
    #[arg(long, value_enum, default_value_t)]
    method: How,
    /// Seed of the draws.
    #[arg(long, value_name = "SEED", default_value_t = 42, allow_hyphen_values = true)]
    seed: i64,
}

#[derive(Debug, Clone, Copy, Default, clap::ValueEnum)]
enum How {
    #[default]
    Exact,
    MonteCarlo,
}

/// Draws a side, as the method's document has it.
const DRAWS: usize = 10_000;

impl Pairwise {
    pub(super) async fn run(self, global: Global) -> Result<(), Failure> {
        let (db, asked) = self.selected.open(global).await?;
        let method = match self.method {
            How::Exact => Method::Exact,
            How::MonteCarlo => Method::MonteCarlo { draws: DRAWS, seed: self.seed },
        };
        let mode = self.selected.mode.unwrap_or(Mode::C_P);
        let found = analysis::pairwise(&db, &asked, mode, method).await?;
        let table = if global.format == Format::Csv { for_programs(&found) } else { for_people(&found) };
        print(global.format, &table, &found)?;
        say_beside(&found, global);
        Ok(())
    }
}

fn say_beside(found: &analysis::Pairwise, global: Global) {
    global.caption("`vs 2` is the mean probability of being better than number 2 on a task");
    for remark in found.remarks() {
        global.note(remark);
    }
}

fn for_people(found: &analysis::Pairwise) -> Table {
    let fixed = ["#", "name", "Elo", "95 % interval", "expected wins", "rating"].map(str::to_owned);
    let opponents = (1..=found.evals.len()).map(|place| format!("vs {place}"));
    let mut table = Table::new(&fixed.into_iter().chain(opponents).collect::<Vec<_>>());
    for (place, (eval, rates)) in found.evals.iter().zip(&found.win_rates).enumerate() {
        let interval = eval.elo_low.zip(eval.elo_high);
        let mut row = vec![
            count(place as u64 + 1),
            Cell::text(&eval.label),
            Cell::Number(eval.elo, 0),
            interval.map_or(Cell::Missing, |(low, high)| Cell::Shown(format!("{low:.0} to {high:.0}"))),
            Cell::Shown(format!("{:.2} of {}", eval.expected_wins, eval.opponents)),
            Cell::Shown(rating(eval.rating)),
        ];
        row.extend(rates.iter().map(|rate| Cell::optional(*rate, 3)));
        table.push(row);
    }
    table
}

/// A rating with the digits that matter, however small it is.
fn rating(rating: f64) -> String {
    if rating < 0.01 { format!("{rating:.1e}") } else { format!("{rating:.2}") }
}

fn for_programs(found: &analysis::Pairwise) -> Table {
    let rows = found.evals.iter().zip(&found.win_rates).map(|(eval, rates)| {
        let mut row = eval_cells(&eval.eval);
        row.extend(cells([
            ("expected_wins", Cell::Number(eval.expected_wins, 3)),
            ("opponents", count(eval.opponents as u64)),
            ("tasks", count(eval.tasks as u64)),
            ("rating", Cell::Number(eval.rating, 4)),
            ("rating_low", Cell::optional(eval.rating_low, 4)),
            ("rating_high", Cell::optional(eval.rating_high, 4)),
            ("elo", Cell::Number(eval.elo, 1)),
            ("elo_low", Cell::optional(eval.elo_low, 1)),
            ("elo_high", Cell::optional(eval.elo_high, 1)),
            ("converged", Cell::text(found.converged.to_string())),
            ("mode", Cell::text(found.mode)),
            ("method", Cell::text(found.method)),
        ]));
        for (opponent, rate) in found.evals.iter().zip(rates) {
            row.push((format!("vs_{}", opponent.eval.eval_id), Cell::optional(*rate, 4)));
        }
        row
    });
    named(rows.collect())
}
