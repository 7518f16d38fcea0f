//! Checks of generated problems: is a point reproducible, are its prompts distinct, can answers be had without reasoning, and do
//! its parameters change anything?
//!
//! Works on problems alone (prompt, target, options, guess probability), so any [`Source`] of problems can be checked; built-in
//! tasks add tricks that are known for them.
//!
//! # Blind guessers
//! A blind guesser answers from the surface of a prompt: always the same answer, a position among the options, what is mentioned
//! first, last or most, a number of the text, a logistic model of such features, a trick. It may learn from the first half of a
//! point's problems and is tested on the second half, where its accuracy is compared with the stated guess probability plus
//! [`MARGIN`]: an exact one-sided binomial test, corrected by Holm's method for all points and guessers. Problems with options
//! and free-form problems of a point are tested separately.

mod binomial;
mod guessers;
mod logit;
mod settings;
mod surface;
mod tricks;

use std::collections::{BTreeMap, HashMap, HashSet};

use reasonscape_stats::multiple_testing::holm;
use reasonscape_stats::{Confidence, wilson};
use serde::Serialize;

use self::guessers::Tally;
use self::settings::Profile;
use crate::{Json, Params, PyRandom, Task, Test, TestStream, canonical_json};

/// How far a blind guesser may exceed the stated guess probability.
pub const MARGIN: f64 = 0.05;

/// The level of the tests, after Holm's correction.
pub const LEVEL: f64 = 0.05;

/// Problems that two parameter settings must share under the same random numbers to count as one setting.
const COMMON_PROBLEMS: usize = 24;

/// One problem, as a checker and a model see it, with its answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Problem {
    /// The prompt.
    pub prompt: String,
    /// The correct answer.
    pub target: String,
    /// The options in the order shown; empty for free-form problems.
    pub options: Vec<String>,
    /// The stated probability that a guess is correct.
    pub guess: f64,
}

impl From<Test> for Problem {
    fn from(test: Test) -> Self {
        let guess = test.guess();
        Self { prompt: test.prompt, target: test.target, options: test.options, guess }
    }
}

/// Which random numbers problems are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// The point's own stream under this global seed.
    Seed(i64),
    /// The same random numbers at every point, to see whether two settings differ.
    Common,
}

/// Something that makes problems: a point of a task.
pub trait Source {
    /// The task's name, which selects its tricks.
    fn task(&self) -> &str;

    /// The task's version.
    fn version(&self) -> u32;

    /// The parameters.
    fn params(&self) -> Json;

    /// The first problems of a stream; fewer if it has fewer, none if it has no such stream.
    fn problems(&self, stream: Stream, count: usize) -> Vec<Problem>;
}

/// A point of a task of this program.
#[derive(Debug, Clone, Copy)]
pub struct TaskPoint<'a> {
    /// The task.
    pub task: &'a dyn Task,
    /// Its parameters.
    pub params: &'a Params,
}

impl Source for TaskPoint<'_> {
    fn task(&self) -> &str {
        self.task.family()
    }

    fn version(&self) -> u32 {
        self.task.version()
    }

    fn params(&self) -> Json {
        self.params.to_json()
    }

    fn problems(&self, stream: Stream, count: usize) -> Vec<Problem> {
        match stream {
            Stream::Seed(seed) => {
                TestStream::new(self.task, self.params, seed).take(count).map(Problem::from).collect()
            }
            Stream::Common if self.task.listed().is_some() => Vec::new(),
            Stream::Common => {
                let mut rng = PyRandom::new(24);
                (0..count).map(|_| self.task.generate(self.params, &mut rng).into()).collect()
            }
        }
    }
}

/// How often a guesser was right at a point, or over all points of a task.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GuesserCheck {
    /// Its name.
    pub guesser: String,
    /// Whether it is blind. One that does a part of the work is reported without a limit.
    pub is_blind: bool,
    /// Whether the problems have options.
    pub with_options: bool,
    /// Problems it was tested on.
    pub problems: usize,
    /// Proportion it answered correctly.
    pub accuracy: f64,
    /// Its 95 % confidence interval (Wilson).
    pub accuracy_interval: [f64; 2],
    /// The mean stated guess probability of these problems.
    pub stated: f64,
    /// Accuracy minus the stated guess probability.
    pub excess: f64,
    /// The p-value of "no better than the stated guess probability plus the margin".
    pub p_value: f64,
    /// The p-value after Holm's correction for all points and guessers; `None` for a guesser that isn't blind.
    pub adjusted_p_value: Option<f64>,
}

impl GuesserCheck {
    fn new(tally: &Tally, with_options: bool, stated: f64) -> Self {
        let (correct, problems) = (tally.correct as f64, tally.problems as f64);
        let interval = wilson(correct, problems, Confidence::P95).expect("counts are finite");
        let accuracy = correct / problems;
        let limit = (stated + MARGIN).min(1.0);
        Self {
            guesser: tally.name.clone(),
            is_blind: !tally.does_part_of_the_work,
            with_options,
            problems: tally.problems,
            accuracy,
            accuracy_interval: [interval.low, interval.high],
            stated,
            excess: accuracy - stated,
            p_value: binomial::upper_tail(tally.correct as u64, tally.problems as u64, limit),
            adjusted_p_value: None,
        }
    }

    /// Whether the guesser exceeds the stated guess probability by more than the margin, beyond chance.
    pub fn is_leak(&self) -> bool {
        self.adjusted_p_value.is_some_and(|p| p < LEVEL)
    }

    fn correct(&self) -> usize {
        (self.accuracy * self.problems as f64).round() as usize
    }
}

/// What was found at one point.
#[derive(Debug, Clone, Serialize)]
pub struct PointCheck {
    /// The task.
    pub task: String,
    /// Its version.
    pub version: u32,
    /// The parameters, as canonical JSON.
    #[serde(serialize_with = "as_json")]
    pub params: String,
    /// Problems generated.
    pub problems: usize,
    /// Whether the same problems came twice.
    pub is_deterministic: bool,
    /// Whether 32 problems are the first 32 of 128.
    pub is_prefix: bool,
    /// Proportion of prompts that are distinct.
    pub distinct: f64,
    /// Proportion of the prompts that another seed gives as well.
    pub overlap: f64,
    /// How many different answers there are.
    pub answers: usize,
    /// The most common answer, and the proportion of problems it answers.
    pub most_common_answer: String,
    /// Proportion of problems that the most common answer answers.
    pub most_common_proportion: f64,
    /// The mean stated guess probability.
    pub stated_guess: f64,
    /// The blind guessers.
    pub guessers: Vec<GuesserCheck>,
    /// Seconds that generating a problem took; `None` without a clock.
    pub seconds_per_problem: Option<f64>,
    #[serde(skip)]
    profile: Profile,
    /// The first problems under common random numbers, as a hash; equal for equal settings.
    #[serde(skip)]
    common: Option<String>,
}

fn as_json<S: serde::Serializer>(text: &str, serializer: S) -> Result<S::Ok, S::Error> {
    serde_json::from_str::<serde_json::Value>(text).map_err(serde::ser::Error::custom)?.serialize(serializer)
}

impl PointCheck {
    /// Generates problems of a point and checks them. `clock` gives the seconds since some moment, to measure speed.
    pub fn new(source: &dyn Source, count: usize, seed: i64, clock: Option<&dyn Fn() -> f64>) -> Self {
        let start = clock.map(|clock| clock());
        let problems = source.problems(Stream::Seed(seed), count);
        let seconds = clock.zip(start).map(|(clock, start)| clock() - start);
        let many = source.problems(Stream::Seed(seed), 128.min(count));
        let few = source.problems(Stream::Seed(seed), 32.min(count));
        let others: HashSet<String> = source
            .problems(Stream::Seed(seed + 1), count)
            .into_iter()
            .map(|problem| problem.prompt)
            .collect();
        let prompts: HashSet<&str> = problems.iter().map(|problem| problem.prompt.as_str()).collect();
        let overlap = prompts.iter().filter(|prompt| others.contains(**prompt)).count();
        let total = problems.len().max(1) as f64;
        let mut answers: BTreeMap<&str, usize> = BTreeMap::new();
        for problem in &problems {
            *answers.entry(&problem.target).or_default() += 1;
        }
        let most_common = answers.iter().max_by_key(|(_, times)| **times);
        let common = source.problems(Stream::Common, COMMON_PROBLEMS);
        Self {
            task: source.task().to_owned(),
            version: source.version(),
            params: canonical_json(&source.params()),
            problems: problems.len(),
            is_deterministic: many[..] == problems[..many.len()],
            is_prefix: few[..] == many[..few.len()],
            distinct: prompts.len() as f64 / total,
            overlap: overlap as f64 / total,
            answers: answers.len(),
            most_common_answer: most_common.map_or_else(String::new, |(answer, _)| (*answer).to_owned()),
            most_common_proportion: most_common.map_or(0.0, |(_, times)| *times as f64 / total),
            stated_guess: problems.iter().map(|problem| problem.guess).sum::<f64>() / total,
            guessers: guessers(source, &problems),
            seconds_per_problem: seconds.map(|seconds| seconds / total),
            profile: Profile::new(&problems),
            common: (!common.is_empty()).then(|| settings::fingerprint(&common)),
        }
    }

    fn is_blind_elsewhere(&self, guesser: &GuesserCheck) -> bool {
        self.guessers.iter().any(|other| other.is_blind && other.guesser == guesser.guesser)
    }

    /// The blind guesser with the largest excess.
    pub fn worst(&self) -> Option<&GuesserCheck> {
        worst(&self.guessers)
    }
}

fn worst(guessers: &[GuesserCheck]) -> Option<&GuesserCheck> {
    guessers.iter().filter(|guesser| guesser.is_blind).max_by(|a, b| a.excess.total_cmp(&b.excess))
}

/// The guessers on the problems with options and on those without.
fn guessers(source: &dyn Source, problems: &[Problem]) -> Vec<GuesserCheck> {
    // Version 1 has baselines as well, but never said so.
    let baseline =
        if source.version() == 1 { None } else { tricks::baseline(source.task(), &source.params()) };
    let mut found = Vec::new();
    for with_options in [true, false] {
        let kind: Vec<&Problem> =
            problems.iter().filter(|problem| problem.options.is_empty() != with_options).collect();
        let held_out = &kind[kind.len() / 2..];
        let stated = held_out.iter().map(|problem| problem.guess).sum::<f64>() / held_out.len().max(1) as f64;
        let mut tallies = guessers::test(source.task(), &kind);
        for tally in &mut tallies {
            tally.does_part_of_the_work |= baseline == Some(tally.name.as_str());
        }
        found.extend(tallies.iter().map(|tally| GuesserCheck::new(tally, with_options, stated)));
    }
    found
}

/// What was found for a task over all its points.
#[derive(Debug, Clone, Serialize)]
pub struct TaskCheck {
    /// The task.
    pub task: String,
    /// Its version.
    pub version: u32,
    /// Number of points.
    pub points: usize,
    /// Points at which the same problems didn't come again, or at which few problems weren't the first of many.
    pub irreproducible: usize,
    /// The smallest proportion of distinct prompts at a point.
    pub min_distinct: f64,
    /// The largest proportion of prompts that another seed gives as well.
    pub max_overlap: f64,
    /// The largest proportion of problems that one answer answers, at a point.
    pub most_common_proportion: f64,
    /// Points at which a blind guesser exceeds the margin.
    pub leaking_points: usize,
    /// The blind guesser with the largest excess at a point.
    pub worst: Option<GuesserCheck>,
    /// The parameters of that point.
    #[serde(serialize_with = "as_json")]
    pub worst_params: String,
    /// The guessers over all points together.
    pub pooled: Vec<GuesserCheck>,
    /// Groups of points whose settings generate the same problems from the same random numbers.
    pub same_problems: Vec<Vec<String>>,
    /// Pairs of points that differ in one parameter, and between whose problems no difference was found.
    pub no_difference: Vec<[String; 2]>,
    /// Problems generated per second, over all points; `None` without a clock.
    pub problems_per_second: Option<f64>,
}

/// The checks of all points and tasks.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// One entry per task, in the order of the points.
    pub tasks: Vec<TaskCheck>,
    /// One entry per point.
    pub points: Vec<PointCheck>,
}

impl Report {
    /// Corrects the tests for their number and sums up the points of each task.
    pub fn new(mut points: Vec<PointCheck>) -> Self {
        correct_p_values(points.iter_mut().flat_map(|point| &mut point.guessers));
        let mut order: Vec<(&str, u32)> = Vec::new();
        let mut by_task: HashMap<(&str, u32), Vec<&PointCheck>> = HashMap::new();
        for point in &points {
            let key = (point.task.as_str(), point.version);
            by_task.entry(key).or_insert_with(|| {
                order.push(key);
                Vec::new()
            });
            by_task.entry(key).or_default().push(point);
        }
        let mut tasks: Vec<TaskCheck> = order.iter().map(|key| TaskCheck::new(&by_task[key])).collect();
        correct_p_values(tasks.iter_mut().flat_map(|task| &mut task.pooled));
        Self { tasks, points }
    }

    /// What is wrong, one sentence each.
    pub fn failures(&self) -> Vec<String> {
        let mut failures = Vec::new();
        for point in &self.points {
            let name = format!("{}@{} {}", point.task, point.version, point.params);
            if !point.is_deterministic {
                failures.push(format!("{name}: the same seed gave other problems the second time"));
            }
            if !point.is_prefix {
                failures.push(format!("{name}: 32 problems aren't the first 32 of 128"));
            }
            if point.distinct < 1.0 {
                failures
                    .push(format!("{name}: {:.1} % of the prompts repeat", 100.0 * (1.0 - point.distinct)));
            }
            // The worst guesser stands for the others, which often share its reason.
            let leaks: Vec<GuesserCheck> =
                point.guessers.iter().filter(|guesser| guesser.is_leak()).cloned().collect();
            if let Some(leak) = worst(&leaks) {
                failures.push(format!(
                    "{name}: blind guesser `{}` answers {:.1} % correctly [{:.1}, {:.1}], stated {:.1} %",
                    leak.guesser,
                    100.0 * leak.accuracy,
                    100.0 * leak.accuracy_interval[0],
                    100.0 * leak.accuracy_interval[1],
                    100.0 * leak.stated
                ));
            }
        }
        for task in &self.tasks {
            for group in &task.same_problems {
                failures.push(format!(
                    "{}@{}: the same problems at {}",
                    task.task,
                    task.version,
                    group.join(" and ")
                ));
            }
        }
        failures
    }
}

/// Holm's correction over all blind guessers.
fn correct_p_values<'a>(guessers: impl Iterator<Item = &'a mut GuesserCheck>) {
    let blind: Vec<&mut GuesserCheck> = guessers.filter(|guesser| guesser.is_blind).collect();
    let p_values: Vec<f64> = blind.iter().map(|guesser| guesser.p_value).collect();
    let adjusted = holm(&p_values).expect("tails are probabilities");
    for (guesser, adjusted) in blind.into_iter().zip(adjusted) {
        guesser.adjusted_p_value = Some(adjusted);
    }
}

impl TaskCheck {
    fn new(points: &[&PointCheck]) -> Self {
        let first = points[0];
        let worst_point = points
            .iter()
            .filter_map(|point| point.worst().map(|worst| (point, worst)))
            .max_by(|a, b| a.1.excess.total_cmp(&b.1.excess));
        let seconds: Option<f64> =
            points.iter().map(|p| p.seconds_per_problem.map(|seconds| seconds * p.problems as f64)).sum();
        let problems: usize = points.iter().map(|point| point.problems).sum();
        let largest = |value: fn(&PointCheck) -> f64| points.iter().map(|p| value(p)).fold(0.0, f64::max);
        Self {
            task: first.task.clone(),
            version: first.version,
            points: points.len(),
            irreproducible: points.iter().filter(|p| !(p.is_deterministic && p.is_prefix)).count(),
            min_distinct: points.iter().map(|p| p.distinct).fold(1.0, f64::min),
            max_overlap: largest(|p| p.overlap),
            most_common_proportion: largest(|p| p.most_common_proportion),
            leaking_points: points.iter().filter(|p| p.guessers.iter().any(GuesserCheck::is_leak)).count(),
            worst: worst_point.map(|(_, worst)| worst.clone()),
            worst_params: worst_point.map_or_else(|| "null".to_owned(), |(point, _)| point.params.clone()),
            pooled: pool(points),
            same_problems: settings::same_problems(points),
            no_difference: settings::without_difference(points),
            problems_per_second: seconds.map(|seconds| problems as f64 / seconds.max(1e-9)),
        }
    }
}

/// The guessers over all points together.
fn pool(points: &[&PointCheck]) -> Vec<GuesserCheck> {
    let mut order: Vec<(&str, bool)> = Vec::new();
    // The tally, and the sum of the stated guess probabilities.
    let mut sums: HashMap<(&str, bool), (Tally, f64)> = HashMap::new();
    for guesser in points.iter().flat_map(|point| &point.guessers) {
        // A guesser that does all of the work at a baseline counts at the other points only.
        let is_baseline = !guesser.is_blind && points.iter().any(|point| point.is_blind_elsewhere(guesser));
        if is_baseline {
            continue;
        }
        let key = (guesser.guesser.as_str(), guesser.with_options);
        let (tally, stated) = sums.entry(key).or_insert_with(|| {
            order.push(key);
            let name = guesser.guesser.clone();
            (Tally { name, does_part_of_the_work: !guesser.is_blind, correct: 0, problems: 0 }, 0.0)
        });
        tally.correct += guesser.correct();
        tally.problems += guesser.problems;
        *stated += guesser.stated * guesser.problems as f64;
    }
    order
        .iter()
        .map(|key| {
            let (tally, stated) = &sums[key];
            GuesserCheck::new(tally, key.1, stated / tally.problems.max(1) as f64)
        })
        .collect()
}
