//! The answers of models to a dataset, in the format that `reasonscape metrics` reads, and their metrics.

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

/// The directory of the results, in that of the study.
pub const RESULTS_DIR: &str = "results";
/// The file of the answers, in [`RESULTS_DIR`].
pub const ANSWERS_FILE: &str = "answers.jsonl";

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

/// Writes the answers of a study and their metrics: `answers.jsonl`, `tasks.parquet`, `tasks.jsonl` and `metrics.json`.
/// Returns whether there was an answer.
///
/// # Errors
/// A [`ResultsError`] when responses cannot be read or measured, or a file cannot be written.
pub fn write_dataset_results(
    study: &Study,
    cache: &Cache,
    progress: &Arc<Progress>,
) -> Result<bool, ResultsError> {
    let dir = study.dir.join(RESULTS_DIR);
    fs::create_dir_all(&dir)
        .map_err(|source| io::Error::other(CreateDirError { path: dir.display().to_string(), source }))?;
    let answers = dir.join(ANSWERS_FILE);
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

/// Computes the metrics of files of answers, and writes those of each answer to `per_task` if it is given.
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

/// Why a directory could not be created.
#[derive(Debug, thiserror::Error)]
#[error("failed to make the folder `{path}`")]
struct CreateDirError {
    path: String,
    source: io::Error,
}

/// Writes the answers of every evaluation, and returns how many there are.
fn write_answers(study: &Study, cache: &Cache, path: &Path) -> Result<u64, ResultsError> {
    let mut count = 0;
    write_file(path, |out| {
        for eval in &study.evals {
            let model = display_name(study, eval);
            let mut failed = None;
            read_answers(study, cache, eval, &Selection::default(), &mut |response| {
                count += 1;
                match write_row(out, &row(study, eval, &model, &response)) {
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
fn display_name(study: &Study, eval: &Eval) -> String {
    let same_name = study.evals.iter().filter(|other| other.name == eval.name).count();
    if same_name > 1 { format!("{} ({})", eval.name, eval.id) } else { eval.name.clone() }
}

fn row(study: &Study, eval: &Eval, model: &str, response: &ScoredResponse<'_>) -> Value {
    let ScoredResponse { task, index, test, found, completion, .. } = response;
    let item = study.dataset.as_ref().and_then(|dataset| dataset.item(task.name(), *index));
    let truncated = response.status == Outcome::Truncated;
    let answer = found.answer.as_deref().filter(|_| !truncated);
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
    let truncated_text = || format!("{}\n\n{}", found.reasoning.as_deref().unwrap_or_default(), found.text);
    insert("cot", if truncated { json!(truncated_text().trim()) } else { json!(found.thoughts()) });
    insert("prob_correct", json!(answer.and_then(|answer| confidence(response, answer))));
    insert("prompt_tokens", json!(completion.usage.prompt_tokens));
    insert("completion_tokens", json!(completion.usage.completion_tokens));
    insert("latency_ms", json!(response.latency_ms));
    insert("truncated", json!(truncated));
    insert("repeat", json!(response.repeat));
    insert("temperature", eval.params.get("temperature").cloned().unwrap_or(Value::Null));
    // Present even if there is none.
    row.insert("answer".to_owned(), json!(answer));
    Value::Object(row)
}

/// The model's confidence: from the probabilities of the tokens of the answer, or else as it states it.
fn confidence(response: &ScoredResponse<'_>, answer: &str) -> Option<f64> {
    let tokens = response.completion.logprobs.as_deref().unwrap_or_default();
    let tokens: Vec<(&str, f64)> = tokens.iter().map(|token| (token.token.as_str(), token.logprob)).collect();
    answer_probability(&tokens, answer).or_else(|| stated_confidence(&response.found.text))
}
