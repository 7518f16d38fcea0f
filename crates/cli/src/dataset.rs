//! Reading somebody's dataset.

use std::path::Path;

use reasonscape_core::{ColumnMap, Item, LineError};
use regex::Regex;

use crate::error::CliError;
use reasonscape_ingest::dataset_reader;
use reasonscape_ingest::dataset_reader::{DatasetError, describe_problems, lines_are};

/// How a dataset is to be read.
#[derive(Debug, clap::Args)]
pub(super) struct DatasetFormat {
    /// What fields are called in the file, as in `input=question,target=answer`.
    #[arg(long, value_name = "FIELD=NAME,…")]
    map: Option<ColumnMap>,
    /// Pattern that finds the answer in the target, its first group if it has one, as in `#### (.*)`.
    #[arg(long, value_name = "REGEX")]
    target_regex: Option<String>,
}

impl DatasetFormat {
    /// The first argument that was given.
    pub(super) fn first_given_flag(&self) -> Option<&'static str> {
        match (&self.map, &self.target_regex) {
            (Some(_), _) => Some("--map"),
            (None, Some(_)) => Some("--target-regex"),
            (None, None) => None,
        }
    }

    /// The items of a file. Every line that is wrong is told at once.
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
                    "\nif the file calls a column otherwise, map it, as in `--map input=question,target=answer`"
                } else {
                    ""
                };
                CliError::input(format_args!(
                    "`{}`: {} wrong, and nothing was asked\n  {}{hint}",
                    file.display(),
                    lines_are(&problems),
                    describe_problems(&problems).join("\n  ")
                ))
            }
        })
    }

    fn pattern(&self) -> Result<Option<Regex>, CliError> {
        let compile = |text: &String| {
            Regex::new(text).map_err(|error| CliError::input(format_args!("--target-regex: {error}")))
        };
        self.target_regex.as_ref().map(compile).transpose()
    }
}
