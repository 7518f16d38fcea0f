//! `--plot`: an analysis as a picture.

use std::path::PathBuf;

use reasonscape_charts::{Figure, Kind};

use crate::Global;
use crate::error::CliError;
use crate::output::write_file;

/// Where the picture goes, if one is wanted.
#[derive(Debug, clap::Args)]
pub(super) struct Plot {
    /// Draw it too, to a file that ends in .svg, .png or .html; the last can be looked at closer in a browser.
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
}

impl Plot {
    /// Refuses a file whose ending says no kind of picture; to be asked before anything is read.
    pub(super) fn check(&self) -> Result<(), CliError> {
        self.kind().map(|_| ())
    }

    fn kind(&self) -> Result<Option<Kind>, CliError> {
        let kind = self.plot.as_deref().map(Kind::from_path).transpose();
        kind.map_err(|error| CliError::Input(error.into()))
    }

    /// Draws the picture if one is wanted, and says where it is. The file appears whole or not at all.
    pub(super) fn draw(&self, global: Global, figure: impl FnOnce() -> Figure) -> Result<(), CliError> {
        let (Some(path), Some(kind)) = (&self.plot, self.kind()?) else { return Ok(()) };
        let bytes = figure().bytes(kind).map_err(|error| CliError::Internal(error.into()))?;
        write_file(path, |out| Ok(out.write_all(&bytes)?))?;
        global.note(format_args!("the picture is in `{}`", path.display()));
        Ok(())
    }
}
