//! Simulated boards of models on the same problems, for the level of the paired test and of ranks from it.

use rayon::prelude::*;
use reasonscape_stats::likelihood::{PointSums, StopRule, WeightedPoint, effective_task, likelihood_score};
use reasonscape_stats::multiple_testing::holm;
use reasonscape_stats::paired_score::{PairedPoint, PairedScoreTest, ScoreContrast, paired_score_test};
use reasonscape_stats::random::PyRandom;
use reasonscape_stats::ranks::rank_ranges;
use reasonscape_stats::{Confidence, Outcome};

/// Models on tasks: `known[model][task]` is the probability that a completed trial knows the answer.
#[derive(Clone, Debug)]
pub(crate) struct PairedDesign {
    pub(crate) known: Vec<Vec<f64>>,
    pub(crate) guess: f64,
    pub(crate) truncation: f64,
    pub(crate) points: usize,
    pub(crate) problems: usize,
    /// Samples per problem.
    pub(crate) samples: usize,
    /// How many more problems of each point only the first model answers.
    pub(crate) only_first: usize,
    /// Where each model samples each point in rounds until its own margin is reached, instead of `problems`.
    pub(crate) stop_rule: Option<StopRule>,
}

/// Values and sums of one model on one board, by task and point.
struct Responses {
    values: Vec<Vec<Vec<f64>>>,
    points: Vec<Vec<WeightedPoint>>,
}

/// What the paired test did on simulated boards of two models.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Level {
    /// Proportion of p-values below 5 %.
    pub(crate) at_5_percent: f64,
    /// Proportion of p-values below 0.1 %.
    pub(crate) at_01_percent: f64,
    /// Proportion of intervals of the difference of the scores that contain the true difference.
    pub(crate) difference: f64,
    /// The same for the ratio of the scores.
    pub(crate) ratio: f64,
    /// Mean width of the interval of the difference, in points of the score.
    pub(crate) width: f64,
}

impl PairedDesign {
    /// Twelve tasks from hard to easy, for two models with the profiles `a` and `b`: indices into the tasks.
    pub(crate) fn two_models(
        known: &[f64],
        permutation: impl Fn(usize) -> usize,
        guess: f64,
        truncation: f64,
        (points, problems): (usize, usize),
    ) -> Self {
        let other = (0..known.len()).map(|task| known[permutation(task)]).collect();
        let known = vec![known.to_vec(), other];
        Self { known, guess, truncation, points, problems, samples: 1, only_first: 0, stop_rule: None }
    }

    /// The mean over tasks of the logarithm of the true value.
    fn ln_score(&self, model: usize) -> f64 {
        let known = &self.known[model];
        let ln_s = known.iter().map(|known| (known * (1.0 - self.truncation)).max(0.01).ln());
        ln_s.sum::<f64>() / known.len() as f64
    }

    /// Every model on the same problems, half of which are easier for all models and half harder.
    fn board(&self, rng: &mut PyRandom) -> Vec<Responses> {
        let tasks = self.known[0].len();
        let mut models: Vec<Responses> = self
            .known
            .iter()
            .map(|_| Responses { values: vec![vec![]; tasks], points: vec![vec![]; tasks] })
            .collect();
        for task in 0..tasks {
            for _ in 0..self.points {
                let mut values = vec![Vec::with_capacity(self.problems); models.len()];
                let mut sums = vec![PointSums::default(); models.len()];
                let mut counts = self.first_counts();
                let mut correct = vec![0; models.len()];
                for problem in 0.. {
                    if counts.iter().all(|count| *count <= problem) {
                        break;
                    }
                    let shift = if rng.random() < 0.5 { 0.7 } else { -0.7 };
                    for (model, known) in self.known.iter().enumerate() {
                        if counts[model] <= problem {
                            continue;
                        }
                        let known = known[task] + shift * known[task].min(1.0 - known[task]);
                        let trials: Vec<(Outcome, f64)> =
                            (0..self.samples).map(|_| (self.trial(rng, known), self.guess)).collect();
                        let value = |(outcome, guess): &(Outcome, f64)| match outcome {
                            Outcome::Correct => 1.0,
                            Outcome::Incorrect => -guess / (1.0 - guess),
                            Outcome::Truncated => 0.0,
                        };
                        values[model].push(trials.iter().map(value).sum::<f64>() / self.samples as f64);
                        sums[model].add_problem(&trials);
                        correct[model] += u64::from(trials[0].0 == Outcome::Correct);
                        if let Some(rule) = self.stop_rule
                            && problem + 1 == counts[model]
                        {
                            counts[model] =
                                rule.next_count(problem + 1, correct[model]).unwrap_or(problem + 1);
                        }
                    }
                }
                for ((model, values), sums) in models.iter_mut().zip(values).zip(sums) {
                    model.values[task].push(values);
                    model.points[task].push(WeightedPoint { sums, weight: 1.0, stop_rule: self.stop_rule });
                }
            }
        }
        models
    }

    /// How many problems of a point each model answers, or its first round.
    fn first_counts(&self) -> Vec<u64> {
        let mut counts = vec![self.problems as u64; self.known.len()];
        counts[0] += self.only_first as u64;
        match self.stop_rule.and_then(|rule| rule.next_count(0, 0)) {
            Some(first) => vec![first; self.known.len()],
            None => counts,
        }
    }

    fn trial(&self, rng: &mut PyRandom, known: f64) -> Outcome {
        if self.truncation > 0.0 && rng.random() < self.truncation {
            Outcome::Truncated
        } else if rng.random() < known || (self.guess > 0.0 && rng.random() < self.guess) {
            Outcome::Correct
        } else {
            Outcome::Incorrect
        }
    }

    /// Tests the first two models on each of `boards` boards.
    pub(crate) fn level(&self, boards: u32, seed: u32) -> Level {
        let [a, b] = [0, 1].map(|model| 1000.0 * self.ln_score(model).exp());
        let contains = |found: ScoreContrast, truth: f64| {
            is(found.ci_low - 1e-9 <= truth && truth <= found.ci_high + 1e-9)
        };
        let means = self.blocks(boards, seed, |board| {
            let test = compare(&board[0], &board[1]);
            let [score_a, score_b] = [&board[0], &board[1]].map(|model| {
                let tasks: Vec<_> = model
                    .points
                    .iter()
                    .map(|points| effective_task(points).expect("valid sums").expect("trials"))
                    .collect();
                likelihood_score(&tasks, Confidence::P95).expect("valid tasks")
            });
            let difference = test.score_difference(&score_a, &score_b);
            [
                is(test.p_value < 0.05),
                is(test.p_value < 0.001),
                contains(difference, a - b),
                contains(test.score_ratio(&score_a, &score_b), a / b),
                difference.ci_high - difference.ci_low,
            ]
        });
        let [at_5_percent, at_01_percent, difference, ratio, width] = means;
        Level { at_5_percent, at_01_percent, difference, ratio, width }
    }

    /// Proportions of boards with a wrong verdict after Holm's correction, and with all true ranks in their ranges.
    pub(crate) fn ranks(&self, boards: u32, seed: u32) -> [f64; 2] {
        let truth: Vec<f64> = (0..self.known.len()).map(|model| self.ln_score(model)).collect();
        let is_better = |a: usize, b: usize| truth[a] > truth[b] + 1e-12;
        self.blocks(boards, seed, |board| {
            let mut pairs = Vec::new();
            let mut p_values = Vec::new();
            for a in 0..board.len() {
                for b in a + 1..board.len() {
                    let test = compare(&board[a], &board[b]);
                    pairs.push(if test.difference > 0.0 { (a, b) } else { (b, a) });
                    p_values.push(test.p_value);
                }
            }
            let adjusted = holm(&p_values).expect("p-values");
            let verdicts: Vec<(usize, usize)> =
                pairs.iter().zip(adjusted).filter(|(_, p)| *p < 0.05).map(|(pair, _)| *pair).collect();
            let is_wrong = verdicts.iter().any(|&(better, worse)| !is_better(better, worse));
            let models = board.len();
            let contains_all = rank_ranges(models, &verdicts).iter().enumerate().all(|(model, range)| {
                let better = (0..models).filter(|&other| is_better(other, model)).count();
                let worse = (0..models).filter(|&other| is_better(model, other)).count();
                range.best <= 1 + better && models - worse <= range.worst
            });
            [is(is_wrong), is(contains_all)]
        })
    }

    /// Means over boards of some values. Streams are split by blocks, so that the number of threads changes nothing.
    fn blocks<const N: usize>(
        &self,
        boards: u32,
        seed: u32,
        check: impl Fn(&[Responses]) -> [f64; N] + Sync,
    ) -> [f64; N] {
        const BLOCK: u32 = 100;
        let sums: Vec<[f64; N]> = (0..boards.div_ceil(BLOCK))
            .into_par_iter()
            .map(|block| {
                let mut rng = PyRandom::new((i128::from(seed) << 32) + i128::from(block));
                let mut sums = [0.0; N];
                for _ in 0..BLOCK.min(boards - block * BLOCK) {
                    let found = check(&self.board(&mut rng));
                    for (sum, found) in sums.iter_mut().zip(found) {
                        *sum += found;
                    }
                }
                sums
            })
            .collect();
        std::array::from_fn(|i| sums.iter().map(|sums| sums[i]).sum::<f64>() / f64::from(boards))
    }
}

fn is(condition: bool) -> f64 {
    f64::from(u8::from(condition))
}

fn compare(a: &Responses, b: &Responses) -> PairedScoreTest {
    let tasks: Vec<Vec<PairedPoint>> = a
        .values
        .iter()
        .zip(&b.values)
        .map(|(a, b)| {
            let points = a.iter().zip(b);
            points
                .map(|(a, b)| {
                    PairedPoint::from_pairs(1.0, a.iter().copied().zip(b.iter().copied()))
                        .with_answered(a.len() as u64, b.len() as u64)
                })
                .collect()
        })
        .collect();
    paired_score_test(&tasks).expect("valid values").expect("shared problems")
}

/// Skills of twelve tasks.
pub(crate) const MIXED: [f64; 12] = [0.15, 0.25, 0.35, 0.45, 0.5, 0.6, 0.65, 0.7, 0.8, 0.85, 0.9, 0.95];

/// Eleven models: all equal, or in steps with ties.
pub(crate) fn eleven_models(step: f64) -> PairedDesign {
    let known = (0..11)
        .map(|model| {
            let shift = step * f64::from(model / 2);
            MIXED.iter().map(|known| (known * (1.0 - shift)).max(0.02)).collect()
        })
        .collect();
    let pair = PairedDesign::two_models(&MIXED, |task| task, 0.25, 0.05, (3, 8));
    PairedDesign { known, ..pair }
}

/// What the paired test of two models with the same score should do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Expected {
    /// The nominal level.
    Nominal,
    /// At most the nominal level.
    Protected,
    /// A level that is known to be wrong.
    WeakSpot,
}

/// Two models with the same score.
pub(crate) struct LevelDesign {
    pub(crate) name: &'static str,
    pub(crate) design: PairedDesign,
    pub(crate) expected: Expected,
    /// Simulated boards.
    pub(crate) boards: u32,
}

impl LevelDesign {
    /// The row of `docs/statistics.md`.
    pub(crate) fn row(&self, level: &Level) -> String {
        format!(
            "| {} | {:.2} | {:.3} | {:.1} |",
            self.name,
            100.0 * level.at_5_percent,
            100.0 * level.at_01_percent,
            100.0 * level.ratio,
        )
    }

    /// Whether 4 to 6 % of the p-values are below 5 % and 0.05 to 0.2 % below 0.1 %, or less, and the intervals cover 92 to
    /// 99 %.
    pub(crate) fn is_within_limits(&self, level: &Level) -> bool {
        let [from, to] = match self.expected {
            Expected::Nominal => [[0.04, 0.0005], [0.06, 0.002]],
            Expected::Protected => [[0.0; 2], [0.06, 0.002]],
            Expected::WeakSpot => [[0.0; 2], [1.0; 2]],
        };
        (from[0]..=to[0]).contains(&level.at_5_percent)
            && (from[1]..=to[1]).contains(&level.at_01_percent)
            && [level.difference, level.ratio].iter().all(|coverage| (0.92..=0.99).contains(coverage))
    }
}

/// The designs of the table in `docs/statistics.md`; the seed of a design is its place.
pub(crate) fn level_designs() -> Vec<LevelDesign> {
    use Expected::{Nominal, Protected, WeakSpot};
    let equal = |known: &[f64], guess, truncation| {
        PairedDesign::two_models(known, |task| task, guess, truncation, (3, 8))
    };
    let reversed =
        |guess, truncation, size| PairedDesign::two_models(&MIXED, |task| 11 - task, guess, truncation, size);
    let shifted = PairedDesign::two_models(&MIXED, |task| (task + 1) % 12, 0.25, 0.1, (3, 8));
    let by_rule = |round, margin, max_count, design| {
        let rule = StopRule { round, margin, max_count };
        PairedDesign { stop_rule: Some(rule), ..design }
    };
    let short_rounds = |design| by_rule(8, 0.15, 48, design);
    let all = 200_000;
    [
        ("equal models, free-form", equal(&MIXED, 0.0, 0.0), Nominal, all),
        ("equal models, 4 options, truncation 0.1", equal(&MIXED, 0.25, 0.1), Nominal, all),
        ("equal models, strong", equal(&[0.95; 12], 0.0, 0.0), Nominal, all),
        ("equal scores, reversed profiles, free-form", reversed(0.0, 0.0, (3, 8)), Protected, all),
        ("equal scores, reversed profiles, 4 options", reversed(0.25, 0.1, (8, 12)), Nominal, all),
        ("equal scores, shifted profiles, 4 options", shifted, Nominal, all),
        (
            "equal models, rounds=8 margin=0.15 max=48",
            short_rounds(equal(&MIXED, 0.0, 0.0)),
            WeakSpot,
            20_000,
        ),
        (
            "equal scores, reversed profiles, rounds=8 margin=0.15 max=48",
            short_rounds(reversed(0.0, 0.0, (3, 8))),
            WeakSpot,
            20_000,
        ),
        (
            "equal models, rounds=16 margin=0.07 max=256",
            by_rule(16, 0.07, 256, equal(&MIXED, 0.0, 0.0)),
            WeakSpot,
            20_000,
        ),
    ]
    .map(|(name, design, expected, boards)| LevelDesign { name, design, expected, boards })
    .into()
}

/// The boards of eleven models in `docs/statistics.md`.
pub(crate) const RANK_DESIGNS: [(&str, f64); 3] =
    [("all equal", 0.0), ("pairs of equals, small steps", 0.03), ("pairs of equals, large steps", 0.1)];

/// The row of `docs/statistics.md` on boards of eleven models.
pub(crate) fn rank_row(name: &str, [wrong, contained]: [f64; 2]) -> String {
    format!("| {name} | {:.2} | {:.2} |", 100.0 * wrong, 100.0 * contained)
}

/// Whether verdicts on equal models are wrong on at most 6 % of the boards, and true ranks are in their ranges on 95 %.
pub(crate) fn ranks_are_within_limits([wrong, contained]: [f64; 2]) -> bool {
    wrong <= 0.06 && contained >= 0.95
}
