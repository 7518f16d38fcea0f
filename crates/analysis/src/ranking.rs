//! ReasonScores of a board and the ranks that they support.

use reasonscape_points::{PointsDb, PointsError};
use reasonscape_stats::likelihood::LikelihoodScore;
use reasonscape_stats::ranks::rank_ranges;
use reasonscape_stats::score::{Rank, ReasonScore, ranks};
use reasonscape_stats::{Confidence, StatsError};

use crate::board_points::BoardPoints;
use crate::pair_tests::{Contestant, PairTests};
use crate::{BoardOptions, PointQuery, ReasonScoreEstimate, ScoreMethod, Ties};

/// Scores and ranks of the evaluations of a board, in its order.
pub(crate) struct Ranking {
    pub(crate) scores: Vec<ReasonScoreEstimate>,
    pub(crate) ranks: Vec<Rank>,
    /// The method and the rule that were used, which differ from those requested where the data don't allow them.
    pub(crate) method: ScoreMethod,
    pub(crate) ties: Ties,
    pub(crate) notes: Vec<String>,
}

impl Ranking {
    /// Ranks evaluations, given their ids and v2 scores.
    pub(crate) async fn new(
        db: &PointsDb,
        query: &PointQuery,
        points: &BoardPoints,
        evals: &[&str],
        v2: &[ReasonScore],
        options: BoardOptions,
    ) -> Result<Self, PointsError> {
        let (mut method, mut ties) = options.resolve()?;
        let mut notes = Vec::new();
        let likelihood = if method == ScoreMethod::Likelihood || ties == Ties::Paired {
            match likelihood_scores(points, evals, options.estimator.confidence) {
                Ok(scores) => Some(scores),
                Err(error) => {
                    notes.push(format!("Scores by `bootstrap`, because they have no likelihood: {error}."));
                    None
                }
            }
        } else {
            None
        };
        if likelihood.is_none() {
            (method, ties) = (ScoreMethod::Bootstrap, Ties::V2);
        }
        let mut verdicts = None;
        if let (Ties::Paired, Some(scores)) = (ties, &likelihood) {
            let contestants: Vec<Contestant<'_>> = evals
                .iter()
                .zip(scores)
                .map(|(eval_id, score)| Contestant { eval_id, score: *score })
                .collect();
            if let Some(tests) = PairTests::load(db, &query.filter, points, &contestants).await? {
                verdicts = Some(tests.verdicts);
            } else {
                ties = Ties::V2;
                notes.push(
                    "Ties by overlapping v2 intervals, because the study lacks the trials of an evaluation."
                        .to_owned(),
                );
            }
        }
        let scores: Vec<ReasonScoreEstimate> = match (method, likelihood) {
            (ScoreMethod::Likelihood, Some(scores)) => scores.into_iter().map(Into::into).collect(),
            _ => v2.iter().map(|score| (*score).into()).collect(),
        };
        let ranks = match verdicts {
            Some(verdicts) => rank_ranges(evals.len(), &verdicts)
                .into_iter()
                .map(|range| Rank { rank: 0, best: range.best, worst: range.worst })
                .collect(),
            None => ranks(v2),
        };
        let ranks = ranks.into_iter().zip(&scores).map(|(range, score)| Rank {
            rank: 1 + scores.iter().filter(|other| other.estimate > score.estimate).count(),
            ..range
        });
        let ranks = ranks.collect();
        Ok(Self { scores, ranks, method, ties, notes })
    }
}

fn likelihood_scores(
    points: &BoardPoints,
    evals: &[&str],
    confidence: Confidence,
) -> Result<Vec<LikelihoodScore>, StatsError> {
    evals
        .iter()
        .map(|eval_id| {
            let score = points.score(eval_id, confidence, &|_| true)?;
            score.ok_or(StatsError::Empty { name: "tasks" })
        })
        .collect()
}
