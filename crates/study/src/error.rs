//! Errors of study files.

use reasonscape_providers::SecretError;

/// Why a study, or a suite, template or sampler it refers to, is invalid, and where.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StudyError {
    /// The study file does not exist.
    #[error("{origin} not found; `reasonscape init {dir}` creates it")]
    Missing {
        /// The expected file.
        origin: String,
        /// The directory where it should be.
        dir: String,
    },
    /// A file exists but cannot be read.
    #[error("failed to read {origin}")]
    Unreadable {
        /// The file.
        origin: String,
        /// The I/O error.
        source: std::io::Error,
    },
    /// A file has an invalid value.
    #[error("{origin}: {}{problem}", line.map(|line| format!("line {line}: ")).unwrap_or_default())]
    Invalid {
        /// The file.
        origin: String,
        /// Line, from 1, if known.
        line: Option<usize>,
        /// What was found, what was expected, and how to fix it.
        problem: String,
    },
    /// An unknown name.
    #[error("{problem}")]
    Unknown {
        /// The name, and the available ones.
        problem: String,
    },
    /// An environment variable is not set or has an invalid value.
    #[error("the environment variable `{name}` {problem}; set it, as in `export {name}=…`, and try again")]
    Environment {
        /// The variable.
        name: String,
        /// The problem, without the variable's value.
        problem: &'static str,
    },
}

impl StudyError {
    pub(crate) fn from_secret(error: SecretError) -> Self {
        Self::Environment { name: error.name, problem: error.problem }
    }

    /// The invalid line, from 1, if known.
    pub fn line(&self) -> Option<usize> {
        match self {
            Self::Invalid { line, .. } => *line,
            _ => None,
        }
    }
}
