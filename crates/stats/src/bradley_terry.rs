//! Bradley-Terry ratings: one number a model such that the ratio of two says how often the one wins.
//!
//! The model is `P(a beats b) = r_a / (r_a + r_b)`, fitted by maximum likelihood. Assumes that strength is one
//! number: a model that beats only the strong ones has no place in it, and [`expected_wins`] shows it as well.
//!
//! [`expected_wins`]: crate::pairwise::expected_wins

use crate::pairwise::WinRates;
use crate::{StatsError, in_range};

/// Sweeps over all models before the fit is given up.
pub const MOST_ITERATIONS: usize = 10_000;

/// A fit has converged when every model's wins are those that the ratings expect, to this relative difference.
pub const TOLERANCE: f64 = 1e-11;

/// A share of wins below this is the rounding of a win rate of 0, not evidence that the weaker ever wins.
pub const LEAST_SHARE: f64 = 1e-12;

/// The tie, in games, that is added to each pair when there is no finite maximum without it.
pub const ADDED_TIE: f64 = 1e-3;

/// Whether the ratings are the maximum of the likelihood, and why not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// They are, to [`TOLERANCE`].
    Converged,
    /// The likelihood has no finite maximum, because these models never lose to any of the others (or have not
    /// met them): the gap between the two groups could be anything.
    ///
    /// The ratings are then those with [`ADDED_TIE`] added to each pair. They order the models; how far apart the
    /// groups stand is the doing of that tie.
    Unbounded {
        /// The models that never lose to the others, in ascending order.
        unbeaten: Vec<usize>,
    },
    /// They were still moving after [`MOST_ITERATIONS`].
    IterationLimit,
}

/// Fitted ratings, in the order of the models.
#[derive(Debug, Clone, PartialEq)]
pub struct BradleyTerry {
    /// The ratings, their geometric mean 1.
    pub ratings: Vec<f64>,
    /// The ratings on the scale of chess, `1500 + 400 log10 r`: 400 points are odds of ten to one.
    pub elo: Vec<f64>,
    /// Sweeps over all models that it took.
    pub iterations: usize,
    /// Whether this is the maximum, and why not.
    pub outcome: Outcome,
}

impl BradleyTerry {
    /// Whether the ratings are the maximum of the likelihood.
    pub fn converged(&self) -> bool {
        self.outcome == Outcome::Converged
    }

    /// The probability that `a` beats `b`, `r_a / (r_a + r_b)`.
    ///
    /// # Panics
    /// When there is no such model.
    pub fn probability(&self, a: usize, b: usize) -> f64 {
        self.ratings[a] / (self.ratings[a] + self.ratings[b])
    }
}

/// The ratings that fit a matrix of wins best: `wins[a][b]` is how often `a` beat `b`, in games or as a rate.
///
/// Minorise-maximise iterates `r_a <- sum_b w_ab / sum_b ((w_ab + w_ba) / (r_a + r_b))` to the point where every
/// model wins as often as its rating expects. This iterates
///
/// ```text
/// r_a <- sum_b (w_ab r_b / (r_a + r_b)) / sum_b (w_ba / (r_a + r_b))
/// ```
///
/// instead, one model after the other: the same fixed point, the same guarantee, and far fewer sweeps. It has
/// a finite maximum if and only if no group of models is unbeaten by the rest, which is checked first.
/// The diagonal is not read.
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
/// // Who never loses has no finite rating.
/// assert!(!fit(&[[0.0, 3.0], [0.0, 0.0]])?.converged());
/// # Ok::<(), reasonscape_stats::StatsError>(())
/// ```
///
/// # Errors
/// A [`StatsError`] when there is no model, a row has not one entry a model, or an entry is not from 0 to 1e15.
pub fn fit<T: AsRef<[f64]>>(wins: &[T]) -> Result<BradleyTerry, StatsError> {
    let mut games = Games::empty(wins.len())?;
    for (a, row) in wins.iter().enumerate() {
        let row = row.as_ref();
        if row.len() != games.models {
            return Err(StatsError::WrongLength { name: "wins", found: row.len(), expected: games.models });
        }
        for (b, &count) in row.iter().enumerate().filter(|&(b, _)| b != a) {
            games.record(a, b, in_range("wins", count, 0.0..=1e15, "from 0 to 1e15")?);
        }
    }
    Ok(games.fit())
}

/// The ratings that fit the win rates best, each pair with a rate counting as one game.
///
/// ```
/// use reasonscape_stats::bradley_terry::fit_win_rates;
/// use reasonscape_stats::pairwise::{Method, win_rates};
/// use reasonscape_stats::{Confidence, wilson};
///
/// let share = |correct| wilson(correct, 100.0, Confidence::P95);
/// let models = [[Some(share(90.0)?)], [Some(share(80.0)?)], [Some(share(85.0)?)]];
/// let fitted = fit_win_rates(&win_rates(&models, Confidence::P95, Method::Exact)?)?;
/// assert!(fitted.converged() && fitted.elo[0] > fitted.elo[2] && fitted.elo[2] > fitted.elo[1]);
/// # Ok::<(), reasonscape_stats::StatsError>(())
/// ```
///
/// # Errors
/// [`StatsError::Empty`] when there is no model, which [`win_rates`](crate::pairwise::win_rates) never gives.
pub fn fit_win_rates(rates: &WinRates) -> Result<BradleyTerry, StatsError> {
    let mut games = Games::empty(rates.models())?;
    for a in 0..games.models {
        for (b, rate) in rates.row(a).iter().enumerate() {
            games.record(a, b, rate.unwrap_or(0.0));
        }
    }
    Ok(games.fit())
}

/// Wins and losses, both row by row, so that a model's are next to each other in memory.
struct Games {
    models: usize,
    wins: Vec<f64>,
    losses: Vec<f64>,
}

impl Games {
    fn empty(models: usize) -> Result<Self, StatsError> {
        if models == 0 {
            return Err(StatsError::Empty { name: "wins" });
        }
        Ok(Self { models, wins: vec![0.0; models * models], losses: vec![0.0; models * models] })
    }

    fn record(&mut self, winner: usize, loser: usize, count: f64) {
        self.wins[winner * self.models + loser] = count;
        self.losses[loser * self.models + winner] = count;
    }

    fn fit(mut self) -> BradleyTerry {
        let unbeaten = self.unbeaten();
        if unbeaten.is_some() {
            for a in 0..self.models {
                for b in (0..self.models).filter(|&b| b != a) {
                    self.wins[a * self.models + b] += ADDED_TIE / 2.0;
                    self.losses[a * self.models + b] += ADDED_TIE / 2.0;
                }
            }
        }
        let mut ratings = vec![1.0; self.models];
        let mut iterations = 0;
        let mut moved = if self.models == 1 { 0.0 } else { f64::INFINITY };
        while moved > TOLERANCE && iterations < MOST_ITERATIONS {
            moved = self.sweep(&mut ratings);
            iterations += 1;
        }
        let outcome = match unbeaten {
            Some(unbeaten) => Outcome::Unbounded { unbeaten },
            None if moved > TOLERANCE => Outcome::IterationLimit,
            None => Outcome::Converged,
        };
        let elo = ratings.iter().map(|rating| 1500.0 + 400.0 * rating.log10()).collect();
        BradleyTerry { ratings, elo, iterations, outcome }
    }

    /// Rates each model anew against the others as they stand, and gives the largest relative change.
    fn sweep(&self, ratings: &mut [f64]) -> f64 {
        let mut moved = 0.0_f64;
        for a in 0..self.models {
            let row = a * self.models..(a + 1) * self.models;
            let rated = rate(ratings[a], ratings, &self.wins[row.clone()], &self.losses[row]);
            moved = moved.max((rated / ratings[a] - 1.0).abs());
            ratings[a] = rated;
        }
        // The likelihood knows ratios only; without this they would all drift together.
        let mean = ratings.iter().map(|rating| rating.ln()).sum::<f64>() / self.models as f64;
        let scale = (-mean).exp();
        ratings.iter_mut().for_each(|rating| *rating *= scale);
        moved
    }

    /// A group of models that never loses to the rest, if there is one: Ford's condition fails.
    ///
    /// The models from which everybody is reached along wins are one such group's members or nobody. It is enough
    /// to ask about one model: if all reach it and it reaches all, any reaches any through it.
    fn unbeaten(&self) -> Option<Vec<usize>> {
        let counts = |a: usize, b: usize| {
            let (won, lost) = (self.wins[a * self.models + b], self.losses[a * self.models + b]);
            won > LEAST_SHARE * (won + lost)
        };
        // Whoever is not among those that reach model 0 along wins never beats one of them.
        let above = self.reached(|from, to| counts(to, from));
        if above.contains(&false) {
            return Some(members(&above, true));
        }
        let below = self.reached(counts);
        below.contains(&false).then(|| members(&below, false))
    }

    /// Which models are reached from model 0 along the edges.
    fn reached(&self, edge: impl Fn(usize, usize) -> bool) -> Vec<bool> {
        let mut reached = vec![false; self.models];
        reached[0] = true;
        let mut waiting = vec![0];
        while let Some(from) = waiting.pop() {
            for to in 0..self.models {
                if !reached[to] && edge(from, to) {
                    reached[to] = true;
                    waiting.push(to);
                }
            }
        }
        reached
    }
}

/// The models that are in the set, or those that are not.
fn members(set: &[bool], inside: bool) -> Vec<usize> {
    set.iter().enumerate().filter(|&(_, &is_in)| is_in == inside).map(|(model, _)| model).collect()
}

/// Newman's update of one rating.
fn rate(rating: f64, ratings: &[f64], wins: &[f64], losses: &[f64]) -> f64 {
    /// Running sums that the processor keeps side by side.
    const LANES: usize = 4;
    let (mut won, mut lost) = ([0.0; LANES], [0.0; LANES]);
    let lanes = ratings.chunks_exact(LANES).zip(wins.chunks_exact(LANES)).zip(losses.chunks_exact(LANES));
    for ((others, wins), losses) in lanes {
        for i in 0..LANES {
            let share = 1.0 / (rating + others[i]);
            won[i] += wins[i] * others[i] * share;
            lost[i] += losses[i] * share;
        }
    }
    let (mut won, mut lost) = (won.iter().sum::<f64>(), lost.iter().sum::<f64>());
    for i in ratings.len() / LANES * LANES..ratings.len() {
        let share = 1.0 / (rating + ratings[i]);
        won += wins[i] * ratings[i] * share;
        lost += losses[i] * share;
    }
    won / lost
}
