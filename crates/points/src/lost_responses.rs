//! Notices when the cache has lost responses that the trials on disk were scored from.

use std::collections::BTreeSet;
use std::path::Path;

use reasonscape_cache::{Cache, Watermark};

use crate::PointsError;
use crate::files::{discover, inspect};
use crate::write::FileKind;

/// How many responses the cache has lost since the trials of a study were scored; 0 if it holds them all, or if they were removed
/// by `cache prune`. Without a cache, all are lost. Reads the footers of the points files; a file that can't be read is left
/// to whoever needs its contents.
///
/// # Errors
/// A [`PointsError`] if the study's directory or the cache can't be read.
pub fn count_lost_responses(study: &Path, cache: Option<&Cache>) -> Result<u64, PointsError> {
    let marks: BTreeSet<_> = discover(study, FileKind::Points)?
        .iter()
        .filter_map(|path| inspect(path, FileKind::Points, None).ok())
        .map(|file| file.provenance.mark)
        .filter(|mark| mark.entries() > 0)
        .collect();
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
