//! `reasonscape metrics`: metrics of existing answers, in files or in a study, without a judge model.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use reasonscape_analysis::PointQuery;
use reasonscape_analysis::answer_files::{
    AnswerOptions, AnswerSummary, DEFAULT_BINS, DEFAULT_EXAMPLES, Difference, Example, GroupColumn, LogKind,
    display_tables, export_table, reliability_figure,
};
use reasonscape_charts::Kind;
use reasonscape_core::Scorer as DatasetScorer;
use reasonscape_ingest::Progress;
use reasonscape_ingest::answers::{self, FieldMap};
use reasonscape_metrics::MetricOptions;
use reasonscape_pipeline::{summarize_answers, summarize_export};
use reasonscape_points::{Exported, export_lines};
use reasonscape_stats::StatsError;

use super::Global;
use super::export::open_trials;
use super::study::study_folder;
use crate::error::CliError;
use crate::output::write_file;
use crate::output::{Format, Render, print_text, terminal_width};
use crate::progress::{ProgressLabels, watch};
use crate::signals::on_interrupt;

/// Compute metrics of existing answers: accuracy, calibration, consistency, reasoning
///
/// Reads JSON Lines with `target` (one or a list) and `answer`, and optionally `id`, `input`, `cot`, `context`, `options`,
/// `prob_correct`, `prompt_tokens`, `completion_tokens`, `latency_ms`, `truncated`, `repeat`, `temperature`, `model` and
/// `category`. Other fields are ignored. The default `id` is the line number. An answer is correct if it equals a target
/// after trimming, lower-casing and normalizing numbers; a truncated answer is incorrect. Without a `model` field, each
/// file is one model. No judge model is used.
///
/// For a study, computes the same metrics from its scored trials and their cached responses.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  reasonscape metrics answers.jsonl\n  reasonscape metrics small.jsonl large.jsonl \
    --format json\n  reasonscape metrics my-study --by model,base_task\n  reasonscape metrics log.jsonl --map target=gold,answer=output --per-task answers.parquet\n  \
    reasonscape sql answers.parquet \"SELECT id, false_steps FROM results WHERE equations_false > 0\""
)]
pub(super) struct Metrics {
    /// Files of answers (`-` for standard input), or one study directory.
    #[arg(value_name = "RESULTS.jsonl|STUDY", required = true)]
    files: Vec<PathBuf>,
    /// How to decide whether an answer is correct: `exact` (it equals a target after normalization), `stored` (the field
    /// `correct` of each line, or the stored score of each trial), or a scorer of datasets: `choice`, `yes_no`, `numeric`,
    /// `math`, `set`, `list`, `json`, `regex`, `contains` [default: `stored` for a study and for lines of `reasonscape
    /// export`, otherwise `exact`].
    #[arg(long, value_name = "SCORER", value_parser = parse_scorer)]
    scorer: Option<answers::Scorer>,
    /// Find the answer in `answer`, which is a whole reply; the text before it counts as reasoning if there is no `cot`.
    #[arg(long)]
    extract: bool,
    /// Columns to group by, comma-separated: `model`, `base_task`, `eval_id`, `template`, `sampler`.
    #[arg(long, value_name = "COLUMN", value_delimiter = ',', default_value = "model")]
    by: Vec<GroupColumn>,
    /// Names of the fields in the files, e.g. `target=gold,answer=output.text` to read `target` from `gold`, and `answer` from
    /// `text` in the object `output`.
    #[arg(long, value_name = "FIELD=NAME", value_delimiter = ',')]
    map: Vec<String>,
    /// Write the measurements of each answer to this file (.jsonl or .parquet).
    #[arg(long, value_name = "FILE")]
    per_task: Option<PathBuf>,
    /// Draw a reliability diagram (accuracy by `prob_correct`) to this file (.svg, .png or .html).
    #[arg(long, value_name = "FILE")]
    reliability: Option<PathBuf>,
    /// Compare numbers as text, so that `1.0` is not `1`.
    #[arg(long)]
    no_numbers: bool,
    /// Bins of the calibration error (ECE).
    #[arg(long, value_name = "N", default_value_t = DEFAULT_BINS, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    bins: u32,
    /// Temperature of answers without a `temperature` field; the determinism index is computed at 0.
    #[arg(long, value_name = "T")]
    temperature: Option<f64>,
    /// Number of incorrect reasoning steps to show.
    #[arg(long, value_name = "N", default_value_t = DEFAULT_EXAMPLES)]
    examples: usize,
    /// Skip invalid lines, and report how many.
    #[arg(long)]
    skip_bad: bool,
}

/// `exact` and `stored` are scorers of answer files; the others are those of datasets.
fn parse_scorer(name: &str) -> Result<answers::Scorer, String> {
    match name {
        "exact" => Ok(answers::Scorer::Exact),
        "stored" => Ok(answers::Scorer::Stored),
        other => other
            .parse::<DatasetScorer>()
            .map(answers::Scorer::Dataset)
            .map_err(|error| format!("{error}, or stored")),
    }
}

pub(super) const METRICS: ProgressLabels = ProgressLabels { verb: "metrics", unit: "answers" };

impl Metrics {
    pub(super) fn run(self, global: Global) -> Result<(), CliError> {
        let progress = Arc::new(Progress::default());
        let stopped = Arc::clone(&progress);
        on_interrupt(move || stopped.stop.store(true, Relaxed))?;
        self.show(&progress, global)
    }

    fn show(&self, progress: &Arc<Progress>, global: Global) -> Result<(), CliError> {
        let options = self.options()?;
        let summary = match self.study()? {
            Some(study) => self.summarize_study(study, &options, progress, global)?,
            None => watch(&METRICS, progress, global, || {
                Ok(summarize_answers(&self.files, &options, self.bins, self.per_task.as_deref(), progress)?)
            })?,
        };
        print_summary(&summary, global)?;
        self.draw(&summary, global)?;
        self.print_notes(&summary, global);
        Ok(())
    }

    /// The study, if one is given instead of files.
    fn study(&self) -> Result<Option<&Path>, CliError> {
        let is_study = |path: &&PathBuf| {
            path.is_dir() || path.is_file() && path.extension().is_some_and(|ending| ending == "toml")
        };
        let Some(study) = self.files.iter().find(is_study) else { return Ok(None) };
        if self.files.len() > 1 {
            return Err(CliError::input(format_args!(
                "the study `{}` cannot be combined with other inputs; convert it to a file with `reasonscape export` first",
                study.display()
            )));
        }
        if !self.map.is_empty() || self.skip_bad || self.extract {
            return Err(CliError::input(
                "`--map`, `--extract` and `--skip-bad` only apply to files; remove them for a study",
            ));
        }
        Ok(Some(study))
    }

    fn summarize_study(
        &self,
        study: &Path,
        options: &AnswerOptions,
        progress: &Progress,
        global: Global,
    ) -> Result<AnswerSummary, CliError> {
        let query = PointQuery::default();
        let (db, cache) = open_trials(&study_folder(study)?, &query, None, global)?;
        let (summary, exported) = watch(&METRICS, progress, global, || {
            summarize_export(options, self.bins, self.per_task.as_deref(), |out| {
                let exported: Exported = super::wait_for(async {
                    Ok(export_lines(&db, cache.as_ref(), &query.filter, out, progress).await?)
                })?;
                if exported.stopped { Err(CliError::Interrupted) } else { Ok(exported) }
            })
        })?;
        if exported.without_text > 0 {
            global.note(format_args!(
                "{} of {} trials have no prompt and reply in the cache, and are left out of the reasoning metrics",
                exported.without_text, exported.trials
            ));
        }
        Ok(summary)
    }

    fn options(&self) -> Result<AnswerOptions, CliError> {
        if let Some(path) = &self.per_task {
            LogKind::from_path(path)?;
        }
        if let Some(path) = &self.reliability {
            Kind::from_path(path).map_err(|error| CliError::Input(error.into()))?;
        }
        if let Some(temperature) = self.temperature.filter(|at| !(at.is_finite() && *at >= 0.0)) {
            return Err(CliError::input(format_args!(
                "invalid temperature `--temperature {temperature}`; expected 0 or more"
            )));
        }
        if self.files.iter().filter(|file| file.as_os_str() == "-").count() > 1 {
            return Err(CliError::input("standard input can only be read once; expected a single `-`"));
        }
        Ok(AnswerOptions {
            names: FieldMap::parse(&self.map).map_err(CliError::input)?,
            rules: MetricOptions { numbers: !self.no_numbers, temperature: self.temperature },
            skip_bad: self.skip_bad,
            examples: self.examples,
            scorer: self.scorer,
            extract: self.extract,
            by: self.by.clone(),
        })
    }

    fn draw(&self, summary: &AnswerSummary, global: Global) -> Result<(), CliError> {
        let Some(path) = &self.reliability else { return Ok(()) };
        let mut models = Vec::new();
        for model in &summary.results.models {
            let bins = model.summary.reliability(self.bins as usize).map_err(internal_error)?;
            models.push((model.name.clone().unwrap_or_default(), bins));
        }
        let kind = Kind::from_path(path).map_err(|error| CliError::Input(error.into()))?;
        let bytes =
            reliability_figure(&models).bytes(kind).map_err(|error| CliError::Internal(error.into()))?;
        write_file(path, |out| Ok(out.write_all(&bytes)?))?;
        global.note(format_args!("wrote the figure to `{}`", path.display()));
        if models.iter().all(|(_, bins)| bins.is_empty()) {
            global.note("no answer has `prob_correct`, so the figure is empty");
        }
        Ok(())
    }

    fn print_notes(&self, summary: &AnswerSummary, global: Global) {
        for usual in &summary.results.suggestions {
            let (field, name) = (usual.field.name(), usual.name);
            global.note(format_args!(
                "the files have `{name}` and no `{field}`; if they are the same, add `--map {field}={name}`"
            ));
        }
        if let Some(suggested) = &summary.results.suggested_scorer {
            global.note(format_args!(
                "in the first lines, {}: `--scorer {}` accepts more forms of them than `exact`",
                suggested.reason, suggested.scorer
            ));
        }
        print_model_notes(summary, self.temperature, global);
        if let Some(path) = &self.per_task {
            global.note(format_args!("wrote the measurements of each answer to `{}`", path.display()));
        }
        print_legend(summary, global);
    }
}

/// Notes skipped lines, and why there is no determinism index.
fn print_model_notes(
    AnswerSummary { results, models, .. }: &AnswerSummary,
    temperature: Option<f64>,
    global: Global,
) {
    if results.skipped > 0 {
        let lines = if results.skipped == 1 { "line was" } else { "lines were" };
        global.note(format_args!("{} invalid {lines} skipped", results.skipped));
    }
    let has_repeats = models.iter().any(|(_, found)| found.repeats > 1);
    let has_index = models.iter().any(|(_, found)| found.determinism_index.is_some());
    if has_repeats && !has_index && temperature.is_none() {
        global.caption("no determinism index: add `--temperature 0` if the answers were sampled at it");
    }
}

fn print_legend(summary: &AnswerSummary, global: Global) {
    global.caption("in parentheses: 95 % CI; reasoning tokens are counted as words separated by white space");
    global.caption(
        "usr equals err in version 0 of its definition: the reasoning of an incorrect answer counts as unsupported",
    );
    match summary.scorer().as_str() {
        "stored" => global.caption("scorer `stored`: correctness is read from the trial or line"),
        "mixed" => global.caption(
            "scorers `exact` and `stored`: for lines with `\"scorer\": \"stored\"`, the field `correct` decides",
        ),
        "exact" => {
            global.caption("scorer `exact`: an answer is correct if it equals a target after normalization");
        }
        other => global.caption(format_args!("scorer `{other}`, as for datasets; docs/scoring.md has its rules")),
    }
    let undecided = summary.results.scorers.undecided;
    if undecided > 0 {
        global.note(format_args!(
            "{undecided} of the incorrect answers could not be compared as formulas, only as text"
        ));
    }
}

/// Prints the metrics of a dataset run, with their notes.
pub(super) fn print_dataset_summary(summary: &AnswerSummary, global: Global) -> Result<(), CliError> {
    print_summary(summary, global)?;
    print_model_notes(summary, None, global);
    print_legend(summary, global);
    Ok(())
}

/// Prints the metrics of every model, their differences, and examples of incorrect reasoning steps.
fn print_summary(summary: &AnswerSummary, global: Global) -> Result<(), CliError> {
    let AnswerSummary { results, models, differences, .. } = summary;
    match global.format {
        Format::Json => print_text(&summary.to_json())?,
        Format::Csv => print_text(&export_table(summary).to_csv())?,
        format => {
            let width = usize::from(terminal_width());
            for (name, table) in display_tables(models, results.skipped, width) {
                if let Some(name) = name.filter(|name| !name.is_empty()) {
                    print_text(&if format == Format::Markdown {
                        format!("## {name}\n\n")
                    } else {
                        format!("{name}\n")
                    })?;
                }
                let end = if format == Format::Markdown { "\n" } else { "" };
                print_text(&(table.render(format)? + end))?;
            }
            print_text(&describe_differences(differences))?;
            print_text(&describe_false_steps(&results.examples, models.len() > 1))?;
        }
    }
    Ok(())
}

fn internal_error(error: StatsError) -> CliError {
    CliError::Internal(error.into())
}

/// One sentence per pair of models, significant differences first.
fn describe_differences(found: &[Difference]) -> String {
    /// Maximum number of pairs printed.
    const MAX_PAIRS: usize = 12;
    let mut ordered: Vec<&Difference> = found.iter().collect();
    ordered.sort_by_key(|difference| difference.verdict == "cannot tell");
    let mut text: String =
        ordered.iter().take(MAX_PAIRS).map(|difference| format!("{}\n", difference.sentence)).collect();
    if found.len() > MAX_PAIRS {
        let _ = writeln!(text, "{} more pairs; `--format json` lists all", found.len() - MAX_PAIRS);
    }
    if text.is_empty() { text } else { format!("\n{text}") }
}

/// Examples of incorrect reasoning steps.
fn describe_false_steps(examples: &[Example], show_model: bool) -> String {
    if examples.is_empty() {
        return String::new();
    }
    let mut text = "\nIncorrect reasoning steps (examples):\n".to_owned();
    for Example { model, id, line, text: step } in examples {
        let prefix =
            model.as_ref().filter(|_| show_model).map_or_else(String::new, |model| format!("{model}, "));
        let _ = writeln!(text, "  {prefix}{id}, line {line}: {step}");
    }
    text
}
