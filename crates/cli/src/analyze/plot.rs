//! `--plot`: draws the figure of an analysis.

use std::path::PathBuf;

use reasonscape_charts::{Figure, Kind};

use crate::Global;
use crate::error::CliError;
use crate::output::write_file;

/// Where to write the figure, if one is requested.
#[derive(Debug, clap::Args)]
pub(super) struct Plot {
    /// Also draw a figure to this file (.svg, .png, or .html for an interactive one).
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
}

impl Plot {
    /// Rejects an unknown file extension; call it before reading anything.
    pub(super) fn check(&self) -> Result<(), CliError> {
        self.kind().map(|_| ())
    }

    fn kind(&self) -> Result<Option<Kind>, CliError> {
        let kind = self.plot.as_deref().map(Kind::from_path).transpose();
        kind.map_err(|error| CliError::Input(error.into()))
    }

    /// Draws the figure if one is requested. The file is written atomically.
    pub(super) fn draw(&self, global: Global, figure: impl FnOnce() -> Figure) -> Result<(), CliError> {
        let (Some(path), Some(kind)) = (&self.plot, self.kind()?) else { return Ok(()) };
        let bytes = figure().bytes(kind).map_err(|error| CliError::Internal(error.into()))?;
        write_file(path, |out| Ok(out.write_all(&bytes)?))?;
        global.note(format_args!("wrote the figure to `{}`", path.display()));
        Ok(())
    }
}
