//! Arguments for reading a dataset.

use std::path::Path;

use reasonscape_core::{ColumnMap, Item, LineError};
use regex::Regex;

use crate::error::CliError;
use reasonscape_ingest::dataset_reader;
use reasonscape_ingest::dataset_reader::{DatasetError, describe_problems, lines_are};

/// How to read a dataset.
#[derive(Debug, clap::Args)]
pub(super) struct DatasetFormat {
    /// Names of the columns in the file, e.g. `input=question,target=answer`.
    #[arg(long, value_name = "FIELD=NAME,…")]
    map: Option<ColumnMap>,
    /// Regular expression that extracts the answer from the target (its first group, if any), e.g. `#### (.*)`.
    #[arg(long, value_name = "REGEX")]
    target_regex: Option<String>,
}

impl DatasetFormat {
    /// The first given option.
    pub(super) fn first_given_flag(&self) -> Option<&'static str> {
        match (&self.map, &self.target_regex) {
            (Some(_), _) => Some("--map"),
            (None, Some(_)) => Some("--target-regex"),
            (None, None) => None,
        }
    }

    /// Reads the items of a file. Reports all invalid lines at once.
    pub(super) fn items(&self, file: &Path) -> Result<Vec<Item>, CliError> {
        let format = dataset_reader::DatasetFormat {
            columns: self.map.clone().unwrap_or_default(),
            target: self.pattern()?,
        };
        format.items(file).map_err(|error| match error {
            DatasetError::File(error) => error.into(),
            DatasetError::Lines(problems) => {
                let is_missing_column = |problem: &LineError| problem.problem.starts_with("no `");
                let hint = if self.map.is_none() && problems.iter().any(is_missing_column) {
                    "\nif the columns have other names, map them, e.g. `--map input=question,target=answer`"
                } else {
                    ""
                };
                CliError::input(format_args!(
                    "`{}`: {} invalid; no requests were sent\n  {}{hint}",
                    file.display(),
                    lines_are(&problems),
                    describe_problems(&problems).join("\n  ")
                ))
            }
        })
    }

    fn pattern(&self) -> Result<Option<Regex>, CliError> {
        let compile = |text: &String| {
            Regex::new(text)
                .map_err(|error| CliError::input(format_args!("invalid `--target-regex`: {error}")))
        };
        self.target_regex.as_ref().map(compile).transpose()
    }
}
