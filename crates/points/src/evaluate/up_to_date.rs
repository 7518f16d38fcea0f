//! Finds files that are up to date.

use std::collections::HashMap;
use std::path::Path;

use datafusion::arrow::compute::concat_batches;
use reasonscape_cache::{CacheDiff, Reader, Watermark};
use reasonscape_study::Eval;

use crate::db::CountColumns;
use crate::files::{FileInfo, inspect};
use crate::manifest::{Manifest, relative_name};
use crate::schema;
use crate::write::FileKind;
use crate::{PointsError, TrialCounts};

/// What is known of a unit that has not changed.
pub(super) struct UnchangedUnit {
    /// The counts in its files.
    pub(super) counts: TrialCounts,
    /// The entries that they were scored from.
    pub(super) entries: u64,
    /// Entries that could not be read.
    pub(super) damaged: u64,
    /// Trials with a token count that is not believed.
    pub(super) implausible_usage: u64,
}

/// Compares existing files with what has been added to the cache since they were written.
pub(super) struct UpToDate<'s> {
    study: &'s Path,
    reader: &'s Reader,
    changes: HashMap<Watermark, CacheDiff>,
    manifest: Option<Manifest>,
}

impl<'s> UpToDate<'s> {
    pub(super) fn new(study: &'s Path, reader: &'s Reader) -> Self {
        let manifest = Manifest::read(study).ok().and_then(|found| found.valid().cloned());
        Self { study, reader, changes: HashMap::new(), manifest }
    }

    /// What is known of the files of an evaluation on a task, if scoring again would give the same result. `None` for missing
    /// or damaged files.
    pub(super) fn find(
        &mut self,
        eval: &Eval,
        task: &str,
        inputs: &str,
    ) -> Result<Option<UnchangedUnit>, PointsError> {
        let file = |kind: FileKind| self.sound_file(kind, eval, task);
        let (Some(trials), Some(points)) = (file(FileKind::Trials), file(FileKind::Points)) else {
            return Ok(None);
        };
        if trials.pair != points.pair || points.provenance.inputs != inputs {
            return Ok(None);
        }
        let mark = points.provenance.mark;
        if !self.changes.contains_key(&mark) {
            self.changes.insert(mark, self.reader.changes_since(&mark)?);
        }
        if self.changes[&mark].affects(&eval.model) {
            return Ok(None);
        }
        let Some(counts) = stored_counts(&points)?.filter(|counts| counts.n == trials.rows) else {
            return Ok(None);
        };
        let provenance = points.provenance;
        Ok(Some(UnchangedUnit {
            counts,
            entries: provenance.entries.unwrap_or(counts.n),
            damaged: provenance.damaged.unwrap_or(0),
            implausible_usage: provenance.implausible_usage.unwrap_or(0),
        }))
    }
}

impl UpToDate<'_> {
    /// The file of an evaluation and task, if its footer is what was written.
    fn sound_file(&self, kind: FileKind, eval: &Eval, task: &str) -> Option<FileInfo> {
        let path = kind.path(self.study, eval.id.as_str(), task);
        let listed =
            self.manifest.as_ref().and_then(|manifest| manifest.files.get(&relative_name(self.study, &path)));
        let info = inspect(&path, kind, listed).ok()?;
        let is_damaged = !info.is_listed && listed.is_some_and(|entry| entry.pair == info.pair);
        (!is_damaged).then_some(info)
    }
}

/// The total counts of a points file, or `None` if it can't be read.
pub(super) fn stored_counts(points: &FileInfo) -> Result<Option<TrialCounts>, PointsError> {
    let Ok(rows) = points.read(FileKind::Points) else { return Ok(None) };
    let rows = concat_batches(&schema::POINTS, &rows)?;
    Ok(Some(CountColumns::new(&rows)?.total()))
}
