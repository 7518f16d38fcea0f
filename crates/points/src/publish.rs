//! Replaces files of a study so that readers see all of the new ones or none.
//!
//! 1. The manifest lists the files that are there, and names the publication as pending.
//! 2. Each old file gets a second, hidden name; then the new one is renamed over it. Readers continue with the old one: they
//!    read what the manifest lists, and skip files of a pending publication.
//! 3. The manifest lists the new files. The hidden names are removed.
//!
//! A publication that is killed leaves the old state, and whatever it put in place is taken over by the next one. A lock on a
//! file in the study directory lasts as long as its process, so that temporary files of dead processes can be removed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tempfile::NamedTempFile;

use crate::PointsError;
use crate::files::{discover, inspect};
use crate::manifest::{FileEntry, Manifest, publication_id, relative_name, sync_dir};
use crate::write::FileKind;

/// Begins the names of temporary files and locks.
const PREFIX: &str = ".reasonscape-";
/// Begins the second names of files that are being replaced.
const OLD_PREFIX: &str = ".reasonscape-old-";
/// Earlier versions didn't write their process into the name: such a file is removed when nobody can be writing it any more.
const UNNAMED_TMP_AGE: Duration = Duration::from_hours(24);

/// A change of the files of a study.
#[derive(Debug)]
pub(crate) struct Publication {
    study: PathBuf,
    id: String,
    /// Held until this process ends; absent on file systems without locks.
    _lock: Option<File>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    pairs: u64,
    is_announced: bool,
    /// What was put in place, by its path in the manifest.
    replaced: BTreeMap<String, FileEntry>,
}

impl Publication {
    /// Begins a change. Nothing is visible before the first file is replaced.
    pub(crate) fn new(study: &Path) -> Result<Arc<Self>, PointsError> {
        std::fs::create_dir_all(study).map_err(PointsError::io("create the directory", study))?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_nanos());
        for attempt in 0_u32.. {
            let id = format!("{now:x}-{:x}-{attempt:x}", std::process::id());
            let path = lock_path(study, &id);
            let file = match File::create_new(&path) {
                Ok(file) => file,
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => continue,
                Err(error) => return Err(PointsError::io("write in", study)(error)),
            };
            let lock = match file.try_lock() {
                Ok(()) => Some(file),
                // Somebody who looks for files of dead processes was faster, and removes it.
                Err(TryLockError::WouldBlock) => continue,
                Err(TryLockError::Error(_)) => None,
            };
            let state = Mutex::new(State::default());
            return Ok(Arc::new(Self { study: study.to_owned(), id, _lock: lock, state }));
        }
        unreachable!("one of 2^32 ids is free")
    }

    /// A new id for a pair of files.
    pub(crate) fn next_pair(&self) -> String {
        let mut state = self.state();
        state.pairs += 1;
        format!("{}-{:x}", self.id, state.pairs)
    }

    /// How names of its temporary files begin.
    pub(crate) fn temp_prefix(&self) -> String {
        format!("{PREFIX}{}-", self.id)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a complete file in place. Readers don't see it before [`commit`](Self::commit).
    pub(crate) fn replace(
        &self,
        file: NamedTempFile,
        path: &Path,
        entry: FileEntry,
    ) -> Result<(), PointsError> {
        let mut state = self.state();
        if !state.is_announced {
            self.announce()?;
            state.is_announced = true;
        }
        keep_old(path);
        file.persist(path).map_err(|error| PointsError::io("replace", path)(error.error))?;
        let dir = path.parent().unwrap_or(path);
        sync_dir(dir).map_err(PointsError::io("write", path))?;
        state.replaced.insert(relative_name(&self.study, path), entry);
        Ok(())
    }

    /// Names this publication in the manifest, which then lists everything that was there before.
    fn announce(&self) -> Result<(), PointsError> {
        let _turn = lock_manifest(&self.study);
        let mut manifest = read_manifest(&self.study)?;
        adopt(&self.study, &mut manifest)?;
        manifest.pending.push(self.id.clone());
        manifest.write(&self.study)
    }

    /// Makes the new files the state of the study.
    pub(crate) fn commit(&self) -> Result<(), PointsError> {
        let mut state = self.state();
        let _turn = lock_manifest(&self.study);
        let mut manifest = read_manifest(&self.study)?;
        for (name, entry) in std::mem::take(&mut state.replaced) {
            // Another process may have replaced it meanwhile, and be done already.
            let path = self.study.join(&name);
            if holds(&path, &entry) || holds(&old_path(&path, &entry.pair), &entry) {
                manifest.files.insert(name, entry);
            }
        }
        manifest.pending.retain(|id| *id != self.id && is_alive(&lock_path(&self.study, id)));
        adopt(&self.study, &mut manifest)?;
        manifest.write(&self.study)?;
        state.is_announced = false;
        remove_old_names(&self.study, &manifest);
        Ok(())
    }
}

impl Drop for Publication {
    fn drop(&mut self) {
        // Files in place without a commit stay invisible until the next publication takes it over.
        let _ = std::fs::remove_file(lock_path(&self.study, &self.id));
    }
}

/// Completes what a killed process began, and lists files that have no hashes yet. Does nothing where there is nothing to do
/// or nothing can be written.
pub(crate) fn tidy_up(study: &Path) {
    let Ok(manifest) = Manifest::read(study) else { return };
    let is_complete = manifest.valid().is_some_and(|manifest| {
        let names = [FileKind::Trials, FileKind::Points]
            .into_iter()
            .filter_map(|kind| discover(study, kind).ok())
            .flatten();
        let mut names = names.map(|path| relative_name(study, &path));
        manifest.pending.iter().all(|id| is_alive(&lock_path(study, id)))
            && names.all(|name| manifest.files.contains_key(&name))
    });
    let has_files = [FileKind::Trials, FileKind::Points]
        .iter()
        .any(|kind| discover(study, *kind).is_ok_and(|files| !files.is_empty()));
    if has_files && !is_complete {
        let _ = Publication::new(study).and_then(|publication| publication.commit());
    }
}

/// The manifest, or an empty one if there is none that can be used.
fn read_manifest(study: &Path) -> Result<Manifest, PointsError> {
    Ok(Manifest::read(study)?.valid().cloned().unwrap_or_default())
}

/// Lists the files that are in place and belong to no pending publication. A listed file that is damaged stays listed as it
/// should be.
fn adopt(study: &Path, manifest: &mut Manifest) -> Result<(), PointsError> {
    let mut present = BTreeSet::new();
    for kind in [FileKind::Trials, FileKind::Points] {
        for path in discover(study, kind)? {
            let name = relative_name(study, &path);
            present.insert(name.clone());
            let listed = manifest.files.get(&name);
            let Ok(info) = inspect(&path, kind, listed) else { continue };
            let is_listed = listed.is_some_and(|entry| {
                entry.pair == info.pair
                    || old_path(&path, &entry.pair).exists() && manifest.is_pending(&info.pair)
            });
            if is_listed || manifest.is_pending(&info.pair) {
                continue;
            }
            if let Ok(entry) = info.hash_all() {
                manifest.files.insert(name, entry);
            }
        }
    }
    manifest.files.retain(|name, _| present.contains(name));
    Ok(())
}

/// Whether a file is there and has this size and footer.
fn holds(path: &Path, entry: &FileEntry) -> bool {
    crate::file_source::FileSource::open(path)
        .is_ok_and(|(source, footer)| entry.matches(source.size(), &footer))
}

/// The second name of a file that is being replaced.
pub(crate) fn old_path(path: &Path, pair: &str) -> PathBuf {
    path.with_file_name(format!("{OLD_PREFIX}{pair}"))
}

/// Gives the file at a path its second name, if it has none and is a file of ours. Without hard links, readers that start
/// between two replacements see the new file.
fn keep_old(path: &Path) {
    let kind = [FileKind::Trials, FileKind::Points]
        .into_iter()
        .find(|kind| path.file_stem().is_some_and(|stem| stem == kind.name()));
    if let Some(old) = kind.and_then(|kind| inspect(path, kind, None).ok()) {
        let _ = std::fs::hard_link(path, old_path(path, &old.pair));
    }
}

/// Removes second names of files that the manifest doesn't list.
fn remove_old_names(study: &Path, manifest: &Manifest) {
    let is_needed =
        |pair: &str| manifest.files.values().any(|entry| entry.pair == pair) && !manifest.pending.is_empty();
    for path in hidden_files(study) {
        let pair = path.file_name().and_then(|name| name.to_str()?.strip_prefix(OLD_PREFIX));
        if pair.is_some_and(|pair| !is_needed(pair)) {
            let _ = std::fs::remove_file(&path);
        }
    }
}

/// Removes temporary files and locks of processes that have ended.
pub(crate) fn sweep(study: &Path) {
    for path in hidden_files(study) {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let Some(rest) = name.strip_prefix(PREFIX).filter(|_| !name.starts_with(OLD_PREFIX)) else {
            continue;
        };
        let is_left_behind = match rest.strip_suffix(".lock").or_else(|| publication_id(rest)) {
            Some(id) => !is_alive(&lock_path(study, id)),
            None => is_older_than(&path, UNNAMED_TMP_AGE),
        };
        if is_left_behind {
            let _ = std::fs::remove_file(&path);
        }
    }
}

/// Files whose names begin with a dot, in the study directory and its trials and points.
fn hidden_files(study: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut dirs = vec![study.to_owned()];
    while let Some(dir) = dirs.pop() {
        for entry in std::fs::read_dir(&dir).into_iter().flatten().flatten() {
            let (path, name) = (entry.path(), entry.file_name());
            let is_dir = path.is_dir();
            if name.to_string_lossy().starts_with('.') {
                if !is_dir {
                    found.push(path);
                }
            } else if is_dir && (dir != study || name == "trials" || name == "points") {
                dirs.push(path);
            }
        }
    }
    found
}

fn is_older_than(path: &Path, age: Duration) -> bool {
    let modified = std::fs::metadata(path).and_then(|metadata| metadata.modified());
    modified.is_ok_and(|modified| modified.elapsed().is_ok_and(|elapsed| elapsed > age))
}

fn lock_path(study: &Path, id: &str) -> PathBuf {
    study.join(format!("{PREFIX}{id}.lock"))
}

/// Whether the publication with this id may still be active.
pub(crate) fn is_publishing(study: &Path, id: &str) -> bool {
    is_alive(&lock_path(study, id))
}

/// Whether a process holds this lock. A file that can't be opened, such as another user's, may be held.
fn is_alive(lock: &Path) -> bool {
    match File::open(lock) {
        Ok(file) => file.try_lock_shared().is_err(),
        Err(error) => error.kind() != std::io::ErrorKind::NotFound,
    }
}

/// Waits for the turn to change the manifest. The lock is on the directory, so that no file is left behind; where a directory
/// can't be locked, two processes that publish at the same instant may lose one another's hashes.
fn lock_manifest(study: &Path) -> Option<File> {
    let dir = File::open(study).ok()?;
    dir.lock().ok()?;
    Some(dir)
}
