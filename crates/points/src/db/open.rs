//! Opens a study: lists its files, decides which counters can be trusted, and recounts the others.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::OnceLock;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::compute::concat_batches;
use datafusion::prelude::{SessionConfig, SessionContext};
use rayon::iter::{IntoParallelIterator, IntoParallelRefIterator, ParallelIterator};

use super::columns::IntColumn;
use super::derived::generation;
use super::recount::{RecomputedCounts, count_first, recount};
use super::sums::UnitSamples;
use super::tables::Tables;
use super::{PointsDb, UnitProvenance};
use crate::files::{FileInfo, discover, inspect};
use crate::schema;
use crate::write::FileKind;
use crate::{EvalInfo, PointsError, Truncation};

/// The files of one evaluation on one task: one pair, unless files were copied.
#[derive(Default)]
struct Unit {
    trials: Vec<FileInfo>,
    points: Vec<PointsFile>,
}

#[derive(Debug)]
struct PointsFile {
    info: FileInfo,
    rows: RecordBatch,
}

impl PointsFile {
    fn read(info: FileInfo) -> Result<Self, PointsError> {
        let rows = concat_batches(&schema::POINTS, &info.read(FileKind::Points)?)?;
        Ok(Self { info, rows })
    }

    /// Number of trials in its counters.
    fn total(&self) -> u64 {
        IntColumn::new(&self.rows, "n").values().iter().map(|n| u64::try_from(*n).unwrap_or(0)).sum()
    }
}

impl Unit {
    /// Counters are trusted if there is one file of them and it was written together with the trials file. Counters
    /// without trials are trusted too, because studies can be published without their trials.
    fn has_trusted_counts(&self) -> bool {
        match (self.points.as_slice(), self.trials.as_slice()) {
            ([points], [trials]) => points.info.pair == trials.pair && points.total() == trials.rows,
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
    let trials = inspect_all(study, FileKind::Trials)?;
    let points = inspect_all(study, FileKind::Points)?;
    if trials.is_empty() && points.is_empty() {
        return Err(PointsError::Empty { study: study.to_owned() });
    }
    let evals = latest_evals(trials.iter().chain(&points));
    let sources = unit_provenances(trials.iter().chain(&points));
    let generation = generation(trials.iter().chain(&points).map(|file| file.pair.as_str()), first);
    let files = trials.clone();
    let mut truncation_unknown = BTreeSet::new();
    let mut imported: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    for FileInfo { eval, task, provenance, .. } in trials.iter().chain(&points) {
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
    let points: Vec<PointsFile> =
        points.into_par_iter().map(PointsFile::read).collect::<Result<_, PointsError>>()?;
    for file in points {
        units.entry((EvalKey::new(&file.info.eval), file.info.task.clone())).or_default().points.push(file);
    }

    let mut remarks = Vec::new();
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
                "the trials of `{}` on {} do not match their counters and were counted anew; `reasonscape evaluate` \
                 puts that right",
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

fn inspect_all(study: &Path, kind: FileKind) -> Result<Vec<FileInfo>, PointsError> {
    discover(study, kind)?.par_iter().map(|path| inspect(path, kind)).collect()
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
