//! Reading somebody's dataset.

use std::path::Path;

use reasonscape_core::{Columns, Item};
use regex::Regex;

use crate::failure::Failure;
use crate::questions::{self, Unread, how_many, told};

/// How a dataset is to be read.
#[derive(Debug, clap::Args)]
pub(super) struct Reading {
    /// What fields are called in the file, as in `input=question,target=answer`.
    #[arg(long, value_name = "FIELD=NAME,…")]
    map: Option<Columns>,
    /// Pattern that finds the answer in the target, its first group if it has one, as in `#### (.*)`.
    #[arg(long, value_name = "REGEX")]
    target_regex: Option<String>,
}

impl Reading {
    /// The first argument that was given.
    pub(super) fn given(&self) -> Option<&'static str> {
        match (&self.map, &self.target_regex) {
            (Some(_), _) => Some("--map"),
            (None, Some(_)) => Some("--target-regex"),
            (None, None) => None,
        }
    }

    /// The items of a file. Every line that is wrong is told at once.
    pub(super) fn items(&self, file: &Path) -> Result<Vec<Item>, Failure> {
        let reading =
            questions::Reading { columns: self.map.clone().unwrap_or_default(), target: self.pattern()? };
        reading.items(file).map_err(|unread| match unread {
            Unread::File(error) => error.into(),
            Unread::Lines(problems) => Failure::input(format_args!(
                "`{}`: {} wrong, and nothing was asked\n  {}",
                file.display(),
                how_many(&problems),
                told(&problems).join("\n  ")
            )),
        })
    }

    fn pattern(&self) -> Result<Option<Regex>, Failure> {
        let compile = |text: &String| {
            Regex::new(text).map_err(|error| Failure::input(format_args!("--target-regex: {error}")))
        };
        self.target_regex.as_ref().map(compile).transpose()
    }
}
