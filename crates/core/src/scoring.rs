//! Scoring a reply: extract the answer and compare it with the target.

use crate::{Extraction, Outcome, Reply, Task, Test, extract};

/// Scores a reply to a test.
///
/// A truncated reply is never correct, even if it contains the target: unfinished reasoning is not an answer.
///
/// ```
/// use reasonscape_core::{Json, Params, Outcome, Reply, TestStream, score, tasks};
///
/// let task = tasks::by_name("arithmetic").expect("a built-in task");
/// let params = Params::new(task, &Json::parse("{}")?)?;
/// let test = TestStream::new(task, &params, 0).next().expect("tests without end");
/// let correct = format!("That makes {}.", test.target);
/// assert_eq!(score(task, &test, &Reply::from(correct.as_str()), false).0, Outcome::Correct);
/// assert_eq!(score(task, &test, &Reply::from(correct.as_str()), true).0, Outcome::Truncated);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn score<'a>(
    task: &dyn Task,
    test: &Test,
    reply: &Reply<'a>,
    truncated: bool,
) -> (Outcome, Extraction<'a>) {
    let extraction = extract(reply);
    let status = match &extraction.answer {
        _ if truncated => Outcome::Truncated,
        Some(answer) if task.check(answer, test) => Outcome::Correct,
        _ => Outcome::Incorrect,
    };
    (status, extraction)
}
