//! Replacing files of a study atomically.
// removed when all users name `reasonscape_study::{write_file, write_study}`, which have the same signatures

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use reasonscape_runner::{Study, StudyError};

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
/// What `write` returns, or an [`io::Error`] that names the path; its source is the error of the file system.
pub fn write_file<E: From<io::Error>>(
    path: &Path,
    write: impl FnOnce(&mut (dyn Write + Send)) -> Result<(), E>,
) -> Result<(), E> {
    let failed = |source: io::Error| io::Error::other(WriteError { path: path.to_owned(), source });
    // What a link points to is replaced, not the link.
    let target = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    if std::fs::metadata(&target).is_ok_and(|found| !found.is_file()) {
        // A pipe or a device cannot be replaced; a folder is refused by the system.
        let mut out = BufWriter::new(File::create(&target).map_err(failed)?);
        write(&mut out)?;
        return Ok(out.flush().map_err(failed)?);
    }
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    builder.prefix(".reasonscape-");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut out = BufWriter::new(builder.tempfile_in(folder).map_err(failed)?);
    write(&mut out)?;
    let file = out.into_inner().map_err(|error| failed(error.into_error()))?;
    file.as_file().sync_all().map_err(failed)?;
    file.persist(&target).map_err(|error| failed(error.error))?;
    Ok(())
}

/// Checks the text of a study and writes it to the study's folder.
///
/// # Errors
/// The [`StudyError`] of an invalid text, for which no file is written, or the error of the file system.
pub fn write_study<E>(folder: &Path, text: &str) -> Result<Study, E>
where
    E: From<StudyError> + From<io::Error>,
{
    let study = Study::parse(text, folder)?;
    write_file(&folder.join(Study::FILE), |out| Ok::<_, E>(out.write_all(text.as_bytes())?))?;
    Ok(study)
}
