//! The new-run form.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::http::Uri;
use axum::response::{IntoResponse, Redirect, Response};
use reasonscape_core::{Scorer, Suite};
use reasonscape_providers::Provider;
use reasonscape_study::{Sampler, Template};
use serde::Serialize;
use url::form_urlencoded;

use super::render;
use crate::app::App;
use crate::error::ApiError;
use crate::query_string::encoded;
use crate::runs::api::{body_of, run_blocking};
use crate::runs::{CreateRunRequest, FormOptions, StudyOptions};

/// Text fields that keep their values when the form is shown again.
const TEXT_FIELDS: [&str; 12] = [
    "models",
    "base_url",
    "map",
    "target_regex",
    "sample",
    "count",
    "repeats",
    "concurrency",
    "price_prompt",
    "price_completion",
    "name",
    "text",
];

#[derive(Serialize)]
struct Page {
    problem: Option<String>,
    read_only: bool,
    sources: Vec<Choice>,
    /// The study itself, if it has a study.toml.
    study: Option<StudyChoices>,
    study_problem: Option<String>,
    suites: Vec<Choice>,
    datasets: Vec<Choice>,
    scorers: Vec<Choice>,
    files: Vec<File>,
    providers: Vec<Choice>,
    templates: Vec<Choice>,
    samplers: Vec<Choice>,
    variables: Vec<Choice>,
    addresses: Vec<String>,
    /// The values of text fields.
    given: std::collections::BTreeMap<&'static str, String>,
    uploads: String,
}

#[derive(Serialize)]
struct StudyChoices {
    source: String,
    evals: Vec<Choice>,
    tasks: Vec<Choice>,
}

#[derive(Serialize)]
struct Choice {
    value: String,
    shown: String,
    explained: String,
    is_chosen: bool,
}

#[derive(Serialize)]
struct File {
    name: String,
    size: String,
}

/// A filled-in form: from the query of a link, or from the body of a rejected request.
struct Filled {
    pairs: Vec<(String, String)>,
}

impl Filled {
    fn all<'f>(&'f self, field: &'f str) -> impl Iterator<Item = &'f str> {
        self.pairs.iter().filter(move |(name, _)| name == field).map(|(_, value)| value.as_str())
    }

    fn first(&self, field: &str) -> Option<&str> {
        self.pairs.iter().find(|(name, _)| name == field).map(|(_, value)| value.as_str())
    }

    /// `source`, or `ask` as version 0.1 wrote it into links.
    fn source(&self) -> Option<&str> {
        self.first("source").or_else(|| self.first("ask")) // wording: allow
    }

    /// An option of a field; `default` is chosen if the form has no value.
    fn choice(&self, name: &str, default: &str, value: &str, shown: &str) -> Choice {
        Choice {
            value: value.to_owned(),
            shown: shown.to_owned(),
            explained: String::new(),
            is_chosen: self.first(name).unwrap_or(default) == value,
        }
    }

    /// Options labeled by their values.
    fn choices<'v>(&self, name: &str, default: &str, values: impl Iterator<Item = &'v str>) -> Vec<Choice> {
        values.map(|value| self.choice(name, default, value, value)).collect()
    }
}

impl From<&[u8]> for Filled {
    fn from(body: &[u8]) -> Self {
        let pairs = form_urlencoded::parse(body);
        Self { pairs: pairs.map(|(name, value)| (name.into_owned(), value.into_owned())).collect() }
    }
}

pub(crate) async fn page(State(app): State<Arc<App>>, uri: Uri) -> Result<Response, ApiError> {
    render_form(&app, &Filled::from(uri.query().unwrap_or_default().as_bytes()), None).await
}

/// The filled-in form, with the error if there is one.
async fn render_form(app: &App, filled: &Filled, problem: Option<ApiError>) -> Result<Response, ApiError> {
    let options = run_blocking(app, |runs| Ok(runs.form_options())).await?;
    let status = problem.as_ref().map(|problem| problem.status);
    let page = Page::new(app, filled, &options, problem.map(|problem| problem.message));
    let mut response = render(app, "new_run.html", "Runs", &[], &page)?;
    if let Some(status) = status {
        // The page shows the error itself, next to the form.
        response.extensions_mut().insert(super::InlineErrorPage);
        *response.status_mut() = status;
    }
    Ok(response)
}

impl Page {
    fn new(app: &App, filled: &Filled, options: &FormOptions, problem: Option<String>) -> Self {
        let (study, study_problem) = match &options.study {
            Some(Ok(study)) => (Some(study), None),
            Some(Err(problem)) => (None, Some(problem.message.clone())),
            None => (None, None),
        };
        let files = options.datasets.iter();
        Self {
            problem,
            read_only: app.access.read_only,
            sources: source_choices(filled, options),
            study: study.map(|study| StudyChoices::new(filled, study)),
            study_problem,
            suites: suite_choices(filled, study),
            datasets: filled.choices("dataset", "", options.datasets.iter().map(|one| one.name.as_str())),
            scorers: filled.choices("scorer", "", Scorer::ALL.iter().map(|scorer| scorer.name())),
            files: files.map(|one| File { name: one.name.clone(), size: size(one.bytes) }).collect(),
            providers: filled.choices("provider", "openai-chat", Provider::NAMES.iter().copied()),
            templates: template_choices(filled),
            samplers: sampler_choices(filled),
            variables: variable_choices(filled, &options.variables),
            addresses: study.map(|study| study.addresses.clone()).unwrap_or_default(),
            given: TEXT_FIELDS.map(|name| (name, filled.first(name).unwrap_or_default().to_owned())).into(),
            uploads: format!("{}/api/v1/datasets", app.base),
        }
    }
}

/// The sources of a run: a suite, a dataset, or the study.
fn source_choices(filled: &Filled, options: &FormOptions) -> Vec<Choice> {
    let has_only_datasets = options.study.is_none() && !options.datasets.is_empty();
    let default = if filled.first("dataset").is_some() || has_only_datasets { "dataset" } else { "suite" };
    let source = |value: &str, shown: &str, explained: &str| Choice {
        value: value.to_owned(),
        shown: shown.to_owned(),
        explained: explained.to_owned(),
        is_chosen: filled.source().unwrap_or(default) == value,
    };
    let mut choices = vec![
        source("suite", "A suite", "problems generated from difficulty parameters"),
        source("dataset", "A dataset", "your own questions and answers"),
    ];
    if options.study.is_some() {
        choices.push(source(
            "study",
            "This study",
            "the models of this study: missing responses, or more problems",
        ));
    }
    choices
}

fn suite_choices(filled: &Filled, study: Option<&StudyOptions>) -> Vec<Choice> {
    let choice = |name: &str, shown: &str| filled.choice("suite", "quick", name, shown);
    let built_in = |name: &'static str| {
        let suite = Suite::built_in(name).and_then(|text| Suite::parse(text).ok());
        let description = suite.map(|suite| suite.description).unwrap_or_default();
        choice(name, &format!("{name}: {description}"))
    };
    let mut choices: Vec<Choice> = Suite::built_in_names().map(built_in).collect();
    choices.extend(study.map(|study| choice("study", &format!("suite of this study: {}", study.source))));
    choices
}

fn template_choices(filled: &Filled) -> Vec<Choice> {
    let choice = |name: &'static str| {
        let description = Template::built_in(name).map(|template| template.description).unwrap_or_default();
        filled.choice("template", "zero-shot-cot", name, &format!("{name}: {description}"))
    };
    Template::built_in_names().map(choice).collect()
}

fn sampler_choices(filled: &Filled) -> Vec<Choice> {
    let choice = |name: &'static str| {
        let description = Sampler::built_in(name).map(|sampler| sampler.description).unwrap_or_default();
        filled.choice("sampler", "greedy-2k", name, &format!("{name}: {description}"))
    };
    Sampler::built_in_names().map(choice).collect()
}

fn variable_choices(filled: &Filled, variables: &[(String, bool)]) -> Vec<Choice> {
    let choice = |(name, is_set): &(String, bool)| {
        let shown = format!("{name} ({})", if *is_set { "set" } else { "not set" });
        filled.choice("api_key_env", "", name, &shown)
    };
    variables.iter().map(choice).collect()
}

impl StudyChoices {
    fn new(filled: &Filled, study: &StudyOptions) -> Self {
        let is_new = filled.source() != Some("study");
        let choice = |name: &'static str, value: &str, shown: &str, default: bool| Choice {
            value: value.to_owned(),
            shown: shown.to_owned(),
            explained: String::new(),
            is_chosen: filled.all(name).any(|chosen| chosen == value) || is_new && default,
        };
        Self {
            source: study.source.clone(),
            evals: study.evals.iter().map(|(id, label)| choice("evals", id, label, true)).collect(),
            tasks: study.tasks.iter().map(|task| choice("tasks", task, task, false)).collect(),
        }
    }
}

/// `512 bytes`, `1.2 MB`.
fn size(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} bytes"),
        1_000..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}

pub(crate) async fn create(State(app): State<Arc<App>>, request: Request) -> Result<Response, ApiError> {
    let body = body_of(request.into_body()).await?;
    let created = match CreateRunRequest::from_form(&body) {
        Ok(request) => run_blocking(&app, move |runs| runs.create(&request)).await,
        Err(problem) => Err(problem),
    };
    match created {
        Ok(record) => Ok(Redirect::to(&format!("{}/runs/{}", app.base, record.name)).into_response()),
        Err(problem) => render_form(&app, &Filled::from(&*body), Some(problem)).await,
    }
}

/// Stores a dataset that was pasted into the form.
pub(crate) async fn paste(State(app): State<Arc<App>>, request: Request) -> Result<Response, ApiError> {
    let body = body_of(request.into_body()).await?;
    let filled = Filled::from(&*body);
    let text = filled.first("text").unwrap_or_default().to_owned();
    let name = filled.first("name").map(str::trim).filter(|name| !name.is_empty()).unwrap_or("pasted.jsonl");
    let runs = app.runs()?;
    let stored = match runs.receive_dataset(name, Body::from(text)).await {
        Ok(received) => runs.keep_dataset(received).await,
        Err(problem) => Err(problem),
    };
    match stored {
        Ok(taken) => {
            let address = format!("{}/runs/new?source=dataset&dataset={}", app.base, encoded(&taken.name));
            Ok(Redirect::to(&address).into_response())
        }
        Err(problem) => render_form(&app, &filled, Some(problem)).await,
    }
}

pub(crate) async fn delete_dataset(
    State(app): State<Arc<App>>,
    Path(name): Path<String>,
) -> Result<Response, ApiError> {
    app.runs()?.delete_dataset(&name)?;
    Ok(Redirect::to(&format!("{}/runs/new?source=dataset", app.base)).into_response())
}
