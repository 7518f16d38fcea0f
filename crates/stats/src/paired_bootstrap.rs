//! Paired bootstrap of the difference between two ReasonScores on the same items.
//!
//! Subtracting two separate intervals ignores that both models got the same items. Here each replicate resamples the
//! items **once**, for both models, so that item difficulty cancels. Samples of one problem are one item.

use rand_distr::{Binomial, Distribution};
use rayon::prelude::*;

use crate::paired::Verdict;
use crate::random::PyRandom;
use crate::score::{TaskBounds, middle_95};
use crate::{Confidence, Counters, Mode, Outcome, StatsError, in_range};

/// Items of one task with the same pair of outcomes.
///
/// A single item is a cell of count 1; equal cells are merged, so a plain list of items works too.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairedCell {
    /// A's outcome on these items.
    pub a: Outcome,
    /// B's outcome on these items.
    pub b: Outcome,
    /// Probability that a guess is correct, 0 for free-form; counts for a side only where that side completed.
    pub guess: f64,
    /// Number of items.
    pub count: u64,
}

/// One model's responses to the samples of a problem.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SampleCounts {
    /// Correct responses.
    pub n_e: u64,
    /// Truncated responses.
    pub n_t: u64,
    /// Sum of the guess probabilities of completed responses.
    pub g: f64,
}

/// Problems of one task with the same responses of both models; several samples of a problem are resampled together.
///
/// ```
/// use reasonscape_stats::Outcome::{Correct, Incorrect};
/// use reasonscape_stats::paired_bootstrap::{PairedCell, PairedProblems, SampleCounts};
///
/// let problems = PairedProblems::from(PairedCell { a: Correct, b: Incorrect, guess: 0.25, count: 7 });
/// assert_eq!(problems.a, SampleCounts { n_e: 1, n_t: 0, g: 0.25 });
/// assert_eq!((problems.samples, problems.difference()), (1, 1.0));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairedProblems {
    /// A's responses to one of the problems.
    pub a: SampleCounts,
    /// B's responses to the same problem.
    pub b: SampleCounts,
    /// Samples of one problem.
    pub samples: u64,
    /// Sum of the guess probabilities of all samples; it only distinguishes cells.
    pub guess: f64,
    /// Number of problems.
    pub count: u64,
}

impl PairedProblems {
    /// A's accuracy on one of the problems minus B's.
    pub fn difference(&self) -> f64 {
        (self.a.n_e as f64 - self.b.n_e as f64) / self.samples as f64
    }
}

impl From<PairedCell> for PairedProblems {
    fn from(cell: PairedCell) -> Self {
        let counts = |outcome| match outcome {
            Outcome::Incorrect => SampleCounts { n_e: 0, n_t: 0, g: cell.guess },
            Outcome::Correct => SampleCounts { n_e: 1, n_t: 0, g: cell.guess },
            Outcome::Truncated => SampleCounts { n_e: 0, n_t: 1, g: 0.0 },
        };
        Self { a: counts(cell.a), b: counts(cell.b), samples: 1, guess: cell.guess, count: cell.count }
    }
}

/// How to resample, and which estimator to compare.
///
/// ```
/// use reasonscape_stats::{Mode, paired_bootstrap::PairedBootstrap};
///
/// let calibrated = PairedBootstrap { mode: Mode::K_P, ..PairedBootstrap::default() };
/// assert_eq!((calibrated.replicates, calibrated.seed), (2000, 42));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairedBootstrap {
    /// Number of resamples; 2000 by default.
    pub replicates: usize,
    /// Replicate `i` draws from `random.Random((seed << 32) + i)`: no two share a stream, whatever the seeds.
    pub seed: u64,
    /// The estimator of a task's accuracy, `C_P` for a ReasonScore.
    pub mode: Mode,
    /// The confidence of the task intervals whose centers are compared. The interval of the difference is always
    /// the middle 95 %.
    pub confidence: Confidence,
}

impl Default for PairedBootstrap {
    fn default() -> Self {
        Self { replicates: 2000, seed: 42, mode: Mode::C_P, confidence: Confidence::P95 }
    }
}

/// The difference between the ReasonScores of A and B, "A minus B", in points.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScoreDifference {
    /// The difference on the original items.
    pub difference: f64,
    /// Lower end of the middle 95 % of the replicates.
    pub ci_low: f64,
    /// Upper end.
    pub ci_high: f64,
    /// Two-sided p-value: twice the proportion of replicates on the rarer side of zero, never below
    /// `2 / (replicates + 1)`.
    pub p: f64,
    /// Number of replicates.
    pub replicates: usize,
}

impl ScoreDifference {
    /// Whether A is better, worse, or neither is established.
    pub fn verdict(&self) -> Verdict {
        Verdict::from_bounds(self.ci_low, self.ci_high)
    }

    /// The same difference as "B minus A".
    fn negated(self) -> Self {
        // Subtract from zero, so that zero doesn't become -0.
        Self {
            difference: 0.0 - self.difference,
            ci_low: 0.0 - self.ci_high,
            ci_high: 0.0 - self.ci_low,
            ..self
        }
    }
}

/// The ReasonScore of A minus that of B by paired bootstrap, with one slice of cells per task.
///
/// A model's statistic is `1000 exp(mean over tasks of ln center)`, `center` being the middle of the task's
/// interval with its ends clamped to `[0.01, 1]`: the ReasonScore in the limit of no bootstrap noise. Each
/// replicate draws as many items as the task has, with replacement and for both models at once, which is a
/// multinomial draw over the cells; then takes A's statistic minus B's. An item is a problem: several samples of one are
/// [`PairedProblems`] and are drawn together. With `k` replicates on the rarer side of
/// zero (zero itself is on both) the p-value is `min(1, 2 (k + 1) / (replicates + 1))`. Assumes independent
/// items within a task; the tasks are fixed, not resampled.
///
/// The result doesn't depend on the order of tasks or cells, or on the number of threads: cells are sorted and merged
/// first, and every replicate has its own random stream. Swapping A and B negates the result exactly, because resampling
/// always runs in the same one of the two directions. The one exception is a pair of exact mirror images, whose
/// difference is zero: the noise in the bounds is not negated.
///
/// Source: B. Efron and R. J. Tibshirani, "An Introduction to the Bootstrap" (1993), chapters 13 and 15.
///
/// ```
/// use reasonscape_stats::Outcome::{Correct, Incorrect, Truncated};
/// use reasonscape_stats::paired::Verdict;
/// use reasonscape_stats::paired_bootstrap::{PairedBootstrap, PairedCell, paired_score_difference};
///
/// let cell = |a, b, count| PairedCell { a, b, guess: 0.25, count };
/// let logic = vec![cell(Correct, Correct, 70), cell(Correct, Incorrect, 20), cell(Incorrect, Incorrect, 38)];
/// let maths = vec![cell(Correct, Correct, 90), cell(Correct, Truncated, 15), cell(Incorrect, Correct, 5)];
/// let found = paired_score_difference(&[logic, maths], PairedBootstrap::default())?;
/// assert_eq!(found.verdict(), Verdict::Better);
/// assert!(found.ci_low < found.difference && found.difference < found.ci_high);
/// # Ok::<(), reasonscape_stats::StatsError>(())
/// ```
///
/// # Errors
/// A [`StatsError`] when there is no task, a task without an item, a guess probability that is not from 0 to 1,
/// or no replicate.
pub fn paired_score_difference<T, P>(
    tasks: &[T],
    options: PairedBootstrap,
) -> Result<ScoreDifference, StatsError>
where
    T: AsRef<[P]>,
    P: Copy + Into<PairedProblems>,
{
    in_range("replicates", options.replicates as f64, 1.0..=1e8, "from 1 to 100000000")?;
    if tasks.is_empty() {
        return Err(StatsError::Empty { name: "tasks" });
    }
    let canonical_task =
        |task: &T| canonical(task.as_ref().iter().map(|&problems| -> PairedProblems { problems.into() }));
    let mut forward = tasks.iter().map(canonical_task).collect::<Result<Vec<_>, _>>()?;
    forward.sort_unstable();
    let mut backward: Vec<Vec<Cell>> = forward.iter().map(|task| mirrored(task)).collect();
    backward.sort_unstable();
    Ok(if forward <= backward { resample(&forward, options) } else { resample(&backward, options).negated() })
}

/// Ordered [`SampleCounts`]: incorrect before correct before truncated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Side {
    n_t: u64,
    n_e: u64,
}

/// Ordered [`PairedProblems`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Cell {
    a: Side,
    b: Side,
    samples: u64,
    /// The sum of guess probabilities; the bit patterns of non-negative floats sort as the numbers do.
    guess_bits: u64,
    g_bits: [u64; 2],
    count: u64,
}

impl Cell {
    /// All but the count.
    fn key(&self) -> Self {
        Self { count: 0, ..*self }
    }
}

/// The cells of one task: validated, sorted, merged, without empty ones.
fn canonical(cells: impl Iterator<Item = PairedProblems>) -> Result<Vec<Cell>, StatsError> {
    let mut sorted = Vec::new();
    let mut items = 0.0;
    for PairedProblems { a, b, samples, guess, count } in cells {
        let trials = in_range("samples", samples as f64, 1.0..=1e9, "from 1 to 10^9 samples a problem")?;
        in_range("guess", guess / trials, 0.0..=1.0, "from 0 to 1")?;
        for side in [a, b] {
            Counters::new(trials, side.n_e as f64, side.n_t as f64, side.g)?;
        }
        items += trials * count as f64;
        if count > 0 {
            // Adding zero turns -0 into +0.
            let [g_bits_a, g_bits_b, guess_bits] = [a.g, b.g, guess].map(|sum| (sum + 0.0).to_bits());
            let side = |counts: SampleCounts| Side { n_t: counts.n_t, n_e: counts.n_e };
            let g_bits = [g_bits_a, g_bits_b];
            sorted.push(Cell { a: side(a), b: side(b), samples, guess_bits, g_bits, count });
        }
    }
    // Larger counts are not exact as `f64`.
    in_range("count", items, 1.0..=1e15, "from 1 to 10^15 items a task")?;
    sorted.sort_unstable();
    sorted.dedup_by(|next, kept| {
        let same = next.key() == kept.key();
        if same {
            kept.count += next.count;
        }
        same
    });
    Ok(sorted)
}

/// The task with A and B swapped.
fn mirrored(task: &[Cell]) -> Vec<Cell> {
    let swapped =
        |cell: &Cell| Cell { a: cell.b, b: cell.a, g_bits: [cell.g_bits[1], cell.g_bits[0]], ..*cell };
    let mut mirrored: Vec<Cell> = task.iter().map(swapped).collect();
    mirrored.sort_unstable();
    mirrored
}

fn resample(tasks: &[Vec<Cell>], options: PairedBootstrap) -> ScoreDifference {
    let mut replicates: Vec<f64> = (0..options.replicates as u64)
        .into_par_iter()
        .map(|replicate| {
            let mut rng = PyRandom::new((i128::from(options.seed) << 32) + i128::from(replicate));
            statistic(tasks, options, |items, proportion| {
                Binomial::new(items, proportion)
                    .expect("a proportion of the items is from 0 to 1")
                    .sample(&mut rng)
            })
        })
        .collect();
    let count = |test: fn(&f64) -> bool| replicates.iter().filter(|value| test(value)).count();
    let rarer = count(|&value| value <= 0.0).min(count(|&value| value >= 0.0));
    let p = (2.0 * (rarer + 1) as f64 / (options.replicates + 1) as f64).min(1.0);
    let (ci_low, ci_high) = middle_95(&mut replicates);
    // On the original items, each cell gets exactly its proportion of the remaining items.
    let difference =
        statistic(tasks, options, |items, proportion| (items as f64 * proportion).round() as u64);
    ScoreDifference { difference, ci_low, ci_high, p, replicates: options.replicates }
}

/// A's score minus B's, where `draw(items, proportion)` decides how many of the remaining `items` fall into a cell that
/// holds this `proportion` of the remaining cells.
fn statistic(tasks: &[Vec<Cell>], options: PairedBootstrap, mut draw: impl FnMut(u64, f64) -> u64) -> f64 {
    let (mut sum_a, mut sum_b) = (0.0, 0.0);
    for task in tasks {
        let items: u64 = task.iter().map(|cell| cell.count).sum();
        let (mut to_draw, mut in_cells) = (items, items);
        let (mut a, mut b) = (Counts::default(), Counts::default());
        for cell in task {
            // The last cell's proportion is 1, so every item is assigned.
            let count = draw(to_draw, cell.count as f64 / in_cells as f64);
            to_draw -= count;
            in_cells -= cell.count;
            for (counts, side, g_bits) in [(&mut a, cell.a, cell.g_bits[0]), (&mut b, cell.b, cell.g_bits[1])]
            {
                counts.add(side, cell.samples, f64::from_bits(g_bits), count as f64);
            }
        }
        sum_a += a.ln_center(options);
        sum_b += b.ln_center(options);
    }
    let score = |sum: f64| 1000.0 * (sum / tasks.len() as f64).exp();
    score(sum_a) - score(sum_b)
}

/// Counters of one side on one task, while counting.
#[derive(Default)]
struct Counts {
    n: f64,
    n_e: f64,
    n_t: f64,
    g: f64,
}

impl Counts {
    fn add(&mut self, side: Side, samples: u64, g: f64, count: f64) {
        self.n += samples as f64 * count;
        self.n_e += side.n_e as f64 * count;
        self.n_t += side.n_t as f64 * count;
        self.g += g * count;
    }

    fn ln_center(&self, options: PairedBootstrap) -> f64 {
        let counters = Counters::new(self.n, self.n_e, self.n_t, self.g)
            .expect("no sample has two outcomes or a guess probability above 1");
        let bounds = TaskBounds::from(options.mode.estimate(&counters, options.confidence));
        f64::midpoint(bounds.low(), bounds.high()).ln()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Outcome::{Correct, Incorrect, Truncated};
    use proptest::prelude::*;

    const FEW: PairedBootstrap =
        PairedBootstrap { replicates: 60, seed: 42, mode: Mode::C_P, confidence: Confidence::P95 };

    fn cell(a: Outcome, b: Outcome, count: u64) -> PairedCell {
        PairedCell { a, b, guess: 0.0, count }
    }

    fn tasks() -> impl Strategy<Value = Vec<Vec<PairedCell>>> {
        let outcome = || prop::sample::select(vec![Incorrect, Correct, Truncated]);
        let guess = prop::sample::select(vec![0.0, -0.0, 0.25, 0.5, 1.0]);
        let cell = (outcome(), outcome(), guess, 0_u64..200).prop_map(|(a, b, guess, count)| PairedCell {
            a,
            b,
            guess,
            count,
        });
        let task = prop::collection::vec(cell, 1..12)
            .prop_filter("an item at least", |cells| cells.iter().any(|cell| cell.count > 0));
        prop::collection::vec(task, 1..5)
    }

    fn swapped(tasks: &[Vec<PairedCell>]) -> Vec<Vec<PairedCell>> {
        let swap = |cell: &PairedCell| PairedCell { a: cell.b, b: cell.a, ..*cell };
        tasks.iter().map(|cells| cells.iter().map(swap).collect()).collect()
    }

    proptest! {
        #[test]
        fn result_is_independent_of_task_and_cell_order(mut tasks in tasks()) {
            let before = paired_score_difference(&tasks, FEW).unwrap();
            tasks.reverse();
            for cells in &mut tasks {
                cells.reverse();
                // Half a cell twice is the cell.
                let half = PairedCell { count: cells[0].count / 2, ..cells[0] };
                cells[0].count -= half.count;
                cells.push(half);
            }
            prop_assert_eq!(paired_score_difference(&tasks, FEW).unwrap(), before);
        }

        #[test]
        fn swapping_models_negates_result(tasks in tasks()) {
            let forward = paired_score_difference(&tasks, FEW).unwrap();
            let backward = paired_score_difference(&swapped(&tasks), FEW).unwrap();
            prop_assert_eq!(forward.difference, -backward.difference);
            prop_assert_eq!(forward.p, backward.p);
            if forward.difference != 0.0 {
                prop_assert_eq!((forward.ci_low, forward.ci_high), (-backward.ci_high, -backward.ci_low));
            }
        }

        #[test]
        fn difference_and_interval_are_in_range(tasks in tasks(), mode in prop::sample::select(Mode::ALL.to_vec())) {
            let found = paired_score_difference(&tasks, PairedBootstrap { mode, ..FEW }).unwrap();
            prop_assert!(-990.0 <= found.ci_low && found.ci_low <= found.ci_high && found.ci_high <= 990.0);
            prop_assert!(0.0 < found.p && found.p <= 1.0);
        }
    }

    #[test]
    fn identical_models_never_differ() {
        let tasks =
            [vec![cell(Correct, Correct, 50), cell(Incorrect, Incorrect, 30), cell(Truncated, Truncated, 9)]];
        let found = paired_score_difference(&tasks, FEW).unwrap();
        assert_eq!((found.difference, found.ci_low, found.ci_high, found.p), (0.0, 0.0, 0.0, 1.0));
        assert_eq!(found.verdict(), Verdict::CannotTell);
    }

    #[test]
    fn identical_samples_of_a_problem_widen_the_interval_like_single_problems() {
        let counts = |outcome| PairedProblems::from(cell(outcome, Incorrect, 1)).a;
        let eightfold = |a, b, count| {
            let [a, b] = [a, b].map(counts).map(|one| SampleCounts { n_e: 8 * one.n_e, ..one });
            PairedProblems { a, b, samples: 8, guess: 0.0, count }
        };
        let options = PairedBootstrap { replicates: 4000, ..FEW };
        let problems = [
            (Correct, Correct, 16),
            (Correct, Incorrect, 12),
            (Incorrect, Correct, 5),
            (Incorrect, Incorrect, 7),
        ];
        let width = |found: ScoreDifference| found.ci_high - found.ci_low;
        let clustered =
            paired_score_difference(&[problems.map(|(a, b, count)| eightfold(a, b, count))], options)
                .unwrap();
        let single =
            paired_score_difference(&[problems.map(|(a, b, count)| cell(a, b, count))], options).unwrap();
        let as_trials =
            paired_score_difference(&[problems.map(|(a, b, count)| cell(a, b, 8 * count))], options).unwrap();
        // The centers are those of 320 trials, so only their shrinkage towards 1/2 differs from 40 problems: 320/324 against 40/44.
        let shrinkage = (320.0 / 323.84) / (40.0 / 43.84);
        assert!(
            (width(clustered) / width(single) / shrinkage - 1.0).abs() < 0.05,
            "{clustered:?} {single:?}"
        );
        assert!(
            (width(clustered) / width(as_trials) - 8.0_f64.sqrt()).abs() < 0.2,
            "{clustered:?} {as_trials:?}"
        );
        assert_eq!(clustered.difference, as_trials.difference);
        assert!(clustered.p > 0.05 && as_trials.p < 0.005, "{clustered:?} {as_trials:?}");
    }

    #[test]
    fn difference_equals_difference_of_scores() {
        let guessed = |a, b, count| PairedCell { a, b, guess: 0.5, count };
        let tasks = [
            vec![
                guessed(Correct, Truncated, 40),
                guessed(Correct, Incorrect, 30),
                guessed(Incorrect, Correct, 7),
            ],
            vec![cell(Truncated, Correct, 11), cell(Correct, Correct, 22)],
        ];
        // A guess counts for a side that completed: A's 77 items at one half, B's 37.
        let sides = [
            [Counters::new(77.0, 70.0, 0.0, 38.5), Counters::new(33.0, 22.0, 11.0, 0.0)],
            [Counters::new(77.0, 7.0, 40.0, 18.5), Counters::new(33.0, 33.0, 0.0, 0.0)],
        ];
        let [a, b] = sides.map(|side| {
            let centers = side.map(|counters| {
                let bounds = TaskBounds::from(Mode::C_P.estimate(&counters.unwrap(), Confidence::P95));
                f64::midpoint(bounds.low(), bounds.high())
            });
            1000.0 * crate::score::geometric_mean(&centers).unwrap()
        });
        let found = paired_score_difference(&tasks, FEW).unwrap();
        assert!((found.difference - (a - b)).abs() < 1e-9, "{} {}", found.difference, a - b);
    }

    #[test]
    fn single_task_spread_matches_textbook() {
        // Without guesses the center is linear in the count, so the standard deviation is known in closed form.
        let (n, b, c) = (400.0, 60.0, 30.0);
        let tasks = [vec![
            cell(Correct, Incorrect, 60),
            cell(Incorrect, Correct, 30),
            cell(Correct, Correct, 210),
            cell(Incorrect, Incorrect, 100),
        ]];
        let options = PairedBootstrap { replicates: 20_000, ..PairedBootstrap::default() };
        let found = paired_score_difference(&tasks, options).unwrap();
        let z = Confidence::P95.z();
        let per_item: f64 = 1000.0 / (n + z * z);
        let deviation = per_item * (b + c - (b - c) * (b - c) / n).sqrt();
        assert!((found.difference - per_item * (b - c)).abs() < 1e-9);
        // The 2.5 % quantile of 20,000 normal draws has a standard error of 0.019 deviations; one answer is 0.11.
        let [below, above] = [found.difference - found.ci_low, found.ci_high - found.difference];
        assert!((below / (z * deviation) - 1.0).abs() < 0.06 && (above / (z * deviation) - 1.0).abs() < 0.06);
    }

    #[test]
    fn rejects_input_that_cannot_be_resampled() {
        let message = |tasks: &[Vec<PairedCell>], options| {
            paired_score_difference(tasks, options).unwrap_err().to_string()
        };
        let good = vec![cell(Correct, Correct, 5)];
        assert_eq!(message(&[], FEW), "`tasks` is empty, but needs at least one entry");
        for empty in [vec![], vec![cell(Correct, Correct, 0)]] {
            let tasks = [good.clone(), empty];
            assert_eq!(message(&tasks, FEW), "`count` is 0, but must be from 1 to 10^15 items a task");
        }
        assert!(message(&[vec![cell(Correct, Correct, u64::MAX); 2]], FEW).starts_with("`count` is 3689"));
        let guess = |guess| vec![PairedCell { guess, ..good[0] }];
        assert_eq!(message(&[guess(2.0)], FEW), "`guess` is 2, but must be from 0 to 1");
        assert_eq!(message(&[guess(f64::NAN)], FEW), "`guess` is NaN, but must be a finite number");
        let problem = PairedProblems { samples: 2, ..cell(Correct, Correct, 5).into() };
        let rejected = |problem| paired_score_difference(&[[problem]], FEW).unwrap_err().to_string();
        assert_eq!(
            rejected(PairedProblems { samples: 0, ..problem }),
            "`samples` is 0, but must be from 1 to 10^9 samples a problem"
        );
        assert!(paired_score_difference(&[[problem]], FEW).is_ok());
        let three = SampleCounts { n_e: 3, ..problem.a };
        assert!(rejected(PairedProblems { a: three, ..problem }).contains('3'));
        let none = PairedBootstrap { replicates: 0, ..FEW };
        assert_eq!(message(&[good], none), "`replicates` is 0, but must be from 1 to 100000000");
    }
}
