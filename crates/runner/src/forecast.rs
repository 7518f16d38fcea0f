//! Estimates what a run would send and cost, before anything is spent.

use std::ops::ControlFlow;

use reasonscape_cache::{Cache, Response};
use reasonscape_study::{
    Eval, EvalId, PlannedTrial, Selection, Study, check_selection, is_selected, selected_points, walk_trials,
};
use schemars::JsonSchema;
use serde::Serialize;

use crate::run::RunError;

/// Maximum cached responses to read for the mean completion length of an evaluation.
const MAX_SAMPLED: u64 = 200;
/// Approximate bytes of a request per prompt token.
const BYTES_PER_TOKEN: u64 = 4;

/// Estimate for one evaluation.
#[derive(Debug, Clone)]
pub struct Forecast {
    /// Identifier of the evaluation.
    pub id: EvalId,
    /// Display name of the evaluation.
    pub name: String,
    /// Points in the plan.
    pub points: usize,
    /// Trials planned.
    pub trials: u64,
    /// Trials with a cached response.
    pub cached: u64,
    /// Estimated prompt tokens.
    pub prompt_tokens: u64,
    /// Estimated completion tokens: the mean length of cached responses, or a quarter of the sampler's limit if there are
    /// none.
    pub completion_tokens: u64,
    /// Completion tokens if every response reached the sampler's limit.
    pub max_completion_tokens: Option<u64>,
    /// Estimated cost, if prices are known.
    pub cost: Option<f64>,
}

impl Forecast {
    /// Requests that would be sent.
    pub fn to_send(&self) -> u64 {
        self.trials - self.cached
    }

    /// The forecast as `reasonscape plan --format json` and the web API show it.
    pub fn summary(&self) -> ForecastSummary {
        ForecastSummary {
            eval_id: self.id.to_string(),
            name: self.name.clone(),
            points: self.points,
            trials: self.trials,
            cached: self.cached,
            to_send: self.to_send(),
            prompt_tokens: self.prompt_tokens,
            completion_tokens: self.completion_tokens,
            most_completion_tokens: self.max_completion_tokens,
            cost: self.cost,
        }
    }
}

/// A forecast as serialized to JSON.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ForecastSummary {
    /// The id of the evaluation.
    pub eval_id: String,
    /// The display name of the evaluation.
    pub name: String,
    /// Points in the plan.
    pub points: usize,
    /// Trials in the plan.
    pub trials: u64,
    /// Trials with a response in the cache.
    pub cached: u64,
    /// Requests that would be sent.
    pub to_send: u64,
    /// Estimated tokens of the prompts.
    pub prompt_tokens: u64,
    /// Estimated tokens of the completions.
    pub completion_tokens: u64,
    /// Tokens of the completions if each one reached the limit of the sampler.
    pub most_completion_tokens: Option<u64>,
    /// Estimated cost, if prices are known.
    pub cost: Option<f64>,
}

/// Looks up every trial of a run without sending anything. A study without a cache has no cached responses.
///
/// If the study sets a precision, the forecast is an upper bound: it counts every point up to its maximum.
///
/// # Errors
/// A [`RunError`] when the study or the cache cannot be read, or the selection matches nothing.
pub fn forecast(
    study: &Study,
    selection: &Selection,
    cache: Option<&Cache>,
) -> Result<Vec<Forecast>, RunError> {
    check_selection(study, selection)?;
    let points = selected_points(study, selection);
    let evals: Vec<usize> =
        (0..study.evals.len()).filter(|i| is_selected(&study.evals[*i], selection)).collect();
    let count = |point: &reasonscape_core::Point<'_>| match study.precision {
        Some(precision) => precision.max_count,
        None => study.count_at(point, selection),
    };
    let round: Vec<_> = points.iter().map(|point| 0..count(point)).collect();
    let reader = cache.map(Cache::reader).transpose()?;

    evals
        .into_iter()
        .map(|eval_index| {
            let eval = &study.evals[eval_index];
            let (mut trials, mut cached, mut bytes) = (0, 0, 0);
            let (mut sampled, mut sampled_tokens) = (0, 0);
            let mut failed = None;
            let mut visit = |planned: PlannedTrial<'_>| {
                trials += 1;
                let is_cached = reader.as_ref().map(|reader| {
                    if sampled == MAX_SAMPLED {
                        return reader.contains(&planned.id);
                    }
                    let response = reader.get(&planned.id)?;
                    if let Some(tokens) =
                        response.as_ref().and_then(|response| completion_tokens(eval, response))
                    {
                        sampled += 1;
                        sampled_tokens += tokens;
                    }
                    Ok(response.is_some())
                });
                match is_cached {
                    Some(Ok(true)) => cached += 1,
                    Some(Err(error)) => {
                        failed = Some(error);
                        return ControlFlow::Break(());
                    }
                    Some(Ok(false)) | None => bytes += planned.request.len() as u64,
                }
                ControlFlow::Continue(())
            };
            walk_trials(study, eval, &points, &round, selection.shard, &mut visit)?;
            if let Some(error) = failed {
                return Err(error.into());
            }
            let to_send = trials - cached;
            let limit = token_limit(eval);
            let mean_tokens =
                u64::checked_div(sampled_tokens, sampled).unwrap_or_else(|| limit.unwrap_or(1024) / 4);
            let (prompt_tokens, completion_tokens) = (bytes / BYTES_PER_TOKEN, to_send * mean_tokens);
            Ok(Forecast {
                id: eval.id.clone(),
                name: eval.name.clone(),
                points: points.len(),
                trials,
                cached,
                prompt_tokens,
                completion_tokens,
                max_completion_tokens: limit.map(|limit| limit * to_send),
                cost: eval.prices.map(|prices| prices.cost(prompt_tokens, completion_tokens)),
            })
        })
        .collect()
}

fn completion_tokens(eval: &Eval, response: &Response) -> Option<u64> {
    eval.provider.parse(response.status, &response.body).ok()?.usage.completion_tokens
}

/// The sampler's token limit, under either of its names.
fn token_limit(eval: &Eval) -> Option<u64> {
    ["max_tokens", "max_completion_tokens"].iter().find_map(|name| eval.params.get(*name)?.as_u64())
}
