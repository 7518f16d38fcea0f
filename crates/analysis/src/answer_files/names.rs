//! The fields of a line of results, and what they are called in a file.

use reasonscape_core::closest;

/// What a line may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Field {
    Id,
    Input,
    Target,
    Options,
    Answer,
    Cot,
    Context,
    ProbCorrect,
    PromptTokens,
    CompletionTokens,
    LatencyMs,
    Truncated,
    Repeat,
    Temperature,
    Model,
    Category,
}

impl Field {
    const ALL: [Self; 16] = [
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
        Self::Truncated,
        Self::Repeat,
        Self::Temperature,
        Self::Model,
        Self::Category,
    ];

    pub(super) const fn name(self) -> &'static str {
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
            Self::Truncated => "truncated",
            Self::Repeat => "repeat",
            Self::Temperature => "temperature",
            Self::Model => "model",
            Self::Category => "category",
        }
    }

    fn named(name: &str) -> Option<Self> {
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
            "truncated" => Self::Truncated,
            "repeat" => Self::Repeat,
            "temperature" => Self::Temperature,
            "model" => Self::Model,
            "category" => Self::Category,
            _ => return None,
        })
    }
}

/// What the fields are called in a file.
#[derive(Debug, Clone, Default)]
pub struct Names {
    /// Fields that are called otherwise; their own names then mean nothing.
    renamed: Vec<(Field, String)>,
}

impl Names {
    /// Reads `target=gold,answer=output`: our name, and the file's.
    ///
    /// # Errors
    /// Says which pair is wrong, and what is expected.
    pub fn parse(pairs: &[String]) -> Result<Self, String> {
        let mut renamed: Vec<(Field, String)> = Vec::new();
        for pair in pairs {
            let (ours, theirs) = pair.split_once('=').ok_or_else(|| {
                format!("`--map {pair}` has no `=`; give our name and the file's, as `target=gold`")
            })?;
            let (ours, theirs) = (ours.trim(), theirs.trim());
            let field = Field::named(ours).ok_or_else(|| {
                let names = Field::ALL.map(Field::name);
                let meant =
                    closest(ours, &names).map_or_else(String::new, |name| format!("did you mean `{name}`? "));
                format!("`--map {pair}`: there is no field `{ours}`; {meant}there are {}", names.join(", "))
            })?;
            if theirs.is_empty() {
                return Err(format!("`--map {pair}` does not say what `{ours}` is called in the file"));
            }
            if renamed.iter().any(|(known, name)| *known == field || name == theirs) {
                return Err(format!("`--map {pair}`: `{ours}` or `{theirs}` is mapped twice"));
            }
            renamed.push((field, theirs.to_owned()));
        }
        Ok(Self { renamed })
    }

    pub(super) fn field(&self, name: &str) -> Option<Field> {
        if let Some((field, _)) = self.renamed.iter().find(|(_, theirs)| theirs == name) {
            return Some(*field);
        }
        Field::named(name).filter(|field| self.renamed.iter().all(|(renamed, _)| renamed != field))
    }

    pub(super) fn of(&self, field: Field) -> &str {
        self.renamed.iter().find(|(renamed, _)| *renamed == field).map_or(field.name(), |(_, theirs)| theirs)
    }
}
