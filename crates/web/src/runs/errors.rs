//! Errors of runs for clients, without paths of the server.

use std::error::Error;
use std::io::{self, ErrorKind};

use axum::http::StatusCode;
use reasonscape_cache::CacheError;
use reasonscape_core::LineError;
use reasonscape_pipeline::RunError;
use reasonscape_study::StudyError;

use crate::error::ApiError;
use reasonscape_ingest::dataset_reader::{describe_problems, lines_are};

/// Why the files of a run could not be written.
#[derive(Debug, thiserror::Error)]
pub(super) enum StudyFileError {
    #[error(transparent)]
    Study(#[from] StudyError),
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl From<&StudyFileError> for ApiError {
    fn from(error: &StudyFileError) -> Self {
        match error {
            StudyFileError::Study(error) => study_error(error),
            StudyFileError::Io(error) => io_error(error),
        }
    }
}

pub(super) fn conflict(message: &str) -> ApiError {
    ApiError::new(StatusCode::CONFLICT, message)
}

/// The error for a file that could not be written.
pub(super) fn io_error(error: &io::Error) -> ApiError {
    tracing::error!(%error, "a file of a run could not be written");
    // An error with a path has the file system error as its source.
    let root = error.source().and_then(|source| source.downcast_ref::<io::Error>()).unwrap_or(error);
    match root.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => ApiError::new(
            StatusCode::INSUFFICIENT_STORAGE,
            "the disk of the server is full; free some space and try again",
        ),
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => ApiError::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "the server has no write permission in the study directory",
        ),
        _ => ApiError::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "the file could not be written; `reasonscape serve --log warn` logs the error",
        ),
    }
}

/// The error for a cache that could not be opened.
pub(super) fn cache_error(error: &CacheError) -> ApiError {
    let mut root: &dyn Error = error;
    while let Some(source) = root.source() {
        root = source;
    }
    if error.is_input() {
        return ApiError::bad_request(root);
    }
    if let Some(error) = root.downcast_ref::<io::Error>() {
        return io_error(error);
    }
    tracing::error!(%error, "the cache could not be opened");
    ApiError::new(
        StatusCode::INTERNAL_SERVER_ERROR,
        "the response cache can't be opened; `reasonscape serve --log warn` logs the error",
    )
}

pub(super) fn study_error(error: &StudyError) -> ApiError {
    match error {
        StudyError::Invalid { problem, .. } | StudyError::Unknown { problem } => {
            ApiError::bad_request(problem)
        }
        StudyError::Environment { name, problem } => ApiError::bad_request(format_args!(
            "the environment variable `{name}` of the server {problem}; enter the key for this run"
        )),
        error => {
            tracing::error!(%error, "a study can't be read");
            ApiError::bad_request("the study.toml of this run can't be read")
        }
    }
}

pub(super) fn run_error(error: &RunError) -> ApiError {
    match error {
        RunError::Study(error) => study_error(error),
        RunError::Selection(_) | RunError::Client { .. } => ApiError::bad_request(error),
        error => {
            tracing::error!(%error, "a run could not start");
            ApiError::new(
                StatusCode::INTERNAL_SERVER_ERROR,
                "the response cache of this study can't be read; `reasonscape cache verify` shows the problem",
            )
        }
    }
}

/// Every invalid line of a dataset.
pub(super) fn invalid_lines_error(problems: &[LineError]) -> ApiError {
    ApiError::bad_request(format_args!(
        "{} wrong:\n{}",
        lines_are(problems),
        describe_problems(problems).join("\n")
    ))
}

/// An error with its causes in one line, without the study directory.
pub(super) fn without_paths(error: &dyn Error, folder: &std::path::Path) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text.replace(&format!("{}/", folder.display()), "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_a_full_disk_without_the_path() {
        let error = io::Error::new(ErrorKind::StorageFull, "/home/me/study: no space left");
        let problem = io_error(&error);
        assert_eq!(problem.status, StatusCode::INSUFFICIENT_STORAGE);
        assert!(
            problem.message.contains("full") && !problem.message.contains("/home"),
            "{}",
            problem.message
        );
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn recognizes_a_full_disk_behind_an_error_that_names_the_path() {
        let file = std::path::Path::new("/dev/full");
        let written = reasonscape_study::write_file(file, |out| out.write_all(b"x"));
        assert_eq!(io_error(&written.unwrap_err()).status, StatusCode::INSUFFICIENT_STORAGE);
    }
}
