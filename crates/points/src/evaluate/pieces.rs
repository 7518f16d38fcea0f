//! Scores the points of a unit in parallel pieces: a generated point is one piece, a dataset is many.

use std::ops::{ControlFlow, Range};
use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError};

use reasonscape_cache::{Cache, Marks, Reader};
use reasonscape_core::{Outcome, Point, canonical_json};
use reasonscape_ingest::Progress;
use reasonscape_providers::Finish;
use reasonscape_stats::likelihood::StopRule;
use reasonscape_study::{Eval, Selection, Study};

use crate::gzip_size::GzipSizer;
use crate::sampling::{Sample, adaptive_plan};
use crate::scoring::{ScoredTrial, UnmarkedEntries, WalkRange, Walked, walk};
use crate::{PointTrials, PointsError, SamplingRule, Trial};

/// Problems of a dataset that are scored together. Generated points are not divided because their problems come from
/// one random stream.
const PROBLEMS_PER_PIECE: usize = 256;

/// Maximum bytes of a stored answer. The score is that of the whole answer, and the reply stays in the cache.
const MAX_ANSWER_BYTES: usize = 64 << 10;

/// Problems of a point that one thread scores.
pub(super) struct Piece<'p> {
    pub(super) point: &'p Point<'p>,
    pub(super) rule: SamplingRule,
    pub(super) problems: Range<usize>,
}

/// The scored responses of a piece.
pub(super) struct ScoredPiece {
    pub(super) trials: Vec<Trial>,
    pub(super) walked: Walked,
    /// Trials whose reply claimed more tokens than any model has.
    pub(super) implausible_usage: u64,
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

    /// Problems that the study plans at a point. Adaptive sampling plans as it goes.
    pub(super) fn planned_problems(&self, piece: &Piece<'_>, trials: &[Trial]) -> u64 {
        match piece.rule {
            SamplingRule::First(_) => self.study.count_at(piece.point, self.selection) as u64,
            SamplingRule::Adaptive(rule) => {
                let samples: Vec<Sample> = trials.iter().map(Sample::from).collect();
                adaptive_plan(&samples, rule)
            }
        }
    }

    /// The pieces of all points that were ever requested.
    pub(super) fn pieces<'p>(&self, points: &'p [Point<'p>], marks: &Marks) -> Vec<Piece<'p>> {
        let of_point = |point: &'p Point<'p>| {
            let planned = self.study.count_at(point, self.selection);
            let rule = sampling_rule(self.study, self.selection, marks, point);
            let (end, step) = if let Some(items) = point.task.listed() {
                (items.len(), PROBLEMS_PER_PIECE)
            } else {
                let params = canonical_json(&point.params.to_json());
                let requested = marks.requested(point.task.name(), &params);
                (planned.max(usize::try_from(requested).unwrap_or(usize::MAX)), usize::MAX)
            };
            let starts = (0..end.max(1)).step_by(step);
            starts.map(move |start| {
                let problems = start..end.min(start.saturating_add(step));
                Piece { point, rule, problems }
            })
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
            let Piece { point, problems, .. } = piece;
            let planned = self.study.count_at(point, self.selection);
            let (mut trials, mut answers) = (Vec::new(), Vec::new());
            let (mut bytes, mut implausible_usage) = (0, 0);
            let mut visit = |scored: ScoredTrial<'_>| {
                let completion = scored.completion;
                bytes += completion.content.len() + completion.reasoning.as_ref().map_or(0, String::len);
                implausible_usage += u64::from(completion.has_implausible_usage);
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
            Ok(ScoredPiece { trials, walked, implausible_usage, answers })
        })
    }
}

/// Which trials of a point enter the ReasonScore: those up to the end of its adaptive sampling, or else as many as a run
/// planned. A later run with a fixed count replaces a stop rule if no stop rule could have asked for more.
pub(super) fn sampling_rule(
    study: &Study,
    selection: &Selection,
    marks: &Marks,
    point: &Point<'_>,
) -> SamplingRule {
    let params = canonical_json(&point.params.to_json());
    let sampling = marks.sampling(point.task.name(), &params);
    let fixed_count = sampling.and_then(|sampling| sampling.fixed_count).unwrap_or(0);
    let stop_rule = sampling.and_then(|sampling| sampling.stop_rule.as_ref()?.parse::<StopRule>().ok());
    match stop_rule.filter(|rule| fixed_count < u64::from(rule.max_count)) {
        Some(rule) => SamplingRule::Adaptive(rule),
        None => SamplingRule::First(fixed_count.max(study.count_at(point, selection) as u64)),
    }
}

/// A point with the trials of a piece, as the writer takes it.
pub(super) fn point_trials(
    Piece { point, rule, .. }: &Piece<'_>,
    planned: u64,
    trials: Vec<Trial>,
) -> PointTrials {
    // A rule that leaves nothing out isn't recorded.
    let is_needed = match rule {
        SamplingRule::First(count) => trials.iter().any(|trial| trial.index >= *count),
        SamplingRule::Adaptive(_) => true,
    };
    PointTrials {
        params: canonical_json(&point.params.to_json()),
        manifolds: point.manifolds.iter().map(|id| (*id).to_owned()).collect(),
        planned,
        weight: Some(point.count as u64),
        rule: Some(*rule).filter(|_| is_needed),
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
