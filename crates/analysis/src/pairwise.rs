//! Pairwise win rates, expected wins and Bradley-Terry ratings.

use std::collections::BTreeMap;

use reasonscape_points::{Estimator, EvalInfo, PointsDb, PointsError};
use reasonscape_stats::bradley_terry::{Convergence, TaskBootstrap, fit_win_rates, rating_intervals};
use reasonscape_stats::pairwise::{Method, WinRates, expected_wins, task_win_rates};
use reasonscape_stats::{Confidence, Interval, Mode};
use schemars::JsonSchema;
use serde::Serialize;

use super::labels::join_truncated;
use super::query::PointQuery;
use super::totals::{EvalTotals, SuiteTotals};

/// Pairwise win rates and ratings of all evaluations.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Pairwise {
    /// The estimator.
    pub mode: &'static str,
    /// `exact` or `monte-carlo`.
    pub method: &'static str,
    /// Draws per side and task; null for the exact method.
    pub draws: Option<usize>,
    /// Seed of the draws.
    pub seed: Option<i64>,
    /// The tasks that are compared, by name.
    pub tasks: Vec<String>,
    /// From the highest rating to the lowest.
    pub evals: Vec<RatedModel>,
    /// Win rates of the row against the column, in the order of `evals`; null on the diagonal and without a common task.
    pub win_rates: Vec<Vec<Option<f64>>>,
    /// The same on each task: the probability that the row is better than the column.
    pub task_win_rates: BTreeMap<String, Vec<Vec<Option<f64>>>>,
    /// Whether the fit of the ratings converged.
    pub converged: bool,
    /// Ids of evaluations that never lose to the others, so that they have no finite rating.
    pub unbeaten: Vec<String>,
    /// Bootstrap samples of the tasks behind the intervals; 0 if there are too few tasks.
    pub replicates: usize,
    /// Bootstrap samples in which an evaluation was unbeaten.
    pub unbounded_replicates: usize,
    /// Evaluations without trials.
    pub unrated: Vec<String>,
}

/// One evaluation and its rating.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "Contestant")]
pub struct RatedModel {
    /// The evaluation.
    #[serde(flatten)]
    pub eval: EvalInfo,
    /// The name of the evaluation in tables.
    #[serde(skip)]
    pub label: String,
    /// Expected number of opponents that it beats.
    pub expected_wins: f64,
    /// Opponents with a common task.
    pub opponents: usize,
    /// Tasks with trials.
    pub tasks: usize,
    /// Bradley-Terry rating.
    pub rating: f64,
    /// Lower end of its confidence interval.
    pub rating_low: Option<f64>,
    /// Upper end of its confidence interval.
    pub rating_high: Option<f64>,
    /// The rating on the Elo scale.
    pub elo: f64,
    /// Lower end of its confidence interval.
    pub elo_low: Option<f64>,
    /// Upper end of its confidence interval.
    pub elo_high: Option<f64>,
}

/// Draws per side and task of the Monte Carlo method, as in the source document.
pub const MONTE_CARLO_DRAWS: usize = 10_000;

/// The order of a table of ratings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RatingOrder {
    /// By Bradley-Terry rating, the highest first.
    #[default]
    Elo,
    /// By expected wins, the most first.
    ExpectedWins,
}

impl Pairwise {
    /// The same, with evaluations, rows and columns in this order.
    #[must_use]
    pub fn sorted(mut self, by: RatingOrder) -> Self {
        let mut order: Vec<usize> = (0..self.evals.len()).collect();
        let key = |index: usize| match by {
            RatingOrder::Elo => self.evals[index].elo,
            RatingOrder::ExpectedWins => self.evals[index].expected_wins,
        };
        order.sort_by(|&a, &b| key(b).total_cmp(&key(a)).then(a.cmp(&b)));
        let reorder = |matrix: &[Vec<Option<f64>>]| -> Vec<Vec<Option<f64>>> {
            order.iter().map(|&a| order.iter().map(|&b| matrix[a][b]).collect()).collect()
        };
        self.win_rates = reorder(&self.win_rates);
        for matrix in self.task_win_rates.values_mut() {
            *matrix = reorder(matrix);
        }
        self.evals = order.iter().map(|&index| self.evals[index].clone()).collect();
        self
    }

    /// Notes for readers of the numbers.
    pub fn remarks(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        if self.mode != Mode::C_P.name() {
            remarks.push(format!("accuracy is estimated by {}", self.mode));
        }
        if !self.unbeaten.is_empty() {
            remarks.push(format!(
                "ratings did not converge: {}, so no finite rating fits best; the order is valid, the distance between the \
                 two groups is not",
                self.describe_unbeaten()
            ));
        } else if !self.converged {
            remarks.push("ratings did not converge; the order of close ratings may be wrong".to_owned());
        }
        if self.replicates == 0 {
            remarks.push(
                "ratings have no confidence interval: the bootstrap over tasks needs at least two tasks"
                    .to_owned(),
            );
        } else if self.converged && self.unbounded_replicates * 40 > self.replicates {
            remarks.push(format!(
                "a model was unbeaten in {} of {} bootstrap samples of the tasks; the outer ends of the intervals are rough",
                self.unbounded_replicates, self.replicates
            ));
        }
        remarks.extend(self.unrated.iter().map(|label| format!("{label} has no trials yet and is excluded")));
        remarks
    }

    /// Names the smaller of the unbeaten and the beaten group, and why the two can't be rated together.
    fn describe_unbeaten(&self) -> String {
        let (unbeaten, others): (Vec<_>, Vec<_>) =
            self.evals.iter().partition(|eval| self.unbeaten.contains(&eval.eval.eval_id));
        let (group, verb) = if others.len() < unbeaten.len() {
            (others, "never beats")
        } else {
            (unbeaten, "never loses to")
        };
        let labels: Vec<String> = group.iter().map(|eval| eval.label.clone()).collect();
        match labels.as_slice() {
            [one] => format!("{one} {verb} the others"),
            several => {
                format!("none of {} {} the others", join_truncated(several), verb.replace("never ", ""))
            }
        }
    }
}

/// Compares all evaluations that the query selects, task by task on pooled counters.
///
/// # Errors
/// A [`PointsError`] when the study cannot be read or has nothing that matches.
pub async fn pairwise(
    db: &PointsDb,
    query: &PointQuery,
    mode: Mode,
    method: Method,
) -> Result<Pairwise, PointsError> {
    let totals = SuiteTotals::load(db, query).await?;
    let (rated, unrated): (Vec<&EvalTotals>, Vec<&EvalTotals>) =
        totals.evals.iter().partition(|eval| eval.with_trials().next().is_some());
    let [_, _, ..] = rated.as_slice() else {
        return Err(PointsError::InvalidQuery(
            "fewer than two evaluations have trials, but a comparison needs two; widen the filter or run more evaluations"
                .to_owned(),
        ));
    };
    let tasks: Vec<String> = totals
        .suite
        .keys()
        .filter(|task| rated.iter().any(|eval| eval.with_trials().any(|(name, _)| name == *task)))
        .cloned()
        .collect();
    let accuracies =
        rated.iter().map(|eval| accuracies(eval, &tasks, mode)).collect::<Result<Vec<_>, _>>()?;
    let rates_by_task = task_win_rates(&accuracies, Confidence::P95, method)?;
    let rates = rates_by_task.average();
    let fitted = fit_win_rates(&rates)?;
    let intervals = match tasks.len() {
        0 | 1 => None,
        _ => Some(rating_intervals(&rates_by_task, TaskBootstrap::default())?),
    };
    let wins = expected_wins(&rates);

    let mut order: Vec<usize> = (0..rated.len()).collect();
    order.sort_by(|&a, &b| fitted.elo[b].total_cmp(&fitted.elo[a]).then(a.cmp(&b)));
    let rated_model = |&index: &usize| {
        let elo = intervals.as_ref().map(|intervals| intervals.elo(index));
        RatedModel {
            eval: rated[index].info.clone(),
            label: rated[index].label.clone(),
            expected_wins: wins[index],
            opponents: rates.row(index).iter().flatten().count(),
            tasks: accuracies[index].iter().flatten().count(),
            rating: fitted.ratings[index],
            rating_low: intervals.as_ref().map(|intervals| intervals.low[index]),
            rating_high: intervals.as_ref().map(|intervals| intervals.high[index]),
            elo: fitted.elo[index],
            elo_low: elo.map(|[low, _]| low),
            elo_high: elo.map(|[_, high]| high),
        }
    };
    let matrix = |rates: &WinRates| -> Vec<Vec<Option<f64>>> {
        order.iter().map(|&a| order.iter().map(|&b| rates.rate(a, b)).collect()).collect()
    };
    let unbeaten = match &fitted.convergence {
        Convergence::Unbounded { unbeaten } => unbeaten.as_slice(),
        Convergence::Converged | Convergence::IterationLimit => &[],
    };
    Ok(Pairwise {
        mode: mode.name(),
        method: match method {
            Method::Exact => "exact",
            Method::MonteCarlo { .. } => "monte-carlo",
        },
        evals: order.iter().map(rated_model).collect(),
        draws: match method {
            Method::Exact => None,
            Method::MonteCarlo { draws, .. } => Some(draws),
        },
        seed: match method {
            Method::Exact => None,
            Method::MonteCarlo { seed, .. } => Some(seed),
        },
        win_rates: matrix(&rates),
        task_win_rates: (0..tasks.len())
            .map(|task| (tasks[task].clone(), matrix(&rates_by_task.average_over(&[task]))))
            .collect(),
        converged: fitted.converged(),
        unbeaten: unbeaten.iter().map(|&index| rated[index].info.eval_id.clone()).collect(),
        replicates: intervals.as_ref().map_or(0, |intervals| intervals.replicates),
        unbounded_replicates: intervals.as_ref().map_or(0, |intervals| intervals.unbounded),
        unrated: unrated.iter().map(|eval| eval.label.clone()).collect(),
        tasks,
    })
}

/// The interval of each task; `None` without trials.
fn accuracies(eval: &EvalTotals, tasks: &[String], mode: Mode) -> Result<Vec<Option<Interval>>, PointsError> {
    tasks
        .iter()
        .map(|task| match eval.tasks.get(task) {
            Some(task) if task.counts.n > 0 => Ok(Some(Estimator::from(mode).estimate(&task.counts)?)),
            _ => Ok(None),
        })
        .collect()
}
