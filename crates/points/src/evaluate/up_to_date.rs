//! Finds files that are up to date.

use std::collections::HashMap;
use std::path::Path;

use datafusion::arrow::compute::concat_batches;
use reasonscape_cache::{CacheDiff, Reader, Watermark};
use reasonscape_study::Eval;

use crate::db::CountColumns;
use crate::files::{FileInfo, inspect};
use crate::schema;
use crate::write::FileKind;
use crate::{PointsError, TrialCounts};

/// Compares existing files with what has been added to the cache since they were written.
pub(super) struct UpToDate<'s> {
    study: &'s Path,
    reader: &'s Reader,
    changes: HashMap<Watermark, CacheDiff>,
}

impl<'s> UpToDate<'s> {
    pub(super) fn new(study: &'s Path, reader: &'s Reader) -> Self {
        Self { study, reader, changes: HashMap::new() }
    }

    /// The counts of the files of an evaluation on a task and the entries they were scored from, if scoring again would
    /// give the same result. `None` for missing or damaged files.
    pub(super) fn find(
        &mut self,
        eval: &Eval,
        task: &str,
        inputs: &str,
    ) -> Result<Option<(TrialCounts, u64)>, PointsError> {
        let file = |kind: FileKind| inspect(&kind.path(self.study, eval.id.as_str(), task), kind).ok();
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
        Ok(Some((counts, points.provenance.entries.unwrap_or(counts.n))))
    }
}

/// The total counts of a points file, or `None` if it can't be read.
pub(super) fn stored_counts(points: &FileInfo) -> Result<Option<TrialCounts>, PointsError> {
    let Ok(rows) = points.read(FileKind::Points) else { return Ok(None) };
    let rows = concat_batches(&schema::POINTS, &rows)?;
    Ok(Some(CountColumns::new(&rows)?.total()))
}
