//! The options of the new-run form.

use reasonscape_providers::ApiKey;
use reasonscape_study::{Eval, Study};

use super::datasets::DatasetInfo;
use super::{Runs, describe_source};
use crate::error::ApiError;

/// The options of the form.
pub(crate) struct FormOptions {
    /// The study itself, if it has a study.toml.
    pub(crate) study: Option<Result<StudyOptions, ApiError>>,
    pub(crate) datasets: Vec<DatasetInfo>,
    /// Names of variables that hold keys, and whether they are set.
    pub(crate) variables: Vec<(String, bool)>,
}

/// The options that the study adds.
pub(crate) struct StudyOptions {
    pub(crate) source: String,
    /// Its evaluations: id and label.
    pub(crate) evals: Vec<(String, String)>,
    pub(crate) tasks: Vec<String>,
    pub(crate) addresses: Vec<String>,
    variables: Vec<String>,
}

impl StudyOptions {
    fn from_study(study: &Study) -> Self {
        let mut addresses: Vec<String> = study.evals.iter().flat_map(|eval| eval.base_urls.clone()).collect();
        addresses.sort();
        addresses.dedup();
        let mut tasks: Vec<String> =
            study.suite.points().iter().map(|point| point.task.name().to_owned()).collect();
        tasks.sort();
        tasks.dedup();
        Self {
            source: describe_source(study),
            evals: study.evals.iter().map(|eval| (eval.id.to_string(), label(study, eval))).collect(),
            tasks,
            addresses,
            variables: study.evals.iter().filter_map(|eval| eval.api_key_env.clone()).collect(),
        }
    }
}

impl Runs {
    /// The options of the new-run form.
    pub(crate) fn form_options(&self) -> FormOptions {
        let study = self.store.home_study().map(|study| study.map(|study| StudyOptions::from_study(&study)));
        let mut variables = self.key_rules.variables();
        if let Some(Ok(study)) = &study {
            variables.extend(study.variables.iter().cloned());
        }
        variables.sort();
        variables.dedup();
        let with_state = |name: String| {
            let is_set = ApiKey::from_env(&name).is_ok();
            (name, is_set)
        };
        FormOptions {
            study,
            datasets: self.store.datasets().list(),
            variables: variables.into_iter().map(with_state).collect(),
        }
    }
}

/// The name of an evaluation, with template and sampler where others have the same name.
fn label(study: &Study, eval: &Eval) -> String {
    let is_alone = study.evals.iter().filter(|other| other.name == eval.name).count() == 1;
    if is_alone {
        return eval.name.clone();
    }
    format!("{} ({}, {})", eval.name, eval.template.name, eval.sampler.name)
}
