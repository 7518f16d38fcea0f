//! Keeps a pair of files that holds more trials than the one that would replace it.

use std::path::Path;

use serde::Serialize;

use super::up_to_date::stored_counts;
use crate::files::{FileInfo, inspect};
use crate::write::FileKind;
use crate::{Provenance, TrialCounts, UnitWriter};

/// Why the files of a unit were not replaced.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct KeptUnit {
    /// Trials in the files that were kept.
    pub trials: u64,
    /// Trials that the new files would have held.
    pub found: u64,
    /// What changed since the files were written.
    pub reason: String,
}

/// The existing files of a unit if they hold more trials than the new ones would, and their counts.
pub(super) fn larger_unit(
    study: &Path,
    writer: &UnitWriter,
    provenance: &Provenance,
) -> Option<(KeptUnit, TrialCounts)> {
    let file =
        |kind: FileKind| inspect(&kind.path(study, &writer.eval().eval_id, writer.task()), kind, None).ok();
    let (trials, points): (FileInfo, FileInfo) = (file(FileKind::Trials)?, file(FileKind::Points)?);
    let counts = stored_counts(&points).ok()??;
    let found = writer.trial_count();
    if trials.pair != points.pair || trials.rows <= found {
        return None;
    }
    let reason = reason(&trials.provenance, provenance);
    Some((KeptUnit { trials: trials.rows, found, reason }, counts))
}

/// Describes how the study or cache differs from the one the files were written from.
fn reason(then: &Provenance, now: &Provenance) -> String {
    if then.seed != now.seed {
        return format!("the seed of the study was {} and is now {}", then.seed, now.seed);
    }
    if then.task_version != now.task_version {
        return "the version of the task or dataset has changed".to_owned();
    }
    if then.suite_hash != now.suite_hash {
        return "the points or counts of the suite have changed".to_owned();
    }
    if now.mark.entries() < then.mark.entries() {
        return "the cache holds fewer entries now".to_owned();
    }
    "the requests of the study have changed (template, sampler, parameters or cache namespace), or entries were removed \
     from the cache"
        .to_owned()
}
