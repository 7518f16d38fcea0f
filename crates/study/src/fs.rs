//! Replacing files atomically.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

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
    let mut builder = tempfile::Builder::new();
    builder.prefix(".reasonscape-");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut out = BufWriter::new(builder.tempfile_in(dir).map_err(failed)?);
    write(&mut out)?;
    let file = out.into_inner().map_err(|error| failed(error.into_error()))?;
    file.as_file().sync_all().map_err(failed)?;
    file.persist(&target).map_err(|error| failed(error.error))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

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
