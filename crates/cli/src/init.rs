//! `reasonscape init`: a commented study to start from.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use reasonscape_study::Study;

use super::Global;
use crate::error::CliError;

/// Write a commented study.toml to start from
///
/// The file asks one model one small suite and explains everything else that can be set. An existing study is left
/// alone.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  reasonscape init my-study\n  reasonscape init other-problems --seed 7")]
pub(super) struct Init {
    /// Folder of the study; it is made if it is not there.
    #[arg(value_name = "DIR", default_value = ".")]
    folder: PathBuf,
    /// Global seed of the study: another one gives other problems at the same points.
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    seed: Option<i64>,
}

impl Init {
    pub(super) fn run(self, global: Global) -> Result<(), CliError> {
        let file = write_study(&self.folder, self.seed)?;
        global.note(format_args!(
            "wrote `{}`; set `model` and `base_url` in it, then `reasonscape plan {}` says what a run would ask",
            file.display(),
            self.folder.display()
        ));
        Ok(())
    }
}

/// Writes the study into the folder, unless there is one.
fn write_study(folder: &Path, seed: Option<i64>) -> Result<PathBuf, CliError> {
    let file = folder.join(Study::FILE);
    fs::create_dir_all(folder)
        .with_context(|| format!("failed to make the folder `{}`", folder.display()))
        .map_err(CliError::Input)?;
    let failed = || format!("failed to write `{}`", file.display());
    let mut study = match OpenOptions::new().write(true).create_new(true).open(&file) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            return Err(CliError::input(format!(
                "`{}` is there already and is left as it is; name another folder, as in `reasonscape init other`",
                file.display()
            )));
        }
        opened => opened.with_context(failed).map_err(CliError::Input)?,
    };
    let text = match seed {
        Some(seed) => Study::COMMENTED.replace("# seed = 0\n", &format!("seed = {seed}\n")),
        None => Study::COMMENTED.to_owned(),
    };
    let written = study.write_all(text.as_bytes()).and_then(|()| study.sync_all());
    written.with_context(failed).map_err(|error| {
        // Half a study would stand in the way of the next try.
        let _ = fs::remove_file(&file);
        CliError::Internal(error)
    })?;
    Ok(file)
}
