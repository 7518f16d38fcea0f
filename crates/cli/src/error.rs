//! The error type of the commands: message and exit code.

use std::fmt::Display;
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use reasonscape_analysis::AnalysisError;
use reasonscape_cache::CacheError;
use reasonscape_ingest::IngestError;
use reasonscape_limits::is_too_large;
use reasonscape_pipeline::{PipelineError, ResultsError};
use reasonscape_points::PointsError;
use reasonscape_runner::RunError;
use reasonscape_study::{FromDatasetError, SelectionError, StudyError};
use reasonscape_web::ServeError;

/// Why a command failed.
#[derive(Debug)]
pub(crate) enum CliError {
    /// Invalid input: exit code 2.
    Input(anyhow::Error),
    /// Any other failure: exit code 1.
    Internal(anyhow::Error),
    /// The help was printed because arguments are missing: exit code 2.
    Usage,
    /// Ctrl-C: exit code 130.
    Interrupted,
    /// The reader of standard output closed it; not an error.
    BrokenPipe,
}

impl CliError {
    /// Invalid input: one line with the value, what was expected, and a hint.
    pub(crate) fn input(message: impl Display) -> Self {
        Self::Input(anyhow::anyhow!("{message}"))
    }

    /// Whether files of the study were replaced while the command read them.
    pub(crate) fn is_study_changed(&self) -> bool {
        let Self::Internal(error) = self else { return false };
        matches!(error.downcast_ref(), Some(PointsError::Changed { .. }))
    }

    /// Prints the error to standard error and returns the exit code.
    pub(crate) fn report(self) -> ExitCode {
        let (error, code) = match self {
            Self::Input(error) => (error, 2),
            Self::Internal(error) => (error, 1),
            Self::Usage => return ExitCode::from(2),
            Self::Interrupted => return ExitCode::from(130),
            Self::BrokenPipe => return ExitCode::SUCCESS,
        };
        print_labeled(AnsiColor::Red, "error", format_args!("{error:#}"));
        ExitCode::from(code)
    }
}

impl From<std::io::Error> for CliError {
    fn from(error: std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::BrokenPipe => Self::BrokenPipe,
            _ if is_too_large(&error) => Self::Input(error.into()),
            _ => Self::Internal(error.into()),
        }
    }
}

impl From<StudyError> for CliError {
    fn from(error: StudyError) -> Self {
        Self::Input(error.into())
    }
}

impl From<RunError> for CliError {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Cache(error) => error.into(),
            RunError::Study(error) => error.into(),
            RunError::Selection(_) => Self::Input(error.into()),
            error => Self::Internal(error.into()),
        }
    }
}

impl From<SelectionError> for CliError {
    fn from(error: SelectionError) -> Self {
        Self::Input(error.into())
    }
}

impl From<AnalysisError> for CliError {
    fn from(error: AnalysisError) -> Self {
        match error {
            AnalysisError::Points(error) => error.into(),
            AnalysisError::Write(error) => error.into(),
            AnalysisError::Stopped => Self::Interrupted,
            error @ (AnalysisError::Input(_) | AnalysisError::Open { .. }) => Self::Input(error.into()),
            AnalysisError::Read { ref source, .. } if is_too_large(source) => Self::Input(error.into()),
            error => Self::Internal(error.into()),
        }
    }
}

impl From<ResultsError> for CliError {
    fn from(error: ResultsError) -> Self {
        match error {
            ResultsError::Io(error) => error.into(),
            ResultsError::Points(error) => error.into(),
            ResultsError::Analysis(error) => error.into(),
            error @ ResultsError::NoAnswers => Self::Internal(error.into()),
        }
    }
}

impl From<PipelineError> for CliError {
    fn from(error: PipelineError) -> Self {
        match error {
            PipelineError::Cache(error) => error.into(),
            PipelineError::Run(error) => error.into(),
            PipelineError::Results(error) => error.into(),
            PipelineError::Points(error) => error.into(),
            error @ PipelineError::LostResponses { .. } => Self::Internal(error.into()),
        }
    }
}

impl From<PointsError> for CliError {
    fn from(error: PointsError) -> Self {
        match error {
            PointsError::Cache(error) => error.into(),
            PointsError::Study(error) => error.into(),
            PointsError::Io { source, .. } if source.kind() == std::io::ErrorKind::BrokenPipe => {
                source.into()
            }
            error if error.is_input() => Self::Input(error.into()),
            error => Self::Internal(error.into()),
        }
    }
}

impl From<IngestError> for CliError {
    fn from(error: IngestError) -> Self {
        match error {
            IngestError::Io { source, .. } if source.kind() == std::io::ErrorKind::BrokenPipe => {
                source.into()
            }
            error if error.is_input() => Self::Input(error.into()),
            error => Self::Internal(error.into()),
        }
    }
}

impl From<ServeError> for CliError {
    fn from(error: ServeError) -> Self {
        match error {
            ServeError::Points(error) => error.into(),
        }
    }
}

impl From<CacheError> for CliError {
    fn from(error: CacheError) -> Self {
        if error.is_input() { Self::Input(error.into()) } else { Self::Internal(error.into()) }
    }
}

impl From<FromDatasetError> for CliError {
    fn from(error: FromDatasetError) -> Self {
        match error {
            FromDatasetError::Study(error) => error.into(),
            FromDatasetError::Io(error) => error.into(),
            FromDatasetError::Folder { .. } | FromDatasetError::Read { .. } => Self::Internal(error.into()),
            FromDatasetError::FileExists { .. }
            | FromDatasetError::OfSuite { .. }
            | FromDatasetError::OtherQuestions { .. } => {
                Self::input(format_args!("{error}; choose another directory with `--into`"))
            }
            FromDatasetError::OtherEndpoint { .. } => Self::input(error),
        }
    }
}

/// Prints a note to standard error.
pub(crate) fn note(message: impl Display) {
    print_labeled(AnsiColor::Cyan, "note", message);
}

fn print_labeled(color: AnsiColor, label: &str, message: impl Display) {
    use std::io::Write;

    let style = Style::new().bold().fg_color(Some(color.into()));
    let message = crate::output::on_terminal(&std::io::stderr(), message.to_string());
    // A closed standard error leaves nowhere to report the failure.
    let _ = writeln!(anstream::stderr(), "{style}{label}:{style:#} {message}");
}
