//! Notices when the cache has lost responses that the trials on disk were scored from.

use std::collections::BTreeSet;
use std::path::Path;

use reasonscape_cache::{Cache, Watermark};

use crate::PointsError;
use crate::files::{discover, inspect};
use crate::write::FileKind;

/// How many responses the cache has lost since the trials of a study were scored; 0 if it holds them all, or if they were removed
/// by `cache prune`. Without a cache, all are lost. Reads the footers of the points files, and where one can't be read, those of the
/// trials files.
///
/// # Errors
/// A [`PointsError`] if the study's directory or the cache can't be read.
pub fn count_lost_responses(study: &Path, cache: Option<&Cache>) -> Result<u64, PointsError> {
    let (mut marks, is_complete) = marks(study, FileKind::Points)?;
    if !is_complete {
        marks.extend(self::marks(study, FileKind::Trials)?.0);
    }
    let Some(cache) = cache else {
        return Ok(marks.iter().map(Watermark::entries).max().unwrap_or(0));
    };
    let reader = cache.reader()?;
    let mut lost = 0;
    for mark in &marks {
        lost = lost.max(reader.lost_since(mark)?);
    }
    Ok(lost)
}

/// The states of the cache that files of this kind were scored from, and whether every file could be read.
fn marks(study: &Path, kind: FileKind) -> Result<(BTreeSet<Watermark>, bool), PointsError> {
    let (mut marks, mut is_complete) = (BTreeSet::new(), true);
    for path in discover(study, kind)? {
        match inspect(&path, kind, None) {
            Ok(file) if file.provenance.mark.entries() > 0 => drop(marks.insert(file.provenance.mark)),
            Ok(_) => {}
            Err(_) => is_complete = false,
        }
    }
    Ok((marks, is_complete))
}
