//! Scores the points of a unit in parallel pieces: a generated point is one piece, a dataset is many.

use std::ops::{ControlFlow, Range};
use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError};

use reasonscape_cache::{Cache, Marks, Reader};
use reasonscape_core::{Outcome, Point, canonical_json};
use reasonscape_ingest::Progress;
use reasonscape_providers::Finish;
use reasonscape_study::{Eval, Selection, Study};

use crate::gzip_size::GzipSizer;
use crate::scoring::{ScoredTrial, UnmarkedEntries, WalkRange, Walked, walk};
use crate::{PointTrials, PointsError, Trial};

/// Problems of a dataset that are scored together. Generated points are not divided because their problems come from
/// one random stream.
const PROBLEMS_PER_PIECE: usize = 256;

/// Maximum bytes of a stored answer. The score is that of the whole answer, and the reply stays in the cache.
const MAX_ANSWER_BYTES: usize = 64 << 10;

/// Problems of a point that one thread scores.
pub(super) struct Piece<'p> {
    pub(super) point: &'p Point<'p>,
    pub(super) problems: Range<usize>,
}

/// The scored responses of a piece.
pub(super) struct ScoredPiece {
    pub(super) trials: Vec<Trial>,
    /// How many of them are not planned by the study.
    pub(super) beyond_plan: u64,
    pub(super) walked: Walked,
    /// The trials as lines, if requested.
    pub(super) answers: Vec<u8>,
}

/// Appends a trial to lines of text.
type Format<'s> = dyn Fn(&Eval, &ScoredTrial<'_>, &mut Vec<u8>) + Sync + 's;

/// Scores pieces; can be called from any thread.
pub(super) struct PieceScorer<'s> {
    study: &'s Study,
    selection: &'s Selection,
    progress: &'s Progress,
    format: Option<&'s Format<'s>>,
    /// Repeats that are planned or that the cache holds.
    repeats: u32,
    workers: Workers<'s>,
}

impl<'s> PieceScorer<'s> {
    pub(super) fn new(
        study: &'s Study,
        cache: &'s Cache,
        selection: &'s Selection,
        progress: &'s Progress,
        format: Option<&'s Format<'s>>,
        repeats: u32,
    ) -> Self {
        let workers = Workers { cache, idle: Mutex::default() };
        Self { study, selection, progress, format, repeats, workers }
    }

    /// Trials that the study plans at a point.
    pub(super) fn planned_trials(&self, point: &Point<'_>) -> u64 {
        self.study.count_at(point, self.selection) as u64 * u64::from(self.study.repeats)
    }

    /// The pieces of all points that were ever requested.
    pub(super) fn pieces<'p>(&self, points: &'p [Point<'p>], marks: &Marks) -> Vec<Piece<'p>> {
        let of_point = |point: &'p Point<'p>| {
            let planned = self.study.count_at(point, self.selection);
            let (end, step) = if let Some(items) = point.task.listed() {
                (items.len(), PROBLEMS_PER_PIECE)
            } else {
                let params = canonical_json(&point.params.to_json());
                let requested = marks.requested(point.task.name(), &params);
                (planned.max(usize::try_from(requested).unwrap_or(usize::MAX)), usize::MAX)
            };
            let starts = (0..end.max(1)).step_by(step);
            starts.map(move |start| Piece { point, problems: start..end.min(start.saturating_add(step)) })
        };
        points.iter().flat_map(of_point).collect()
    }

    /// Scores every response to a problem of the piece.
    pub(super) fn score(
        &self,
        eval: &Eval,
        piece: &Piece<'_>,
        unmarked: &UnmarkedEntries,
        beyond: bool,
    ) -> Result<ScoredPiece, PointsError> {
        self.workers.with(|Worker { reader, sizer }| {
            let Piece { point, problems } = piece;
            let planned = self.study.count_at(point, self.selection);
            let (mut trials, mut answers) = (Vec::new(), Vec::new());
            let (mut beyond_plan, mut bytes) = (0, 0);
            let mut visit = |scored: ScoredTrial<'_>| {
                let completion = scored.completion;
                bytes += completion.content.len() + completion.reasoning.as_ref().map_or(0, String::len);
                beyond_plan += u64::from(scored.index >= planned || scored.repeat >= self.study.repeats);
                if let Some(format) = self.format {
                    format(eval, &scored, &mut answers);
                }
                trials.push(trial(scored, sizer));
                ControlFlow::Continue(())
            };
            // A dataset is always looked up to its end.
            let beyond = beyond && point.task.listed().is_none();
            let (repeats, stop) = (self.repeats, &self.progress.stop);
            let range = WalkRange { problems: problems.clone(), repeats, stop, unmarked, beyond };
            let walked = walk(self.study, reader, eval, point, &range, &mut visit)?;
            let planned_here = problems.len().min(planned.saturating_sub(problems.start)) as u64;
            let done = planned_here * u64::from(self.study.repeats);
            self.progress.done.fetch_add(done, Ordering::Relaxed);
            self.progress.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
            Ok(ScoredPiece { trials, beyond_plan, walked, answers })
        })
    }
}

/// A point with the trials of a piece, as the writer takes it.
pub(super) fn point_trials(point: &Point<'_>, planned: u64, trials: Vec<Trial>) -> PointTrials {
    PointTrials {
        params: canonical_json(&point.params.to_json()),
        manifolds: point.manifolds.iter().map(|id| (*id).to_owned()).collect(),
        planned,
        trials,
    }
}

fn trial(scored: ScoredTrial<'_>, sizer: &mut GzipSizer) -> Trial {
    let prob_correct = scored.prob_correct();
    let ScoredTrial { extraction, completion, outcome, .. } = scored;
    let measured = extraction.trace.as_deref().unwrap_or(&completion.content);
    Trial {
        index: scored.index as u64,
        repeat: scored.repeat,
        status: outcome,
        guess: scored.test.guess(),
        prompt_tokens: completion.usage.prompt_tokens,
        completion_tokens: completion.usage.completion_tokens,
        reasoning_tokens: completion.usage.reasoning_tokens,
        latency_ms: scored.latency_ms,
        received_ms: scored.received_ms,
        reasoning_chars: char_count(extraction.reasoning.as_deref().unwrap_or_default()),
        answer_chars: char_count(&extraction.text),
        compressed_size: sizer.gzip_size(measured.as_bytes()),
        finish: finish(&completion.finish),
        method: extraction.method.name().to_owned(),
        answer: extraction.answer.filter(|_| outcome != Outcome::Truncated).map(shortened),
        target: scored.test.target.clone(),
        cache_key: scored.key,
        latency_us: scored.latency_us,
        prob_correct,
    }
}

/// An answer as it is stored. A whole reply can count as the answer, and all trials of a point are held at once.
fn shortened(mut answer: String) -> String {
    if answer.len() > MAX_ANSWER_BYTES {
        answer.truncate(answer.floor_char_boundary(MAX_ANSWER_BYTES));
        answer.push('…');
        answer.shrink_to_fit();
    }
    answer
}

/// State that a thread reuses from one piece to the next.
struct Worker {
    reader: Reader,
    sizer: GzipSizer,
}

/// Idle workers, so that a connection to the cache is opened once per thread, not once per piece.
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
