//! Arguments for reading a dataset.

use std::path::Path;

use reasonscape_core::{ColumnMap, Item, LineError};
use regex::Regex;

use super::Global;
use crate::error::CliError;
use reasonscape_ingest::dataset_reader;
use reasonscape_ingest::dataset_reader::{DatasetError, TargetExtraction, describe_problems, lines_are};

/// How to read a dataset.
#[derive(Debug, clap::Args)]
pub(super) struct DatasetFormat {
    /// Names of the columns in the file, e.g. `input=question,target=answer`; also paths (`options=choices.text`) and several
    /// columns (`options=A+B+C+D`) [default: layouts of public datasets are recognized].
    #[arg(long, value_name = "FIELD=NAME,…")]
    map: Option<ColumnMap>,
    /// Regular expression that extracts the answer from the target (its first group, if any), e.g. `#### (.*)`.
    #[arg(long, value_name = "REGEX")]
    target_regex: Option<String>,
    /// Where the answer is in the target.
    #[arg(long, value_name = "RULE", conflicts_with = "target_regex")]
    target: Option<TargetArg>,
    /// Column names of a table whose first row is data, e.g. `question,A,B,C,D,answer`.
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    columns: Vec<String>,
    /// Split of a dataset folder [default: test, else validation, else train].
    #[arg(long, value_name = "SPLIT")]
    split: Option<String>,
    /// Subset of a dataset folder that has several.
    #[arg(long, value_name = "NAME")]
    subset: Option<String>,
    /// Skip invalid lines, and list them.
    #[arg(long)]
    skip_bad: bool,
}

/// Where the answer is in the target of a dataset.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum TargetArg {
    /// In the last `\boxed{…}`, by balanced braces.
    Boxed,
}

impl DatasetFormat {
    /// The first given option.
    pub(super) fn first_given_flag(&self) -> Option<&'static str> {
        [
            ("--map", self.map.is_some()),
            ("--target-regex", self.target_regex.is_some()),
            ("--target", self.target.is_some()),
            ("--columns", !self.columns.is_empty()),
            ("--split", self.split.is_some()),
            ("--subset", self.subset.is_some()),
            ("--skip-bad", self.skip_bad),
        ]
        .into_iter()
        .find_map(|(flag, given)| given.then_some(flag))
    }

    /// Reads the items of a file or a dataset folder, and notes how it was understood. Reports all invalid lines at once.
    pub(super) fn items(&self, file: &Path, global: Global) -> Result<Vec<Item>, CliError> {
        let read = self.format(true)?.read(file).map_err(|error| self.error(file, error))?;
        for note in &read.notes {
            global.note(format_args!("`{}`: {note}", file.display()));
        }
        if !read.skipped.is_empty() {
            global.note(format_args!(
                "{} invalid and left out\n  {}",
                lines_are(&read.skipped),
                describe_problems(&read.skipped).join("\n  ")
            ));
        }
        Ok(read.items)
    }

    /// The items as versions read them that recognized no layouts, if they can be read so.
    pub(super) fn literal_items(&self, file: &Path) -> Option<Vec<Item>> {
        self.format(false).ok()?.items(file).ok()
    }

    fn format(&self, recognize: bool) -> Result<dataset_reader::DatasetFormat, CliError> {
        let target = match (self.pattern()?, self.target) {
            (Some(pattern), _) => TargetExtraction::Regex(pattern),
            (None, Some(TargetArg::Boxed)) => TargetExtraction::Boxed,
            (None, None) => TargetExtraction::Whole,
        };
        Ok(dataset_reader::DatasetFormat {
            columns: self.map.clone().unwrap_or_default(),
            target,
            header: (!self.columns.is_empty()).then(|| self.columns.clone()),
            recognize,
            skip_invalid: self.skip_bad,
            split: self.split.clone(),
            subset: self.subset.clone(),
        })
    }

    fn error(&self, file: &Path, error: DatasetError) -> CliError {
        let problems = match error {
            DatasetError::File(error) => return error.into(),
            DatasetError::Lines(problems) => problems,
        };
        let is_missing_field = |problem: &LineError| problem.problem.starts_with("missing field");
        let hint = if self.map.is_none() && problems.iter().any(is_missing_field) {
            "\nif the fields have other names, map them, e.g. `--map input=question,target=answer`"
        } else if self.skip_bad {
            ""
        } else {
            "\nto run the others, add `--skip-bad`"
        };
        CliError::input(format_args!(
            "`{}`: {} invalid; no requests were sent\n  {}{hint}",
            file.display(),
            lines_are(&problems),
            describe_problems(&problems).join("\n  ")
        ))
    }

    fn pattern(&self) -> Result<Option<Regex>, CliError> {
        let compile = |text: &String| {
            Regex::new(text)
                .map_err(|error| CliError::input(format_args!("invalid `--target-regex`: {error}")))
        };
        self.target_regex.as_ref().map(compile).transpose()
    }
}
