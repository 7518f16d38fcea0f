//! Exports trials as a Hugging Face dataset: a dataset card and Parquet files.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use datafusion::arrow::array::{
    ArrayRef, Float64Array, Int64Array, ListBuilder, RecordBatch, StringArray, StringBuilder, StructBuilder,
};
use datafusion::arrow::datatypes::{DataType, Field, Fields, Schema, SchemaRef};
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::basic::{Compression, ZstdLevel};
use datafusion::parquet::file::properties::WriterProperties;
use reasonscape_cache::Cache;

use super::{Exported, ExportedTrial, Unit, card, units};
use crate::error::parquet_message;
use crate::{Filter, PointsDb, PointsError, StoredTrial, TranscriptReader};
use reasonscape_ingest::Progress;
use reasonscape_providers::TranscriptMessage;
use reasonscape_study::TempDir;

/// Writes the trials that a filter selects as a dataset in a new directory: `README.md` (the dataset card) and one
/// Parquet file per evaluation under `data`. The directory appears complete or not at all.
///
/// # Errors
/// A [`PointsError`] if the trials or the cache can't be read, or the directory exists or can't be written.
pub async fn export_dataset(
    db: &PointsDb,
    cache: Option<&Cache>,
    filter: &Filter,
    dir: &Path,
    progress: &Progress,
) -> Result<Exported, PointsError> {
    if dir.exists() {
        return Err(PointsError::InvalidQuery(format!(
            "`{}` already exists; choose another directory",
            dir.display()
        )));
    }
    let parent = dir.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let work = TempDir::new(parent).map_err(PointsError::io("write in", parent))?;
    let units = units(db, filter).await?;
    progress.total.store(units.iter().map(|unit| unit.counts.n).sum(), Ordering::Relaxed);
    let data = work.path().join("data");
    std::fs::create_dir(&data).map_err(PointsError::io("create the directory", &data))?;
    let mut transcripts = TranscriptReader::open(cache)?;
    let mut exported = Exported::default();
    for of_eval in units.chunk_by(|a, b| a.eval.eval_id == b.eval.eval_id) {
        let path = data.join(format!("eval-{}.parquet", of_eval[0].eval.eval_id));
        write(db, of_eval, filter, &path, &mut transcripts, &mut exported, progress).await?;
        if progress.stop.load(Ordering::Relaxed) {
            return Ok(Exported { stopped: true, ..exported });
        }
    }
    let readme = work.path().join("README.md");
    let text = card::dataset_card(db, &units, &exported, schema().fields());
    std::fs::write(&readme, text).map_err(PointsError::io("write", &readme))?;
    // Temporary directories are private to their owner; the dataset gets the permissions of a normal directory.
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let like = std::fs::metadata(&data).map_err(PointsError::io("read", &data))?.permissions().mode();
        std::fs::set_permissions(work.path(), std::fs::Permissions::from_mode(like))
            .map_err(PointsError::io("write", work.path()))?;
    }
    std::fs::rename(work.path(), dir).map_err(PointsError::io("write", dir))?;
    Ok(exported)
}

async fn write(
    db: &PointsDb,
    units: &[Unit<'_>],
    filter: &Filter,
    path: &Path,
    transcripts: &mut TranscriptReader,
    exported: &mut Exported,
    progress: &Progress,
) -> Result<(), PointsError> {
    let failed = |error| PointsError::Write { path: path.to_owned(), problem: parquet_message(&error) };
    let properties =
        WriterProperties::builder().set_compression(Compression::ZSTD(ZstdLevel::default())).build();
    let file = File::create(path).map_err(PointsError::io("write", path))?;
    let schema = schema();
    let mut writer = ArrowWriter::try_new(file, Arc::clone(&schema), Some(properties)).map_err(failed)?;
    for unit in units {
        let mut batches = db.trials(&unit.eval.eval_id, &unit.task, filter).await?;
        while let Some(trials) = batches.next().await? {
            let trials = trials
                .into_iter()
                .map(|trial| ExportedTrial::new(trial, transcripts))
                .collect::<Result<Vec<_>, _>>()?;
            exported.trials += trials.len() as u64;
            exported.without_text += trials.iter().filter(|trial| trial.transcript.is_none()).count() as u64;
            let columns = COLUMNS.iter().map(|(_, values)| values.array(&trials)).collect();
            writer.write(&RecordBatch::try_new(Arc::clone(&schema), columns)?).map_err(failed)?;
            progress.done.store(exported.trials, Ordering::Relaxed);
            if progress.stop.load(Ordering::Relaxed) {
                return Ok(());
            }
        }
    }
    writer.close().map_err(failed)?;
    Ok(())
}

/// How to read the values of a column from a trial.
enum Values {
    Text(fn(&ExportedTrial) -> Option<&str>),
    Integer(fn(&StoredTrial) -> Option<i64>),
    Real(fn(&StoredTrial) -> Option<f64>),
    Messages,
}

/// The columns of the `trials` table with the status by name, and the transcript.
const COLUMNS: [(&str, Values); 28] = [
    ("eval_id", Values::Text(|row| Some(&row.trial.eval_id))),
    ("model", Values::Text(|row| Some(&row.trial.model))),
    ("template", Values::Text(|row| Some(&row.trial.template))),
    ("sampler", Values::Text(|row| Some(&row.trial.sampler))),
    ("base_task", Values::Text(|row| Some(&row.trial.base_task))),
    ("params", Values::Text(|row| Some(&row.trial.params))),
    ("index", Values::Integer(|trial| integer(trial.index))),
    ("repeat", Values::Integer(|trial| Some(i64::from(trial.repeat)))),
    ("status", Values::Text(|row| Some(row.outcome().name()))),
    ("guess", Values::Real(|trial| Some(trial.guess))),
    ("prompt_tokens", Values::Integer(|trial| trial.prompt_tokens.and_then(integer))),
    ("completion_tokens", Values::Integer(|trial| trial.completion_tokens.and_then(integer))),
    ("reasoning_tokens", Values::Integer(|trial| trial.reasoning_tokens.and_then(integer))),
    ("latency_ms", Values::Integer(|trial| integer(trial.latency_ms))),
    ("received_ms", Values::Integer(|trial| Some(trial.received_ms))),
    ("reasoning_chars", Values::Integer(|trial| integer(trial.reasoning_chars))),
    ("answer_chars", Values::Integer(|trial| integer(trial.answer_chars))),
    ("compressed_size", Values::Integer(|trial| integer(trial.compressed_size))),
    ("finish", Values::Text(|row| Some(&row.trial.finish))),
    ("method", Values::Text(|row| Some(&row.trial.method))),
    ("answer", Values::Text(|row| row.trial.answer.as_deref())),
    ("target", Values::Text(|row| Some(&row.trial.target))),
    ("cache_key", Values::Text(|row| Some(&row.trial.cache_key))),
    ("messages", Values::Messages),
    ("reasoning", Values::Text(ExportedTrial::reasoning)),
    ("reply", Values::Text(ExportedTrial::reply)),
    ("latency_us", Values::Integer(|trial| trial.latency_us.and_then(integer))),
    ("prob_correct", Values::Real(|trial| trial.prob_correct)),
];

/// A number as a Parquet integer; every stored number fits, since it was read from Parquet.
fn integer(number: u64) -> Option<i64> {
    i64::try_from(number).ok()
}

impl Values {
    fn data_type(&self) -> DataType {
        match self {
            Self::Text(_) => DataType::Utf8,
            Self::Integer(_) => DataType::Int64,
            Self::Real(_) => DataType::Float64,
            Self::Messages => {
                DataType::List(Arc::new(Field::new("item", DataType::Struct(message_fields()), true)))
            }
        }
    }

    fn array(&self, trials: &[ExportedTrial]) -> ArrayRef {
        match self {
            Self::Text(value) => Arc::new(trials.iter().map(value).collect::<StringArray>()),
            Self::Integer(value) => {
                Arc::new(trials.iter().map(|row| value(&row.trial)).collect::<Int64Array>())
            }
            Self::Real(value) => {
                Arc::new(trials.iter().map(|row| value(&row.trial)).collect::<Float64Array>())
            }
            Self::Messages => messages(trials),
        }
    }
}

fn schema() -> SchemaRef {
    let field = |(name, values): &(&str, Values)| Field::new(*name, values.data_type(), true);
    Arc::new(Schema::new(COLUMNS.iter().map(field).collect::<Vec<_>>()))
}

fn message_fields() -> Fields {
    ["role", "content"].map(|name| Field::new(name, DataType::Utf8, true)).to_vec().into()
}

fn messages(trials: &[ExportedTrial]) -> ArrayRef {
    let fields = message_fields();
    let builders = || -> Vec<Box<dyn datafusion::arrow::array::ArrayBuilder>> {
        vec![Box::new(StringBuilder::new()), Box::new(StringBuilder::new())]
    };
    let mut column = ListBuilder::new(StructBuilder::new(fields.clone(), builders())).with_field(Field::new(
        "item",
        DataType::Struct(fields),
        true,
    ));
    for trial in trials {
        for TranscriptMessage { role, content } in
            trial.transcript.iter().flat_map(|transcript| &transcript.messages)
        {
            let message = column.values();
            for (index, value) in [role, content].into_iter().enumerate() {
                let builder = message.field_builder::<StringBuilder>(index);
                builder.expect("both fields are text").append_value(value);
            }
            message.append(true);
        }
        column.append(trial.transcript.is_some());
    }
    Arc::new(column.finish())
}
