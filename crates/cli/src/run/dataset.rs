//! A dataset instead of a study: becomes one in a folder of its own, so that everything works with it.

use std::path::{Path, PathBuf};

use reasonscape_core::{Dataset, Item};

use crate::Global;
use crate::dataset::DatasetFormat;
use crate::error::CliError;
use reasonscape_ingest::dataset_reader::{dataset_name, sample_items};
use reasonscape_study::{DatasetStudy, EvalSpec};

/// What a dataset leaves open: who is asked, and how the file is to be read.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Datasets")]
pub(super) struct DatasetArgs {
    /// Model to ask; may be repeated.
    #[arg(long = "model", value_name = "MODEL")]
    models: Vec<String>,
    /// Where it is served, as `http://127.0.0.1:8089/v1`.
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,
    /// API of the endpoint: openai-chat, openai-text or anthropic.
    #[arg(long, value_name = "API")]
    provider: Option<String>,
    /// Environment variable that holds the key.
    #[arg(long, value_name = "NAME")]
    api_key_env: Option<String>,
    /// How questions are put: a built-in template, or one in the study's `templates/`.
    #[arg(long, value_name = "NAME")]
    template: Option<String>,
    /// How tokens are chosen: a built-in sampler, or one in the study's `samplers/`.
    #[arg(long, value_name = "NAME")]
    sampler: Option<String>,
    /// How often every question is asked.
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    repeats: Option<u32>,
    /// Only the first N questions.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    limit: Option<u32>,
    /// Only N questions, drawn at random.
    #[arg(long, value_name = "N", conflicts_with = "limit", value_parser = clap::value_parser!(u32).range(1..))]
    sample: Option<u32>,
    /// Seed of that draw.
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    pub(super) seed: Option<i64>,
    #[command(flatten)]
    format: DatasetFormat,
    /// Folder of the study that it becomes; unless given, it is named after the file, as `gsm8k-study`.
    #[arg(long, value_name = "STUDY")]
    into: Option<PathBuf>,
}

/// A study that was made of a dataset, and which evaluations of it are meant.
pub(super) struct Prepared {
    pub(super) study: PathBuf,
    pub(super) evals: Vec<String>,
}

impl DatasetArgs {
    /// The first argument that only a dataset can have.
    pub(super) fn first_given_flag(&self) -> Option<&'static str> {
        [
            ("--model", !self.models.is_empty()),
            ("--base-url", self.base_url.is_some()),
            ("--provider", self.provider.is_some()),
            ("--api-key-env", self.api_key_env.is_some()),
            ("--template", self.template.is_some()),
            ("--sampler", self.sampler.is_some()),
            ("--repeats", self.repeats.is_some()),
            ("--limit", self.limit.is_some()),
            ("--sample", self.sample.is_some()),
            ("--into", self.into.is_some()),
        ]
        .into_iter()
        .find_map(|(flag, given)| given.then_some(flag))
        .or_else(|| self.format.first_given_flag())
    }

    /// Makes the study, or adds to the one that is there.
    pub(super) fn prepare(&self, file: &Path, global: Global) -> Result<Prepared, CliError> {
        let (Some(base_url), false) = (&self.base_url, self.models.is_empty()) else {
            return Err(CliError::input(format_args!(
                "a dataset says nothing of models; add `--model NAME --base-url URL`, as in `reasonscape run {} \
                 --model my-model --base-url http://127.0.0.1:8089/v1`",
                file.display()
            )));
        };
        if self.seed.is_some() && self.sample.is_none() {
            return Err(CliError::input(
                "`--seed` is the seed of a random sample; add `--sample N` or leave it out",
            ));
        }
        let name = dataset_name(file);
        let items = self.format.items(file)?;
        let total = items.len();
        let dataset = Dataset::new(&name, self.sample_items(items));
        if dataset.len() < total {
            global.note(format_args!("{} of {total} questions", dataset.len()));
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
            source: &source,
        };
        let study = dataset_study.create_or_extend(&folder, &dataset)?;
        let evals =
            study.evals.iter().filter(|eval| dataset_study.includes(eval)).map(|eval| eval.id.to_string());
        Ok(Prepared { evals: evals.collect(), study: folder })
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
