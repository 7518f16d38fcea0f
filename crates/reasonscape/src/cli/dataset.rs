//! Reading somebody's dataset.

use std::fmt::Write as _;
use std::path::Path;

use reasonscape_core::{Columns, Item, LineProblem, check_items};
use reasonscape_points::read_rows;
use regex::Regex;

use crate::failure::Failure;

/// Problems that are shown.
const SHOWN: usize = 20;

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
        let columns = self.map.clone().unwrap_or_default();
        let pattern = self.pattern()?;
        let target_of = |text: &str| match &pattern {
            Some(pattern) => found_by(pattern, text),
            None => Ok(text.to_owned()),
        };
        let mut items = Vec::new();
        read_rows(file, &mut |line, row| {
            items.push((line, row.and_then(|row| Item::read(&row, &columns, Some(&target_of)))));
        })?;
        check_items(items).map_err(|problems| wrong_lines(file, &problems))
    }

    fn pattern(&self) -> Result<Option<Regex>, Failure> {
        let compile = |text: &String| {
            Regex::new(text).map_err(|error| Failure::input(format_args!("--target-regex: {error}")))
        };
        self.target_regex.as_ref().map(compile).transpose()
    }
}

/// What a dataset is called: by its file.
pub(super) fn name_of(file: &Path) -> String {
    file.file_stem().map_or_else(|| "dataset".to_owned(), |stem| stem.to_string_lossy().into_owned())
}

/// What a pattern finds last in a target: its first group, or all of it.
fn found_by(pattern: &Regex, text: &str) -> Result<String, String> {
    let found = pattern.captures_iter(text).last();
    let found = found.as_ref().and_then(|found| found.get(1).or_else(|| found.get(0)));
    found.map(|found| found.as_str().trim().to_owned()).ok_or_else(|| {
        let shown: String = text.chars().take(60).collect();
        format!("`--target-regex {pattern}` finds nothing in the target `{}`", shown.escape_debug())
    })
}

fn wrong_lines(file: &Path, problems: &[LineProblem]) -> Failure {
    let count = match problems.len() {
        1 => "a line is".to_owned(),
        count => format!("{count} lines are"),
    };
    let mut text = format!("`{}`: {count} wrong, and nothing was asked", file.display());
    let groups = grouped(problems);
    for (lines, problem) in groups.iter().take(SHOWN) {
        write!(text, "\n  {lines}: {problem}").expect("a string takes everything");
    }
    if groups.len() > SHOWN {
        write!(text, "\n  and {} more", groups.len() - SHOWN).expect("a string takes everything");
    }
    Failure::input(text)
}

/// Problems in the order of their lines; neighbours with the same one are told together.
fn grouped(problems: &[LineProblem]) -> Vec<(String, &str)> {
    let same = |a: &LineProblem, b: &LineProblem| a.problem == b.problem;
    let told = |group: &[LineProblem]| match group {
        [only] => format!("line {}", only.line),
        [first, .., last] => format!("lines {} to {}, {} of them", first.line, last.line, group.len()),
        [] => unreachable!("a group has a line"),
    };
    problems.chunk_by(same).map(|group| (told(group), group[0].problem.as_str())).collect()
}
