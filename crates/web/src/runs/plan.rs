//! The plan of a run: requests, cost and required keys.

use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use reasonscape_core::TestStream;
use reasonscape_pipeline::{Forecast, ForecastSummary, forecast};
use reasonscape_providers::ApiKey;
use reasonscape_study::{Eval, Examples, Selection, Study, TemplateInput, selected_points};
use schemars::JsonSchema;
use serde::Serialize;

use super::errors::{cache_error, run_error, study_error};
use super::store::{FileStamp, stamp};
use super::{RunRecord, Runs, selected, selection};
use crate::error::ApiError;
use crate::trial_lookup::open_cache;

/// Maximum number of example prompts, one per task.
const MAX_SAMPLES: usize = 3;

/// The requests that starting a run would send, and what it needs.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Plan {
    /// The evaluations.
    pub(crate) evals: Vec<PlannedEval>,
    /// The API keys that the evaluations need.
    pub(crate) keys: Vec<RequiredKey>,
    /// The first prompts of some tasks.
    pub(crate) samples: Vec<Sample>,
    /// Warnings.
    pub(crate) warnings: Vec<String>,
    #[serde(skip)]
    pub(crate) forecasts: Vec<Forecast>,
}

/// An evaluation in the plan, as `reasonscape plan` prints it.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PlannedEval {
    #[serde(flatten)]
    pub(crate) forecast: ForecastSummary,
    /// The template, the sampler and the endpoints.
    pub(crate) how: String,
}

/// A key that evaluations need: from an environment variable, or for an endpoint that may require one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct RequiredKey {
    /// The environment variable, or the base URLs if there is none.
    pub(crate) id: String,
    /// The environment variable.
    pub(crate) variable: Option<String>,
    /// Whether the environment variable of the server is set.
    pub(crate) is_set: bool,
    /// The names of the evaluations that need it.
    pub(crate) evals: Vec<String>,
}

/// A problem and its prompt.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Sample {
    /// The task.
    pub(crate) task: String,
    /// The prompt.
    pub(crate) messages: Vec<PromptMessage>,
    /// The correct answer.
    pub(crate) target: String,
}

/// A message of a prompt.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct PromptMessage {
    /// The role: `system`, `user` or `assistant`.
    pub(crate) role: &'static str,
    /// The text.
    pub(crate) text: String,
}

/// What a plan depends on: the run, its last start, its study.toml and the cache files.
pub(super) type PlanKey = (String, Option<u64>, [Option<FileStamp>; 3]);

impl Runs {
    /// The plan; `None` if computing it takes longer than `timeout`. A later call returns the result.
    pub(crate) async fn planned(
        self: &Arc<Self>,
        record: &Arc<RunRecord>,
        timeout: Duration,
    ) -> Result<Option<Arc<Plan>>, ApiError> {
        let folder = self.store.study_folder(record);
        let files =
            [folder.join(Study::FILE), folder.join(Study::CACHE_FILE), folder.join("cache.sqlite-wal")];
        let key = (record.name.clone(), record.started_ms, files.map(|file| stamp(&file).ok()));
        let (runs, record) = (Arc::clone(self), Arc::clone(record));
        // A separate task, so that a timeout does not cancel the computation.
        let computing = tokio::spawn(async move {
            let compute = async || {
                let (runs, record) = (Arc::clone(&runs), Arc::clone(&record));
                let computed = tokio::task::spawn_blocking(move || runs.compute_plan(&record)).await;
                let failed = |_| Err(ApiError::from_status(StatusCode::INTERNAL_SERVER_ERROR));
                computed.unwrap_or_else(failed).map(Arc::new)
            };
            runs.plans.get(key, compute).await
        });
        match tokio::time::timeout(timeout, computing).await {
            Ok(Ok(plan)) => plan.map(Some),
            Ok(Err(_)) => Err(ApiError::from_status(StatusCode::INTERNAL_SERVER_ERROR)),
            Err(_) => Ok(None),
        }
    }

    /// Computes the plan.
    fn compute_plan(&self, record: &RunRecord) -> Result<Plan, ApiError> {
        let study = self.store.study(&self.store.study_folder(record))?;
        let selection = selection(record);
        let path = study.cache_path();
        let cache = path.exists().then(|| open_cache(&path, self.read_only)).transpose();
        let cache = cache.map_err(|error| cache_error(&error))?;
        let forecasts = forecast(&study, &selection, cache.as_ref()).map_err(|error| run_error(&error))?;
        let keys = keys(&study, &selection);
        let mut warnings = Vec::new();
        if study.precision.is_some() && selection.count.is_none() {
            warnings.push("A target precision is set, so this is the maximum number of requests.".to_owned());
        }
        if forecasts.iter().all(|one| one.to_send() == 0) {
            warnings.push("All responses are cached: starting the run only scores them.".to_owned());
        }
        for key in keys.iter().filter(|key| key.variable.is_some() && !key.is_set) {
            warnings.push(format!(
                "The environment variable {} of the server is not set; enter the key for this run.",
                key.id
            ));
        }
        let planned =
            |one: &Forecast| PlannedEval { forecast: one.summary(), how: describe_request(&study, one) };
        let evals = forecasts.iter().map(planned).collect();
        Ok(Plan { evals, keys, samples: samples(&study, &selection)?, warnings, forecasts })
    }
}

/// The id of the key that an evaluation needs.
pub(super) fn key_id(eval: &Eval) -> String {
    eval.api_key_env.clone().unwrap_or_else(|| eval.base_urls.join(" "))
}

/// The keys that evaluations need, each once.
pub(super) fn keys(study: &Study, selection: &Selection) -> Vec<RequiredKey> {
    let mut keys: Vec<RequiredKey> = Vec::new();
    for eval in selected(study, selection) {
        let id = key_id(eval);
        if let Some(known) = keys.iter_mut().find(|known| known.id == id) {
            known.evals.push(eval.name.clone());
            continue;
        }
        let variable = eval.api_key_env.clone();
        let is_set = variable.as_deref().is_some_and(|name| ApiKey::from_env(name).is_ok());
        keys.push(RequiredKey { id, variable, is_set, evals: vec![eval.name.clone()] });
    }
    keys
}

/// The first prompt of some tasks, as the first evaluation sends it.
fn samples(study: &Study, selection: &Selection) -> Result<Vec<Sample>, ApiError> {
    let Some(eval) = selected(study, selection).next() else { return Ok(Vec::new()) };
    let mut samples: Vec<Sample> = Vec::new();
    for point in selected_points(study, selection) {
        if samples.len() == MAX_SAMPLES {
            break;
        }
        if samples.iter().any(|sample| sample.task == point.task.name()) {
            continue;
        }
        let Some(test) = TestStream::new(point.task, point.params, study.seed).next() else { continue };
        let examples = Examples::new(point.task, point.params, study.seed, eval.template.shots);
        let question = TemplateInput { task: point.task, test: &test, examples: &examples };
        let messages = eval.template.render(&question).map_err(|error| study_error(&error))?;
        let prompt_message = |message: reasonscape_providers::Message| PromptMessage {
            role: message.role.name(),
            text: message.content,
        };
        samples.push(Sample {
            task: point.task.name().to_owned(),
            messages: messages.into_iter().map(prompt_message).collect(),
            target: test.target,
        });
    }
    Ok(samples)
}

/// The template, the sampler and the endpoints of an evaluation.
fn describe_request(study: &Study, forecast: &Forecast) -> String {
    let Some(eval) = study.evals.iter().find(|eval| eval.id == forecast.id) else { return String::new() };
    format!("{}, {}, at {}", eval.template.name, eval.sampler.name, eval.base_urls.join(" and "))
}
