//! Which evaluations a figure shows when a study has more than can be distinguished.

use super::Block;
use crate::{Leaderboard, PointQuery};

/// Curves in one figure: as many as there are colors.
const MAX_CURVES: usize = 8;
/// Rows of a figure with one row per evaluation.
pub(super) const MAX_ROWS: usize = 100;
/// Rows and columns of the matrix of win rates.
pub(super) const MAX_SIDES: usize = 60;

/// The evaluations with the highest ReasonScore, and how many are left out.
#[derive(Debug)]
pub(super) struct TopModels {
    /// The query, restricted to these evaluations.
    pub(super) query: PointQuery,
    count: usize,
    left_out: usize,
}

impl TopModels {
    /// The evaluations that get a curve.
    pub(super) fn curves(board: &Leaderboard, query: &PointQuery) -> Self {
        Self::best(board, query, MAX_CURVES)
    }

    /// The evaluations that get a row.
    pub(super) fn rows(board: &Leaderboard, query: &PointQuery) -> Self {
        Self::best(board, query, MAX_ROWS)
    }

    fn best(board: &Leaderboard, query: &PointQuery, max: usize) -> Self {
        let count = board.rows.len().min(max);
        let left_out = board.rows.len() - count;
        let ids: Vec<&str> = board.rows[..count].iter().map(|row| row.eval.eval_id.as_str()).collect();
        let query = if left_out == 0 { query.clone() } else { query.for_evals(&ids) };
        Self { query, count, left_out }
    }

    /// A paragraph that names the analysis with the evaluations that are not shown.
    pub(super) fn remark(&self, analysis: &str) -> Option<Block> {
        (self.left_out > 0).then(|| {
            Block::Text(format!(
                "Of {} evaluations, these are the {} with the highest ReasonScore. `reasonscape analyze {analysis} STUDY` \
                 lists all of them and plots others with `--filter model=NAME --plot FILE.html`.",
                self.count + self.left_out,
                self.count
            ))
        })
    }
}
