//! `reasonscape run` on a dataset: creates a study for it, so that every other command works too.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use reasonscape_core::{Dataset, Item, LineError, Scorer, detect_scorer};

use crate::Global;
use crate::dataset::DatasetFormat;
use crate::error::CliError;
use reasonscape_ingest::dataset_reader::{dataset_name, describe_problems, sample_items};
use reasonscape_study::{DatasetStudy, EvalSpec, FromDatasetError, Study};

/// Models, request settings and file format for a dataset.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Datasets")]
pub(super) struct DatasetArgs {
    /// Model to run (repeatable).
    #[arg(long = "model", value_name = "MODEL")]
    models: Vec<String>,
    /// Base URL of the endpoint, e.g. `http://127.0.0.1:8089/v1`.
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,
    /// API of the endpoint: openai-chat, openai-text or anthropic.
    #[arg(long, value_name = "API")]
    provider: Option<String>,
    /// Environment variable with the API key.
    #[arg(long, value_name = "NAME")]
    api_key_env: Option<String>,
    /// Prompt template: a built-in one, or one in the study's `templates/`.
    #[arg(long, value_name = "NAME")]
    template: Option<String>,
    /// Sampling parameters: a built-in sampler, or one in the study's `samplers/`.
    #[arg(long, value_name = "NAME")]
    sampler: Option<String>,
    /// How answers are compared with targets: `exact`, `choice`, `yes_no`, `numeric`, `math`, `set`, `list`, `json`, `regex` or
    /// `contains`
    /// [default: detected from the targets for a new study].
    #[arg(long, value_name = "SCORER", value_parser = Scorer::from_str)]
    scorer: Option<Scorer>,
    /// Samples per question, for pass@k and majority vote.
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    repeats: Option<u32>,
    /// Only the first N questions.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    limit: Option<u32>,
    /// Only a random sample of N questions.
    #[arg(long, value_name = "N", conflicts_with = "limit", value_parser = clap::value_parser!(u32).range(1..))]
    sample: Option<u32>,
    /// Random seed of `--sample` [default: 0].
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    pub(super) seed: Option<i64>,
    #[command(flatten)]
    format: DatasetFormat,
    /// Study directory to create or extend [default: named after the file, e.g. `gsm8k-study`].
    #[arg(long, value_name = "STUDY")]
    into: Option<PathBuf>,
}

/// The study of a dataset, and its evaluations to run.
pub(super) struct Prepared {
    pub(super) study: PathBuf,
    pub(super) evals: Vec<String>,
}

impl DatasetArgs {
    /// The first given option that only applies to datasets.
    pub(super) fn first_given_flag(&self) -> Option<&'static str> {
        [
            ("--model", !self.models.is_empty()),
            ("--base-url", self.base_url.is_some()),
            ("--provider", self.provider.is_some()),
            ("--api-key-env", self.api_key_env.is_some()),
            ("--template", self.template.is_some()),
            ("--sampler", self.sampler.is_some()),
            ("--scorer", self.scorer.is_some()),
            ("--repeats", self.repeats.is_some()),
            ("--limit", self.limit.is_some()),
            ("--sample", self.sample.is_some()),
            ("--into", self.into.is_some()),
        ]
        .into_iter()
        .find_map(|(flag, given)| given.then_some(flag))
        .or_else(|| self.format.first_given_flag())
    }

    /// Creates the study, or extends the existing one.
    pub(super) fn prepare(&self, file: &Path, global: Global) -> Result<Prepared, CliError> {
        let (Some(base_url), false) = (&self.base_url, self.models.is_empty()) else {
            return Err(CliError::input(format_args!(
                "a dataset needs a model and an endpoint; add `--model NAME --base-url URL`, e.g. `reasonscape run {} \
                 --model my-model --base-url http://127.0.0.1:8089/v1`",
                file.display()
            )));
        };
        if self.seed.is_some() && self.sample.is_none() {
            return Err(CliError::input(
                "`--seed` only applies to a random sample; add `--sample N` or remove it",
            ));
        }
        let name = dataset_name(file);
        let items = self.format.items(file, global)?;
        let total = items.len();
        let mut dataset = Dataset::new(&name, self.sample_items(items));
        if dataset.len() < total {
            global.note(format_args!("using {} of {total} questions", dataset.len()));
        }
        let folder = self.into.clone().unwrap_or_else(|| PathBuf::from(format!("{name}-study")));
        let copy = format!("{name}.jsonl");
        let source = file.file_name().map_or_else(|| copy.into(), |name| name.to_string_lossy());
        let dataset_study = DatasetStudy {
            models: &self.models,
            spec: EvalSpec {
                base_url: base_url.clone(),
                provider: self.provider.clone(),
                api_key_env: self.api_key_env.clone(),
                template: self.template.clone(),
                sampler: self.sampler.clone(),
                ..EvalSpec::default()
            },
            repeats: self.repeats,
            scorer: self.scorer,
            source: &source,
        };
        let is_new = !folder.join(Study::FILE).exists();
        let before = Study::load(&folder).map(|study| study.evals).unwrap_or_default();
        let mut study = dataset_study.create_or_extend(&folder, &dataset);
        if matches!(study, Err(FromDatasetError::OtherQuestions { .. }))
            && let Some(items) = self.format.literal_items(file)
        {
            // The study may be older than the recognition of layouts.
            let literal = Dataset::new(&name, self.sample_items(items));
            if let Ok(extended) = dataset_study.create_or_extend(&folder, &literal) {
                global.note("the questions are read as when this study was made");
                (study, dataset) = (Ok(extended), literal);
            }
        }
        let study = study?;
        for (old, new) in before.iter().zip(&study.evals).filter(|(old, new)| old.base_urls != new.base_urls)
        {
            global.note(format_args!(
                "changed `base_url` of {} in `{}` from {} to {}",
                new.name,
                folder.join(Study::FILE).display(),
                old.base_urls.join(" and "),
                new.base_urls.join(" and ")
            ));
        }
        if let Some(scored) = &study.dataset {
            self.note_scorer(scored, &dataset, is_new, global);
        }
        let evals =
            study.evals.iter().filter(|eval| dataset_study.includes(eval)).map(|eval| eval.id.to_string());
        Ok(Prepared { evals: evals.collect(), study: folder })
    }

    /// Names the scorer, and the targets that it can't handle.
    fn note_scorer(&self, scored: &Dataset, given: &Dataset, is_new: bool, global: Global) {
        let Some(scorer) = scored.scorer() else { return };
        if is_new && self.scorer.is_none() {
            let reason = detect_scorer(scored.items()).reason;
            global.note(format_args!(
                "answers are scored by `{scorer}`, because {reason}; choose another with `--scorer`, or as `scorer` in \
                 study.toml"
            ));
        }
        let by_choice = scored
            .items()
            .filter(|item| item.scorer.is_none() && item.test.scorer == Some(Scorer::Choice))
            .count();
        if scorer != Scorer::Choice && by_choice > 0 {
            global.note(format_args!(
                "{by_choice} of {} questions have options and are scored by `choice`, the others by `{scorer}`; a field \
                 `scorer` chooses another for a question",
                scored.len()
            ));
        }
        // The lines of the file that was given, not of the copy.
        let lines: HashMap<&str, usize> = given.items().map(|item| (item.id.as_str(), item.line)).collect();
        let mut problems = Vec::new();
        for item in scored.items() {
            if let Some(problem) = item.target_problem() {
                problems.push(LineError {
                    line: lines.get(item.id.as_str()).copied().unwrap_or(item.line),
                    problem,
                });
            }
        }
        for problem in describe_problems(&problems) {
            global.note(format_args!("{problem}"));
        }
        let undecidable = scored
            .items()
            .filter(|item| item.test.scorer.is_some_and(|scorer| !scorer.is_decidable(&item.test.target)));
        match undecidable.count() {
            0 => {}
            count => global.note(format_args!(
                "{count} of {} targets have no algebraic normal form; answers to them are compared as text where they \
                 aren't written alike",
                scored.len()
            )),
        }
    }

    fn sample_items(&self, mut items: Vec<Item>) -> Vec<Item> {
        if let Some(limit) = self.limit {
            items.truncate(limit as usize);
        }
        match self.sample {
            Some(sample) => sample_items(items, sample as usize, self.seed.unwrap_or(0)),
            None => items,
        }
    }
}
