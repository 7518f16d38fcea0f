//! Exports trials for other tools, with their prompts and replies.
//!
//! Prompts and replies come from the cache, which never holds request headers or API keys.

mod card;
mod dataset;

use std::borrow::Cow;
use std::io::Write;
use std::sync::atomic::Ordering;

use reasonscape_cache::Cache;
use reasonscape_core::{Dataset, Extraction, Item, Reply, Task, extract};
use reasonscape_stats::{Mode, Outcome};
use reasonscape_study::Study;
use serde::Serialize;
use serde_json::{Value, json};

pub use self::dataset::export_dataset;

use crate::scoring::cot;
use crate::{Column, EvalInfo, Filter, PointsDb, PointsError, StoredTrial, TranscriptReader, TrialCounts};
use reasonscape_ingest::Progress;
use reasonscape_providers::Transcript;

/// The result of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Exported {
    /// Number of trials written.
    pub trials: u64,
    /// Trials whose prompt and reply are not in the cache.
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

/// The evaluations and tasks that a filter selects.
async fn units<'d>(db: &'d PointsDb, filter: &Filter) -> Result<Vec<Unit<'d>>, PointsError> {
    let groups = db.aggregate(&[Column::EvalId, Column::BaseTask], filter, Mode::C_P.into()).await?;
    let unit = |group: &crate::Group| {
        let (eval_id, task) = (group.key[0].to_string(), group.key[1].to_string());
        let eval = db.evals().iter().find(|eval| eval.eval_id == eval_id)?;
        Some(Unit { eval, task, counts: group.counts })
    };
    Ok(groups.iter().filter_map(unit).filter(|unit| unit.counts.n > 0).collect())
}

/// Writes the trials that a filter selects as JSON lines, ordered by evaluation, task, parameters, index and repeat.
///
/// Each line has everything that metrics are computed from, so that `reasonscape metrics` gives the same results for the
/// lines as for the study. The fields of dataset items come from the study, if it still has the items that were scored.
///
/// # Errors
/// A [`PointsError`] if the trials or the cache can't be read, or the lines can't be written.
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
    let dataset = Study::load(db.study()).ok().and_then(|study| study.dataset);
    let mut exported = Exported::default();
    for unit in &units {
        let items = unit_items(db, unit, dataset.as_ref());
        let mut batches = db.trials(&unit.eval.eval_id, &unit.task, filter).await?;
        while let Some(trials) = batches.next().await? {
            for trial in trials {
                let trial = ExportedTrial::new(trial, &mut transcripts)?;
                let item = usize::try_from(trial.trial.index).ok().and_then(|index| items.get(index));
                exported.trials += 1;
                exported.without_text += u64::from(trial.transcript.is_none());
                let written = serde_json::to_writer(&mut *out, &trial.to_json(item));
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

/// The dataset items of a unit's trials: none if the task is generated, or if the dataset has changed since.
fn unit_items<'d>(db: &PointsDb, unit: &Unit<'_>, dataset: Option<&'d Dataset>) -> &'d [Item] {
    let source = db
        .sources()
        .iter()
        .find(|source| source.eval_id == unit.eval.eval_id && source.task == unit.task)
        .map(|source| &source.provenance);
    dataset
        .into_iter()
        .flat_map(Dataset::tasks)
        .find(|task| task.name() == unit.task)
        .filter(|task| {
            source.is_some_and(|source| source.source.is_empty() && source.task_version == task.version())
        })
        .map_or(&[], |task| task.items())
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

    /// The answer extraction of the reply, as used for scoring.
    fn extraction(&self) -> Option<Extraction<'_>> {
        let transcript = self.transcript.as_ref()?;
        let reasoning = transcript.reasoning.as_deref();
        Some(extract(&Reply { content: &transcript.reply, reasoning }))
    }

    /// The prompt: the last message of the user.
    fn prompt(&self) -> Option<&str> {
        let messages = &self.transcript.as_ref()?.messages;
        messages.iter().rfind(|message| message.role == "user").map(|message| message.content.as_str())
    }

    /// The columns of the `trials` table, with the outcome by name and the parameters as an object, the transcript, and
    /// the additional fields that metrics need.
    fn to_json(&self, item: Option<&Item>) -> Value {
        let mut object = json!(self.trial);
        object["messages"] = json!(self.transcript.as_ref().map(|transcript| &transcript.messages));
        object["reasoning"] = json!(self.reasoning());
        object["reply"] = json!(self.reply());
        let trial = &self.trial;
        let outcome = self.outcome();
        let is_truncated = outcome == Outcome::Truncated;
        object["id"] = match item {
            Some(item) => json!(item.id),
            None => json!(format!("{} {} {}", trial.base_task, trial.params, trial.index)),
        };
        // A truncated trial has no answer, so it is neither correct nor incorrect.
        object["correct"] = json!((!is_truncated).then_some(outcome == Outcome::Correct));
        object["scorer"] = json!("stored");
        object["truncated"] = json!(is_truncated);
        object["input"] = json!(item.map(|item| item.input.as_str()).or_else(|| self.prompt()));
        let extraction = self.extraction();
        let cot: Option<Cow<'_, str>> = extraction.as_ref().and_then(|found| cot(found, is_truncated));
        object["cot"] = json!(cot);
        object["temperature"] = json!(self.transcript.as_ref().and_then(|transcript| transcript.temperature));
        if let Some(item) = item {
            if !item.test.alternative_targets.is_empty() {
                object["alternative_targets"] = json!(item.test.alternative_targets);
            }
            if !item.test.options.is_empty() {
                object["options"] = json!(item.test.options);
            }
            object["context"] = json!(item.context);
        }
        object
    }
}
