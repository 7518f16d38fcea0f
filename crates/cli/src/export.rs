//! `reasonscape export`: trials as JSON Lines or as a dataset.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use reasonscape_cache::Cache;
use reasonscape_ingest::Progress;
use reasonscape_points::{Column, Exported, PointsDb, export_dataset, export_lines};
use reasonscape_stats::Mode;

use super::Global;
use super::study::study_folder;
use crate::error::CliError;
use crate::output::write_file;
use crate::progress::{ProgressLabels, watch};
use crate::signals::on_interrupt;
use reasonscape_analysis::{PointQuery, truncation_note};
use reasonscape_study::Study;

/// Export the trials of a study, with prompts and responses
///
/// Writes one JSON object per trial: identifiers, outcome, tokens, answer, target, messages, reasoning and reply, and
/// everything that `reasonscape metrics` needs to compute the same metrics as for the study. Prompts and replies come from
/// the cache and are null if it lacks them. `--dataset` writes a Hugging Face dataset with a dataset card instead.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  reasonscape export my-study -o trials.jsonl --filter base_task=sort\n  \
    reasonscape export my-study --dataset my-dataset"
)]
pub(super) struct Export {
    /// Study directory, or its study.toml.
    #[arg(value_name = "STUDY")]
    study: PathBuf,
    /// Output file [default: standard output].
    #[arg(long, short, value_name = "FILE", conflicts_with = "dataset")]
    output: Option<PathBuf>,
    /// Write a dataset to this directory, which must not exist: a card (README.md), and Parquet files under `data`.
    #[arg(long, value_name = "DIR")]
    dataset: Option<PathBuf>,
    /// Only trials of points whose COLUMN matches VALUE, e.g. `model=qwen*` or `base_task=sort,dates` (repeatable).
    #[arg(long = "filter", value_name = "COLUMN=VALUE")]
    filters: Vec<String>,
    /// Only the first N problems of each point.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    first: Option<u64>,
}

const EXPORT: ProgressLabels = ProgressLabels { verb: "export", unit: "trials" };

impl Export {
    pub(super) fn run(self, global: Global) -> Result<(), CliError> {
        let query = PointQuery::parse(&self.filters)?;
        let (db, cache) = open_trials(&study_folder(&self.study)?, &query, self.first, global)?;
        let progress = Arc::new(Progress::default());
        let stopped = Arc::clone(&progress);
        on_interrupt(move || stopped.stop.store(true, Relaxed))?;
        let filter = &query.filter;
        let lines = |out: &mut dyn Write| {
            watch(&EXPORT, &progress, global, || {
                super::wait_for(async {
                    Ok(export_lines(&db, cache.as_ref(), filter, out, &progress).await?)
                })
            })
        };
        let exported = match (&self.dataset, &self.output) {
            (Some(dataset), _) => watch(&EXPORT, &progress, global, || {
                super::wait_for(async {
                    Ok(export_dataset(&db, cache.as_ref(), filter, dataset, &progress).await?)
                })
            })?,
            (None, Some(path)) => {
                let mut exported = Exported::default();
                write_file(path, |out| {
                    exported = lines(out)?;
                    if exported.stopped { Err(CliError::Interrupted) } else { Ok(()) }
                })?;
                exported
            }
            (None, None) => {
                let mut stdout = BufWriter::new(crate::output::stdout());
                let exported = lines(&mut stdout)?;
                stdout.flush()?;
                exported
            }
        };
        if exported.stopped {
            return Err(CliError::Interrupted);
        }
        if let Some(note) = truncation_note(&db) {
            global.note(note);
        }
        if exported.without_text > 0 {
            global.note(format_args!(
                "{} of them without prompt and reply, which are not in the cache",
                exported.without_text
            ));
        }
        global.note(format_args!("exported {} trials", exported.trials));
        Ok(())
    }
}

/// Opens the trials that the query selects, and the cache with their texts.
pub(super) fn open_trials(
    folder: &Path,
    query: &PointQuery,
    first: Option<u64>,
    global: Global,
) -> Result<(PointsDb, Option<Cache>), CliError> {
    let db = super::wait_for(async {
        let db = PointsDb::open_first(folder, first).await?;
        let found = db.aggregate(&[Column::EvalId], &query.filter, Mode::C_P.into()).await?;
        if found.is_empty() { Err(query.no_match_error(&db).await.into()) } else { Ok(db) }
    })?;
    for remark in db.remarks() {
        global.note(remark);
    }
    Ok((db, Cache::open_if_exists(folder.join(Study::CACHE_FILE))?))
}
