//! `reasonscape analyze compare`: paired comparison of two evaluations on the same problems.

use reasonscape_analysis::Comparison;
use reasonscape_analysis::tables::compare::{display_table, export_table};
use reasonscape_stats::Mode;

use super::{ModeArgs, StudyArgs, pluralize};
use crate::Global;
use crate::error::CliError;
use crate::output::{Format, print_table, print_text};

/// Compare two evaluations on the problems that both answered (paired test)
///
/// Pairing removes the variation in difficulty between problems, so it detects smaller differences than the leaderboard.
/// Reports which one is better, or that no difference is significant and how many more trials would detect one.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  reasonscape analyze compare my-study small-model large-model")]
pub(super) struct Compare {
    #[command(flatten)]
    study_args: StudyArgs,
    #[command(flatten)]
    mode_args: ModeArgs,
    /// First evaluation, by id, name or model.
    #[arg(value_name = "A")]
    a: String,
    /// Second evaluation, by id, name or model.
    #[arg(value_name = "B")]
    b: String,
}

impl Compare {
    pub(super) async fn run(self, global: Global) -> Result<(), CliError> {
        let (db, query) = self.study_args.open(global).await?;
        let mode = self.mode_args.mode(Mode::C_P);
        let found = reasonscape_analysis::compare(&db, &query, [&self.a, &self.b], mode).await?;
        if matches!(global.format, Format::Table | Format::Markdown) {
            print_text(&format!("{}\n\n", found.finding))?;
        }
        print_table(global, || display_table(&found), || export_table(&found), &found)?;
        print_notes(&found, global);
        Ok(())
    }
}

fn print_notes(found: &Comparison, global: Global) {
    let [a, b] = &found.labels;
    global.caption(format_args!(
        "A is {a}, B is {b}, both on the {} that both answered; p-values of McNemar's mid-p test, Holm-corrected for {}",
        pluralize(found.pairs, "problem"),
        pluralize(found.tasks.len() as u64, "task")
    ));
    for remark in found.remarks() {
        global.note(remark);
    }
}
