//! Recounts the points of a unit from its trials, if its counters can't be trusted or only some trials are selected.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use datafusion::arrow::array::{
    ArrayRef, AsArray, Float64Array, Int64Array, Int64Builder, RecordBatch, StringArray, new_null_array,
};
use datafusion::arrow::compute::{cast, concat_batches, max};
use datafusion::arrow::datatypes::{DataType, Field, Int64Type};
use datafusion::prelude::SessionContext;
use reasonscape_providers::Usage;

use super::columns::{IntColumn, RealColumn, TextColumn, TextListColumn, collect_batch, column};
use super::sums::UnitSamples;
use super::tables::{deduplicated, register_trials, text_list_builder};
use crate::files::FileInfo;
use crate::schema::{self, IDENTITY, SUM_COLUMNS};
use crate::{PointsError, TrialCounts};

/// Points recounted from their trials.
pub(super) struct RecomputedCounts {
    pub(super) points: RecordBatch,
    /// Trials that were stored more than once.
    pub(super) duplicates: u64,
}

/// Counts the trials of one evaluation on one task, or those of the `first` problems of each point. Of a trial that is
/// stored twice, the earlier response counts. Labels, manifolds and planned counts, which trials don't have, come from
/// the existing counters, trusted or not.
pub(super) async fn recount(
    session: &SessionContext,
    files: &[FileInfo],
    known: &[&RecordBatch],
    first: Option<u64>,
) -> Result<RecomputedCounts, PointsError> {
    let is_meant = first.map_or_else(|| "true".to_owned(), |first| format!("\"index\" < {first}"));
    session.deregister_table("stored")?;
    register_trials(session, "stored", files)?;
    let query = format!(
        "SELECT {identity}, count(*) AS stored, max(repeat) + 1 AS repeats,
            count(*) FILTER (WHERE {is_meant}) AS n,
            count(*) FILTER (WHERE status = 1 AND {is_meant}) AS n_e,
            count(*) FILTER (WHERE status <> 2 AND {is_meant}) AS n_u,
            count(*) FILTER (WHERE status = 2 AND {is_meant}) AS n_t,
            coalesce(sum(guess) FILTER (WHERE status <> 2 AND {is_meant}), 0.0) AS g,
            {sums}
         FROM ({trials}) GROUP BY {identity} ORDER BY {identity}",
        identity = format_args!("eval_id, {}", IDENTITY.join(", ")),
        trials = deduplicated("stored"),
        sums = [
            ("prompt_tokens", true),
            ("completion_tokens", true),
            ("reasoning_tokens", true),
            ("latency_ms", false),
            ("compressed_size", false)
        ]
        .map(|(name, optional)| {
            let filter = format!("FILTER (WHERE {is_meant})");
            let counted =
                if optional { format!(", count({name}) {filter} AS {name}_n") } else { String::new() };
            format!("coalesce(sum({name}) {filter}, 0) AS {name}_sum{counted}")
        })
        .join(", "),
    );
    let counted = collect_batch(session.sql(&query).await?).await?;
    let repeats = cast(&column(&counted, "repeats"), &DataType::Int64)?;
    let repeats = max(repeats.as_primitive::<Int64Type>()).unwrap_or(1);
    let max_planned = first.map(|first| i64::try_from(first).unwrap_or(i64::MAX).saturating_mul(repeats));
    let known = KnownPoints::new(known, files, max_planned);
    let mut points = vec![known.add_to(&counted)?];
    points.extend(known.unanswered(&points[0])?);
    let points = concat_batches(&schema::POINTS, &points)?;
    let trials = format!(
        "SELECT params, \"index\", repeat, status, guess FROM ({}) WHERE {is_meant}",
        deduplicated("stored")
    );
    let mut samples = UnitSamples::default();
    samples.add(&collect_batch(session.sql(&trials).await?).await?, first)?;
    let points = samples.add_to(&points, files.iter().any(FileInfo::lacks_sums))?;
    let stored: u64 = files.iter().map(|file| file.rows).sum();
    let distinct: i64 = IntColumn::new(&counted, "stored").values().iter().sum();
    Ok(RecomputedCounts { points, duplicates: stored.saturating_sub(distinct as u64) })
}

/// The counters of the first problems of each point, of a unit whose counters are trusted: nothing is stored twice, and
/// every point of the trials is in `points`. Much faster than a query for each unit.
pub(super) fn count_first(
    points: &RecordBatch,
    trials: &FileInfo,
    first: u64,
) -> Result<RecordBatch, PointsError> {
    const OPTIONAL: [&str; 3] = ["prompt_tokens", "completion_tokens", "reasoning_tokens"];
    const COLUMNS: [&str; 10] = [
        "params",
        "index",
        "repeat",
        "status",
        "guess",
        "prompt_tokens",
        "completion_tokens",
        "reasoning_tokens",
        "latency_ms",
        "compressed_size",
    ];
    let first = i64::try_from(first).unwrap_or(i64::MAX);
    let mut counts: HashMap<String, TrialCounts> = HashMap::new();
    let mut samples = UnitSamples::default();
    let mut repeats = 1;
    for batch in trials.read_columns(&COLUMNS)? {
        samples.add(&batch, u64::try_from(first).ok())?;
        let params = TextColumn::new(&batch, "params");
        let guess = RealColumn::new(&batch, "guess");
        let [index, repeat, status, latency, size] =
            ["index", "repeat", "status", "latency_ms", "compressed_size"]
                .map(|name| IntColumn::new(&batch, name));
        let tokens = OPTIONAL.map(|name| {
            let mut values = Vec::new();
            IntColumn::new(&batch, name).append_to(&mut values, -1);
            values
        });
        for row in 0..batch.num_rows() {
            repeats = repeats.max(repeat.value(row) + 1);
            if index.value(row) >= first {
                continue;
            }
            if !counts.contains_key(params.value(row)) {
                counts.insert(params.value(row).to_owned(), TrialCounts::default());
            }
            let Some(point) = counts.get_mut(params.value(row)) else { continue };
            point.n += 1;
            match status.value(row) {
                1 => point.n_e += 1,
                2 => point.n_t += 1,
                _ => {}
            }
            if status.value(row) != 2 {
                point.g += guess.values()[row];
            }
            let means = [&mut point.prompt_tokens, &mut point.completion_tokens, &mut point.reasoning_tokens];
            for (mean, values) in means.into_iter().zip(&tokens) {
                if let Ok(tokens) = u64::try_from(values[row])
                    && tokens <= Usage::MAX_TOKENS
                {
                    mean.sum += tokens;
                    mean.n += 1;
                }
            }
            point.latency_ms += latency.value(row) as u64;
            point.compressed_size += size.value(row) as u64;
        }
    }
    let params = TextColumn::new(points, "params");
    let planned = IntColumn::new(points, "planned");
    let of_row = |row: usize| counts.get(params.value(row)).copied().unwrap_or_default();
    let column = |field: &Field| -> Option<ArrayRef> {
        let integers = |value: fn(&TrialCounts) -> u64| -> Option<ArrayRef> {
            let values = (0..points.num_rows()).map(|row| value(&of_row(row)) as i64);
            Some(Arc::new(values.collect::<Int64Array>()))
        };
        match field.name().as_str() {
            "planned" => {
                let max = first.saturating_mul(repeats);
                let values = (0..points.num_rows()).map(|row| planned.value(row).min(max));
                Some(Arc::new(values.collect::<Int64Array>()))
            }
            "n" => integers(|counts| counts.n),
            "n_e" => integers(|counts| counts.n_e),
            "n_u" => integers(TrialCounts::n_u),
            "n_t" => integers(|counts| counts.n_t),
            "g" => Some(Arc::new((0..points.num_rows()).map(|row| of_row(row).g).collect::<Float64Array>())),
            "prompt_tokens_sum" => integers(|counts| counts.prompt_tokens.sum),
            "prompt_tokens_n" => integers(|counts| counts.prompt_tokens.n),
            "completion_tokens_sum" => integers(|counts| counts.completion_tokens.sum),
            "completion_tokens_n" => integers(|counts| counts.completion_tokens.n),
            "reasoning_tokens_sum" => integers(|counts| counts.reasoning_tokens.sum),
            "reasoning_tokens_n" => integers(|counts| counts.reasoning_tokens.n),
            "latency_ms_sum" => integers(|counts| counts.latency_ms),
            "compressed_size_sum" => integers(|counts| counts.compressed_size),
            _ => None,
        }
    };
    let columns = points
        .schema()
        .fields()
        .iter()
        .zip(points.columns())
        .map(|(field, known)| column(field).unwrap_or_else(|| Arc::clone(known)))
        .collect();
    samples.add_to(&RecordBatch::try_new(points.schema(), columns)?, trials.lacks_sums())
}

/// Whether a column is computed from the samples of a point.
fn is_sum(column: &str) -> bool {
    column == "problems" || SUM_COLUMNS.contains(&column)
}

/// The properties of a point that its trials don't have.
#[derive(Default)]
struct KnownPoint {
    manifolds: Vec<String>,
    planned: i64,
    weight: Option<i64>,
    stop_rule: Option<String>,
}

/// Properties of points that are not stored in trials.
struct KnownPoints<'a> {
    known: &'a [&'a RecordBatch],
    groups: &'a [String],
    /// Maximum number of planned trials of a point.
    max_planned: Option<i64>,
}

impl<'a> KnownPoints<'a> {
    fn new(known: &'a [&'a RecordBatch], files: &'a [FileInfo], max_planned: Option<i64>) -> Self {
        let latest = files.iter().max_by_key(|file| file.provenance.evaluated_ms);
        Self { known, groups: latest.map_or(&[], |file| &file.eval.groups), max_planned }
    }

    /// The counted points with the columns that their trials do not have.
    fn add_to(&self, counted: &RecordBatch) -> Result<RecordBatch, PointsError> {
        let params = TextColumn::new(counted, "params");
        let n = IntColumn::new(counted, "n");
        let mut manifolds = text_list_builder();
        let mut groups = text_list_builder();
        let mut planned = Int64Builder::new();
        let (mut weights, mut rules) = (Vec::new(), Vec::new());
        for row in 0..counted.num_rows() {
            let known = self.find(params.value(row)).unwrap_or_default();
            for manifold in known.manifolds {
                manifolds.values().append_value(manifold);
            }
            manifolds.append(true);
            for group in self.groups {
                groups.values().append_value(group);
            }
            groups.append(true);
            planned.append_value(known.planned.max(n.value(row)));
            weights.push(known.weight);
            rules.push(known.stop_rule);
        }
        let added: [(&str, ArrayRef); 5] = [
            ("manifolds", Arc::new(manifolds.finish())),
            ("groups", Arc::new(groups.finish())),
            ("planned", Arc::new(planned.finish())),
            ("weight", Arc::new(weights.into_iter().collect::<Int64Array>())),
            ("stop_rule", Arc::new(rules.into_iter().collect::<StringArray>())),
        ];
        let columns = schema::POINTS
            .fields()
            .iter()
            .map(|field| match added.iter().find(|(name, _)| name == field.name()) {
                Some((_, column)) => Ok(Arc::clone(column)),
                None if is_sum(field.name()) => Ok(new_null_array(field.data_type(), counted.num_rows())),
                None => Ok(cast(&column(counted, field.name()), field.data_type())?),
            })
            .collect::<Result<Vec<ArrayRef>, PointsError>>()?;
        Ok(RecordBatch::try_new(Arc::clone(&schema::POINTS), columns)?)
    }

    /// The points without any trial.
    fn unanswered(&self, counted: &RecordBatch) -> Result<Vec<RecordBatch>, PointsError> {
        let mut seen: HashSet<String> =
            TextColumn::new(counted, "params").present().map(ToOwned::to_owned).collect();
        let mut found = Vec::new();
        for rows in self.known {
            let (params, n) = (TextColumn::new(rows, "params"), IntColumn::new(rows, "n"));
            for row in 0..rows.num_rows() {
                if n.value(row) == 0 && seen.insert(params.optional(row).unwrap_or_default().to_owned()) {
                    found.push(self.with_planned(&rows.slice(row, 1))?);
                }
            }
        }
        Ok(found)
    }

    /// The same points, with the planned counts limited.
    fn with_planned(&self, points: &RecordBatch) -> Result<RecordBatch, PointsError> {
        let Some(max_planned) = self.max_planned else { return Ok(points.clone()) };
        let planned = IntColumn::new(points, "planned");
        let planned = planned.values().iter().map(|planned| *planned.min(&max_planned));
        let mut columns = points.columns().to_vec();
        columns[points.schema().index_of("planned")?] = Arc::new(planned.collect::<Int64Array>());
        Ok(RecordBatch::try_new(points.schema(), columns)?)
    }

    fn find(&self, params: &str) -> Option<KnownPoint> {
        self.known.iter().find_map(|rows| {
            let known = TextColumn::new(rows, "params");
            let row = (0..rows.num_rows()).find(|row| known.value(*row) == params)?;
            let planned = IntColumn::new(rows, "planned").value(row);
            Some(KnownPoint {
                manifolds: TextListColumn::new(rows, "manifolds").value(row),
                planned: self.max_planned.map_or(planned, |max| planned.min(max)),
                weight: IntColumn::new(rows, "weight").optional(row),
                stop_rule: TextColumn::new(rows, "stop_rule").optional(row).map(ToOwned::to_owned),
            })
        })
    }
}
