//! Accuracy and cost under smaller token limits, computed exactly.
//!
//! A smaller limit would have truncated every trial that used more tokens and left the others unchanged, because
//! generation doesn't depend on a limit that isn't reached. So the results are counted, not modeled. For larger limits
//! the outcome of truncated trials is unknown.

use rayon::slice::ParallelSliceMut;

use crate::{Counters, Outcome, StatsError, in_range};

/// One trial.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BudgetTrial {
    /// Tokens used.
    pub tokens: u64,
    /// Its outcome.
    pub outcome: Outcome,
    /// Probability that a blind guess succeeds.
    pub guess: f64,
}

/// Results under a token limit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BudgetPoint {
    /// The limit.
    pub budget: u64,
    /// Outcome counts under this limit, for any [`Mode`](crate::Mode).
    pub counters: Counters,
    /// Mean tokens per trial. A lower bound if not exact.
    pub mean_tokens: f64,
    /// Whether the limit is small enough to be exact. For larger limits, truncated trials stay truncated, which makes the
    /// accuracy a lower bound.
    pub is_exact: bool,
}

/// Trials, sorted once, to be evaluated at any number of limits.
///
/// ```
/// use reasonscape_stats::token_budget::{Budget, BudgetTrial};
/// use reasonscape_stats::Outcome::{Correct, Incorrect, Truncated};
///
/// let trial = |tokens, outcome| BudgetTrial { tokens, outcome, guess: 0.5 };
/// let budget = Budget::new([trial(100, Correct), trial(300, Correct), trial(350, Incorrect), trial(512, Truncated)])?;
/// let point = budget.at(320);
/// assert_eq!((point.counters.n_e(), point.counters.n_t(), point.counters.g()), (2.0, 2.0, 1.0));
/// assert_eq!(point.mean_tokens, (100.0 + 300.0 + 320.0 + 320.0) / 4.0);
/// assert_eq!(budget.exact_up_to(), Some(512));
/// assert!(point.is_exact && !budget.at(1024).is_exact);
/// # Ok::<(), reasonscape_stats::StatsError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Budget {
    /// Ascending in tokens, one entry per token count with the cumulative sums.
    sums: Vec<Sums>,
    /// The smallest token count at which a trial was truncated.
    first_truncation: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct Sums {
    tokens: u64,
    trials: u64,
    correct: u64,
    truncated: u64,
    guesses: f64,
    spent: u128,
}

impl Budget {
    /// Sorts trials, given in any order.
    ///
    /// # Errors
    /// [`StatsError::Empty`] without a trial; a [`StatsError`] when a guess probability is not from 0 to 1, or a trial
    /// used 2^62 tokens or more.
    pub fn new(trials: impl IntoIterator<Item = BudgetTrial>) -> Result<Self, StatsError> {
        // Two words per trial, ordered by tokens, outcome and guess, so that sums don't depend on the input order.
        let mut keys = Vec::new();
        for BudgetTrial { tokens, outcome, guess } in trials {
            in_range("guess", guess, 0.0..=1.0, "from 0 to 1")?;
            if tokens >= 1 << 62 {
                return Err(StatsError::OutOfRange {
                    name: "tokens",
                    value: tokens as f64,
                    expected: "below 2^62",
                });
            }
            let outcome = match outcome {
                Outcome::Incorrect => 0,
                Outcome::Correct => CORRECT,
                Outcome::Truncated => TRUNCATED,
            };
            keys.push((tokens << 2 | outcome, (guess + 0.0).to_bits()));
        }
        if keys.is_empty() {
            return Err(StatsError::Empty { name: "trials" });
        }
        keys.par_sort_unstable();
        let mut budget = Self { sums: Vec::new(), first_truncation: None };
        let mut sum = Sums::default();
        for (key, guess) in keys {
            let (tokens, outcome) = (key >> 2, key & 3);
            if sum.trials > 0 && sum.tokens != tokens {
                budget.sums.push(sum);
            }
            sum.tokens = tokens;
            sum.trials += 1;
            sum.spent += u128::from(tokens);
            match outcome {
                TRUNCATED => {
                    sum.truncated += 1;
                    budget.first_truncation.get_or_insert(tokens);
                }
                outcome => {
                    sum.correct += u64::from(outcome == CORRECT);
                    sum.guesses += f64::from_bits(guess);
                }
            }
        }
        budget.sums.push(sum);
        Ok(budget)
    }

    /// All trials.
    pub fn n(&self) -> u64 {
        self.all().trials
    }

    /// The largest token count of any trial.
    pub fn longest(&self) -> u64 {
        self.all().tokens
    }

    /// The largest exact limit: the smallest token count at which a trial was truncated. `None` without truncation: every
    /// limit is exact.
    pub fn exact_up_to(&self) -> Option<u64> {
        self.first_truncation
    }

    /// The results under a limit of `budget` tokens.
    ///
    /// A trial that used more is truncated at the limit, and its guess probability isn't counted.
    pub fn at(&self, budget: u64) -> BudgetPoint {
        let within = self.sums.partition_point(|sum| sum.tokens <= budget);
        let inside = within.checked_sub(1).map_or_else(Sums::default, |last| self.sums[last]);
        let beyond = self.n() - inside.trials;
        let counters = Counters::new(
            self.n() as f64,
            inside.correct as f64,
            (inside.truncated + beyond) as f64,
            inside.guesses.min((inside.trials - inside.truncated) as f64),
        )
        .expect("counts of one set of trials fit each other");
        let spent = inside.spent + u128::from(beyond) * u128::from(budget);
        BudgetPoint {
            budget,
            counters,
            mean_tokens: spent as f64 / self.n() as f64,
            is_exact: self.first_truncation.is_none_or(|first| budget <= first),
        }
    }

    fn all(&self) -> &Sums {
        self.sums.last().expect("there is at least one trial")
    }
}

const CORRECT: u64 = 1;
const TRUNCATED: u64 = 2;

#[cfg(test)]
mod tests {
    use super::*;
    use Outcome::{Correct, Incorrect, Truncated};
    use proptest::prelude::*;

    fn trials() -> impl Strategy<Value = Vec<BudgetTrial>> {
        let outcome = prop::sample::select(vec![Incorrect, Correct, Truncated]);
        let guess = prop::sample::select(vec![0.0, -0.0, 1.0 / 3.0, 0.5, 1.0]);
        let trial = (0_u64..20, outcome, guess).prop_map(|(tokens, outcome, guess)| BudgetTrial {
            tokens,
            outcome,
            guess,
        });
        prop::collection::vec(trial, 1..50)
    }

    proptest! {
        #[test]
        fn budget_point_equals_recount_of_trials(trials in trials(), limit in 0_u64..25) {
            let found = Budget::new(trials.iter().copied()).unwrap().at(limit);
            let cut = |trial: &BudgetTrial| trial.tokens > limit || trial.outcome == Truncated;
            let completed: Vec<_> = trials.iter().filter(|trial| !cut(trial)).collect();
            let correct = completed.iter().filter(|trial| trial.outcome == Correct).count();
            let g: f64 = completed.iter().map(|trial| trial.guess).sum();
            prop_assert_eq!(found.counters.n(), trials.len() as f64);
            prop_assert_eq!(found.counters.n_u(), completed.len() as f64);
            prop_assert_eq!(found.counters.n_e(), correct as f64);
            prop_assert!((found.counters.g() - g).abs() < 1e-12);
            let spent: u64 = trials.iter().map(|trial| trial.tokens.min(limit)).sum();
            prop_assert_eq!(found.mean_tokens, spent as f64 / trials.len() as f64);
            let known = trials.iter().all(|trial| trial.outcome != Truncated || limit <= trial.tokens);
            prop_assert_eq!(found.is_exact, known);
        }

        #[test]
        fn result_is_independent_of_trial_order(mut trials in trials()) {
            let forward = Budget::new(trials.iter().copied()).unwrap();
            trials.reverse();
            prop_assert_eq!(Budget::new(trials).unwrap(), forward);
        }

        #[test]
        fn correct_count_is_monotone_in_budget(trials in trials()) {
            let budget = Budget::new(trials).unwrap();
            let points: Vec<_> = (0..25).map(|limit| budget.at(limit)).collect();
            for pair in points.windows(2) {
                prop_assert!(pair[0].counters.n_e() <= pair[1].counters.n_e());
                prop_assert!(pair[0].counters.n_t() >= pair[1].counters.n_t());
                prop_assert!(pair[0].mean_tokens <= pair[1].mean_tokens);
            }
        }
    }

    #[test]
    fn rejects_invalid_arguments_by_name() {
        let message = |trials: &[BudgetTrial]| Budget::new(trials.iter().copied()).unwrap_err().to_string();
        assert_eq!(message(&[]), "`trials` is empty, but needs at least one entry");
        let trial = |tokens, guess| BudgetTrial { tokens, outcome: Correct, guess };
        assert_eq!(message(&[trial(1, 1.5)]), "`guess` is 1.5, but must be from 0 to 1");
        assert!(message(&[trial(u64::MAX, 0.0)]).ends_with("but must be below 2^62"));
    }
}
