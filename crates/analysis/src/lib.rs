//! Analyses of a study: leaderboards, comparisons, accuracy by parameter, token use and answer metrics, computed once for
//! the command line, the web pages and reports.
//!
//! Every analysis is a function from a [`PointsDb`](reasonscape_points::PointsDb) and a [`PointQuery`] to a structure that
//! serializes to JSON. [`tables`] turns these structures into tables, the `*_figure` functions into figures, [`report`]
//! into one page, and [`answer_files`] computes the metrics of answers that were collected elsewhere.
//!
//! # Promises
//! - Nothing is printed, no arguments are parsed and no model is queried.
//! - Every estimate is computed by `reasonscape-stats` from counters or trials.
//! - Only [`report`] writes HTML, and it escapes every text.

mod accuracy_by_parameter;
mod aggregate;
pub mod answer_files;
mod board_points;
mod compare;
mod compression;
mod error;
mod hazard;
mod labels;
mod leaderboard;
mod model_sets;
mod modes;
mod near_chance;
mod pair_tests;
mod pairwise;
mod parameter_grid;
mod query;
mod ranking;
mod reliability;
pub mod report;
mod score_method;
mod similarity;
mod spectrum;
mod stability;
mod summaries;
mod surprisal;
pub mod tables;
mod threshold;
mod tokens;
mod totals;
mod trials;
mod truncation;
mod variance;

use reasonscape_stats::Interval;
use reasonscape_stats::score::ReasonScore;
use schemars::JsonSchema;
use serde::Serialize;

pub use self::accuracy_by_parameter::{
    AccuracyGrid, AccuracyGridAxis, AccuracyGridCell, AccuracyGrids, AxisSelection, accuracy_grids,
    projection_figure, projection_finding, surface_figure, surface_finding, surface_range,
};
pub use self::aggregate::{AggregateRow, aggregate, parse_group_by};
pub use self::compare::{
    Comparison, PairedTest, ReasonScoreGap, ScoreGap, TaskComparison, compare, p_value, verdict_label,
    verdict_name,
};
pub use self::compression::{
    Compression, CompressionOptions, CompressionRow, EffectSize, EntropyByParameter, EntropyRow,
    EqualLengthEffect, LoopExample, LoopRule, Loops, OutcomeStats, QuartileSummary, bits_per_token,
    compression, compression_figure, entropy_by_parameter,
};
pub use self::error::AnalysisError;
pub use self::hazard::{
    Bin, ChangePoint, CurvePoint, HazardOptions, HazardRow, TokenQuantile, hazard, hazard_figure,
    histogram_figure,
};
pub use self::labels::{accuracy_interval_name, accuracy_label, eval_label, join_truncated};
pub use self::leaderboard::{Leaderboard, ScoreRow, TaskScore, UNEQUAL_SAMPLING, leaderboard, rank_label};
pub use self::model_sets::{ModelSetGroup, ModelSets, SetMember, model_sets};
pub use self::modes::{ModesRow, modes};
pub use self::near_chance::calibrated_near_chance;
pub use self::pairwise::{MONTE_CARLO_DRAWS, Pairwise, RatedModel, RatingOrder, pairwise};
pub use self::parameter_grid::{Parameter, TaskParameters, parameters};
pub use self::query::{PointQuery, find_eval};
pub use self::reliability::Reliability;
pub use self::score_method::{BoardOptions, ReasonScoreEstimate, ScoreMethod, Ties};
pub use self::similarity::{
    ClusterMerge, ClusteredModel, ExcludedEval, ModelClusters, NearestModel, cluster_models,
    similarity_figure,
};
pub use self::spectrum::{
    PopulationSummary, PromptSource, Sampling, Series, Spectra, spectra, spectrum_figure,
};
pub use self::stability::{MarginStability, StabilityRow};
pub use self::summaries::{EvalSummary, PointSummary, TaskSummary, evals, points, tasks};
pub use self::surprisal::{LogprobStats, logprob_stats};
pub use self::threshold::{
    CurveFit, Side, ThresholdCurve, ThresholdRow, Thresholds, threshold_figure, threshold_lines, thresholds,
};
pub use self::tokens::{
    BudgetOutcome, SufficientBudget, TokenCost, TokensOptions, TokensRow, tokens, tokens_figure,
};
pub use self::trials::{GroupBy, TrialGroupName};
pub use self::truncation::truncation_note;
pub use self::variance::{PassRow, VarianceOptions, VarianceParts, VarianceRow, variance};

/// An estimate with its confidence interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Interval")]
pub struct IntervalEstimate {
    /// Lower end of the confidence interval.
    pub low: f64,
    /// Upper end of the confidence interval.
    pub high: f64,
    /// Middle of the confidence interval.
    pub center: f64,
    /// Half the width of the confidence interval.
    pub margin: f64,
    /// The point estimate; null without trials.
    pub point: Option<f64>,
}

impl IntervalEstimate {
    /// The point estimate with its confidence interval, as every table shows it; `None` without trials.
    ///
    /// ```
    /// use reasonscape_analysis::IntervalEstimate;
    /// use reasonscape_stats::{Confidence, wilson};
    ///
    /// let accuracy = IntervalEstimate::from(wilson(31.0, 32.0, Confidence::P95)?);
    /// assert_eq!(accuracy.to_text(3).as_deref(), Some("0.969 (0.843 to 0.994)"));
    /// # Ok::<(), reasonscape_stats::StatsError>(())
    /// ```
    pub fn to_text(&self, decimals: usize) -> Option<String> {
        self.point.map(|point| estimate_text(point, self.low, self.high, decimals))
    }
}

/// An estimate with its confidence interval: `0.969 (0.843 to 0.994)`.
pub fn estimate_text(estimate: f64, low: f64, high: f64, decimals: usize) -> String {
    format!("{estimate:.decimals$} ({low:.decimals$} to {high:.decimals$})")
}

impl From<Interval> for IntervalEstimate {
    fn from(interval: Interval) -> Self {
        Self {
            low: interval.low,
            high: interval.high,
            center: interval.center(),
            margin: interval.margin(),
            point: interval.point,
        }
    }
}

/// A proportion in percent, without floating-point noise: 99.9, not 99.89999999999999.
pub(crate) fn in_percent(proportion: f64) -> f64 {
    (proportion * 1e6).round() / 1e4
}

/// A ReasonScore with its v2 interval, which is not a 95 % confidence interval (see docs/coverage.md).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Score {
    /// Middle of the v2 interval.
    pub center: f64,
    /// The v2 margin: half the width of the v2 interval.
    pub margin: f64,
    /// Lower end of the v2 interval.
    pub ci_low: f64,
    /// Upper end of the v2 interval.
    pub ci_high: f64,
}

impl From<ReasonScore> for Score {
    fn from(score: ReasonScore) -> Self {
        Self { center: score.center(), margin: score.margin(), ci_low: score.ci_low, ci_high: score.ci_high }
    }
}
