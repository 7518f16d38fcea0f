//! `reasonscape score`: ReasonScores of data that is not in a study.

mod input;

use std::collections::{BTreeMap, BTreeSet};

use reasonscape_analysis::tables::stability::stability_table;
use reasonscape_analysis::tables::{Cell, Table};
use reasonscape_analysis::{ReasonScoreEstimate, StabilityRow, join_truncated, rank_label};
use reasonscape_points::Estimator;
use reasonscape_stats::likelihood::{
    EffectiveTask, PointSums, WeightedPoint, effective_task, likelihood_score,
};
use reasonscape_stats::score::{
    Bootstrap, IntervalClass, IntervalFactors, Rank, ReasonScore, TaskBounds, min_max_score, ranks,
    reason_scores,
};
use reasonscape_stats::{Confidence, Counters, Interval, Mode, StatsError};
use serde::Serialize;

use self::input::{Evidence, Input, Model};
use super::{Global, InputFile, read_input};
use crate::error::CliError;
use crate::mode::ModeArgs;
use crate::output::{Format, print};

/// Compute ReasonScores from your own counts or intervals
///
/// Reads JSON or CSV. Each task has an interval (`low`, `high`) or counters: `n` trials, `n_e` correct, `n_t` truncated (or
/// `n_u` completed) and `g` expected lucky guesses (or `guess_accum`); the last two default to 0. With a `model` column or
/// key, prints a leaderboard with ranks. A model without trials of some task is scored on the others and marked `*`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    echo '{\"sort\": {\"low\": 0.8, \"high\": 0.9}, \"dates\": [0.5, 0.6]}' | reasonscape score -\n  \
    printf 'task,n,n_e,n_t,g\\nsort,128,100,5,0\\nshapes,128,70,0,16\\n' | reasonscape score -")]
pub(super) struct Score {
    #[command(flatten)]
    input: InputFile,
    #[command(flatten)]
    mode_args: ModeArgs,
    /// How scores and intervals are computed [default: likelihood; bootstrap with intervals as input, another `--mode` or
    /// `--literal`].
    #[arg(long, value_enum)]
    method: Option<Method>,
    /// Always compute the full products of the C and K estimators, to reproduce published ReasonScape numbers.
    #[arg(long)]
    literal: bool,
    /// Bootstrap draws [default: 5000].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    draws: Option<u32>,
    /// Random seed of the bootstrap [default: 42].
    #[arg(long, value_name = "S", allow_hyphen_values = true)]
    seed: Option<i64>,
    /// Instead of the scores, show how much the margin depends on the bootstrap seed, at 100 to 10,000 draws.
    #[arg(long, conflicts_with_all = ["draws", "seed"])]
    stability: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Method {
    /// Estimate and 95 % confidence interval from counters; each task is one point.
    Likelihood,
    /// The published ReasonScore v2: a bootstrap.
    Bootstrap,
    /// All tasks at their lower or upper bounds.
    MinMax,
}

/// A model's score in JSON.
#[derive(Debug, Serialize)]
struct Row {
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    #[serde(flatten)]
    scored: Scored,
    /// The ReasonScore; the other keys are those of v2.
    reason_score: Option<ReasonScoreEstimate>,
    complete: bool,
    missing: Vec<String>,
    mode: &'static str,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    literal: bool,
    method: &'static str,
    /// None without a bootstrap.
    #[serde(flatten)]
    bootstrap: Option<BootstrapInfo>,
    tasks: BTreeMap<String, Bounds>,
}

/// Rank and score; all empty if no task has data.
#[derive(Debug, Default, Serialize)]
struct Scored {
    rank: Option<usize>,
    rank_best: Option<usize>,
    rank_worst: Option<usize>,
    center: Option<f64>,
    margin: Option<f64>,
    ci_low: Option<f64>,
    ci_high: Option<f64>,
    band: Option<&'static str>,
    meaning: Option<&'static str>,
    interval_class: Option<&'static str>,
    interval_causes: Vec<String>,
}

#[derive(Debug, Clone, Copy, Serialize)]
struct BootstrapInfo {
    draws: usize,
    seed: i64,
}

/// The interval of a task.
#[derive(Debug, Serialize)]
struct Bounds {
    /// Lower bound in the score v2: at least 0.01.
    low: f64,
    /// Upper bound in the score v2.
    high: f64,
    /// The estimate from counters; none of an interval.
    point: Option<f64>,
    /// Its interval, or the given one, without the floor.
    #[serde(skip)]
    interval: Interval,
}

/// A model with the tasks that have data.
struct ScoredModel {
    name: Option<String>,
    tasks: BTreeMap<String, TaskBounds>,
    /// The intervals of these tasks.
    intervals: BTreeMap<String, Interval>,
    factors: IntervalFactors,
    /// Each task as one point; `None` if a task has only an interval.
    effective: Option<Vec<EffectiveTask>>,
}

impl Score {
    pub(super) fn run(self, global: Global) -> Result<(), CliError> {
        let bootstrap = self.bootstrap()?;
        let (name, text) = read_input(&self.input.path)?;
        let Input { models, ignored } = input::read(&name, &text).map_err(CliError::input)?;
        if !ignored.is_empty() {
            let names: Vec<String> = ignored.iter().map(|name| format!("`{name}`")).collect();
            global.note(format_args!("{name}: ignored unknown fields: {}", names.join(", ")));
        }
        let suite: BTreeSet<String> = models.iter().flat_map(|model| model.tasks.keys().cloned()).collect();
        let in_input = |error: StatsError| CliError::input(format!("{name}: {error}"));
        let models: Vec<ScoredModel> = models
            .into_iter()
            .map(|model| self.estimate(model))
            .collect::<Result<_, _>>()
            .map_err(in_input)?;
        let method = self.resolve_method(&name, &models)?;
        if method == Method::Bootstrap && self.method.is_none() {
            global.note("only counters by C_P have a likelihood, so this uses `--method bootstrap`");
        }
        let (scored, empty): (Vec<&ScoredModel>, Vec<&ScoredModel>) =
            models.iter().partition(|model| !model.tasks.is_empty());
        let bounds: Vec<Vec<TaskBounds>> =
            scored.iter().map(|model| model.tasks.values().copied().collect()).collect();
        if self.stability {
            let rows = scored
                .iter()
                .zip(&bounds)
                .map(|(model, bounds)| StabilityRow::new(model.name.as_deref().unwrap_or("-"), bounds))
                .collect::<Result<Vec<_>, _>>()
                .map_err(in_input)?;
            return print_stability(&rows, global);
        }
        let scores = match method {
            Method::Likelihood | Method::Bootstrap => reason_scores(&bounds, bootstrap),
            Method::MinMax => bounds.iter().map(|tasks| min_max_score(tasks)).collect(),
        }
        .map_err(in_input)?;
        let mut rows: Vec<Row> = Vec::new();
        for (model, (score, rank)) in scored.iter().zip(scores.iter().zip(ranks(&scores))) {
            let reason_score = match (method, &model.effective) {
                (Method::Likelihood, Some(tasks)) => {
                    likelihood_score(tasks, Confidence::P95).map_err(in_input)?.into()
                }
                (Method::MinMax, _) => {
                    ReasonScoreEstimate { method: "min-max", ..ReasonScoreEstimate::from(*score) }
                }
                _ => ReasonScoreEstimate::from(*score),
            };
            let scored = Scored::new(model, score, rank);
            rows.push(self.row(method, model, scored, Some(reason_score), &suite));
        }
        rank_by_estimate(&mut rows);
        rows.extend(empty.into_iter().map(|model| self.row(method, model, Scored::default(), None, &suite)));
        self.print(method, &rows, global)
    }

    /// The method; that of the likelihood needs counters and `C_P`.
    fn resolve_method(&self, name: &str, models: &[ScoredModel]) -> Result<Method, CliError> {
        let has_counters = models.iter().all(|model| model.effective.is_some());
        let has_likelihood = has_counters && self.mode() == Mode::C_P && !self.literal;
        match self.method {
            Some(Method::Likelihood) if !has_counters => Err(CliError::input(format_args!(
                "{name}: `--method likelihood` needs the counters of every task (`n`, `n_e`, `n_t`, `g`), and some have only \
                 an interval; use `--method bootstrap`"
            ))),
            Some(Method::Likelihood) if !has_likelihood => Err(CliError::input(
                "`--method likelihood` estimates C_P and cannot be combined with another `--mode` or `--literal`; use \
                 `--method bootstrap`",
            )),
            Some(method) => Ok(method),
            None if has_likelihood && !self.stability && self.draws.is_none() && self.seed.is_none() => {
                Ok(Method::Likelihood)
            }
            None => Ok(Method::Bootstrap),
        }
    }

    fn mode(&self) -> Mode {
        self.mode_args.mode(Mode::C_P)
    }

    fn bootstrap(&self) -> Result<Bootstrap, CliError> {
        if self.method == Some(Method::MinMax)
            && (self.draws.is_some() || self.seed.is_some() || self.stability)
        {
            return Err(CliError::input(
                "`--method min-max` uses no random draws; remove `--draws`, `--seed` and `--stability`",
            ));
        }
        let Bootstrap { draws, seed } = Bootstrap::default();
        Ok(Bootstrap {
            draws: self.draws.map_or(draws, |draws| draws as usize),
            seed: self.seed.unwrap_or(seed),
        })
    }

    /// The intervals of the tasks that have trials.
    fn estimate(&self, model: Model) -> Result<ScoredModel, StatsError> {
        let (mut tasks, mut intervals) = (BTreeMap::new(), BTreeMap::new());
        let mut effective = Some(Vec::new());
        let (mut total, mut min_trials) = (Counters::default(), None::<u64>);
        for (task, evidence) in model.tasks {
            let bounds = match evidence {
                Evidence::Bounds(bounds) => {
                    effective = None;
                    intervals.insert(
                        task.clone(),
                        Interval { low: bounds.low(), high: bounds.high(), point: None },
                    );
                    bounds
                }
                Evidence::Counters(counters) if counters.n() == 0.0 => continue,
                Evidence::Counters(counters) => {
                    total = total + counters;
                    if let Some(tasks) = &mut effective {
                        let sums = PointSums::from_counters(&counters);
                        let point = WeightedPoint { sums, weight: 1.0, stop_rule: None };
                        // Where every guess is correct there is no likelihood, but still bounds.
                        match effective_task(&[point]) {
                            Ok(task) => tasks.extend(task),
                            Err(_) if self.method != Some(Method::Likelihood) => effective = None,
                            Err(error) => return Err(error),
                        }
                    }
                    min_trials = Some(min_trials.unwrap_or(u64::MAX).min(counters.n() as u64));
                    let estimator = Estimator { is_literal: self.literal, ..Estimator::from(self.mode()) };
                    let interval = estimator.estimate_counters(&counters);
                    intervals.insert(task.clone(), interval);
                    interval.into()
                }
            };
            tasks.insert(task, bounds);
        }
        let truncation_rate = (total.n() > 0.0).then(|| total.n_t() / total.n());
        let bounds: Vec<TaskBounds> = tasks.values().copied().collect();
        let factors = IntervalFactors::new(&bounds, truncation_rate, min_trials);
        Ok(ScoredModel { name: model.name, tasks, intervals, factors, effective })
    }

    fn row(
        &self,
        method: Method,
        model: &ScoredModel,
        scored: Scored,
        reason_score: Option<ReasonScoreEstimate>,
        suite: &BTreeSet<String>,
    ) -> Row {
        let missing: Vec<String> =
            suite.iter().filter(|task| !model.tasks.contains_key(*task)).cloned().collect();
        let tasks = model.tasks.iter().map(|(task, bounds)| {
            let interval = model.intervals[task];
            let (low, high) = (bounds.low(), bounds.high());
            (task.clone(), Bounds { low, high, point: interval.point, interval })
        });
        let Bootstrap { draws, seed } = self.bootstrap().unwrap_or_default();
        Row {
            model: model.name.clone(),
            scored,
            reason_score,
            complete: missing.is_empty(),
            missing,
            mode: self.mode().name(),
            literal: self.literal,
            // Of `center` and `margin`; `reason_score` has its own.
            method: if method == Method::MinMax { "min-max" } else { "bootstrap" },
            bootstrap: (method != Method::MinMax).then_some(BootstrapInfo { draws, seed }),
            tasks: tasks.collect(),
        }
    }

    fn print(&self, method: Method, rows: &[Row], global: Global) -> Result<(), CliError> {
        // A single model without a name has no rank, and its JSON is an object instead of a list.
        let is_single = rows.len() == 1 && rows[0].model.is_none();
        let table = match (global.format, is_single) {
            (Format::Csv, _) => csv_table(rows),
            (_, true) => task_table(&rows[0]),
            (_, false) => leaderboard_table(rows, method),
        };
        if is_single { print(global, &table, &rows[0]) } else { print(global, &table, &rows) }?;
        if self.mode() != Mode::C_P {
            global.note(format_args!(
                "estimated by {}: only comparable with scores estimated by {0}",
                self.mode()
            ));
        }
        if self.literal {
            global.note("estimated with `--literal`: only comparable with other scores estimated with it");
        }
        if self.draws.is_some() || self.seed.is_some() {
            global.note(
                "only comparable with scores of the same draws and seed (default: 5000 draws, seed 42)",
            );
        }
        for row in rows.iter().filter(|row| !row.complete) {
            let model = row.model.as_deref().unwrap_or("the model");
            let missing = row.missing.join(", ");
            if row.tasks.is_empty() {
                global.note(format_args!("* {model} has no data, so it has no score"));
            } else {
                global.note(format_args!("* {model} is scored without {missing}"));
            }
        }
        Ok(())
    }
}

impl Scored {
    fn new(model: &ScoredModel, score: &ReasonScore, rank: Rank) -> Self {
        let class = IntervalClass::from_margin(score.margin());
        Self {
            rank: Some(rank.rank),
            rank_best: Some(rank.best),
            rank_worst: Some(rank.worst),
            center: Some(score.center()),
            margin: Some(score.margin()),
            ci_low: Some(score.ci_low),
            ci_high: Some(score.ci_high),
            band: Some(score.band().name()),
            meaning: Some(score.band().meaning()),
            interval_class: Some(class.name()),
            interval_causes: model.factors.causes(class),
        }
    }

    /// `752 ± 8`, or `no data`.
    fn label(&self) -> String {
        match (self.center, self.margin) {
            (Some(center), Some(margin)) => format!("{center:.0} ± {margin:.0}"),
            _ => "no data".to_owned(),
        }
    }
}

/// Sorts rows by estimate. Ties are those of overlapping v2 intervals: paired tests would need trials.
fn rank_by_estimate(rows: &mut [Row]) {
    let estimate = |row: &Row| row.reason_score.map_or(0.0, |score| score.estimate);
    rows.sort_by(|a, b| estimate(b).total_cmp(&estimate(a)));
    let estimates: Vec<f64> = rows.iter().map(estimate).collect();
    for (row, own) in rows.iter_mut().zip(&estimates) {
        row.scored.rank = Some(1 + estimates.iter().filter(|other| *other > own).count());
    }
}

/// Prints how stable the margins are, and which models need more draws.
pub(super) fn print_stability(rows: &[StabilityRow], global: Global) -> Result<(), CliError> {
    print(global, &stability_table(rows, global.format == Format::Csv), &rows)?;
    let unstable: Vec<String> =
        rows.iter().filter(|row| !row.is_stable_by_default()).map(|row| row.name.clone()).collect();
    if unstable.is_empty() {
        global.caption("at 5,000 draws every margin varies by less than 0.5 points between seeds");
    } else {
        global.caption(format_args!(
            "at 5,000 draws the margin of {} varies by 0.5 points or more between seeds: its last digit is noise",
            join_truncated(&unstable)
        ));
    }
    Ok(())
}

/// All numbers of all models.
fn csv_table(rows: &[Row]) -> Table {
    let mut table = Table::new(&[
        "rank",
        "rank_best",
        "rank_worst",
        "model",
        "center",
        "margin",
        "ci_low",
        "ci_high",
        "band",
        "interval_class",
        "complete",
        "tasks",
        "mode",
        "method",
        "reason_score",
        "reason_score_low",
        "reason_score_high",
        "reason_score_band",
        "reason_score_method",
    ]);
    let count = |number: Option<usize>| Cell::optional(number.map(|number| number as f64), 0);
    for row in rows {
        let scored = &row.scored;
        table.push(vec![
            count(scored.rank),
            count(scored.rank_best),
            count(scored.rank_worst),
            row.model.as_ref().map_or(Cell::Missing, Cell::text),
            Cell::optional(scored.center, 1),
            Cell::optional(scored.margin, 1),
            Cell::optional(scored.ci_low, 1),
            Cell::optional(scored.ci_high, 1),
            scored.band.map_or(Cell::Missing, Cell::text),
            scored.interval_class.map_or(Cell::Missing, Cell::text),
            Cell::text(row.complete.to_string()),
            Cell::Number(row.tasks.len() as f64, 0),
            Cell::text(row.mode),
            Cell::text(row.method),
            Cell::optional(row.reason_score.map(|score| score.estimate), 1),
            Cell::optional(row.reason_score.map(|score| score.ci_low), 1),
            Cell::optional(row.reason_score.map(|score| score.ci_high), 1),
            row.reason_score.map_or(Cell::Missing, |score| Cell::text(score.band)),
            row.reason_score.map_or(Cell::Missing, |score| Cell::text(score.method)),
        ]);
    }
    table
}

fn leaderboard_table(rows: &[Row], method: Method) -> Table {
    let interval = interval_name(method);
    let mut table = Table::new(&["rank", "model", "ReasonScore", interval, "v2", "band", "tasks"]);
    for row in rows {
        let scored = &row.scored;
        let rank = match (scored.rank, scored.rank_best, scored.rank_worst) {
            (Some(rank), Some(best), Some(worst)) => rank_label(rank, best, worst),
            _ => "-".to_owned(),
        };
        let score = row.reason_score;
        let mark = if row.complete { "" } else { "*" };
        table.push(vec![
            Cell::Formatted(rank),
            Cell::text(row.model.as_deref().unwrap_or("-")),
            Cell::Formatted(
                score
                    .map_or_else(|| format!("no data{mark}"), |score| format!("{:.0}{mark}", score.estimate)),
            ),
            score.map_or(Cell::Missing, |score| Cell::Formatted(score.interval_label())),
            if score.is_some() { Cell::Formatted(scored.label()) } else { Cell::Missing },
            score.map_or(Cell::Missing, |score| Cell::text(score.band)),
            Cell::Number(row.tasks.len() as f64, 0),
        ]);
    }
    table
}

/// What the interval of a score is called in tables.
fn interval_name(method: Method) -> &'static str {
    match method {
        Method::Likelihood => "95 % CI",
        Method::Bootstrap => "v2 interval",
        Method::MinMax => "min to max",
    }
}

/// The estimates of the tasks with their intervals, and the score.
fn task_table(row: &Row) -> Table {
    let mut table = Table::new(&["", "estimate", "low", "high"]);
    for (name, Bounds { interval, .. }) in &row.tasks {
        table.push(vec![
            Cell::text(name),
            Cell::optional(interval.point, 3),
            Cell::Number(interval.low, 3),
            Cell::Number(interval.high, 3),
        ]);
    }
    if let Some(score) = row.reason_score {
        table.push(vec![
            Cell::text(format!("ReasonScore ({})", score.band)),
            Cell::Formatted(format!("{:.0}", score.estimate)),
            Cell::Number(score.ci_low, 0),
            Cell::Number(score.ci_high, 0),
        ]);
    }
    table.push(vec![
        Cell::text(row.scored.band.map_or("v2".to_owned(), |band| format!("v2 ({band})"))),
        Cell::Formatted(row.scored.label()),
        Cell::optional(row.scored.ci_low, 0),
        Cell::optional(row.scored.ci_high, 0),
    ]);
    table
}
