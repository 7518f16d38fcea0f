//! Scores the responses in the cache of a study and writes the trials and points that have changed.
//!
//! Points are scored on all cores; one thread writes the files.

mod answers;
mod scoring;
mod up_to_date;

use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{SystemTime, UNIX_EPOCH};

use rayon::iter::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};
use reasonscape_cache::{Cache, Watermark};
use reasonscape_core::{Json, Point, cache_key};
use reasonscape_study::{Eval, Selection, Study, is_selected, planned_requests, selected_points};
use serde::Serialize;

pub use self::answers::{ScoredResponse, read_answers};
pub(crate) use self::scoring::char_count;
use self::scoring::{PointScorer, ScoredPoint};
use self::up_to_date::UpToDate;
use crate::{EvalInfo, PointTrials, PointsError, Provenance, TrialCounts, Truncation, UnitWriter};
use reasonscape_ingest::Progress;

/// Changes when what is written for a trial changes for another reason than its judgement.
const ROW_VERSION: u32 = 1;
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
    let mark = reader.watermark()?;
    let up_to_date = UpToDate::new(&study.dir, &reader);
    let jobs = jobs(study, options)?;
    let (sender, receiver) = sync_channel(4);
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| write_units(&study.dir, receiver));
        let scorer = PointScorer::new(study, cache, &options.selection, progress);
        let evaluation = Evaluation { study, scorer, progress, options, sender, mark };
        let scored = evaluation.run(&jobs, up_to_date);
        // The writer ends when there is nobody left to send to it.
        drop(evaluation);
        let written = writer.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        // If the writer failed, its error is the cause of whatever the scoring returned.
        let written = written?;
        let (mut units, stopped, damage) = scored?;
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
    let first = points.first().and_then(|point| planned_requests(study, eval, point).next()).transpose()?;
    let request = first.map(|first| first.key.to_string()).unwrap_or_default();
    let text = |text: &str| Json::String(text.to_owned());
    let list = |items: Vec<Json>| Json::Array(items);
    // The version of a dataset is a hash of it.
    let version = points.first().map_or(0, |point| i64::from(point.task.version()));
    let points = points.iter().map(|point| {
        let manifolds = point.manifolds.iter().map(|id| text(id)).collect();
        list(vec![
            point.params.to_json(),
            Json::Int(study.count_at(point, &options.selection) as i64),
            list(manifolds),
        ])
    });
    Ok(cache_key(&list(vec![
        Json::Int(i64::from(ROW_VERSION)),
        Json::Int(i64::from(crate::FORMAT)),
        text(reasonscape_core::SCORING_REVISION),
        text(env!("CARGO_PKG_VERSION")),
        text(&eval.display_model()),
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

fn write_units(study: &Path, receiver: Receiver<WriterMessage>) -> Result<Vec<EvaluatedUnit>, PointsError> {
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
                    writer.write_point(point)?;
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

/// Scores jobs and sends their trials to the writer.
struct Evaluation<'s> {
    study: &'s Study,
    scorer: PointScorer<'s>,
    progress: &'s Progress,
    options: &'s EvaluateOptions,
    sender: SyncSender<WriterMessage>,
    mark: Watermark,
}

/// Units that are up to date, whether it was stopped, and the first damaged entry.
type EvaluationEnd = (Vec<EvaluatedUnit>, bool, Option<String>);

impl Evaluation<'_> {
    fn run(&self, jobs: &[Job<'_>], mut up_to_date: UpToDate<'_>) -> Result<EvaluationEnd, PointsError> {
        let mut skipped = Vec::new();
        let mut to_do = Vec::new();
        for job in jobs {
            match up_to_date.find(job.eval, job.task, &job.inputs)?.filter(|_| !self.options.force) {
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
            |job: &Job<'_>| -> u64 { job.points.iter().map(|point| self.scorer.planned_trials(point)).sum() };
        self.progress.total.store(to_do.iter().map(|job| trials(job)).sum(), Ordering::Relaxed);
        let mut damage = None;
        for job in to_do {
            if !self.evaluate_unit(job, &mut damage)? {
                return Ok((skipped, true, damage));
            }
        }
        Ok((skipped, false, damage))
    }

    /// Evaluates one pair of files; returns whether it was finished.
    fn evaluate_unit(&self, job: &Job<'_>, damage: &mut Option<String>) -> Result<bool, PointsError> {
        let eval = EvalInfo {
            eval_id: job.eval.id.to_string(),
            model: job.eval.display_model(),
            template: job.eval.template.name.clone(),
            sampler: job.eval.sampler.name.clone(),
            name: job.eval.name.clone(),
            groups: job.eval.groups.clone(),
        };
        // If the writer has hung up, it has failed, and its error is returned by `evaluate`.
        if self.sender.send(WriterMessage::Start { eval, task: job.task }).is_err() {
            return Ok(false);
        }
        let mut damaged = 0;
        for points in job.points.chunks(POINTS_PER_BATCH) {
            let scored: Vec<ScoredPoint> = points
                .par_iter()
                .with_max_len(1)
                .map(|point| self.scorer.score(job.eval, point))
                .collect::<Result<_, PointsError>>()?;
            if self.progress.stop.load(Ordering::Relaxed) {
                let _ = self.sender.send(WriterMessage::Abandon);
                return Ok(false);
            }
            let mut points = Vec::with_capacity(scored.len());
            for point in scored {
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
