//! Trials for other tools: everything that is known of each, with what was asked and answered.
//!
//! Prompts and replies come from the cache. Nothing else is read from it: headers and keys were never in it.

mod card;
mod dataset;

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use reasonscape_runner::cache::{Cache, CacheError, Entry, EntryId, Reader};
use reasonscape_runner::{Provider, TokenLogprob};
use reasonscape_stats::{Mode, Outcome};
use serde::Serialize;
use serde_json::{Map, Value, json};

pub use self::dataset::export_dataset;

use crate::{Column, Counts, EvalInfo, Filter, PointsDb, PointsError, Progress, TRIAL_COLUMNS};

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
    counts: Counts,
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
    let mut texts = Texts::open(cache)?;
    let mut exported = Exported::default();
    for unit in &units {
        let mut answer = db.trials(&unit.eval.eval_id, &unit.task, filter).await?;
        while let Some(rows) = answer.next().await? {
            for row in rows {
                let record = Record::of(row, &mut texts)?;
                exported.trials += 1;
                exported.without_text += u64::from(record.said.is_none());
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

/// A trial and what was said in it.
struct Record {
    /// The columns of the table of trials, in their order.
    columns: Vec<Value>,
    said: Option<Said>,
}

/// What was asked and answered.
#[derive(Debug, Clone, PartialEq)]
pub struct Said {
    /// What was asked, message by message.
    pub messages: Vec<Message>,
    /// What the model thought, where it was told apart from the reply.
    pub reasoning: Option<String>,
    /// The reply.
    pub reply: String,
    /// How likely the model found each token of it, where that was asked for.
    pub logprobs: Option<Vec<TokenLogprob>>,
}

/// A message of a prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Message {
    /// Who speaks: `system`, `user` or `assistant`.
    pub role: String,
    /// What is said.
    pub content: String,
}

impl Record {
    fn of(columns: Vec<Value>, texts: &mut Texts) -> Result<Self, PointsError> {
        let record = Self { columns, said: None };
        let said = texts.find(record.text("cache_key"), record.whole("repeat"), record.text("model"))?;
        Ok(Self { said, ..record })
    }

    fn column(&self, name: &str) -> &Value {
        let place = TRIAL_COLUMNS.iter().position(|column| *column == name);
        place.and_then(|place| self.columns.get(place)).unwrap_or(&Value::Null)
    }

    fn text(&self, name: &str) -> &str {
        self.column(name).as_str().unwrap_or_default()
    }

    fn whole(&self, name: &str) -> u32 {
        self.column(name).as_u64().and_then(|number| u32::try_from(number).ok()).unwrap_or(0)
    }

    /// The status in a word.
    fn status(&self) -> &'static str {
        Outcome::from_code(i64::from(self.whole("status"))).unwrap_or(Outcome::Truncated).name()
    }

    fn to_json(&self) -> Value {
        let mut object = Map::new();
        for name in TRIAL_COLUMNS {
            object.insert(name.to_owned(), self.column(name).clone());
        }
        object.insert("status".to_owned(), json!(self.status()));
        let params = serde_json::from_str(self.text("params")).unwrap_or(Value::Null);
        object.insert("params".to_owned(), params);
        let said = self.said.as_ref();
        object.insert("messages".to_owned(), json!(said.map(|said| &said.messages)));
        object.insert("reasoning".to_owned(), json!(said.and_then(|said| said.reasoning.as_ref())));
        object.insert("reply".to_owned(), json!(said.map(|said| &said.reply)));
        Value::Object(object)
    }
}

/// What the cache has of prompts and replies.
#[derive(Debug)]
pub struct Texts {
    reader: Option<Reader>,
}

impl Texts {
    /// Opens the cache to read; without one, nothing is found.
    ///
    /// # Errors
    /// A [`PointsError`] when the cache cannot be read.
    pub fn open(cache: Option<&Cache>) -> Result<Self, PointsError> {
        Ok(Self { reader: cache.map(Cache::reader).transpose()? })
    }

    /// What was said under a key. A damaged entry is one that is not there: the trial is still worth having.
    ///
    /// # Errors
    /// A [`PointsError`] when the cache cannot be read.
    pub fn find(&mut self, key: &str, repeat: u32, model: &str) -> Result<Option<Said>, PointsError> {
        let (Some(reader), Ok(key)) = (&self.reader, key.parse()) else { return Ok(None) };
        // Where a namespace keeps endpoints apart, it stands behind the model's name.
        let namespaces = std::iter::once("").chain(model.match_indices('#').map(|(at, _)| &model[at + 1..]));
        for namespace in namespaces {
            let id = EntryId { key, namespace: Arc::from(namespace), repeat };
            match reader.entry(&id) {
                Ok(Some(entry)) => return Ok(said(&entry)),
                Ok(None) => {}
                Err(CacheError::DamagedEntry { .. }) => return Ok(None),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(None)
    }
}

/// Takes an entry apart, whichever API it was asked through.
fn said(entry: &Entry) -> Option<Said> {
    let request: Value = serde_json::from_str(&entry.request).ok()?;
    let (messages, providers) = if let Some(prompt) = request.get("prompt") {
        let message = Message { role: "user".to_owned(), content: plain(prompt) };
        (vec![message], vec![Provider::OpenAiText])
    } else {
        let system = request.get("system");
        let system = system.map(|system| Message { role: "system".to_owned(), content: plain(system) });
        let message = |message: &Value| {
            let member = |name: &str| message.get(name).map(plain).unwrap_or_default();
            Message { role: member("role"), content: member("content") }
        };
        let messages = request.get("messages").and_then(Value::as_array).into_iter().flatten().map(message);
        (system.into_iter().chain(messages).collect(), vec![Provider::OpenAiChat, Provider::Anthropic])
    };
    let parsed = |provider: Provider| provider.parse(entry.response.status, &entry.response.body).ok();
    let completion = providers.into_iter().find_map(parsed)?;
    Some(Said {
        messages,
        reasoning: completion.reasoning,
        reply: completion.content,
        logprobs: completion.logprobs,
    })
}

/// Text as it is; the text of parts, where a message has several; anything else as JSON.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        Value::Array(parts) if parts.iter().all(|part| part.get("text").is_some()) => {
            parts.iter().map(|part| plain(&part["text"])).collect::<Vec<_>>().join("\n")
        }
        other => other.to_string(),
    }
}
