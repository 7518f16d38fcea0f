//! Writes the responses to a dataset, in the format that `reasonscape metrics` reads, and their metrics.

use std::collections::HashMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use reasonscape_analysis::AnalysisError;
use reasonscape_analysis::answer_files::{
    AnswerOptions, AnswerSummary, DEFAULT_BINS, Log, summarize, summarize_stream,
};
use reasonscape_cache::Cache;
use reasonscape_core::{Outcome, ScorerVerdict};
use reasonscape_ingest::Progress;
use reasonscape_points::{AnswerLines, EvaluateOptions, Evaluated, PointsError, ScoredTrial, evaluate};
use reasonscape_study::{Eval, Study, write_file};
use serde_json::{Map, Value, json};

use crate::Scored;
use crate::line_channel::line_channel;

/// Directory of the results in the study directory.
pub const RESULTS_DIR: &str = "results";
/// File of the responses in [`RESULTS_DIR`].
pub const ANSWERS_FILE: &str = "answers.jsonl";

/// Why the results of a dataset could not be written.
#[derive(Debug, thiserror::Error)]
pub enum ResultsError {
    /// A file or directory could not be written.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The responses could not be read from the cache.
    #[error(transparent)]
    Points(#[from] PointsError),
    /// The metrics could not be computed.
    #[error(transparent)]
    Analysis(#[from] AnalysisError),
    /// There are no responses.
    #[error("no request was answered")]
    NoAnswers,
}

/// Scores the responses of a dataset study in one pass, and writes the answers and their metrics beside the trials:
/// `answers.jsonl`, `tasks.parquet`, `tasks.jsonl` and `metrics.json`. The metrics are `None` if there was no response or
/// scoring was stopped; existing files are then kept.
///
/// # Errors
/// A [`ResultsError`] when responses cannot be read, metrics cannot be computed, or a file cannot be written.
pub(crate) fn score_dataset(
    study: &Study,
    cache: &Cache,
    options: &EvaluateOptions,
    progress: &Progress,
) -> Result<Scored, ResultsError> {
    let dir = study.dir.join(RESULTS_DIR);
    fs::create_dir_all(&dir)
        .map_err(|source| io::Error::other(CreateDirError { path: dir.display().to_string(), source }))?;
    let (parquet, jsonl) = (dir.join("tasks.parquet"), dir.join("tasks.jsonl"));
    let mut evaluated = None;
    let mut summary = None;
    let undecided = AtomicU64::new(0);
    let written = write_file(&dir.join(ANSWERS_FILE), |answers| {
        write_file(&parquet, |parquet_out| {
            write_file(&jsonl, |jsonl_out| {
                let logs = [Log::new(parquet_out, &parquet)?, Log::new(jsonl_out, &jsonl)?];
                let found = score_and_measure(study, cache, options, progress, answers, logs, &undecided)?;
                let is_measured = found.1.is_some();
                (evaluated, summary) = (Some(found.0), found.1);
                if is_measured { Ok(()) } else { Err(ResultsError::NoAnswers) }
            })
        })
    });
    match (written, evaluated) {
        (Ok(()) | Err(ResultsError::NoAnswers), Some(evaluated)) => {
            if let Some(summary) = &summary {
                write_file(&dir.join("metrics.json"), |out| out.write_all(summary.to_json().as_bytes()))?;
            }
            Ok(Scored { evaluated, answers: summary, undecided: undecided.into_inner() })
        }
        (Err(error), _) => Err(error),
        (Ok(()), None) => unreachable!("the files are written during the evaluation"),
    }
}

/// Scores every response once, and passes its answer to `answers` and to the metrics.
fn score_and_measure(
    study: &Study,
    cache: &Cache,
    options: &EvaluateOptions,
    progress: &Progress,
    answers: &mut dyn Write,
    mut logs: [Log<'_>; 2],
    undecided: &AtomicU64,
) -> Result<(Evaluated, Option<AnswerSummary>), ResultsError> {
    let names: HashMap<&str, String> =
        study.evals.iter().map(|eval| (eval.id.as_str(), display_name(study, eval))).collect();
    let format = |eval: &Eval, trial: &ScoredTrial<'_>, lines: &mut Vec<u8>| {
        let verdict = verdict(trial);
        undecided
            .fetch_add(u64::from(verdict.is_some_and(|verdict| verdict.is_undecided)), Ordering::Relaxed);
        let row = row(study, eval, &names[eval.id.as_str()], trial, verdict);
        serde_json::to_writer(&mut *lines, &row).expect("writing to a vector can't fail");
        lines.push(b'\n');
    };
    let (mut sender, lines) = line_channel();
    std::thread::scope(|scope| {
        let measuring = scope.spawn(|| {
            let measured = summarize_stream(
                ANSWERS_FILE,
                lines,
                &AnswerOptions::default(),
                DEFAULT_BINS,
                &Progress::default(),
                &mut logs,
            )?;
            logs.into_iter().try_for_each(Log::close)?;
            Ok::<_, AnalysisError>(measured)
        });
        let mut any = false;
        let mut write = |lines: &[u8]| {
            if lines.is_empty() {
                return Ok(());
            }
            any = true;
            answers.write_all(lines)?;
            // Sending fails if computing the metrics has failed; that error is returned below.
            sender.write_all(lines)
        };
        let evaluated = evaluate(
            study,
            cache,
            options,
            progress,
            Some(AnswerLines { format: &format, write: &mut write }),
        );
        drop(sender);
        let measured = measuring.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        match evaluated {
            Ok(evaluated) if evaluated.stopped || !any => Ok((evaluated, None)),
            Ok(evaluated) => Ok((evaluated, Some(measured?))),
            Err(PointsError::Answers(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
                Err(measured.map_or_else(ResultsError::Analysis, |_| ResultsError::Io(error)))
            }
            Err(error) => Err(error.into()),
        }
    })
}

/// Computes the metrics of answer files, and writes those of each answer to `per_task` if given.
///
/// # Errors
/// An [`AnalysisError`] that names the invalid line and its file, or the file that cannot be written.
pub fn summarize_answers(
    files: &[PathBuf],
    options: &AnswerOptions,
    bins: u32,
    per_task: Option<&Path>,
    progress: &Arc<Progress>,
) -> Result<AnswerSummary, AnalysisError> {
    let Some(path) = per_task else { return summarize(files, options, bins, progress, &mut []) };
    let mut summary = None;
    write_file(path, |out| {
        let mut log = Log::new(out, path)?;
        summary = Some(summarize(files, options, bins, progress, std::slice::from_mut(&mut log))?);
        log.close()
    })?;
    Ok(summary.expect("the file was written, so its content was computed"))
}

/// Why a directory could not be created.
#[derive(Debug, thiserror::Error)]
#[error("failed to create directory `{path}`")]
struct CreateDirError {
    path: String,
    source: io::Error,
}

/// The name of an evaluation, with its id if another has the same name.
fn display_name(study: &Study, eval: &Eval) -> String {
    let same_name = study.evals.iter().filter(|other| other.name == eval.name).count();
    if same_name > 1 { format!("{} ({})", eval.name, eval.id) } else { eval.name.clone() }
}

/// What the question's scorer says about an answer; `None` without a scorer or an answer.
fn verdict(trial: &ScoredTrial<'_>) -> Option<ScorerVerdict> {
    Some(trial.test.scorer?.score(trial.answer()?, trial.test))
}

fn row(
    study: &Study,
    eval: &Eval,
    model: &str,
    trial: &ScoredTrial<'_>,
    verdict: Option<ScorerVerdict>,
) -> Value {
    let ScoredTrial { task, index, test, completion, .. } = trial;
    let item = study.dataset.as_ref().and_then(|dataset| dataset.item(task.name(), *index));
    let mut row = Map::new();
    let mut insert = |field: &str, value: Value| {
        if !value.is_null() {
            row.insert(field.to_owned(), value);
        }
    };
    insert("id", json!(item.map(|item| &item.id)));
    insert("model", json!(model));
    insert("category", json!(task.name()));
    insert("input", json!(item.map_or(&test.prompt, |item| &item.input)));
    insert(
        "target",
        if test.alternative_targets.is_empty() {
            json!(test.target)
        } else {
            json!(item.map(|item| item.targets().collect::<Vec<_>>()))
        },
    );
    if !test.options.is_empty() {
        insert("options", json!(test.options));
    }
    insert("context", json!(item.and_then(|item| item.context.as_ref())));
    insert("cot", json!(trial.cot()));
    insert("prob_correct", json!(trial.prob_correct()));
    insert("prompt_tokens", json!(completion.usage.prompt_tokens));
    insert("completion_tokens", json!(completion.usage.completion_tokens));
    let latency_ms = trial.latency_us.map(|latency| latency as f64 / 1000.0);
    insert("latency_ms", latency_ms.map_or_else(|| json!(trial.latency_ms), |latency| json!(latency)));
    insert("truncated", json!(trial.outcome == Outcome::Truncated));
    insert("repeat", json!(trial.repeat));
    if let Some(scorer) = test.scorer {
        // The metrics take the verdict as it is.
        insert("scorer", json!("stored"));
        insert("scored_by", json!(scorer.to_string()));
        insert("correct", json!(trial.outcome == Outcome::Correct));
        if verdict.is_some_and(|verdict| verdict.is_undecided) {
            insert("undecided", json!(true));
        }
    }
    insert("temperature", eval.params.get("temperature").cloned().unwrap_or(Value::Null));
    // Written even if null.
    row.insert("answer".to_owned(), json!(trial.answer()));
    Value::Object(row)
}
