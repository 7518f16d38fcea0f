//! `reasonscape run`: asks the models of a study.

mod dataset;
mod progress;
mod results;

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use reasonscape_points::{Options, holds_rows};
use reasonscape_runner::cache::Cache;
use reasonscape_runner::{EvalSummary, RunSummary, Selection, Stop, Study, check, run};
use serde_json::{Value, json};
use tokio::sync::{mpsc, watch};

use self::dataset::DatasetArguments;
use self::progress::Progress;
pub(crate) use self::results::write_results;
use super::Global;
use super::evaluate::{note_damage, with_progress};
use super::study::{StudyArguments, cache_path};
use crate::failure::Failure;
use crate::output::{Cell, Table, print};
use crate::tally::{Trouble, troubles};

/// Ask the models of a study what the cache does not hold, or models about a dataset
///
/// Instead of a study it takes a dataset: a file of questions with their answers (JSONL, CSV, TSV or Parquet), with
/// `--model` and `--base-url`. It becomes a study in a folder of its own, and the metrics of `reasonscape metrics` are
/// printed and written to its `results/`.
///
/// Every response is on disk before it counts, and no request is sent twice, so a run can be broken off and started again
/// at any time. Ctrl-C waits for what is in flight; a second one leaves at once. At the end the answers are judged, as
/// `reasonscape evaluate` does.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  reasonscape run my-study\n  reasonscape run my-study --count 32 --task arithmetic\n  \
    reasonscape run my-study --precision 0.05 --budget-tokens 2000000\n  reasonscape run gsm8k.jsonl --model m \
    --base-url http://127.0.0.1:8089/v1 --map input=question,target=answer --target-regex '#### (.*)'",
    mut_arg("study", |study| study.help("Folder of the study, its study.toml, or a dataset"))
)]
pub(super) struct Run {
    #[command(flatten)]
    study: StudyArguments,
    /// Only ask; leave judging the answers to `reasonscape evaluate`.
    #[arg(long)]
    no_evaluate: bool,
    #[command(flatten)]
    dataset: DatasetArguments,
}

/// Problems that are told to a person.
const MAX_PROBLEMS: usize = 5;
/// Events that may wait for the progress to be drawn.
const EVENT_BUFFER: usize = 4096;

impl Run {
    pub(super) fn run(self, global: Global) -> Result<(), Failure> {
        let of_dataset = holds_rows(self.study.path());
        let arguments = if of_dataset {
            let prepared = self.dataset.prepare(self.study.path(), global)?;
            self.study.of(prepared.study, prepared.evals)
        } else if let Some(flag) = self.dataset.given() {
            return Err(Failure::input(format_args!(
                "`{flag}` is for datasets, and `{}` is none; a study says such things in its study.toml",
                self.study.path().display()
            )));
        } else {
            self.study
        };
        let (study, selection) = arguments.load()?;
        let judging = Arc::new(reasonscape_points::Progress::default());
        let (summary, cache) = ask(&study, &selection, &judging, global)?;
        if of_dataset && !self.no_evaluate {
            let ended = ending(&summary, global);
            let answers: u64 = summary.evals.iter().map(|eval| eval.cached + eval.answered).sum();
            if summary.stopped || answers == 0 {
                return ended;
            }
            judge(&study, selection, &judging, global)?;
            results::show(&study, &cache, &judging, global)?;
            return ended;
        }
        let reported = report(&summary, global);
        if !summary.stopped && !self.no_evaluate {
            judge(&study, selection, &judging, global)?;
        }
        reported
    }
}

/// Asks what the cache does not hold, showing how far it is, until it is done or Ctrl-C.
fn ask(
    study: &Study,
    selection: &Selection,
    judging: &Arc<reasonscape_points::Progress>,
    global: Global,
) -> Result<(RunSummary, Cache), Failure> {
    // What is refused leaves no cache behind.
    check(study, selection)?;
    let cache = Cache::open(cache_path(&study.folder))?;
    let (events, told) = mpsc::channel(EVENT_BUFFER);
    let (stopper, stop) = watch::channel(Stop::No);
    watch_for_interrupts(stopper, judging, global)?;
    let mut progress = Progress::new(study, global.quiet);
    let summary = std::thread::scope(|scope| {
        let running = scope.spawn(|| run(study, selection, &cache, events, stop));
        progress.show(told);
        running.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })?;
    Ok((summary, cache))
}

/// The same without a table of what was asked, and then judges.
pub(super) fn ask_and_judge(study: &Study, selection: Selection, global: Global) -> Result<(), Failure> {
    let judging = Arc::new(reasonscape_points::Progress::default());
    let (summary, _) = ask(study, &selection, &judging, global)?;
    ending(&summary, global)?;
    judge(study, selection, &judging, global)
}

/// Judges what has been answered, so that it can be looked at.
fn judge(
    study: &Study,
    selection: Selection,
    progress: &reasonscape_points::Progress,
    global: Global,
) -> Result<(), Failure> {
    let options = Options { selection, force: false };
    let evaluated = with_progress(study, &options, progress, global)?;
    note_damage(&evaluated, global);
    if evaluated.stopped {
        global.note("interrupted; every answer is kept, and `reasonscape evaluate` judges the rest");
        return Err(Failure::Interrupted);
    }
    global.caption(format_args!(
        "judged; `reasonscape analyze scores {}` shows the leaderboard",
        study.folder.display()
    ));
    Ok(())
}

/// The first Ctrl-C drains, the second leaves. A run as a service is ended by SIGTERM, which drains as well.
fn watch_for_interrupts(
    stopper: watch::Sender<Stop>,
    judging: &Arc<reasonscape_points::Progress>,
    global: Global,
) -> Result<(), Failure> {
    let judging = Arc::clone(judging);
    ctrlc::set_handler(move || {
        judging.stop.store(true, Relaxed);
        let next = if *stopper.borrow() == Stop::No { Stop::Drain } else { Stop::Now };
        if next == Stop::Drain {
            global.note("stopping: waiting for what is in flight; press Ctrl-C again to leave at once");
        }
        stopper.send_replace(next);
    })
    .map_err(|error| Failure::Broken(error.into()))
}

fn report(summary: &RunSummary, global: Global) -> Result<(), Failure> {
    let mut table = Table::new(&[
        "eval",
        "name",
        "planned",
        "cached",
        "answered",
        "truncated",
        "missing",
        "tokens",
        "cost",
    ]);
    for eval in &summary.evals {
        table.push(vec![
            Cell::text(eval.id.as_str()),
            Cell::text(&eval.name),
            Cell::Number(eval.planned as f64, 0),
            Cell::Number(eval.cached as f64, 0),
            Cell::Number(eval.answered as f64, 0),
            Cell::Number(eval.truncated as f64, 0),
            Cell::Number(eval.missing as f64, 0),
            Cell::Number((eval.prompt_tokens + eval.completion_tokens) as f64, 0),
            Cell::optional(eval.cost, 2),
        ]);
    }
    let json: Vec<Value> = summary.evals.iter().map(as_json).collect();
    print(global.format, &table, &json)?;
    ending(summary, global)
}

/// What is to be said of a run beside its numbers, and how it ended.
fn ending(summary: &RunSummary, global: Global) -> Result<(), Failure> {
    for eval in &summary.evals {
        if let Some(reason) = &eval.stopped {
            global.note(format_args!("{} ended early: {reason}", eval.name));
        }
        note_missing(eval, global);
    }
    match (summary.stopped, summary.is_complete()) {
        (true, _) => {
            global.note("interrupted; what was answered is kept, and running again asks the rest");
            Err(Failure::Interrupted)
        }
        (false, true) => Ok(()),
        (false, false) => Err(Failure::Broken(anyhow::anyhow!(
            "not every trial was answered; what was is kept, and running again asks the rest"
        ))),
    }
}

/// Says of each problem once how many trials it left without an answer, and names the first; JSON names them all.
fn note_missing(eval: &EvalSummary, global: Global) {
    let mut problems = troubles(&eval.missing_trials);
    // Why the evaluation ended has been said.
    problems.retain(|trouble| eval.stopped.as_ref() != Some(&trouble.problem));
    for Trouble { problem, trial, trials } in problems.iter().take(MAX_PROBLEMS) {
        let more = if *trials > 1 { format!(" and {} more", trials - 1) } else { String::new() };
        global.note(format_args!("{}: missing {trial}{more}: {problem}", eval.name));
    }
    if problems.len() > MAX_PROBLEMS {
        global.note(format_args!(
            "{}: and {} more problems; `--format json` has them",
            eval.name,
            problems.len() - MAX_PROBLEMS
        ));
    }
}

fn as_json(eval: &EvalSummary) -> Value {
    let missing: Vec<Value> = eval
        .missing_trials
        .iter()
        .map(|missing| json!({ "trial": missing.trial, "problem": missing.problem }))
        .collect();
    json!({
        "eval_id": eval.id,
        "name": eval.name,
        "planned": eval.planned,
        "cached": eval.cached,
        "sent": eval.sent,
        "answered": eval.answered,
        "truncated": eval.truncated,
        "missing": eval.missing,
        "missing_trials": missing,
        "prompt_tokens": eval.prompt_tokens,
        "completion_tokens": eval.completion_tokens,
        "cost": eval.cost,
        "complete": eval.is_complete(),
        "stopped": eval.stopped,
    })
}
