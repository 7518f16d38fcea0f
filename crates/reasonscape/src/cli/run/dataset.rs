//! A dataset instead of a study: becomes one in a folder of its own, so that everything works with it.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use reasonscape_core::{Dataset, Item};
use reasonscape_runner::{Eval, Study};
use serde_json::json;

use crate::cli::Global;
use crate::cli::dataset::Reading;
use crate::failure::Failure;
use crate::making::{Asking, write_study};
use crate::output::write_file;
use crate::questions::{drawn, name_of};

/// What a dataset leaves open: who is asked, and how the file is to be read.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Datasets")]
pub(super) struct DatasetArguments {
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
    #[arg(long, value_name = "S", requires = "sample")]
    seed: Option<i64>,
    #[command(flatten)]
    reading: Reading,
    /// Folder of the study that it becomes; unless given, it is named after the file, as `gsm8k-study`.
    #[arg(long, value_name = "STUDY")]
    into: Option<PathBuf>,
}

/// A study that was made of a dataset, and which evaluations of it are meant.
pub(super) struct Prepared {
    pub(super) study: PathBuf,
    pub(super) evals: Vec<String>,
}

impl DatasetArguments {
    /// The first argument that only a dataset can have.
    pub(super) fn given(&self) -> Option<&'static str> {
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
        .or_else(|| self.reading.given())
    }

    /// Makes the study, or adds to the one that is there.
    pub(super) fn prepare(&self, file: &Path, global: Global) -> Result<Prepared, Failure> {
        let (Some(base_url), false) = (&self.base_url, self.models.is_empty()) else {
            return Err(Failure::input(format_args!(
                "a dataset says nothing of models; add `--model NAME --base-url URL`, as in `reasonscape run {} \
                 --model my-model --base-url http://127.0.0.1:8089/v1`",
                file.display()
            )));
        };
        let name = name_of(file);
        let items = self.reading.items(file)?;
        let total = items.len();
        let dataset = Dataset::new(&name, self.chosen(items));
        if dataset.len() < total {
            global.note(format_args!("{} of {total} questions", dataset.len()));
        }
        let folder = self.into.clone().unwrap_or_else(|| PathBuf::from(format!("{name}-study")));
        let is_new = !folder.exists();
        fs::create_dir_all(&folder)
            .with_context(|| format!("failed to make the folder `{}`", folder.display()))
            .map_err(Failure::Broken)?;
        // Two that add a model each at the same time do so one after the other, where the system can lock a folder.
        let lock = fs::File::open(&folder).and_then(|folder| folder.lock().map(|()| folder));
        let study = if let Some((study, text)) = existing(&folder)? {
            same_questions(&study, &dataset, &folder)?;
            write_study(&folder, &self.extended(text, &study, base_url, &folder)?)?
        } else {
            self.create(file, &folder, &dataset, base_url).inspect_err(|_| {
                if is_new {
                    let _ = fs::remove_dir(&folder);
                }
            })?
        };
        drop(lock);
        let evals = study.evals.iter().filter(|eval| self.means(eval)).map(|eval| eval.id.to_string());
        Ok(Prepared { evals: evals.collect(), study: folder })
    }

    /// A new study. If it is refused, its copy of the dataset is taken away again; a file of somebody else is never
    /// touched.
    fn create(
        &self,
        file: &Path,
        folder: &Path,
        dataset: &Dataset,
        base_url: &str,
    ) -> Result<Study, Failure> {
        let (name, lines) = (format!("{}.jsonl", dataset.name()), dataset.to_lines());
        let copy = folder.join(&name);
        let is_there = copy.exists();
        if is_there && fs::read(&copy).ok().as_deref() != Some(lines.as_bytes()) {
            return Err(Failure::input(format_args!(
                "`{}` is there already and would be replaced; choose another folder with `--into`",
                copy.display()
            )));
        }
        if !is_there {
            write_file(&copy, |out| Ok(out.write_all(lines.as_bytes())?))?;
        }
        write_study(folder, &self.new_study(file, &name, base_url)).inspect_err(|_| {
            if !is_there {
                let _ = fs::remove_file(&copy);
            }
        })
    }

    fn chosen(&self, mut items: Vec<Item>) -> Vec<Item> {
        if let Some(limit) = self.limit {
            items.truncate(limit as usize);
        }
        match self.sample {
            Some(sample) => drawn(items, sample as usize, self.seed.unwrap_or(0)),
            None => items,
        }
    }

    fn new_study(&self, file: &Path, copy: &str, base_url: &str) -> String {
        let shown = file.file_name().map_or_else(|| copy.into(), |name| name.to_string_lossy());
        let mut text = format!(
            "# Made by `reasonscape run {}`. Everything can be changed here; `reasonscape run` on this folder then\n\
             # asks what is missing.\ndataset = {}\nrepeats = {}\n",
            shown.escape_debug(),
            json!(copy),
            self.repeats.unwrap_or(1)
        );
        for model in &self.models {
            self.asking(base_url).append_eval(&mut text, model);
        }
        text
    }

    fn asking(&self, base_url: &str) -> Asking {
        Asking {
            base_url: base_url.to_owned(),
            provider: self.provider.clone(),
            api_key_env: self.api_key_env.clone(),
            template: self.template.clone(),
            sampler: self.sampler.clone(),
            ..Asking::default()
        }
    }

    /// The text of a study with the models that it does not ask yet, and as many repeats as are wanted now.
    fn extended(
        &self,
        mut text: String,
        study: &Study,
        base_url: &str,
        folder: &Path,
    ) -> Result<String, Failure> {
        for model in &self.models {
            match study.evals.iter().find(|eval| eval.model == *model && self.means(eval)) {
                None => self.asking(base_url).append_eval(&mut text, model),
                Some(eval) if eval.base_urls.iter().any(|known| known == base_url.trim_end_matches('/')) => {}
                Some(eval) => {
                    return Err(Failure::input(format_args!(
                        "the study asks `{model}` at {}, not at {base_url}; change that in `{}`",
                        eval.base_urls.join(" and "),
                        folder.join(Study::FILE).display()
                    )));
                }
            }
        }
        if let Some(repeats) = self.repeats.filter(|repeats| *repeats != study.repeats) {
            let line = format!("repeats = {repeats}\n");
            let old = text.split_inclusive('\n').find(|line| line.trim_start().starts_with("repeats"));
            text = match old.map(str::to_owned) {
                Some(old) => text.replacen(&old, &line, 1),
                None => line + &text,
            };
        }
        Ok(text)
    }

    /// Whether an evaluation asks one of the models as the arguments say.
    fn means(&self, eval: &Eval) -> bool {
        self.models.contains(&eval.model)
            && self.template.as_ref().is_none_or(|template| eval.template.name == *template)
            && self.sampler.as_ref().is_none_or(|sampler| eval.sampler.name == *sampler)
    }
}

/// Refuses other questions: answers to both would stand beside each other as if they were to the same.
fn same_questions(study: &Study, dataset: &Dataset, folder: &Path) -> Result<(), Failure> {
    match &study.dataset {
        None => Err(Failure::input(format_args!(
            "`{}` is a study of the suite `{}`; choose another folder with `--into`",
            folder.display(),
            study.suite.name
        ))),
        Some(known) if known.to_lines() != dataset.to_lines() => Err(Failure::input(format_args!(
            "`{}` holds {} questions of `{}` that are not these {}; choose another folder with `--into`",
            folder.display(),
            known.len(),
            known.name(),
            dataset.len()
        ))),
        Some(_) => Ok(()),
    }
}

/// The study in a folder, and its text.
fn existing(folder: &Path) -> Result<Option<(Study, String)>, Failure> {
    let file = folder.join(Study::FILE);
    match fs::read_to_string(&file) {
        Ok(text) => Ok(Some((Study::parse(&text, folder)?, text))),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Failure::Broken(
            anyhow::Error::new(error).context(format!("failed to read `{}`", file.display())),
        )),
    }
}
