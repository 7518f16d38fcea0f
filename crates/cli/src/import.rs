//! `reasonscape import`: imports logs of other tools into a study.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use anyhow::Context;
use reasonscape_cache::Cache;
use reasonscape_ingest::Progress;
use reasonscape_ingest::logs::{LogOptions, Logs, Renames};
use reasonscape_points::{Imported, ImportedUnit, import_logs};
use reasonscape_study::Study;

use super::Global;
use crate::error::CliError;
use crate::output::{Format, print};
use crate::progress::{ProgressLabels, watch};
use crate::signals::on_interrupt;
use reasonscape_analysis::estimate_text;
use reasonscape_analysis::tables::{Cell, Table};

/// Import logs of lm-eval or Inspect into a study
///
/// Scores are taken from the log; nothing is scored again and no requests are sent. Each document becomes a trial with its
/// id, so `analyze compare` can pair two models on the same documents.
#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = true)]
#[command(after_help = "Examples:\n  reasonscape import lm-eval results/ --into my-study\n  \
    reasonscape import inspect logs/*.eval --into my-study --scorer match")]
pub(super) struct ImportCommand {
    #[command(subcommand)]
    tool: Tool,
}

#[derive(Debug, clap::Subcommand)]
enum Tool {
    LmEval(LmEval),
    Inspect(Inspect),
}

/// Import logs of lm-eval, written with `--log_samples`
///
/// lm-eval does not log why a response ended, so truncation is unknown and marked as such in every table.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  reasonscape import lm-eval results/ --into my-study --metric acc_norm --metric exact_match \
    --filter strict-match"
)]
struct LmEval {
    #[command(flatten)]
    common: CommonArgs,
    /// Metric to import if a task has several (repeatable; the first that a task has is used).
    #[arg(long = "metric", value_name = "METRIC")]
    metrics: Vec<String>,
    /// Filter to import if a task has several (repeatable).
    #[arg(long = "filter", value_name = "FILTER")]
    filters: Vec<String>,
}

/// Import logs of Inspect, `.eval` or `.json` files
///
/// An unfinished log is imported as far as it goes.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  reasonscape import inspect logs/ --into my-study --scorer match")]
struct Inspect {
    #[command(flatten)]
    common: CommonArgs,
    /// Scorer to import if a log has several, or `scorer.part` if a score has parts (repeatable; the first that a log has
    /// is used).
    #[arg(long = "scorer", value_name = "SCORER")]
    scorers: Vec<String>,
}

#[derive(Debug, clap::Args)]
struct CommonArgs {
    /// Log files, or directories to search for them.
    #[arg(value_name = "PATH", required = true)]
    paths: Vec<PathBuf>,
    /// Study directory; it is created if needed.
    #[arg(long, value_name = "STUDY")]
    into: PathBuf,
    /// Rename the model, or one of several with OLD=NEW.
    #[arg(long = "model", value_name = "NAME")]
    models: Vec<String>,
    /// Rename the task, or one of several with OLD=NEW.
    #[arg(long = "task", value_name = "NAME")]
    tasks: Vec<String>,
    /// Minimum score of a correct answer [default: only a score of 1 is correct].
    #[arg(long, value_name = "SCORE", allow_hyphen_values = true)]
    threshold: Option<f64>,
}

impl ImportCommand {
    pub(super) fn run(self, global: Global) -> Result<(), CliError> {
        match self.tool {
            Tool::LmEval(LmEval { common, metrics, filters }) => {
                let options = LogOptions { metrics, filters, ..common.options()? };
                common.ingest(&Logs::open_lm_eval(&common.paths, &options)?, global)
            }
            Tool::Inspect(Inspect { common, scorers }) => {
                let options = LogOptions { scorers, ..common.options()? };
                common.ingest(&Logs::open_inspect(&common.paths, &options)?, global)
            }
        }
    }
}

impl CommonArgs {
    fn options(&self) -> Result<LogOptions, CliError> {
        if let Some(threshold) = self.threshold.filter(|threshold| !threshold.is_finite()) {
            return Err(CliError::input(format_args!(
                "invalid score `--threshold {threshold}`; expected a number, e.g. 0.5"
            )));
        }
        Ok(LogOptions {
            models: Renames::parse(&self.models)?,
            tasks: Renames::parse(&self.tasks)?,
            threshold: self.threshold,
            ..LogOptions::default()
        })
    }

    /// Imports the logs and prints a summary. A new study is removed again if the import fails.
    fn ingest(&self, logs: &Logs, global: Global) -> Result<(), CliError> {
        for note in logs.notes() {
            global.note(note);
        }
        let folder = match self.into.file_name() {
            Some(name) if name == Study::FILE => self.into.parent().unwrap_or(Path::new(".")),
            _ => self.into.as_path(),
        };
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let is_new = !folder.exists();
        let imported = ingest_into(folder, logs, global);
        if is_new && !matches!(imported, Ok(Imported { stopped: false, .. })) {
            // It was just created and only contains the incomplete import.
            let _ = fs::remove_dir_all(folder);
        }
        let imported = imported?;
        report(&imported, global)?;
        if imported.stopped {
            let left = if is_new {
                "; nothing was imported"
            } else {
                "; results that are not in the table are unchanged"
            };
            global.note(format_args!("interrupted{left}"));
            return Err(CliError::Interrupted);
        }
        global.note(format_args!(
            "imported; `reasonscape analyze evals {}` lists the evaluations",
            folder.display()
        ));
        Ok(())
    }
}

/// Creates the study if needed, and imports into it.
fn ingest_into(folder: &Path, logs: &Logs, global: Global) -> Result<Imported, CliError> {
    fs::create_dir_all(folder)
        .with_context(|| format!("failed to create the directory `{}`", folder.display()))
        .map_err(CliError::Input)?;
    let cache = Cache::open(folder.join(Study::CACHE_FILE))?;
    let progress = Arc::new(Progress::default());
    let stopped = Arc::clone(&progress);
    on_interrupt(move || stopped.stop.store(true, Relaxed))?;
    let imported = watch(&IMPORT, &progress, global, || Ok(import_logs(logs, folder, &cache, &progress)?))?;
    let file = folder.join(Study::FILE);
    if !file.exists() {
        fs::write(&file, STUDY)
            .with_context(|| format!("failed to write `{}`", file.display()))
            .map_err(CliError::Internal)?;
    }
    Ok(imported)
}

const IMPORT: ProgressLabels = ProgressLabels { verb: "import", unit: "samples" };

/// The study.toml of a study with imported trials only.
const STUDY: &str = r#"# The trials of this study were imported from the logs of other tools by `reasonscape import`.
# Use `analyze`, `sql` and `export` on them; there is nothing to run or evaluate.

suite = "quick"

# To also run a model in this study, set it here; `run` does not change imported trials.
# [[eval]]
# model = "smollm2-135m-instruct"
# base_url = "http://127.0.0.1:8089/v1"
"#;

/// One row per evaluation and task. In CSV the confidence interval has columns of its own.
fn units_table(imported: &Imported, is_csv: bool) -> Table {
    let mut columns = vec![
        "eval",
        "model",
        "task",
        "score",
        "trials",
        "accuracy",
        "mean score",
        "log says",
        "truncated",
        "skipped",
    ];
    if is_csv {
        columns.extend(["accuracy_low", "accuracy_high"]);
    }
    let mut table = Table::new(&columns);
    for unit in &imported.units {
        let truncated = if unit.truncation_known { unit.counts.n_t.to_string() } else { "?".to_owned() };
        let accuracy = match (unit.accuracy, unit.accuracy_low, unit.accuracy_high) {
            (Some(point), Some(low), Some(high)) if !is_csv => {
                Cell::Formatted(estimate_text(point, low, high, 3))
            }
            (point, ..) => Cell::optional(point, 4),
        };
        let mut row = vec![
            Cell::text(&unit.eval.eval_id),
            Cell::text(&unit.eval.model),
            Cell::text(&unit.task),
            Cell::text(&unit.score),
            Cell::Number(unit.counts.n as f64, 0),
            accuracy,
            Cell::optional(unit.mean_score, 4),
            Cell::optional(unit.log_score, 4),
            Cell::Formatted(truncated),
            Cell::Number(unit.skipped.values().sum::<u64>() as f64, 0),
        ];
        if is_csv {
            row.extend([unit.accuracy_low, unit.accuracy_high].map(|bound| Cell::optional(bound, 4)));
        }
        table.push(row);
    }
    table
}

fn report(imported: &Imported, global: Global) -> Result<(), CliError> {
    print(global, &units_table(imported, global.format == Format::Csv), imported)?;
    global
        .caption("`accuracy` (with its 95 % CI) and `mean score` are computed from the imported trials, `log says` is the mean reported in the log");
    let unknown: Vec<&str> =
        imported.units.iter().filter(|unit| !unit.truncation_known).map(|unit| unit.task.as_str()).collect();
    if !unknown.is_empty() {
        global.note(format_args!(
            "these logs do not record which answers were truncated; truncation is unknown on {}",
            BTreeSet::from_iter(unknown).into_iter().collect::<Vec<_>>().join(", ")
        ));
    }
    for unit in &imported.units {
        for note in unit_notes(unit) {
            global.note(format_args!("{} on {}: {note}", unit.eval.name, unit.task));
        }
    }
    Ok(())
}

/// The notes on a row.
fn unit_notes(unit: &ImportedUnit) -> Vec<String> {
    let mut unit_notes = Vec::new();
    if unit.unfinished {
        unit_notes
            .push(format!("the log is unfinished; {} missing", pluralize(unit.counts.missing(), "trial")));
    }
    if unit.partial > 0 {
        unit_notes.push(format!(
            "{} neither 0 nor 1; a trial is correct or incorrect, as decided by `--threshold`, without partial credit",
            pluralize_with_verb(unit.partial, "score", "is", "are")
        ));
    }
    if unit.truncated_correct > 0 {
        unit_notes.push(format!(
            "{} truncated but scored as correct; they count as truncated",
            pluralize_with_verb(unit.truncated_correct, "answer", "was", "were")
        ));
    }
    for (reason, count) in &unit.skipped {
        unit_notes
            .push(format!("{} skipped: {reason}", pluralize_with_verb(*count, "sample", "was", "were")));
    }
    if unit.counts.n == 0 {
        unit_notes.push("no sample could be imported".to_owned());
    }
    unit_notes
}

/// `1 score is`, `2 scores are`.
fn pluralize_with_verb(count: u64, thing: &str, one: &str, many: &str) -> String {
    format!("{} {}", pluralize(count, thing), if count == 1 { one } else { many })
}

/// `1 trial`, `2 trials`.
fn pluralize(count: u64, thing: &str) -> String {
    if count == 1 { format!("1 {thing}") } else { format!("{count} {thing}s") }
}
