//! Finds a trial by its URL, with its transcript and its neighbors in a list.

use std::path::Path;

use reasonscape_cache::{Cache, CacheError};
use reasonscape_points::{PointsError, StoredTrial, TranscriptReader};
use reasonscape_providers::Transcript;
use serde::Deserialize;

use super::app::{App, Snapshot};
use super::error::ApiError;
use super::params::number;
use super::point_id::point_id;
use super::query_string::{Query, encoded};
use super::trial_query::{NAMES, TrialName, TrialQuery, params_of_point};
use reasonscape_analysis::{LogprobStats, logprob_stats};

/// The path parameters of a trial's URL.
#[derive(Debug, Deserialize)]
pub(crate) struct TrialPath {
    eval: String,
    task: String,
    point: String,
    index: u64,
}

/// The path of a trial below the base path, without the list that it is shown in.
pub(crate) fn trial_path(name: &TrialName) -> String {
    let repeat = if name.repeat == 0 { String::new() } else { format!("?repeat={}", name.repeat) };
    let (eval, task, point) = (encoded(&name.eval_id), encoded(&name.base_task), point_id(&name.params));
    format!("/trials/{eval}/{task}/{point}/{}{repeat}", name.index)
}

/// The link to a trial; `list` is the query of the list that it is shown in.
pub(crate) fn trial_href(app: &App, name: &TrialName, list: &Query) -> String {
    let repeat = name.repeat.to_string();
    let query = list.with("repeat", (name.repeat > 0).then_some(&repeat));
    format!("{}{}{query}", app.base, trial_path(&TrialName { repeat: 0, ..name.clone() }))
}

/// A trial, its transcript if the cache has it, and its neighbors in a list.
pub(crate) struct TrialDetails {
    pub(crate) trial: StoredTrial,
    pub(crate) transcript: Option<Transcript>,
    pub(crate) previous: Option<TrialName>,
    pub(crate) next: Option<TrialName>,
}

impl TrialDetails {
    /// The surprisal of the response, if log probabilities were requested.
    pub(crate) fn logprob_stats(&self) -> Option<LogprobStats> {
        logprob_stats(self.transcript.as_ref()?, self.trial.answer.as_deref())
    }
}

/// Finds a trial and its neighbors in the list that the query describes.
pub(crate) async fn find_trial(
    app: &App,
    study: &Snapshot,
    path: &TrialPath,
    query: &Query,
) -> Result<TrialDetails, ApiError> {
    let absent = || ApiError::not_found("no such trial; it may have been rerun with other settings");
    let repeat = number::<u32>(query, "repeat")?.unwrap_or(0);
    let db = &study.analyses.db;
    let params = params_of_point(db, &path.eval, &path.task, &path.point).await?.ok_or_else(absent)?;
    let trial = db.trial(&path.eval, &path.task, &params, path.index, repeat).await?;
    let trial = trial.ok_or_else(absent)?;
    let index = study.analyses.trial_index(&TrialQuery::from_query(&query.only(&NAMES))?).await?;
    let [previous, next] = index.neighbors(db, &TrialName::from(&trial)).await?;
    Ok(TrialDetails { transcript: read_transcript(app, &trial).await, trial, previous, next })
}

/// Opens a cache for reading. A read-only server doesn't even create SQLite's auxiliary files.
pub(crate) fn open_cache(path: &Path, read_only: bool) -> Result<Cache, CacheError> {
    if read_only { Cache::open_untouched(path) } else { Cache::open_read_only(path) }
}

/// The messages and the response of a trial, if the cache has them.
pub(crate) async fn read_transcript(app: &App, trial: &StoredTrial) -> Option<Transcript> {
    let (cache, read_only) = (app.folder().join("cache.sqlite"), app.access.read_only);
    let (key, repeat, model) = (trial.cache_key.clone(), trial.repeat, trial.model.clone());
    let read = tokio::task::spawn_blocking(move || -> Result<Option<Transcript>, PointsError> {
        if !cache.exists() {
            return Ok(None);
        }
        let cache = open_cache(&cache, read_only)?;
        TranscriptReader::open(Some(&cache))?.find(&key, repeat, &model)
    });
    match read.await {
        Ok(Ok(transcript)) => transcript,
        Ok(Err(error)) => {
            tracing::warn!(%error, "the cache can't be read");
            None
        }
        Err(error) => {
            tracing::warn!(%error, "the cache was not read");
            None
        }
    }
}
