//! Comparing an extracted answer with the target: never lenient enough to take a wrong one.

use crate::{AnswerType, Test};

/// Whether `answer` is the target of `test`, read as `kind`.
pub(crate) fn matches(_kind: AnswerType, answer: &str, test: &Test) -> bool {
    answer.trim() == test.target
}
