//! What the cache holds in answer to the tests of a study, texts and all.

use std::ops::ControlFlow;
use std::sync::Arc;

use reasonscape_cache::{Cache, CacheError, Reader, Response};
use reasonscape_core::EntryId;
use reasonscape_core::{Extraction, Outcome, Reply, Task, Test, score};
use reasonscape_providers::Completion;
use reasonscape_study::{Eval, Selection, Study, planned_requests};

use crate::PointsError;

/// An entry of the cache, as far as it can be read.
pub(super) enum Entry {
    Answer(Response, Completion),
    Damaged(String),
    Missing,
}

pub(super) fn find(reader: &Reader, eval: &Eval, id: &EntryId) -> Result<Entry, PointsError> {
    let response = match reader.get(id) {
        Ok(Some(response)) => response,
        Ok(None) => return Ok(Entry::Missing),
        Err(error @ CacheError::DamagedEntry { .. }) => return Ok(Entry::Damaged(error.to_string())),
        Err(error) => return Err(error.into()),
    };
    Ok(match eval.provider.parse(response.status, &response.body) {
        Ok(completion) => Entry::Answer(response, completion),
        Err(problem) => Entry::Damaged(format!("the reply under {id} cannot be read: {problem}")),
    })
}

/// A test and what was answered.
#[derive(Debug)]
pub struct ScoredResponse<'a> {
    /// The task.
    pub task: &'static dyn Task,
    /// Place of the test in the stream of its point.
    pub index: usize,
    /// Which repeat of the same request.
    pub repeat: u32,
    /// What was asked.
    pub test: &'a Test,
    /// What became of it.
    pub status: Outcome,
    /// The reply, taken apart.
    pub found: Extraction<'a>,
    /// All that the provider said.
    pub completion: &'a Completion,
    /// From sending the request to the last byte of the reply.
    pub latency_ms: u64,
}

/// Hands over the answers of an evaluation, in the order of its points, tests and repeats, until `visit` breaks off.
/// Says how many entries of the cache could not be read.
///
/// # Errors
/// A [`PointsError`] if the cache cannot be read.
pub fn read_answers(
    study: &Study,
    cache: &Cache,
    eval: &Eval,
    selection: &Selection,
    visit: &mut dyn FnMut(ScoredResponse<'_>) -> ControlFlow<()>,
) -> Result<u64, PointsError> {
    let reader = cache.reader()?;
    let namespace: Arc<str> = Arc::from(eval.cache_namespace.as_str());
    let mut damaged = 0;
    for point in reasonscape_study::selected_points(study, selection) {
        for test in planned_requests(study, eval, &point).take(study.count_at(&point, selection)) {
            let test = test?;
            for repeat in 0..study.repeats {
                let id = EntryId { key: test.key, namespace: Arc::clone(&namespace), repeat };
                let (response, completion) = match find(&reader, eval, &id)? {
                    Entry::Answer(response, completion) => (response, completion),
                    Entry::Damaged(_) => {
                        damaged += 1;
                        continue;
                    }
                    Entry::Missing => continue,
                };
                let reply =
                    Reply { content: &completion.content, reasoning: completion.reasoning.as_deref() };
                let (status, found) = score(point.task, &test.test, &reply, completion.is_truncated());
                let answered = ScoredResponse {
                    task: point.task,
                    index: test.index,
                    repeat,
                    test: &test.test,
                    status,
                    found,
                    completion: &completion,
                    latency_ms: response.latency_ms,
                };
                if visit(answered).is_break() {
                    return Ok(damaged);
                }
            }
        }
    }
    Ok(damaged)
}
