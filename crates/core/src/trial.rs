//! A trial: one prompt sent once, and what became of it.

use crate::{Extraction, Reply, Task, Test, extract};

/// How a trial ended. Its number is what files and tables hold.
///
/// ```
/// use reasonscape_core::Status;
///
/// assert_eq!(Status::Truncated.code(), 2);
/// assert_eq!(Status::Truncated.name(), "truncated");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Status {
    /// Completed, and wrong.
    Incorrect,
    /// Completed, and right.
    Correct,
    /// Cut off before it could answer.
    Truncated,
}

impl Status {
    /// 0 incorrect, 1 correct, 2 truncated.
    pub fn code(self) -> u8 {
        self as u8
    }

    /// The name, for tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Incorrect => "incorrect",
            Self::Correct => "correct",
            Self::Truncated => "truncated",
        }
    }
}

/// Judges a reply to a test.
///
/// A reply that was cut off is truncated whatever it says: a number in an unfinished thought is no answer.
///
/// ```
/// use reasonscape_core::{Json, Params, Reply, Status, Tests, judge, tasks};
///
/// let task = tasks::by_name("arithmetic").expect("a built-in task");
/// let params = Params::new(task, &Json::parse("{}")?)?;
/// let test = Tests::new(task, &params, 0).next().expect("tests without end");
/// let right = format!("That makes {}.", test.target);
/// assert_eq!(judge(task, &test, &Reply::from(right.as_str()), false).0, Status::Correct);
/// assert_eq!(judge(task, &test, &Reply::from(right.as_str()), true).0, Status::Truncated);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn judge<'a>(
    task: &dyn Task,
    test: &Test,
    reply: &Reply<'a>,
    truncated: bool,
) -> (Status, Extraction<'a>) {
    let extraction = extract(reply);
    let status = match &extraction.answer {
        _ if truncated => Status::Truncated,
        Some(answer) if task.check(answer, test) => Status::Correct,
        _ => Status::Incorrect,
    };
    (status, extraction)
}
