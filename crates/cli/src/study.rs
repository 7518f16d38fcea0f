//! Arguments that commands on a study share.

use std::path::{Path, PathBuf};

use reasonscape_study::{Precision, Selection, Shard, Study};

use crate::error::CliError;

/// The error for `--seed` on a study: a run can't change its seed.
pub(super) fn seed_belongs_to_study(study: &Path, seed: i64) -> CliError {
    CliError::input(format_args!(
        "`--seed` cannot change the seed of a study, because its trials would mix two sets of problems; for another set, \
         `reasonscape init NEW_STUDY --seed {seed}`, or copy `{}` to a new directory and set `seed = {seed}` in its \
         study.toml",
        study.display()
    ))
}

/// A study, and a selection of its evaluations and tasks.
#[derive(Debug, clap::Args)]
pub(super) struct StudyPartArgs {
    /// Study directory, or its study.toml.
    #[arg(value_name = "STUDY")]
    pub(super) study: PathBuf,
    /// Only this evaluation, by id, name or model (repeatable).
    #[arg(long = "eval", value_name = "EVAL")]
    pub(super) evals: Vec<String>,
    /// Only this task (repeatable).
    #[arg(long = "task", value_name = "TASK")]
    pub(super) tasks: Vec<String>,
}

/// A study, and the part of it to run.
#[derive(Debug, clap::Args)]
pub(super) struct StudySelectionArgs {
    #[command(flatten)]
    part: StudyPartArgs,
    /// Problems per point, instead of `count` in study.toml. Raising it later only sends the additional requests.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    count: Option<u32>,
    /// Sample each point in rounds until the margin of the Wilson interval of its proportion of correct answers is this
    /// small, or until it has `max_count` problems.
    #[arg(long, value_name = "MARGIN", conflicts_with = "count")]
    precision: Option<f64>,
    /// Stop sending requests after this many tokens.
    #[arg(long, value_name = "N")]
    budget_tokens: Option<u64>,
    /// Only run part I of N, to split a study over N machines that need no coordination.
    #[arg(long, value_name = "I/N", default_value = "1/1")]
    shard: Shard,
}

impl StudySelectionArgs {
    /// The path that was given: a study directory, its study.toml, or a dataset.
    pub(super) fn path(&self) -> &Path {
        &self.part.study
    }

    /// The same selection of another study.
    pub(super) fn for_study(mut self, study: PathBuf, evals: Vec<String>) -> Self {
        self.part.study = study;
        if self.part.evals.is_empty() {
            self.part.evals = evals;
        }
        self
    }

    /// Loads the study with the overrides of the arguments, and the selection.
    pub(super) fn load(&self) -> Result<(Study, Selection), CliError> {
        let mut study = Study::load(&self.part.study)?;
        if let Some(margin) = self.precision {
            if study.dataset.is_some() {
                return Err(CliError::input(
                    "`--precision` needs generated problems, and a dataset has a fixed set of questions; remove it",
                ));
            }
            if !(margin > 0.0 && margin < 0.5) {
                return Err(CliError::input(format!(
                    "invalid margin `--precision {margin}`; expected a number between 0 and 0.5, e.g. 0.05"
                )));
            }
            let max_count = study.precision.map_or(Precision::MAX_COUNT, |precision| precision.max_count);
            study.precision = Some(Precision { margin, max_count });
        }
        if self.count.is_some() {
            study.precision = None;
        }
        study.budget.tokens = self.budget_tokens.or(study.budget.tokens);
        let selection = Selection {
            evals: self.part.evals.clone(),
            tasks: self.part.tasks.clone(),
            count: self.count.map(|count| count as usize),
            shard: self.shard,
        };
        Ok((study, selection))
    }
}

/// The study directory, from its path or that of its study.toml.
pub(super) fn study_folder(study: &Path) -> Result<PathBuf, CliError> {
    match std::fs::metadata(study) {
        Ok(found) if found.is_dir() => Ok(study.to_owned()),
        Ok(_) => {
            let folder = study.parent().filter(|folder| !folder.as_os_str().is_empty());
            Ok(folder.unwrap_or(Path::new(".")).to_owned())
        }
        Err(_) => Err(CliError::input(format_args!(
            "no study at `{}`; expected a study directory, or its study.toml",
            study.display()
        ))),
    }
}
