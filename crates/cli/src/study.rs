//! What the commands on a study share.

use std::path::{Path, PathBuf};

use reasonscape_study::{Precision, Selection, Shard, Study};

use crate::error::CliError;

/// What to do who wants other problems: a run can't change the seed of a study.
pub(super) fn seed_belongs_to_study(study: &Path, seed: i64) -> CliError {
    CliError::input(format_args!(
        "a seed belongs to the study, whose trials would otherwise mix two sets of problems; for another set, \
         `reasonscape init NEW_STUDY --seed {seed}`, or copy `{}` to a new folder and set `seed = {seed}` in its study.toml",
        study.display()
    ))
}

/// A study and which of its evaluations and tasks.
#[derive(Debug, clap::Args)]
pub(super) struct StudyPartArgs {
    /// Folder of the study, or its study.toml.
    #[arg(value_name = "STUDY")]
    pub(super) study: PathBuf,
    /// Only this evaluation, by id, name or model; may be repeated.
    #[arg(long = "eval", value_name = "EVAL")]
    pub(super) evals: Vec<String>,
    /// Only this task; may be repeated.
    #[arg(long = "task", value_name = "TASK")]
    pub(super) tasks: Vec<String>,
}

/// A study and the part of it that is meant.
#[derive(Debug, clap::Args)]
pub(super) struct StudySelectionArgs {
    #[command(flatten)]
    part: StudyPartArgs,
    /// Tests at each point, instead of what the study says. More later pays for the difference only.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    count: Option<u32>,
    /// Sample each point until its `C_P` margin is this small, or its maximum is reached.
    #[arg(long, value_name = "MARGIN", conflicts_with = "count")]
    precision: Option<f64>,
    /// Send nothing more after this many tokens.
    #[arg(long, value_name = "N")]
    budget_tokens: Option<u64>,
    /// Only part I of N, so that N machines share a study without talking to each other.
    #[arg(long, value_name = "I/N", default_value = "1/1")]
    shard: Shard,
}

impl StudySelectionArgs {
    /// What was named: the folder of a study, its file, or something else.
    pub(super) fn path(&self) -> &Path {
        &self.part.study
    }

    /// The same part of another study.
    pub(super) fn for_study(mut self, study: PathBuf, evals: Vec<String>) -> Self {
        self.part.study = study;
        if self.part.evals.is_empty() {
            self.part.evals = evals;
        }
        self
    }

    /// The study with what the arguments change, and the part of it that they select.
    pub(super) fn load(&self) -> Result<(Study, Selection), CliError> {
        let mut study = Study::load(&self.part.study)?;
        if let Some(margin) = self.precision {
            if study.dataset.is_some() {
                return Err(CliError::input(
                    "a dataset has only so many questions, so `--precision` cannot be asked for; take it out",
                ));
            }
            if !(margin > 0.0 && margin < 0.5) {
                return Err(CliError::input(format!(
                    "`--precision {margin}` is no margin; give one between 0 and 0.5, as 0.05"
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

/// The folder of a study, given itself or its study.toml.
pub(super) fn study_folder(study: &Path) -> Result<PathBuf, CliError> {
    match std::fs::metadata(study) {
        Ok(found) if found.is_dir() => Ok(study.to_owned()),
        Ok(_) => {
            let folder = study.parent().filter(|folder| !folder.as_os_str().is_empty());
            Ok(folder.unwrap_or(Path::new(".")).to_owned())
        }
        Err(_) => Err(CliError::input(format_args!(
            "no study at `{}`; expected the folder of a study, or its study.toml",
            study.display()
        ))),
    }
}
