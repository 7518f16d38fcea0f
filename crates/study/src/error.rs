//! Why a study is refused.

use reasonscape_providers::SecretError;

/// Why a study, or a suite, template or sampler that it names, is refused, and where.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StudyError {
    /// There is no study.
    #[error("there is no {origin}; `reasonscape init {dir}` writes one")]
    Missing {
        /// The file that was looked for.
        origin: String,
        /// The folder in which it should be.
        dir: String,
    },
    /// A file is there and cannot be read.
    #[error("failed to read {origin}")]
    Unreadable {
        /// The file.
        origin: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// A file says something wrong.
    #[error("{origin}: {}{problem}", line.map(|line| format!("line {line}: ")).unwrap_or_default())]
    Invalid {
        /// The file.
        origin: String,
        /// Line, from 1, where there is one to name.
        line: Option<usize>,
        /// What was found, what was expected, and how to mend it.
        problem: String,
    },
    /// Something is called by a name that nothing has.
    #[error("{problem}")]
    Unknown {
        /// The name, and those that there are.
        problem: String,
    },
    /// An environment variable does not hold what the study says it holds.
    #[error("the environment variable `{name}` {problem}; set it, as in `export {name}=…`, and try again")]
    Environment {
        /// The variable.
        name: String,
        /// What is wrong with it, without its value.
        problem: &'static str,
    },
}

impl StudyError {
    pub(crate) fn from_secret(error: SecretError) -> Self {
        Self::Environment { name: error.name, problem: error.problem }
    }

    /// The line that is wrong, from 1, where there is one to name.
    pub fn line(&self) -> Option<usize> {
        match self {
            Self::Invalid { line, .. } => *line,
            _ => None,
        }
    }
}
