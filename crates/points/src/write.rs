//! Writes pairs of files; an existing pair stays intact until the new pair is complete.

use std::collections::{HashMap, HashSet};
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use datafusion::arrow::array::{
    ArrayRef, Float64Array, Float64Builder, Int32Builder, Int64Array, Int64Builder, ListBuilder, RecordBatch,
    StringArray, StringBuilder,
};
use datafusion::arrow::datatypes::{DataType, Field, SchemaRef};
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::arrow::arrow_writer::ArrowWriterOptions;
use datafusion::parquet::basic::{Compression, ZstdLevel};
use datafusion::parquet::errors::ParquetError;
use datafusion::parquet::file::metadata::KeyValue;
use datafusion::parquet::file::properties::{EnabledStatistics, WriterProperties};
use datafusion::parquet::schema::types::ColumnPath;
use reasonscape_stats::likelihood::PointSums;
use tempfile::NamedTempFile;

use crate::error::parquet_message;
use crate::files::inspect;
use crate::publish::Publication;
use crate::sampling::{Sample, point_sums};
use crate::schema::{self, key};
use crate::{EvalInfo, PointTrials, PointsError, Provenance, Trial, TrialCounts};

/// Rows per row group. A model has some ten thousand trials per task, which fit into one group.
const ROW_GROUP: usize = 131_072;
/// Rows per batch passed to the Parquet writer.
const BATCH: usize = 8_192;

/// One of the two files of a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileKind {
    Trials,
    Points,
}

impl FileKind {
    /// The name of the directory and of the kind in the file's metadata.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Trials => "trials",
            Self::Points => "points",
        }
    }

    pub(crate) fn schema(self) -> &'static SchemaRef {
        match self {
            Self::Trials => &schema::TRIALS,
            Self::Points => &schema::POINTS,
        }
    }

    /// The path of the file of an evaluation and task in a study directory.
    pub(crate) fn path(self, study: &Path, eval_id: &str, task: &str) -> PathBuf {
        let name = self.name();
        study
            .join(name)
            .join(format!("eval={eval_id}"))
            .join(format!("task={task}"))
            .join(format!("{name}.parquet"))
    }
}

/// A point whose trials were written.
#[derive(Debug)]
struct WrittenPoint {
    /// Without its trials.
    point: PointTrials,
    counts: TrialCounts,
    samples: Vec<Sample>,
}

/// Writes the trials of one evaluation on one task, one point at a time. Nothing is visible before
/// [`finish`](Self::finish) moves both files into place; dropping the writer discards them.
#[derive(Debug)]
pub struct UnitWriter {
    eval: EvalInfo,
    task: String,
    pair: String,
    trials: OpenFile,
    rows: TrialRows,
    points: Vec<WrittenPoint>,
    /// The index of each point in `points`, and its trials by index and repeat.
    seen: HashMap<String, (usize, HashSet<(u64, u32)>)>,
    study: PathBuf,
    publication: Arc<Publication>,
}

impl UnitWriter {
    /// Starts a pair of files in a study directory.
    ///
    /// # Errors
    /// A [`PointsError`] if the directory can't be written.
    pub fn new(study: &Path, eval: EvalInfo, task: &str) -> Result<Self, PointsError> {
        Self::within(&Publication::new(study)?, study, eval, task)
    }

    /// Starts a pair of files that readers see together with others.
    pub(crate) fn within(
        publication: &Arc<Publication>,
        study: &Path,
        eval: EvalInfo,
        task: &str,
    ) -> Result<Self, PointsError> {
        let publication = Arc::clone(publication);
        let pair = publication.next_pair();
        let trials = OpenFile::create(FileKind::Trials, study, &eval, task, &pair, &publication)?;
        Ok(Self {
            rows: TrialRows::default(),
            points: Vec::new(),
            seen: HashMap::new(),
            study: study.to_owned(),
            task: task.to_owned(),
            eval,
            pair,
            trials,
            publication,
        })
    }

    /// The evaluation.
    pub(crate) fn eval(&self) -> &EvalInfo {
        &self.eval
    }

    /// The task.
    pub(crate) fn task(&self) -> &str {
        &self.task
    }

    /// Number of trials written so far.
    pub(crate) fn trial_count(&self) -> u64 {
        self.points.iter().map(|point| point.counts.n).sum()
    }

    /// Writes a point. Duplicate trials are written once, even if the point itself is given twice.
    ///
    /// # Errors
    /// A [`PointsError`] if writing fails, for example because the disk is full.
    pub fn write_point(&mut self, mut point: PointTrials) -> Result<(), PointsError> {
        let trials = std::mem::take(&mut point.trials);
        let (index, seen) = self.seen.entry(point.params.clone()).or_insert_with(|| {
            let counts = TrialCounts::default();
            self.points.push(WrittenPoint { point: point.clone(), counts, samples: Vec::new() });
            (self.points.len() - 1, HashSet::new())
        });
        let WrittenPoint { point: known, counts, samples } = &mut self.points[*index];
        known.weight = known.weight.or(point.weight);
        known.rule = known.rule.or(point.rule);
        for manifold in point.manifolds {
            if !known.manifolds.contains(&manifold) {
                known.manifolds.push(manifold);
            }
        }
        for trial in trials {
            if seen.insert((trial.index, trial.repeat)) {
                counts.add(&trial);
                samples.push(Sample::from(&trial));
                self.rows.push(&self.eval, &self.task, &point.params, trial);
                if self.rows.len() >= BATCH {
                    self.trials.write(&self.rows.take())?;
                }
            }
        }
        counts.planned = counts.planned.max(point.planned);
        Ok(())
    }

    /// Moves both files into place and returns the number of trials in them.
    ///
    /// # Errors
    /// A [`PointsError`] if writing fails, for example because the disk is full; existing files are then unchanged.
    pub fn finish(self, provenance: &Provenance) -> Result<TrialCounts, PointsError> {
        let publication = Arc::clone(&self.publication);
        let total = self.replace(provenance)?;
        publication.commit()?;
        Ok(total)
    }

    /// Moves both files into place, where readers see them once the publication is committed.
    pub(crate) fn replace(mut self, provenance: &Provenance) -> Result<TrialCounts, PointsError> {
        self.trials.write(&self.rows.take())?;
        let mut points = OpenFile::create(
            FileKind::Points,
            &self.study,
            &self.eval,
            &self.task,
            &self.pair,
            &self.publication,
        )?;
        points.write(&point_rows(&self.eval, &self.task, &mut self.points))?;
        for file in [self.trials.close(provenance)?, points.close(provenance)?] {
            let entry = inspect(file.temp.path(), file.kind, None)?.hash_all()?;
            self.publication.replace(file.temp, &file.path, entry)?;
        }
        let mut total = TrialCounts::default();
        for point in &self.points {
            total += point.counts;
        }
        Ok(total)
    }
}

/// A temporary file that is being written next to its final path.
#[derive(Debug)]
struct OpenFile {
    writer: ArrowWriter<BufWriter<NamedTempFile>>,
    path: PathBuf,
    kind: FileKind,
}

/// A file that is complete and synced to disk, but not yet moved to its final path.
struct ClosedFile {
    temp: NamedTempFile,
    path: PathBuf,
    kind: FileKind,
}

impl OpenFile {
    fn create(
        kind: FileKind,
        study: &Path,
        eval: &EvalInfo,
        task: &str,
        pair: &str,
        publication: &Publication,
    ) -> Result<Self, PointsError> {
        let path = kind.path(study, &eval.eval_id, task);
        let dir = path.parent().expect("the path has a parent directory");
        std::fs::create_dir_all(dir).map_err(PointsError::io("create the directory", dir))?;
        let mut builder = tempfile::Builder::new();
        let prefix = publication.temp_prefix();
        builder.prefix(&prefix);
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let file = builder.tempfile_in(dir).map_err(PointsError::io("write in", dir))?;
        // Parquet's own types are sufficient; an embedded Arrow schema would be one more thing that can be damaged.
        let options = ArrowWriterOptions::new()
            .with_properties(properties(kind, eval, task, pair))
            .with_skip_arrow_metadata(true);
        let writer =
            ArrowWriter::try_new_with_options(BufWriter::new(file), Arc::clone(kind.schema()), options)
                .map_err(|error| failed(&path, &error))?;
        Ok(Self { writer, path, kind })
    }

    fn write(&mut self, batch: &RecordBatch) -> Result<(), PointsError> {
        if batch.num_rows() == 0 {
            return Ok(());
        }
        self.writer.write(batch).map_err(|error| failed(&self.path, &error))
    }

    fn close(mut self, provenance: &Provenance) -> Result<ClosedFile, PointsError> {
        self.writer.append_key_value_metadata(KeyValue::new(key::PROVENANCE.to_owned(), json(provenance)));
        let file = self.writer.into_inner().map_err(|error| failed(&self.path, &error))?;
        let file =
            file.into_inner().map_err(|error| PointsError::io("write", &self.path)(error.into_error()))?;
        file.as_file().sync_all().map_err(PointsError::io("write", &self.path))?;
        Ok(ClosedFile { temp: file, path: self.path, kind: self.kind })
    }
}

fn failed(path: &Path, error: &ParquetError) -> PointsError {
    PointsError::Write { path: path.to_owned(), problem: parquet_message(error) }
}

fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).expect("plain structures serialize to JSON")
}

/// Columns of trials with few distinct values per file, which a dictionary encodes in a few bits.
const FEW_VALUES: [&str; 10] =
    ["eval_id", "model", "template", "sampler", "base_task", "repeat", "status", "guess", "finish", "method"];

fn properties(kind: FileKind, eval: &EvalInfo, task: &str, pair: &str) -> WriterProperties {
    let entry = |key: &str, value: String| KeyValue::new(key.to_owned(), value);
    // Setting up a decompressor takes longer than reading a column that is short or dictionary-encoded.
    let compression = match kind {
        FileKind::Trials => Compression::ZSTD(ZstdLevel::default()),
        FileKind::Points => Compression::UNCOMPRESSED,
    };
    let mut builder = WriterProperties::builder()
        .set_created_by(concat!("reasonscape ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_compression(compression)
        .set_max_row_group_row_count(Some(ROW_GROUP))
        // A page index gains little in files of one row group, and has no checksum: the Parquet reader does unchecked
        // arithmetic on a corrupted one.
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_offset_index_disabled(true)
        .set_key_value_metadata(Some(vec![
            entry(key::FORMAT, schema::FORMAT.to_string()),
            entry(key::KIND, kind.name().to_owned()),
            entry(key::EVAL, json(eval)),
            entry(key::TASK, task.to_owned()),
            entry(key::PAIR, pair.to_owned()),
        ]));
    if kind == FileKind::Trials {
        // Each key occurs once, so neither a dictionary nor min/max statistics are useful.
        let column = ColumnPath::from("cache_key");
        builder = builder
            .set_column_dictionary_enabled(column.clone(), false)
            .set_column_statistics_enabled(column, EnabledStatistics::None);
        for name in FEW_VALUES {
            builder = builder.set_column_compression(ColumnPath::from(name), Compression::UNCOMPRESSED);
        }
    }
    builder.build()
}

/// Column builders for trials.
#[derive(Debug, Default)]
struct TrialRows {
    texts: [StringBuilder; 6],
    index: Int64Builder,
    repeat: Int32Builder,
    status: Int32Builder,
    guess: Float64Builder,
    numbers: [Int64Builder; 8],
    finish: StringBuilder,
    method: StringBuilder,
    answer: StringBuilder,
    target: StringBuilder,
    cache_key: StringBuilder,
    latency_us: Int64Builder,
    prob_correct: Float64Builder,
}

impl TrialRows {
    fn len(&self) -> usize {
        use datafusion::arrow::array::ArrayBuilder;
        self.index.len()
    }

    fn push(&mut self, eval: &EvalInfo, task: &str, params: &str, trial: Trial) {
        let identity = [&eval.eval_id, &eval.model, &eval.template, &eval.sampler, task, params];
        for (column, value) in self.texts.iter_mut().zip(identity) {
            column.append_value(value);
        }
        self.index.append_value(trial.index as i64);
        self.repeat.append_value(trial.repeat as i32);
        self.status.append_value(i32::from(trial.status.code()));
        self.guess.append_value(trial.guess);
        let numbers = [
            trial.prompt_tokens.map(|tokens| tokens as i64),
            trial.completion_tokens.map(|tokens| tokens as i64),
            trial.reasoning_tokens.map(|tokens| tokens as i64),
            Some(trial.latency_ms as i64),
            Some(trial.received_ms),
            Some(trial.reasoning_chars as i64),
            Some(trial.answer_chars as i64),
            Some(trial.compressed_size as i64),
        ];
        for (column, value) in self.numbers.iter_mut().zip(numbers) {
            column.append_option(value);
        }
        self.finish.append_value(trial.finish);
        self.method.append_value(trial.method);
        self.answer.append_option(trial.answer);
        self.target.append_value(trial.target);
        self.cache_key.append_value(trial.cache_key.to_string());
        self.latency_us.append_option(trial.latency_us.and_then(|latency| i64::try_from(latency).ok()));
        self.prob_correct.append_option(trial.prob_correct);
    }

    fn take(&mut self) -> RecordBatch {
        let mut columns: Vec<ArrayRef> = Vec::new();
        for column in &mut self.texts {
            columns.push(Arc::new(column.finish()));
        }
        columns.push(Arc::new(self.index.finish()));
        for column in [&mut self.repeat, &mut self.status] {
            columns.push(Arc::new(column.finish()));
        }
        columns.push(Arc::new(self.guess.finish()));
        for column in &mut self.numbers {
            columns.push(Arc::new(column.finish()));
        }
        for column in
            [&mut self.finish, &mut self.method, &mut self.answer, &mut self.target, &mut self.cache_key]
        {
            columns.push(Arc::new(column.finish()));
        }
        columns.push(Arc::new(self.latency_us.finish()));
        columns.push(Arc::new(self.prob_correct.finish()));
        RecordBatch::try_new(Arc::clone(&schema::TRIALS), columns).expect("columns as the schema has them")
    }
}

fn point_rows(eval: &EvalInfo, task: &str, points: &mut [WrittenPoint]) -> RecordBatch {
    let sums: Vec<PointSums> =
        points.iter_mut().map(|point| point_sums(&mut point.samples, point.point.rule)).collect();
    let points = &*points;
    let text = |value: &dyn Fn(&PointTrials) -> String| -> ArrayRef {
        let mut column = StringBuilder::new();
        for WrittenPoint { point, .. } in points {
            column.append_value(value(point));
        }
        Arc::new(column.finish())
    };
    let list = |value: &dyn Fn(&PointTrials) -> Vec<String>| -> ArrayRef {
        let item = Field::new("item", DataType::Utf8, false);
        let mut column = ListBuilder::new(StringBuilder::new()).with_field(item);
        for WrittenPoint { point, .. } in points {
            for item in value(point) {
                column.values().append_value(item);
            }
            column.append(true);
        }
        Arc::new(column.finish())
    };
    let number = |value: &dyn Fn(&TrialCounts) -> u64| -> ArrayRef {
        let mut column = Int64Builder::new();
        for WrittenPoint { counts, .. } in points {
            column.append_value(value(counts) as i64);
        }
        Arc::new(column.finish())
    };
    let mut guesses = Float64Builder::new();
    for WrittenPoint { counts, .. } in points {
        guesses.append_value(counts.g);
    }
    let mut columns = vec![
        text(&|_| eval.eval_id.clone()),
        text(&|_| eval.model.clone()),
        text(&|_| eval.template.clone()),
        text(&|_| eval.sampler.clone()),
        text(&|_| task.to_owned()),
        text(&|point| point.params.clone()),
        list(&|point| point.manifolds.clone()),
        list(&|_| eval.groups.clone()),
        number(&|counts| counts.planned),
        number(&|counts| counts.n),
        number(&|counts| counts.n_e),
        number(&TrialCounts::n_u),
        number(&|counts| counts.n_t),
        Arc::new(guesses.finish()),
        number(&|counts| counts.prompt_tokens.sum),
        number(&|counts| counts.prompt_tokens.n),
        number(&|counts| counts.completion_tokens.sum),
        number(&|counts| counts.completion_tokens.n),
        number(&|counts| counts.reasoning_tokens.sum),
        number(&|counts| counts.reasoning_tokens.n),
        number(&|counts| counts.latency_ms),
        number(&|counts| counts.compressed_size),
    ];
    columns.extend(sum_columns(&sums));
    let weights = points.iter().map(|point| point.point.weight.map(|weight| weight as i64));
    columns.push(Arc::new(weights.collect::<Int64Array>()));
    let rules = points.iter().map(|point| point.point.rule.map(|rule| rule.to_string()));
    columns.push(Arc::new(rules.collect::<StringArray>()));
    RecordBatch::try_new(Arc::clone(&schema::POINTS), columns).expect("columns as the schema has them")
}

/// The columns `problems` and [`SUM_COLUMNS`](schema::SUM_COLUMNS).
pub(crate) fn sum_columns(sums: &[PointSums]) -> Vec<ArrayRef> {
    let problems = sums.iter().map(|sums| sums.problems as i64).collect::<Int64Array>();
    let mut columns: Vec<ArrayRef> = vec![Arc::new(problems)];
    let values: [fn(&PointSums) -> f64; 6] =
        [|sums| sums.q, |sums| sums.c, |sums| sums.gm, |sums| sums.a, |sums| sums.b, |sums| sums.yy];
    for value in values {
        columns.push(Arc::new(sums.iter().map(value).collect::<Float64Array>()));
    }
    columns
}
