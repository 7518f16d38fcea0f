//! The skill of simulated models, and the true probabilities behind their answers.

use reasonscape_core::{Dimension, Params, Range, Task};

use crate::model_profiles::{MODEL_PROFILES, ModelProfile, Style, TASKS};
use crate::rng::hash;

/// Context length: the maximum number of tokens of a reply, and the limit of a request that sets none.
pub const CONTEXT_TOKENS: u32 = 16_384;

/// The kinds of dimension, in the order of [`ModelProfile::weights`].
const DIMENSIONS: [Dimension; 5] =
    [Dimension::Length, Dimension::Depth, Dimension::Interference, Dimension::Format, Dimension::MultiStep];

/// Token counts are uniform within this proportion of their mean.
const TOKEN_SPREAD: f64 = 0.4;

/// How difficult a point is, from the positions of its values in their ranges: 0 is the easy end, 1 the hard end.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Difficulty {
    /// Sum over the parameters of each dimension.
    by_dimension: [f64; 5],
    /// Mean over all parameters.
    mean: f64,
    ability_of_task: f64,
}

impl Difficulty {
    pub(crate) fn new(task: &dyn Task, params: &Params) -> Self {
        let mut by_dimension = [0.0; 5];
        for parameter in task.parameters() {
            let position = position(&parameter.range, parameter.name, params);
            for (sum, dimension) in by_dimension.iter_mut().zip(DIMENSIONS) {
                *sum += if dimension == parameter.dimension { position } else { 0.0 };
            }
        }
        let mean = by_dimension.iter().sum::<f64>() / task.parameters().len().max(1) as f64;
        Self { by_dimension, mean, ability_of_task: task_logit(&TASKS, task) }
    }
}

/// The position of a value in its range, from 0 to 1.
///
/// Integers are placed by the logarithm of their distance from the easy end, so that 4, 8, 16, 32 are about equal
/// steps. Real numbers and words are placed linearly.
fn position(range: &Range, name: &str, params: &Params) -> f64 {
    match range {
        Range::Int { low, high, .. } => {
            ((params.int(name) - low) as f64).ln_1p() / ((high - low) as f64).max(1.0).ln_1p()
        }
        Range::Real { low, high, .. } => (params.real(name) - low) / (high - low),
        Range::Word { words, .. } => {
            let index = words.iter().position(|word| *word == params.word(name)).unwrap_or(0);
            index as f64 / (words.len() - 1).max(1) as f64
        }
    }
}

fn task_logit(logits: &[(&str, f64)], task: &dyn Task) -> f64 {
    logits.iter().find(|(name, _)| *name == task.family()).map_or(0.0, |(_, logit)| *logit)
}

/// A simulated model: one with a profile, or one of the family `sim-pP` and `sim-pP-tT`.
///
/// ```
/// use reasonscape_simulator::SimulatedModel;
///
/// assert!(SimulatedModel::by_name("sim-strong").is_some());
/// assert!(SimulatedModel::by_name("sim-p0.85-t0.1").is_some());
/// assert!(SimulatedModel::by_name("sim-p1.5").is_none());
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SimulatedModel(Kind);

#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    ModelProfile(&'static ModelProfile),
    /// Knows every answer with one probability and is truncated with another, independently of each other and the task.
    Flat {
        knows: f64,
        truncated: f64,
    },
}

/// The true probabilities of a model at a point, under a token limit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GroundTruth {
    /// Knows the answer, even if the reply is truncated: [`true_accuracy`].
    pub knows: f64,
    /// Is truncated by the limit; independent of whether it knows the answer.
    pub cut: f64,
    /// Loops until the limit, given that it does not know the answer.
    pub loops: f64,
}

impl GroundTruth {
    /// The probability that a trial is truncated, by the limit or by a loop.
    pub fn truncated(&self) -> f64 {
        1.0 - (1.0 - self.cut) * (1.0 - (1.0 - self.knows) * self.loops)
    }

    /// The probability that a trial is completed and correct, if a random guess is correct with probability `guess`.
    pub fn correct(&self, guess: f64) -> f64 {
        (1.0 - self.cut) * (self.knows + (1.0 - self.knows) * (1.0 - self.loops) * guess)
    }

    /// The probability that the model knew the answer of a completed trial: what guess-corrected estimates over completed
    /// trials estimate.
    pub fn known_when_completed(&self) -> f64 {
        let failed = (1.0 - self.knows) * (1.0 - self.loops);
        self.knows / (self.knows + failed).max(f64::MIN_POSITIVE)
    }
}

impl SimulatedModel {
    /// Looks up a model by name.
    pub fn by_name(name: &str) -> Option<Self> {
        if let Some(profile) = MODEL_PROFILES.iter().find(|profile| profile.name == name) {
            return Some(Self(Kind::ModelProfile(profile)));
        }
        let numbers = name.strip_prefix("sim-p")?;
        let (knows, truncated) = numbers.split_once("-t").unwrap_or((numbers, "0"));
        let probability = |text: &str| text.parse().ok().filter(|number| (0.0..=1.0).contains(number));
        Some(Self(Kind::Flat { knows: probability(knows)?, truncated: probability(truncated)? }))
    }

    /// The name and description of every profiled model.
    pub fn profiles() -> impl Iterator<Item = (&'static str, &'static str)> {
        MODEL_PROFILES.iter().map(|profile| (profile.name, profile.description))
    }

    /// The true probabilities at a point, for a request with this token limit.
    pub fn truth(&self, task: &dyn Task, params: &Params, max_tokens: u32) -> GroundTruth {
        self.truth_at(&Difficulty::new(task, params), task, max_tokens)
    }

    pub(crate) fn truth_at(&self, difficulty: &Difficulty, task: &dyn Task, max_tokens: u32) -> GroundTruth {
        match self.0 {
            Kind::Flat { knows, truncated } => GroundTruth { knows, cut: truncated, loops: 0.0 },
            Kind::ModelProfile(profile) => {
                let limit = f64::from(max_tokens.min(CONTEXT_TOKENS)) / self.mean_tokens(difficulty);
                let cut = (1.0 + TOKEN_SPREAD - limit) / (2.0 * TOKEN_SPREAD);
                GroundTruth {
                    knows: profile.knows(difficulty, task),
                    cut: cut.clamp(0.0, 1.0),
                    loops: profile.loops,
                }
            }
        }
    }

    /// The number of tokens of a reply, for a uniform draw from 0 to 1.
    pub(crate) fn tokens(&self, difficulty: &Difficulty, draw: f64) -> u32 {
        let proportion = 1.0 - TOKEN_SPREAD + 2.0 * TOKEN_SPREAD * draw;
        (self.mean_tokens(difficulty) * proportion).ceil() as u32
    }

    fn mean_tokens(&self, difficulty: &Difficulty) -> f64 {
        match self.0 {
            Kind::Flat { .. } => 24.0,
            Kind::ModelProfile(profile) => profile.tokens * (profile.growth * difficulty.mean).exp(),
        }
    }

    /// A number that identifies the model, to seed its draws.
    pub(crate) fn identity(&self) -> u64 {
        match self.0 {
            Kind::ModelProfile(profile) => hash(profile.name.as_bytes(), 0),
            Kind::Flat { knows, truncated } => hash(&truncated.to_le_bytes(), knows.to_bits()),
        }
    }

    /// Whether truncation is drawn independently of the reply's length.
    pub(crate) fn is_cut_by_chance(&self) -> bool {
        matches!(self.0, Kind::Flat { .. })
    }

    pub(crate) fn thinks(&self) -> bool {
        matches!(self.0, Kind::ModelProfile(profile) if profile.thinks)
    }

    /// The confidence it always states, unless it states its true probability of being correct.
    pub(crate) fn stated_confidence(&self) -> Option<f64> {
        match self.0 {
            Kind::Flat { .. } => None,
            Kind::ModelProfile(profile) => profile.states,
        }
    }

    pub(crate) fn style(&self) -> Style {
        match self.0 {
            Kind::Flat { .. } => Style::Sentence,
            Kind::ModelProfile(profile) => profile.style,
        }
    }
}

impl ModelProfile {
    fn knows(&self, difficulty: &Difficulty, task: &dyn Task) -> f64 {
        let load: f64 =
            self.weights.iter().zip(difficulty.by_dimension).map(|(weight, sum)| weight * sum).sum();
        let ability = self.ability + task_logit(self.strengths, task) + difficulty.ability_of_task;
        1.0 / (1.0 + (load - ability).exp())
    }
}

/// The probability that a model knows the answer to a test of this point.
///
/// For a profiled model it is `logistic(ability - sum of weight x position)` over the parameters of the task, and it
/// decreases along every dimension. Whether a trial is correct also depends on truncation and on guessing:
/// [`SimulatedModel::truth`].
///
/// ```
/// use reasonscape_core::{Json, Params, tasks};
/// use reasonscape_simulator::{SimulatedModel, true_accuracy};
///
/// let task = tasks::by_name("sort").expect("a built-in task");
/// let at = |length| Params::new(task, &Json::parse(&format!(r#"{{"length": {length}}}"#)).unwrap()).unwrap();
/// let model = SimulatedModel::by_name("sim-cheap").expect("a profiled model");
/// assert!(true_accuracy(&model, task, &at(4)) > true_accuracy(&model, task, &at(40)));
/// ```
pub fn true_accuracy(model: &SimulatedModel, task: &dyn Task, params: &Params) -> f64 {
    model.truth(task, params, CONTEXT_TOKENS).knows
}

#[cfg(test)]
mod tests {
    use reasonscape_core::Suite;

    use super::*;

    #[test]
    fn every_task_has_a_difficulty() {
        for task in reasonscape_core::tasks::all() {
            assert!(TASKS.iter().any(|(name, _)| *name == task.family()), "{}", task.name());
        }
    }

    /// The expected table row of a model in `docs/simulator.md`.
    fn row(profile: &'static ModelProfile) -> String {
        let ModelProfile { name, ability, weights, tokens, growth, loops, .. } = profile;
        let suite = Suite::parse(Suite::built_in("r12").unwrap()).unwrap();
        let model = SimulatedModel(Kind::ModelProfile(profile));
        let truths: Vec<GroundTruth> =
            suite.points().iter().map(|point| model.truth(point.task, point.params, 2048)).collect();
        let mean = |of: fn(&GroundTruth) -> f64| truths.iter().map(of).sum::<f64>() / truths.len() as f64;
        let (knows, truncated) = (mean(|truth| truth.knows), mean(GroundTruth::truncated));
        let weights = weights.map(|weight| format!("{weight:.1}")).join(" ");
        format!(
            "| `{name}` | {ability:.1} | {weights} | {tokens} | {growth:.1} | {loops:.2} | {knows:.2} | {truncated:.2} |"
        )
    }

    #[test]
    fn documentation_lists_the_profiles() {
        let page = include_str!("../../../docs/simulator.md");
        for profile in &MODEL_PROFILES {
            let row = row(profile);
            assert!(page.contains(&row), "docs/simulator.md lacks this row:\n{row}");
        }
        for (task, logit) in TASKS {
            let entry = format!("{task} {logit:+.1}");
            assert!(page.contains(&entry), "docs/simulator.md lacks `{entry}`");
        }
    }

    #[test]
    fn unknown_model_names_are_rejected() {
        for name in
            ["sim-p", "sim-p1.01", "sim-p-0.1", "sim-p0.5-t", "sim-p0.5-t2", "sim-pNaN", "sim-", "gpt"]
        {
            assert_eq!(SimulatedModel::by_name(name), None, "{name}");
        }
    }

    #[test]
    fn ground_truth_probabilities_are_consistent() {
        let truth = GroundTruth { knows: 0.6, cut: 0.25, loops: 0.5 };
        assert_eq!(truth.truncated(), 1.0 - 0.75 * 0.8);
        assert!((truth.correct(0.5) - 0.75 * 0.7).abs() < 1e-12);
        assert!((truth.known_when_completed() - 0.75).abs() < 1e-12);
    }
}
