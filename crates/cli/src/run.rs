//! `reasonscape run`: sends the requests of a study.

mod dataset;
mod progress;

use reasonscape_analysis::tables::{Cell, Table};
use reasonscape_ingest::{ROW_EXTENSIONS, holds_rows, is_dataset_folder};
use reasonscape_pipeline as pipeline;
use reasonscape_pipeline::{
    ANSWERS_FILE, EvalRunSummary, Event, FailureGroup, Finished, RESULTS_DIR, RunControl, RunEnd, RunSummary,
    Scored, Shutdown, check, group_failures, open_cache,
};
use reasonscape_study::{Selection, Study};
use serde_json::{Value, json};

use self::dataset::DatasetArgs;
use self::progress::{POLL_INTERVAL, RunBars};
use super::Global;
use super::evaluate::{EVALUATE, note_damage, note_kept, note_unmatched};
use super::study::{StudySelectionArgs, seed_belongs_to_study};
use crate::error::CliError;
use crate::metrics::print_dataset_summary;
use crate::output::{Format, print_table};
use crate::progress::ProgressLine;
use crate::signals::on_interrupt;

/// Run a study or a dataset: send the requests and score the responses
///
/// Responses are cached as they arrive and cached requests are not sent again, so a run can be interrupted and resumed at
/// any time. The first Ctrl-C waits for the requests in flight, the second exits at once. At the end the responses are
/// scored, as by `reasonscape evaluate`, and the leaderboard of the study is printed.
///
/// A dataset is a file of questions with their answers (JSONL, CSV, TSV or Parquet) and needs `--model` and `--base-url`.
/// A study is created for it in a new directory; the metrics of `reasonscape metrics` are printed and written to its
/// `results/`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  reasonscape run my-study\n  reasonscape run my-study --count 32 --task arithmetic\n  \
    reasonscape run my-study --precision 0.05 --budget-tokens 2000000\n  reasonscape run gsm8k.jsonl --model m \
    --base-url http://127.0.0.1:8089/v1 --map input=question,target=answer --target-regex '#### (.*)'",
    mut_arg("study", |study| study.help("Study directory, its study.toml, or a dataset file"))
)]
pub(super) struct Run {
    #[command(flatten)]
    study: StudySelectionArgs,
    /// Don't score the responses; `reasonscape evaluate` does it later.
    #[arg(long)]
    no_evaluate: bool,
    /// Send requests again whose responses the cache has lost.
    ///
    /// Without it, a run stops if the cache has fewer responses than the trials on disk were scored from.
    #[arg(long)]
    resend: bool,
    #[command(flatten)]
    dataset: DatasetArgs,
}

/// Kinds of failures that are printed per evaluation.
const MAX_PROBLEMS: usize = 5;

impl Run {
    pub(super) fn run(self, global: Global) -> Result<(), CliError> {
        let of_dataset = holds_rows(self.study.path()) || is_dataset_folder(self.study.path());
        let arguments = if of_dataset {
            let prepared = self.dataset.prepare(self.study.path(), global)?;
            self.study.for_study(prepared.study, prepared.evals)
        } else if let Some(seed) = self.dataset.seed {
            return Err(seed_belongs_to_study(self.study.path(), seed));
        } else if let Some(flag) = self.dataset.first_given_flag() {
            let path = self.study.path();
            if !path.exists() {
                return Err(CliError::input(format_args!("no such file: `{}`", path.display())));
            }
            if path.is_file() && path.extension().is_none_or(|extension| extension != "toml") {
                return Err(CliError::input(format_args!(
                    "`{}` has none of the extensions of datasets: {}",
                    path.display(),
                    ROW_EXTENSIONS.join(", ")
                )));
            }
            return Err(CliError::input(format_args!(
                "`{flag}` only applies to datasets, and `{}` is a study; set it in study.toml instead",
                self.study.path().display()
            )));
        } else {
            self.study
        };
        let (study, selection) = arguments.load()?;
        study.notices.iter().for_each(|notice| global.note(notice));
        let finished = execute(&study, &selection, !self.no_evaluate, self.resend, global)?;
        let is_measured = of_dataset && !self.no_evaluate;
        if !is_measured {
            print_summary(&finished.summary, global)?;
        }
        note_savings(&finished.summary, global);
        note_ending(&finished, global);
        if let Some(scored) = &finished.scored {
            note_scored(&study, scored, global);
            if let Some(answers) = scored.answers.as_ref().filter(|_| is_measured) {
                print_dataset_summary(answers, global)?;
                let results = study.dir.join(RESULTS_DIR);
                global.caption(format_args!(
                    "wrote the answers, their metrics and per-answer measurements to `{}`",
                    results.display()
                ));
            } else if global.format == Format::Table && matches!(finished.end, RunEnd::Complete) {
                // The other formats stay one document, and a part of a study has no rank.
                super::wait_for(super::analyze::print_leaderboard(&study.dir, global))?;
            }
        }
        exit_status(&finished)
    }
}

/// Runs a study and scores the responses, without printing a summary table.
pub(super) fn run_and_score(study: &Study, selection: &Selection, global: Global) -> Result<(), CliError> {
    let finished = execute(study, selection, true, false, global)?;
    note_savings(&finished.summary, global);
    note_ending(&finished, global);
    if let Some(scored) = &finished.scored {
        note_scored(study, scored, global);
    }
    exit_status(&finished)
}

/// Runs a study and shows its progress, until it is done or interrupted.
fn execute(
    study: &Study,
    selection: &Selection,
    evaluate: bool,
    resend: bool,
    global: Global,
) -> Result<Finished, CliError> {
    // An invalid study must not create a cache.
    check(study, selection)?;
    let cache = open_cache(study)?;
    if !resend {
        pipeline::check_responses(study, &cache)?;
    }
    let control = RunControl::default();
    interrupt_on_signals(control.clone(), global)?;
    let mut bars = Some(RunBars::new(study, global.quiet));
    let mut scoring = None;
    let mut on_event = |event: Event<'_>| match event {
        Event::Requests(events) => {
            if let Some(bars) = &mut bars {
                bars.show(events);
            }
        }
        Event::Scoring { .. } => {
            if let Some(bars) = bars.take() {
                bars.finish();
            }
            scoring.get_or_insert_with(|| ProgressLine::new(&EVALUATE, global.quiet)).show(control.scoring());
        }
    };
    let finished =
        pipeline::execute(study, selection, &cache, &control, evaluate, POLL_INTERVAL, &mut on_event);
    if let Some(bars) = bars {
        bars.finish();
    }
    if let Some(scoring) = scoring {
        scoring.end();
    }
    Ok(finished?)
}

/// The first Ctrl-C waits for requests in flight, the second exits at once. SIGTERM counts as Ctrl-C.
fn interrupt_on_signals(control: RunControl, global: Global) -> Result<(), CliError> {
    on_interrupt(move || {
        if control.interrupt() == Shutdown::Drain {
            global.note("stopping: waiting for the requests in flight; press Ctrl-C again to exit at once");
        }
    })
}

/// Prints the notes of the scoring.
fn note_scored(study: &Study, scored: &Scored, global: Global) {
    note_damage(&scored.evaluated, global);
    note_unmatched(&scored.evaluated, global);
    if note_kept(&scored.evaluated, global) {
        global.note(format_args!(
            "the results of these tasks are unchanged; `reasonscape evaluate {} --force` replaces them",
            study.dir.display()
        ));
    }
    note_undecided(scored.undecided, global);
    if !scored.evaluated.stopped {
        global.caption(format_args!(
            "scored; `reasonscape analyze scores {0}` shows the accuracy by task, `reasonscape serve {0}` every response",
            study.dir.display()
        ));
    }
}

/// Notes how many incorrect answers to a dataset its scorer could only compare as text.
pub(crate) fn note_undecided(count: u64, global: Global) {
    if count > 0 {
        global.note(format_args!(
            "{} of the incorrect answers could not be compared as formulas, only as text; they have `undecided` in \
             `{RESULTS_DIR}/{ANSWERS_FILE}`",
            thousands(count)
        ));
    }
}

/// The exit status of a run.
fn exit_status(finished: &Finished) -> Result<(), CliError> {
    match &finished.end {
        RunEnd::Complete => Ok(()),
        RunEnd::Interrupted | RunEnd::ScoringInterrupted => Err(CliError::Interrupted),
        RunEnd::Incomplete | RunEnd::Failed { .. } => {
            Err(CliError::Internal(anyhow::anyhow!(incomplete_message(&finished.summary))))
        }
    }
}

/// How many requests got no response, and the reason if none did.
fn incomplete_message(summary: &RunSummary) -> String {
    let planned: u64 = summary.evals.iter().map(|eval| eval.planned).sum();
    let received: u64 = summary.evals.iter().map(|eval| eval.cached + eval.answered).sum();
    let reason = summary.evals.iter().find_map(|eval| {
        eval.stopped.as_deref().or(eval.missing_trials.first().map(|missing| missing.problem.as_str()))
    });
    match reason {
        Some(reason) if received == 0 => format!("no request got a response: {reason}"),
        _ => format!(
            "{} of {} requests got no response; the others are cached, and running again sends the rest",
            thousands(planned.saturating_sub(received)),
            thousands(planned)
        ),
    }
}

fn print_summary(summary: &RunSummary, global: Global) -> Result<(), CliError> {
    let json: Vec<Value> = summary.evals.iter().map(as_json).collect();
    print_table(global, || display_table(summary), || export_table(summary), &json)
}

/// What people look for first: a narrow terminal drops the columns at the end.
fn display_table(summary: &RunSummary) -> Table {
    let columns =
        ["name", "planned", "cached", "received", "not received", "truncated", "tokens", "cost", "eval"];
    let mut table = Table::new(&columns);
    for eval in &summary.evals {
        table.push(vec![
            Cell::text(&eval.name),
            Cell::Number(eval.planned as f64, 0),
            Cell::Number(eval.cached as f64, 0),
            Cell::Number(eval.answered as f64, 0),
            Cell::Number(eval.planned.saturating_sub(eval.cached + eval.answered) as f64, 0),
            Cell::Number(eval.truncated as f64, 0),
            Cell::Number((eval.prompt_tokens + eval.completion_tokens) as f64, 0),
            Cell::optional(eval.cost, 2),
            Cell::text(eval.id.as_str()),
        ]);
    }
    table
}

fn export_table(summary: &RunSummary) -> Table {
    let columns = ["eval", "name", "planned", "cached", "answered", "truncated", "missing", "tokens", "cost"];
    let mut table = Table::new(&columns);
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
    table
}

/// Notes what the cache saved in this run.
fn note_savings(summary: &RunSummary, global: Global) {
    let saved = summary.saved();
    if saved.requests == 0 {
        return;
    }
    let planned = summary.evals.iter().map(|eval| eval.planned).sum();
    let cost = saved.cost.map_or_else(String::new, |cost| format!(", cost {cost:.2}"));
    global.caption(format_args!(
        "cache: {} of {} requests answered from the cache; saved {} tokens{cost}",
        thousands(saved.requests),
        thousands(planned),
        thousands(saved.tokens()),
    ));
}

/// A number with separators: `1,152`.
pub(super) fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().map(|group| str::from_utf8(group).expect("digits")).collect();
    groups.join(",")
}

/// Prints why requests failed or the run ended.
fn note_ending(finished: &Finished, global: Global) {
    // With one evaluation and no response, the reason is the error message.
    let is_the_error = matches!(&finished.summary.evals[..], [eval] if eval.cached + eval.answered == 0)
        && matches!(finished.end, RunEnd::Incomplete | RunEnd::Failed { .. });
    for eval in &finished.summary.evals {
        if let Some(reason) = eval.stopped.as_ref().filter(|_| !is_the_error) {
            global.note(format_args!("{} ended early: {reason}", eval.name));
        }
        note_missing(eval, global);
    }
    match finished.end {
        RunEnd::Interrupted => {
            global.note("interrupted; all responses are cached, and running again sends the rest");
        }
        RunEnd::ScoringInterrupted => {
            global.note("interrupted; all responses are cached, and `reasonscape evaluate` scores the rest");
        }
        RunEnd::Complete | RunEnd::Incomplete | RunEnd::Failed { .. } => {}
    }
}

/// Prints each kind of failure once, with its first trial and the number of others.
fn note_missing(eval: &EvalRunSummary, global: Global) {
    let mut problems = group_failures(&eval.missing_trials);
    // The reason why the evaluation ended is already printed.
    problems.retain(|group| eval.stopped.as_ref() != Some(&group.problem));
    for FailureGroup { problem, trial, trials } in problems.iter().take(MAX_PROBLEMS) {
        let more = if *trials > 1 { format!(" and {} more", trials - 1) } else { String::new() };
        global.note(format_args!("{}: missing {trial}{more}: {problem}", eval.name));
    }
    if problems.len() > MAX_PROBLEMS {
        global.note(format_args!(
            "{}: {} more kinds of failures; `--format json` lists them",
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
        "saved_requests": eval.saved.requests,
        "saved_prompt_tokens": eval.saved.prompt_tokens,
        "saved_completion_tokens": eval.saved.completion_tokens,
        "saved_cost": eval.saved.cost,
        "complete": eval.is_complete(),
        "stopped": eval.stopped,
    })
}
