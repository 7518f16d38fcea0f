//! ReasonScore v2: one number from 10 to 1000 with a range, and the ranks that the source document derives from it.
//!
//! The range is a definition, not a confidence interval: `docs/coverage.md` has designs in which it never contains the true
//! score. [`likelihood`](crate::likelihood) has the interval with demonstrated coverage.
//!
//! Source: ReasonScape, "ReasonScore v2: Statistical Foundations for r12".

use std::fmt;

use rayon::prelude::*;

use crate::random::PyRandom;
use crate::{Interval, StatsError, in_range};

/// Minimum value of a task, so that a single zero doesn't dominate the geometric mean.
pub const FLOOR: f64 = 0.01;

/// The confidence interval of the accuracy on one task.
///
/// ```
/// use reasonscape_stats::score::TaskBounds;
///
/// let bounds = TaskBounds::new(0.0, 0.4)?;
/// assert_eq!((bounds.low(), bounds.high()), (0.01, 0.4));
/// assert!(TaskBounds::new(0.4, 0.2).is_err());
/// # Ok::<(), reasonscape_stats::StatsError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TaskBounds {
    low: f64,
    high: f64,
}

impl TaskBounds {
    /// Bounds in `[0, 1]`, clamped to `[0.01, 1]`.
    ///
    /// # Errors
    /// A [`StatsError`] when a bound is not within `[0, 1]` or they are crossed.
    pub fn new(low: f64, high: f64) -> Result<Self, StatsError> {
        in_range("low", low, 0.0..=1.0, "from 0 to 1")?;
        in_range("high", high, 0.0..=1.0, "from 0 to 1")?;
        if low > high {
            return Err(StatsError::CrossedBounds { low, high });
        }
        Ok(Self { low: low.max(FLOOR), high: high.max(FLOOR) })
    }

    /// Lower bound.
    pub fn low(&self) -> f64 {
        self.low
    }

    /// Upper bound.
    pub fn high(&self) -> f64 {
        self.high
    }
}

impl From<Interval> for TaskBounds {
    fn from(interval: Interval) -> Self {
        Self { low: interval.low.clamp(FLOOR, 1.0), high: interval.high.clamp(FLOOR, 1.0) }
    }
}

/// Number of draws and seed. Scores are comparable at the default of 5000 draws from seed 42.
///
/// ```
/// use reasonscape_stats::score::Bootstrap;
///
/// assert_eq!(Bootstrap::default(), Bootstrap { draws: 5000, seed: 42 });
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bootstrap {
    /// Number of draws.
    pub draws: usize,
    /// Seed of `random.Random`.
    pub seed: i64,
}

impl Default for Bootstrap {
    fn default() -> Self {
        Self { draws: 5000, seed: 42 }
    }
}

/// A ReasonScore v2: the middle of its bootstrap draws, from the 2.5 % to the 97.5 % quantile. This range isn't a 95 %
/// confidence interval.
///
/// ```
/// use reasonscape_stats::score::{Band, ReasonScore};
///
/// let (a, b) = (ReasonScore { ci_low: 744.0, ci_high: 760.0 }, ReasonScore { ci_low: 756.0, ci_high: 770.0 });
/// assert_eq!((a.to_string().as_str(), a.band()), ("752 ± 8", Band::Strong));
/// assert!(a.ties_with(&b));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReasonScore {
    /// Lower end.
    pub ci_low: f64,
    /// Upper end.
    pub ci_high: f64,
}

impl ReasonScore {
    /// The score: the midpoint of its interval.
    pub fn center(&self) -> f64 {
        f64::midpoint(self.ci_low, self.ci_high)
    }

    /// Half the width of the interval.
    pub fn margin(&self) -> f64 {
        (self.ci_high - self.ci_low) / 2.0
    }

    /// The band that the score falls into.
    pub fn band(&self) -> Band {
        Band::from_score(self.center())
    }

    /// Whether the intervals overlap, in which case the models are tied.
    pub fn ties_with(&self, other: &ReasonScore) -> bool {
        self.ci_low <= other.ci_high && other.ci_low <= self.ci_high
    }
}

impl fmt::Display for ReasonScore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.0} ± {:.0}", self.center(), self.margin())
    }
}

/// The ReasonScore v2 of one model, with its tasks **in order of their names**.
///
/// With `rng = random.Random(seed)`: for each draw and each task, `low + (high - low) * rng.random()`; then the
/// geometric mean `exp(mean(ln))` over tasks. The bounds are 1000 times the sorted means at 0-based index
/// `floor(0.025 n)` and `floor(0.975 n)`. Assumes that errors are independent between tasks.
///
/// ```
/// use reasonscape_stats::score::{Bootstrap, TaskBounds, reason_score};
///
/// let tasks = vec![TaskBounds::new(0.9, 0.95)?; 12];
/// let score = reason_score(&tasks, Bootstrap::default())?;
/// assert_eq!(score.to_string(), "925 ± 8");
/// # Ok::<(), reasonscape_stats::StatsError>(())
/// ```
///
/// # Errors
/// [`StatsError`] when there is no task or no draw.
pub fn reason_score(tasks: &[TaskBounds], bootstrap: Bootstrap) -> Result<ReasonScore, StatsError> {
    Ok(reason_scores(&[tasks], bootstrap)?[0])
}

/// The ReasonScores of several models, each as by [`reason_score`]. All models use the same `random.Random(seed)` stream,
/// so it is drawn only once.
///
/// ```
/// use reasonscape_stats::score::{Bootstrap, TaskBounds, reason_score, reason_scores};
///
/// let strong = vec![TaskBounds::new(0.9, 0.95)?; 12];
/// let weak = vec![TaskBounds::new(0.2, 0.3)?; 11]; // A missing task: scored on what it has.
/// let scores = reason_scores(&[&strong, &weak], Bootstrap::default())?;
/// assert_eq!(scores[1], reason_score(&weak, Bootstrap::default())?);
/// # Ok::<(), reasonscape_stats::StatsError>(())
/// ```
///
/// # Errors
/// [`StatsError`] when a model has no task, or there is no draw.
pub fn reason_scores<T: AsRef<[TaskBounds]> + Sync>(
    models: &[T],
    bootstrap: Bootstrap,
) -> Result<Vec<ReasonScore>, StatsError> {
    in_range("draws", bootstrap.draws as f64, 1.0..=1e8, "from 1 to 100000000")?;
    if models.iter().any(|tasks| tasks.as_ref().is_empty()) {
        return Err(StatsError::Empty { name: "tasks" });
    }
    let mut task_counts: Vec<usize> = models.iter().map(|tasks| tasks.as_ref().len()).collect();
    task_counts.sort_unstable();
    task_counts.dedup();
    let mut scores = vec![ReasonScore { ci_low: 0.0, ci_high: 0.0 }; models.len()];
    for tasks in task_counts {
        let stream = Stream::draw(tasks, bootstrap);
        scores.par_iter_mut().zip(models).filter(|(_, model)| model.as_ref().len() == tasks).for_each_init(
            || vec![0.0; bootstrap.draws],
            |products, (score, model)| *score = stream.score(model.as_ref(), products),
        );
    }
    Ok(scores)
}

/// The random numbers of a bootstrap: `of_task[t][i]` is the number of task `t` in draw `i`.
struct Stream {
    of_task: Vec<Vec<f64>>,
}

impl Stream {
    fn draw(tasks: usize, bootstrap: Bootstrap) -> Self {
        let mut rng = PyRandom::new(bootstrap.seed);
        let mut of_task = vec![vec![0.0; bootstrap.draws]; tasks];
        for i in 0..bootstrap.draws {
            for task in &mut of_task {
                task[i] = rng.random();
            }
        }
        Self { of_task }
    }

    /// The score of one model; `products` is a scratch buffer with one number per draw.
    ///
    /// The geometric mean is monotone in the product, so products are sorted and logarithms taken of two of them only.
    fn score(&self, model: &[TaskBounds], products: &mut [f64]) -> ReasonScore {
        // Products of this many tasks at the floor are still normal numbers; beyond that, logarithms are added.
        const TASKS_PER_PRODUCT: usize = 128;
        /// Draws per block, so that the running products stay in the L1 cache.
        const BLOCK: usize = 1024;

        let uses_logarithms = model.len() > TASKS_PER_PRODUCT;
        for (block, products) in products.chunks_mut(BLOCK).enumerate() {
            let mut sums = [0.0; BLOCK];
            for (bounds, numbers) in
                model.chunks(TASKS_PER_PRODUCT).zip(self.of_task.chunks(TASKS_PER_PRODUCT))
            {
                products.fill(1.0);
                for (bound, numbers) in bounds.iter().zip(numbers) {
                    let width = bound.high - bound.low;
                    for (product, number) in products.iter_mut().zip(&numbers[block * BLOCK..]) {
                        *product *= bound.low + width * number;
                    }
                }
                if uses_logarithms {
                    for (sum, product) in sums.iter_mut().zip(&*products) {
                        *sum += product.ln();
                    }
                }
            }
            if uses_logarithms {
                products.copy_from_slice(&sums[..products.len()]);
            }
        }
        let (low, high) = middle_95(products);
        let log = |value: f64| if uses_logarithms { value } else { value.ln() };
        let scaled = |value| 1000.0 * (log(value) / model.len() as f64).exp();
        ReasonScore { ci_low: scaled(low), ci_high: scaled(high) }
    }
}

/// The order statistics at `floor(0.025 n)` and `floor(0.975 n)`, 0-based.
pub(crate) fn middle_95(values: &mut [f64]) -> (f64, f64) {
    let (low, high) = (values.len() * 25 / 1000, values.len() * 975 / 1000);
    let (_, &mut at_low, above) = values.select_nth_unstable_by(low, f64::total_cmp);
    let at_high = match high - low {
        0 => at_low,
        gap => *above.select_nth_unstable_by(gap - 1, f64::total_cmp).1,
    };
    (at_low, at_high)
}

/// The ReasonScore interval with every task at its lower bound, and at its upper bound, at once.
///
/// `1000 exp(mean(ln low))` to `1000 exp(mean(ln high))`: conservative and much too wide, because tasks don't all err in
/// the same direction.
///
/// ```
/// use reasonscape_stats::score::{Bootstrap, TaskBounds, min_max_score, reason_score};
///
/// let tasks = vec![TaskBounds::new(0.7, 0.8)?; 12];
/// let (wide, narrow) = (min_max_score(&tasks)?, reason_score(&tasks, Bootstrap::default())?);
/// assert!(narrow.margin() < 0.5 * wide.margin());
/// # Ok::<(), reasonscape_stats::StatsError>(())
/// ```
///
/// # Errors
/// [`StatsError::Empty`] when there is no task.
pub fn min_max_score(tasks: &[TaskBounds]) -> Result<ReasonScore, StatsError> {
    let scaled = |bound: fn(&TaskBounds) -> f64| {
        let proportions: Vec<f64> = tasks.iter().map(bound).collect();
        geometric_mean(&proportions).map(|mean| 1000.0 * mean)
    };
    Ok(ReasonScore { ci_low: scaled(TaskBounds::low)?, ci_high: scaled(TaskBounds::high)? })
}

/// The geometric mean `exp(mean(ln))`, which a single low value pulls down much more than an arithmetic mean.
///
/// ```
/// use reasonscape_stats::score::geometric_mean;
///
/// let mut proportions = vec![0.95; 11];
/// proportions.push(0.05);
/// assert_eq!(format!("{:.3}", geometric_mean(&proportions)?), "0.743");
/// # Ok::<(), reasonscape_stats::StatsError>(())
/// ```
///
/// # Errors
/// [`StatsError`] when there is no proportion, or one is not a finite number >= 0.
pub fn geometric_mean(proportions: &[f64]) -> Result<f64, StatsError> {
    if proportions.is_empty() {
        return Err(StatsError::Empty { name: "proportions" });
    }
    let mut sum = 0.0;
    for &proportion in proportions {
        sum += crate::non_negative("proportion", proportion)?.ln();
    }
    Ok((sum / proportions.len() as f64).exp())
}

/// Bands of ReasonScores, as defined by ReasonScape.
///
/// ```
/// use reasonscape_stats::score::Band;
///
/// assert_eq!(Band::from_score(752.0), Band::Strong);
/// assert_eq!(Band::from_score(752.0).meaning(), "strong overall with minor weaknesses");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Band {
    /// Below 100.
    Catastrophic,
    /// 100 to 300.
    Deficient,
    /// 300 to 500.
    Limited,
    /// 500 to 700.
    Good,
    /// 700 to 900.
    Strong,
    /// 900 and more.
    NearPerfect,
}

impl Band {
    /// The band that a score falls into; a boundary belongs to the band above it.
    pub fn from_score(score: f64) -> Self {
        match score {
            s if s >= 900.0 => Self::NearPerfect,
            s if s >= 700.0 => Self::Strong,
            s if s >= 500.0 => Self::Good,
            s if s >= 300.0 => Self::Limited,
            s if s >= 100.0 => Self::Deficient,
            _ => Self::Catastrophic,
        }
    }

    /// A short name, for tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::NearPerfect => "near-perfect",
            Self::Strong => "strong",
            Self::Good => "good",
            Self::Limited => "limited",
            Self::Deficient => "deficient",
            Self::Catastrophic => "catastrophic",
        }
    }

    /// A description.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::NearPerfect => "near-perfect performance across all tasks",
            Self::Strong => "strong overall with minor weaknesses",
            Self::Good => "good capability but notable gaps",
            Self::Limited => "limited capability or severe task imbalance",
            Self::Deficient => "significant deficits across multiple domains",
            Self::Catastrophic => "catastrophic failures on some tasks",
        }
    }
}

/// Classes of interval width, from the ReasonScore v2 document.
///
/// ```
/// use reasonscape_stats::score::IntervalClass;
///
/// assert_eq!(IntervalClass::from_margin(4.0), IntervalClass::Tight);
/// assert_eq!(IntervalClass::from_margin(10.0), IntervalClass::Moderate);
/// assert_eq!(IntervalClass::from_margin(20.5).name(), "wide");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum IntervalClass {
    /// A margin below 10 points.
    Tight,
    /// From 10 to 20 points.
    Moderate,
    /// Above 20 points.
    Wide,
}

impl IntervalClass {
    /// The class of a margin in points.
    pub fn from_margin(margin: f64) -> Self {
        match margin {
            m if m < 10.0 => Self::Tight,
            m if m <= 20.0 => Self::Moderate,
            _ => Self::Wide,
        }
    }

    /// A short name, for tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tight => "tight",
            Self::Moderate => "moderate",
            Self::Wide => "wide",
        }
    }
}

/// The quantities that determine how wide the interval of a ReasonScore is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IntervalFactors {
    /// Mean accuracy over tasks.
    pub accuracy: f64,
    /// Standard deviation of the accuracy over tasks (population form).
    pub spread: f64,
    /// Proportion of truncated trials, where it is known.
    pub truncation_rate: Option<f64>,
    /// Trials of the task with the fewest, where there are counters.
    pub min_trials: Option<u64>,
}

impl IntervalFactors {
    /// Factors of these tasks.
    pub fn new(tasks: &[TaskBounds], truncation_rate: Option<f64>, min_trials: Option<u64>) -> Self {
        let centers: Vec<f64> = tasks.iter().map(|task| f64::midpoint(task.low, task.high)).collect();
        let count = centers.len().max(1) as f64;
        let accuracy = centers.iter().sum::<f64>() / count;
        let variance = centers.iter().map(|center| (center - accuracy).powi(2)).sum::<f64>() / count;
        Self { accuracy, spread: variance.sqrt(), truncation_rate, min_trials }
    }

    /// The factors that explain this class.
    ///
    /// The thresholds of accuracy (90 % and 70 %) and truncation (5 % and 15 %) are from the ReasonScore v2 document. It
    /// gives none for the spread over tasks; the standard deviations 0.05 and 0.15 are this project's choice. If none of the
    /// three explains a class, the number of trials is given.
    ///
    /// ```
    /// use reasonscape_stats::score::{IntervalClass, IntervalFactors};
    ///
    /// let factors = IntervalFactors { accuracy: 0.8, spread: 0.2, truncation_rate: Some(0.3), min_trials: Some(64) };
    /// let causes = factors.causes(IntervalClass::Wide);
    /// assert_eq!(causes, ["truncation 30 %", "accuracy differs between tasks (sd 0.20)"]);
    /// ```
    pub fn causes(&self, class: IntervalClass) -> Vec<String> {
        use IntervalClass::{Moderate, Tight, Wide};
        let level = |value: f64, moderate: f64, wide: f64| match value {
            v if v > wide => Wide,
            v if v >= moderate => Moderate,
            _ => Tight,
        };
        // A tight interval is explained by tight factors; a wider one by factors at least as wide.
        let explains = |factor: IntervalClass| if class == Tight { factor == Tight } else { factor >= class };
        let percent = |rate: f64| format!("{:.0} %", 100.0 * rate);
        let mut causes = Vec::new();
        // The document defines no accuracy at which intervals are wide: below 70 % they count as moderate.
        let accuracy_level = if self.accuracy >= 0.9 { Tight } else { Moderate };
        if explains(accuracy_level) {
            causes.push(format!("accuracy {}", percent(self.accuracy)));
        }
        if let Some(rate) = self.truncation_rate
            && explains(level(rate, 0.05, 0.15))
        {
            causes.push(format!("truncation {}", percent(rate)));
        }
        if explains(level(self.spread, 0.05, 0.15)) {
            let verb = if class == Tight { "is even over" } else { "differs between" };
            causes.push(format!("accuracy {verb} tasks (sd {:.2})", self.spread));
        }
        if let (true, Some(trials)) = (causes.is_empty(), self.min_trials) {
            causes.push(format!("few trials ({trials} on the task with the fewest)"));
        }
        causes
    }
}

/// The rank of a model, and the range of ranks its interval allows.
///
/// ```
/// use reasonscape_stats::score::Rank;
///
/// assert!(Rank { rank: 2, best: 1, worst: 3 }.is_tied());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rank {
    /// Rank by the center of the score, 1 for the highest; equal centers have equal ranks.
    pub rank: usize,
    /// The best rank that the intervals allow: one more than the number of models whose interval lies above.
    pub best: usize,
    /// The worst rank that the intervals allow.
    pub worst: usize,
}

impl Rank {
    /// Whether another model's interval overlaps.
    pub fn is_tied(&self) -> bool {
        self.best != self.worst
    }
}

/// The rank of each model, in the order given.
///
/// `best = 1 + #{B: B.ci_low > A.ci_high}`, `worst = #{B: B.ci_high >= A.ci_low}` (A itself included).
///
/// ```
/// use reasonscape_stats::score::{ReasonScore, ranks};
///
/// let board = [(942.0, 950.0), (870.0, 904.0), (875.0, 909.0)]
///     .map(|(ci_low, ci_high)| ReasonScore { ci_low, ci_high });
/// let ranks = ranks(&board);
/// assert_eq!((ranks[0].best, ranks[0].worst), (1, 1));
/// assert_eq!((ranks[1].rank, ranks[1].best, ranks[1].worst), (3, 2, 3));
/// assert!(ranks[2].is_tied());
/// ```
pub fn ranks(scores: &[ReasonScore]) -> Vec<Rank> {
    let count = |test: &dyn Fn(&ReasonScore) -> bool| scores.iter().filter(|score| test(score)).count();
    scores
        .iter()
        .map(|a| Rank {
            rank: 1 + count(&|b| b.center() > a.center()),
            best: 1 + count(&|b| b.ci_low > a.ci_high),
            worst: count(&|b| b.ci_high >= a.ci_low),
        })
        .collect()
}

/// How much the margin varies with the seed at one number of draws.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stability {
    /// Number of draws.
    pub draws: usize,
    /// Mean margin over the seeds.
    pub margin_mean: f64,
    /// Standard deviation of the margin over the seeds (population form).
    pub margin_sd: f64,
    /// Largest minus smallest margin; below 0.5 points counts as stable.
    pub margin_range: f64,
}

/// Repeats a score with several numbers of draws and several seeds, to check how many draws are enough.
///
/// ```
/// use reasonscape_stats::score::{TaskBounds, stability};
///
/// let tasks = vec![TaskBounds::new(0.72, 0.77)?; 12];
/// let rows = stability(&tasks, &[100, 5000], 0..10)?;
/// assert!(rows[1].margin_range < 0.5 && rows[1].margin_range < rows[0].margin_range);
/// # Ok::<(), reasonscape_stats::StatsError>(())
/// ```
///
/// # Errors
/// [`StatsError`] when there is no task, no seed, or a number of draws is 0.
pub fn stability(
    tasks: &[TaskBounds],
    draws: &[usize],
    seeds: std::ops::Range<i64>,
) -> Result<Vec<Stability>, StatsError> {
    if seeds.is_empty() {
        return Err(StatsError::Empty { name: "seeds" });
    }
    draws
        .iter()
        .map(|&draws| {
            let margins = seeds
                .clone()
                .map(|seed| reason_score(tasks, Bootstrap { draws, seed }).map(|score| score.margin()))
                .collect::<Result<Vec<f64>, _>>()?;
            let count = margins.len() as f64;
            let mean = margins.iter().sum::<f64>() / count;
            let variance = margins.iter().map(|margin| (margin - mean).powi(2)).sum::<f64>() / count;
            let largest = margins.iter().copied().fold(f64::MIN, f64::max);
            let smallest = margins.iter().copied().fold(f64::MAX, f64::min);
            Ok(Stability {
                draws,
                margin_mean: mean,
                margin_sd: variance.sqrt(),
                margin_range: largest - smallest,
            })
        })
        .collect()
}
