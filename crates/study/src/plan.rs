//! Generates the requests of a study one at a time, so that memory use doesn't grow with the size of the plan.

mod requests;

pub use self::requests::{PlannedRequest, planned_requests};

use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use reasonscape_core::{Json, Params, Point, Task, Test, TestStream, canonical_json};

use crate::{Eval, Examples, Shard, Study, StudyError, TemplateInput};
use reasonscape_core::{CacheKey, EntryId};

/// One trial of the plan.
#[derive(Debug)]
pub struct PlannedTrial<'s> {
    /// The task.
    pub task: &'s dyn Task,
    /// Parameters of the point.
    pub params: &'s Params,
    /// Index of the test in the stream of its point.
    pub index: usize,
    /// The test.
    pub test: Test,
    /// The complete request as canonical JSON, as sent and hashed.
    pub request: String,
    /// Id of the response.
    pub id: EntryId,
}

impl PlannedTrial<'_> {
    /// Name of the trial, for reports of missing trials.
    pub fn name(&self) -> String {
        let repeat = if self.id.repeat > 0 { format!(" repeat {}", self.id.repeat) } else { String::new() };
        format!("{} {} #{}{repeat}", self.task.name(), canonical_json(&self.params.to_json()), self.index)
    }
}

/// The tests of a round at each point, in the order of the points.
pub type TestRanges = [Range<usize>];

/// Visits the trials of an evaluation in rounds over all points, so that an interrupted run covers every point. Stops when
/// `visit` returns `Break`.
///
/// # Errors
/// A [`StudyError`] when the template cannot be rendered.
pub fn walk_trials<'s>(
    study: &'s Study,
    eval: &Eval,
    points: &[Point<'s>],
    round: &TestRanges,
    shard: Shard,
    visit: &mut dyn FnMut(PlannedTrial<'s>) -> ControlFlow<()>,
) -> Result<(), StudyError> {
    let namespace: Arc<str> = Arc::from(eval.cache_namespace.as_str());
    let last = round.iter().map(|range| range.end).max().unwrap_or(0);
    for block in blocks(last) {
        for (point, range) in points.iter().zip(round) {
            let (start, end) = (range.start.max(block.start), range.end.min(block.end));
            if start >= end {
                continue;
            }
            let examples = Examples::new(point.task, point.params, study.seed, eval.template.shots);
            let tests =
                TestStream::new(point.task, point.params, study.seed).enumerate().take(end).skip(start);
            for (index, test) in tests {
                let input = TemplateInput { task: point.task, test: &test, examples: &examples };
                let payload = eval.payload(&eval.template.render(&input)?);
                let request = canonical_json(&Json::from(payload));
                let key = CacheKey::from_canonical_json(&request);
                if !shard.contains(&key) {
                    continue;
                }
                let copies = std::iter::repeat_n((test, request), study.repeats as usize);
                for (repeat, (test, request)) in (0..).zip(copies) {
                    let planned = PlannedTrial {
                        task: point.task,
                        params: point.params,
                        index,
                        test,
                        request,
                        id: EntryId { key, namespace: Arc::clone(&namespace), repeat },
                    };
                    if visit(planned).is_break() {
                        return Ok(());
                    }
                }
            }
        }
    }
    Ok(())
}

/// 0 to 32, 32 to 64, 64 to 128, and so on. Each block regenerates the tests before it, so sizes double to bound the cost.
fn blocks(last: usize) -> impl Iterator<Item = Range<usize>> {
    const FIRST_BLOCK: usize = 32;
    std::iter::successors(Some(0..FIRST_BLOCK), |block| Some(block.end..block.end * 2))
        .take_while(move |block| block.start < last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_cover_every_test_once() {
        for last in [0, 1, 31, 32, 33, 64, 500, 100_000] {
            let mut next = 0;
            for block in blocks(last) {
                assert_eq!(block.start, next);
                next = block.end;
            }
            assert!(next >= last);
        }
    }
}
