//! A run to be made: what to ask, of whom, and how.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::http::Uri;
use axum::response::{IntoResponse, Redirect, Response};
use reasonscape_core::Suite;
use reasonscape_runner::{Provider, Sampler, Template};
use serde::Serialize;
use url::form_urlencoded;

use super::render;
use crate::web::app::App;
use crate::web::error::Problem;
use crate::web::query_string::encoded;
use crate::web::runs::api::{aside, body_of};
use crate::web::runs::{Listed, Offer, Wish};
use crate::web::sanitize::visible;

/// Fields of the form that are kept as they were filled in.
const TEXTS: [&str; 12] = [
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
    asks: Vec<Choice>,
    /// The study itself, if it can be asked.
    study: Option<StudyOffer>,
    study_problem: Option<String>,
    suites: Vec<Choice>,
    datasets: Vec<Choice>,
    files: Vec<File>,
    providers: Vec<Choice>,
    templates: Vec<Choice>,
    samplers: Vec<Choice>,
    variables: Vec<Choice>,
    addresses: Vec<String>,
    /// What was filled in.
    given: std::collections::BTreeMap<&'static str, String>,
    uploads: String,
}

#[derive(Serialize)]
struct StudyOffer {
    asks: String,
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

/// What was filled in: an address for links, a body after a mistake.
struct Filled {
    pairs: Vec<(String, String)>,
}

impl Filled {
    fn all<'f>(&'f self, wanted: &'f str) -> impl Iterator<Item = &'f str> {
        self.pairs.iter().filter(move |(name, _)| name == wanted).map(|(_, value)| value.as_str())
    }

    fn first(&self, wanted: &str) -> Option<&str> {
        self.pairs.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.as_str())
    }

    fn choice(&self, name: &str, usual: &str, value: &str, shown: &str, explained: &str) -> Choice {
        Choice {
            value: value.to_owned(),
            shown: visible(shown).into_owned(),
            explained: explained.to_owned(),
            is_chosen: self.first(name).unwrap_or(usual) == value,
        }
    }
}

impl From<&[u8]> for Filled {
    fn from(body: &[u8]) -> Self {
        let pairs = form_urlencoded::parse(body);
        Self { pairs: pairs.map(|(name, value)| (name.into_owned(), value.into_owned())).collect() }
    }
}

pub(in crate::web) async fn page(State(app): State<Arc<App>>, uri: Uri) -> Result<Response, Problem> {
    shown(&app, &Filled::from(uri.query().unwrap_or_default().as_bytes()), None).await
}

/// The form, filled in as it was, with what is wrong.
async fn shown(app: &App, filled: &Filled, problem: Option<Problem>) -> Result<Response, Problem> {
    let offer = aside(app, |runs| Ok(runs.offer())).await?;
    let usual = if filled.first("dataset").is_some() || offer.study.is_none() && !offer.datasets.is_empty() {
        "dataset"
    } else {
        "suite"
    };
    let status = problem.as_ref().map(|problem| problem.status);
    let ask =
        |value: &str, shown: &str, explained: &str| filled.choice("ask", usual, value, shown, explained);
    let mut asks = vec![
        ask("suite", "A suite", "tests that are made up anew, over a space of difficulty"),
        ask("dataset", "A dataset", "your own questions with their answers"),
    ];
    if offer.study.is_some() {
        asks.push(ask("study", "This study", "its own models again: what is missing, or more tests"));
    }
    let built_in = |text: &str| Suite::parse(text).map(|suite| suite.description).unwrap_or_default();
    let mut suites: Vec<Choice> = Suite::built_in_names()
        .map(|name| {
            let explained = Suite::built_in(name).map(built_in).unwrap_or_default();
            filled.choice("suite", "quick", name, &format!("{name}: {explained}"), "")
        })
        .collect();
    let (mut addresses, mut study, mut study_problem) = (Vec::new(), None, None);
    match &offer.study {
        Some(Ok(known)) => {
            suites.push(filled.choice(
                "suite",
                "quick",
                "study",
                &format!("of this study: {}", known.asks),
                "",
            ));
            addresses.clone_from(&known.addresses);
            study = Some(study_offer(filled, known));
        }
        Some(Err(problem)) => study_problem = Some(problem.message.clone()),
        None => {}
    }
    let template = |name: &'static str| {
        let explained = Template::built_in(name).map(|template| template.description).unwrap_or_default();
        filled.choice("template", "zero-shot-cot", name, &format!("{name}: {explained}"), "")
    };
    let sampler = |name: &'static str| {
        let explained = Sampler::built_in(name).map(|sampler| sampler.description).unwrap_or_default();
        filled.choice("sampler", "greedy-2k", name, &format!("{name}: {explained}"), "")
    };
    let variable = |(name, is_set): &(String, bool)| {
        let shown = format!("{name}, {}", if *is_set { "which is set" } else { "which is not set" });
        filled.choice("api_key_env", "", name, &shown, "")
    };
    let dataset = |listed: &Listed| filled.choice("dataset", "", &listed.name, &listed.name, "");
    let page = Page {
        problem: problem.map(|problem| problem.message),
        read_only: app.access.read_only,
        asks,
        study,
        study_problem,
        suites,
        datasets: offer.datasets.iter().map(dataset).collect(),
        files: offer
            .datasets
            .iter()
            .map(|one| File { name: one.name.clone(), size: size(one.bytes) })
            .collect(),
        providers: Provider::NAMES
            .iter()
            .map(|name| filled.choice("provider", "openai-chat", name, name, ""))
            .collect(),
        templates: Template::built_in_names().map(template).collect(),
        samplers: Sampler::built_in_names().map(sampler).collect(),
        variables: offer.variables.iter().map(variable).collect(),
        addresses,
        given: TEXTS.map(|name| (name, filled.first(name).unwrap_or_default().to_owned())).into(),
        uploads: format!("{}/api/v1/datasets", app.base),
    };
    let mut response = render(app, "new_run.html", "Runs", &[], &page)?;
    if let Some(status) = status {
        // Told on the page itself, where it can be mended.
        response.extensions_mut().insert(super::Told);
        *response.status_mut() = status;
    }
    Ok(response)
}

fn study_offer(filled: &Filled, known: &Offer) -> StudyOffer {
    let is_new = filled.first("ask") != Some("study");
    let choice = |name: &'static str, value: &str, shown: &str, usual: bool| Choice {
        value: value.to_owned(),
        shown: visible(shown).into_owned(),
        explained: String::new(),
        is_chosen: filled.all(name).any(|chosen| chosen == value) || is_new && usual,
    };
    StudyOffer {
        asks: visible(&known.asks).into_owned(),
        evals: known.evals.iter().map(|(id, label)| choice("evals", id, label, true)).collect(),
        tasks: known.tasks.iter().map(|task| choice("tasks", task, task, false)).collect(),
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

pub(in crate::web) async fn create(
    State(app): State<Arc<App>>,
    request: Request,
) -> Result<Response, Problem> {
    let body = body_of(request.into_body()).await?;
    let created = match Wish::from_form(&body) {
        Ok(wish) => aside(&app, move |runs| runs.create(&wish)).await,
        Err(problem) => Err(problem),
    };
    match created {
        Ok(record) => Ok(Redirect::to(&format!("{}/runs/{}", app.base, record.name)).into_response()),
        Err(problem) => shown(&app, &Filled::from(&*body), Some(problem)).await,
    }
}

/// A dataset that was pasted into a field.
pub(in crate::web) async fn paste(
    State(app): State<Arc<App>>,
    request: Request,
) -> Result<Response, Problem> {
    let body = body_of(request.into_body()).await?;
    let filled = Filled::from(&*body);
    let text = filled.first("text").unwrap_or_default().to_owned();
    let name = filled.first("name").map(str::trim).filter(|name| !name.is_empty()).unwrap_or("pasted.jsonl");
    match app.runs()?.take_dataset(name, Body::from(text)).await {
        Ok(taken) => {
            let address = format!("{}/runs/new?ask=dataset&dataset={}", app.base, encoded(&taken.name));
            Ok(Redirect::to(&address).into_response())
        }
        Err(problem) => shown(&app, &filled, Some(problem)).await,
    }
}

pub(in crate::web) async fn forget(
    State(app): State<Arc<App>>,
    Path(name): Path<String>,
) -> Result<Response, Problem> {
    app.runs()?.forget_dataset(&name)?;
    Ok(Redirect::to(&format!("{}/runs/new?ask=dataset", app.base)).into_response())
}
