//! The fields of an answered question, and their names in a file.

use reasonscape_core::parse_renames;

/// A field of an answered question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field {
    /// Identifies the question.
    Id,
    /// The question.
    Input,
    /// The correct answers.
    Target,
    /// The options to choose from.
    Options,
    /// The model's answer.
    Answer,
    /// The model's reasoning.
    Cot,
    /// Texts that the question refers to.
    Context,
    /// The model's confidence in its answer.
    ProbCorrect,
    /// Tokens of the prompt.
    PromptTokens,
    /// Tokens of the response.
    CompletionTokens,
    /// Duration of the request.
    LatencyMs,
    /// Duration of the request in microseconds; takes precedence over milliseconds.
    LatencyUs,
    /// Whether the response was truncated.
    Truncated,
    /// Number of the sample of the same question.
    Repeat,
    /// Sampling temperature.
    Temperature,
    /// The model.
    Model,
    /// A group of questions.
    Category,
    /// Further correct answers, where `target` is one text.
    AlternativeTargets,
    /// Whether the answer is correct, as scored before.
    Correct,
    /// The scorer of the line: `stored` if `correct` counts.
    Scorer,
    /// The evaluation of a study.
    EvalId,
    /// The task of a study.
    BaseTask,
    /// The template of the prompt.
    Template,
    /// The sampler of the answer.
    Sampler,
}

impl Field {
    const ALL: [Self; 24] = [
        Self::Id,
        Self::Input,
        Self::Target,
        Self::Options,
        Self::Answer,
        Self::Cot,
        Self::Context,
        Self::ProbCorrect,
        Self::PromptTokens,
        Self::CompletionTokens,
        Self::LatencyMs,
        Self::LatencyUs,
        Self::Truncated,
        Self::Repeat,
        Self::Temperature,
        Self::Model,
        Self::Category,
        Self::AlternativeTargets,
        Self::Correct,
        Self::Scorer,
        Self::EvalId,
        Self::BaseTask,
        Self::Template,
        Self::Sampler,
    ];

    /// The default name of the field.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Id => "id",
            Self::Input => "input",
            Self::Target => "target",
            Self::Options => "options",
            Self::Answer => "answer",
            Self::Cot => "cot",
            Self::Context => "context",
            Self::ProbCorrect => "prob_correct",
            Self::PromptTokens => "prompt_tokens",
            Self::CompletionTokens => "completion_tokens",
            Self::LatencyMs => "latency_ms",
            Self::LatencyUs => "latency_us",
            Self::Truncated => "truncated",
            Self::Repeat => "repeat",
            Self::Temperature => "temperature",
            Self::Model => "model",
            Self::Category => "category",
            Self::AlternativeTargets => "alternative_targets",
            Self::Correct => "correct",
            Self::Scorer => "scorer",
            Self::EvalId => "eval_id",
            Self::BaseTask => "base_task",
            Self::Template => "template",
            Self::Sampler => "sampler",
        }
    }

    fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "id" => Self::Id,
            "input" => Self::Input,
            "target" => Self::Target,
            "options" => Self::Options,
            "answer" => Self::Answer,
            "cot" => Self::Cot,
            "context" => Self::Context,
            "prob_correct" => Self::ProbCorrect,
            "prompt_tokens" => Self::PromptTokens,
            "completion_tokens" => Self::CompletionTokens,
            "latency_ms" => Self::LatencyMs,
            "latency_us" => Self::LatencyUs,
            "truncated" => Self::Truncated,
            "repeat" => Self::Repeat,
            "temperature" => Self::Temperature,
            "model" => Self::Model,
            "category" => Self::Category,
            "alternative_targets" => Self::AlternativeTargets,
            "correct" => Self::Correct,
            "scorer" => Self::Scorer,
            "eval_id" => Self::EvalId,
            "base_task" => Self::BaseTask,
            "template" => Self::Template,
            "sampler" => Self::Sampler,
            _ => return None,
        })
    }
}

/// The names of the fields in a file.
#[derive(Debug, Clone, Default)]
pub struct FieldMap {
    /// Fields with another name in the file; their own names are then ignored.
    renamed: Vec<(Field, String)>,
    /// Fields whose name is a path, with its steps.
    paths: Vec<(Field, Vec<String>)>,
}

/// A usual name of a field in other tools' files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UsualName {
    /// The field that it probably is.
    pub field: Field,
    /// The name.
    pub name: &'static str,
}

/// Names that other tools use. They are suggested and never taken for granted, since `reasoning` may be a number of tokens.
const USUAL_NAMES: [UsualName; 32] = {
    const fn usual(field: Field, name: &'static str) -> UsualName {
        UsualName { field, name }
    }
    [
        usual(Field::Target, "gold"),
        usual(Field::Target, "label"),
        usual(Field::Target, "expected"),
        usual(Field::Target, "ground_truth"),
        usual(Field::Target, "reference"),
        usual(Field::Target, "correct_answer"),
        usual(Field::Target, "expected_answer"),
        usual(Field::Target, "reference_answer"),
        usual(Field::Target, "gold_answer"),
        usual(Field::Target, "ideal"),
        usual(Field::Target, "targets"),
        usual(Field::Answer, "prediction"),
        usual(Field::Answer, "pred"),
        usual(Field::Answer, "predicted_answer"),
        usual(Field::Answer, "model_answer"),
        usual(Field::Answer, "output"),
        usual(Field::Answer, "model_output"),
        usual(Field::Answer, "response"),
        usual(Field::Answer, "completion"),
        usual(Field::Answer, "generation"),
        usual(Field::Cot, "reasoning"),
        usual(Field::Cot, "reasoning_content"),
        usual(Field::Cot, "chain_of_thought"),
        usual(Field::Cot, "thinking"),
        usual(Field::Cot, "rationale"),
        usual(Field::ProbCorrect, "confidence"),
        usual(Field::ProbCorrect, "probability"),
        usual(Field::PromptTokens, "input_tokens"),
        usual(Field::CompletionTokens, "output_tokens"),
        usual(Field::LatencyMs, "latency"),
        usual(Field::Model, "model_name"),
        usual(Field::Options, "choices"),
    ]
};

/// Usual names that a file has, and the fields that it has under their own names.
#[derive(Debug, Clone, Copy, Default)]
pub struct NamesSeen {
    usual: u32,
    pub(super) fields: u32,
}

impl NamesSeen {
    pub(super) fn add_unknown(&mut self, name: &str) {
        if let Some(place) = USUAL_NAMES.iter().position(|usual| usual.name == name) {
            self.usual |= 1 << place;
        }
    }

    /// Adds what another line has.
    pub fn merge(&mut self, other: Self) {
        self.usual |= other.usual;
        self.fields |= other.fields;
    }

    /// The usual names of fields that no line has.
    pub fn suggestions(self) -> impl Iterator<Item = UsualName> {
        let is_seen = move |place: usize| self.usual >> place & 1 == 1;
        let is_field = move |field: Field| self.fields >> field as u32 & 1 == 1;
        let usual = USUAL_NAMES.into_iter().enumerate();
        usual.filter(move |(place, usual)| is_seen(*place) && !is_field(usual.field)).map(|(_, usual)| usual)
    }
}

impl FieldMap {
    /// Parses pairs such as `target=gold`: our name, and the file's.
    ///
    /// # Errors
    /// A sentence about the first pair that is invalid.
    pub fn parse(pairs: &[String]) -> Result<Self, String> {
        let mut renamed: Vec<(Field, String)> = Vec::new();
        let parsed = parse_renames(pairs.iter().map(String::as_str), &Field::ALL.map(Field::name))
            .map_err(|problem| format!("`--map`: {problem}"))?;
        for (name, column) in parsed {
            if renamed.iter().any(|(_, known)| *known == column) {
                return Err(format!("`--map`: the file's `{column}` is mapped twice; keep one"));
            }
            renamed.extend(Field::from_name(name).map(|field| (field, column)));
        }
        let steps = |column: &str| column.split('.').map(str::to_owned).collect();
        let paths = renamed.iter().filter(|(_, column)| column.contains('.'));
        Ok(Self { paths: paths.map(|(field, column)| (*field, steps(column))).collect(), renamed })
    }

    /// The fields whose path begins with a name, and the other steps of the path.
    pub(super) fn paths_from<'n>(&'n self, name: &str) -> impl Iterator<Item = (Field, &'n [String])> {
        let below = move |(field, steps): &'n (Field, Vec<String>)| {
            let (first, rest) = steps.split_first()?;
            (first == name).then_some((*field, rest))
        };
        self.paths.iter().filter_map(below)
    }

    pub(super) fn has_paths(&self) -> bool {
        !self.paths.is_empty()
    }

    pub(super) fn field(&self, name: &str) -> Option<Field> {
        if let Some((field, _)) = self.renamed.iter().find(|(_, column)| column == name) {
            return Some(*field);
        }
        Field::from_name(name).filter(|field| self.renamed.iter().all(|(renamed, _)| renamed != field))
    }

    pub(super) fn name_of(&self, field: Field) -> &str {
        self.renamed.iter().find(|(renamed, _)| *renamed == field).map_or(field.name(), |(_, column)| column)
    }
}
