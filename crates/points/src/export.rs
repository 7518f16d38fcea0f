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
use serde_json::{Map, Value, json};

pub use self::dataset::export_dataset;

use crate::{Column, EvalInfo, Filter, PointsDb, PointsError, TRIAL_COLUMNS, TranscriptReader, TrialCounts};
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
    let groups = db.aggregate(&[Column::EvalId, Column::BaseTask], filter, Mode::C_P).await?;
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
        let mut answer = db.trials(&unit.eval.eval_id, &unit.task, filter).await?;
        while let Some(rows) = answer.next().await? {
            for row in rows {
                let record = Record::new(row, &mut transcripts)?;
                exported.trials += 1;
                exported.without_text += u64::from(record.transcript.is_none());
                let written = serde_json::to_writer(&mut *out, &record.to_json());
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

/// A trial and its transcript.
struct Record {
    /// The columns of the table of trials, in their order.
    columns: Vec<Value>,
    transcript: Option<Transcript>,
}

impl Record {
    fn new(columns: Vec<Value>, transcripts: &mut TranscriptReader) -> Result<Self, PointsError> {
        let record = Self { columns, transcript: None };
        let transcript =
            transcripts.find(record.text("cache_key"), record.integer("repeat"), record.text("model"))?;
        Ok(Self { transcript, ..record })
    }

    fn column(&self, name: &str) -> &Value {
        let index = TRIAL_COLUMNS.iter().position(|column| *column == name);
        index.and_then(|index| self.columns.get(index)).unwrap_or(&Value::Null)
    }

    fn text(&self, name: &str) -> &str {
        self.column(name).as_str().unwrap_or_default()
    }

    fn integer(&self, name: &str) -> u32 {
        self.column(name).as_u64().and_then(|number| u32::try_from(number).ok()).unwrap_or(0)
    }

    /// The status in a word.
    fn status(&self) -> &'static str {
        Outcome::from_code(i64::from(self.integer("status"))).unwrap_or(Outcome::Truncated).name()
    }

    fn to_json(&self) -> Value {
        let mut object = Map::new();
        for name in TRIAL_COLUMNS {
            object.insert(name.to_owned(), self.column(name).clone());
        }
        object.insert("status".to_owned(), json!(self.status()));
        let params = serde_json::from_str(self.text("params")).unwrap_or(Value::Null);
        object.insert("params".to_owned(), params);
        let transcript = self.transcript.as_ref();
        object.insert("messages".to_owned(), json!(transcript.map(|transcript| &transcript.messages)));
        object.insert(
            "reasoning".to_owned(),
            json!(transcript.and_then(|transcript| transcript.reasoning.as_ref())),
        );
        object.insert("reply".to_owned(), json!(transcript.map(|transcript| &transcript.reply)));
        Value::Object(object)
    }
}
