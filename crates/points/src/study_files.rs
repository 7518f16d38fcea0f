//! The trials and points files of one state of a study.

use std::path::Path;
use std::time::Duration;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::compute::concat_batches;
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

use crate::files::{FileInfo, discover, inspect};
use crate::manifest::{FoundManifest, Manifest, relative_name};
use crate::publish::{is_publishing, old_path};
use crate::write::FileKind;
use crate::{PointsError, schema};

/// How often to start over when files are replaced meanwhile, and how long to wait in between: about two seconds.
const MAX_ATTEMPTS: u32 = 100;
const RETRY_DELAY: Duration = Duration::from_millis(20);

/// A points file and its rows.
#[derive(Debug)]
pub(crate) struct PointsFile {
    pub(crate) info: FileInfo,
    pub(crate) rows: RecordBatch,
}

/// The files of one state.
pub(crate) struct StudyFiles {
    pub(crate) trials: Vec<FileInfo>,
    pub(crate) points: Vec<PointsFile>,
    /// The generation of the manifest, if there is one.
    pub(crate) generation: Option<u64>,
    /// What is unusual about the state.
    pub(crate) remarks: Vec<String>,
}

impl StudyFiles {
    /// Reads the footers of all files and the content of the points files. Starts over if the state changes meanwhile.
    pub(crate) fn load(study: &Path) -> Result<Self, PointsError> {
        let mut attempt = 1;
        loop {
            let before = Manifest::read(study)?;
            let loaded = Self::load_state(study, &before);
            // Every file is the one that the manifest listed, and stays open: it doesn't matter what replaces them meanwhile.
            if loaded.as_ref().is_ok_and(|files| before.valid().is_some_and(|found| files.are_all_of(found)))
            {
                return loaded;
            }
            let is_same = Manifest::read(study)? == before;
            let is_replaced = match &loaded {
                Err(PointsError::Changed { .. }) => true,
                Err(PointsError::Io { source, .. }) => source.kind() == std::io::ErrorKind::NotFound,
                _ => false,
            };
            if attempt == MAX_ATTEMPTS || is_same && !is_replaced {
                return loaded;
            }
            attempt += 1;
            std::thread::sleep(RETRY_DELAY);
        }
    }

    /// Whether these are exactly the files that a manifest lists.
    fn are_all_of(&self, manifest: &Manifest) -> bool {
        let infos = self.trials.iter().chain(self.points.iter().map(|file| &file.info));
        infos.clone().count() == manifest.files.len() && infos.into_iter().all(|file| file.is_listed)
    }

    fn load_state(study: &Path, manifest: &FoundManifest) -> Result<Self, PointsError> {
        let mut remarks = Vec::new();
        if let FoundManifest::Invalid(problem) = manifest {
            remarks.push(format!(
                "manifest.json can't be used ({problem}), so files are not compared with their hashes; `reasonscape \
                 evaluate` writes it again"
            ));
        }
        let manifest = manifest.valid();
        if manifest.is_some_and(|manifest| manifest.pending.iter().any(|id| !is_publishing(study, id))) {
            remarks.push(
                "`evaluate` was interrupted, so these are the results from before it; run `reasonscape evaluate` again"
                    .to_owned(),
            );
        }
        let load = |kind: FileKind| -> Result<Vec<FileInfo>, PointsError> {
            let files = discover(study, kind)?;
            let files = files.par_iter().map(|path| inspect_current(study, path, kind, manifest));
            Ok(files.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
        };
        let trials = load(FileKind::Trials)?;
        let points = discover(study, FileKind::Points)?;
        let points = points.par_iter().map(|path| {
            let Some(mut info) = inspect_current(study, path, FileKind::Points, manifest)? else {
                return Ok(None);
            };
            let rows = concat_batches(&schema::POINTS, &info.read(FileKind::Points)?)?;
            info.close();
            Ok(Some(PointsFile { info, rows }))
        });
        let points = points.collect::<Result<Vec<_>, PointsError>>()?.into_iter().flatten().collect();
        Ok(Self { trials, points, generation: manifest.map(|manifest| manifest.generation), remarks })
    }
}

/// The file that the manifest lists at this path, the unlisted file that is there, or `None` if it isn't part of the state.
pub(crate) fn inspect_current(
    study: &Path,
    path: &Path,
    kind: FileKind,
    manifest: Option<&Manifest>,
) -> Result<Option<FileInfo>, PointsError> {
    let Some(manifest) = manifest else { return inspect(path, kind, None).map(Some) };
    let Some(entry) = manifest.files.get(&relative_name(study, path)) else {
        let info = inspect(path, kind, None)?;
        return Ok(Some(info).filter(|info| !manifest.is_pending(&info.pair)));
    };
    let found = inspect(path, kind, Some(entry));
    if found.as_ref().is_ok_and(|info| info.is_listed) {
        return found.map(Some);
    }
    // It was replaced, and the new file belongs to a state that isn't complete.
    if let Ok(old) = inspect(&old_path(path, &entry.pair), kind, Some(entry))
        && old.is_listed
    {
        return Ok(Some(old));
    }
    let found = found?;
    if found.pair == entry.pair {
        return Err(PointsError::Corrupt {
            path: path.to_owned(),
            problem: "its footer does not match its hash in manifest.json".to_owned(),
        });
    }
    // Somebody else replaced it, such as an earlier version of this program.
    Ok(Some(found))
}
