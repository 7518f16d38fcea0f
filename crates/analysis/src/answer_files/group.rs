//! The groups that metrics are computed for.

use std::str::FromStr;

use reasonscape_ingest::answers::Field;

/// A column by which answers are grouped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GroupColumn {
    /// The model.
    Model,
    /// The task of a study.
    BaseTask,
    /// The evaluation of a study.
    EvalId,
    /// The template of the prompt.
    Template,
    /// The sampler of the answer.
    Sampler,
}

impl GroupColumn {
    /// All columns.
    pub const ALL: [Self; 5] = [Self::Model, Self::BaseTask, Self::EvalId, Self::Template, Self::Sampler];

    /// The name of the column, in files and on the command line.
    pub fn name(self) -> &'static str {
        self.field().name()
    }

    pub(super) fn field(self) -> Field {
        match self {
            Self::Model => Field::Model,
            Self::BaseTask => Field::BaseTask,
            Self::EvalId => Field::EvalId,
            Self::Template => Field::Template,
            Self::Sampler => Field::Sampler,
        }
    }
}

impl FromStr for GroupColumn {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|column| column.name() == name).ok_or_else(|| {
            let names = Self::ALL.map(|column| format!("`{}`", column.name())).join(", ");
            format!("unknown group `{name}`; expected {names}")
        })
    }
}
