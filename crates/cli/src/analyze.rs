//! `reasonscape analyze`: analyses of a study.

mod aggregate;
mod cluster;
mod compare;
mod compression;
mod evals;
mod hazard;
mod modes;
mod pairwise;
mod plot;
mod points;
mod projection;
mod scores;
mod similarity;
mod spectrum;
mod surface;
mod tasks;
mod threshold;
mod tokens;
mod variance;

use std::path::PathBuf;

use clap::Subcommand;
use reasonscape_analysis::{GroupBy, PointQuery, join_truncated, truncation_note};
use reasonscape_points::{Estimator, PointsDb};
use reasonscape_stats::{Confidence, Mode};

use self::plot::Plot;
pub(super) use self::scores::print_summary as print_leaderboard;
use super::Global;
use super::study::study_folder;
use crate::error::CliError;
use crate::mode::ModeArgs;

/// Analyze a study: leaderboard, comparisons, difficulty curves, token use
///
/// Reads the results that `run` or `evaluate` wrote; no requests are sent. Start with `scores`.
#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = true)]
#[command(after_help = "Examples:\n  reasonscape analyze scores my-study\n  \
    reasonscape analyze compare my-study small-model large-model\n  \
    reasonscape analyze points my-study --filter model=small-model --filter params.length=8..32")]
pub(super) struct AnalyzeCommand {
    #[command(subcommand)]
    subcommand: AnalyzeSubcommand,
}

#[derive(Debug, Subcommand)]
enum AnalyzeSubcommand {
    Evals(evals::Evals),
    Tasks(tasks::Tasks),
    Points(points::Points),
    Aggregate(aggregate::Aggregate),
    Scores(scores::Scores),
    Pairwise(pairwise::Pairwise),
    Compare(compare::Compare),
    Modes(modes::Modes),
    Projection(projection::Projection),
    Surface(surface::Surface),
    Threshold(threshold::Threshold),
    /// Former name of `threshold`.
    #[command(hide = true)]
    Frontier(threshold::Threshold), // wording: allow
    Cluster(cluster::Cluster),
    Similarity(similarity::Similarity),
    Spectrum(spectrum::Spectrum),
    Compression(compression::Compression),
    Hazard(hazard::Hazard),
    Tokens(tokens::Tokens),
    Variance(variance::Variance),
}

impl AnalyzeCommand {
    pub(super) fn run(self, global: Global) -> Result<(), CliError> {
        super::wait_for(async {
            match self.subcommand {
                AnalyzeSubcommand::Evals(evals) => evals.run(global).await,
                AnalyzeSubcommand::Tasks(tasks) => tasks.run(global).await,
                AnalyzeSubcommand::Points(points) => points.run(global).await,
                AnalyzeSubcommand::Aggregate(aggregate) => aggregate.run(global).await,
                AnalyzeSubcommand::Scores(scores) => scores.run(global).await,
                AnalyzeSubcommand::Pairwise(pairwise) => pairwise.run(global).await,
                AnalyzeSubcommand::Compare(compare) => compare.run(global).await,
                AnalyzeSubcommand::Modes(modes) => modes.run(global).await,
                AnalyzeSubcommand::Projection(projection) => projection.run(global).await,
                AnalyzeSubcommand::Surface(surface) => surface.run(global).await,
                AnalyzeSubcommand::Threshold(threshold) => threshold.run(global).await,
                AnalyzeSubcommand::Frontier(threshold) => {
                    global.note("`analyze frontier` is now `analyze threshold`"); // wording: allow
                    threshold.run(global).await
                }
                AnalyzeSubcommand::Cluster(cluster) => cluster.run(global).await,
                AnalyzeSubcommand::Similarity(similarity) => similarity.run(global).await,
                AnalyzeSubcommand::Spectrum(spectrum) => spectrum.run(global).await,
                AnalyzeSubcommand::Compression(compression) => compression.run(global).await,
                AnalyzeSubcommand::Hazard(hazard) => hazard.run(global).await,
                AnalyzeSubcommand::Tokens(tokens) => tokens.run(global).await,
                AnalyzeSubcommand::Variance(variance) => variance.run(global).await,
            }
        })
    }
}

/// The message for a subcommand that was renamed or belongs below `analyze`, if the error is about one.
pub(super) fn renamed_subcommand_hint(error: &clap::Error) -> Option<String> {
    use clap::error::{ContextKind, ContextValue};

    let Some(ContextValue::String(name)) = error.get(ContextKind::InvalidSubcommand) else { return None };
    // Not for subcommands of other commands, such as `suite points`.
    let usage = match error.get(ContextKind::Usage) {
        Some(ContextValue::StyledStr(usage)) => usage.to_string(),
        _ => String::new(),
    };
    if !usage.contains("reasonscape [") && !usage.contains("reasonscape analyze ") {
        return None;
    }
    let analyze = AnalyzeSubcommand::augment_subcommands(clap::Command::new("analyze"));
    let analysis = match name.as_str() {
        "leaderboard" => "scores",
        "frontier" => "threshold", // wording: allow
        name => analyze.find_subcommand(name)?.get_name(),
    };
    Some(format!("unrecognized subcommand `{name}`; did you mean `reasonscape analyze {analysis}`?"))
}

/// A study, and a selection of its points.
#[derive(Debug, clap::Args)]
struct StudyArgs {
    /// Study directory, or its study.toml.
    #[arg(value_name = "STUDY")]
    study: PathBuf,
    /// Only points whose COLUMN matches VALUE, e.g. `model=qwen*`, `base_task=sort,dates`, `params.length=8..32` or
    /// `groups=arch:moe` (repeatable).
    ///
    /// Columns: `eval_id`, `model`, `template`, `sampler`, `base_task`, `manifold`, `params`, `params.NAME`,
    /// `facets.NAME`, `groups`. A point must match every column that is filtered, and at least one value of each.
    #[arg(long = "filter", value_name = "COLUMN=VALUE")]
    filters: Vec<String>,
    /// Only use the first N problems of each point, as if the study had `count = N`.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    first: Option<u64>,
}

/// How accuracy is estimated.
#[derive(Debug, clap::Args)]
struct EstimatorArgs {
    #[command(flatten)]
    mode_args: ModeArgs,
    /// Always compute the full products of the C and K estimators, to reproduce published ReasonScape numbers.
    ///
    /// By default the completion factor is dropped where no trial was truncated, and C equals E where nothing can be
    /// guessed (see `reasonscape help statistics`).
    #[arg(long)]
    literal: bool,
}

impl EstimatorArgs {
    fn estimator(&self, default: Mode) -> Estimator {
        Estimator { is_literal: self.literal, ..Estimator::from(self.mode_args.mode(default)) }
    }
}

impl StudyArgs {
    /// Opens the study and prints its remarks.
    async fn open(&self, global: Global) -> Result<(PointsDb, PointQuery), CliError> {
        let query = PointQuery::parse(&self.filters)?;
        let db = PointsDb::open_first(&study_folder(&self.study)?, self.first).await?.storing_derived();
        for remark in db.remarks() {
            global.note(remark);
        }
        if let Some(note) = truncation_note(&db) {
            global.note(note);
        }
        Ok((db, query))
    }
}

/// The confidence level of intervals.
#[derive(Debug, clap::Args)]
struct ConfidenceArgs {
    /// Confidence level of the intervals.
    #[arg(long, value_name = "LEVEL", default_value_t = 0.95, allow_hyphen_values = true)]
    confidence: f64,
}

impl ConfidenceArgs {
    fn confidence(&self) -> Result<Confidence, CliError> {
        Confidence::new(self.confidence).map_err(|_| {
            CliError::input(format_args!(
                "`--confidence {}` is out of range; expected a number from 0.01 to 0.999999, e.g. 0.95 for 95 %",
                self.confidence
            ))
        })
    }
}

/// Arguments of an analysis with a figure.
#[derive(Debug, clap::Args)]
struct PlotArgs {
    #[command(flatten)]
    study_args: StudyArgs,
    #[command(flatten)]
    confidence_args: ConfidenceArgs,
    #[command(flatten)]
    plot: Plot,
}

impl PlotArgs {
    /// Checks the arguments before the study is opened.
    async fn open(&self, global: Global) -> Result<(Confidence, PointsDb, PointQuery), CliError> {
        self.plot.check()?;
        let confidence = self.confidence_args.confidence()?;
        let (db, query) = self.study_args.open(global).await?;
        Ok((confidence, db, query))
    }
}

/// Arguments of an analysis of accuracy with a figure.
#[derive(Debug, clap::Args)]
struct AccuracyPlotArgs {
    #[command(flatten)]
    plot_args: PlotArgs,
    #[command(flatten)]
    mode_args: ModeArgs,
}

impl AccuracyPlotArgs {
    async fn open(&self, global: Global) -> Result<(Estimator, PointsDb, PointQuery), CliError> {
        let (confidence, db, query) = self.plot_args.open(global).await?;
        Ok((estimator(self.mode_args, confidence), db, query))
    }
}

/// The estimator of `--mode` at this confidence level, `C_P` by default.
fn estimator(mode_args: ModeArgs, confidence: Confidence) -> Estimator {
    Estimator { confidence, ..Estimator::from(mode_args.mode(Mode::C_P)) }
}

/// Arguments of a list of estimates.
#[derive(Debug, clap::Args)]
struct EstimateListArgs {
    #[command(flatten)]
    study: StudyArgs,
    #[command(flatten)]
    estimator: EstimatorArgs,
    #[command(flatten)]
    confidence: ConfidenceArgs,
}

impl EstimateListArgs {
    async fn open(
        &self,
        default: Mode,
        global: Global,
    ) -> Result<(Estimator, PointsDb, PointQuery), CliError> {
        let confidence = self.confidence.confidence()?;
        let estimator = Estimator { confidence, ..self.estimator.estimator(default) };
        let (db, query) = self.study.open(global).await?;
        Ok((estimator, db, query))
    }
}

/// Arguments of an analysis of trials with a figure.
#[derive(Debug, clap::Args)]
struct TrialArgs {
    #[command(flatten)]
    plot_args: PlotArgs,
    /// One row per evaluation, or per evaluation and task.
    #[arg(long, value_enum, default_value_t)]
    by: GroupByArg,
}

/// What one row stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
enum GroupByArg {
    /// One row per evaluation, all tasks pooled.
    Eval,
    /// One row per evaluation and task.
    #[default]
    Task,
}

impl From<GroupByArg> for GroupBy {
    fn from(by: GroupByArg) -> Self {
        match by {
            GroupByArg::Eval => Self::Eval,
            GroupByArg::Task => Self::Task,
        }
    }
}

/// Notes how many trials are missing. Those of imported logs can't be run.
fn note_missing<'a>(
    db: &PointsDb,
    rows: impl Iterator<Item = (&'a String, u64)>,
    suffix: &str,
    global: Global,
) {
    let (mut own, mut imported) = (0, 0);
    for (eval_id, missing) in rows {
        *if db.imported().contains_key(eval_id) { &mut imported } else { &mut own } += missing;
    }
    if own > 0 {
        global.note(format_args!(
            "{} missing{suffix}; `reasonscape run` sends the missing requests",
            pluralize(own, "trial")
        ));
    }
    if imported > 0 {
        global.note(format_args!(
            "{} missing in imported logs: no score, or never run",
            pluralize(imported, "trial")
        ));
    }
}

/// `3 trials`, `1 trial`.
fn pluralize(number: u64, thing: &str) -> String {
    if number == 1 { format!("1 {thing}") } else { format!("{number} {thing}s") }
}
