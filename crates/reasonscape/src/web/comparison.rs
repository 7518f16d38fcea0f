//! Who is compared with whom, as an address says it, and the answers.

use std::sync::Arc;

use reasonscape_points::{EvalInfo, Filter, StoredTrial, TestName};
use reasonscape_stats::Mode;
use reasonscape_stats::pairwise::Method;

use super::api::mode;
use super::app::Snapshot;
use super::disagreements::{Differing, Right};
use super::error::Problem;
use super::query_string::Query;
use super::single_flight::Memo;
use super::trial_query::Wanted;
use crate::analysis::{Asked, Comparison, Pairwise, compare, evaluation, pairwise};

/// Evaluations that are compared unless others are named: a matrix of more is not read, only searched.
pub(super) const MOST: usize = 12;

/// The names by which an address says which tests are meant.
pub(super) const TESTS: [&str; 3] = ["task", "params", "filter"];

/// Answers that were worked out for a study.
#[derive(Default)]
pub(super) struct Answers {
    contests: Memo<(Mode, Vec<String>, Vec<String>), Pairwise>,
    comparisons: Memo<(Pair, Mode, Vec<String>), Comparison>,
    differing: Memo<(Pair, Vec<String>), Differing>,
    rows: Memo<Part, Vec<[StoredTrial; 2]>>,
}

/// Some of the tests that ended differently.
#[derive(PartialEq)]
struct Part {
    pair: Pair,
    conditions: Vec<String>,
    right: Right,
    first: u64,
    most: usize,
}

/// Two evaluations, by their ids.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pair {
    pub(super) a: String,
    pub(super) b: String,
}

/// Evaluations to be compared, by their ids.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Contestants {
    pub(super) ids: Vec<String>,
    /// How many could be compared, if they are the best of more.
    pub(super) best_of: Option<usize>,
}

/// The tests that an address means, as conditions.
pub(super) fn tests(query: &Query) -> Result<Vec<String>, Problem> {
    Ok(Wanted::of(&query.only(&TESTS))?.conditions)
}

impl Snapshot {
    /// The id of the evaluation that goes by this id, name or model.
    fn id_of(&self, name: &str) -> Result<String, Problem> {
        let known: Vec<&EvalInfo> = self.db.evals().iter().collect();
        Ok(evaluation(&known, name)?.eval_id.clone())
    }

    /// The evaluations that an address names, or else the best by their scores.
    pub(super) async fn contestants(&self, query: &Query) -> Result<Contestants, Problem> {
        let mut ids = query.all("eval").map(|name| self.id_of(name)).collect::<Result<Vec<_>, _>>()?;
        ids.sort();
        ids.dedup();
        if !ids.is_empty() {
            return Ok(Contestants { ids, best_of: None });
        }
        let board = self.board(mode(query, Mode::C_P)?, &tests(query)?).await?;
        let best_of = Some(board.rows.len()).filter(|rows| *rows > MOST);
        let ids = board.rows.iter().take(MOST).map(|row| row.eval.eval_id.clone()).collect();
        Ok(Contestants { ids, best_of })
    }

    /// Everybody who is meant against everybody.
    pub(super) async fn contest(&self, query: &Query) -> Result<Arc<Pairwise>, Problem> {
        let (ids, mode, conditions) =
            (self.contestants(query).await?.ids, mode(query, Mode::C_P)?, tests(query)?);
        let names: Vec<&str> = ids.iter().map(String::as_str).collect();
        let asked = Asked::parse(&conditions)?.of_evals(&names);
        let work = async || pairwise(&self.db, &asked, mode, Method::Exact).await;
        Ok(self.versus.contests.get((mode, conditions, ids.clone()), work).await?)
    }

    /// The two that an address names, or else the two that are rated best.
    pub(super) async fn pair(&self, query: &Query) -> Result<Pair, Problem> {
        let named = |name: &str| query.get(name).map(|name| self.id_of(name)).transpose();
        let (a, b) = (named("a")?, named("b")?);
        if let (Some(a), Some(b)) = (&a, &b) {
            return Ok(Pair { a: a.clone(), b: b.clone() });
        }
        let contest = self.contest(query).await?;
        let mut best = contest.evals.iter().map(|eval| &eval.eval.eval_id);
        let mut best_but = |other: Option<&String>| {
            let found = best.find(|id| Some(*id) != other).cloned();
            found.ok_or_else(|| Problem::wrong("a comparison takes two evaluations; name both"))
        };
        let a = a.map_or_else(|| best_but(b.as_ref()), Ok)?;
        let b = b.map_or_else(|| best_but(Some(&a)), Ok)?;
        Ok(Pair { a, b })
    }

    /// Two on the tests that both answered.
    pub(super) async fn comparison(&self, pair: &Pair, query: &Query) -> Result<Arc<Comparison>, Problem> {
        let (mode, conditions) = (mode(query, Mode::C_P)?, tests(query)?);
        let asked = Asked::parse(&conditions)?;
        let work = async || compare(&self.db, &asked, [&pair.a, &pair.b], mode).await;
        Ok(self.versus.comparisons.get((pair.clone(), mode, conditions), work).await?)
    }

    /// The tests that ended differently for the two.
    pub(super) async fn differing(&self, pair: &Pair, query: &Query) -> Result<Arc<Differing>, Problem> {
        let conditions = tests(query)?;
        let filter = Filter::parse(&conditions)?.of_tests();
        let work =
            async || Ok::<_, Problem>(Differing::of(self.db.differing(&pair.a, &pair.b, &filter).await?));
        self.versus.differing.get((pair.clone(), conditions), work).await
    }

    /// So many of these tests, from a place on, with what both made of them.
    pub(super) async fn differing_rows(
        &self,
        pair: &Pair,
        query: &Query,
        right: Right,
        first: u64,
        most: usize,
    ) -> Result<Arc<Vec<[StoredTrial; 2]>>, Problem> {
        let differing = self.differing(pair, query).await?;
        let part = Part { pair: pair.clone(), conditions: tests(query)?, right, first, most };
        let work = async || {
            let tests: Vec<TestName<'_>> = differing
                .tests(right)
                .skip(usize::try_from(first).unwrap_or(usize::MAX))
                .take(most)
                .collect();
            let of_a = self.db.trials_on(&pair.a, &tests).await?;
            let of_b = self.db.trials_on(&pair.b, &tests).await?;
            // Files may have been replaced since the tests were listed.
            Ok::<_, Problem>(of_a.into_iter().zip(of_b).filter_map(|(a, b)| Some([a?, b?])).collect())
        };
        self.versus.rows.get(part, work).await
    }
}
