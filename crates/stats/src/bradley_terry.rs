//! Bradley-Terry ratings: one number per model, such that the ratio of two gives the odds of winning.
//!
//! The model is `P(a beats b) = r_a / (r_a + r_b)`, fitted by maximum likelihood. Assumes that strength is
//! one-dimensional; intransitive results don't fit it, and [`expected_wins`] is an alternative that needs no model.
//!
//! [`expected_wins`]: crate::pairwise::expected_wins

mod bootstrap;
mod newton;
mod solver;
mod win_counts;

pub use bootstrap::{RatingIntervals, TaskBootstrap, rating_intervals};
use solver::Solver;
use win_counts::WinCounts;

use crate::pairwise::WinRates;
use crate::{StatsError, in_range};

/// Maximum number of sweeps over all models.
pub const MAX_ITERATIONS: usize = 10_000;

/// The fit has converged when a sweep changes no rating by more than this relative amount.
pub const TOLERANCE: f64 = 1e-11;

/// Win proportions below this are rounding errors of a win rate of 0, not evidence of a win.
pub const MIN_WIN_PROPORTION: f64 = 1e-12;

/// The tie, in games, that is added to each pair if there is no finite maximum without it.
pub const ADDED_TIE: f64 = 1e-3;

/// Whether the ratings maximize the likelihood, and if not, why.
///
/// ```
/// use reasonscape_stats::bradley_terry::{Convergence, fit};
///
/// let fitted = fit(&[[0.0, 3.0], [0.0, 0.0]])?;
/// assert_eq!(fitted.convergence, Convergence::Unbounded { unbeaten: vec![0] });
/// # Ok::<(), reasonscape_stats::StatsError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Convergence {
    /// They do, to [`TOLERANCE`].
    Converged,
    /// The likelihood has no finite maximum, because these models never lose to any of the others (or have not met them),
    /// so the gap between the two groups is arbitrary.
    ///
    /// The ratings are then those with [`ADDED_TIE`] added to each pair, after at most [`MAX_ITERATIONS`]. Their order is
    /// meaningful; the distance between the groups depends on the added tie.
    Unbounded {
        /// The models that never lose to the others, in ascending order.
        unbeaten: Vec<usize>,
    },
    /// The ratings were still changing after [`MAX_ITERATIONS`].
    IterationLimit,
}

/// Fitted ratings, in the order of the models.
///
/// ```
/// use reasonscape_stats::bradley_terry::fit;
///
/// let fitted = fit(&[[0.0, 3.0, 2.0], [1.0, 0.0, 2.0], [2.0, 2.0, 0.0]])?;
/// assert!((fitted.ratings.iter().product::<f64>() - 1.0).abs() < 1e-9);
/// assert!(fitted.probability(0, 1) > 0.5);
/// # Ok::<(), reasonscape_stats::StatsError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct BradleyTerry {
    /// The ratings, with geometric mean 1.
    pub ratings: Vec<f64>,
    /// The ratings on the Elo scale, `1500 + 400 log10 r`: 400 points are odds of ten to one.
    pub elo: Vec<f64>,
    /// Number of sweeps over all models.
    pub iterations: usize,
    /// Whether this is the maximum, and if not, why.
    pub convergence: Convergence,
}

impl BradleyTerry {
    /// Whether the ratings are the maximum of the likelihood.
    pub fn converged(&self) -> bool {
        self.convergence == Convergence::Converged
    }

    /// The probability that `a` beats `b`, `r_a / (r_a + r_b)`.
    ///
    /// # Panics
    /// When there is no such model.
    pub fn probability(&self, a: usize, b: usize) -> f64 {
        self.ratings[a] / (self.ratings[a] + self.ratings[b])
    }
}

/// The maximum-likelihood ratings for a matrix of wins: `wins[a][b]` is how many times `a` beat `b`, in games or as a rate.
///
/// The minorize-maximize algorithm iterates `r_a <- sum_b w_ab / sum_b ((w_ab + w_ba) / (r_a + r_b))` until every model
/// wins as many games as its rating predicts. This function iterates
///
/// ```text
/// r_a <- sum_b (w_ab r_b / (r_a + r_b)) / sum_b (w_ba / (r_a + r_b))
/// ```
///
/// instead, one model after the other: the same fixed point and convergence guarantee with a tenth of the sweeps. After
/// six sweeps, each is followed by a Newton step, which is kept only if the next sweep changes less than the one before
/// it. A finite maximum exists if and only if no group of models is unbeaten by the rest, which is checked first. The
/// diagonal is not read.
///
/// Sources: D. R. Hunter, "MM algorithms for generalized Bradley-Terry models", Annals of Statistics 32 (2004);
/// M. E. J. Newman, "Efficient computation of rankings from pairwise comparisons", JMLR 24 (2023); L. R. Ford,
/// "Solution of a ranking problem from binary comparisons", American Mathematical Monthly 64 (1957).
///
/// ```
/// use reasonscape_stats::bradley_terry::fit;
///
/// // Three to one is a rating of three to one, and 191 points of Elo.
/// let fitted = fit(&[[0.0, 3.0], [1.0, 0.0]])?;
/// assert!(fitted.converged());
/// assert!((fitted.ratings[0] / fitted.ratings[1] - 3.0).abs() < 1e-9);
/// assert_eq!(format!("{:.0}", fitted.elo[0] - fitted.elo[1]), "191");
///
/// // A model that never loses has no finite rating.
/// assert!(!fit(&[[0.0, 3.0], [0.0, 0.0]])?.converged());
/// # Ok::<(), reasonscape_stats::StatsError>(())
/// ```
///
/// # Errors
/// A [`StatsError`] when there is no model, a row doesn't have one entry per model, or an entry is not from 0 to 1e15.
pub fn fit<T: AsRef<[f64]>>(wins: &[T]) -> Result<BradleyTerry, StatsError> {
    let mut win_counts = WinCounts::empty(wins.len())?;
    for (a, row) in wins.iter().enumerate() {
        let row = row.as_ref();
        if row.len() != win_counts.models {
            return Err(StatsError::WrongLength {
                name: "wins",
                found: row.len(),
                expected: win_counts.models,
            });
        }
        for (b, &count) in row.iter().enumerate().filter(|&(b, _)| b != a) {
            win_counts.record(a, b, in_range("wins", count, 0.0..=1e15, "from 0 to 1e15")?);
        }
    }
    Ok(solve(win_counts))
}

/// The maximum-likelihood ratings for win rates, with each pair that has a rate counting as one game.
///
/// ```
/// use reasonscape_stats::bradley_terry::fit_win_rates;
/// use reasonscape_stats::pairwise::{Method, win_rates};
/// use reasonscape_stats::{Confidence, wilson};
///
/// let proportion = |correct| wilson(correct, 100.0, Confidence::P95);
/// let models = [[Some(proportion(90.0)?)], [Some(proportion(80.0)?)], [Some(proportion(85.0)?)]];
/// let fitted = fit_win_rates(&win_rates(&models, Confidence::P95, Method::Exact)?)?;
/// assert!(fitted.converged() && fitted.elo[0] > fitted.elo[2] && fitted.elo[2] > fitted.elo[1]);
/// # Ok::<(), reasonscape_stats::StatsError>(())
/// ```
///
/// # Errors
/// [`StatsError::Empty`] when there is no model, which [`win_rates`](crate::pairwise::win_rates) never gives.
pub fn fit_win_rates(rates: &WinRates) -> Result<BradleyTerry, StatsError> {
    let mut win_counts = WinCounts::empty(rates.models())?;
    for a in 0..win_counts.models {
        for (b, rate) in rates.row(a).iter().enumerate() {
            win_counts.record(a, b, rate.unwrap_or(0.0));
        }
    }
    Ok(solve(win_counts))
}

/// Iterates from equal ratings, with ties added if there is no finite maximum otherwise.
fn solve(mut win_counts: WinCounts) -> BradleyTerry {
    let unbeaten = win_counts.unbeaten();
    if unbeaten.is_some() {
        win_counts.add_ties(ADDED_TIE);
    }
    let mut solver = Solver::new(win_counts.models);
    let converged = solver.run(&win_counts);
    let convergence = match unbeaten {
        Some(unbeaten) => Convergence::Unbounded { unbeaten },
        None if converged => Convergence::Converged,
        None => Convergence::IterationLimit,
    };
    let Solver { ratings, iterations, .. } = solver;
    let elo = ratings.iter().map(|&rating| elo(rating)).collect();
    BradleyTerry { ratings, elo, iterations, convergence }
}

/// A rating on the Elo scale.
fn elo(rating: f64) -> f64 {
    1500.0 + 400.0 * rating.log10()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pairwise::{Method, win_rates};
    use crate::{Confidence, Interval};
    use proptest::prelude::*;

    /// Hunter's minorize-maximize algorithm, unoptimized.
    fn minorize_maximize(wins: &[Vec<f64>], sweeps: usize) -> Vec<f64> {
        let mut ratings = vec![1.0_f64; wins.len()];
        for _ in 0..sweeps {
            let rate = |a: usize| {
                let won: f64 = wins[a].iter().sum();
                let met = |b: usize| (wins[a][b] + wins[b][a]) / (ratings[a] + ratings[b]);
                won / (0..wins.len()).filter(|&b| b != a).map(met).sum::<f64>()
            };
            let next: Vec<f64> = (0..wins.len()).map(rate).collect();
            let mean = next.iter().map(|rating| rating.ln()).sum::<f64>() / wins.len() as f64;
            ratings = next.iter().map(|rating| rating / mean.exp()).collect();
        }
        ratings
    }

    /// Win rates of models that have all met.
    fn rates(models: usize) -> impl Strategy<Value = Vec<Vec<f64>>> {
        prop::collection::vec(0.02..0.98_f64, models * models).prop_map(move |cells| {
            let rate = |a: usize, b: usize| match a.cmp(&b) {
                std::cmp::Ordering::Less => cells[a * models + b],
                std::cmp::Ordering::Equal => 0.0,
                std::cmp::Ordering::Greater => 1.0 - cells[b * models + a],
            };
            (0..models).map(|a| (0..models).map(|b| rate(a, b)).collect()).collect()
        })
    }

    proptest! {
        #[test]
        fn reaches_fixed_point_of_minorize_maximize(wins in rates(7)) {
            let fitted = fit(&wins).unwrap();
            prop_assert!(fitted.converged());
            for (found, expected) in fitted.ratings.iter().zip(minorize_maximize(&wins, 3000)) {
                prop_assert!((found / expected - 1.0).abs() < 1e-9, "{found} {expected}");
            }
            prop_assert!(fitted.ratings.iter().map(|rating| rating.ln()).sum::<f64>().abs() < 1e-12);
        }

        #[test]
        fn fit_is_independent_of_model_order(wins in rates(6)) {
            let turned: Vec<Vec<f64>> = wins.iter().rev().map(|row| row.iter().rev().copied().collect()).collect();
            let (one, other) = (fit(&wins).unwrap(), fit(&turned).unwrap());
            for (one, other) in one.elo.iter().zip(other.elo.iter().rev()) {
                prop_assert!((one - other).abs() < 1e-6);
            }
        }

        #[test]
        fn fit_never_panics_or_returns_nan(
            cells in prop::collection::vec(prop_oneof![Just(0.0), 0.0..1.0_f64, 0.0..1e15_f64, Just(1e-300)], 25),
        ) {
            let wins: Vec<&[f64]> = cells.chunks(5).collect();
            let fitted = fit(&wins).unwrap();
            prop_assert!(fitted.elo.iter().chain(&fitted.ratings).all(|number| number.is_finite()));
        }
    }

    #[test]
    fn recovers_known_ratings() {
        let truth: Vec<f64> = (0..100).map(|i| 1.05_f64.powi(i)).collect();
        let wins: Vec<Vec<f64>> = truth.iter().map(|a| truth.iter().map(|b| a / (a + b)).collect()).collect();
        let fitted = fit(&wins).unwrap();
        assert!(fitted.converged() && fitted.iterations < 100, "{} sweeps", fitted.iterations);
        for pair in fitted.ratings.windows(2) {
            assert!((pair[1] / pair[0] - 1.05).abs() < 1e-9);
        }
    }

    #[test]
    fn ladder_converges_in_few_sweeps_to_expected_wins() {
        // Each model nearly always beats the next and always beats the rest, as clearly separated models do.
        let rate = |a: usize, b: usize| match b.abs_diff(a) {
            0 => 0.0,
            apart => {
                let below = 0.2_f64.powi(apart.min(8) as i32);
                if a < b { 1.0 - below } else { below }
            }
        };
        let count = 60;
        let wins: Vec<Vec<f64>> = (0..count).map(|a| (0..count).map(|b| rate(a, b)).collect()).collect();
        let fitted = fit(&wins).unwrap();
        assert!(fitted.converged() && fitted.iterations < 300, "{} sweeps", fitted.iterations);
        for (a, row) in wins.iter().enumerate() {
            let won: f64 = row.iter().sum();
            let expected: f64 = (0..count).filter(|&b| b != a).map(|b| fitted.probability(a, b)).sum();
            assert!((won - expected).abs() < 1e-9, "{a}: {won} {expected}");
        }
    }

    #[test]
    fn reports_unbeaten_models() {
        let fitted = fit(&[[0.0, 0.6, 0.0], [0.4, 0.0, 0.0], [1.0, 1.0, 0.0]]).unwrap();
        assert_eq!(fitted.convergence, Convergence::Unbounded { unbeaten: vec![2] });
        assert!(fitted.ratings[2] > 100.0 * fitted.ratings[0] && fitted.ratings[0] > fitted.ratings[1]);
        let never_wins = fit(&[[0.0, 0.6, 1.0], [0.4, 0.0, 1.0], [0.0, 0.0, 0.0]]).unwrap();
        assert_eq!(never_wins.convergence, Convergence::Unbounded { unbeaten: vec![0, 1] });
        // Two groups that have not met are unbeaten by each other.
        let apart =
            fit(&[[0.0, 1.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 1.0, 0.0]]);
        assert_eq!(apart.unwrap().convergence, Convergence::Unbounded { unbeaten: vec![0, 1] });
    }

    #[test]
    fn ignores_win_rates_below_rounding() {
        let certain = |low, high| vec![Some(Interval { low, high, point: None })];
        let models = [certain(0.1, 0.11), certain(0.5, 0.51), certain(0.95, 0.96)];
        let rates = win_rates(&models, Confidence::P95, Method::Exact).unwrap();
        assert_eq!(
            fit_win_rates(&rates).unwrap().convergence,
            Convergence::Unbounded { unbeaten: vec![1, 2] }
        );
        let nearly = fit(&[[0.0, 1.0], [2e-16, 0.0]]).unwrap();
        assert_eq!(nearly.convergence, Convergence::Unbounded { unbeaten: vec![0] });
    }

    #[test]
    fn single_model_has_average_rating() {
        let fitted = fit(&[[0.0]]).unwrap();
        assert!(fitted.converged());
        assert_eq!((fitted.ratings, fitted.elo), (vec![1.0], vec![1500.0]));
    }

    #[test]
    fn reports_iteration_limit_for_extreme_ratings() {
        // Each beats the next all but once in ten billion games, and meets nobody else.
        let count = 60;
        let mut wins = vec![vec![0.0; count]; count];
        for a in 1..count {
            (wins[a - 1][a], wins[a][a - 1]) = (1.0, 1e-10);
        }
        let fitted = fit(&wins).unwrap();
        assert_eq!(fitted.convergence, Convergence::IterationLimit);
        assert!(fitted.elo.iter().all(|elo| elo.is_finite()));
    }

    #[test]
    fn rejects_invalid_matrices_by_name() {
        let message = |wins: &[Vec<f64>]| fit(wins).unwrap_err().to_string();
        assert_eq!(message(&[]), "`wins` is empty, but needs at least one entry");
        assert_eq!(message(&[vec![0.0, 1.0], vec![1.0]]), "`wins` has 1 entries, but 2 are needed");
        assert_eq!(
            message(&[vec![0.0, f64::NAN], vec![1.0, 0.0]]),
            "`wins` is NaN, but must be a finite number"
        );
        assert_eq!(message(&[vec![0.0, -1.0], vec![1.0, 0.0]]), "`wins` is -1, but must be from 0 to 1e15");
    }
}
