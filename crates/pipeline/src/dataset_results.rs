//! What models answered to a dataset, in the form that `reasonscape metrics` reads, and what is measured on it.

use std::fs;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use reasonscape_analysis::AnalysisError;
use reasonscape_analysis::answer_files::{AnswerOptions, AnswerSummary, DEFAULT_BINS, Log, summarize};
use reasonscape_cache::Cache;
use reasonscape_core::Outcome;
use reasonscape_ingest::Progress;
use reasonscape_metrics::{answer_probability, stated_confidence};
use reasonscape_points::{PointsError, ScoredResponse, read_answers};
use reasonscape_study::{Eval, Selection, Study, write_file};
use serde_json::{Map, Value, json};

/// The folder of the results, in that of the study.
pub const RESULTS: &str = "results";
/// The answers, in the folder of the results.
pub const ANSWERS: &str = "answers.jsonl";

/// Why the results of a dataset could not be written.
#[derive(Debug, thiserror::Error)]
pub enum ResultsError {
    /// A file or directory could not be written.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The responses could not be read.
    #[error(transparent)]
    Points(#[from] PointsError),
    /// The answers could not be measured.
    #[error(transparent)]
    Analysis(#[from] AnalysisError),
}

/// Writes the answers of a study and what is measured on them: `answers.jsonl`, `tasks.parquet`, `tasks.jsonl` and
/// `metrics.json`. Returns whether there was an answer.
///
/// # Errors
/// A [`ResultsError`] when responses cannot be read or measured, or a file cannot be written.
pub fn write_dataset_results(
    study: &Study,
    cache: &Cache,
    progress: &Arc<Progress>,
) -> Result<bool, ResultsError> {
    let dir = study.dir.join(RESULTS);
    fs::create_dir_all(&dir)
        .map_err(|source| io::Error::other(FolderError { path: dir.display().to_string(), source }))?;
    let answers = dir.join(ANSWERS);
    if write_answers(study, cache, &answers)? == 0 {
        return Ok(false);
    }
    let files = [answers];
    let options = AnswerOptions::default();
    let summarize = |per_task: &str| {
        summarize_answers(&files, &options, DEFAULT_BINS, Some(&dir.join(per_task)), progress)
    };
    summarize("tasks.parquet")?;
    let metrics = summarize("tasks.jsonl")?.to_json();
    write_file(&dir.join("metrics.json"), |out| out.write_all(metrics.as_bytes()))?;
    Ok(true)
}

/// Computes the metrics of files of answers; what is measured on each answer is written to `per_task`, if it is given.
///
/// # Errors
/// An [`AnalysisError`] that names the file and line that is invalid, or the file that cannot be written.
pub fn summarize_answers(
    files: &[PathBuf],
    options: &AnswerOptions,
    bins: u32,
    per_task: Option<&Path>,
    progress: &Arc<Progress>,
) -> Result<AnswerSummary, AnalysisError> {
    let Some(path) = per_task else { return summarize(files, options, bins, progress, &mut None) };
    let mut summary = None;
    write_file(path, |out| {
        let mut log = Some(Log::new(out, path)?);
        summary = Some(summarize(files, options, bins, progress, &mut log)?);
        log.map_or(Ok(()), Log::close)
    })?;
    Ok(summary.expect("the file was written, so its content was computed"))
}

/// Why a folder could not be made.
#[derive(Debug, thiserror::Error)]
#[error("failed to make the folder `{path}`")]
struct FolderError {
    path: String,
    source: io::Error,
}

/// Writes the answers of every evaluation, and returns how many there are.
fn write_answers(study: &Study, cache: &Cache, path: &Path) -> Result<u64, ResultsError> {
    let mut count = 0;
    write_file(path, |out| {
        for eval in &study.evals {
            let model = model_name(study, eval);
            let mut failed = None;
            read_answers(study, cache, eval, &Selection::default(), &mut |answered| {
                count += 1;
                match write_row(out, &row(study, eval, &model, &answered)) {
                    Ok(()) => ControlFlow::Continue(()),
                    Err(error) => {
                        failed = Some(error);
                        ControlFlow::Break(())
                    }
                }
            })?;
            failed.map_or(Ok(()), Err)?;
        }
        Ok::<_, ResultsError>(())
    })?;
    Ok(count)
}

fn write_row(out: &mut dyn Write, row: &Value) -> Result<(), std::io::Error> {
    serde_json::to_writer(&mut *out, row)?;
    out.write_all(b"\n")
}

/// The name of an evaluation, with its id where another has the same name.
fn model_name(study: &Study, eval: &Eval) -> String {
    let namesakes = study.evals.iter().filter(|other| other.name == eval.name).count();
    if namesakes > 1 { format!("{} ({})", eval.name, eval.id) } else { eval.name.clone() }
}

fn row(study: &Study, eval: &Eval, model: &str, answered: &ScoredResponse<'_>) -> Value {
    let ScoredResponse { task, index, test, found, completion, .. } = answered;
    let item = study.dataset.as_ref().and_then(|dataset| dataset.item(task.name(), *index));
    let truncated = answered.status == Outcome::Truncated;
    let answer = found.answer.as_deref().filter(|_| !truncated);
    let mut row = Map::new();
    let mut put = |field: &str, value: Value| {
        if !value.is_null() {
            row.insert(field.to_owned(), value);
        }
    };
    put("id", json!(item.map(|item| &item.id)));
    put("model", json!(model));
    put("category", json!(task.name()));
    put("input", json!(item.map_or(&test.prompt, |item| &item.input)));
    put(
        "target",
        if test.alternative_targets.is_empty() {
            json!(test.target)
        } else {
            json!(item.map(|item| item.targets().collect::<Vec<_>>()))
        },
    );
    if !test.options.is_empty() {
        put("options", json!(test.options));
    }
    put("context", json!(item.and_then(|item| item.context.as_ref())));
    let cut = || format!("{}\n\n{}", found.reasoning.as_deref().unwrap_or_default(), found.text);
    put("cot", if truncated { json!(cut().trim()) } else { json!(found.thoughts()) });
    put("prob_correct", json!(answer.and_then(|answer| confidence(answered, answer))));
    put("prompt_tokens", json!(completion.usage.prompt_tokens));
    put("completion_tokens", json!(completion.usage.completion_tokens));
    put("latency_ms", json!(answered.latency_ms));
    put("truncated", json!(truncated));
    put("repeat", json!(answered.repeat));
    put("temperature", eval.params.get("temperature").cloned().unwrap_or(Value::Null));
    // Present even if there is none.
    row.insert("answer".to_owned(), json!(answer));
    Value::Object(row)
}

/// The model's confidence: from the probabilities of the tokens of the answer, or else as it states it.
fn confidence(answered: &ScoredResponse<'_>, answer: &str) -> Option<f64> {
    let tokens = answered.completion.logprobs.as_deref().unwrap_or_default();
    let tokens: Vec<(&str, f64)> = tokens.iter().map(|token| (token.token.as_str(), token.logprob)).collect();
    answer_probability(&tokens, answer).or_else(|| stated_confidence(&answered.found.text))
}
