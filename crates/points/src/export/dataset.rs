//! A dataset as Hugging Face has them: a card, and Parquet files that anything opens.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use datafusion::arrow::array::{
    ArrayRef, Float64Builder, Int64Builder, ListBuilder, RecordBatch, StringBuilder, StructBuilder,
};
use datafusion::arrow::datatypes::{DataType, Field, Fields, Schema, SchemaRef};
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::basic::{Compression, ZstdLevel};
use datafusion::parquet::file::properties::WriterProperties;
use reasonscape_cache::Cache;

use super::{Exported, Record, Unit, card, units};
use crate::error::plain;
use crate::{Filter, PointsDb, PointsError, TRIAL_COLUMNS, TranscriptReader};
use reasonscape_ingest::Progress;
use reasonscape_providers::TranscriptMessage;

/// Columns beside those of the table of trials.
const TRANSCRIPT_COLUMNS: [&str; 3] = ["messages", "reasoning", "reply"];

/// Writes the trials that a filter means as a dataset in a folder that is not there yet: `README.md`, which is its
/// card, and a Parquet file for each evaluation under `data`. It appears whole or not at all.
///
/// # Errors
/// A [`PointsError`] when the trials or the cache cannot be read, the folder is there, or cannot be written.
pub async fn export_dataset(
    db: &PointsDb,
    cache: Option<&Cache>,
    filter: &Filter,
    dir: &Path,
    progress: &Progress,
) -> Result<Exported, PointsError> {
    if dir.exists() {
        return Err(PointsError::InvalidQuery(format!(
            "`{}` is there already and is left as it is; name another folder",
            dir.display()
        )));
    }
    let parent = dir.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let work = tempfile::Builder::new()
        .prefix(".reasonscape-")
        .tempdir_in(parent)
        .map_err(PointsError::io("write in", parent))?;
    let units = units(db, filter).await?;
    progress.total.store(units.iter().map(|unit| unit.counts.n).sum(), Ordering::Relaxed);
    let data = work.path().join("data");
    std::fs::create_dir(&data).map_err(PointsError::io("make the folder", &data))?;
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
    let text = card::card(db, &units, &exported, schema().fields());
    std::fs::write(&readme, text).map_err(PointsError::io("write", &readme))?;
    // A folder for temporary files is its owner's alone; a dataset is as open as other folders.
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
    let failed = |error| PointsError::Write { path: path.to_owned(), problem: plain(&error) };
    let properties =
        WriterProperties::builder().set_compression(Compression::ZSTD(ZstdLevel::default())).build();
    let file = File::create(path).map_err(PointsError::io("write", path))?;
    let schema = schema();
    let mut writer = ArrowWriter::try_new(file, Arc::clone(&schema), Some(properties)).map_err(failed)?;
    for unit in units {
        let mut answer = db.trials(&unit.eval.eval_id, &unit.task, filter).await?;
        while let Some(rows) = answer.next().await? {
            let records =
                rows.into_iter().map(|row| Record::new(row, transcripts)).collect::<Result<Vec<_>, _>>()?;
            exported.trials += records.len() as u64;
            exported.without_text +=
                records.iter().filter(|record| record.transcript.is_none()).count() as u64;
            writer.write(&batch(&schema, &records)?).map_err(failed)?;
            progress.done.store(exported.trials, Ordering::Relaxed);
            if progress.stop.load(Ordering::Relaxed) {
                return Ok(());
            }
        }
    }
    writer.close().map_err(failed)?;
    Ok(())
}

fn message_fields() -> Fields {
    ["role", "content"].map(|name| Field::new(name, DataType::Utf8, true)).to_vec().into()
}

/// The columns of the table of trials with the status in a word, and the transcript.
fn schema() -> SchemaRef {
    let field = |name: &str| {
        let data_type = match name {
            "messages" => {
                DataType::List(Arc::new(Field::new("item", DataType::Struct(message_fields()), true)))
            }
            "guess" => DataType::Float64,
            "index" | "repeat" | "prompt_tokens" | "completion_tokens" | "reasoning_tokens"
            | "latency_ms" | "received_ms" | "reasoning_chars" | "answer_chars" | "compressed_size" => {
                DataType::Int64
            }
            _ => DataType::Utf8,
        };
        Field::new(name, data_type, true)
    };
    Arc::new(Schema::new(TRIAL_COLUMNS.into_iter().chain(TRANSCRIPT_COLUMNS).map(field).collect::<Vec<_>>()))
}

fn batch(schema: &SchemaRef, records: &[Record]) -> Result<RecordBatch, PointsError> {
    let column = |field: &Arc<Field>| -> ArrayRef {
        let name = field.name().as_str();
        match field.data_type() {
            DataType::Float64 => {
                let mut column = Float64Builder::new();
                for record in records {
                    column.append_option(record.column(name).as_f64());
                }
                Arc::new(column.finish())
            }
            DataType::Int64 => {
                let mut column = Int64Builder::new();
                for record in records {
                    column.append_option(record.column(name).as_i64());
                }
                Arc::new(column.finish())
            }
            DataType::List(_) => messages(records),
            _ => {
                let mut column = StringBuilder::new();
                for record in records {
                    column.append_option(text(record, name));
                }
                Arc::new(column.finish())
            }
        }
    };
    let columns = schema.fields().iter().map(column).collect();
    Ok(RecordBatch::try_new(Arc::clone(schema), columns)?)
}

fn text<'r>(record: &'r Record, name: &str) -> Option<&'r str> {
    let transcript = record.transcript.as_ref();
    match name {
        "status" => Some(record.status()),
        "reasoning" => transcript.and_then(|transcript| transcript.reasoning.as_deref()),
        "reply" => transcript.map(|transcript| transcript.reply.as_str()),
        column => record.column(column).as_str(),
    }
}

fn messages(records: &[Record]) -> ArrayRef {
    let fields = message_fields();
    let builders = || -> Vec<Box<dyn datafusion::arrow::array::ArrayBuilder>> {
        vec![Box::new(StringBuilder::new()), Box::new(StringBuilder::new())]
    };
    let mut column = ListBuilder::new(StructBuilder::new(fields.clone(), builders())).with_field(Field::new(
        "item",
        DataType::Struct(fields),
        true,
    ));
    for record in records {
        for TranscriptMessage { role, content } in
            record.transcript.iter().flat_map(|transcript| &transcript.messages)
        {
            let message = column.values();
            for (index, value) in [role, content].into_iter().enumerate() {
                let builder = message.field_builder::<StringBuilder>(index);
                builder.expect("both fields are text").append_value(value);
            }
            message.append(true);
        }
        column.append(record.transcript.is_some());
    }
    Arc::new(column.finish())
}
