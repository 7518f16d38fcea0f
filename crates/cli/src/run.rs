//! `reasonscape run`: asks the models of a study.

mod dataset;
mod progress;
mod results;

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use reasonscape_cache::Cache;
use reasonscape_ingest::holds_rows;
use reasonscape_pipeline as pipeline;
use reasonscape_pipeline::{
    EvalRunSummary, RunSummary, ScoreProgress, Shutdown, check, open_cache, response_count,
};
use reasonscape_points::EvaluateOptions;
use reasonscape_study::{Selection, Study};
use serde_json::{Value, json};
use tokio::sync::watch;

use self::dataset::DatasetArgs;
use self::progress::{POLL_INTERVAL, RunBars};
use super::Global;
use super::evaluate::{note_damage, with_progress};
use super::study::StudySelectionArgs;
use crate::error::CliError;
use crate::output::print;
use crate::signals::on_interrupt;
use reasonscape_analysis::tables::{Cell, Table};
use reasonscape_pipeline::{FailureGroup, group_failures};

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
    study: StudySelectionArgs,
    /// Only ask; leave judging the answers to `reasonscape evaluate`.
    #[arg(long)]
    no_evaluate: bool,
    #[command(flatten)]
    dataset: DatasetArgs,
}

/// Problems that are printed.
const MAX_PROBLEMS: usize = 5;

impl Run {
    pub(super) fn run(self, global: Global) -> Result<(), CliError> {
        let of_dataset = holds_rows(self.study.path());
        let arguments = if of_dataset {
            let prepared = self.dataset.prepare(self.study.path(), global)?;
            self.study.for_study(prepared.study, prepared.evals)
        } else if let Some(flag) = self.dataset.first_given_flag() {
            return Err(CliError::input(format_args!(
                "`{flag}` is for datasets, and `{}` is none; a study says such things in its study.toml",
                self.study.path().display()
            )));
        } else {
            self.study
        };
        let (study, selection) = arguments.load()?;
        let scoring = Arc::new(ScoreProgress::default());
        let (summary, cache) = query_models(&study, &selection, &scoring, global)?;
        if of_dataset && !self.no_evaluate {
            let ended = exit_summary(&summary, global);
            let answers = response_count(&summary);
            if summary.stopped || answers == 0 {
                return ended;
            }
            score(&study, selection, &scoring, global)?;
            results::show(&study, &cache, &scoring, global)?;
            return ended;
        }
        let reported = report(&summary, global);
        if !summary.stopped && !self.no_evaluate {
            score(&study, selection, &scoring, global)?;
        }
        reported
    }
}

/// Sends what the cache does not hold, showing the progress, until it is done or interrupted.
fn query_models(
    study: &Study,
    selection: &Selection,
    scoring: &Arc<ScoreProgress>,
    global: Global,
) -> Result<(RunSummary, Cache), CliError> {
    // A study that is refused leaves no cache behind.
    check(study, selection)?;
    let cache = open_cache(study)?;
    let (stopper, stop) = watch::channel(Shutdown::None);
    watch_for_interrupts(stopper, scoring, global)?;
    let mut progress = RunBars::new(study, global.quiet);
    let summary =
        pipeline::run(study, selection, &cache, stop, POLL_INTERVAL, |events| progress.show(events));
    progress.finish();
    Ok((summary?, cache))
}

/// Runs a study without printing a table of it, and then scores the responses.
pub(super) fn run_and_score(study: &Study, selection: Selection, global: Global) -> Result<(), CliError> {
    let scoring = Arc::new(ScoreProgress::default());
    let (summary, _) = query_models(study, &selection, &scoring, global)?;
    exit_summary(&summary, global)?;
    score(study, selection, &scoring, global)
}

/// Scores the responses, so that they can be analyzed.
fn score(
    study: &Study,
    selection: Selection,
    progress: &ScoreProgress,
    global: Global,
) -> Result<(), CliError> {
    let options = EvaluateOptions { selection, force: false };
    let evaluated = with_progress(study, &options, progress, global)?;
    note_damage(&evaluated, global);
    if evaluated.stopped {
        global.note("interrupted; every answer is kept, and `reasonscape evaluate` judges the rest");
        return Err(CliError::Interrupted);
    }
    global.caption(format_args!(
        "judged; `reasonscape analyze scores {}` shows the leaderboard",
        study.dir.display()
    ));
    Ok(())
}

/// The first Ctrl-C waits for requests in flight, the second leaves at once. SIGTERM of a service manager counts as Ctrl-C.
fn watch_for_interrupts(
    stopper: watch::Sender<Shutdown>,
    scoring: &Arc<ScoreProgress>,
    global: Global,
) -> Result<(), CliError> {
    let scoring = Arc::clone(scoring);
    on_interrupt(move || {
        scoring.stop.store(true, Relaxed);
        let next = if *stopper.borrow() == Shutdown::None { Shutdown::Drain } else { Shutdown::Immediate };
        if next == Shutdown::Drain {
            global.note("stopping: waiting for what is in flight; press Ctrl-C again to leave at once");
        }
        stopper.send_replace(next);
    })
}

fn report(summary: &RunSummary, global: Global) -> Result<(), CliError> {
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
    exit_summary(summary, global)
}

/// Notes on a run beside its numbers, and its exit status.
fn exit_summary(summary: &RunSummary, global: Global) -> Result<(), CliError> {
    for eval in &summary.evals {
        if let Some(reason) = &eval.stopped {
            global.note(format_args!("{} ended early: {reason}", eval.name));
        }
        note_missing(eval, global);
    }
    match (summary.stopped, summary.is_complete()) {
        (true, _) => {
            global.note("interrupted; what was answered is kept, and running again asks the rest");
            Err(CliError::Interrupted)
        }
        (false, true) => Ok(()),
        (false, false) => Err(CliError::Internal(anyhow::anyhow!(
            "not every trial was answered; what was is kept, and running again asks the rest"
        ))),
    }
}

/// Notes each problem once, with the number of trials it left without a response and the first of them.
fn note_missing(eval: &EvalRunSummary, global: Global) {
    let mut problems = group_failures(&eval.missing_trials);
    // Why the evaluation ended has been said.
    problems.retain(|group| eval.stopped.as_ref() != Some(&group.problem));
    for FailureGroup { problem, trial, trials } in problems.iter().take(MAX_PROBLEMS) {
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

fn as_json(eval: &EvalRunSummary) -> Value {
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
