//! `reasonscape analyze compare`: two evaluations on identical tests.

use reasonscape_stats::Mode;

use super::{Selected, cells, count, named, several};
use crate::analysis::{self, Comparison, p_value, word};
use crate::cli::Global;
use crate::failure::Failure;
use crate::output::{Cell, Format, Table, print, print_text};

/// Compare two evaluations on the tests that both answered
///
/// What makes a test hard is common to both and cancels, so that smaller differences show than on a leaderboard. Says
/// who is better, or that it cannot tell and how many more trials would.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  reasonscape analyze compare my-study small-model large-model")]
pub(super) struct Compare {
    #[command(flatten)]
    selected: Selected,
    /// The one, by id, name or model.
    #[arg(value_name = "A")]
    a: String,
    /// The other.
    #[arg(value_name = "B")]
    b: String,
}

impl Compare {
    pub(super) async fn run(self, global: Global) -> Result<(), Failure> {
        let (db, asked) = self.selected.open(global).await?;
        let mode = self.selected.mode.unwrap_or(Mode::C_P);
        let found = analysis::compare(&db, &asked, [&self.a, &self.b], mode).await?;
        if matches!(global.format, Format::Table | Format::Markdown) {
            print_text(&format!("{}\n\n", found.sentence))?;
        }
        let table = if global.format == Format::Csv { for_programs(&found) } else { for_people(&found) };
        print(global.format, &table, &found)?;
        say_beside(&found, global);
        Ok(())
    }
}

fn say_beside(found: &Comparison, global: Global) {
    let [a, b] = &found.labels;
    global.caption(format_args!(
        "A is {a}, B is {b}, each on the {} that both answered; p by McNemar's mid-p test, corrected for {} (Holm)",
        several(found.pairs, "test"),
        several(found.tasks.len() as u64, "task")
    ));
    for remark in found.remarks() {
        global.note(remark);
    }
}

fn for_people(found: &Comparison) -> Table {
    let mut table = Table::new(&[
        "task",
        "A is",
        "A less B",
        "95 % interval",
        "p",
        "only A right",
        "only B right",
        "pairs",
    ]);
    for task in &found.tasks {
        table.push(vec![
            Cell::text(&task.task),
            Cell::Shown(word(task.verdict).to_owned()),
            task.difference.map_or(Cell::Missing, |difference| Cell::Shown(format!("{difference:+.3}"))),
            Cell::Shown(format!("{:+.3} to {:+.3}", task.low, task.high)),
            Cell::Shown(p_value(task.p_adjusted)),
            count(task.b),
            count(task.c),
            count(task.pairs),
        ]);
    }
    let score = &found.score;
    table.push(vec![
        Cell::text("ReasonScore"),
        Cell::Shown(word(found.verdict).to_owned()),
        Cell::Shown(format!("{:+.0}", score.difference)),
        Cell::Shown(format!("{:+.0} to {:+.0}", score.ci_low, score.ci_high)),
        Cell::Shown(p_value(score.p)),
        count(found.tasks.iter().map(|task| task.b).sum()),
        count(found.tasks.iter().map(|task| task.c).sum()),
        count(found.pairs),
    ]);
    table
}

fn for_programs(found: &Comparison) -> Table {
    let ids = || cells([("a", Cell::text(&found.a.eval_id)), ("b", Cell::text(&found.b.eval_id))]);
    let mut rows = Vec::new();
    for task in &found.tasks {
        let row = cells([
            ("task", Cell::text(&task.task)),
            ("pairs", count(task.pairs)),
            ("only_a_right", count(task.b)),
            ("only_b_right", count(task.c)),
            ("unpaired_a", count(task.unpaired_a)),
            ("unpaired_b", count(task.unpaired_b)),
            ("difference", Cell::optional(task.difference, 4)),
            ("low", Cell::Number(task.low, 4)),
            ("high", Cell::Number(task.high, 4)),
            ("p", Cell::Number(task.p, 4)),
            ("p_adjusted", Cell::Number(task.p_adjusted, 4)),
            ("verdict", Cell::text(word(task.verdict))),
            ("pairs_needed", task.pairs_needed.map_or(Cell::Missing, count)),
        ]);
        rows.push([ids(), row].concat());
    }
    let score = cells([
        ("task", Cell::text("ReasonScore")),
        ("pairs", count(found.pairs)),
        ("only_a_right", count(found.tasks.iter().map(|task| task.b).sum())),
        ("only_b_right", count(found.tasks.iter().map(|task| task.c).sum())),
        ("unpaired_a", count(found.unpaired_a)),
        ("unpaired_b", count(found.unpaired_b)),
        ("difference", Cell::Number(found.score.difference, 1)),
        ("low", Cell::Number(found.score.ci_low, 1)),
        ("high", Cell::Number(found.score.ci_high, 1)),
        ("p", Cell::Number(found.score.p, 4)),
        ("p_adjusted", Cell::Missing),
        ("verdict", Cell::text(word(found.verdict))),
        ("pairs_needed", Cell::Missing),
    ]);
    rows.push([ids(), score].concat());
    named(rows)
}
