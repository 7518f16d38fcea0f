//! Replacing files atomically.

use std::fs::{File, TryLockError};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

/// Why a file could not be written.
#[derive(Debug, thiserror::Error)]
#[error("failed to write `{}`", path.display())]
struct WriteError {
    path: PathBuf,
    source: io::Error,
}

/// Writes a file that appears complete or not at all: an existing file stays until the new one is on disk.
///
/// # Errors
/// The error of `write`, or an [`io::Error`] that names the path. Its kind is always [`io::ErrorKind::Other`], so that
/// callers don't mistake it for a failure of standard output.
pub fn write_file<E: From<io::Error>>(
    path: &Path,
    write: impl FnOnce(&mut (dyn Write + Send)) -> Result<(), E>,
) -> Result<(), E> {
    let failed = |source: io::Error| io::Error::other(WriteError { path: path.to_owned(), source });
    // Replaces the target of a symbolic link, not the link.
    let target = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    if std::fs::metadata(&target).is_ok_and(|found| !found.is_file()) {
        // A pipe or a device cannot be replaced; for a directory, the system returns an error.
        let mut out = BufWriter::new(File::create(&target).map_err(failed)?);
        write(&mut out)?;
        return Ok(out.flush().map_err(failed)?);
    }
    let dir = target.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut out = BufWriter::new(temp_file(dir, "").map_err(failed)?);
    write(&mut out)?;
    let file = out.into_inner().map_err(|error| failed(error.into_error()))?;
    file.as_file().sync_all().map_err(failed)?;
    file.persist(&target).map_err(|error| failed(error.error))?;
    Ok(())
}

/// Begins the names of temporary files. Not the prefix by which earlier versions recognize files to remove.
const TEMP_PREFIX: &str = ".tmp-reasonscape-";

/// Creates a temporary file beside its destination, and removes those of processes that were killed. Its process holds a lock
/// on it, by which others see that it is in use. (On Windows the lock would forbid to read it: there nothing is removed.)
///
/// # Errors
/// An [`io::Error`] if it can't be created.
pub fn temp_file(dir: &Path, suffix: &str) -> io::Result<NamedTempFile> {
    remove_dead_temp_files(dir);
    let mut builder = tempfile::Builder::new();
    builder.prefix(TEMP_PREFIX).suffix(suffix);
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    loop {
        let file = builder.tempfile_in(dir)?;
        if mark_as_used(file.as_file()) {
            return Ok(file);
        }
    }
}

/// A temporary directory, removed when it is dropped.
#[derive(Debug)]
pub struct TempDir {
    dir: tempfile::TempDir,
    _lock: Option<File>,
}

impl TempDir {
    /// As [`temp_file`], for a directory.
    ///
    /// # Errors
    /// An [`io::Error`] if it can't be created.
    pub fn new(parent: &Path) -> io::Result<Self> {
        remove_dead_temp_files(parent);
        loop {
            let dir = tempfile::Builder::new().prefix(TEMP_PREFIX).tempdir_in(parent)?;
            // Systems on which a directory can't be opened have no lock on it.
            let lock = File::open(dir.path()).ok();
            if lock.as_ref().is_none_or(mark_as_used) {
                return Ok(Self { dir, _lock: lock });
            }
        }
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        self.dir.path()
    }
}

/// Takes the lock of a temporary file. False if somebody who looks for files of dead processes was faster, and removes it. A file
/// system without locks has no such processes: they remove nothing there.
fn mark_as_used(file: &File) -> bool {
    !cfg!(unix) || !matches!(file.try_lock(), Err(TryLockError::WouldBlock))
}

fn remove_dead_temp_files(dir: &Path) {
    if !cfg!(unix) {
        return;
    }
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        let is_temporary = entry.file_name().to_string_lossy().starts_with(TEMP_PREFIX);
        // A file that can't be opened or locked may be in use.
        if is_temporary && File::open(&path).is_ok_and(|file| file.try_lock().is_ok()) {
            let is_dir = entry.file_type().is_ok_and(|found| found.is_dir());
            let _ = if is_dir { std::fs::remove_dir_all(&path) } else { std::fs::remove_file(&path) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn removes_temporary_files_of_dead_processes() {
        let dir = tempfile::tempdir().unwrap();
        let dead = dir.path().join(format!("{TEMP_PREFIX}dead.jsonl"));
        std::fs::write(&dead, "left behind").unwrap();
        let foreign = dir.path().join(".tmp-foreign");
        std::fs::write(&foreign, "").unwrap();
        let dead_dir = dir.path().join(format!("{TEMP_PREFIX}dir"));
        std::fs::create_dir_all(dead_dir.join("data")).unwrap();
        let in_use = temp_file(dir.path(), ".jsonl").unwrap();
        assert!(!dead.exists() && !dead_dir.exists() && foreign.exists());
        let dir_in_use = TempDir::new(dir.path()).unwrap();
        write_file(&dir.path().join("file"), |out| out.write_all(b"new")).unwrap();
        assert!(in_use.path().exists() && dir_in_use.path().exists());
        drop((in_use, dir_in_use));
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 2);
    }

    #[test]
    fn keeps_the_old_file_when_writing_fails() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        write_file(&path, |out| out.write_all(b"old")).unwrap();
        let error = write_file(&path, |out| {
            out.write_all(b"new")?;
            Err(io::Error::other("no more"))
        });
        assert_eq!(error.unwrap_err().to_string(), "no more");
        assert_eq!(std::fs::read(&path).unwrap(), b"old");
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn errors_name_the_path_and_the_cause() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("absent").join("file");
        let error = write_file(&path, |_| Ok::<_, io::Error>(())).unwrap_err();
        assert_eq!(error.to_string(), format!("failed to write `{}`", path.display()));
        assert!(std::error::Error::source(&error).is_some());
    }
}
