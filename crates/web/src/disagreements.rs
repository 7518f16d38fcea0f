//! Problems with different outcomes for two evaluations, in display order.

use reasonscape_core::Outcome;
use reasonscape_points::{PointDisagreements, TestDisagreement, TestName, TrialNumber};

use super::error::ApiError;
use super::point_id::point_id;
use super::query_string::{Query, encoded};
use super::trial_query::Coordinates;

/// The query parameter that selects the disagreements.
const PARAMETER: &str = "disagreement";
/// Its name in version 0.1.
const FORMER_PARAMETER: &str = "right";

/// The query parameters of a list of disagreements.
pub(crate) const NAMES: [&str; 7] = ["a", "b", "task", "params", "filter", PARAMETER, FORMER_PARAMETER];

/// Which disagreements are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Disagreement {
    /// Exactly one is correct.
    #[default]
    OnlyOne,
    /// Only A is correct.
    OnlyA,
    /// Only B is correct.
    OnlyB,
    /// The outcomes differ in any way.
    Any,
}

impl Disagreement {
    pub(crate) const ALL: [Self; 4] = [Self::OnlyOne, Self::OnlyA, Self::OnlyB, Self::Any];

    /// The value of the query parameter.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::OnlyOne => "one",
            Self::OnlyA => "a",
            Self::OnlyB => "b",
            Self::Any => "any",
        }
    }

    /// Reads `disagreement` or its former name `right`.
    pub(crate) fn from_query(query: &Query) -> Result<Self, ApiError> {
        let (parameter, name) = match (query.get(PARAMETER), query.get(FORMER_PARAMETER)) {
            (Some(name), Some(former)) if name != former => {
                return Err(ApiError::bad_request(format_args!(
                    "`{PARAMETER}={name}` contradicts `{FORMER_PARAMETER}={former}`, its former name; give one of them"
                )));
            }
            (Some(name), _) => (PARAMETER, name),
            (None, Some(name)) => (FORMER_PARAMETER, name),
            (None, None) => return Ok(Self::default()),
        };
        let found = Self::ALL.into_iter().find(|which| which.name() == name);
        found.ok_or_else(|| {
            ApiError::bad_request(format_args!(
                "`{parameter}={name}` is unknown; expected `one`, `a`, `b` or `any`"
            ))
        })
    }

    /// The query with this disagreement under its current name.
    pub(crate) fn set_in(self, query: &Query) -> Query {
        let name = (self != Self::default()).then(|| self.name());
        query.with(FORMER_PARAMETER, None).with(PARAMETER, name)
    }

    fn includes(self, test: &TestDisagreement) -> bool {
        let (a, b) = (test.a == Outcome::Correct, test.b == Outcome::Correct);
        match self {
            Self::OnlyOne => a != b,
            Self::OnlyA => a && !b,
            Self::OnlyB => b && !a,
            Self::Any => true,
        }
    }
}

/// The problems, by task, parameters, index and repeat.
#[derive(Debug)]
pub(crate) struct DisagreementList {
    points: Vec<PointDisagreements>,
}

impl DisagreementList {
    pub(crate) fn new(points: Vec<PointDisagreements>) -> Self {
        let mut keyed: Vec<_> =
            points.into_iter().map(|point| (Coordinates::parse(&point.params), point)).collect();
        keyed.sort_by(|(params_a, a), (params_b, b)| {
            a.base_task.cmp(&b.base_task).then_with(|| params_a.compare(params_b))
        });
        Self { points: keyed.into_iter().map(|(_, point)| point).collect() }
    }

    /// The problems with this disagreement, in order.
    pub(crate) fn tests(&self, which: Disagreement) -> impl Iterator<Item = TestName<'_>> {
        self.points.iter().flat_map(move |point| {
            point.tests.iter().filter(move |test| which.includes(test)).map(|test| TestName {
                base_task: &point.base_task,
                params: &point.params,
                number: test.number,
            })
        })
    }

    /// The number of problems with this disagreement.
    pub(crate) fn count(&self, which: Disagreement) -> u64 {
        let tests = self.points.iter().flat_map(|point| &point.tests);
        tests.filter(|test| which.includes(test)).count() as u64
    }

    /// The problems before and after this one, and its position from 1; all `None` if it is not listed.
    pub(crate) fn neighbors(&self, which: Disagreement, test: TestName<'_>) -> Neighbors<'_> {
        let mut before = None;
        let mut tests = self.tests(which);
        let mut position = 0;
        while let Some(other) = tests.next() {
            position += 1;
            if other == test {
                return Neighbors { before, behind: tests.next(), position: Some(position) };
            }
            before = Some(other);
        }
        Neighbors { before: None, behind: None, position: None }
    }
}

/// The neighbors of a problem in a list.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Neighbors<'a> {
    pub(crate) before: Option<TestName<'a>>,
    pub(crate) behind: Option<TestName<'a>>,
    pub(crate) position: Option<u64>,
}

/// The link to a problem in a list of disagreements; `list` names the evaluations.
pub(crate) fn test_href(base: &str, test: TestName<'_>, list: &Query) -> String {
    let TrialNumber { index, repeat } = test.number;
    let [a, b] = ["a", "b"].map(|name| encoded(list.get(name).unwrap_or_default()));
    let (task, point, repeat) = (encoded(test.base_task), point_id(test.params), repeat.to_string());
    let keep = list.with("a", None).with("b", None).with("repeat", (repeat != "0").then_some(&repeat));
    format!("{base}/compare/tests/{a}/{b}/{task}/{point}/{index}{keep}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn test(index: u64, a: Outcome, b: Outcome) -> TestDisagreement {
        TestDisagreement { number: TrialNumber { index, repeat: 0 }, a, b }
    }

    fn sample_list() -> DisagreementList {
        let point = |task: &str, params: &str, tests| PointDisagreements {
            base_task: task.to_owned(),
            params: params.to_owned(),
            tests,
        };
        DisagreementList::new(vec![
            point("sort", r#"{"length": 16}"#, vec![test(3, Outcome::Correct, Outcome::Incorrect)]),
            point(
                "sort",
                r#"{"length": 4}"#,
                vec![
                    test(1, Outcome::Truncated, Outcome::Correct),
                    test(8, Outcome::Incorrect, Outcome::Truncated),
                ],
            ),
            point("add", "{}", vec![test(0, Outcome::Correct, Outcome::Truncated)]),
        ])
    }

    #[test]
    fn counts_and_orders_tests_by_disagreement() {
        let list = sample_list();
        assert_eq!(Disagreement::ALL.map(|which| list.count(which)), [3, 2, 1, 4]);
        let shown =
            |which| list.tests(which).map(|test| (test.base_task, test.number.index)).collect::<Vec<_>>();
        // Numerically: 4 comes before 16.
        assert_eq!(shown(Disagreement::Any), [("add", 0), ("sort", 1), ("sort", 8), ("sort", 3)]);
        assert_eq!(shown(Disagreement::OnlyA), [("add", 0), ("sort", 3)]);
    }

    #[test]
    fn finds_neighbors_among_listed_tests() {
        let list = sample_list();
        let tests: Vec<_> = list.tests(Disagreement::OnlyOne).collect();
        let neighbors = list.neighbors(Disagreement::OnlyOne, tests[1]);
        assert_eq!(
            (neighbors.before, neighbors.behind, neighbors.position),
            (Some(tests[0]), Some(tests[2]), Some(2))
        );
        let first = list.neighbors(Disagreement::OnlyOne, tests[0]);
        assert_eq!((first.before, first.position), (None, Some(1)));
        // Neither is correct, so it is not listed.
        let other = list.tests(Disagreement::Any).find(|test| test.number.index == 8).unwrap();
        assert_eq!(
            list.neighbors(Disagreement::OnlyOne, other),
            Neighbors { before: None, behind: None, position: None }
        );
    }
}
