//! Trials for other tools: everything that is known of each, with what was asked and answered.
//!
//! Prompts and replies come from the cache. Nothing else is read from it: headers and keys were never in it.

mod card;
mod dataset;

use std::io::Write;
use std::sync::atomic::Ordering;

use reasonscape_cache::Cache;
use reasonscape_stats::{Mode, Outcome};
use serde::Serialize;
use serde_json::{Value, json};

pub use self::dataset::export_dataset;

use crate::{Column, EvalInfo, Filter, PointsDb, PointsError, StoredTrial, TranscriptReader, TrialCounts};
use reasonscape_ingest::Progress;
use reasonscape_providers::Transcript;

/// What was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Exported {
    /// Trials.
    pub trials: u64,
    /// Those whose prompt and reply the cache does not have.
    pub without_text: u64,
    /// Whether it was stopped before the end.
    pub stopped: bool,
}

/// One evaluation on one task, to be exported.
struct Unit<'d> {
    eval: &'d EvalInfo,
    task: String,
    counts: TrialCounts,
}

/// What the filter means, by evaluation and task.
async fn units<'d>(db: &'d PointsDb, filter: &Filter) -> Result<Vec<Unit<'d>>, PointsError> {
    let groups = db.aggregate(&[Column::EvalId, Column::BaseTask], filter, Mode::C_P.into()).await?;
    let unit = |group: &crate::Group| {
        let (eval_id, task) = (group.key[0].to_string(), group.key[1].to_string());
        let eval = db.evals().iter().find(|eval| eval.eval_id == eval_id)?;
        Some(Unit { eval, task, counts: group.counts })
    };
    Ok(groups.iter().filter_map(unit).filter(|unit| unit.counts.n > 0).collect())
}

/// Writes the trials that a filter means as lines of JSON, by evaluation, task, coordinates, index and repeat.
///
/// # Errors
/// A [`PointsError`] when the trials or the cache cannot be read, or the lines cannot be written.
pub async fn export_lines(
    db: &PointsDb,
    cache: Option<&Cache>,
    filter: &Filter,
    out: &mut dyn Write,
    progress: &Progress,
) -> Result<Exported, PointsError> {
    let units = units(db, filter).await?;
    progress.total.store(units.iter().map(|unit| unit.counts.n).sum(), Ordering::Relaxed);
    let mut transcripts = TranscriptReader::open(cache)?;
    let mut exported = Exported::default();
    for unit in &units {
        let mut batches = db.trials(&unit.eval.eval_id, &unit.task, filter).await?;
        while let Some(trials) = batches.next().await? {
            for trial in trials {
                let trial = ExportedTrial::new(trial, &mut transcripts)?;
                exported.trials += 1;
                exported.without_text += u64::from(trial.transcript.is_none());
                let written = serde_json::to_writer(&mut *out, &trial.to_json());
                written.map_err(std::io::Error::from).and_then(|()| out.write_all(b"\n")).map_err(
                    |source| PointsError::Io { action: "write", path: "the lines".into(), source },
                )?;
            }
            progress.done.store(exported.trials, Ordering::Relaxed);
            if progress.stop.load(Ordering::Relaxed) {
                return Ok(Exported { stopped: true, ..exported });
            }
        }
    }
    Ok(exported)
}

/// A trial and its transcript, if the cache has it.
struct ExportedTrial {
    trial: StoredTrial,
    transcript: Option<Transcript>,
}

impl ExportedTrial {
    fn new(trial: StoredTrial, transcripts: &mut TranscriptReader) -> Result<Self, PointsError> {
        let transcript = transcripts.find(&trial.cache_key, trial.repeat, &trial.model)?;
        Ok(Self { trial, transcript })
    }

    fn outcome(&self) -> Outcome {
        Outcome::from_code(i64::from(self.trial.status)).unwrap_or(Outcome::Truncated)
    }

    fn reasoning(&self) -> Option<&str> {
        self.transcript.as_ref()?.reasoning.as_deref()
    }

    fn reply(&self) -> Option<&str> {
        self.transcript.as_ref().map(|transcript| transcript.reply.as_str())
    }

    /// The columns of the table of trials, with the outcome by name and the coordinates as an object, and the transcript.
    fn to_json(&self) -> Value {
        let mut object = json!(self.trial);
        object["status"] = json!(self.outcome().name());
        object["params"] = serde_json::from_str(&self.trial.params).unwrap_or(Value::Null);
        object["messages"] = json!(self.transcript.as_ref().map(|transcript| &transcript.messages));
        object["reasoning"] = json!(self.reasoning());
        object["reply"] = json!(self.reply());
        object
    }
}
