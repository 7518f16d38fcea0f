//! What models answered to a dataset, in the form that `reasonscape metrics` reads.

use std::fs;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use reasonscape_core::Outcome;
use reasonscape_metrics::{answer_probability, stated_confidence};
use reasonscape_points::{Answered, Progress, read_answers};
use reasonscape_runner::cache::Cache;
use reasonscape_runner::{Eval, Selection, Study};
use serde_json::{Map, Value, json};

use crate::cli::Global;
use crate::cli::metrics::Metrics;
use crate::failure::Failure;
use crate::output::{Format, write_file};

/// The answers, in the folder of results.
const ANSWERS: &str = "answers.jsonl";

/// Writes what was answered, measures it, and shows the metrics of every model of the study.
pub(super) fn show(
    study: &Study,
    cache: &Cache,
    progress: &Arc<Progress>,
    global: Global,
) -> Result<(), Failure> {
    if !write(study, cache, progress, global)? {
        global.note("nothing was answered, so there is nothing to measure");
        return Ok(());
    }
    let folder = study.folder.join("results");
    Metrics::of(folder.join(ANSWERS)).show(progress, global)?;
    global.caption(format_args!(
        "answers, metrics and what was measured on each are in `{}`",
        folder.display()
    ));
    Ok(())
}

/// Writes what was answered and what was measured on it; whether anything was.
fn write(study: &Study, cache: &Cache, progress: &Arc<Progress>, global: Global) -> Result<bool, Failure> {
    let folder = study.folder.join("results");
    fs::create_dir_all(&folder)
        .with_context(|| format!("failed to make the folder `{}`", folder.display()))
        .map_err(Failure::Broken)?;
    let answers = folder.join(ANSWERS);
    if write_answers(study, cache, &answers)? == 0 {
        return Ok(false);
    }
    Metrics::of(answers.clone()).kept(folder.join("tasks.parquet"), progress, global)?;
    let metrics = Metrics::of(answers).kept(folder.join("tasks.jsonl"), progress, global)?;
    write_file(&folder.join("metrics.json"), |out| Ok(out.write_all(metrics.as_bytes())?))?;
    Ok(true)
}

/// The same for whoever shows it elsewhere: nothing is said.
pub(crate) fn write_results(study: &Study, cache: &Cache, progress: &Arc<Progress>) -> Result<bool, Failure> {
    let silent = Global { format: Format::Table, quiet: true, color: clap::ColorChoice::Auto };
    write(study, cache, progress, silent)
}

/// Writes the answers of every evaluation, and says how many there are.
fn write_answers(study: &Study, cache: &Cache, path: &Path) -> Result<u64, Failure> {
    let mut count = 0;
    write_file(path, |out| {
        for eval in &study.evals {
            let model = called(study, eval);
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
        Ok(())
    })?;
    Ok(count)
}

fn write_row(out: &mut dyn Write, row: &Value) -> Result<(), std::io::Error> {
    serde_json::to_writer(&mut *out, row)?;
    out.write_all(b"\n")
}

/// What an evaluation is called: by its name, and where another has the same, by its id too.
fn called(study: &Study, eval: &Eval) -> String {
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
    // That there is none is said too.
    row.insert("answer".to_owned(), json!(answer));
    Value::Object(row)
}

/// How sure the model was: by the probabilities of the tokens that spell the answer, or else as it says itself.
fn confidence(answered: &ScoredResponse<'_>, answer: &str) -> Option<f64> {
    let tokens = answered.completion.logprobs.as_deref().unwrap_or_default();
    let tokens: Vec<(&str, f64)> = tokens.iter().map(|token| (token.token.as_str(), token.logprob)).collect();
    answer_probability(&tokens, answer).or_else(|| stated_confidence(&answered.found.text))
}
