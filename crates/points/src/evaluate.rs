//! Scores the responses in the cache of a study and writes the trials and points that have changed.
//!
//! Points are scored on all cores; one thread writes the files.

mod entries;
mod keep;
mod pieces;
mod up_to_date;

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{SystemTime, UNIX_EPOCH};

use rayon::iter::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};
use reasonscape_cache::{Cache, Marks, Watermark};
use reasonscape_core::{Dataset, Json, Point, cache_key};
use reasonscape_ingest::Progress;
use reasonscape_study::{Eval, Selection, Study, is_selected, planned_requests, selected_points};
use serde::Serialize;

pub use self::entries::EntryAccount;
use self::entries::EntryAccounts;
pub use self::keep::KeptUnit;
pub(crate) use self::pieces::char_count;
use self::pieces::{PieceScorer, ScoredPiece, point_trials, sampling_rule};
use self::up_to_date::{UnchangedUnit, UpToDate};
use crate::publish::{Publication, sweep, tidy_up};
use crate::scoring::ScoredTrial;
use crate::{EvalInfo, PointTrials, PointsError, Provenance, Trial, TrialCounts, Truncation, UnitWriter};

/// Bump when stored trials change for a reason other than scoring.
const ROW_VERSION: u32 = 1;
/// Pieces that are scored in parallel and sent to the writer together.
const PIECES_PER_BATCH: usize = 32;

/// What to evaluate and how.
#[derive(Debug, Clone, Default)]
pub struct EvaluateOptions {
    /// The part of the study to evaluate. Its shard is ignored: everything in the cache is evaluated.
    pub selection: Selection,
    /// Also score unchanged units, and replace files even if the new ones hold fewer trials.
    pub force: bool,
}

/// Receives every scored trial as a line of text, in addition to the stored trials. With it everything is scored,
/// including unchanged units.
pub struct AnswerLines<'a> {
    /// Appends a trial to the lines; called on the scoring threads.
    pub format: &'a (dyn Fn(&Eval, &ScoredTrial<'_>, &mut Vec<u8>) + Sync),
    /// Receives lines, ordered by evaluation, task, point, problem and repeat.
    pub write: &'a mut dyn FnMut(&[u8]) -> std::io::Result<()>,
}

/// The result for one evaluation on one task.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EvaluatedUnit {
    /// The evaluation.
    pub eval_id: String,
    /// Its display name.
    pub name: String,
    /// The task.
    pub base_task: String,
    /// Whether files were written; otherwise nothing had changed, or `kept` has the reason.
    pub written: bool,
    /// The counts in the files.
    pub counts: TrialCounts,
    /// Cache entries that could not be read; their trials are missing.
    pub damaged: u64,
    /// Trials whose reply claimed more tokens than any model has; the count is missing.
    pub implausible_usage: u64,
    /// Set if the old files were kept because new ones would have held fewer trials.
    pub kept: Option<KeptUnit>,
}

/// The result of evaluating a study.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Evaluated {
    /// Each evaluation on each task.
    pub units: Vec<EvaluatedUnit>,
    /// Whether it was stopped before the end.
    pub stopped: bool,
    /// The first cache entry that could not be read, with the reason.
    pub damage: Option<String>,
    /// Cache entries per model and namespace whose evaluations were all evaluated, and how many of them match a problem
    /// of the study.
    pub entries: Vec<EntryAccount>,
}

impl Evaluated {
    /// The cache entries of the model of a unit.
    pub fn entries_of(&self, unit: &EvaluatedUnit) -> Option<&EntryAccount> {
        self.entries.iter().find(|account| account.evals.contains(&unit.eval_id))
    }
}

/// Scores the cached responses of a study and writes the trials and points that have changed.
///
/// Every response is scored, including those beyond the currently planned count. A pair of files is never replaced by
/// one with fewer trials unless forced.
///
/// # Errors
/// A [`PointsError`] if the cache cannot be read or the files cannot be written.
pub fn evaluate(
    study: &Study,
    cache: &Cache,
    options: &EvaluateOptions,
    progress: &Progress,
    answers: Option<AnswerLines<'_>>,
) -> Result<Evaluated, PointsError> {
    sweep(&study.dir);
    let reader = cache.reader()?;
    let mark = reader.watermark()?;
    let mut marks = HashMap::new();
    for eval in study.evals.iter().filter(|eval| is_selected(eval, &options.selection)) {
        marks.insert(eval.id.as_str(), reader.marks(study.seed, eval.id.as_str())?);
    }
    let jobs = jobs(study, options, &marks)?;
    let mut accounts = EntryAccounts::new(reader.held_entries()?, study, &options.selection);
    let repeats = reader.repeat_count()?.max(study.repeats);
    let up_to_date = UpToDate::new(&study.dir, &reader);
    let format = answers.as_ref().map(|answers| answers.format);
    let (sender, receiver) = sync_channel(4);
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| write_units(&study.dir, receiver, options.force));
        let scorer = PieceScorer::new(study, cache, &options.selection, progress, format, repeats);
        let mut evaluation = Evaluation { study, scorer, progress, options, sender, mark, marks, answers };
        let scored = evaluation.run(&jobs, up_to_date, &mut accounts);
        // The writer ends when all senders are dropped.
        drop(evaluation);
        let written = writer.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        // If the writer failed, its error is the cause of whatever the scoring returned.
        let written = written?;
        let (mut units, stopped, damage): EvaluationEnd = scored?;
        if !stopped {
            tidy_up(&study.dir);
        }
        for unit in written {
            let same = |other: &EvaluatedUnit| {
                (&other.eval_id, &other.base_task) == (&unit.eval_id, &unit.base_task)
            };
            units.retain(|other| !same(other));
            units.push(unit);
        }
        units.sort_by(|a, b| (&a.name, &a.eval_id, &a.base_task).cmp(&(&b.name, &b.eval_id, &b.base_task)));
        let entries = if stopped { Vec::new() } else { accounts.finish() };
        Ok(Evaluated { units, stopped, damage, entries })
    })
}

/// One evaluation on one task, to be evaluated.
struct Job<'s> {
    eval: &'s Eval,
    points: Vec<Point<'s>>,
    task: &'s str,
    /// Hash of everything except the responses that the files depend on.
    inputs: String,
}

fn jobs<'s>(
    study: &'s Study,
    options: &EvaluateOptions,
    marks: &HashMap<&str, Marks>,
) -> Result<Vec<Job<'s>>, PointsError> {
    let mut of_task: Vec<(&'s str, Vec<Point<'s>>)> = Vec::new();
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
                let inputs = inputs(study, eval, points, options, &marks[eval.id.as_str()])?;
                Ok(Job { eval, points: points.clone(), task, inputs })
            })
        })
        .collect()
}

/// A hash of everything but the responses that a pair of files depends on.
///
/// The key of the first request covers template, sampler and seed: whatever changes a request changes all keys.
fn inputs(
    study: &Study,
    eval: &Eval,
    points: &[Point<'_>],
    options: &EvaluateOptions,
    marks: &Marks,
) -> Result<String, PointsError> {
    let first =
        points.first().and_then(|point| planned_requests(study, eval, point, 0).next()).transpose()?;
    let request = first.map(|first| first.key.to_string()).unwrap_or_default();
    let text = |text: &str| Json::String(text.to_owned());
    let list = |items: Vec<Json>| Json::Array(items);
    // The version of a dataset is a hash of it.
    let version = points.first().map_or(0, |point| i64::from(point.task.version()));
    let scorer = study.dataset.as_ref().and_then(Dataset::scorer);
    let scorer = scorer.map_or(Json::Null, |scorer| text(&scorer.to_string()));
    let points = points.iter().map(|point| {
        let manifolds = point.manifolds.iter().map(|id| text(id)).collect();
        list(vec![
            point.params.to_json(),
            Json::Int(study.count_at(point, &options.selection) as i64),
            text(&sampling_rule(study, &options.selection, marks, point).to_string()),
            list(manifolds),
        ])
    });
    Ok(cache_key(&list(vec![
        Json::Int(i64::from(ROW_VERSION)),
        Json::Int(i64::from(crate::FORMAT)),
        Json::Int(i64::from(reasonscape_core::SCORING_REVISION)),
        text(&eval.display_model()),
        text(&eval.name),
        text(&eval.model),
        text(eval.provider.name()),
        text(&request),
        list(eval.groups.iter().map(|group| text(group)).collect()),
        Json::Int(study.seed),
        Json::Int(i64::from(study.repeats)),
        Json::Int(version),
        scorer,
        list(points.collect()),
    ])))
}

/// A message to the writer thread.
enum WriterMessage {
    Start {
        eval: EvalInfo,
        task: String,
    },
    Points(Vec<PointTrials>),
    Finish {
        provenance: Box<Provenance>,
    },
    /// Discards the unit that was started.
    Abandon,
}

/// Writes the files of all units; readers see them together.
fn write_units(
    study: &Path,
    receiver: Receiver<WriterMessage>,
    force: bool,
) -> Result<Vec<EvaluatedUnit>, PointsError> {
    let mut publication = None;
    let written = write_unit_files(study, receiver, force, &mut publication);
    // Also after an error: what was written is complete.
    let committed = publication.map_or(Ok(()), |publication| publication.commit());
    let written = written?;
    committed.map(|()| written)
}

fn write_unit_files(
    study: &Path,
    receiver: Receiver<WriterMessage>,
    force: bool,
    publication: &mut Option<Arc<Publication>>,
) -> Result<Vec<EvaluatedUnit>, PointsError> {
    let mut units = Vec::new();
    let mut open: Option<UnitWriter> = None;
    for message in receiver {
        match message {
            WriterMessage::Start { eval, task } => {
                let publication = match publication {
                    Some(publication) => publication,
                    None => publication.insert(Publication::new(study)?),
                };
                open = Some(UnitWriter::within(publication, study, eval, &task)?);
            }
            WriterMessage::Points(points) => {
                let writer = open.as_mut().expect("a unit is started before its points");
                for point in points {
                    writer.write_point(point)?;
                }
            }
            WriterMessage::Finish { provenance } => {
                let writer = open.take().expect("a unit is started before it is finished");
                let mut unit = EvaluatedUnit {
                    eval_id: writer.eval().eval_id.clone(),
                    name: writer.eval().name.clone(),
                    base_task: writer.task().to_owned(),
                    written: true,
                    counts: TrialCounts::default(),
                    damaged: provenance.damaged.unwrap_or(0),
                    implausible_usage: provenance.implausible_usage.unwrap_or(0),
                    kept: None,
                };
                match keep::larger_unit(study, &writer, &provenance).filter(|_| !force) {
                    Some((kept, counts)) => {
                        (unit.written, unit.counts, unit.kept) = (false, counts, Some(kept));
                    }
                    None => unit.counts = writer.replace(&provenance)?,
                }
                units.push(unit);
            }
            WriterMessage::Abandon => open = None,
        }
    }
    Ok(units)
}

/// Scores jobs and sends their trials to the writer.
struct Evaluation<'s, 'a> {
    study: &'s Study,
    scorer: PieceScorer<'s>,
    progress: &'s Progress,
    options: &'s EvaluateOptions,
    sender: SyncSender<WriterMessage>,
    mark: Watermark,
    marks: HashMap<&'s str, Marks>,
    answers: Option<AnswerLines<'a>>,
}

/// Units that are up to date, whether it was stopped, and the first damaged entry.
type EvaluationEnd = (Vec<EvaluatedUnit>, bool, Option<String>);

impl Evaluation<'_, '_> {
    fn run(
        &mut self,
        jobs: &[Job<'_>],
        mut up_to_date: UpToDate<'_>,
        accounts: &mut EntryAccounts,
    ) -> Result<EvaluationEnd, PointsError> {
        let mut skipped = Vec::new();
        let mut to_do = Vec::new();
        let score_all = self.options.force || self.answers.is_some();
        for job in jobs {
            match up_to_date.find(job.eval, job.task, &job.inputs)?.filter(|_| !score_all) {
                Some(UnchangedUnit { counts, entries, damaged, implausible_usage }) => {
                    accounts.add_unchanged(job.eval, entries);
                    skipped.push(EvaluatedUnit {
                        eval_id: job.eval.id.to_string(),
                        name: job.eval.name.clone(),
                        base_task: job.task.to_owned(),
                        written: false,
                        counts,
                        damaged,
                        implausible_usage,
                        kept: None,
                    });
                }
                None => to_do.push(job),
            }
        }
        let (study, selection) = (self.study, &self.options.selection);
        let trials = |job: &Job<'_>| -> u64 {
            let problems: usize = job.points.iter().map(|point| study.count_at(point, selection)).sum();
            problems as u64 * u64::from(study.repeats)
        };
        self.progress.total.store(to_do.iter().map(|job| trials(job)).sum(), Ordering::Relaxed);
        let mut damage = None;
        for job in &to_do {
            if !self.evaluate_unit(job, accounts, false, &mut damage)? {
                return Ok((skipped, true, damage));
            }
        }
        // A cache without watermarks may hold responses beyond the plan. Only then are the points walked again.
        let again: Vec<_> = to_do.into_iter().filter(|job| accounts.may_have_more(job.eval)).collect();
        self.progress.total.fetch_add(again.iter().map(|job| trials(job)).sum(), Ordering::Relaxed);
        for job in again {
            if !self.evaluate_unit(job, accounts, true, &mut damage)? {
                return Ok((skipped, true, damage));
            }
        }
        Ok((skipped, false, damage))
    }

    /// Evaluates one pair of files, optionally `beyond` its plan and watermarks; returns whether it was finished.
    fn evaluate_unit(
        &mut self,
        job: &Job<'_>,
        accounts: &mut EntryAccounts,
        beyond: bool,
        damage: &mut Option<String>,
    ) -> Result<bool, PointsError> {
        let eval = EvalInfo {
            eval_id: job.eval.id.to_string(),
            model: job.eval.display_model(),
            template: job.eval.template.name.clone(),
            sampler: job.eval.sampler.name.clone(),
            name: job.eval.name.clone(),
            groups: job.eval.groups.clone(),
        };
        // A send fails only if the writer failed; `evaluate` returns the writer's error.
        if self.sender.send(WriterMessage::Start { eval, task: job.task.to_owned() }).is_err() {
            return Ok(false);
        }
        let pieces = self.scorer.pieces(&job.points, &self.marks[job.eval.id.as_str()]);
        let (mut damaged, mut implausible, mut entries) = (0, 0, HashSet::new());
        let (mut plan, mut planned) = (0, 0);
        for pieces in pieces.chunks(PIECES_PER_BATCH) {
            let scored: Vec<ScoredPiece> = pieces
                .par_iter()
                .with_max_len(1)
                .map(|piece| self.scorer.score(job.eval, piece, accounts.unmarked(job.eval), beyond))
                .collect::<Result<_, PointsError>>()?;
            if self.progress.stop.load(Ordering::Relaxed) {
                let _ = self.sender.send(WriterMessage::Abandon);
                return Ok(false);
            }
            let mut points = Vec::with_capacity(scored.len());
            for (piece, scored) in pieces.iter().zip(scored) {
                damaged += scored.walked.damaged;
                implausible += scored.implausible_usage;
                *damage = damage.take().or(scored.walked.damage);
                accounts.add(job.eval, &scored.walked.entries);
                entries.extend(scored.walked.entries);
                let repeats = self.study.repeats;
                if piece.problems.start == 0 {
                    plan = self.scorer.planned_problems(piece, &scored.trials);
                    planned = plan * u64::from(repeats);
                }
                let is_beyond_plan = |trial: &&Trial| trial.index >= plan || trial.repeat >= repeats;
                planned += scored.trials.iter().filter(is_beyond_plan).count() as u64;
                points.push(point_trials(piece, planned, scored.trials));
                if let Some(answers) = &mut self.answers {
                    (answers.write)(&scored.answers).map_err(PointsError::Answers)?;
                }
            }
            if self.sender.send(WriterMessage::Points(points)).is_err() {
                return Ok(false);
            }
        }
        let found = |count: u64| Some(count).filter(|count| *count > 0);
        let provenance = Box::new(Provenance {
            damaged: found(damaged),
            implausible_usage: found(implausible),
            ..self.provenance(job, entries.len() as u64)
        });
        Ok(self.sender.send(WriterMessage::Finish { provenance }).is_ok())
    }

    fn provenance(&self, job: &Job<'_>, entries: u64) -> Provenance {
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
            entries: Some(entries),
            max_tokens: job.eval.sampler.max_tokens(),
            damaged: None,
            implausible_usage: None,
        }
    }
}

/// A hash of the points of a suite, independent of the formatting of its file.
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
