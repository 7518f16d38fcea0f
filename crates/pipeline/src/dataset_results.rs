//! What models answered to a dataset, in the form that `reasonscape metrics` reads, and what is measured on it.

use std::fs;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::Path;

use reasonscape_core::Status;
use reasonscape_core::zeta::{answer_probability, stated_confidence};
use reasonscape_points::{Answered, PointsError, read_answers};
use reasonscape_runner::cache::Cache;
use reasonscape_runner::{Eval, Selection, Study};
use serde_json::{Map, Value, json};

use crate::write_file;

/// The folder of the results, in that of the study.
pub const RESULTS: &str = "results";
/// The answers, in the folder of the results.
pub const ANSWERS: &str = "answers.jsonl";

/// Writes the answers of a study and what is measured on them: `answers.jsonl`, `tasks.parquet`, `tasks.jsonl` and
/// `metrics.json`. Returns whether there was an answer.
///
/// `measure` reads the answers in the first file, writes what it measured on each to the second, and returns the metrics
/// as JSON.
///
/// # Errors
/// Those of `measure`, of reading the responses and of writing the files.
pub fn write_dataset_results<E>(
    study: &Study,
    cache: &Cache,
    mut measure: impl FnMut(&Path, &Path) -> Result<String, E>,
) -> Result<bool, E>
where
    E: From<io::Error> + From<PointsError>,
{
    let folder = study.folder.join(RESULTS);
    fs::create_dir_all(&folder)
        .map_err(|source| io::Error::other(FolderError { path: folder.display().to_string(), source }))?;
    let answers = folder.join(ANSWERS);
    if write_answers::<E>(study, cache, &answers)? == 0 {
        return Ok(false);
    }
    measure(&answers, &folder.join("tasks.parquet"))?;
    let metrics = measure(&answers, &folder.join("tasks.jsonl"))?;
    write_file(&folder.join("metrics.json"), |out| Ok::<_, E>(out.write_all(metrics.as_bytes())?))?;
    Ok(true)
}

/// Why a folder could not be made.
#[derive(Debug, thiserror::Error)]
#[error("failed to make the folder `{path}`")]
struct FolderError {
    path: String,
    source: io::Error,
}

/// Writes the answers of every evaluation, and returns how many there are.
fn write_answers<E>(study: &Study, cache: &Cache, path: &Path) -> Result<u64, E>
where
    E: From<io::Error> + From<PointsError>,
{
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
        Ok::<_, E>(())
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

fn row(study: &Study, eval: &Eval, model: &str, answered: &Answered<'_>) -> Value {
    let Answered { task, index, test, found, completion, .. } = answered;
    let item = study.dataset.as_ref().and_then(|dataset| dataset.item(task.name(), *index));
    let truncated = answered.status == Status::Truncated;
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
        if test.also.is_empty() {
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
fn confidence(answered: &Answered<'_>, answer: &str) -> Option<f64> {
    let tokens = answered.completion.logprobs.as_deref().unwrap_or_default();
    let tokens: Vec<(&str, f64)> = tokens.iter().map(|token| (token.token.as_str(), token.logprob)).collect();
    answer_probability(&tokens, answer).or_else(|| stated_confidence(&answered.found.text))
}
