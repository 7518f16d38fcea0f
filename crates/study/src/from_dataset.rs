//! A study made of a dataset: created in a folder of its own, or extended by more models.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use reasonscape_core::{Dataset, Scorer, detect_scorer};

use reasonscape_limits::read_to_end;
use serde_json::json;

use crate::{Eval, EvalSpec, Study, StudyError, StudyText, write_file, write_study};

/// Why a study could not be made or extended.
#[derive(Debug, thiserror::Error)]
pub enum FromDatasetError {
    /// The study is invalid.
    #[error(transparent)]
    Study(#[from] StudyError),
    /// A file could not be written.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The folder could not be made.
    #[error("failed to create directory `{}`", path.display())]
    Folder {
        /// The path.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The study could not be read.
    #[error("failed to read `{}`", path.display())]
    Read {
        /// The path.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file stands where the copy of the dataset would.
    #[error("`{}` already exists", path.display())]
    FileExists {
        /// The path.
        path: PathBuf,
    },
    /// The folder holds a study of a suite.
    #[error("`{}` is a study of the suite `{suite}`", dir.display())]
    OfSuite {
        /// The folder of the study.
        dir: PathBuf,
        /// The suite of that study.
        suite: String,
    },
    /// The folder holds a study of another dataset: answers to both would be mixed up.
    #[error("`{}` has {known} questions of `{dataset}`, which differ from these {given}", dir.display())]
    OtherQuestions {
        /// The folder of the study.
        dir: PathBuf,
        /// How many questions the study has.
        known: usize,
        /// The dataset of the study.
        dataset: String,
        /// How many were given.
        given: usize,
    },
    /// The study queries the model elsewhere.
    #[error("the study queries `{model}` at {known}, not at {given}; change it in `{}`", file.display())]
    OtherEndpoint {
        /// The model.
        model: String,
        /// Where the study queries it.
        known: String,
        /// Where it was to be queried.
        given: String,
        /// The study.toml to change.
        file: PathBuf,
    },
}

/// What a study of a dataset queries.
#[derive(Debug)]
pub struct DatasetStudy<'a> {
    /// Models to query.
    pub models: &'a [String],
    /// How they are queried.
    pub spec: EvalSpec,
    /// Samples per question; one, unless the study says otherwise.
    pub repeats: Option<u32>,
    /// How answers are compared with targets; detected for a new study, unless given.
    pub scorer: Option<Scorer>,
    /// What the comment at the top calls the file that the dataset was read from.
    pub source: &'a str,
}

impl DatasetStudy<'_> {
    /// Makes the study in a folder, or adds the models to the one that is there.
    ///
    /// # Errors
    /// A [`FromDatasetError`] with the reason; nothing is left half-written.
    pub fn create_or_extend(&self, dir: &Path, dataset: &Dataset) -> Result<Study, FromDatasetError> {
        let is_new = !dir.exists();
        fs::create_dir_all(dir)
            .map_err(|source| FromDatasetError::Folder { path: dir.to_owned(), source })?;
        // Two processes that add a model each do so one after the other, where the system can lock a folder.
        let lock = fs::File::open(dir).and_then(|dir| dir.lock().map(|()| dir));
        let study = if let Some((study, text)) = load_existing(dir)? {
            check_questions(&study, dataset, dir)?;
            write_study::<FromDatasetError>(dir, &self.extended_text(&text, &study, dir)?)?
        } else {
            self.create(dir, dataset).inspect_err(|_| {
                if is_new {
                    let _ = fs::remove_dir(dir);
                }
            })?
        };
        drop(lock);
        Ok(study)
    }

    /// A new study. If it is invalid, its copy of the dataset is removed again; a file of somebody else is never
    /// touched.
    fn create(&self, dir: &Path, dataset: &Dataset) -> Result<Study, FromDatasetError> {
        let (name, lines) = (format!("{}.jsonl", dataset.name()), dataset.to_lines());
        let copy = dir.join(&name);
        let is_there = copy.exists();
        // One byte more tells a longer file from an equal one.
        let known = File::open(&copy).and_then(|file| read_to_end(file, lines.len() as u64));
        if is_there && known.ok().as_deref() != Some(lines.as_bytes()) {
            return Err(FromDatasetError::FileExists { path: copy });
        }
        if !is_there {
            write_file(&copy, |out| Ok::<_, FromDatasetError>(out.write_all(lines.as_bytes())?))?;
        }
        let scorer = self.scorer.unwrap_or_else(|| detect_scorer(dataset.items()).scorer);
        write_study(dir, &self.new_text(&name, scorer)?).inspect_err(|_: &FromDatasetError| {
            if !is_there {
                let _ = fs::remove_file(&copy);
            }
        })
    }

    fn new_text(&self, copy: &str, scorer: Scorer) -> Result<String, StudyError> {
        let text = format!(
            "# Made by `reasonscape run {}`. Everything can be changed here; `reasonscape run` on this folder then\n\
             # sends only what is missing.\ndataset = {}\nscorer = \"{scorer}\"\nrepeats = {}\n",
            self.source.escape_debug(),
            json!(copy),
            self.repeats.unwrap_or(1)
        );
        let mut text = StudyText::parse(&text)?;
        for model in self.models {
            text.append_eval(&self.spec, model);
        }
        Ok(text.to_string())
    }

    /// The text of a study with the models that it does not query yet, and as many repeats as are wanted now.
    fn extended_text(&self, text: &str, study: &Study, dir: &Path) -> Result<String, FromDatasetError> {
        let mut text = StudyText::parse(text)?;
        let base_url = &self.spec.base_url;
        for model in self.models {
            let known =
                study.evals.iter().enumerate().find(|(_, eval)| eval.model == *model && self.includes(eval));
            match known {
                None => text.append_eval(&self.spec, model),
                Some((_, eval))
                    if eval.base_urls.iter().any(|known| known == base_url.trim_end_matches('/')) => {}
                // The address is no part of an evaluation's identity. One that receives an API key is only changed by hand.
                Some((index, eval))
                    if eval.api_key_env.is_none()
                        && eval.headers.is_empty()
                        && text.set_base_url(index, base_url) => {}
                Some((_, eval)) => {
                    return Err(FromDatasetError::OtherEndpoint {
                        model: model.clone(),
                        known: eval.base_urls.join(" and "),
                        given: base_url.clone(),
                        file: dir.join(Study::FILE),
                    });
                }
            }
        }
        if let Some(repeats) = self.repeats.filter(|repeats| *repeats != study.repeats) {
            text.set_number("repeats", repeats);
        }
        let known = study.dataset.as_ref().and_then(Dataset::scorer);
        if let Some(scorer) = self.scorer.filter(|scorer| Some(*scorer) != known) {
            text.set_text("scorer", &scorer.to_string());
        }
        Ok(text.to_string())
    }

    /// Whether an evaluation queries one of the models in the way that is described here.
    pub fn includes(&self, eval: &Eval) -> bool {
        self.models.contains(&eval.model)
            && self.spec.template.as_ref().is_none_or(|template| eval.template.name == *template)
            && self.spec.sampler.as_ref().is_none_or(|sampler| eval.sampler.name == *sampler)
    }
}

/// Refuses other questions: answers to both would stand beside each other as if they were to the same.
fn check_questions(study: &Study, dataset: &Dataset, dir: &Path) -> Result<(), FromDatasetError> {
    match &study.dataset {
        None => Err(FromDatasetError::OfSuite { dir: dir.to_owned(), suite: study.suite.name.clone() }),
        Some(known) if known.to_lines() != dataset.to_lines() => Err(FromDatasetError::OtherQuestions {
            dir: dir.to_owned(),
            known: known.len(),
            dataset: known.name().to_owned(),
            given: dataset.len(),
        }),
        Some(_) => Ok(()),
    }
}

/// The study in a folder, and its text.
fn load_existing(dir: &Path) -> Result<Option<(Study, String)>, FromDatasetError> {
    let file = dir.join(Study::FILE);
    match crate::toml_document::read(&file)? {
        Some(text) => Ok(Some((Study::parse(&text, dir)?, text))),
        None => Ok(None),
    }
}
