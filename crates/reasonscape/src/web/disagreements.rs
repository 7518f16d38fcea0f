//! Tests that ended differently for two evaluations, in the order in which they are shown.

use reasonscape_core::Status;
use reasonscape_points::{DifferingPoint, DifferingTest, TestName};

use super::error::Problem;
use super::trial_query::Coordinates;

/// Which of them are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Right {
    /// Exactly one is right.
    #[default]
    One,
    /// Only the first is right.
    A,
    /// Only the second is right.
    B,
    /// They ended differently in any way.
    Any,
}

impl Right {
    pub(super) const ALL: [Self; 4] = [Self::One, Self::A, Self::B, Self::Any];

    /// As it stands in an address.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::One => "one",
            Self::A => "a",
            Self::B => "b",
            Self::Any => "any",
        }
    }

    /// Reads it from an address.
    pub(super) fn of(query: &super::query_string::Query) -> Result<Self, Problem> {
        let Some(name) = query.get("right") else { return Ok(Self::default()) };
        let found = Self::ALL.into_iter().find(|right| right.name() == name);
        found.ok_or_else(|| {
            Problem::wrong(format_args!("`right={name}` says nothing; there are one, a, b and any"))
        })
    }

    fn holds(self, test: &DifferingTest) -> bool {
        let (a, b) = (test.a == Status::Correct, test.b == Status::Correct);
        match self {
            Self::One => a != b,
            Self::A => a && !b,
            Self::B => b && !a,
            Self::Any => true,
        }
    }
}

/// The tests, by task, coordinates, index and repeat.
#[derive(Debug)]
pub(super) struct Differing {
    points: Vec<DifferingPoint>,
}

impl Differing {
    pub(super) fn of(points: Vec<DifferingPoint>) -> Self {
        let mut keyed: Vec<_> =
            points.into_iter().map(|point| (Coordinates::of(&point.params), point)).collect();
        keyed.sort_by(|(params_a, a), (params_b, b)| {
            a.base_task.cmp(&b.base_task).then_with(|| params_a.compare(params_b))
        });
        Self { points: keyed.into_iter().map(|(_, point)| point).collect() }
    }

    /// Those that are meant, in order.
    pub(super) fn tests(&self, right: Right) -> impl Iterator<Item = TestName<'_>> {
        self.points.iter().flat_map(move |point| {
            point.tests.iter().filter(move |test| right.holds(test)).map(|test| TestName {
                base_task: &point.base_task,
                params: &point.params,
                number: test.number,
            })
        })
    }

    /// How many are meant.
    pub(super) fn count(&self, right: Right) -> u64 {
        let tests = self.points.iter().flat_map(|point| &point.tests);
        tests.filter(|test| right.holds(test)).count() as u64
    }

    /// The test before this one and the one behind it, and its place from 1. A test that is not meant has none.
    pub(super) fn around(&self, right: Right, test: TestName<'_>) -> Around<'_> {
        let mut before = None;
        let mut tests = self.tests(right);
        let mut place = 0;
        while let Some(other) = tests.next() {
            place += 1;
            if other == test {
                return Around { before, behind: tests.next(), place: Some(place) };
            }
            before = Some(other);
        }
        Around { before: None, behind: None, place: None }
    }
}

/// Where a test stands among others.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Around<'a> {
    pub(super) before: Option<TestName<'a>>,
    pub(super) behind: Option<TestName<'a>>,
    pub(super) place: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use reasonscape_points::TrialNumber;

    fn test(index: u64, a: Status, b: Status) -> DifferingTest {
        DifferingTest { number: TrialNumber { index, repeat: 0 }, a, b }
    }

    fn some() -> Differing {
        let point = |task: &str, params: &str, tests| DifferingPoint {
            base_task: task.to_owned(),
            params: params.to_owned(),
            tests,
        };
        Differing::of(vec![
            point("sort", r#"{"length": 16}"#, vec![test(3, Status::Correct, Status::Incorrect)]),
            point(
                "sort",
                r#"{"length": 4}"#,
                vec![
                    test(1, Status::Truncated, Status::Correct),
                    test(8, Status::Incorrect, Status::Truncated),
                ],
            ),
            point("add", "{}", vec![test(0, Status::Correct, Status::Truncated)]),
        ])
    }

    #[test]
    fn tests_are_counted_and_ordered_by_who_is_right() {
        let differing = some();
        assert_eq!(Right::ALL.map(|right| differing.count(right)), [3, 2, 1, 4]);
        let shown = |right| {
            differing.tests(right).map(|test| (test.base_task, test.number.index)).collect::<Vec<_>>()
        };
        // 4 comes before 16.
        assert_eq!(shown(Right::Any), [("add", 0), ("sort", 1), ("sort", 8), ("sort", 3)]);
        assert_eq!(shown(Right::A), [("add", 0), ("sort", 3)]);
    }

    #[test]
    fn a_test_has_its_neighbours_among_those_that_are_meant() {
        let differing = some();
        let tests: Vec<_> = differing.tests(Right::One).collect();
        let around = differing.around(Right::One, tests[1]);
        assert_eq!((around.before, around.behind, around.place), (Some(tests[0]), Some(tests[2]), Some(2)));
        let first = differing.around(Right::One, tests[0]);
        assert_eq!((first.before, first.place), (None, Some(1)));
        // It is wrong for both, and so none of these.
        let other = differing.tests(Right::Any).find(|test| test.number.index == 8).unwrap();
        assert_eq!(differing.around(Right::One, other), Around { before: None, behind: None, place: None });
    }
}
