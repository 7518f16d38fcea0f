//! Paired tests of all pairs of evaluations, for ranks and for groups of models that can't be distinguished.

use std::collections::{BTreeMap, HashMap, HashSet};

use rayon::iter::{IntoParallelIterator, ParallelIterator};
use reasonscape_points::{Filter, PointsDb, PointsError};
use reasonscape_stats::StatsError;
use reasonscape_stats::likelihood::LikelihoodScore;
use reasonscape_stats::multiple_testing::holm;
use reasonscape_stats::paired_score::{PairedPoint, PairedScoreTest, paired_score_test};
use serde::{Deserialize, Serialize};

use crate::board_points::{BoardPoint, BoardPoints};

/// Significance level of verdicts, after Holm's correction over all pairs.
pub(crate) const LEVEL: f64 = 0.05;

/// Name of the stored tests.
const STORED: &str = "pairs";
/// Raised when the same trials would give other tests, so that stored ones are computed again.
const TEST_VERSION: u32 = 2;

/// The values of all problems of a board, by evaluation and point.
pub(crate) struct BoardProblems<'b> {
    points: &'b [BoardPoint],
    evals: HashMap<String, Vec<Vec<(u64, f64)>>>,
}

impl<'b> BoardProblems<'b> {
    /// Loads the problems of the points that a filter selects, of some evaluations.
    pub(crate) async fn load(
        db: &PointsDb,
        filter: &Filter,
        board: &'b BoardPoints,
        eval_ids: &[&str],
    ) -> Result<Self, PointsError> {
        let filter = filter.for_tests().for_evals(eval_ids);
        let mut evals: HashMap<String, Vec<Vec<(u64, f64)>>> = HashMap::new();
        for found in db.problem_values(&filter).await? {
            let key = (found.base_task.as_str(), found.params.as_str());
            let place = |known: &BoardPoint| (known.base_task.as_str(), known.params.as_str()).cmp(&key);
            let Ok(index) = board.points.binary_search_by(place) else { continue };
            evals.entry(found.eval_id).or_insert_with(|| vec![Vec::new(); board.points.len()])[index] =
                found.values;
        }
        Ok(Self { points: &board.points, evals })
    }

    /// Whether the study has trials of an evaluation.
    pub(crate) fn has_trials(&self, eval_id: &str) -> bool {
        self.evals.contains_key(eval_id)
    }

    /// The points, as task and parameters, of which exactly one of A and B has problems.
    pub(crate) fn of_one_alone(&self, [a, b]: [&str; 2]) -> HashSet<(&'b str, &'b str)> {
        let has_problems =
            |eval: &str, index: usize| self.evals.get(eval).is_some_and(|points| !points[index].is_empty());
        let points = self.points.iter().enumerate();
        points
            .filter(|(index, _)| has_problems(a, *index) != has_problems(b, *index))
            .map(|(_, point)| (point.base_task.as_str(), point.params.as_str()))
            .collect()
    }

    /// Tests A against B on the problems of the selected points that both answered. `None` if there are none.
    pub(crate) fn test(
        &self,
        [a, b]: [&str; 2],
        is_selected: &(dyn Fn(&BoardPoint) -> bool + Sync),
    ) -> Result<Option<PairedScoreTest>, StatsError> {
        let (Some(a), Some(b)) = (self.evals.get(a), self.evals.get(b)) else { return Ok(None) };
        let mut tasks: Vec<Vec<PairedPoint>> = Vec::new();
        let mut last_task = None;
        for (index, point) in self.points.iter().enumerate().filter(|(_, point)| is_selected(point)) {
            if last_task != Some(&point.base_task) {
                tasks.push(Vec::new());
                last_task = Some(&point.base_task);
            }
            let pairs = Shared { a: &a[index], b: &b[index] };
            let [answered_a, answered_b] = [&a[index], &b[index]].map(|values| values.len() as u64);
            let paired = PairedPoint::from_pairs(point.weight, pairs).with_answered(answered_a, answered_b);
            tasks.last_mut().expect("a task was just begun").push(paired);
        }
        paired_score_test(&tasks)
    }
}

/// The values on shared problems. Both sides count problems from the first on where they were sampled adaptively, so this
/// is a prefix of equal length.
struct Shared<'v> {
    a: &'v [(u64, f64)],
    b: &'v [(u64, f64)],
}

impl Iterator for Shared<'_> {
    type Item = (f64, f64);

    fn next(&mut self) -> Option<(f64, f64)> {
        loop {
            let (&(index_a, value_a), &(index_b, value_b)) = (self.a.first()?, self.b.first()?);
            match index_a.cmp(&index_b) {
                std::cmp::Ordering::Less => self.a = &self.a[1..],
                std::cmp::Ordering::Greater => self.b = &self.b[1..],
                std::cmp::Ordering::Equal => {
                    (self.a, self.b) = (&self.a[1..], &self.b[1..]);
                    return Some((value_a, value_b));
                }
            }
        }
    }
}

/// A test of one pair.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct PairTest {
    /// Mean over tasks of `ln s_A - ln s_B`.
    difference: f64,
    p: f64,
}

/// The tests of all pairs of some evaluations.
#[derive(Debug)]
pub(crate) struct PairTests {
    /// Better and worse, as indices of the evaluations.
    pub(crate) verdicts: Vec<(usize, usize)>,
}

/// Stored tests.
#[derive(Debug, Default, Serialize, Deserialize)]
struct StoredTests {
    version: u32,
    /// The tests of pairs on shared problems, by the ids of both; null for a pair without any, whose independent scores depend
    /// on the confidence level.
    pairs: BTreeMap<String, BTreeMap<String, Option<PairTest>>>,
}

impl StoredTests {
    fn read(db: &PointsDb) -> Option<Self> {
        db.read_derived::<Self>(STORED).filter(|stored| stored.version == TEST_VERSION)
    }

    /// The tests of all pairs in either direction, if all are stored.
    fn find(&self, evals: &[Contestant<'_>]) -> Option<Vec<Option<PairTest>>> {
        let find = |a: &str, b: &str| self.pairs.get(a)?.get(b).copied();
        let found = pairs(evals.len()).map(|(a, b)| {
            let (a, b) = (evals[a].eval_id, evals[b].eval_id);
            let reverse = |test: PairTest| PairTest { difference: -test.difference, ..test };
            find(a, b).or_else(|| find(b, a).map(|test| test.map(reverse)))
        });
        found.collect()
    }

    fn insert(&mut self, evals: &[Contestant<'_>], tests: &[Option<PairTest>]) {
        for ((a, b), test) in pairs(evals.len()).zip(tests) {
            let of_a = self.pairs.entry(evals[a].eval_id.to_owned()).or_default();
            of_a.insert(evals[b].eval_id.to_owned(), *test);
        }
    }
}

/// An evaluation to test: its id and its score, by which evaluations without a common problem are compared.
pub(crate) struct Contestant<'c> {
    pub(crate) eval_id: &'c str,
    pub(crate) score: LikelihoodScore,
}

impl PairTests {
    /// Tests all pairs on the points that a filter selects. The tests of all points are stored, since they take a pass over
    /// all trials. `None` if the study lacks the trials of an evaluation.
    pub(crate) async fn load(
        db: &PointsDb,
        filter: &Filter,
        board: &BoardPoints,
        evals: &[Contestant<'_>],
    ) -> Result<Option<Self>, PointsError> {
        let is_all = filter.for_tests() == Filter::default();
        if is_all && let Some(tests) = StoredTests::read(db).and_then(|stored| stored.find(evals)) {
            return Ok(Some(Self::new(&with_independent(evals, &tests)?)?));
        }
        let ids: Vec<&str> = evals.iter().map(|eval| eval.eval_id).collect();
        let problems = BoardProblems::load(db, filter, board, &ids).await?;
        if evals.iter().any(|eval| !problems.has_trials(eval.eval_id)) {
            return Ok(None);
        }
        let tests = test_all(&problems, evals, &|_| true)?;
        if is_all {
            let mut stored = StoredTests::read(db).unwrap_or_default();
            stored.version = TEST_VERSION;
            stored.insert(evals, &tests);
            db.write_derived(STORED, &stored);
        }
        Ok(Some(Self::new(&with_independent(evals, &tests)?)?))
    }

    /// Tests all pairs on some points of a board.
    pub(crate) fn on_points(
        problems: &BoardProblems<'_>,
        evals: &[Contestant<'_>],
        is_selected: &(dyn Fn(&BoardPoint) -> bool + Sync),
    ) -> Result<Self, StatsError> {
        Self::new(&with_independent(evals, &test_all(problems, evals, is_selected)?)?)
    }

    fn new(tests: &[PairTest]) -> Result<Self, StatsError> {
        let p: Vec<f64> = tests.iter().map(|test| test.p).collect();
        let evals = (1..=tests.len() + 1).find(|evals| evals * (evals - 1) / 2 >= tests.len()).unwrap_or(0);
        let mut verdicts = Vec::new();
        for (((a, b), test), p) in pairs(evals).zip(tests).zip(holm(&p)?) {
            if p <= LEVEL && test.difference != 0.0 {
                verdicts.push(if test.difference > 0.0 { (a, b) } else { (b, a) });
            }
        }
        Ok(Self { verdicts })
    }

    /// Whether two evaluations differ.
    pub(crate) fn differs(&self, a: usize, b: usize) -> bool {
        self.verdicts.contains(&(a, b)) || self.verdicts.contains(&(b, a))
    }
}

/// All pairs of `evals` evaluations.
fn pairs(evals: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..evals).flat_map(move |a| (a + 1..evals).map(move |b| (a, b)))
}

/// The tests, with that of independent scores for pairs without a common problem.
fn with_independent(
    evals: &[Contestant<'_>],
    tests: &[Option<PairTest>],
) -> Result<Vec<PairTest>, StatsError> {
    let tests = pairs(evals.len()).zip(tests);
    tests
        .map(|((a, b), test)| test.map_or_else(|| independent_test(&evals[a].score, &evals[b].score), Ok))
        .collect()
}

/// The paired tests of all pairs; `None` for pairs without a common problem.
fn test_all(
    problems: &BoardProblems<'_>,
    evals: &[Contestant<'_>],
    is_selected: &(dyn Fn(&BoardPoint) -> bool + Sync),
) -> Result<Vec<Option<PairTest>>, StatsError> {
    let pairs: Vec<(usize, usize)> = pairs(evals.len()).collect();
    pairs
        .into_par_iter()
        .map(|(a, b)| {
            let test = problems.test([evals[a].eval_id, evals[b].eval_id], is_selected)?;
            Ok(test.map(|test| PairTest { difference: test.difference, p: test.p_value }))
        })
        .collect()
}

/// Tests two scores on different problems: a normal approximation with the widths of both confidence intervals towards
/// each other.
fn independent_test(a: &LikelihoodScore, b: &LikelihoodScore) -> Result<PairTest, StatsError> {
    let difference = (a.estimate / b.estimate).ln();
    let (higher, lower) = if difference > 0.0 { (a, b) } else { (b, a) };
    let below = (higher.estimate / higher.ci_low).ln();
    let above = (lower.ci_high / lower.estimate).ln();
    let z = reasonscape_stats::Confidence::new(a.level)?.z();
    let deviation = below.hypot(above) / z;
    let p = if deviation > 0.0 {
        reasonscape_stats::chi_square::survival((difference / deviation).powi(2), 1)?
    } else {
        1.0
    };
    Ok(PairTest { difference, p })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_only_shared_problems() {
        let (a, b) = ([(0, 1.0), (2, 0.0), (3, 1.0)], [(1, 1.0), (2, 1.0), (3, 0.5), (9, 0.0)]);
        assert_eq!(Shared { a: &a, b: &b }.collect::<Vec<_>>(), [(0.0, 1.0), (1.0, 0.5)]);
    }

    #[test]
    fn verdicts_are_corrected_for_all_pairs() {
        let test = |difference, p| PairTest { difference, p };
        // Three evaluations: 0.02 and 0.03 are significant alone, but not among three.
        let found = PairTests::new(&[test(0.5, 0.01), test(-0.5, 0.02), test(0.1, 0.9)]).unwrap();
        assert_eq!(found.verdicts, [(0, 1), (2, 0)]);
        let found = PairTests::new(&[test(0.5, 0.02), test(-0.5, 0.03), test(0.1, 0.9)]).unwrap();
        assert_eq!(found.verdicts, []);
        assert!(PairTests::new(&[]).unwrap().verdicts.is_empty());
    }

    #[test]
    fn stored_tests_are_found_in_both_directions() {
        let score = LikelihoodScore { estimate: 500.0, ci_low: 400.0, ci_high: 600.0, level: 0.95 };
        let test = PairTest { difference: 0.25, p: 0.01 };
        let mut stored = StoredTests::default();
        let board = |ids: [&'static str; 2]| ids.map(|eval_id| Contestant { eval_id, score });
        stored.insert(&board(["a", "b"]), &[Some(test)]);
        let reversed = PairTest { difference: -0.25, p: 0.01 };
        assert_eq!(stored.find(&board(["b", "a"])), Some(vec![Some(reversed)]));
        assert_eq!(stored.find(&board(["a", "c"])), None);
        // A pair without a common problem is stored as such: its p-value is that of the scores at hand.
        stored.insert(&board(["a", "c"]), &[None]);
        let found = stored.find(&board(["c", "a"])).unwrap();
        assert_eq!(found, [None]);
        let wide = LikelihoodScore { estimate: 300.0, ci_low: 200.0, ..score };
        let evals = [Contestant { eval_id: "c", score }, Contestant { eval_id: "a", score: wide }];
        assert_eq!(with_independent(&evals, &found).unwrap(), [independent_test(&score, &wide).unwrap()]);
    }

    #[test]
    fn separate_scores_differ_if_their_intervals_are_far_apart() {
        let score = |estimate: f64| LikelihoodScore {
            estimate,
            ci_low: estimate * 0.9,
            ci_high: estimate * 1.1,
            level: 0.95,
        };
        assert!(independent_test(&score(800.0), &score(400.0)).unwrap().p < 1e-6);
        let close = independent_test(&score(500.0), &score(520.0)).unwrap();
        assert!(close.p > 0.4 && close.difference < 0.0, "{close:?}");
    }
}
