//! A task of any answer type, for its `check`.

use reasonscape_core::{AnswerType, Parameter, Params, PyRandom, Task, Test};

/// Generates nothing and checks answers of this type.
pub(crate) struct TaskOf(pub(crate) AnswerType);

impl Task for TaskOf {
    fn name(&self) -> &'static str {
        "any"
    }

    fn description(&self) -> &'static str {
        "Compares answers of one type."
    }

    fn parameters(&self) -> &'static [Parameter] {
        &[]
    }

    fn answer_type(&self) -> AnswerType {
        self.0
    }

    fn generate(&self, _: &Params, _: &mut PyRandom) -> Test {
        unreachable!("only checks answers")
    }
}

/// The answer type of this name in a corpus.
pub(crate) fn answer_type(name: &str) -> AnswerType {
    match name {
        "integer" => AnswerType::Integer,
        "list" => AnswerType::List,
        "symbols" => AnswerType::Symbols,
        "date" => AnswerType::Date,
        "json" => AnswerType::Json,
        "cell" => AnswerType::Cell,
        "boolean" => AnswerType::Boolean,
        "choice" => AnswerType::Choice,
        other => panic!("unknown answer type `{other}`"),
    }
}
