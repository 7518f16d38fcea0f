//! Scores the responses to the tests of one point.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

use reasonscape_cache::{Cache, Reader};
use reasonscape_core::EntryId;
use reasonscape_core::{Outcome, Point, Reply, canonical_json, score};
use reasonscape_providers::Finish;
use reasonscape_study::{Eval, Selection, Study, planned_requests};

use super::answers::{Entry, find};
use crate::gzip_size::GzipSizer;
use crate::{PointTrials, PointsError, Trial};
use reasonscape_ingest::Progress;

/// How many consecutive tests beyond the plan may lack a response before the rest is assumed to lack one too. A study
/// that asked for more tests before has responses beyond its plan, and a few of them may have failed.
const MAX_GAP: usize = 8;

/// Scores points, each on whatever thread it is called from.
pub(super) struct PointScorer<'s> {
    study: &'s Study,
    selection: &'s Selection,
    progress: &'s Progress,
    workers: Workers<'s>,
}

impl<'s> PointScorer<'s> {
    pub(super) fn new(
        study: &'s Study,
        cache: &'s Cache,
        selection: &'s Selection,
        progress: &'s Progress,
    ) -> Self {
        Self { study, selection, progress, workers: Workers { cache, idle: Mutex::default() } }
    }

    /// Trials that the study plans at a point.
    pub(super) fn planned_trials(&self, point: &Point<'_>) -> u64 {
        self.study.count_at(point, self.selection) as u64 * u64::from(self.study.repeats)
    }

    /// Scores every response to a test of the point, also those beyond the plan.
    pub(super) fn score(&self, eval: &Eval, point: &Point<'_>) -> Result<ScoredPoint, PointsError> {
        self.workers.with(|worker| self.score_with(eval, point, worker))
    }

    fn score_with(
        &self,
        eval: &Eval,
        point: &Point<'_>,
        worker: &mut Worker,
    ) -> Result<ScoredPoint, PointsError> {
        let Worker { reader, sizer } = worker;
        let mut scored = ScoredPoint {
            point: PointTrials {
                params: canonical_json(&point.params.to_json()),
                manifolds: point.manifolds.iter().map(|id| (*id).to_owned()).collect(),
                planned: self.planned_trials(point),
                trials: Vec::new(),
            },
            damaged: 0,
            damage: None,
        };
        let planned = self.study.count_at(point, self.selection);
        let namespace: Arc<str> = Arc::from(eval.cache_namespace.as_str());
        let mut unanswered = 0;
        let mut bytes = 0;
        for test in planned_requests(self.study, eval, point) {
            let test = test?;
            let is_beyond_plan = test.index >= planned;
            if is_beyond_plan && unanswered >= MAX_GAP || self.progress.stop.load(Ordering::Relaxed) {
                break;
            }
            let mut answered = false;
            for repeat in 0..self.study.repeats {
                let id = EntryId { key: test.key, namespace: Arc::clone(&namespace), repeat };
                let (response, completion) = match find(reader, eval, &id)? {
                    Entry::Answer(response, completion) => (response, completion),
                    Entry::Damaged(problem) => {
                        scored.add_damage(problem);
                        continue;
                    }
                    Entry::Missing => continue,
                };
                answered = true;
                bytes += completion.content.len() + completion.reasoning.as_ref().map_or(0, String::len);
                let reply =
                    Reply { content: &completion.content, reasoning: completion.reasoning.as_deref() };
                let (status, found) = score(point.task, &test.test, &reply, completion.is_truncated());
                let measured = found.reasoning.as_deref().unwrap_or(&completion.content);
                scored.point.trials.push(Trial {
                    index: test.index as u64,
                    repeat,
                    status,
                    guess: test.test.guess(),
                    prompt_tokens: completion.usage.prompt_tokens,
                    completion_tokens: completion.usage.completion_tokens,
                    reasoning_tokens: completion.usage.reasoning_tokens,
                    latency_ms: response.latency_ms,
                    received_ms: response.received_ms,
                    reasoning_chars: char_count(found.reasoning.as_deref().unwrap_or_default()),
                    answer_chars: char_count(&found.text),
                    compressed_size: sizer.gzip_size(measured.as_bytes()),
                    finish: finish(&completion.finish),
                    method: found.method.name().to_owned(),
                    answer: found.answer.filter(|_| status != Outcome::Truncated),
                    target: test.test.target.clone(),
                    cache_key: test.key,
                });
            }
            unanswered = if answered { 0 } else { unanswered + usize::from(is_beyond_plan) };
            if is_beyond_plan && answered {
                scored.point.planned += u64::from(self.study.repeats);
            }
        }
        self.progress.done.fetch_add(self.planned_trials(point), Ordering::Relaxed);
        self.progress.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        Ok(scored)
    }
}

/// The trials of a point.
pub(super) struct ScoredPoint {
    pub(super) point: PointTrials,
    /// Entries that could not be read.
    pub(super) damaged: u64,
    /// The problem of the first of them.
    pub(super) damage: Option<String>,
}

impl ScoredPoint {
    fn add_damage(&mut self, problem: String) {
        self.damaged += 1;
        self.damage.get_or_insert(problem);
    }
}

/// What a thread reuses from one point to the next.
struct Worker {
    reader: Reader,
    sizer: GzipSizer,
}

/// Idle workers, so that a connection to the cache is opened once per thread, not once per point.
struct Workers<'s> {
    cache: &'s Cache,
    idle: Mutex<Vec<Worker>>,
}

impl Workers<'_> {
    fn with<T>(&self, work: impl FnOnce(&mut Worker) -> Result<T, PointsError>) -> Result<T, PointsError> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut worker = match idle {
            Some(worker) => worker,
            None => Worker { reader: self.cache.reader()?, sizer: GzipSizer::default() },
        };
        let done = work(&mut worker);
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(worker);
        done
    }
}

pub(crate) fn char_count(text: &str) -> u64 {
    text.chars().count() as u64
}

fn finish(finish: &Finish) -> String {
    match finish {
        Finish::Stop => "stop",
        Finish::Length => "length",
        Finish::ContentFilter => "content_filter",
        Finish::Missing => "unknown",
        Finish::Other(other) => other,
    }
    .to_owned()
}
