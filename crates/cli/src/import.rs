//! `reasonscape import`: logs of other tools become trials of a study.

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
use crate::output::print;
use crate::progress::{ProgressLabels, watch};
use crate::signals::on_interrupt;
use reasonscape_analysis::tables::{Cell, Table};

/// Import the logs of another tool into a study
///
/// Scores are taken as the log has them; nothing is judged again and nothing is sent. Each document becomes a trial,
/// known by its id, so that `analyze compare` pairs two models on the same documents.
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

/// Import what lm-eval wrote with `--log_samples`
///
/// It does not write down why an answer ended: truncation is unknown, and every table says so.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  reasonscape import lm-eval results/ --into my-study --metric acc_norm --metric exact_match \
    --filter strict-match"
)]
struct LmEval {
    #[command(flatten)]
    common: CommonArgs,
    /// Take this metric, where a task has several; may be repeated, and the first that a task has is taken.
    #[arg(long = "metric", value_name = "METRIC")]
    metrics: Vec<String>,
    /// Take this filter, where a task has several; may be repeated.
    #[arg(long = "filter", value_name = "FILTER")]
    filters: Vec<String>,
}

/// Import logs of Inspect: `.eval` files, or its `.json` logs
///
/// A log that was never finished is imported as far as it goes.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  reasonscape import inspect logs/ --into my-study --scorer match")]
struct Inspect {
    #[command(flatten)]
    common: CommonArgs,
    /// Take this scorer, where a log has several; `scorer.part` where a score has parts. May be repeated, and the first
    /// that a log has is taken.
    #[arg(long = "scorer", value_name = "SCORER")]
    scorers: Vec<String>,
}

#[derive(Debug, clap::Args)]
struct CommonArgs {
    /// Logs, or folders that are searched for them.
    #[arg(value_name = "PATH", required = true)]
    paths: Vec<PathBuf>,
    /// Folder of the study; it is made if it is not there.
    #[arg(long, value_name = "STUDY")]
    into: PathBuf,
    /// What to call the model; OLD=NEW for one of several.
    #[arg(long = "model", value_name = "NAME")]
    models: Vec<String>,
    /// What to call the task; OLD=NEW for one of several.
    #[arg(long = "task", value_name = "NAME")]
    tasks: Vec<String>,
    /// From which score on an answer is correct; without it, only a score of 1 is.
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
                "`--threshold {threshold}` is no score; give a number, as 0.5"
            )));
        }
        Ok(LogOptions {
            models: Renames::parse(&self.models)?,
            tasks: Renames::parse(&self.tasks)?,
            threshold: self.threshold,
            ..LogOptions::default()
        })
    }

    /// Imports what was opened, and says what came of it. A study that was made for it goes again if it fails.
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
            // It was made a moment ago and holds nothing but what could not be finished.
            let _ = fs::remove_dir_all(folder);
        }
        let imported = imported?;
        report(&imported, global)?;
        if imported.stopped {
            let left = if is_new {
                "; nothing was imported"
            } else {
                "; what is not in the table is as it was before"
            };
            global.note(format_args!("interrupted{left}"));
            return Err(CliError::Interrupted);
        }
        global.note(format_args!("`reasonscape analyze evals {}` shows them", folder.display()));
        Ok(())
    }
}

/// Makes the study if it is not there, and imports into it.
fn ingest_into(folder: &Path, logs: &Logs, global: Global) -> Result<Imported, CliError> {
    fs::create_dir_all(folder)
        .with_context(|| format!("failed to make the folder `{}`", folder.display()))
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

/// What a study says whose trials all come from elsewhere.
const STUDY: &str = r#"# The trials of this study were imported from the logs of other tools by `reasonscape import`.
# `analyze`, `sql` and `export` read them as they are; there is nothing to run and nothing to evaluate.

suite = "quick"

# To ask a model here as well, say which and where; `run` asks it, and leaves what was imported alone.
# [[eval]]
# model = "smollm2-135m-instruct"
# base_url = "http://127.0.0.1:8089/v1"
"#;

fn report(imported: &Imported, global: Global) -> Result<(), CliError> {
    let mut table = Table::new(&[
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
    ]);
    for unit in &imported.units {
        let truncated = if unit.truncation_known { unit.counts.n_t.to_string() } else { "?".to_owned() };
        table.push(vec![
            Cell::text(&unit.eval.eval_id),
            Cell::text(&unit.eval.model),
            Cell::text(&unit.task),
            Cell::text(&unit.score),
            Cell::Number(unit.counts.n as f64, 0),
            Cell::optional(unit.accuracy, 4),
            Cell::optional(unit.mean_score, 4),
            Cell::optional(unit.log_score, 4),
            Cell::Formatted(truncated),
            Cell::Number(unit.skipped.values().sum::<u64>() as f64, 0),
        ]);
    }
    print(global.format, &table, imported)?;
    global
        .caption("`accuracy` and `mean score` are of the trials imported, `log says` is the log's own mean");
    let unknown: Vec<&str> =
        imported.units.iter().filter(|unit| !unit.truncation_known).map(|unit| unit.task.as_str()).collect();
    if !unknown.is_empty() {
        global.note(format_args!(
            "these logs do not say which answers were cut off; truncation is unknown on {}",
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

/// What a reader of a row has to know.
fn unit_notes(unit: &ImportedUnit) -> Vec<String> {
    let mut unit_notes = Vec::new();
    if unit.unfinished {
        unit_notes.push(format!(
            "the log was never finished; {} missing",
            pluralize(unit.counts.missing(), "trial")
        ));
    }
    if unit.partial > 0 {
        unit_notes.push(format!(
            "{} neither 0 nor 1; a trial is right or wrong, and a score counts by `--threshold`, not by its share",
            pluralize_with_verb(unit.partial, "score", "is", "are")
        ));
    }
    if unit.truncated_correct > 0 {
        unit_notes.push(format!(
            "{} cut off and yet scored as correct; a cut-off answer counts as truncated",
            pluralize_with_verb(unit.truncated_correct, "answer", "was", "were")
        ));
    }
    for (reason, count) in &unit.skipped {
        unit_notes
            .push(format!("{} skipped: {reason}", pluralize_with_verb(*count, "sample", "was", "were")));
    }
    if unit.counts.n == 0 {
        unit_notes.push("no sample became a trial".to_owned());
    }
    unit_notes
}

/// `1 score is`, `2 scores pluralize_with_verb`.
fn pluralize_with_verb(count: u64, thing: &str, one: &str, many: &str) -> String {
    format!("{} {}", pluralize(count, thing), if count == 1 { one } else { many })
}

/// `1 trial`, `2 trials`.
fn pluralize(count: u64, thing: &str) -> String {
    if count == 1 { format!("1 {thing}") } else { format!("{count} {thing}s") }
}
