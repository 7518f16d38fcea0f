//! Paired comparison of the ReasonScores of two models on the same problems.

use std::cmp::Ordering;

use crate::likelihood::LikelihoodScore;
use crate::score::FLOOR;
use crate::{StatsError, finite, non_negative, normal};

/// Shared problems of a point on which both models have the same pair of values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairedValues {
    /// A's value: the mean over samples of 1 if correct, `-g/(1-g)` if incorrect, 0 if truncated.
    pub a: f64,
    /// B's value.
    pub b: f64,
    /// Number of problems.
    pub count: u64,
}

/// The shared problems of one point, with the point's weight in the suite.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PairedPoint {
    /// Planned count in the suite. Only ratios matter.
    pub weight: f64,
    /// Problems by their values. Equal values may be listed several times.
    pub values: Vec<PairedValues>,
    /// Problems of the point that A and B answered, shared or not; with fewer than are shared, all are.
    pub answered: [u64; 2],
}

impl PairedPoint {
    /// A point from the values of A and B on each shared problem.
    ///
    /// ```
    /// use reasonscape_stats::paired_score::PairedPoint;
    ///
    /// let point = PairedPoint::from_pairs(1.0, [(1.0, 0.0), (1.0, 1.0), (1.0, 0.0)]);
    /// assert_eq!(point.values.len(), 2);
    /// ```
    pub fn from_pairs(weight: f64, pairs: impl IntoIterator<Item = (f64, f64)>) -> Self {
        /// Beyond this many distinct pairs a search costs more than it saves.
        const MAX_SEARCHED: usize = 16;
        let mut values: Vec<PairedValues> = Vec::new();
        for (a, b) in pairs {
            let searched = values.len().min(MAX_SEARCHED);
            match values[..searched].iter_mut().find(|cell| cell.a == a && cell.b == b) {
                Some(cell) => cell.count += 1,
                None => values.push(PairedValues { a, b, count: 1 }),
            }
        }
        Self { weight, values, answered: [0; 2] }
    }

    /// The same point of which A and B answered this many problems, shared or not. Problems that are not shared make the
    /// errors of the two scores less correlated; the test doesn't use them.
    #[must_use]
    pub fn with_answered(self, a: u64, b: u64) -> Self {
        Self { answered: [a, b], ..self }
    }

    fn problems(&self) -> f64 {
        self.values.iter().map(|values| values.count).sum::<u64>() as f64
    }
}

/// The difference of two ReasonScores on the logarithmic scale, "A minus B".
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairedScoreTest {
    /// Mean over tasks of `ln s_A - ln s_B`: the logarithm of the ratio of the scores.
    pub difference: f64,
    /// Two-sided p-value of equal scores.
    pub p_value: f64,
    /// Correlation between the errors of the two scores, from the shared problems.
    pub correlation: f64,
}

/// A difference or a ratio of two ReasonScores with its confidence interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScoreContrast {
    /// The difference or the ratio of the estimates.
    pub estimate: f64,
    /// Lower end of the confidence interval.
    pub ci_low: f64,
    /// Upper end of the confidence interval.
    pub ci_high: f64,
}

impl PairedScoreTest {
    /// A's ReasonScore minus B's, with the confidence interval of the difference.
    ///
    /// Each end is at the distance `sqrt(l^2 + u^2 - 2 r l u)`, with `l` and `u` the distances from the estimates to the
    /// ends of the separate intervals and `r` the correlation. Coverage is measured in `docs/coverage.md`; verdicts come from
    /// the p-value.
    ///
    /// Source: G. Y. Zou and A. Donner, "Construction of confidence limits about effect measures", Statistics in Medicine 27
    /// (2008).
    pub fn score_difference(&self, a: &LikelihoodScore, b: &LikelihoodScore) -> ScoreContrast {
        self.contrast(a, b, |score| score)
    }

    /// A's ReasonScore divided by B's, with the confidence interval of the ratio: as [`score_difference`], of logarithms.
    ///
    /// [`score_difference`]: Self::score_difference
    pub fn score_ratio(&self, a: &LikelihoodScore, b: &LikelihoodScore) -> ScoreContrast {
        let logarithms = self.contrast(a, b, f64::ln);
        ScoreContrast {
            estimate: logarithms.estimate.exp(),
            ci_low: logarithms.ci_low.exp(),
            ci_high: logarithms.ci_high.exp(),
        }
    }

    fn contrast(&self, a: &LikelihoodScore, b: &LikelihoodScore, scale: fn(f64) -> f64) -> ScoreContrast {
        let below = |score: &LikelihoodScore| scale(score.estimate) - scale(score.ci_low);
        let above = |score: &LikelihoodScore| scale(score.ci_high) - scale(score.estimate);
        let distance = |x: f64, y: f64| {
            let squared = x * x + y * y - 2.0 * self.correlation * x * y;
            squared.max(0.0).sqrt()
        };
        let estimate = scale(a.estimate) - scale(b.estimate);
        ScoreContrast {
            estimate,
            ci_low: estimate - distance(below(a), above(b)),
            ci_high: estimate + distance(above(a), below(b)),
        }
    }
}

/// Tests whether two models have the same ReasonScore, given their shared problems of each task; `None` if no task has any.
///
/// A sign-flip test: if the models are exchangeable on each problem, the sign of each difference of values is a coin flip.
/// The tail of the sum is a saddlepoint approximation (Barndorff-Nielsen's r*), accurate in relative terms far into the
/// tail. To keep its level for models with equal scores but unequal profiles, the p-value is the larger one of two
/// statistics: the sum over tasks of `ln s_A - ln s_B`, and its linearization at the mean of both models.
///
/// ```
/// use reasonscape_stats::paired_score::{PairedPoint, paired_score_test};
///
/// let mut pairs = vec![(1.0, 0.0); 9];
/// pairs.extend([(0.0, 1.0), (1.0, 1.0), (0.0, 0.0)]);
/// let task = vec![PairedPoint::from_pairs(1.0, pairs)];
/// let test = paired_score_test(&[task])?.expect("there are shared problems");
/// assert!(test.difference > 1.0 && test.p_value < 0.05);
/// # Ok::<(), reasonscape_stats::StatsError>(())
/// ```
///
/// # Errors
/// A [`StatsError`] when a weight is negative or a value not finite.
pub fn paired_score_test<T: AsRef<[PairedPoint]>>(
    tasks: &[T],
) -> Result<Option<PairedScoreTest>, StatsError> {
    let mut difference = SignFlips::default();
    let mut linear = SignFlips::default();
    let mut errors = Errors::default();
    let mut count = 0;
    for points in tasks {
        let Some(task) = PairedTask::new(points.as_ref())? else { continue };
        count += 1;
        let [s_a, s_b] = task.means;
        let apart = s_a - s_b;
        let ln_ratio = s_a.max(FLOOR).ln() - s_b.max(FLOOR).ln();
        let slope = if apart.abs() > 1e-12 {
            ln_ratio / apart
        } else if s_a > FLOOR {
            1.0 / s_a
        } else {
            0.0
        };
        let tangent = 1.0 / f64::midpoint(s_a, s_b).max(FLOOR);
        difference.sum += ln_ratio;
        linear.sum += tangent * apart;
        for &(coefficient, problems) in &task.coefficients {
            difference.push(slope * coefficient, problems);
            linear.push(tangent * coefficient, problems);
        }
        let [f_a, f_b] = [s_a, s_b].map(|s| if s > FLOOR { 1.0 / s } else { 0.0 });
        errors.a += f_a * f_a * task.covariance[0];
        errors.b += f_b * f_b * task.covariance[1];
        errors.both += f_a * f_b * task.covariance[2];
    }
    if count == 0 {
        return Ok(None);
    }
    let p_value = if difference.sum * linear.sum > 0.0 {
        (2.0 * difference.tail().max(linear.tail())).min(1.0)
    } else {
        1.0
    };
    Ok(Some(PairedScoreTest {
        difference: difference.sum / f64::from(count),
        p_value,
        correlation: errors.correlation(),
    }))
}

/// Variances and covariance of the errors of both scores.
#[derive(Default)]
struct Errors {
    a: f64,
    b: f64,
    both: f64,
}

impl Errors {
    fn correlation(&self) -> f64 {
        let product = self.a * self.b;
        if product > 0.0 { (self.both / product.sqrt()).clamp(-1.0, 1.0) } else { 0.0 }
    }
}

/// The shared problems of one task.
struct PairedTask {
    /// Mean value of A and of B.
    means: [f64; 2],
    /// Absolute differences of single problems in the difference of the means, with the number of problems.
    coefficients: Vec<(f64, f64)>,
    /// Variance of A's mean, of B's, and their covariance.
    covariance: [f64; 3],
}

impl PairedTask {
    fn new(points: &[PairedPoint]) -> Result<Option<Self>, StatsError> {
        let mut total = 0.0;
        for point in points {
            non_negative("weight", point.weight)?;
            for values in &point.values {
                finite("a", values.a)?;
                finite("b", values.b)?;
            }
            if point.problems() > 0.0 {
                total += point.weight;
            }
        }
        if total <= 0.0 {
            return Ok(None);
        }
        let mut task = Self { means: [0.0; 2], coefficients: Vec::new(), covariance: [0.0; 3] };
        for point in points {
            task.add(point, total);
        }
        task.merge_equal_coefficients();
        Ok(Some(task))
    }

    fn add(&mut self, point: &PairedPoint, total_weight: f64) {
        let problems = point.problems();
        if problems == 0.0 || point.weight == 0.0 {
            return;
        }
        let weight = point.weight / total_weight;
        let [mut a, mut b, mut aa, mut bb, mut ab] = [0.0; 5];
        for values in &point.values {
            let count = values.count as f64;
            a += count * values.a;
            b += count * values.b;
            aa += count * values.a * values.a;
            bb += count * values.b * values.b;
            ab += count * values.a * values.b;
            let coefficient = (values.a - values.b).abs() * weight / problems;
            if coefficient > 1e-15 {
                self.coefficients.push((coefficient, count));
            }
        }
        let each = weight / problems;
        self.means[0] += each * a;
        self.means[1] += each * b;
        // Problems that only one of them answered make its mean more certain, and share no error with the other's.
        let [of_a, of_b] = point.answered.map(|answered| problems / problems.max(answered as f64));
        self.covariance[0] += each * each * of_a * (aa - a * a / problems);
        self.covariance[1] += each * each * of_b * (bb - b * b / problems);
        self.covariance[2] += each * each * of_a * of_b * (ab - a * b / problems);
    }

    /// Points of one size and weight have the same few coefficients: evaluating each once makes a test fast.
    fn merge_equal_coefficients(&mut self) {
        self.coefficients.sort_unstable_by(|x, y| x.0.total_cmp(&y.0));
        self.coefficients.dedup_by(|next, kept| {
            let is_equal = next.0.total_cmp(&kept.0) == Ordering::Equal;
            if is_equal {
                kept.1 += next.1;
            }
            is_equal
        });
    }
}

/// A sum, and the coefficients whose random signs give its distribution.
#[derive(Default)]
struct SignFlips {
    sum: f64,
    coefficients: Vec<(f64, f64)>,
}

impl SignFlips {
    fn push(&mut self, coefficient: f64, count: f64) {
        self.coefficients.push((coefficient, count));
    }

    /// The probability that the sum of `count` independent `±coefficient` each is at least the absolute sum.
    fn tail(&self) -> f64 {
        let scale = self.coefficients.iter().map(|(x, count)| x * x * count).sum::<f64>().sqrt();
        let target = self.sum.abs() / scale;
        if scale == 0.0 || target.is_nan() || target <= 0.0 {
            return 0.5;
        }
        let coefficients: Vec<(f64, f64)> =
            self.coefficients.iter().map(|(x, count)| (x / scale, *count)).collect();
        let flips: f64 = coefficients.iter().map(|(_, count)| count).sum();
        let largest: f64 = coefficients.iter().map(|(x, count)| x * count).sum();
        let smallest_tail = 0.5_f64.powf(flips);
        if target >= largest * (1.0 - 1e-9) {
            return smallest_tail;
        }
        let t = saddlepoint(&coefficients, target);
        let (mut cumulant, mut curvature) = (0.0, 0.0);
        for (x, count) in &coefficients {
            let ln_cosh = x * t + (-2.0 * x * t).exp().ln_1p() - std::f64::consts::LN_2;
            cumulant += count * ln_cosh;
            curvature += count * x * x / (x * t).min(300.0).cosh().powi(2);
        }
        let r = (2.0 * (t * target - cumulant)).max(0.0).sqrt();
        let u = t * curvature.sqrt();
        // Near the center the correction is a difference of nearly equal numbers, and not needed.
        let z = if r < 1e-3 { target } else { r + (u / r).ln() / r };
        normal::cdf(-z).clamp(smallest_tail, 0.5)
    }
}

/// The `t` at which `sum count x tanh(x t)` is the target, which is below its limit.
///
/// The sum is concave and at most `t`, so Newton's method from `t = target` rises to the root without passing it.
fn saddlepoint(coefficients: &[(f64, f64)], target: f64) -> f64 {
    const MAX_STEPS: u32 = 1000;
    let mut t = target;
    for _ in 0..MAX_STEPS {
        let (mut value, mut slope) = (0.0, 0.0);
        for (x, count) in coefficients {
            let tanh = (x * t).tanh();
            value += count * x * tanh;
            slope += count * x * x * (1.0 - tanh * tanh);
        }
        let step = (target - value) / slope;
        if step.is_nan() || step <= t * 1e-15 || step.is_infinite() {
            break;
        }
        t += step;
    }
    t
}
