//! From a study to the requests that ask it, one at a time: a plan of a million needs no more room than one of ten.

mod asked;
mod forecast;

pub use self::asked::{Asked, asked};
pub use self::forecast::{Forecast, forecast};

use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use reasonscape_core::{Json, Params, Point, Task, Test, TestStream, canonical_json};

use crate::cache::{CacheKey, EntryId};
use crate::{Eval, Examples, Question, Study, StudyError};

/// Which part of a study is asked.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// Evaluations by id, name or model; all when empty.
    pub evals: Vec<String>,
    /// Tasks by name; all when empty.
    pub tasks: Vec<String>,
    /// Tests at each point, instead of what the study says.
    pub count: Option<usize>,
    /// The part that this machine asks.
    pub shard: Shard,
}

/// One of several equal parts of a plan. Which part a request belongs to depends on its key alone, so machines share a
/// study without talking to each other, and an identical request is always in the same part.
///
/// ```
/// use reasonscape_runner::Shard;
///
/// let shard: Shard = "2/3".parse()?;
/// assert_eq!((shard.number, shard.of), (2, 3));
/// assert!("4/3".parse::<Shard>().is_err());
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    /// Which part, from 1.
    pub number: u64,
    /// How many parts there are.
    pub of: u64,
}

impl Default for Shard {
    fn default() -> Self {
        Self { number: 1, of: 1 }
    }
}

impl std::str::FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parsed =
            text.split_once('/').and_then(|(number, of)| Some((number.parse().ok()?, of.parse().ok()?)));
        match parsed {
            Some((number, of)) if (1..=of).contains(&number) => Ok(Self { number, of }),
            _ => Err(format!(
                "`{text}` is no shard; expected a part and the number of parts, as in `1/4` to `4/4`"
            )),
        }
    }
}

impl Shard {
    fn holds(self, key: &CacheKey) -> bool {
        let [a, b, c, d, e, f, g, h, ..] = key.0;
        u64::from_be_bytes([a, b, c, d, e, f, g, h]) % self.of == self.number - 1
    }
}

/// One trial that is to be asked.
#[derive(Debug)]
pub struct Planned<'s> {
    /// The task.
    pub task: &'static dyn Task,
    /// The coordinates of the point.
    pub params: &'s Params,
    /// Place of the test in the stream of its point.
    pub index: usize,
    /// The test.
    pub test: Test,
    /// The complete request, as canonical JSON: what is sent and what is hashed.
    pub request: String,
    /// What the response is known by.
    pub id: EntryId,
}

impl Planned<'_> {
    /// The trial in words, for reports of what is missing.
    pub fn name(&self) -> String {
        let repeat = if self.id.repeat > 0 { format!(" repeat {}", self.id.repeat) } else { String::new() };
        format!("{} {} #{}{repeat}", self.task.name(), canonical_json(&self.params.to_json()), self.index)
    }
}

/// The points of a study that a selection asks.
pub fn selected_points<'s>(study: &'s Study, selection: &Selection) -> Vec<Point<'s>> {
    let wanted = |point: &Point<'_>| {
        selection.tasks.is_empty() || selection.tasks.iter().any(|task| task == point.task.name())
    };
    study.suite.points().into_iter().filter(wanted).collect()
}

/// Whether an evaluation is among those selected.
pub fn is_selected(eval: &Eval, selection: &Selection) -> bool {
    selection.evals.is_empty() || selection.evals.iter().any(|wanted| is_called(eval, wanted))
}

/// Whether an evaluation goes by this name: its id, what people call it, or its model.
pub(crate) fn is_called(eval: &Eval, name: &str) -> bool {
    [eval.id.as_str(), &eval.name, &eval.model].contains(&name)
}

/// The tests that a round asks at each point, by the place of the point: from the first to before the last.
pub(crate) type Round = [Range<usize>];

/// Goes through the trials of an evaluation, all points a little before any point a lot, so that a run that is broken
/// off has something of everything. Ends early when `visit` breaks off.
///
/// # Errors
/// A [`StudyError`] when the template cannot be rendered.
pub(crate) fn walk<'s>(
    study: &'s Study,
    eval: &Eval,
    points: &[Point<'s>],
    round: &Round,
    shard: Shard,
    visit: &mut dyn FnMut(Planned<'s>) -> ControlFlow<()>,
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
                let question = Question { task: point.task, test: &test, examples: &examples };
                let payload = eval.payload(&eval.template.render(&question)?);
                let request = canonical_json(&Json::from(payload));
                let key = CacheKey::from_canonical_json(&request);
                if !shard.holds(&key) {
                    continue;
                }
                let copies = std::iter::repeat_n((test, request), study.repeats as usize);
                for (repeat, (test, request)) in (0..).zip(copies) {
                    let planned = Planned {
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

/// 0 to 32, 32 to 64, 64 to 128, and so on. Each block makes the tests before it again, so they double.
fn blocks(last: usize) -> impl Iterator<Item = Range<usize>> {
    const FIRST: usize = 32;
    std::iter::successors(Some(0..FIRST), |block| Some(block.end..block.end * 2))
        .take_while(move |block| block.start < last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_cover_everything_once() {
        for last in [0, 1, 31, 32, 33, 64, 500, 100_000] {
            let mut next = 0;
            for block in blocks(last) {
                assert_eq!(block.start, next);
                next = block.end;
            }
            assert!(next >= last);
        }
    }

    #[test]
    fn shards_share_out_every_key_once() {
        for i in 0..200_u8 {
            let key = CacheKey::from_canonical_json(&i.to_string());
            let holders = (1..=7).filter(|number| Shard { number: *number, of: 7 }.holds(&key)).count();
            assert_eq!(holders, 1);
        }
        for wrong in ["", "1", "0/3", "4/3", "a/b", "1/0", "-1/2"] {
            assert!(wrong.parse::<Shard>().is_err(), "{wrong}");
        }
    }
}
