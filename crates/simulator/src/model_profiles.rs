//! Profiles of simulated models: the numbers that determine their skill. `docs/simulator.md` lists them.

/// Difficulty offset of each task for every profiled model, in logits.
pub(crate) const TASKS: [(&str, f64); 13] = [
    ("arithmetic", 0.2),
    ("boolean", 0.3),
    ("brackets", 0.2),
    ("cars", -0.5),
    ("dates", -0.2),
    ("jsonpath", 0.0),
    ("letters", -0.3),
    ("objects", 0.6),
    ("sequence", -0.4),
    ("shapes", -0.1),
    ("shuffle", 0.1),
    ("sort", 0.3),
    ("tables", 0.0),
];

/// How a reply states its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// `The answer is 42.`
    Sentence,
    /// `The answer is \boxed{42}.`
    Boxed,
    /// `Answer: 42`
    Label,
}

/// The numbers that determine a profiled model's behavior.
#[derive(Debug, PartialEq)]
pub(crate) struct ModelProfile {
    pub(crate) name: &'static str,
    pub(crate) description: &'static str,
    /// Logit of knowing the answer when every parameter is at its easiest value.
    pub(crate) ability: f64,
    /// Added to `ability` for some tasks.
    pub(crate) strengths: &'static [(&'static str, f64)],
    /// Logits lost between the easy and the hard end of a parameter, by its dimension.
    pub(crate) weights: [f64; 5],
    /// Tokens of a reply when every parameter is at its easiest value.
    pub(crate) tokens: f64,
    /// A reply at the hardest values is `exp(growth)` times as long as one at the easiest.
    pub(crate) growth: f64,
    /// The proportion of failures that are loops.
    pub(crate) loops: f64,
    /// Whether reasoning is returned separately from the answer.
    pub(crate) thinks: bool,
    pub(crate) style: Style,
    /// The confidence it always states; if `None`, it states its true probability of being correct.
    pub(crate) states: Option<f64>,
}

/// Every profiled model.
pub(crate) static MODEL_PROFILES: [ModelProfile; 5] = [
    ModelProfile {
        name: "sim-strong",
        description: "knows most answers and reasons before answering",
        ability: 4.6,
        strengths: &[],
        weights: [1.3, 1.0, 0.8, 0.5, 1.4],
        tokens: 90.0,
        growth: 2.6,
        loops: 0.05,
        thinks: true,
        style: Style::Boxed,
        states: None,
    },
    ModelProfile {
        name: "sim-cheap",
        description: "average skill, short replies",
        ability: 2.7,
        strengths: &[],
        weights: [1.5, 1.0, 1.2, 0.8, 1.5],
        tokens: 20.0,
        growth: 1.2,
        loops: 0.02,
        thinks: false,
        style: Style::Sentence,
        states: None,
    },
    ModelProfile {
        name: "sim-truncating",
        description: "knows many answers, but reasons so long that hard questions reach the token limit",
        ability: 4.2,
        strengths: &[],
        weights: [1.3, 1.0, 0.9, 0.6, 1.4],
        tokens: 300.0,
        growth: 4.0,
        loops: 0.2,
        thinks: true,
        style: Style::Boxed,
        states: None,
    },
    ModelProfile {
        name: "sim-guessing",
        description: "knows few answers, always answers, guesses among options, and always states a confidence of 95 %",
        ability: 0.0,
        strengths: &[],
        weights: [1.2, 1.0, 0.8, 0.5, 1.2],
        tokens: 12.0,
        growth: 1.0,
        loops: 0.0,
        thinks: false,
        style: Style::Label,
        states: Some(0.95),
    },
    ModelProfile {
        name: "sim-specialist",
        description: "strong at formal tasks (arithmetic, boolean, brackets, jsonpath, sequence, sort), weak at all others",
        ability: 1.0,
        strengths: &[
            ("arithmetic", 5.5),
            ("boolean", 5.5),
            ("brackets", 5.5),
            ("jsonpath", 5.5),
            ("sequence", 5.5),
            ("sort", 5.5),
        ],
        weights: [1.2, 0.9, 0.9, 0.5, 1.2],
        tokens: 60.0,
        growth: 2.2,
        loops: 0.15,
        thinks: false,
        style: Style::Sentence,
        states: None,
    },
];
