//! From responses to trials: finds the answer to every test of a study in the cache, judges it, and writes files.

mod answers;
mod up_to_date;

use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use rayon::iter::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};
use reasonscape_core::{Json, Point, Reply, Status, cache_key, canonical_json, judge};
use reasonscape_runner::cache::{Cache, EntryId, Mark, Reader};
use reasonscape_runner::{Eval, Finish, Selection, Study, asked, is_selected, selected_points};
use serde::Serialize;

use self::answers::{Entry, find};
pub use self::answers::{ScoredResponse, read_answers};
use self::up_to_date::Unchanged;
use crate::gzip_size::GzipSizer;
use crate::{
    EvalInfo, PointTrials, PointsError, Progress, Provenance, Trial, TrialCounts, Truncation, UnitWriter,
};

/// Changes when what is written for a trial changes for another reason than its judgement.
const VERSION: u32 = 1;
/// Consecutive tests beyond the plan without a response, after which the search for more ends.
const MAX_GAP: usize = 8;
/// Points that are scored in parallel and sent to the writer together.
const POINTS_PER_BATCH: usize = 32;

/// What to evaluate and how.
#[derive(Debug, Clone, Default)]
pub struct EvaluateOptions {
    /// Which part of the study. Its shard is ignored: what is in the cache is evaluated.
    pub selection: Selection,
    /// Also what has not changed.
    pub force: bool,
}

/// One evaluation on one task, after it was evaluated.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EvaluatedUnit {
    /// The evaluation.
    pub eval_id: String,
    /// What people call it.
    pub name: String,
    /// The task.
    pub base_task: String,
    /// Whether files were written; otherwise nothing had changed.
    pub written: bool,
    /// What was counted.
    pub counts: TrialCounts,
    /// Entries of the cache that could not be read; their trials are missing.
    pub damaged: u64,
}

/// What an evaluation of a study came to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Evaluated {
    /// Each evaluation on each task.
    pub units: Vec<EvaluatedUnit>,
    /// Whether it was stopped before the end.
    pub stopped: bool,
    /// The first entry that could not be read, in words.
    pub damage: Option<String>,
}

/// Judges what the cache holds of a study and writes the trials and points that have changed.
///
/// Everything that is answered is taken, also tests beyond the count that the study asks for now.
///
/// # Errors
/// A [`PointsError`] if the cache cannot be read or the files cannot be written.
pub fn evaluate(
    study: &Study,
    cache: &Cache,
    options: &EvaluateOptions,
    progress: &Progress,
) -> Result<Evaluated, PointsError> {
    let reader = cache.reader()?;
    let mark = reader.mark()?;
    let unchanged = Unchanged::new(&study.folder, &reader);
    let jobs = jobs(study, options)?;
    let (sender, receiver) = sync_channel(4);
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| write(&study.folder, receiver));
        let workers = Workers { cache, idle: Mutex::default() };
        let judge = Judge { study, workers, progress, options, sender, mark };
        let judged = judge.all(&jobs, unchanged);
        drop(judge);
        let written = writer.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        // A writer that fails hangs up, and what the judge then says is only that.
        let written = written?;
        let (mut units, stopped, damage) = judged?;
        units.extend(written);
        units.sort_by(|a: &EvaluatedUnit, b| {
            (&a.name, &a.eval_id, &a.base_task).cmp(&(&b.name, &b.eval_id, &b.base_task))
        });
        Ok(Evaluated { units, stopped, damage })
    })
}

/// One evaluation on one task, to be evaluated.
struct Job<'s> {
    eval: &'s Eval,
    points: Vec<Point<'s>>,
    task: &'static str,
    /// Everything but the responses that the files depend on.
    inputs: String,
}

fn jobs<'s>(study: &'s Study, options: &EvaluateOptions) -> Result<Vec<Job<'s>>, PointsError> {
    let mut of_task: Vec<(&'static str, Vec<Point<'s>>)> = Vec::new();
    for point in selected_points(study, &options.selection) {
        match of_task.iter_mut().find(|(task, _)| *task == point.task.name()) {
            Some((_, points)) => points.push(point),
            None => of_task.push((point.task.name(), vec![point])),
        }
    }
    let evals = study.evals.iter().filter(|eval| is_selected(eval, &options.selection));
    evals
        .flat_map(|eval| {
            of_task.iter().map(|(task, points)| {
                let inputs = inputs(study, eval, points, options)?;
                Ok(Job { eval, points: points.clone(), task, inputs })
            })
        })
        .collect()
}

/// A hash of everything but the responses that a pair of files depends on.
///
/// The key of the first request stands for template, sampler and seed: whatever changes a request changes all of them.
fn inputs(
    study: &Study,
    eval: &Eval,
    points: &[Point<'_>],
    options: &EvaluateOptions,
) -> Result<String, PointsError> {
    let first = points.first().and_then(|point| asked(study, eval, point).next()).transpose()?;
    let request = first.map(|first| first.key.to_string()).unwrap_or_default();
    let text = |text: &str| Json::String(text.to_owned());
    let list = |items: Vec<Json>| Json::Array(items);
    // The version of a dataset is a hash of it.
    let version = points.first().map_or(0, |point| i64::from(point.task.version()));
    let points = points.iter().map(|point| {
        let manifolds = point.manifolds.iter().map(|id| text(id)).collect();
        list(vec![point.params.to_json(), Json::Int(planned(study, point, options) as i64), list(manifolds)])
    });
    Ok(cache_key(&list(vec![
        Json::Int(i64::from(VERSION)),
        Json::Int(i64::from(crate::FORMAT)),
        text(reasonscape_core::SOURCES),
        text(env!("CARGO_PKG_VERSION")),
        text(&eval.known_as()),
        text(&eval.name),
        text(&eval.model),
        text(eval.provider.name()),
        text(&request),
        list(eval.groups.iter().map(|group| text(group)).collect()),
        Json::Int(study.seed),
        Json::Int(i64::from(study.repeats)),
        Json::Int(version),
        list(points.collect()),
    ])))
}

/// Tests that the study plans at a point.
fn planned(study: &Study, point: &Point<'_>, options: &EvaluateOptions) -> usize {
    study.count_at(point, &options.selection)
}

/// To the thread that writes.
enum WriterMessage {
    Start {
        eval: EvalInfo,
        task: &'static str,
    },
    Points(Vec<PointTrials>),
    Finish {
        provenance: Box<Provenance>,
        name: String,
        damaged: u64,
    },
    /// What was started is not to be seen.
    Abandon,
}

fn write(study: &Path, receiver: Receiver<WriterMessage>) -> Result<Vec<EvaluatedUnit>, PointsError> {
    let mut units = Vec::new();
    let mut open: Option<(UnitWriter, String, &'static str)> = None;
    for message in receiver {
        match message {
            WriterMessage::Start { eval, task } => {
                let eval_id = eval.eval_id.clone();
                open = Some((UnitWriter::new(study, eval, task)?, eval_id, task));
            }
            WriterMessage::Points(points) => {
                let (writer, ..) = open.as_mut().expect("a unit is started before its points");
                for point in points {
                    writer.point(point)?;
                }
            }
            WriterMessage::Finish { provenance, name, damaged } => {
                let (writer, eval_id, task) = open.take().expect("a unit is started before it is finished");
                let counts = writer.finish(&provenance)?;
                let base_task = task.to_owned();
                units.push(EvaluatedUnit { eval_id, name, base_task, written: true, counts, damaged });
            }
            WriterMessage::Abandon => open = None,
        }
    }
    Ok(units)
}

struct Judge<'s> {
    study: &'s Study,
    workers: Workers<'s>,
    progress: &'s Progress,
    options: &'s EvaluateOptions,
    sender: SyncSender<WriterMessage>,
    mark: Mark,
}

/// What the judge leaves to say: units that have not changed, whether it was stopped, the first damage.
type Judged = (Vec<EvaluatedUnit>, bool, Option<String>);

impl Judge<'_> {
    fn all(&self, jobs: &[Job<'_>], mut unchanged: Unchanged<'_>) -> Result<Judged, PointsError> {
        let mut skipped = Vec::new();
        let mut to_do = Vec::new();
        for job in jobs {
            match unchanged.find(job.eval, job.task, &job.inputs)?.filter(|_| !self.options.force) {
                Some(counts) => skipped.push(EvaluatedUnit {
                    eval_id: job.eval.id.to_string(),
                    name: job.eval.name.clone(),
                    base_task: job.task.to_owned(),
                    written: false,
                    counts,
                    damaged: 0,
                }),
                None => to_do.push(job),
            }
        }
        let trials =
            |job: &Job<'_>| -> u64 { job.points.iter().map(|point| self.planned_trials(point)).sum() };
        self.progress.total.store(to_do.iter().map(|job| trials(job)).sum(), Ordering::Relaxed);
        let mut damage = None;
        for job in to_do {
            if !self.unit(job, &mut damage)? {
                return Ok((skipped, true, damage));
            }
        }
        Ok((skipped, false, damage))
    }

    fn planned_trials(&self, point: &Point<'_>) -> u64 {
        planned(self.study, point, self.options) as u64 * u64::from(self.study.repeats)
    }

    /// Evaluates one pair of files; says whether it was finished.
    fn unit(&self, job: &Job<'_>, damage: &mut Option<String>) -> Result<bool, PointsError> {
        let eval = EvalInfo {
            eval_id: job.eval.id.to_string(),
            model: job.eval.known_as(),
            template: job.eval.template.name.clone(),
            sampler: job.eval.sampler.name.clone(),
            name: job.eval.name.clone(),
            groups: job.eval.groups.clone(),
        };
        // If the writer has hung up, it has failed and says why.
        if self.sender.send(WriterMessage::Start { eval, task: job.task }).is_err() {
            return Ok(false);
        }
        let mut damaged = 0;
        for points in job.points.chunks(POINTS_PER_BATCH) {
            let judged: Vec<JudgedPoint> = points
                .par_iter()
                .with_max_len(1)
                .map(|point| self.workers.with(|worker| self.point(job.eval, point, worker)))
                .collect::<Result<_, PointsError>>()?;
            if self.progress.stop.load(Ordering::Relaxed) {
                let _ = self.sender.send(WriterMessage::Abandon);
                return Ok(false);
            }
            let mut points = Vec::with_capacity(judged.len());
            for point in judged {
                damaged += point.damaged;
                *damage = damage.take().or(point.damage);
                points.push(point.point);
            }
            if self.sender.send(WriterMessage::Points(points)).is_err() {
                return Ok(false);
            }
        }
        let provenance = Box::new(self.provenance(job));
        let finish = WriterMessage::Finish { provenance, name: job.eval.name.clone(), damaged };
        Ok(self.sender.send(finish).is_ok())
    }

    fn provenance(&self, job: &Job<'_>) -> Provenance {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Provenance {
            program: env!("CARGO_PKG_VERSION").to_owned(),
            suite: self.study.suite.name.clone(),
            suite_hash: suite_hash(self.study),
            task_version: job.points[0].task.version(),
            seed: self.study.seed,
            evaluated_ms: now.as_millis() as i64,
            inputs: job.inputs.clone(),
            mark: self.mark,
            source: String::new(),
            truncation: Truncation::Known,
        }
    }

    fn point(&self, eval: &Eval, point: &Point<'_>, worker: &mut Worker) -> Result<JudgedPoint, PointsError> {
        let Worker { reader, sizer } = worker;
        let mut judged = JudgedPoint {
            point: PointTrials {
                params: canonical_json(&point.params.to_json()),
                manifolds: point.manifolds.iter().map(|id| (*id).to_owned()).collect(),
                planned: self.planned_trials(point),
                trials: Vec::new(),
            },
            damaged: 0,
            damage: None,
        };
        let planned = planned(self.study, point, self.options);
        let namespace: Arc<str> = Arc::from(eval.cache_namespace.as_str());
        let mut unanswered = 0;
        let mut bytes = 0;
        for test in asked(self.study, eval, point) {
            let test = test?;
            let beyond = test.index >= planned;
            if beyond && unanswered >= MAX_GAP || self.progress.stop.load(Ordering::Relaxed) {
                break;
            }
            let mut answered = false;
            for repeat in 0..self.study.repeats {
                let id = EntryId { key: test.key, namespace: Arc::clone(&namespace), repeat };
                let (response, completion) = match find(reader, eval, &id)? {
                    Entry::Answer(response, completion) => (response, completion),
                    Entry::Damaged(problem) => {
                        judged.damaged(problem);
                        continue;
                    }
                    Entry::Missing => continue,
                };
                answered = true;
                bytes += completion.content.len() + completion.reasoning.as_ref().map_or(0, String::len);
                let reply =
                    Reply { content: &completion.content, reasoning: completion.reasoning.as_deref() };
                let (status, found) = judge(point.task, &test.test, &reply, completion.is_truncated());
                let weighed = found.reasoning.as_deref().unwrap_or(&completion.content);
                judged.point.trials.push(Trial {
                    index: test.index as u64,
                    repeat,
                    status,
                    guess: test.test.guess(),
                    prompt_tokens: completion.usage.prompt_tokens,
                    completion_tokens: completion.usage.completion_tokens,
                    reasoning_tokens: completion.usage.reasoning_tokens,
                    latency_ms: response.latency_ms,
                    received_ms: response.received_ms,
                    reasoning_chars: characters(found.reasoning.as_deref().unwrap_or_default()),
                    answer_chars: characters(&found.text),
                    compressed_size: sizer.gzip_size(weighed.as_bytes()),
                    finish: finish(&completion.finish),
                    method: found.method.name().to_owned(),
                    answer: found.answer.filter(|_| status != Status::Truncated),
                    target: test.test.target.clone(),
                    cache_key: test.key,
                });
            }
            unanswered = if answered { 0 } else { unanswered + usize::from(beyond) };
            if beyond && answered {
                judged.point.planned += u64::from(self.study.repeats);
            }
        }
        self.progress.done.fetch_add(self.planned_trials(point), Ordering::Relaxed);
        self.progress.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        Ok(judged)
    }
}

struct JudgedPoint {
    point: PointTrials,
    damaged: u64,
    damage: Option<String>,
}

impl JudgedPoint {
    fn damaged(&mut self, problem: String) {
        self.damaged += 1;
        self.damage.get_or_insert(problem);
    }
}

/// What a thread keeps from one point to the next.
struct Worker {
    reader: Reader,
    sizer: GzipSizer,
}

/// Workers that are not at work. A connection to the cache is opened once a thread, not once a point.
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

pub(crate) fn characters(text: &str) -> u64 {
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

/// A hash of the points of a suite, whatever its file looks like.
fn suite_hash(study: &Study) -> String {
    let points = study.suite.points();
    let points = points.iter().map(|point| {
        Json::Array(vec![
            Json::String(format!("{:?}", point.task)),
            point.params.to_json(),
            Json::Int(point.count as i64),
        ])
    });
    cache_key(&Json::Array(points.collect()))
}
