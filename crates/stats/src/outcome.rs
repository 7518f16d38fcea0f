//! Trial outcomes, their stored codes and their names.

/// The outcome of a trial. Files and tables store its code.
///
/// The order is that of the codes. It must not change: the paired bootstrap sorts its cells by it before drawing.
///
/// ```
/// use reasonscape_stats::Outcome;
///
/// assert_eq!(Outcome::Truncated.code(), 2);
/// assert_eq!(Outcome::from_code(2), Some(Outcome::Truncated));
/// assert_eq!(Outcome::Truncated.name(), "truncated");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Outcome {
    /// The response is complete, and its answer is incorrect.
    Incorrect = 0,
    /// The response is complete, and its answer is correct.
    Correct = 1,
    /// The response reached its token limit before it answered.
    Truncated = 2,
}

impl Outcome {
    /// All outcomes, in the order of their codes.
    pub const ALL: [Self; 3] = [Self::Incorrect, Self::Correct, Self::Truncated];

    /// The stored code: 0 incorrect, 1 correct, 2 truncated.
    pub fn code(self) -> u8 {
        self as u8
    }

    /// The outcome with a stored code; `None` for an unknown code.
    pub fn from_code(code: i64) -> Option<Self> {
        match code {
            0 => Some(Self::Incorrect),
            1 => Some(Self::Correct),
            2 => Some(Self::Truncated),
            _ => None,
        }
    }

    /// The name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Incorrect => "incorrect",
            Self::Correct => "correct",
            Self::Truncated => "truncated",
        }
    }
}
