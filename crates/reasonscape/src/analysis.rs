//! What a study says: leaderboards, head to heads and comparisons, worked out once for commands, pages and reports.
//!
//! # Promises
//! Plain structures that become JSON. Nothing is printed here, nothing is asked of a model, and every number comes from
//! counters or trials by way of `reasonscape-stats`.

mod chance;
mod cluster;
mod compare;
mod compression;
mod counted;
mod frontier;
mod hazard;
mod inventory;
mod landscape;
mod leaderboard;
mod modes;
mod pairwise;
mod spectrum;
mod surprise;
mod tokens;
mod trials;
mod view;

use reasonscape_stats::Interval;
use reasonscape_stats::score::ReasonScore;
use serde::Serialize;

pub(crate) use self::chance::honest_near_chance;
pub(crate) use self::cluster::{Kinship, Member, cluster_figure, kinship};
pub(crate) use self::compare::{Comparison, TaskComparison, compare, p_value, word};
pub(crate) use self::compression::{
    Compression, CompressionOptions, CompressionRow, Dominance, Ended, Spread, bits_per_token, compression,
    compression_figure,
};
pub(crate) use self::counted::{Asked, evaluation, label, some, truncation_note};
pub(crate) use self::frontier::{
    Frontier, FrontierRow, Frontiers, frontier_figure, frontier_lines, frontiers,
};
pub(crate) use self::hazard::{
    Bin, HazardOptions, HazardRow, ReachedAt, Turn, hazard, hazard_figure, histogram_figure,
};
pub(crate) use self::inventory::{
    EvalSummary, PointSummary, TaskSummary, evals, points, tasks, telling_coordinates,
};
pub(crate) use self::landscape::{Parameter, TaskParameters, parameters};
pub(crate) use self::leaderboard::{Leaderboard, ScoreRow, TaskScore, leaderboard};
pub(crate) use self::modes::{ModesRow, modes};
pub(crate) use self::pairwise::{Contestant, Pairwise, pairwise};
pub(crate) use self::spectrum::{
    PopulationSummary, Sampling, Series, Source, Spectra, spectra, spectrum_figure,
};
pub(crate) use self::surprise::{Surprise, surprise};
pub(crate) use self::tokens::{Limited, Spent, TokensOptions, TokensRow, tokens, tokens_figure};
pub(crate) use self::trials::By;
pub(crate) use self::view::{
    Along, View, ViewAxis, ViewCell, Views, projection_figure, projection_finding, surface_figure,
    surface_finding, surface_range, views,
};

/// An interval as programs read it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Bounds {
    pub(crate) low: f64,
    pub(crate) high: f64,
    pub(crate) center: f64,
    pub(crate) margin: f64,
    pub(crate) point: Option<f64>,
}

impl From<Interval> for Bounds {
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

/// A share in percent, without the digits that rounding leaves: 99.9, not 99.89999999999999.
pub(crate) fn in_percent(share: f64) -> f64 {
    (share * 1e6).round() / 1e4
}

/// A ReasonScore as programs read it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Score {
    pub(crate) center: f64,
    pub(crate) margin: f64,
    pub(crate) ci_low: f64,
    pub(crate) ci_high: f64,
}

impl From<ReasonScore> for Score {
    fn from(score: ReasonScore) -> Self {
        Self { center: score.center(), margin: score.margin(), ci_low: score.ci_low, ci_high: score.ci_high }
    }
}
