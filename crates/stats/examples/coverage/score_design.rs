//! Simulated evaluations with a known ReasonScore, and how often each method's interval contains it.

use rayon::prelude::*;
use reasonscape_stats::likelihood::{
    EffectiveTask, PointSums, StopRule, WeightedPoint, effective_task, likelihood_score,
};
use reasonscape_stats::random::PyRandom;
use reasonscape_stats::score::{Bootstrap, TaskBounds, reason_scores};
use reasonscape_stats::{Confidence, Counters, Mode, Outcome};

/// How the points of a task are sampled.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Sampling {
    /// The same number of problems at each point.
    Fixed { points: usize, problems: u64 },
    /// The same, with several samples per problem; half of the problems are easier than their point, half harder.
    Repeated { points: usize, problems: u64, samples: usize },
    /// Several samples per problem, of which some are never answered correctly: 0.8 times as many as the model gets wrong.
    Unsolvable { points: usize, problems: u64, samples: usize },
    /// Rounds until a margin is reached.
    Adaptive { points: usize, rule: StopRule },
    /// As `Fixed`, but a random set of points has no data.
    Incomplete { points: usize, problems: u64, missing: usize },
}

impl Sampling {
    fn points(self) -> usize {
        match self {
            Self::Fixed { points, .. }
            | Self::Repeated { points, .. }
            | Self::Unsolvable { points, .. }
            | Self::Adaptive { points, .. }
            | Self::Incomplete { points, .. } => points,
        }
    }

    pub(crate) fn describe(self) -> String {
        match self {
            Self::Fixed { points: 1, problems } => format!("{problems} problems at one point"),
            Self::Fixed { points, problems } => format!("{points} points of {problems}"),
            Self::Repeated { points: 1, problems, samples } => {
                format!("{problems} problems at one point, {samples} samples each")
            }
            Self::Repeated { points, problems, samples } => {
                format!("{points} points of {problems}, {samples} samples each")
            }
            Self::Unsolvable { points, problems, samples } => {
                format!(
                    "{points} points of {problems}, {samples} samples each, problems that are never solved"
                )
            }
            Self::Adaptive { points, rule } => format!("{points} points, {rule}"),
            Self::Incomplete { points, problems, missing } => {
                format!("{points} points of {problems}, {missing} without data")
            }
        }
    }
}

/// One cell of the study: equal tasks, unless some have no skill.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct ScoreDesign {
    /// Probability that a completed trial knows the answer, at the middle of the points.
    pub(crate) p: f64,
    /// Half the range over points of the log-odds of `p`.
    pub(crate) spread: f64,
    /// Probability that a trial is truncated.
    pub(crate) truncation: f64,
    /// Guess probability at the points in turn.
    pub(crate) guesses: &'static [f64],
    pub(crate) tasks: usize,
    /// How many of the tasks the model can't do at all.
    pub(crate) unskilled: usize,
    pub(crate) sampling: Sampling,
}

/// Results of one design.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Coverage {
    /// Proportion of the likelihood intervals that contain the true score.
    pub(crate) likelihood: f64,
    /// The same for `center ± margin` of v2.
    pub(crate) v2: f64,
    /// Mean width of the likelihood interval, in points of the score.
    pub(crate) width: f64,
}

/// One simulated evaluation: by task, the points and the pooled counters.
type Board = Vec<(Vec<WeightedPoint>, Counters)>;

impl ScoreDesign {
    /// Whether the model knows the answer to a completed trial, by point.
    fn known(&self, is_skilled: bool) -> Vec<f64> {
        let points = self.sampling.points();
        (0..points)
            .map(|i| {
                let place = if points > 1 { 2.0 * i as f64 / (points - 1) as f64 - 1.0 } else { 0.0 };
                let log_odds = (self.p / (1.0 - self.p)).ln() + self.spread * place;
                if is_skilled { 1.0 / (1.0 + (-log_odds).exp()) } else { 0.0 }
            })
            .collect()
    }

    /// The true score.
    pub(crate) fn truth(&self) -> f64 {
        let ln_s = |is_skilled| {
            let known = self.known(is_skilled);
            let mean = known.iter().sum::<f64>() / known.len() as f64;
            (mean * (1.0 - self.truncation)).max(0.01).ln()
        };
        let unskilled = self.unskilled as f64;
        let sum = ln_s(false) * unskilled + ln_s(true) * (self.tasks as f64 - unskilled);
        1000.0 * (sum / self.tasks as f64).exp()
    }

    fn trial(&self, rng: &mut PyRandom, known: f64, guess: f64) -> Outcome {
        if self.truncation > 0.0 && rng.random() < self.truncation {
            Outcome::Truncated
        } else if rng.random() < known || (guess > 0.0 && rng.random() < guess) {
            Outcome::Correct
        } else {
            Outcome::Incorrect
        }
    }

    fn point(&self, rng: &mut PyRandom, known: f64, guess: f64, pooled: &mut [f64; 4]) -> WeightedPoint {
        let mut sums = PointSums::default();
        let mut count = |outcome: Outcome| {
            pooled[0] += 1.0;
            pooled[1] += f64::from(u8::from(outcome == Outcome::Correct));
            pooled[2] += f64::from(u8::from(outcome == Outcome::Truncated));
            pooled[3] += if outcome == Outcome::Truncated { 0.0 } else { guess };
        };
        let mut stop_rule = None;
        match self.sampling {
            Sampling::Fixed { problems, .. } | Sampling::Incomplete { problems, .. } => {
                for _ in 0..problems {
                    let outcome = self.trial(rng, known, guess);
                    count(outcome);
                    sums.add_problem(&[(outcome, guess)]);
                }
            }
            Sampling::Repeated { problems, samples, .. } | Sampling::Unsolvable { problems, samples, .. } => {
                for _ in 0..problems {
                    let known = if matches!(self.sampling, Sampling::Unsolvable { .. }) {
                        let unsolvable = 0.8 * (1.0 - known);
                        if rng.random() < unsolvable { 0.0 } else { known / (1.0 - unsolvable) }
                    } else {
                        let shift = 0.8 * known.min(1.0 - known);
                        if rng.random() < 0.5 { known + shift } else { known - shift }
                    };
                    let mut trials = Vec::with_capacity(samples);
                    for _ in 0..samples {
                        let outcome = self.trial(rng, known, guess);
                        count(outcome);
                        trials.push((outcome, guess));
                    }
                    sums.add_problem(&trials);
                }
            }
            Sampling::Adaptive { rule, .. } => {
                stop_rule = Some(rule);
                let (mut sampled, mut correct) = (0, 0);
                while let Some(next) = rule.next_count(sampled, correct) {
                    for _ in sampled..next {
                        let outcome = self.trial(rng, known, guess);
                        count(outcome);
                        correct += u64::from(outcome == Outcome::Correct);
                        sums.add_problem(&[(outcome, guess)]);
                    }
                    sampled = next;
                }
            }
        }
        WeightedPoint { sums, weight: 1.0, stop_rule }
    }

    fn board(&self, rng: &mut PyRandom) -> Board {
        let known = [self.known(true), self.known(false)];
        (0..self.tasks)
            .map(|task| {
                let points = self.sampling.points();
                let missing: Vec<usize> = match self.sampling {
                    Sampling::Incomplete { missing, .. } => {
                        rng.sample(&(0..points).collect::<Vec<_>>(), missing)
                    }
                    _ => Vec::new(),
                };
                let mut pooled = [0.0; 4];
                let points = (0..points)
                    .map(|i| {
                        if missing.contains(&i) {
                            return WeightedPoint {
                                sums: PointSums::default(),
                                weight: 1.0,
                                stop_rule: None,
                            };
                        }
                        let known = known[usize::from(task < self.unskilled)][i];
                        self.point(rng, known, self.guesses[i % self.guesses.len()], &mut pooled)
                    })
                    .collect();
                let [n, n_e, n_t, g] = pooled;
                (points, Counters::new(n, n_e, n_t, g).expect("counts that fit"))
            })
            .collect()
    }

    /// Coverage in `repeats` evaluations. Streams are split by blocks, so that the number of threads changes nothing.
    pub(crate) fn simulate(&self, repeats: u32, seed: u32) -> Coverage {
        const BLOCK: u32 = 50;
        let truth = self.truth();
        let contains = |low: f64, high: f64| f64::from(u8::from(low - 1e-9 <= truth && truth <= high + 1e-9));
        let blocks: Vec<[f64; 3]> = (0..repeats.div_ceil(BLOCK))
            .into_par_iter()
            .map(|block| {
                let mut rng = PyRandom::new((i128::from(seed) << 32) + i128::from(block));
                let mut sums = [0.0; 3];
                let mut bounds: Vec<Vec<TaskBounds>> = Vec::new();
                for _ in 0..BLOCK.min(repeats - block * BLOCK) {
                    let board = self.board(&mut rng);
                    let tasks: Vec<EffectiveTask> = board
                        .iter()
                        .map(|(points, _)| effective_task(points).expect("valid sums").expect("trials"))
                        .collect();
                    let score = likelihood_score(&tasks, Confidence::P95).expect("valid tasks");
                    sums[0] += contains(score.ci_low, score.ci_high);
                    sums[2] += score.ci_high - score.ci_low;
                    let estimate = |counters| Mode::C_P.estimate(counters, Confidence::P95).into();
                    bounds.push(board.iter().map(|(_, counters)| estimate(counters)).collect());
                }
                for score in reason_scores(&bounds, Bootstrap::default()).expect("tasks and draws") {
                    sums[1] += contains(score.ci_low, score.ci_high);
                }
                sums
            })
            .collect();
        let mean = |i: usize| blocks.iter().map(|sums| sums[i]).sum::<f64>() / f64::from(repeats);
        Coverage { likelihood: mean(0), v2: mean(1), width: mean(2) }
    }
}

const FREE_FORM: &[f64] = &[0.0];
const FOUR_OPTIONS: &[f64] = &[0.25];

/// The grid whose coverage is asserted.
pub(crate) fn grid() -> Vec<ScoreDesign> {
    let mut samplings = vec![
        Sampling::Fixed { points: 3, problems: 8 },
        Sampling::Fixed { points: 8, problems: 12 },
        Sampling::Repeated { points: 4, problems: 8, samples: 8 },
    ];
    for rule in [(16, 0.07, 256), (10, 0.1, 100)] {
        let rule = StopRule { round: rule.0, margin: rule.1, max_count: rule.2 };
        samplings.push(Sampling::Adaptive { points: 4, rule });
    }
    samplings.push(Sampling::Repeated { points: 8, problems: 12, samples: 4 });
    let mut designs = Vec::new();
    for sampling in samplings {
        for guesses in [FREE_FORM, FOUR_OPTIONS] {
            for truncation in [0.0, 0.2] {
                // Truncation and spread are crossed where points have a fixed size, and vary together elsewhere.
                let is_crossed = matches!(sampling, Sampling::Fixed { .. });
                for spread in [0.0, 2.0] {
                    if !is_crossed && (truncation > 0.0) != (spread > 0.0) {
                        continue;
                    }
                    for p in [0.2, 0.5, 0.8, 0.95] {
                        for tasks in [1, 12] {
                            designs.push(ScoreDesign {
                                p,
                                spread,
                                truncation,
                                guesses,
                                tasks,
                                unskilled: 0,
                                sampling,
                            });
                        }
                    }
                }
            }
        }
    }
    designs
}

/// Designs in which the interval is known to be too short or too long.
pub(crate) fn weak_spots() -> Vec<(&'static str, ScoreDesign)> {
    let base = ScoreDesign {
        p: 0.8,
        spread: 0.0,
        truncation: 0.0,
        guesses: FREE_FORM,
        tasks: 12,
        unskilled: 0,
        sampling: Sampling::Fixed { points: 1, problems: 24 },
    };
    let varying: &[f64] = &[0.5, 0.25, 0.2];
    let three_points = Sampling::Fixed { points: 3, problems: 8 };
    vec![
        ("nearly at the floor", ScoreDesign { p: 0.02, ..base }),
        (
            "eight trials per task",
            ScoreDesign { sampling: Sampling::Fixed { points: 1, problems: 8 }, ..base },
        ),
        ("nearly perfect", ScoreDesign { p: 0.99, ..base }),
        (
            "nearly perfect, more trials",
            ScoreDesign { p: 0.99, sampling: Sampling::Fixed { points: 8, problems: 12 }, ..base },
        ),
        (
            "two options, near chance",
            ScoreDesign {
                p: 0.1,
                guesses: &[0.5],
                spread: 1.5,
                sampling: Sampling::Fixed { points: 8, problems: 32 },
                ..base
            },
        ),
        ("half of the tasks without skill", ScoreDesign { unskilled: 6, guesses: FOUR_OPTIONS, ..base }),
        (
            "no skill, options vary",
            ScoreDesign { unskilled: 12, guesses: varying, sampling: three_points, ..base },
        ),
        (
            "half without skill, options vary",
            ScoreDesign { unskilled: 6, guesses: varying, sampling: three_points, ..base },
        ),
        (
            "four problems of eight samples",
            ScoreDesign {
                p: 0.5,
                tasks: 1,
                sampling: Sampling::Repeated { points: 1, problems: 4, samples: 8 },
                ..base
            },
        ),
        (
            "four problems of eight samples",
            ScoreDesign { sampling: Sampling::Repeated { points: 1, problems: 4, samples: 8 }, ..base },
        ),
        (
            "few problems that are never solved",
            ScoreDesign {
                p: 0.95,
                tasks: 1,
                sampling: Sampling::Unsolvable { points: 4, problems: 8, samples: 8 },
                ..base
            },
        ),
        (
            "few problems that are never solved",
            ScoreDesign {
                p: 0.95,
                sampling: Sampling::Unsolvable { points: 4, problems: 8, samples: 8 },
                ..base
            },
        ),
        (
            "points without data",
            ScoreDesign {
                p: 0.5,
                spread: 2.5,
                sampling: Sampling::Incomplete { points: 8, problems: 12, missing: 3 },
                ..base
            },
        ),
    ]
}
