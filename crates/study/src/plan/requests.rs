//! The requests of a point, for looking up their responses.

use reasonscape_core::{Json, Point, Test, TestStream, canonical_json};

use crate::{Eval, Examples, Study, StudyError, TemplateInput};
use reasonscape_core::CacheKey;

/// A test and the key of its request.
#[derive(Debug)]
pub struct PlannedRequest {
    /// Index of the test in the stream of its point.
    pub index: usize,
    /// The test.
    pub test: Test,
    /// The key of the request.
    pub key: CacheKey,
}

/// The requests of an evaluation at a point, starting with problem `start`; endless except for a dataset.
pub fn planned_requests<'s>(
    study: &'s Study,
    eval: &'s Eval,
    point: &'s Point<'s>,
    start: usize,
) -> impl Iterator<Item = Result<PlannedRequest, StudyError>> + 's {
    let examples = Examples::new(point.task, point.params, study.seed, eval.template.shots);
    let tests = TestStream::new(point.task, point.params, study.seed).enumerate().skip(start);
    tests.map(move |(index, test)| {
        let input = TemplateInput { task: point.task, test: &test, examples: &examples };
        let payload = eval.payload(&eval.template.render(&input)?);
        let key = CacheKey::from_canonical_json(&canonical_json(&Json::from(payload)));
        Ok(PlannedRequest { index, test, key })
    })
}
