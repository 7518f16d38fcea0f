//! `reasonscape analyze compare`: two evaluations on identical tests.

use reasonscape_analysis::Comparison;
use reasonscape_analysis::tables::compare::{display_table, export_table};
use reasonscape_stats::Mode;

use super::{ModeArgs, StudyArgs, pluralize};
use crate::Global;
use crate::error::CliError;
use crate::output::{Format, print_table, print_text};

/// Compare two evaluations on the tests that both answered
///
/// What makes a test hard is common to both and cancels, so that smaller differences show than on a leaderboard. Says
/// who is better, or that it cannot tell and how many more trials would.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  reasonscape analyze compare my-study small-model large-model")]
pub(super) struct Compare {
    #[command(flatten)]
    study_args: StudyArgs,
    #[command(flatten)]
    mode_args: ModeArgs,
    /// The one, by id, name or model.
    #[arg(value_name = "A")]
    a: String,
    /// The other.
    #[arg(value_name = "B")]
    b: String,
}

impl Compare {
    pub(super) async fn run(self, global: Global) -> Result<(), CliError> {
        let (db, query) = self.study_args.open(global).await?;
        let mode = self.mode_args.mode.unwrap_or(Mode::C_P);
        let found = reasonscape_analysis::compare(&db, &query, [&self.a, &self.b], mode).await?;
        if matches!(global.format, Format::Table | Format::Markdown) {
            print_text(&format!("{}\n\n", found.sentence))?;
        }
        print_table(global.format, || display_table(&found), || export_table(&found), &found)?;
        print_notes(&found, global);
        Ok(())
    }
}

fn print_notes(found: &Comparison, global: Global) {
    let [a, b] = &found.labels;
    global.caption(format_args!(
        "A is {a}, B is {b}, each on the {} that both answered; p by McNemar's mid-p test, corrected for {} (Holm)",
        pluralize(found.pairs, "test"),
        pluralize(found.tasks.len() as u64, "task")
    ));
    for remark in found.remarks() {
        global.note(remark);
    }
}
