//! Opens a study: lists its files, decides which counters can be trusted, and recounts the others.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, OnceLock};

use datafusion::arrow::array::{Int64Array, RecordBatch};
use datafusion::arrow::compute::concat_batches;
use datafusion::prelude::{SessionConfig, SessionContext};
use reasonscape_providers::Usage;

use super::columns::IntColumn;
use super::derived::generation;
use super::recount::{RecomputedCounts, count_first, recount};
use super::sums::UnitSamples;
use super::tables::Tables;
use super::{PointsDb, UnitProvenance};
use crate::files::FileInfo;
use crate::schema;
use crate::study_files::{PointsFile, StudyFiles};
use crate::{EvalInfo, PointsError, Provenance, Truncation};

/// The files of one evaluation on one task: one pair, unless files were copied.
#[derive(Default)]
struct Unit {
    trials: Vec<FileInfo>,
    points: Vec<PointsFile>,
}

/// Number of trials in the counters of a file.
fn total(points: &PointsFile) -> u64 {
    IntColumn::new(&points.rows, "n").values().iter().map(|n| u64::try_from(*n).unwrap_or(0)).sum()
}

impl Unit {
    /// Counters are trusted if there is one file of them and it was written together with the trials file. Counters
    /// without trials are trusted too, because studies can be published without their trials.
    fn has_trusted_counts(&self) -> bool {
        match (self.points.as_slice(), self.trials.as_slice()) {
            ([points], [trials]) => points.info.pair == trials.pair && total(points) == trials.rows,
            ([_], []) => true,
            _ => false,
        }
    }

    /// The points of a unit with trusted counters. Files of earlier formats have no sums over problems: they are computed
    /// from the trials, if there are any.
    fn trusted_points(self) -> Result<RecordBatch, PointsError> {
        let [points] = <[PointsFile; 1]>::try_from(self.points).expect("trusted counters are in one file");
        match self.trials.as_slice() {
            [trials] if points.info.lacks_sums() => UnitSamples::read(trials)?.add_to(&points.rows, true),
            _ => Ok(points.rows),
        }
    }

    /// Rejects trials whose indices do not number the problems, and counters without trials.
    fn check_order(&self) -> Result<(), PointsError> {
        let describe = |file: &FileInfo| format!("`{}` on {}", file.eval.model, file.task);
        if let Some(imported) = self.trials.iter().find(|file| !file.provenance.source.is_empty()) {
            return Err(PointsError::InvalidQuery(format!(
                "the first problems of {} are unknown: its trials were imported from {}, which does not number them",
                describe(imported),
                imported.provenance.source
            )));
        }
        if let ([], [points, ..]) = (self.trials.as_slice(), self.points.as_slice()) {
            return Err(PointsError::InvalidQuery(format!(
                "the first problems of {} are unknown: the study has its counters, but not its trials",
                describe(&points.info)
            )));
        }
        Ok(())
    }
}

pub(super) async fn open(study: &Path, first: Option<u64>) -> Result<PointsDb, PointsError> {
    let StudyFiles { trials, points, generation: manifest_generation, mut remarks } =
        StudyFiles::load(study)?;
    if trials.is_empty() && points.is_empty() {
        return Err(PointsError::Empty { study: study.to_owned() });
    }
    let infos = || trials.iter().chain(points.iter().map(|file| &file.info));
    let evals = latest_evals(infos());
    let sources = unit_provenances(infos());
    let generation = generation(infos().map(|file| file.pair.as_str()), first, manifest_generation);
    let files = trials.clone();
    let mut truncation_unknown = BTreeSet::new();
    let mut imported: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    for FileInfo { eval, task, provenance, .. } in infos() {
        if provenance.truncation == Truncation::Unknown {
            truncation_unknown.insert(eval.eval_id.clone());
        }
        if !provenance.source.is_empty() {
            imported.entry(eval.eval_id.clone()).or_default().insert(task.clone(), provenance.source.clone());
        }
    }

    let mut units: BTreeMap<(EvalKey, String), Unit> = BTreeMap::new();
    for file in trials {
        units.entry((EvalKey::new(&file.eval), file.task.clone())).or_default().trials.push(file);
    }
    for file in points {
        units.entry((EvalKey::new(&file.info.eval), file.info.task.clone())).or_default().points.push(file);
    }

    let mut rows = Vec::new();
    let mut duplicates = 0;
    // One thread, because floating-point sums depend on their order. One session for all units, because creating one takes
    // milliseconds.
    let session = SessionContext::new_with_config(SessionConfig::new().with_target_partitions(1));
    for unit in units.into_values() {
        let is_trusted = unit.has_trusted_counts();
        if is_trusted && first.is_none() {
            rows.push(unit.trusted_points()?);
            continue;
        }
        if let Some(first) = first {
            unit.check_order()?;
            if let (true, [points], [trials]) = (is_trusted, unit.points.as_slice(), unit.trials.as_slice()) {
                rows.push(count_first(&points.rows, trials, first)?);
                continue;
            }
        }
        let counted = recount_unit(&session, &unit, first).await?;
        if !is_trusted {
            remarks.push(format!(
                "the trials of `{}` on {} do not match their counters and were counted again; `reasonscape evaluate` \
                 repairs the counters",
                unit.trials[0].eval.model, unit.trials[0].task
            ));
        }
        duplicates += counted.duplicates;
        rows.push(counted.points);
    }
    if duplicates > 0 {
        remarks.push(format!("{duplicates} trials are stored more than once and count once"));
    }
    let points = concat_batches(&schema::POINTS, &rows)?;
    let has_repeats = files.iter().any(FileInfo::may_have_repeats);
    let (points, implausible) = without_implausible_sums(&points)?;
    if implausible > 0 {
        remarks.push(format!(
            "{implausible} points have token counts that no model can have, which are treated as missing; `reasonscape \
             evaluate` counts them again"
        ));
    }
    remarks.extend(unreadable_responses(&sources));
    let tables = Tables { trials: files, points, evals: &evals, has_duplicates: duplicates > 0, first };
    let (points, session) = tables.register().await?;
    Ok(PointsDb {
        study: study.to_owned(),
        generation,
        stores_derived: false,
        evals,
        sources,
        truncation_unknown,
        imported,
        remarks,
        manifest_generation,
        points,
        session,
        has_repeats,
        problem_clusters: OnceLock::new(),
    })
}

async fn recount_unit(
    session: &SessionContext,
    unit: &Unit,
    first: Option<u64>,
) -> Result<RecomputedCounts, PointsError> {
    if let ([], [one, other, ..]) = (unit.trials.as_slice(), unit.points.as_slice()) {
        return Err(PointsError::InvalidQuery(format!(
            "`{}` and `{}` have counters of the same points, but no trials to detect duplicates with; remove one",
            one.info.path.display(),
            other.info.path.display()
        )));
    }
    let known: Vec<&RecordBatch> = unit.points.iter().map(|file| &file.rows).collect();
    recount(session, &unit.trials, &known, first).await
}

/// The identity of an evaluation, from which its id is derived.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct EvalKey {
    model: String,
    template: String,
    sampler: String,
}

impl EvalKey {
    fn new(eval: &EvalInfo) -> Self {
        Self { model: eval.model.clone(), template: eval.template.clone(), sampler: eval.sampler.clone() }
    }
}

/// The evaluations of all files. Their names and labels are taken from the file that was written last.
fn latest_evals<'a>(files: impl Iterator<Item = &'a FileInfo>) -> Vec<EvalInfo> {
    let mut latest: BTreeMap<EvalKey, &FileInfo> = BTreeMap::new();
    for file in files {
        let known = latest.entry(EvalKey::new(&file.eval)).or_insert(file);
        if known.provenance.evaluated_ms < file.provenance.evaluated_ms {
            *known = file;
        }
    }
    latest.into_values().map(|file| file.eval.clone()).collect()
}

/// What the units could not use of the responses in the cache.
fn unreadable_responses(sources: &[UnitProvenance]) -> Vec<String> {
    let total = |count: fn(&Provenance) -> Option<u64>| -> u64 {
        sources.iter().filter_map(|source| count(&source.provenance)).sum()
    };
    let (damaged, implausible) =
        (total(|provenance| provenance.damaged), total(|provenance| provenance.implausible_usage));
    let mut remarks = Vec::new();
    if damaged > 0 {
        remarks.push(format!(
            "{damaged} damaged responses in the cache count as missing; `reasonscape cache prune --damaged` removes them, \
             and `reasonscape run` requests them again"
        ));
    }
    if implausible > 0 {
        remarks.push(format!(
            "{implausible} trials have no token count, because the endpoint claimed more than {} tokens",
            Usage::MAX_TOKENS
        ));
    }
    remarks
}

/// The points without sums of tokens that no model can have, and how many points had one. Files of earlier versions have
/// whatever an endpoint claimed.
fn without_implausible_sums(points: &RecordBatch) -> Result<(RecordBatch, usize), PointsError> {
    let mut columns = points.columns().to_vec();
    let mut implausible = BTreeSet::new();
    for name in ["prompt_tokens", "completion_tokens", "reasoning_tokens"] {
        let [sum_name, n_name] = ["sum", "n"].map(|part| format!("{name}_{part}"));
        let [sums, counts] = [&sum_name, &n_name].map(|name| IntColumn::new(points, name));
        let is_plausible = |row: usize| {
            let most = u64::try_from(counts.value(row)).unwrap_or(0).saturating_mul(Usage::MAX_TOKENS);
            u64::try_from(sums.value(row)).is_ok_and(|sum| sum <= most)
        };
        let bad: Vec<usize> = (0..points.num_rows()).filter(|row| !is_plausible(*row)).collect();
        if bad.is_empty() {
            continue;
        }
        implausible.extend(bad);
        for (name, values) in [(&sum_name, &sums), (&n_name, &counts)] {
            let values =
                (0..points.num_rows()).map(|row| if is_plausible(row) { values.value(row) } else { 0 });
            columns[points.schema().index_of(name)?] = Arc::new(values.collect::<Int64Array>());
        }
    }
    Ok((RecordBatch::try_new(points.schema(), columns)?, implausible.len()))
}

/// The provenance of each evaluation on each task, without duplicates.
fn unit_provenances<'a>(files: impl Iterator<Item = &'a FileInfo>) -> Vec<UnitProvenance> {
    let mut found: BTreeMap<(&str, &str), &FileInfo> = BTreeMap::new();
    for file in files {
        found.entry((&file.eval.eval_id, &file.task)).or_insert(file);
    }
    found
        .into_values()
        .map(|file| UnitProvenance {
            eval_id: file.eval.eval_id.clone(),
            task: file.task.clone(),
            provenance: file.provenance.clone(),
        })
        .collect()
}
