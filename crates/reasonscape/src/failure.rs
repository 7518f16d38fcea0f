//! How the program says that it could not do what was asked.

use std::fmt::Display;
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use reasonscape_analysis::AnalysisError;

/// Why a command ended without its result.
#[derive(Debug)]
pub(crate) enum Failure {
    /// What was given is wrong: exit code 2.
    Input(anyhow::Error),
    /// It should have worked and did not: exit code 1.
    Broken(anyhow::Error),
    /// The help was shown instead of a result: exit code 2.
    Usage,
    /// Somebody pressed Ctrl-C: exit code 130.
    Interrupted,
    /// Whoever read our output has gone away; there is nobody to tell.
    NobodyListens,
}

impl Failure {
    /// Wrong input, in one line that says what and how to mend it.
    pub(crate) fn input(message: impl Display) -> Self {
        Self::Input(anyhow::anyhow!("{message}"))
    }

    /// Says it on standard error and gives the exit code.
    pub(crate) fn report(self) -> ExitCode {
        let (error, code) = match self {
            Self::Input(error) => (error, 2),
            Self::Broken(error) => (error, 1),
            Self::Usage => return ExitCode::from(2),
            Self::Interrupted => return ExitCode::from(130),
            Self::NobodyListens => return ExitCode::SUCCESS,
        };
        say(AnsiColor::Red, "error", format_args!("{error:#}"));
        ExitCode::from(code)
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::BrokenPipe => Self::NobodyListens,
            _ => Self::Broken(error.into()),
        }
    }
}

impl From<AnalysisError> for Failure {
    fn from(error: AnalysisError) -> Self {
        match error {
            AnalysisError::Points(error) => error.into(),
            AnalysisError::Write(error) => error.into(),
            AnalysisError::Stopped => Self::Interrupted,
            error @ (AnalysisError::Input(_) | AnalysisError::Open { .. }) => Self::Input(error.into()),
            error => Self::Broken(error.into()),
        }
    }
}

/// A remark to the person at the terminal, beside the data.
pub(crate) fn note(message: impl Display) {
    say(AnsiColor::Cyan, "note", message);
}

fn say(color: AnsiColor, label: &str, message: impl Display) {
    use std::io::Write;

    let style = Style::new().bold().fg_color(Some(color.into()));
    // Nothing can be said about a standard error that is closed.
    let _ = writeln!(anstream::stderr(), "{style}{label}:{style:#} {message}");
}
