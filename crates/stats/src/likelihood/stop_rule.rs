//! Adaptive sampling: the rule that stops it, and the estimate that it doesn't bias.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, Mutex, PoisonError};

use super::PointSums;
use crate::interval::wilson_unchecked;
use crate::{Confidence, StatsError, in_range};

/// Rounds of `round` problems until the 95 % Wilson margin of `correct / problems` is at most `margin`, and at most
/// `max_count` problems.
///
/// The next count is a function of the count and the correct answers of this point alone, which is what makes an unbiased
/// estimate possible. As text: `rounds=16 margin=0.05 max=512`.
///
/// ```
/// use reasonscape_stats::likelihood::StopRule;
///
/// let rule: StopRule = "rounds=16 margin=0.05 max=512".parse()?;
/// assert_eq!(rule, StopRule { round: 16, margin: 0.05, max_count: 512 });
/// assert_eq!(rule.to_string(), "rounds=16 margin=0.05 max=512");
/// assert_eq!(rule.next_count(0, 0), Some(16));
/// assert_eq!(rule.next_count(32, 32), Some(48));
/// // 48 of 48: the margin is 0.037.
/// assert_eq!(rule.next_count(48, 48), None);
/// # Ok::<(), reasonscape_stats::StatsError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StopRule {
    /// Problems per round; the last round ends at `max_count`.
    pub round: u32,
    /// Target margin.
    pub margin: f64,
    /// Maximum number of problems.
    pub max_count: u32,
}

impl StopRule {
    /// A rule with valid parameters.
    ///
    /// # Errors
    /// [`StatsError::OutOfRange`] when `round` or `max_count` is below 2, or `margin` not in `(0, 0.5]`.
    pub fn new(round: u32, margin: f64, max_count: u32) -> Result<Self, StatsError> {
        in_range("round", f64::from(round), 2.0..=f64::MAX, "2 or more")?;
        in_range("max_count", f64::from(max_count), 2.0..=f64::MAX, "2 or more")?;
        in_range("margin", margin, f64::MIN_POSITIVE..=0.5, "above 0 and at most 0.5")?;
        Ok(Self { round, margin, max_count })
    }

    /// The number of problems to sample next, as a total, after `count` problems with `correct` correct answers; `None` when
    /// the rule stops.
    ///
    /// A `count` between two rounds is completed to the end of its round.
    pub fn next_count(&self, count: u64, correct: u64) -> Option<u64> {
        let (round, max_count) = (u64::from(self.round.max(1)), u64::from(self.max_count));
        if count >= max_count {
            return None;
        }
        let is_round_complete = count > 0 && count.is_multiple_of(round);
        if is_round_complete && !self.continues(count, correct) {
            return None;
        }
        Some(((count / round + 1) * round).min(max_count))
    }

    /// How many of the first problems of a point count, given whether each was answered correctly, in order and without a
    /// gap: up to the complete round after which the rule stops, or else the last complete round.
    ///
    /// ```
    /// use reasonscape_stats::likelihood::StopRule;
    ///
    /// let rule = StopRule::new(16, 0.05, 512)?;
    /// assert_eq!(rule.counted_prefix([true; 40]), 32);
    /// assert_eq!(rule.counted_prefix([true; 100]), 48);
    /// # Ok::<(), reasonscape_stats::StatsError>(())
    /// ```
    pub fn counted_prefix(&self, is_correct: impl IntoIterator<Item = bool>) -> u64 {
        let mut outcomes = is_correct.into_iter();
        let (mut count, mut correct) = (0, 0);
        while let Some(next) = self.next_count(count, correct) {
            let (mut sampled, mut found) = (count, correct);
            for outcome in outcomes.by_ref().take((next - count) as usize) {
                sampled += 1;
                found += u64::from(outcome);
            }
            if sampled < next {
                break;
            }
            (count, correct) = (next, found);
        }
        count
    }

    fn continues(&self, count: u64, correct: u64) -> bool {
        wilson_unchecked(correct as f64, count as f64, Confidence::P95).margin() > self.margin
    }

    /// The sums with the unbiased estimate of the accuracy in place of `q / problems`.
    ///
    /// What happens on trials that aren't correct is scaled with them, and the sum of squares with the ratio of the unbiased
    /// variance estimate to the binomial one.
    ///
    /// # Errors
    /// A [`StatsError`] when the sums are not those of a complete round without repeats, or the rule is too large for a
    /// table.
    pub(super) fn unbiased(&self, sums: &PointSums) -> Result<PointSums, StatsError> {
        let PointSums { problems: n, q: correct, c: completed, gm, a, b, .. } = *sums;
        let [mean, square] = table(self)?.get(n, correct)?;
        if !(mean > 0.0 && mean < 1.0) {
            return Ok(*sums);
        }
        let factor = (1.0 - mean) / (1.0 - correct / n);
        let q = n * mean;
        let c = q + (completed - correct) * factor;
        let a = a * factor;
        let guess = if completed > 0.0 { gm / completed } else { 0.0 };
        let odds = guess / (1.0 - guess);
        let value = (q - a) / n;
        let inflation = (mean * mean - square).max(0.0) * n / (mean * (1.0 - mean));
        let deviations = (q + (c - q) * odds * odds - n * value * value).max(0.0) * inflation;
        Ok(PointSums {
            problems: n,
            q,
            c,
            gm: guess * c,
            a,
            b: b * factor,
            yy: deviations + n * value * value,
        })
    }
}

impl fmt::Display for StopRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rounds={} margin={} max={}", self.round, self.margin, self.max_count)
    }
}

impl FromStr for StopRule {
    type Err = StatsError;

    fn from_str(text: &str) -> Result<Self, StatsError> {
        let invalid = || StatsError::InvalidStopRule { found: text.to_owned() };
        let mut fields = text.split(' ');
        let mut field = |name: &str| {
            fields.next().and_then(|field| field.strip_prefix(name)?.strip_prefix('=')).ok_or_else(invalid)
        };
        let (round, margin, max_count) = (field("rounds")?, field("margin")?, field("max")?);
        if fields.next().is_some() {
            return Err(invalid());
        }
        Self::new(
            round.parse().map_err(|_| invalid())?,
            margin.parse().map_err(|_| invalid())?,
            max_count.parse().map_err(|_| invalid())?,
        )
    }
}

/// Unbiased estimates of the accuracy `p` and of `p^2` for each state that a rule can reach.
///
/// By Girshick, Mosteller and Savage, "Unbiased estimates for certain binomial sampling problems" (Ann. Math. Statist. 17,
/// 1946): of the sequences of outcomes that lead to a state without stopping before, the proportion that begins with a
/// success, and with two.
struct Table {
    round: u64,
    max_count: u64,
    /// By round, then by correct answers; `None` where no path leads.
    rounds: Vec<Vec<Option<[f64; 2]>>>,
}

/// Maximum number of states of a table, 24 bytes each.
const MAX_STATES: usize = 4_000_000;

impl Table {
    fn new(rule: &StopRule) -> Result<Self, StatsError> {
        let StopRule { round, margin, max_count } = *rule;
        StopRule::new(round, margin, max_count)?;
        let (round, max_count) = (u64::from(round), u64::from(max_count));
        let mut rounds: Vec<Vec<Option<[f64; 2]>>> = Vec::new();
        let mut states = 0;
        let (mut count, mut paths) = (0, vec![[1.0; 3]]);
        while count < max_count && paths.iter().any(|weights| weights[0] > 0.0) {
            let next = (count + round).min(max_count);
            states += next as usize + 1;
            if states > MAX_STATES {
                return Err(StatsError::OutOfRange {
                    name: "max_count",
                    value: max_count as f64,
                    expected: "smaller for this margin and round size (or the round larger)",
                });
            }
            let mut reached = advance(&paths, count, next);
            rounds.push(
                reached.iter().map(|&[all, one, two]| (all > 0.0).then(|| [one / all, two / all])).collect(),
            );
            for (correct, weights) in reached.iter_mut().enumerate() {
                if !rule.continues(next, correct as u64) {
                    *weights = [0.0; 3];
                }
            }
            (count, paths) = (next, reached);
        }
        Ok(Self { round, max_count, rounds })
    }

    /// The estimates at `n` problems with `correct` correct answers.
    fn get(&self, n: f64, correct: f64) -> Result<[f64; 2], StatsError> {
        let whole = n.round();
        let is_complete = (n - whole).abs() < 1e-6
            && (whole as u64 == self.max_count || (whole as u64).is_multiple_of(self.round));
        let index = (whole as u64).div_ceil(self.round).checked_sub(1).filter(|_| is_complete);
        let states =
            index.and_then(|index| self.rounds.get(index as usize)).ok_or(StatsError::OutOfRange {
                name: "problems",
                value: n,
                expected: "a count at which the stop rule completes a round",
            })?;
        let state = Some(correct.round()).filter(|state| (correct - state).abs() < 1e-6);
        state.and_then(|state| *states.get(state as usize)?).ok_or(StatsError::OutOfRange {
            name: "q",
            value: correct,
            expected: "a number of correct answers that the stop rule can reach, with one sample per problem",
        })
    }
}

/// Extends paths from `count` to `next` problems.
///
/// `paths[e]` has three proportions of the sequences of `count` outcomes with `e` successes: those that didn't stop, and
/// among them those that begin with one and with two successes. Proportions instead of counts of sequences, since `2^count`
/// overflows. The `e` successes at `next` are spread over both parts as in a hypergeometric distribution.
fn advance(paths: &[[f64; 3]], count: u64, next: u64) -> Vec<[f64; 3]> {
    let step = next - count;
    if count == 0 {
        let n = next as f64;
        return (0..=next).map(|e| e as f64).map(|e| [1.0, e / n, e * (e - 1.0) / (n * (n - 1.0))]).collect();
    }
    (0..=next)
        .map(|correct| {
            let mut sums = [0.0; 3];
            for (new, weight) in hypergeometric(count, step, correct) {
                let before = paths[(correct - new) as usize];
                for (sum, proportion) in sums.iter_mut().zip(before) {
                    *sum += weight * proportion;
                }
            }
            sums
        })
        .collect()
}

/// How many of `correct` successes fall into the last `step` of `count + step` places, with probabilities.
fn hypergeometric(count: u64, step: u64, correct: u64) -> impl Iterator<Item = (u64, f64)> {
    let (first, last) = (correct.saturating_sub(count), correct.min(step));
    let peak = (correct * step / (count + step)).clamp(first, last);
    let ratio = |new: u64| {
        (step - new) as f64 * (correct - new) as f64 / ((new + 1) as f64 * (count + new + 1 - correct) as f64)
    };
    let mut weights = vec![1.0; (last - first + 1) as usize];
    for new in peak..last {
        weights[(new + 1 - first) as usize] = weights[(new - first) as usize] * ratio(new);
    }
    for new in (first..peak).rev() {
        weights[(new - first) as usize] = weights[(new + 1 - first) as usize] / ratio(new);
    }
    let total: f64 = weights.iter().sum();
    (first..=last).zip(weights).map(move |(new, weight)| (new, weight / total))
}

/// The table of a rule. Tables are kept: a board has thousands of points with the same rule.
fn table(rule: &StopRule) -> Result<Arc<Table>, StatsError> {
    type Key = (u32, u64, u32);
    /// A study has one rule; a few more may be compared.
    const MAX_TABLES: usize = 8;
    static TABLES: Mutex<BTreeMap<Key, Arc<Table>>> = Mutex::new(BTreeMap::new());

    let key = (rule.round, rule.margin.to_bits(), rule.max_count);
    let mut tables = TABLES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(table) = tables.get(&key) {
        return Ok(Arc::clone(table));
    }
    let table = Arc::new(Table::new(rule)?);
    if tables.len() >= MAX_TABLES {
        tables.clear();
    }
    tables.insert(key, Arc::clone(&table));
    Ok(table)
}
