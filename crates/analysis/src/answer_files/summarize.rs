//! Metrics of every model in answer files.

use std::io::Read;
use std::path::PathBuf;

use reasonscape_ingest::Progress;
use reasonscape_metrics::MetricsSummary;
use serde::Serialize;
use serde_json::{Map, Value};

use super::Log;
use super::group::GroupColumn;
use super::model_comparison::{Difference, differences};
use super::read::{AnswerOptions, Model, Results, read, read_stream};
use crate::error::AnalysisError;

/// The default number of bins of the calibration errors.
pub const DEFAULT_BINS: u32 = 10;
/// The default number of false steps to keep as examples.
pub const DEFAULT_EXAMPLES: usize = 3;

/// The metrics of the models in answer files.
#[derive(Debug)]
pub struct AnswerSummary {
    /// The answers that were read.
    pub results: Results,
    /// The metrics of each model, with its name, which may be empty.
    pub models: Vec<(String, MetricsSummary)>,
    /// All pairs of models on the tasks that both answered.
    pub differences: Vec<Difference>,
    /// The columns by which answers are grouped.
    pub by: Vec<GroupColumn>,
}

/// The metrics of one model in JSON.
#[derive(Debug, Serialize)]
struct ModelJson<'a> {
    model: Option<&'a str>,
    /// The values of the columns that define the group, unless the only column is the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    group: Option<Map<String, Value>>,
    scorer: &'a str,
    bad_lines: u64,
    #[serde(flatten)]
    metrics: &'a MetricsSummary,
}

/// The metrics of several models in JSON.
#[derive(Debug, Serialize)]
struct ModelsJson<'a> {
    models: Vec<ModelJson<'a>>,
    differences: &'a [Difference],
    scorer: &'a str,
    bad_lines: u64,
}

/// Reads answer files and computes the metrics of every model; the measures of each answer are written to the logs.
///
/// The logs are not closed.
///
/// # Errors
/// [`AnalysisError::Input`] for invalid lines and repeated ids, [`AnalysisError::Stopped`] when `progress` requests a stop,
/// [`AnalysisError::Stats`] when a metric cannot be computed, and errors of reading and writing.
pub fn summarize(
    paths: &[PathBuf],
    options: &AnswerOptions,
    bins: u32,
    progress: &Progress,
    logs: &mut [Log<'_>],
) -> Result<AnswerSummary, AnalysisError> {
    finish(read(paths, options, progress, logs)?, options, bins)
}

/// Like [`summarize`], for a stream; `name` is its name in errors.
///
/// # Errors
/// As those of [`summarize`].
pub fn summarize_stream(
    name: &str,
    reader: impl Read + Send,
    options: &AnswerOptions,
    bins: u32,
    progress: &Progress,
    logs: &mut [Log<'_>],
) -> Result<AnswerSummary, AnalysisError> {
    finish(read_stream(name, reader, options, progress, logs)?, options, bins)
}

fn finish(results: Results, options: &AnswerOptions, bins: u32) -> Result<AnswerSummary, AnalysisError> {
    let finish = |model: &Model| {
        let name = model.name.clone().unwrap_or_default();
        Ok((name, model.summary.finish(bins as usize)?))
    };
    let models = results.models.iter().map(finish).collect::<Result<_, AnalysisError>>()?;
    let task = options.by.iter().position(|column| *column == GroupColumn::BaseTask);
    let differences = differences(&results.models, task)?;
    Ok(AnswerSummary { results, models, differences, by: options.by.clone() })
}

impl AnswerSummary {
    /// The scorer of the answers, or `mixed` if lines differ.
    pub fn scorer(&self) -> String {
        self.results.scorers.name()
    }

    /// The metrics as JSON: an object for one model, a list of them with their comparison for several.
    pub fn to_json(&self) -> String {
        let skipped = self.results.skipped;
        let scorer = self.scorer();
        let scorer = scorer.as_str();
        let model_column = self.by.iter().position(|column| *column == GroupColumn::Model);
        let group = |model: &Model| {
            let value = |(column, value): (&GroupColumn, &Option<String>)| {
                (column.name().to_owned(), value.clone().into())
            };
            self.by.iter().zip(&model.group).map(value).collect()
        };
        let each: Vec<ModelJson<'_>> = self
            .results
            .models
            .iter()
            .zip(&self.models)
            .map(|(model, (_, metrics))| ModelJson {
                model: model_column.and_then(|column| model.group[column].as_deref()),
                group: (self.by != [GroupColumn::Model]).then(|| group(model)),
                scorer,
                bad_lines: skipped,
                metrics,
            })
            .collect();
        let text = match each.as_slice() {
            [one] => serde_json::to_string_pretty(one),
            _ => serde_json::to_string_pretty(&ModelsJson {
                models: each,
                differences: &self.differences,
                scorer,
                bad_lines: skipped,
            }),
        };
        text.expect("plain structures become JSON") + "\n"
    }
}
